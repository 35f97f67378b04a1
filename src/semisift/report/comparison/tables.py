"""The tables of a comparison, as plain values: for the page, for Markdown and for LaTeX."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift._words import figure
from semisift.evaluation.wins import sign_test
from semisift.report.comparison.view import (
    LEVEL_OF_RANKS,
    LEVEL_OF_WINS,
    View,
    mean_stability,
    measured,
    most_memory,
    typical_seconds,
)

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
    lines, footer : list of TableLine
        The footer stays where it is when lines are sorted.
    of_methods : list of int, optional
        Places of the methods that the columns stand for.
    falls : bool
        Whether a first click puts the largest values on top.
    rising : tuple of int
        Columns of which it puts the smallest values on top all the same.
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

    @property
    def methods(self) -> Sequence[int | None]:
        """Places of the methods that the columns stand for; None where they stand for none."""
        return self.of_methods or [None] * len(self.columns)

    @property
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
    text = figure(value)
    if form is not None:
        text = format(value, form)
        text = text if float(text) else text.removeprefix("-")
    aside = f"± {error:.3f}" if np.isfinite(error) else ""
    return TableCell(text, float(value), aside=aside, **marks)


def main_table(view: View) -> ReportTable:
    """Return means and standard errors, the best ones strong, with means and mean ranks below."""
    means, errors = view.scores.means, view.scores.errors
    lines = [
        TableLine(name, _marked(view, means[i], errors=errors[i]), dataset=i)
        for i, name in enumerate(view.datasets)
    ]
    footer = [
        TableLine("mean", _marked(view, view.overall)),
        TableLine("mean rank", _marked(view, view.mean_ranks, ".2f", lowest=True)),
    ]
    title, places = f"Mean {view.metric_name}", [*range(len(view.methods))]
    return ReportTable("main", title, "data set", view.methods, lines, places, footer)


def _marked(
    view: View,
    values: NDArray[np.float64],
    form: str = ".3f",
    *,
    lowest: bool = False,
    errors: Any = None,
) -> list[TableCell]:
    """Return cells of which the best ones are strong."""
    best = view.best_of(-values if lowest else values)
    errors = np.full_like(values, np.nan) if errors is None else errors
    return [
        number(value, form, error, strong=bool(strong))
        for value, error, strong in zip(values, errors, best, strict=True)
    ]


def measure_tables(view: View) -> dict[str, ReportTable]:
    """Return how alike selections of different runs are, and what a ranking takes."""
    stability = view.results.stability(level=view.level)
    seconds, memory = measured(view, "seconds"), measured(view, "peak_mb")
    shown = {
        "stability": ("Stability of the selection", stability, "mean", mean_stability(view)),
        "seconds": ("Seconds of a ranking", seconds, "geometric mean", typical_seconds(view)),
        "memory": ("Peak memory in MB", memory, "largest", most_memory(view)),
    }
    places, tables = [*range(len(view.methods))], {}
    for kind, (title, values, summary, of_all) in shown.items():
        is_share = kind == "stability"
        form = ".3f" if is_share else None
        lines = [
            TableLine(name, [number(value, form) for value in values[i]], dataset=i)
            for i, name in enumerate(view.datasets)
        ]
        footer = [TableLine(summary, [number(value, form) for value in of_all])]
        tables[kind] = ReportTable(
            f"{kind}-of", title, "data set", view.methods, lines, places, footer, falls=is_share
        )
    return tables


def glance_table(view: View) -> ReportTable:
    """Return a line for each method: its rank, its mean, its stability and what it costs."""
    stability, seconds, memory = mean_stability(view), typical_seconds(view), most_memory(view)
    order = np.argsort(np.where(np.isfinite(view.mean_ranks), view.mean_ranks, np.inf))
    lines = [
        TableLine(
            view.methods[j],
            [
                number(view.mean_ranks[j], ".2f"),
                number(view.overall[j]),
                number(view.best[:, j].sum(), "d"),
                number(stability[j], ".2f"),
                number(seconds[j], None),
                number(memory[j], None),
            ],
            method=int(j),
        )
        for j in order
    ]
    columns = ["mean rank", f"mean {view.metric_name}", "best on", "stability", "seconds", "MB"]
    title = "Methods at a glance"
    return ReportTable("glance", title, "method", columns, lines, rising=(0, 4, 5))


def wins_table(view: View, *, corrected: bool) -> ReportTable | None:
    """Return wins, ties and losses of the method of a line against that of a column."""
    wins = view.wins(corrected=corrected)
    if wins is None:
        return None
    better = sign_test(wins, LEVEL_OF_WINS)

    def cell(i: int, j: int) -> TableCell:
        won, tied, lost = wins[i, j].tolist()
        return TableCell(f"{won}/{tied}/{lost}", won - lost, bool(better[i, j]))

    title = "Wins/ties/losses of the method of the line"
    return _by_pair(view, "wins" if corrected else "wins-plain", title, cell)


def wilcoxon_table(view: View) -> ReportTable | None:
    """Return adjusted p-values of the signed ranks, with plain ones beside them."""
    if view.wilcoxon is None:
        return None
    plain, adjusted = view.wilcoxon

    def cell(i: int, j: int) -> TableCell:
        p = float(adjusted[i, j])
        return TableCell(p_value(p), p, p <= LEVEL_OF_RANKS, f"({p_value(float(plain[i, j]))})")

    title = "Adjusted p-values (plain ones in brackets)"
    return _by_pair(view, "wilcoxon", title, cell, falls=False)


def p_value(p: float) -> str:
    """Write a p-value.

    Examples
    --------
    >>> p_value(0.04321), p_value(0.00004)
    ('0.043', '< 0.001')
    """
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _by_pair(
    view: View, slug: str, title: str, cell: Callable[[int, int], TableCell], *, falls: bool = True
) -> ReportTable:
    places = view.places
    lines = [
        TableLine(
            view.methods[place],
            [TableCell("") if i == j else cell(i, j) for j in range(len(places))],
            method=place,
        )
        for i, place in enumerate(places)
    ]
    names = [view.methods[place] for place in places]
    return ReportTable(slug, title, "method", names, lines, places, falls=falls)


def similarity_table(view: View) -> ReportTable:
    """Return how alike the rankings of two methods are, shaded."""
    values = view.results.similarity()
    shades = np.nan_to_num(np.clip(values, 0, 1))
    lines = [
        TableLine(
            name,
            [
                number(value, ".2f", shade=round(10 * float(shade)))
                for value, shade in zip(values[i], shades[i], strict=True)
            ],
            method=i,
        )
        for i, name in enumerate(view.methods)
    ]
    title, places = "Overlap of rankings", [*range(len(lines))]
    return ReportTable("similarity-of", title, "method", view.methods, lines, places)
