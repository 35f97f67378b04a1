"""``python -m semisift``: the command line."""

from semisift.cli import main

if __name__ == "__main__":
    main(prog_name="semisift")
