"""``python -m nashboard`` is the ``nashboard`` command."""

import gc
import signal
import sys


def main() -> None:
    """Run the command; Ctrl-C prints no traceback, not even during imports or at exit."""
    gc.set_threshold(100_000)  # imported code is never garbage: scanning it took a tenth of the time
    try:
        from nashboard.cli.app import main as command

        command()
    except KeyboardInterrupt:
        sys.stderr.write("nashboard: stopped\n")
        sys.exit(130)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all output is written
        gc.freeze()  # skip the last collection


if __name__ == "__main__":
    main()
