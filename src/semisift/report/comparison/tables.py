"""The tables of a comparison, as plain values: for the page, for Markdown and for LaTeX."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

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


def number(value: float, form: str = ".3f") -> TableCell:
    """Return the cell of a number."""
    if not np.isfinite(value):
        return TableCell(MISSING)
    text = format(value, form)
    return TableCell(text if float(text) else text.removeprefix("-"), float(value))


def main_table(view: View) -> ReportTable:
    """Return means and standard errors, the best ones strong, with means and mean ranks below."""
    scores = view.scores
    lines = []
    for i, name in enumerate(view.datasets):
        cells = [
            _mean(scores.means[i, j], scores.errors[i, j], bool(view.best[i, j]))
            for j in range(len(view.methods))
        ]
        lines.append(TableLine(name, cells, dataset=i))
    footer = [
        TableLine("mean", _marked(view, view.overall, ".3f")),
        TableLine("mean rank", _marked(view, view.mean_ranks, ".2f", lowest=True)),
    ]
    return _by_dataset(view, "main", f"Mean {view.metric_name}", lines, footer)


def _marked(
    view: View, values: NDArray[np.float64], form: str, *, lowest: bool = False
) -> list[TableCell]:
    """Return cells of which the best ones are strong."""
    best = view.best_of(-values if lowest else values)
    return [
        replace(number(value, form), strong=bool(strong))
        for value, strong in zip(values, best, strict=True)
    ]


def _mean(mean: float, error: float, strong: bool) -> TableCell:
    if not np.isfinite(mean):
        return TableCell(MISSING)
    aside = f"± {error:.3f}" if np.isfinite(error) else ""
    return TableCell(f"{mean:.3f}", float(mean), strong, aside)


def _by_dataset(
    view: View,
    slug: str,
    title: str,
    lines: list[TableLine],
    footer: list[TableLine],
    *,
    falls: bool = True,
) -> ReportTable:
    places = [*range(len(view.methods))]
    return ReportTable(slug, title, "data set", view.methods, lines, places, footer, falls)


def stability_table(view: View) -> ReportTable:
    """Return how alike the selections of different runs are."""
    return _of_values(
        view,
        "stability-of",
        "Stability of the selection",
        view.results.stability(level=view.level),
        TableLine("mean", [number(value) for value in mean_stability(view)]),
    )


def seconds_table(view: View) -> ReportTable:
    """Return how long a ranking takes."""
    return _of_values(
        view,
        "seconds-of",
        "Seconds of a ranking",
        measured(view, "seconds"),
        TableLine("geometric mean", [_figure(value) for value in typical_seconds(view)]),
        falls=False,
    )


def memory_table(view: View) -> ReportTable:
    """Return how much memory a ranking takes at most."""
    return _of_values(
        view,
        "memory-of",
        "Peak memory in MB",
        measured(view, "peak_mb"),
        TableLine("largest", [_figure(value) for value in most_memory(view)]),
        falls=False,
    )


def _figure(value: float) -> TableCell:
    return TableCell(figure(value), float(value)) if np.isfinite(value) else TableCell(MISSING)


def _of_values(
    view: View,
    slug: str,
    title: str,
    values: NDArray[np.float64],
    footer: TableLine,
    *,
    falls: bool = True,
) -> ReportTable:
    form = number if falls else _figure
    lines = [
        TableLine(name, [form(value) for value in values[i]], dataset=i)
        for i, name in enumerate(view.datasets)
    ]
    return _by_dataset(view, slug, title, lines, [footer], falls=falls)


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
                TableCell(str(int(view.best[:, j].sum())), float(view.best[:, j].sum())),
                number(stability[j], ".2f"),
                _figure(seconds[j]),
                _figure(memory[j]),
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

    slug, title = ("wins", "Wins/ties/losses of the method of the line")
    return _by_pair(view, slug if corrected else f"{slug}-plain", title, cell)


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


def similarity_table(names: Sequence[str], values: NDArray[np.float64]) -> ReportTable:
    """Return how alike the rankings of two methods are, shaded."""
    lines = [
        TableLine(
            name,
            [
                TableCell(
                    f"{value:.2f}", float(value), shade=round(10 * min(max(float(value), 0), 1))
                )
                if np.isfinite(value)
                else TableCell(MISSING)
                for value in values[i]
            ],
            method=i,
        )
        for i, name in enumerate(names)
    ]
    places = [*range(len(names))]
    return ReportTable("similarity-of", "Overlap of rankings", "method", [*names], lines, places)
