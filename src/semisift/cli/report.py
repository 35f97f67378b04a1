"""``semisift report``: pages, tables and pictures from the records of a comparison."""

from dataclasses import dataclass
from typing import Any

import click

from semisift.cli._options import Request, command, option

RESULTS = ("out", "title", "markdown", "latex", "figures", "figure_format", "summary", "quiet")

EXAMPLES = """\b
Examples:
  semisift report runs
  semisift report runs --out page.html --title "Ten methods on gene expression"
  semisift report runs --latex table.tex --figures figures --figure-format pdf
"""


@dataclass(frozen=True, kw_only=True)
class ReportRequest(Request):
    """What the user asked to draw."""

    folder: str
    out: str | None = option("Write the page there.  [default: DIR/report.html]", "FILE")
    title: str | None = option("Title of the page.", "TEXT")
    markdown: str | None = option("Write the main table in Markdown as well.", "FILE")
    latex: str | None = option("Write the main table in LaTeX as well.", "FILE")
    figures: str | None = option("Write the pictures as files into a folder.", "DIR")
    figure_format: str = option("Of these files.", default="svg", type=click.Choice(["svg", "pdf"]))
    summary: str | None = option(
        "Write a short page in Markdown, README.md, with its pictures into a folder.", "DIR"
    )


@command(ReportRequest, click.argument("folder", metavar="DIR"), EXAMPLES, Results=RESULTS)
def report(**options: Any) -> None:
    """Draw the report of a comparison from its records.

    DIR is the folder that `semisift compare` or `semisift reproduce` wrote, of a comparison that is
    finished or not.
    """
    from semisift.cli._run_report import run

    run(ReportRequest(**options))
