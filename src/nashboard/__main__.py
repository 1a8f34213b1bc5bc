"""``python -m nashboard`` is the ``nashboard`` command."""

from nashboard.cli import main

main()
