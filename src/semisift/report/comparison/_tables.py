"""The tables of a comparison, as plain values: for the page, for Markdown and for LaTeX."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from semisift.comparison._results import ComparisonResults
from semisift.comparison._statistical_tests import sign_test
from semisift.report.comparison._view import (
    LEVEL_OF_RANKS,
    LEVEL_OF_WINS,
    SweepView,
    View,
    mean_stability,
    measured,
    most_memory,
    typical_seconds,
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


def main_table(view: View) -> ReportTable:
    """Return means and standard errors, the best ones strong, with means and mean ranks below."""
    means, errors = view.scores.means, view.scores.errors
    lines = [
        TableLine(name, _marked(means[i], view.best[i], errors=errors[i]), dataset=i)
        for i, name in enumerate(view.datasets)
    ]
    footer = [
        TableLine("mean", _marked(view.overall, view.best_of(view.overall))),
        TableLine("mean rank", _marked(view.mean_ranks, view.best_of(-view.mean_ranks), ".2f")),
    ]
    title, places = f"Mean {view.metric_name}", [*range(len(view.methods))]
    return ReportTable("main", title, "data set", view.methods, lines, places, footer)


def _marked(values: Any, best: Any, form: str = ".3f", errors: Any = np.nan) -> list[TableCell]:
    """Return the cells of numbers, of which the best ones are strong."""
    errors = np.broadcast_to(errors, len(values))
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
    columns = {
        "mean rank": (view.mean_ranks, ".2f"),
        f"mean {view.metric_name}": (view.overall, ".3f"),
        "best on": (view.best.sum(axis=0), "d"),
        "stability": (mean_stability(view), ".2f"),
        "seconds": (typical_seconds(view), None),
        "MB": (most_memory(view), None),
    }
    order = np.argsort(np.where(np.isfinite(view.mean_ranks), view.mean_ranks, np.inf))
    lines = [
        TableLine(view.methods[j], [number(of[j], form) for of, form in columns.values()], method=j)
        for j in order.tolist()
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


def similarity_table(view: View) -> ReportTable:
    """Return how alike the rankings of two methods are, shaded."""
    values = view.results.similarity()
    shades = np.nan_to_num(np.clip(values, 0, 1))

    def cell(i: int, j: int) -> TableCell:
        return number(values[i, j], ".2f", shade=round(10 * float(shades[i, j])))

    title = "Overlap of rankings"
    return _by_pair(view, "similarity-of", title, cell, with_themselves=True)


def _by_pair(
    view: View,
    slug: str,
    title: str,
    cell: Callable[[int, int], TableCell],
    *,
    falls: bool = True,
    with_themselves: bool = False,
) -> ReportTable:
    """Return a cell for each two complete methods, or for each two of all, also twice the same."""
    places = [*range(len(view.methods))] if with_themselves else view.places
    rows = [[cell(i, j) for j in range(len(places))] for i in range(len(places))]
    for i in range(len(places)) if not with_themselves else ():
        rows[i][i] = TableCell("")
    names = [view.methods[place] for place in places]
    lines = [
        TableLine(name, row, method=place)
        for name, row, place in zip(names, rows, places, strict=True)
    ]
    return ReportTable(slug, title, "method", names, lines, places, falls=falls)


def sweep_table(sweep: SweepView) -> ReportTable:
    """Return the mean figures of each method at each level."""
    means = sweep.values("figure", None).mean(axis=0)
    lines = [
        TableLine(name, [number(value) for value in means[j]], method=j)
        for j, name in enumerate(sweep.view.methods)
    ]
    columns = [f"{level:g}" for level in sweep.levels]
    title = f"Mean {sweep.view.metric_name} by {sweep.kind}"
    return ReportTable("sweep-of", title, "method", columns, lines)


# --- in Markdown and in LaTeX ---

_LATEX = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
}


def to_markdown(results: ComparisonResults, **choice: Any) -> str:
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


def to_latex(results: ComparisonResults, **choice: Any) -> str:
    """Return the main table in LaTeX with the rules of booktabs; `choice` is as for `to_markdown`.

    Returns
    -------
    str
        A ``tabular``.
    """
    table = main_table(view_of(results, **choice))
    lines = [
        r"\begin{tabular}{l" + "r" * len(table.columns) + "}",
        r"\toprule",
        _latex_line(table.corner, map(escape_latex, table.columns)),
        r"\midrule",
        *(_latex_line(line.name, map(_latex_cell, line.cells)) for line in table.lines),
        r"\midrule",
        *(_latex_line(line.name, map(_latex_cell, line.cells)) for line in table.footer),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _latex_line(name: str, cells: Iterable[str]) -> str:
    return " & ".join([escape_latex(name), *cells]) + r" \\"


def _latex_cell(cell: TableCell) -> str:
    text = rf"\textbf{{{cell.text}}}" if cell.strong else cell.text
    return f"{text} {cell.aside}".rstrip().replace("±", r"$\pm$")


def markdown_of(table: ReportTable) -> str:
    """Return a table in Markdown."""
    lines = [
        _markdown_line(table.corner, map(escape_markdown, table.columns)),
        _markdown_line("---", ("---:" if kind == "number" else "---" for kind in table.kinds)),
    ]
    for line in [*table.lines, *table.footer]:
        lines.append(_markdown_line(line.name, map(_markdown_cell, line.cells)))
    return "\n".join(lines) + "\n"


def _markdown_line(name: str, cells: Iterable[str]) -> str:
    return f"| {' | '.join([escape_markdown(name), *cells])} |"


def _markdown_cell(cell: TableCell) -> str:
    text = escape_markdown(cell.text)
    text = f"**{text}**" if cell.strong else text
    return f"{text} {cell.aside}" if cell.aside else text


def escape_markdown(text: str) -> str:
    r"""Return text that Markdown shows as it is.

    Examples
    --------
    >>> print(escape_markdown("a_b | <i>"))
    a\_b \| &lt;i&gt;
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]|~$])", r"\\\1", text)


def escape_latex(text: str) -> str:
    r"""Return text that LaTeX shows as it is.

    Examples
    --------
    >>> print(escape_latex("a_b & 5 %"))
    a\_b \& 5 \%
    """
    return "".join(_LATEX.get(letter, letter) for letter in text)
