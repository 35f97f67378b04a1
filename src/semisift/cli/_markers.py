"""Markers by class: whether they can be had, what files say of them, and what is printed."""

from itertools import zip_longest
from typing import Any

import click
from rich.table import Column, Table
from rich.text import Text

from semisift.cli.rank import RankRequest
from semisift.exceptions import TableError
from semisift.io import Dataset
from semisift.registry import METHODS, Method
from semisift.selection._markers import Markers
from semisift.utils._text import plural, printable_name

# Features of a class that are printed, and that files of the ranking have; classes that are
# printed.
MOST_SHOWN = 5
MOST_KEPT = 10
MOST_CLASSES = 30


def check_by_class(request: RankRequest, method: Method) -> None:
    """Refuse to look for markers with a method that looks at no labels."""
    if request.wants_markers and method.cls.labels_needed == "none":
        able = [name for name, each in METHODS.items() if each.cls.labels_needed != "none"]
        raise click.BadParameter(
            f"{method.name} looks at no labels, so it knows no classes. Methods that do: "
            f"{', '.join(able)}.",
            param_hint=_option(request),
        )


def check_labels(request: RankRequest, dataset: Dataset) -> None:
    """Refuse to look for markers where nothing tells a class."""
    if request.wants_markers and all(label is None for label in dataset.y):
        raise TableError(
            f"{dataset.table.path}: {_option(request)} needs labelled rows of each class, and no "
            "row is labelled. Say with --label which column holds the labels."
        )


def _option(request: RankRequest) -> str:
    return "--by-class" if request.by_class else "--markers"


def facts_of_markers(markers: Markers) -> list[dict[str, Any]]:
    """Return the best of each class for the files of a ranking."""
    lines = markers.to_frame(MOST_KEPT).drop("class").to_dicts()
    n_each = len(lines) // len(markers.classes)
    starts = range(0, len(lines), n_each)
    return [
        {"class": str(name), "rows": round(float(size), 1), "best": lines[start : start + n_each]}
        for name, size, start in zip(markers.classes, markers.sizes, starts, strict=True)
    ]


def table_of_markers(markers: Markers) -> Table:
    """Return the best of each class for the terminal."""
    found: dict[str, tuple[Any, str]] = {
        "score": (markers.scores, ".4g"),
        "log2 fold\nchange": (markers.fold_changes, "+.2f"),
        "with a\nvalue": (markers.shares, ".0%"),
        "in the\nrest": (markers.rest_shares, ".0%"),
        "p": (markers.p_values, ".3g"),
    }
    known = {heading: own for heading, own in found.items() if own[0] is not None}
    names = [Column(heading, overflow="fold") for heading in ("class", "feature")]
    numbers = [Column(heading, justify="right", no_wrap=True) for heading in known]
    table = Table(*names, *numbers)
    for number, name in enumerate(markers.classes[:MOST_CLASSES]):
        size = plural(round(float(markers.sizes[number])), "row")
        heads = [Text(printable_name(name)), Text(size, "dim")]
        best = markers.best(number, MOST_SHOWN).tolist()
        rows = [
            [
                Text(printable_name(markers.features[column])),
                *(format(values[number, column], form) for values, form in known.values()),
            ]
            for column in best
        ]
        for head, row in zip_longest(heads, rows):
            table.add_row(head or "", *(row or ()))
        table.add_section()
    return table
