"""Pictures in files, and a short page in Markdown for documents."""

import os
from collections.abc import Sequence
from pathlib import Path
from textwrap import indent

from semisift.comparison._results import ComparisonResults, Records, one_of
from semisift.comparison._run import doubt
from semisift.report import _page
from semisift.report._figure import FORMS, ReportFigure
from semisift.report.charts import critical_difference, curves, tradeoffs
from semisift.report.comparison import _page as _words
from semisift.report.comparison._published import published_beside
from semisift.report.comparison._tables import glance_table, main_table, markdown_of
from semisift.report.comparison._view import View, view_of
from semisift.utils._files import drafts
from semisift.utils._text import printable_name

SUMMARY = "README.md"


def write_figures(
    results: ComparisonResults, folder: str | os.PathLike[str], form: str = "svg"
) -> list[Path]:
    """Save every picture of a comparison, at the first judge and metric.

    Parameters
    ----------
    results : Results
    folder : str or path
        Made where it does not exist.
    form : {"svg", "pdf"}, default="svg"

    Returns
    -------
    list of Path
    """
    one_of("form", form, FORMS)
    return save_figures(_figures(view_of(results), every=True), Path(folder), form)


def _figures(view: View, *, every: bool) -> list[ReportFigure]:
    """Return the pictures of the page in Markdown, or every picture for a paper."""
    ranks = critical_difference.summarize(view)
    drawn = [] if ranks is None else [critical_difference.figure(ranks)]
    for i in range(len(view.datasets)) if every else ():
        drawn.append(curves.figure(view, i, f"curves-{i + 1}", listed=True))
        drawn.append(curves.runs_figure(view, i, f"boxes-{i + 1}"))
    drawn += [tradeoffs.stability_figure(view), tradeoffs.time_figure(view)]
    drawn += [tradeoffs.similarity_figure(view.results)] if every else []
    return [*drawn, *curves.sweep_figures(view, listed=True)]


def _file_name(picture: ReportFigure) -> str:
    """Return the name of the file of a picture: those of data sets are told by their names."""
    kind, _, number = picture.slug.rpartition("-")
    if kind not in ("curves", "boxes"):
        return picture.slug
    plain = [letter if letter.isascii() and letter.isalnum() else "-" for letter in picture.title]
    return f"{kind}-{number}-{''.join(plain)[:40].strip('-')}".rstrip("-")


def save_figures(drawn: Sequence[ReportFigure], folder: Path, form: str) -> list[Path]:
    """Draw pictures into files of a folder, all or none."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{_file_name(picture)}.{form}" for picture in drawn]
    with drafts(paths) as places:
        for picture, place in zip(drawn, places, strict=True):
            picture.to_file(place, form)
    return paths


def write_summary(results: ComparisonResults, folder: str | os.PathLike[str]) -> Path:
    """Write a short page in Markdown, ``README.md``, with its pictures beside it.

    Parameters
    ----------
    results : Results
    folder : str or path
        Made where it does not exist.

    Returns
    -------
    Path
        Of the page.
    """
    folder, view = Path(folder), view_of(results)
    drawn = _figures(view, every=False)
    save_figures(drawn, folder, "svg")
    return write_page(_summary_of(view, drawn), folder)


def _summary_of(view: View, drawn: Sequence[ReportFigure]) -> str:
    """Return the text of the page, with pictures named as `write_summary` names them."""
    results = view.results
    views = [view_of(results, judge=judge) for judge in results.protocol.judges]
    values = {
        "opening": opening(results, f"Comparison: {results.protocol.name}"),
        "lead": _words.lead(view),
        "protocol": _words.protocol_in_words(results),
        "views": views,
        "tables": [main_table(judged) for judged in views],
        "notes": [*filter(None, [_words.bounds_in_words(view), *view.left_out])],
        "published": [published_beside(judged) for judged in views],
        "glance": glance_table(view),
        "tests": [*_words.tests_in_words(view), *_words.wilcoxon_in_words(view)],
        "pictures": [(picture, _file_name(picture)) for picture in drawn],
        "closing": closing(results),
        "markdown_of": markdown_of,
        "bullets": bullets,
    }
    return _page.plain().get_template("comparison/summary.md").render(values)


def opening(results: Records, title: str) -> list[str]:
    """Return the title of a page in Markdown and the command that makes its records again."""
    parts = [f"# {_page.escape_markdown(printable_name(title))}"]
    if command := _words.command_of(results):
        parts += ["## How to reproduce", indent(command, "    ")]
    return parts


def closing(results: Records, *more: str) -> list[str]:
    """Return what a page in Markdown ends with: what is missing or doubtful, and versions."""
    problems = [*_words.failures(results), *_words.too_slow(results)]
    said = [_words.unfinished(results), doubt(results.n_judging)]
    said = [*said, *(f"{each.where}: {each.what}." for each in problems), *more]
    made = ", ".join(f"{name} {version}" for name, version in _words.versions(results))
    parts = ["## What is missing or doubtful", bullets(said)] if any(said) else []
    return [*parts, f"Made with {_page.escape_markdown(made)}."]


def write_page(text: str, folder: Path) -> Path:
    """Write a page in Markdown into a folder, whole or not at all."""
    return _page.write_page(folder / SUMMARY, text)


def bullets(sentences: Sequence[str]) -> str:
    """Return sentences as a list in Markdown."""
    return "\n".join(f"- {_page.escape_markdown(sentence)}" for sentence in sentences if sentence)
