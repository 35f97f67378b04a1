"""What methods take besides values and labels, asked of their classes."""

import inspect
from collections.abc import Mapping
from typing import Any

import click

from semisift.registry import Entry

# What is said of a method, the option that gives it, and the parameter of `fit` or the mark of the
# class that tells whether it takes that.
TAKEN = {
    "gaps": ("--missing keep", "allow_nan"),
    "weights": ("--weight", "sample_weight"),
    "groups": ("--group", "groups"),
    "batches": ("--batch", "batch"),
    "pairs of rows": ("--must-link, --cannot-link", "must_link"),
    "one labelled class": ("", "supports_positive_unlabelled"),
}


def takes(cls: Any, what: str) -> bool:
    """Tell whether a class takes something of `TAKEN`."""
    mark = TAKEN[what][1]
    if mark.startswith(("allow_", "supports_")):
        return bool(getattr(cls, mark, False))
    return mark in inspect.signature(cls.fit).parameters


def names_of_takers(what: str, entries: Mapping[str, Any]) -> list[str]:
    """Return the names of the methods that take something."""
    return [name for name, entry in entries.items() if entry.takes(TAKEN[what][1])]


def check_takes(entry: Entry, what: str, entries: Mapping[str, Any], option: str) -> None:
    """Refuse an option that gives what a method does not take, and name those that do.

    Parameters
    ----------
    entry : Entry
        The method.
    what : str
        A key of `TAKEN`.
    entries : mapping of str to Entry
        METHODS or CLASSIFIERS.
    option : str
        That was given, for messages.
    """
    if not entry.takes(TAKEN[what][1]):
        able = ", ".join(names_of_takers(what, entries))
        raise click.BadParameter(
            f"{entry.name} does not take {what}. Those that do: {able}.", param_hint=option
        )


def check_reading_is_taken(request: Any, entry: Entry, entries: Mapping[str, Any]) -> None:
    """Refuse what was said of rows and values to a method that does not take it."""
    if request.missing == "keep":
        check_takes(entry, "gaps", entries, "--missing")
    for option, what in (("group", "groups"), ("batch", "batches"), ("weight", "weights")):
        if getattr(request, option) is not None:
            check_takes(entry, what, entries, f"--{option}")
