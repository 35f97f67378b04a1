"""``python -m semisift``: the command line."""

from semisift.cli import start

if __name__ == "__main__":
    start()
