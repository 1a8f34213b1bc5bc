"""Ways to rank, side by side: one input type, one result type, and one file per method.

To add a method, write one file in ``methods/`` with a function that `register` declares: library, command, report,
documentation and tests then have it. The package is called ``ranking`` because ``nashboard.methods`` is a public
function, and a sub-package of that name would shadow it.
"""
