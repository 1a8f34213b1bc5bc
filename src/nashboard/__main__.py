"""``python -m nashboard`` is the ``nashboard`` command."""

import signal
import sys


def main() -> None:
    """Run the command; Ctrl-C while Python still imports it, or already ends, is no traceback either."""
    try:
        from nashboard.cli.app import main as command

        command()
    except KeyboardInterrupt:
        sys.stderr.write("nashboard: stopped\n")
        sys.exit(130)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said and written


if __name__ == "__main__":
    main()
