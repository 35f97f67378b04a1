"""The tables of a comparison, as plain values: for the page, for Markdown and for LaTeX."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from semisift.comparison._results import Results
from semisift.comparison._statistical_tests import sign_test
from semisift.report._page import sentences
from semisift.report.comparison._view import (
    LEVEL_OF_RANKS,
    LEVEL_OF_WINS,
    SweepView,
    View,
    view_of,
)
from semisift.utils._text import format_number

MISSING = "none"


@dataclass(frozen=True)
class TableCell:
    """What stands in a cell.

    Attributes
    ----------
    text : str
    value : float or None
        By which a column is sorted.
    strong : bool
        Whether it is marked.
    aside : str
        What stands beside it in small.
    shade : int
        From 0 to 10, the strength of its ground.
    """

    text: str
    value: float | None = None
    strong: bool = False
    aside: str = ""
    shade: int = 0


@dataclass(frozen=True)
class TableLine:
    """A line: its name, the place of its data set or method, and its cells."""

    name: str
    cells: list[TableCell]
    dataset: int | None = None
    method: int | None = None


@dataclass(frozen=True)
class ReportTable:
    """A table.

    Attributes
    ----------
    slug : str
        Its id.
    title : str
        What it shows.
    corner : str
        What the first column names.
    columns : list of str
    lines : list of TableLine
    of_methods : list of int or None
        The method of each column, where columns are methods.
    footer : list of TableLine
    falls : bool
        Whether sorting by a column starts with the largest number.
    rising : tuple of int
        Columns of which it starts with the smallest nevertheless.
    """

    slug: str
    title: str
    corner: str
    columns: list[str]
    lines: list[TableLine]
    of_methods: list[int] | None = None
    footer: list[TableLine] = field(default_factory=list)
    falls: bool = True
    rising: tuple[int, ...] = ()

    @cached_property
    def kinds(self) -> list[str]:
        """How each column is sorted: as numbers or as words."""
        return [
            "number" if any(line.cells[j].value is not None for line in self.lines) else "word"
            for j in range(len(self.columns))
        ]


def number(
    value: float, form: str | None = ".3f", error: float = np.nan, **marks: Any
) -> TableCell:
    """Return the cell of a number and its standard error; without a form it has three digits."""
    if not np.isfinite(value):
        return TableCell(MISSING)
    text = format_number(value)
    if form is not None:
        text = format(value, form)
        text = text if float(text) else text.removeprefix("-")
    aside = f"± {error:.3f}" if np.isfinite(error) else ""
    return TableCell(text, float(value), aside=aside, **marks)


def _numbers(values: Any, form: str | None = ".3f", best: Any = False, errors: Any = np.nan) -> Any:
    """Return the cells of numbers, of which the best ones are strong."""
    return [
        number(value, form, error, strong=bool(strong))
        for value, error, strong in np.broadcast(values, errors, best)
    ]


def _by_datasets(
    view: View, slug: str, title: str, cells: Sequence[list[TableCell]], **more: Any
) -> ReportTable:
    """Return a line for each data set and a column for each method."""
    found = enumerate(zip(view.datasets, cells, strict=True))
    lines = [TableLine(name, own, dataset=i) for i, (name, own) in found]
    places = [*range(len(view.methods))]
    return ReportTable(slug, title, "data set", view.methods, lines, places, **more)


def main_table(view: View) -> ReportTable:
    """Return means and standard errors, the best ones strong, with means and mean ranks below."""
    ranks, overall, means = view.mean_ranks, view.overall, view.scores.means
    rows = zip(means, view.best_of(means), view.scores.errors, strict=True)
    cells = [_numbers(own, ".3f", best, errors) for own, best, errors in rows]
    footer = [
        TableLine("mean", _numbers(overall, best=view.best_of(overall))),
        TableLine("mean rank", _numbers(ranks, ".2f", view.best_of(-ranks))),
    ]
    return _by_datasets(view, "main", f"Mean {view.metric_name}", cells, footer=footer)


def measure_tables(view: View) -> dict[str, ReportTable]:
    """Return how alike selections of different runs are, and what a ranking takes."""
    stability = view.results.stability(level=view.level)
    seconds, memory = view.measured("seconds"), view.measured("peak_mb")
    shown: dict[str, tuple[Any, ...]] = {
        "stability": ("Stability of the selection", stability, "mean", view.mean_stability()),
        "seconds": ("Seconds of a ranking", seconds, "geometric mean", view.typical_seconds()),
        "memory": ("Peak memory in MB", memory, "largest", view.most_memory()),
    }
    tables = {}
    for kind, (title, values, summary, of_all) in shown.items():
        form = ".3f" if kind == "stability" else None
        cells, footer = [_numbers(own, form) for own in values], _numbers(of_all, form)
        more = {"footer": [TableLine(summary, footer)], "falls": form is not None}
        tables[kind] = _by_datasets(view, f"{kind}-of", title, cells, **more)
    return tables


def glance_table(view: View) -> ReportTable:
    """Return a line for each method: its rank, its mean, its stability and what it costs."""
    columns: dict[str, tuple[Any, str | None]] = {
        "mean rank": (view.mean_ranks, ".2f"),
        f"mean {view.metric_name}": (view.overall, ".3f"),
        "best on": (view.best_of(view.scores.means).sum(axis=0), "d"),
        "stability": (view.mean_stability(), ".2f"),
        "seconds": (view.typical_seconds(), None),
        "MB": (view.most_memory(), None),
    }
    lines = [
        TableLine(view.methods[j], [number(of[j], form) for of, form in columns.values()], method=j)
        for j in np.argsort(view.mean_ranks, kind="stable").tolist()
    ]
    title, rising = "Methods at a glance", (0, 4, 5)
    return ReportTable("glance", title, "method", [*columns], lines, rising=rising)


def wins_table(view: View, *, corrected: bool) -> ReportTable | None:
    """Return wins, ties and losses of the method of a line against that of a column."""
    wins = view.wins(corrected=corrected)
    if wins is None:
        return None
    better = sign_test(wins, LEVEL_OF_WINS)

    def cell(i: int, j: int) -> TableCell:
        won, tied, lost = wins[i, j].tolist()
        if i == j:
            return TableCell("")
        return TableCell(f"{won}/{tied}/{lost}", won - lost, bool(better[i, j]))

    title = "Wins/ties/losses of the method of the line"
    return _by_pair(view, "wins" if corrected else "wins-plain", title, cell, view.places)


def wilcoxon_table(view: View) -> ReportTable | None:
    """Return adjusted p-values of the signed ranks, with plain ones beside them."""
    if (found := view.test("pairwise_wilcoxon")) is None:
        return None

    def cell(i: int, j: int) -> TableCell:
        plain, p = (float(values[i, j]) for values in found)
        if i == j:
            return TableCell("")
        return TableCell(p_value(p), p, p <= LEVEL_OF_RANKS, f"({p_value(plain)})")

    title = "Adjusted p-values (plain ones in brackets)"
    return _by_pair(view, "wilcoxon", title, cell, view.places, falls=False)


def p_value(p: float) -> str:
    """Write a p-value.

    Examples
    --------
    >>> p_value(0.04321), p_value(0.00004)
    ('0.043', '< 0.001')
    """
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def similarity_table(view: View) -> ReportTable:
    """Return how alike the rankings of two methods are, shaded."""
    values = view.results.similarity()
    shades = np.round(10 * np.nan_to_num(np.clip(values, 0, 1))).astype(int)

    def cell(i: int, j: int) -> TableCell:
        return number(values[i, j], ".2f", shade=int(shades[i, j]))

    places = range(len(view.methods))
    return _by_pair(view, "similarity-of", "Overlap of rankings", cell, places)


def _by_pair(
    view: View,
    slug: str,
    title: str,
    cell: Callable[[int, int], TableCell],
    places: Sequence[int],
    *,
    falls: bool = True,
) -> ReportTable:
    """Return a cell for each two of these methods."""
    n, names = len(places), [view.methods[place] for place in places]
    rows = [[cell(i, j) for j in range(n)] for i in range(n)]
    lines = [TableLine(names[i], rows[i], method=places[i]) for i in range(n)]
    return ReportTable(slug, title, "method", names, lines, [*places], falls=falls)


def sweep_table(sweep: SweepView) -> ReportTable:
    """Return the mean figures of each method at each level."""
    means = sweep.values("figure", None).mean(axis=0)
    lines = [
        TableLine(name, _numbers(means[j]), method=j) for j, name in enumerate(sweep.view.methods)
    ]
    columns = [f"{level:g}" for level in sweep.levels]
    title = f"Mean {sweep.view.metric_name} by {sweep.kind}"
    return ReportTable("sweep-of", title, "method", columns, lines)


# --- in Markdown and in LaTeX ---------------------------------------------------------------------


def to_markdown(results: Results, **choice: Any) -> str:
    """Return the main table in Markdown: means, the best ones bold, and mean ranks.

    Parameters
    ----------
    results : Results
    **choice
        Judge, metric, level and size, as for `Results.scores`.

    Returns
    -------
    str
    """
    return markdown_of(main_table(view_of(results, **choice)))


def to_latex(results: Results, **choice: Any) -> str:
    """Return the main table in LaTeX with the rules of booktabs; `choice` is as for `to_markdown`.

    Returns
    -------
    str
        A ``tabular``.
    """
    table = main_table(view_of(results, **choice))
    return "\n".join(sentences("latex_table", table)) + "\n"


def markdown_of(table: ReportTable) -> str:
    """Return a table in Markdown."""
    return "\n".join(sentences("markdown_table", table)) + "\n"
