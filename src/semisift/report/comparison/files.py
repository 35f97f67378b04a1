"""Pictures in files, and a short page in Markdown for documents."""

import os
from pathlib import Path
from textwrap import indent

from semisift._files import drafts
from semisift._words import visible
from semisift.evaluation.results import ComparisonResults
from semisift.evaluation.runs import doubt
from semisift.report.comparison.canvas import FORMS, Sketch
from semisift.report.comparison.gaps import command_of, failures, too_slow, unfinished, versions
from semisift.report.comparison.pictures import (
    all_sketches,
    diagram_sketch,
    file_name,
    ranks_of,
    sweep_sketches,
    trade_off_sketches,
)
from semisift.report.comparison.published import Published, published_beside, published_table
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
    sketches = all_sketches(view_of(results))
    return _save(sketches, Path(folder), form)


def _save(sketches: list[Sketch], folder: Path, form: str) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{file_name(sketch)}.{form}" for sketch in sketches]
    with drafts(paths) as places:
        for sketch, place in zip(sketches, places, strict=True):
            sketch.to_file(place, form)
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
    sketches = _summary_sketches(view)
    _save(sketches, folder, "svg")
    path = folder / SUMMARY
    with drafts([path]) as (draft,):
        draft.write_text(summary_of(view, sketches), encoding="utf-8", newline="\n")
    return path


def _summary_sketches(view: View) -> list[Sketch]:
    ranks = ranks_of(view)
    first = [] if ranks is None else [diagram_sketch(ranks, "ranks", 640.0)]
    return [*first, *trade_off_sketches(view), *sweep_sketches(view)]


def summary_of(view: View, sketches: list[Sketch]) -> str:
    """Return the text of the page, with pictures named as `write_summary` names them."""
    results = view.results
    title = visible(results.protocol.name)
    parts = [f"# Comparison: {escape_markdown(title)}", escape_markdown(lead(view))]
    if command := command_of(results):
        parts += ["## How to reproduce", indent(command, "    ")]
    parts += ["## Protocol", _list(protocol_in_words(results))]
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
    parts += ["## Tests", _list([*tests_in_words(view), *wilcoxon_in_words(view)])]
    for sketch in sketches:
        file = f"{file_name(sketch)}.svg"
        words = escape_markdown(sketch.words)
        parts += [
            f"### {escape_markdown(sketch.title)}",
            f"![{escape_markdown(sketch.title)}]({file})",
            words,
        ]
    gaps = [f"{gap.where}: {gap.what}." for gap in [*failures(results), *too_slow(results)]]
    if said := [*filter(None, [unfinished(results), doubt(results.n_judging)]), *gaps]:
        parts += ["## What is missing or doubtful", _list(said)]
    made = ", ".join(f"{name} {version}" for name, version in versions(results))
    parts += [f"Made with {escape_markdown(made)}."]
    return "\n\n".join(parts) + "\n"


def _asides(view: View) -> list[str]:
    return [*filter(None, [bounds_in_words(view)]), *view.left_out]


def _list(sentences: list[str]) -> str:
    return "\n".join(f"- {escape_markdown(sentence)}" for sentence in sentences if sentence)


def _published(view: View, beside: Published) -> list[str]:
    table = [markdown_of(published_table(view, beside)).rstrip()] if beside.pairs else []
    return [
        f"Source: {escape_markdown(beside.source.rstrip('.'))}.",
        *table,
        _list(beside.sentences),
    ]
