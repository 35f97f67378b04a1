"""Pictures in files, and a short page in Markdown for documents."""

import os
from collections.abc import Sequence
from pathlib import Path
from textwrap import indent

from semisift._files import drafts
from semisift._words import visible
from semisift.evaluation.records import Records
from semisift.evaluation.results import ComparisonResults
from semisift.evaluation.runs import doubt
from semisift.report.comparison.canvas import FORMS, ReportFigure
from semisift.report.comparison.diagram import ranks_of
from semisift.report.comparison.pictures import (
    all_figures,
    diagram_figure,
    file_name,
    sweep_figures,
    trade_off_figures,
)
from semisift.report.comparison.problems import command_of, failures, too_slow, unfinished, versions
from semisift.report.comparison.published import BesidePublished, published_beside, published_table
from semisift.report.comparison.tables import glance_table, main_table
from semisift.report.comparison.text import escape_markdown, markdown_of
from semisift.report.comparison.view import View, view_of
from semisift.report.comparison.words import (
    bounds_in_words,
    lead,
    protocol_in_words,
    tests_in_words,
    wilcoxon_in_words,
)

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
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}: got {form!r}.")
    drawn = all_figures(view_of(results))
    return _save(drawn, Path(folder), form)


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
    folder = Path(folder)
    view = view_of(results)
    drawn = _summary_figures(view)
    _save(drawn, folder, "svg")
    return write_page(summary_of(view, drawn), folder)


def _summary_figures(view: View) -> list[ReportFigure]:
    ranks = ranks_of(view)
    first = [] if ranks is None else [diagram_figure(ranks, "ranks", 640.0)]
    return [*first, *trade_off_figures(view), *sweep_figures(view)]


def summary_of(view: View, drawn: list[ReportFigure]) -> str:
    """Return the text of the page, with pictures named as `write_summary` names them."""
    results = view.results
    title, *command = opening(results, f"Comparison: {results.protocol.name}")
    parts = [title, escape_markdown(lead(view)), *command]
    parts += ["## Protocol", bullets(protocol_in_words(results))]
    for judge in results.protocol.judges:
        table = main_table(view_of(results, judge=judge))
        parts += [f"## {table.title}, judge {escape_markdown(visible(judge))}"]
        parts += [markdown_of(table).rstrip()]
    parts += map(escape_markdown, _asides(view))
    for judge in results.protocol.judges:
        judged = view_of(results, judge=judge)
        if (beside := published_beside(judged)) is not None:
            name = escape_markdown(visible(judge))
            parts += [f"## Published numbers beside ours, judge {name}"]
            parts += _published(judged, beside)
    parts += ["## Methods at a glance", markdown_of(glance_table(view)).rstrip()]
    parts += ["## Tests", bullets([*tests_in_words(view), *wilcoxon_in_words(view)])]
    for picture in drawn:
        file = f"{file_name(picture)}.svg"
        words = escape_markdown(picture.words)
        parts += [
            f"### {escape_markdown(picture.title)}",
            f"![{escape_markdown(picture.title)}]({file})",
            words,
        ]
    return "\n\n".join([*parts, *closing(results)]) + "\n"


def opening(results: Records, title: str) -> list[str]:
    """Return the title of a page in Markdown and the command that makes its records again."""
    parts = [f"# {escape_markdown(visible(title))}"]
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
    path = folder / SUMMARY
    with drafts([path]) as (draft,):
        draft.write_text(text, encoding="utf-8", newline="\n")
    return path


def _asides(view: View) -> list[str]:
    return [*filter(None, [bounds_in_words(view)]), *view.left_out]


def bullets(sentences: Sequence[str]) -> str:
    """Return sentences as a list in Markdown."""
    return "\n".join(f"- {escape_markdown(sentence)}" for sentence in sentences if sentence)


def _published(view: View, beside: BesidePublished) -> list[str]:
    table = [markdown_of(published_table(view, beside)).rstrip()] if beside.pairs else []
    return [
        f"Source: {escape_markdown(beside.source.rstrip('.'))}.",
        *table,
        bullets(beside.sentences),
    ]
