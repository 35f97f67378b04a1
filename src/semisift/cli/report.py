"""``semisift report``: pages, tables and pictures from the records of a comparison."""

from typing import TYPE_CHECKING, Any

import click

from semisift._words import for_terminal
from semisift.cli._options import QUIET, InSections, with_options

if TYPE_CHECKING:
    from pathlib import Path

MARKDOWN = (".md", ".markdown")

OUTPUTS = [
    click.option("--out", metavar="FILE", help="Write the page there.  [default: DIR/report.html]"),
    click.option("--title", metavar="TEXT", help="Title of the page."),
    click.option("--markdown", metavar="FILE", help="Write the main table in Markdown as well."),
    click.option("--latex", metavar="FILE", help="Write the main table in LaTeX as well."),
    click.option("--figures", metavar="DIR", help="Write the pictures as files into a folder."),
    click.option(
        "--figure-format",
        type=click.Choice(["svg", "pdf"]),
        default="svg",
        show_default=True,
        help="Of these files.",
    ),
    click.option(
        "--summary",
        metavar="DIR",
        help="Write a short page in Markdown, README.md, with its pictures into a folder.",
    ),
    QUIET,
]

EXAMPLES = """\b
Examples:
  semisift report runs
  semisift report runs --out page.html --title "Ten methods on gene expression"
  semisift report runs --latex table.tex --figures figures --figure-format pdf
"""


@click.command(cls=InSections, epilog=EXAMPLES)
@click.argument("folder", metavar="DIR")
@with_options(Results=OUTPUTS)
def report(folder: str, quiet: bool, **options: Any) -> None:
    """Draw the report of a comparison from its records.

    DIR is the folder that `semisift compare` or `semisift reproduce` wrote, of a comparison that is
    finished or not.
    """
    from pathlib import Path

    from semisift._compare import Results
    from semisift._files import drafts
    from semisift.cli._compare_run import REPORT
    from semisift.cli._standings import show
    from semisift.cli._targets import Targets
    from semisift.evaluation.schema import COMMITTEES
    from semisift.evaluation.store import Store
    from semisift.report.comparison import (
        to_latex,
        to_markdown,
        write_comparison,
        write_figures,
        write_summary,
    )

    targets = Targets()

    def place(option: str, *endings: str) -> Path | None:
        given = options[option]
        return None if given is None else targets.add(given, f"--{option}", endings)

    for option in ("figures", "summary"):
        given = options[option]
        if given is not None and Path(given).exists() and not Path(given).is_dir():
            raise click.BadParameter(f"{given} is a file.", param_hint=f"--{option}")
    figures, form, summary = options["figures"], options["figure_format"], options["summary"]
    if Store(Path(folder)).about().get("kind") == COMMITTEES:
        for option in ("out", "title", "latex"):
            if options[option] is not None:
                raise click.BadParameter(
                    f"{folder} holds records of committees, which have no page and no table in "
                    "LaTeX: use --summary, --markdown or --figures.",
                    param_hint=f"--{option}",
                )
        _report_committees(folder, place("markdown", *MARKDOWN), figures, form, summary, quiet)
        return
    results = Results.load(folder)
    page = place("out", ".html", ".htm") or targets.add(str(Path(folder) / REPORT), "--out")
    tables = {place("markdown", *MARKDOWN): to_markdown, place("latex", ".tex"): to_latex}
    texts = {path: make for path, make in tables.items() if path is not None}
    write_comparison(results, page, title=options["title"])
    with drafts(list(texts)) as paths:
        for path, make in zip(paths, texts.values(), strict=True):
            path.write_text(make(results), encoding="utf-8")
    if figures is not None:
        write_figures(results, figures, form)
    if summary is not None:
        write_summary(results, summary)
    if not quiet:
        show(results, page)
        for written in (*texts, *filter(None, [figures, summary])):
            click.echo(f"Written: {for_terminal(written)}")


def _report_committees(
    folder: str,
    markdown: "Path | None",
    figures: str | None,
    form: str,
    summary: str | None,
    quiet: bool,
) -> None:
    """Write the tables and the figure of committees from their records."""
    from pathlib import Path

    from semisift._files import drafts
    from semisift.cli._terminal import Terminal
    from semisift.papers import cotraining_report as committees
    from semisift.papers.cotraining import CommitteeRecords
    from semisift.papers.reproduce import SUMMARY

    results = CommitteeRecords.load(folder)
    written: list[Path] = []
    if markdown is not None:
        with drafts([markdown]) as (draft,):
            draft.write_text(committees.committees_to_markdown(results), encoding="utf-8")
        written.append(markdown)
    if figures is not None:
        written.append(committees.write_committee_figure(results, figures, form))
    if summary is not None or not written:
        written.append(
            committees.write_committee_summary(results, summary or Path(folder) / SUMMARY)
        )
    if not quiet:
        committees.show(Terminal(), results)
        for path in written:
            click.echo(f"Written: {for_terminal(path)}")
