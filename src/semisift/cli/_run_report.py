"""From the records of a comparison to pages, tables and pictures: what ``semisift report`` does."""

from pathlib import Path

import click

from semisift.cli._output import Targets
from semisift.cli._run_compare import REPORT, show
from semisift.cli._terminal import Terminal
from semisift.cli.report import ReportRequest
from semisift.comparison._compare import Results
from semisift.comparison._store import COMMITTEES, Store
from semisift.papers import cotraining_report as committees
from semisift.papers.cotraining import CommitteeRecords
from semisift.papers.reproduce import SUMMARY
from semisift.report import comparison
from semisift.utils._files import drafts
from semisift.utils._text import for_terminal

ENDINGS = {"out": (".html", ".htm"), "markdown": (".md", ".markdown"), "latex": (".tex",)}


def run(request: ReportRequest) -> None:
    """Write what was asked for, and say what was written."""
    for option in ("figures", "summary"):
        given = getattr(request, option)
        if given is not None and Path(given).exists() and not Path(given).is_dir():
            raise click.BadParameter(f"{given} is a file.", param_hint=f"--{option}")
    is_of_committees = Store(Path(request.folder)).about().get("kind") == COMMITTEES
    draw = _draw_committees if is_of_committees else _draw_comparison
    for written in draw(request):
        if not request.quiet:
            click.echo(f"Written: {for_terminal(written)}")


def _place(request: ReportRequest, targets: Targets, option: str) -> Path | None:
    given = getattr(request, option)
    return None if given is None else targets.add(given, f"--{option}", ENDINGS[option])


def _write_texts(texts: dict[Path, str]) -> None:
    with drafts(list(texts)) as paths:
        for path, text in zip(paths, texts.values(), strict=True):
            path.write_text(text, encoding="utf-8")


def _draw_comparison(request: ReportRequest) -> list[str | Path]:
    """Write a page, tables and pictures, and show how the methods stand."""
    results, targets = Results.load(request.folder), Targets()
    page = _place(request, targets, "out")
    page = page or targets.add(str(Path(request.folder) / REPORT), "--out")
    makers = {"markdown": comparison.to_markdown, "latex": comparison.to_latex}
    places = {_place(request, targets, option): make for option, make in makers.items()}
    comparison.write_comparison(results, page, title=request.title)
    texts = {path: make(results) for path, make in places.items() if path is not None}
    _write_texts(texts)
    if request.figures is not None:
        comparison.write_figures(results, request.figures, request.figure_format)
    if request.summary is not None:
        comparison.write_summary(results, request.summary)
    if not request.quiet:
        show(results, page)
    return [*texts, *filter(None, [request.figures, request.summary])]


def _draw_committees(request: ReportRequest) -> list[str | Path]:
    """Write the tables and the figure of committees, and show them."""
    for option in ("out", "title", "latex"):
        if getattr(request, option) is not None:
            raise click.BadParameter(
                f"{request.folder} holds records of committees, which have no page and no table in "
                "LaTeX: use --summary, --markdown or --figures.",
                param_hint=f"--{option}",
            )
    markdown = _place(request, Targets(), "markdown")
    results = CommitteeRecords.load(request.folder)
    written: list[str | Path] = []
    if markdown is not None:
        _write_texts({markdown: committees.committees_to_markdown(results)})
        written.append(markdown)
    if request.figures is not None:
        form = request.figure_format
        written.append(committees.write_committee_figure(results, request.figures, form))
    if request.summary is not None or not written:
        folder = request.summary or Path(request.folder) / SUMMARY
        written.append(committees.write_committee_summary(results, folder))
    if not request.quiet:
        committees.show(Terminal(), results)
    return written
