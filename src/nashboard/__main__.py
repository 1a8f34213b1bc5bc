"""``python -m nashboard`` is the ``nashboard`` command."""

import gc
import signal
import sys


def main() -> None:
    """Run the command; Ctrl-C while Python still imports it, or already ends, is no traceback either."""
    gc.set_threshold(100_000)  # imported code lives to the end: the search for garbage in it took a tenth of the time
    try:
        from nashboard.cli.app import main as command

        command()
    except KeyboardInterrupt:
        sys.stderr.write("nashboard: stopped\n")
        sys.exit(130)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said and written
        gc.freeze()  # nor is there any to look for at the end


if __name__ == "__main__":
    main()
