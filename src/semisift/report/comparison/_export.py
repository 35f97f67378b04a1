"""Pictures in files, and a short page in Markdown for documents."""

import os
from collections.abc import Sequence
from pathlib import Path
from textwrap import indent

from semisift.comparison._results import ComparisonResults, Records
from semisift.comparison._run import doubt
from semisift.report import _page
from semisift.report._figures import FORMS, ReportFigure
from semisift.report.comparison import _tables, _text
from semisift.report.comparison._curves import box_figure, curve_figure, place_of, sweep_figures
from semisift.report.comparison._diagram import diagram_figure, ranks_of
from semisift.report.comparison._measures import similarity_figure, stability_figure, time_figure
from semisift.report.comparison._page import command_of, failures, too_slow, unfinished, versions
from semisift.report.comparison._published import published_beside
from semisift.report.comparison._tables import escape_markdown, markdown_of
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
    place_of("form", form, FORMS)
    return _save(_figures(view_of(results), every=True), Path(folder), form)


def _figures(view: View, *, every: bool) -> list[ReportFigure]:
    """Return the pictures of the page in Markdown, or every picture for a paper."""
    ranks = ranks_of(view)
    drawn = [] if ranks is None else [diagram_figure(ranks)]
    for i in range(len(view.datasets)) if every else ():
        drawn.append(curve_figure(view, i, f"curves-{i + 1}", listed=True))
        drawn.append(box_figure(view, i, f"boxes-{i + 1}"))
    drawn += [stability_figure(view), time_figure(view)]
    drawn += [similarity_figure(view.results)] if every else []
    return [*drawn, *sweep_figures(view, listed=True)]


def file_name(picture: ReportFigure) -> str:
    """Return the name of the file of a picture: those of data sets are told by their names.

    Examples
    --------
    >>> file_name(ReportFigure("curves-1", "a/b", "", (1, 1), (0, 0, 0, 0), lambda *_: None))
    'curves-1-a-b'
    """
    kind, _, number = picture.slug.rpartition("-")
    if kind not in ("curves", "boxes"):
        return picture.slug
    plain = [letter if letter.isascii() and letter.isalnum() else "-" for letter in picture.title]
    return f"{kind}-{number}-{''.join(plain)[:40].strip('-')}".rstrip("-")


def _save(drawn: list[ReportFigure], folder: Path, form: str) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{file_name(picture)}.{form}" for picture in drawn]
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
    _save(drawn, folder, "svg")
    return write_page(_summary_of(view, drawn), folder)


def _summary_of(view: View, drawn: list[ReportFigure]) -> str:
    """Return the text of the page, with pictures named as `write_summary` names them."""
    results = view.results
    title, *command = opening(results, f"Comparison: {results.protocol.name}")
    parts = [title, escape_markdown(_text.lead(view)), *command]
    parts += ["## Protocol", bullets(_text.protocol_in_words(results))]
    judges = results.protocol.judges
    views = [
        (escape_markdown(printable_name(each)), view_of(results, judge=each)) for each in judges
    ]
    for name, judged in views:
        table = _tables.main_table(judged)
        parts += [f"## {table.title}, judge {name}", markdown_of(table).rstrip()]
    parts += [
        escape_markdown(said) for said in (_text.bounds_in_words(view), *view.left_out) if said
    ]
    for name, judged in views:
        if (beside := published_beside(judged)) is not None:
            parts += [f"## Published numbers beside ours, judge {name}"]
            parts += [f"Source: {escape_markdown(beside.source.rstrip('.'))}."]
            if beside.pairs:
                parts += [markdown_of(beside.table).rstrip()]
            parts += [bullets(beside.sentences)]
    parts += ["## Methods at a glance", markdown_of(_tables.glance_table(view)).rstrip()]
    parts += ["## Tests", bullets([*_text.tests_in_words(view), *_text.wilcoxon_in_words(view)])]
    for picture in drawn:
        title = escape_markdown(picture.title)
        parts += [f"### {title}", f"![{title}]({file_name(picture)}.svg)"]
        parts += [escape_markdown(picture.words)]
    return "\n\n".join([*parts, *closing(results)]) + "\n"


def opening(results: Records, title: str) -> list[str]:
    """Return the title of a page in Markdown and the command that makes its records again."""
    parts = [f"# {escape_markdown(printable_name(title))}"]
    if command := command_of(results):
        parts += ["## How to reproduce", indent(command, "    ")]
    return parts


def closing(results: Records, *more: str) -> list[str]:
    """Return what a page in Markdown ends with: what is missing or doubtful, and versions."""
    said = [unfinished(results), doubt(results.n_judging)]
    said += [f"{each.where}: {each.what}." for each in [*failures(results), *too_slow(results)]]
    said = [*filter(None, [*said, *more])]
    made = ", ".join(f"{name} {version}" for name, version in versions(results))
    parts = ["## What is missing or doubtful", bullets(said)] if said else []
    return [*parts, f"Made with {escape_markdown(made)}."]


def write_page(text: str, folder: Path) -> Path:
    """Write a page in Markdown into a folder, whole or not at all."""
    return _page.write_page(folder / SUMMARY, text)


def bullets(sentences: Sequence[str]) -> str:
    """Return sentences as a list in Markdown."""
    return "\n".join(f"- {escape_markdown(sentence)}" for sentence in sentences if sentence)
