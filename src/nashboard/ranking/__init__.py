"""Ways to rank, side by side: one input type, one result type, and one file per method.

To add a method, write one file in ``methods/`` with a function that is decorated with `register`: library, command,
report, documentation and tests then include it. The package is called ``ranking`` because ``nashboard.methods`` is a
public function, and a sub-package of that name would shadow it.
"""
