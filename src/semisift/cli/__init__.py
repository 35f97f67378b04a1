"""The command line: one file a command, each loaded only when it is called.

Exit codes: 0 done, 1 bad input, 2 wrong usage, 130 interrupted, 143 terminated.
"""

import importlib
import warnings
from typing import Any

import click

from semisift._words import for_terminal
from semisift.cli._signals import STOPS, terminable
from semisift.io.options import saying_flags

# name -> (where the command lives, what ``semisift --help`` says of it). The help text stands here
# because asking the command for it would import numpy and scikit-learn.
COMMANDS: dict[str, tuple[str, str]] = {
    "compare": (
        "semisift.cli.compare:compare",
        "Compare methods on labelled tables, and keep every record.",
    ),
    "demo": (
        "semisift.cli.demo:demo",
        "Find real measurements hidden among shuffled copies, from a few labels.",
    ),
    "label": (
        "semisift.cli.label:label",
        "Label the rows of a table that carry no label.",
    ),
    "methods": (
        "semisift.cli.methods:methods",
        "List the methods, a line each, or tell all about one.",
    ),
    "rank": ("semisift.cli.rank:rank", "Rank the features of a table, best first."),
    "report": (
        "semisift.cli.report:report",
        "Draw the report of a comparison from its records.",
    ),
    "reproduce": (
        "semisift.cli.reproduce:reproduce",
        "Make a table or figure of a paper again, beside the published numbers.",
    ),
    "select": (
        "semisift.cli.select:select",
        "Rank the features of a table and write a table with the best of them.",
    ),
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
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from ``COMMANDS`` alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; interruptions exit with 130 or 143 and bad input with 1."""
        show_as_python_does = warnings.showwarning
        warnings.showwarning = _show_warning
        try:
            with terminable(), saying_flags():
                return super().invoke(ctx)
        except tuple(STOPS) as stop:
            words, code = STOPS[type(stop)]
            click.echo(words, err=True)
            ctx.exit(code)
        except (ValueError, OSError) as error:
            raise click.ClickException(for_terminal(error)) from error
        except click.ClickException as error:
            shown = for_terminal(error.format_message())
            error.format_message = lambda: shown  # type: ignore[method-assign]
            raise
        finally:
            warnings.showwarning = show_as_python_does


def _show_warning(message: Warning | str, *args: Any, **kwargs: Any) -> None:
    """Show a warning as a sentence, without the file and line that raised it."""
    click.echo(f"Warning: {for_terminal(message)}", err=True)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="semisift", message="semisift %(version)s")
def main() -> None:
    """Find the columns that matter when only a handful of rows carry a label."""


__all__ = ["main"]
