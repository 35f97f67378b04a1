"""``semisift report``: pages, tables and pictures from the records of a comparison."""

from pathlib import Path
from typing import Any

import click

from semisift.cli import _options
from semisift.cli._options import Options, section
from semisift.cli._terminal import Terminal
from semisift.utils._text import for_terminal

ENDINGS = {"out": (".html", ".htm"), "markdown": (".md", ".markdown"), "latex": (".tex",)}


@_options.command()
@click.argument("folder", metavar="DIR")
@section(
    "Results",
    click.option("--out", metavar="FILE"),
    click.option("--title", metavar="TEXT"),
    click.option("--markdown", metavar="FILE"),
    click.option("--latex", metavar="FILE"),
    click.option("--figures", metavar="DIR"),
    click.option(
        "--figure-format", default="svg", show_default=True, type=click.Choice(["svg", "pdf"])
    ),
    click.option("--summary", metavar="DIR"),
    _options.QUIET,
)
def report(**given: Any) -> None:
    """Draw the report of a comparison from its records.

    DIR is the folder that `semisift compare` or `semisift reproduce` wrote, of a comparison that is
    finished or not.

    Parameters
    ----------
    out
        Write the page there. [default: DIR/report.html]
    title
        Title of the page.
    markdown
        Write the main table in Markdown as well.
    latex
        Write the main table in LaTeX as well.
    figures
        Write the pictures as files into a folder.
    figure_format
        Of these files.
    summary
        Write a short page in Markdown, README.md, with its pictures into a folder.

    Examples
    --------
      semisift report runs
      semisift report runs --out page.html --title "Ten methods on gene expression"
      semisift report runs --latex table.tex --figures figures --figure-format pdf
    """
    from semisift.cli._output import Targets
    from semisift.comparison._store import COMMITTEES, Store

    options, targets = Options(**given), Targets()
    for name in ("figures", "summary"):
        folder = getattr(options, name)
        if folder is not None and Path(folder).exists() and not Path(folder).is_dir():
            raise click.BadParameter(f"{folder} is a file.", param_hint=f"--{name}")
    is_of_committees = Store(Path(options.folder)).about().get("kind") == COMMITTEES
    if is_of_committees:
        _check_committees(options)
    paths = {
        name: targets.add(getattr(options, name), f"--{name}", endings)
        for name, endings in ENDINGS.items()
        if getattr(options, name) is not None
    }
    if not is_of_committees and "out" not in paths:
        paths["out"] = targets.add(str(Path(options.folder) / "report.html"), "--out")
    draw = _draw_committees if is_of_committees else _draw_comparison
    for written in draw(options, paths):
        if not options.quiet:
            click.echo(f"Written: {for_terminal(written)}")


def _check_committees(options: Options) -> None:
    for name in ("out", "title", "latex"):
        if getattr(options, name) is not None:
            raise click.BadParameter(
                f"{options.folder} holds records of committees, which have no page and no table in "
                "LaTeX: use --summary, --markdown or --figures.",
                param_hint=f"--{name}",
            )


def _write_texts(texts: dict[Path, str]) -> None:
    from semisift.utils._files import drafts

    with drafts(list(texts)) as paths:
        for path, text in zip(paths, texts.values(), strict=True):
            path.write_text(text, encoding="utf-8")


def _draw_comparison(options: Options, paths: dict[str, Path]) -> list[str | Path]:
    """Write a page, tables and pictures, and print how the methods stand."""
    from semisift.cli.compare import show
    from semisift.comparison._results import Results
    from semisift.report import comparison

    results, page = Results.load(options.folder), paths.pop("out")
    comparison.write_comparison(results, page, title=options.title)
    writers = {"markdown": comparison.to_markdown, "latex": comparison.to_latex}
    _write_texts({path: writers[name](results) for name, path in paths.items()})
    if options.figures is not None:
        comparison.write_figures(results, options.figures, options.figure_format)
    if options.summary is not None:
        comparison.write_summary(results, options.summary)
    if not options.quiet:
        show(results, page)
    return [*paths.values(), *filter(None, [options.figures, options.summary])]


def _draw_committees(options: Options, paths: dict[str, Path]) -> list[str | Path]:
    """Write the tables and the figure of committees, and print them."""
    from semisift.papers import cotraining_report as committees
    from semisift.papers.cotraining import CommitteeRecords
    from semisift.papers.reproduce import SUMMARY

    results = CommitteeRecords.load(options.folder)
    _write_texts({path: committees.committees_to_markdown(results) for path in paths.values()})
    written: list[str | Path] = [*paths.values()]
    if options.figures is not None:
        form = options.figure_format
        written.append(committees.write_committee_figure(results, options.figures, form))
    if options.summary is not None or not written:
        folder = options.summary or Path(options.folder) / SUMMARY
        written.append(committees.write_committee_summary(results, folder))
    if not options.quiet:
        committees.show(Terminal(), results)
    return written
