"""``python -m nashboard`` is the ``nashboard`` command."""

import sys


def main() -> None:
    """Run the command; Ctrl-C while it is still being imported is no traceback either."""
    try:
        from nashboard.cli import main as command

        command()
    except KeyboardInterrupt:
        sys.stderr.write("nashboard: stopped\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
