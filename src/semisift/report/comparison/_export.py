"""Pictures in files, and a short page in Markdown for documents."""

import os
from collections.abc import Sequence
from pathlib import Path
from textwrap import indent

from semisift.comparison._results import ComparisonResults, Records
from semisift.comparison._run import doubt
from semisift.report import _page
from semisift.report._figure import FORMS, ReportFigure
from semisift.report.charts import critical_difference, curves, tradeoffs
from semisift.report.comparison import _page as _words
from semisift.report.comparison._published import published_beside
from semisift.report.comparison._tables import (
    escape_markdown,
    glance_table,
    main_table,
    markdown_of,
)
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
    curves.place_of("form", form, FORMS)
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
    title, *command = opening(results, f"Comparison: {results.protocol.name}")
    parts = [title, escape_markdown(_words.lead(view)), *command]
    parts += ["## Protocol", bullets(_words.protocol_in_words(results))]
    views = [view_of(results, judge=judge) for judge in results.protocol.judges]
    names = [escape_markdown(printable_name(judge)) for judge in results.protocol.judges]
    for name, judged in zip(names, views, strict=True):
        table = main_table(judged)
        parts += [f"## {table.title}, judge {name}", markdown_of(table).rstrip()]
    parts += [*map(escape_markdown, filter(None, [_words.bounds_in_words(view), *view.left_out]))]
    for name, judged in zip(names, views, strict=True):
        if (beside := published_beside(judged)) is not None:
            parts += [f"## Published numbers beside ours, judge {name}"]
            parts += [f"Source: {escape_markdown(beside.source.rstrip('.'))}."]
            parts += [markdown_of(beside.table).rstrip()] if beside.pairs else []
            parts += [bullets(beside.sentences)]
    parts += ["## Methods at a glance", markdown_of(glance_table(view)).rstrip()]
    parts += ["## Tests"]
    parts += [bullets([*_words.tests_in_words(view), *_words.wilcoxon_in_words(view)])]
    for picture in drawn:
        title = escape_markdown(picture.title)
        parts += [f"### {title}", f"![{title}]({_file_name(picture)}.svg)"]
        parts += [escape_markdown(picture.words)]
    return "\n\n".join([*parts, *closing(results)]) + "\n"


def opening(results: Records, title: str) -> list[str]:
    """Return the title of a page in Markdown and the command that makes its records again."""
    parts = [f"# {escape_markdown(printable_name(title))}"]
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
    return [*parts, f"Made with {escape_markdown(made)}."]


def write_page(text: str, folder: Path) -> Path:
    """Write a page in Markdown into a folder, whole or not at all."""
    return _page.write_page(folder / SUMMARY, text)


def bullets(sentences: Sequence[str]) -> str:
    """Return sentences as a list in Markdown."""
    return "\n".join(f"- {escape_markdown(sentence)}" for sentence in sentences if sentence)
