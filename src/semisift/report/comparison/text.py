"""The main table in Markdown and in LaTeX."""

import re
from collections.abc import Iterable
from typing import Any

from semisift.evaluation.results import ComparisonResults
from semisift.report.comparison.tables import ReportTable, TableCell, main_table
from semisift.report.comparison.view import view_of

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
