"""The command line: one file a command, each loaded only when it is called.

Exit codes: 0 done, 1 bad input, 2 wrong usage, 130 interrupted, 143 terminated.
"""

import atexit
import errno
import importlib
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import click

from semisift.io._options import options_as_flags
from semisift.utils._memory import FEWER
from semisift.utils._text import for_terminal

# What ``semisift --help`` says of the commands. Asking them for it would import numpy and
# scikit-learn.
COMMANDS = {
    "compare": "Compare methods on labelled tables, and keep every record.",
    "demo": "Find real measurements hidden among shuffled copies, from a few labels.",
    "explore": "Label the rows of a table on a page, and watch the ranking follow.",
    "predict": "Predict the labels of the rows of a table that carry none.",
    "methods": "List the methods, a line each, or tell all about one.",
    "next": "Tell which rows to label next, and why.",
    "rank": "Rank the features of a table, best first.",
    "report": "Draw the report of a comparison from its records.",
    "reproduce": "Make a table or figure of a paper again, beside the published numbers.",
    "select": "Rank the features of a table and write a table with the best of them.",
}


class Terminated(BaseException):
    """SIGTERM came. No `Exception`: a run that fails is recorded, and this is no failure."""


# what stops a command from outside -> what is said, exit code as a shell shows it
STOPS: dict[type[BaseException], tuple[str, int]] = {
    KeyboardInterrupt: ("Interrupted.", 128 + signal.SIGINT),
    Terminated: ("Terminated.", 128 + signal.SIGTERM),
}


class LazyGroup(click.Group):
    """A group that imports a command when it is called, not when it is listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands without importing any of them."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command, or return None where there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"semisift.cli.{cmd_name}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from ``COMMANDS`` alone."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the options of the group, which print the help and the version."""
        try:
            return super().make_context(*args, **kwargs)
        except OSError as error:
            raise _click_error(error) from error

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; interruptions exit with 130 or 143 and bad input with 1."""
        show_as_python_does = warnings.showwarning
        warnings.showwarning = _show_warning
        try:
            with _terminable(), options_as_flags():
                return super().invoke(ctx)
        except tuple(STOPS) as stop:
            words, code = STOPS[type(stop)]
            click.echo(words, err=True)
            ctx.exit(code)
        except (ValueError, OSError, MemoryError) as error:
            raise _click_error(error) from error
        except click.ClickException as error:
            shown = for_terminal(error.format_message())
            error.format_message = lambda: shown  # type: ignore[method-assign]
            raise
        finally:
            warnings.showwarning = show_as_python_does


def _click_error(error: ValueError | OSError | MemoryError) -> click.ClickException:
    """Say what is wrong, with the file where the system tells of one."""
    message = str(error)
    if isinstance(error, MemoryError) and " are free" not in message:  # found out on the way
        message = (
            f"the memory does not suffice ({message.rstrip('.') or 'no more is free'}). {FEWER}"
        )
    if isinstance(error, OSError) and error.strerror:
        message = f"{error.strerror}."
        if error.filename is not None:
            message = f"{os.fsdecode(error.filename)}: {message}"
        elif error.errno == errno.ENOENT:  # as os.getcwd tells of it
            message = "the folder that this was started in is gone. Go to another one."
    return click.ClickException(for_terminal(message))


@contextmanager
def _terminable() -> Iterator[None]:
    """Raise `Terminated` in the block where SIGTERM comes."""
    if threading.current_thread() is not threading.main_thread():  # no other can be signalled
        yield
        return
    before = signal.signal(signal.SIGTERM, _raise)
    try:
        yield
    except ImportError as error:  # of a library that a signal stopped while it was loaded
        stop = error.__cause__
        if stop is not None and type(stop) in STOPS:
            raise stop from None
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def _raise(number: int, frame: FrameType | None) -> None:
    raise Terminated


def _show_warning(message: Warning | str, *args: Any, **kwargs: Any) -> None:
    """Show a warning as a sentence, without the file and line that raised it."""
    click.echo(f"Warning: {for_terminal(message)}", err=True)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="semisift", message="semisift %(version)s")
def main() -> None:
    """Find the columns that matter when only a handful of rows carry a label."""


def start() -> None:
    """Run the command line as a program of its own.

    Where a signal stopped it, everything is put away by then, but threads of other libraries may be
    anywhere, or a library half loaded: Python is left as it is, since taking it down can crash.
    """
    try:
        main(prog_name="semisift")
    except SystemExit as end:
        if end.code not in {code for _, code in STOPS.values()}:
            raise
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(int(end.code))


__all__ = ["main", "start"]
