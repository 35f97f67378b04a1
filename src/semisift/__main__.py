"""``python -m semisift``, and the command ``semisift``."""

import sys


def main() -> None:
    """Run the command line. Ctrl-C while it is still being loaded ends it as it does later on."""
    try:
        from semisift.cli import start
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        sys.exit(130)
    start()


if __name__ == "__main__":
    main()
