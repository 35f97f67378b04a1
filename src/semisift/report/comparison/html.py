"""The page of a comparison: one file that needs no network, drawn from the records alone."""

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from semisift._files import drafts
from semisift._words import setting, visible
from semisift.evaluation.results import ComparisonResults
from semisift.evaluation.runs import doubt
from semisift.report.comparison import problems, styles, words
from semisift.report.comparison.canvas import ReportFigure
from semisift.report.comparison.curves import MOST_BANDS
from semisift.report.comparison.diagram import ranks_of
from semisift.report.comparison.pictures import (
    box_figure,
    curve_figure,
    diagram_figure,
    stability_figure,
    sweep_figure,
    time_figure,
)
from semisift.report.comparison.published import published_beside, published_table
from semisift.report.comparison.sweep import MEASURES, SweepView, sweep_table
from semisift.report.comparison.tables import (
    glance_table,
    main_table,
    memory_table,
    seconds_table,
    similarity_table,
    stability_table,
    wilcoxon_table,
    wins_table,
)
from semisift.report.comparison.view import METRICS, View, views_of
from semisift.report.page import fill
from semisift.report.palette import PLAIN
from semisift.report.pictures import Picture

WIDE, NARROW = 860.0, 340.0


@dataclass(frozen=True)
class MethodKey:
    """How a method looks: numbers of its colour and mark, and dashes of its line."""

    name: str
    colour: int
    mark: int
    dashes: str
    is_bound: bool


def write_comparison(
    results: ComparisonResults, path: str | os.PathLike[str], *, title: str | None = None
) -> Path:
    """Write the report of a comparison to a file, whole or not at all.

    Parameters
    ----------
    results : Results
    path : str or path
    title : str, optional

    Returns
    -------
    Path
    """
    page = render_comparison(results, title=title)
    with drafts([Path(path)]) as (draft,):
        draft.write_text(page, encoding="utf-8", newline="\n")
    return Path(path)


def render_comparison(results: ComparisonResults, *, title: str | None = None) -> str:
    """Return the page as text: the same for the same records.

    Parameters
    ----------
    results : Results
    title : str, optional

    Returns
    -------
    str
    """
    views = views_of(results)
    first = views[0]
    return fill(
        "comparison/page.html",
        "comparison/style.css",
        "comparison/script.js",
        title=visible(title or f"Comparison: {results.protocol.name}"),
        lead=words.lead(first),
        trained_on=words.trained_on(results.protocol),
        protocol=words.protocol_in_words(results),
        n_runs=results.protocol.n_runs,
        n_records=len(results.records),
        methods=_keys(first),
        datasets=first.datasets,
        judges=[visible(judge) for judge in results.protocol.judges],
        metrics=[METRICS.get(metric, visible(metric)) for metric in results.protocol.metrics],
        shows_bands=len(results.methods) <= MOST_BANDS,
        panels=[_panel(view, number) for number, view in enumerate(views)],
        bounds=words.bounds_in_words(first),
        stability=stability_table(first),
        seconds=seconds_table(first),
        memory=memory_table(first),
        similarity=similarity_table(first.methods, results.similarity()),
        n_top=results.protocol.n_top,
        unfinished=problems.unfinished(results),
        doubt=doubt(results.n_judging),
        failures=problems.failures(results),
        too_slow=problems.too_slow(results),
        warnings=problems.warnings(results),
        versions=problems.versions(results),
        command=problems.command_of(results),
        about_datasets=_about_datasets(results),
        about_methods=_about_methods(results),
        numbers=_numbers(results),
    )


def _keys(view: View) -> list[MethodKey]:
    return [
        MethodKey(
            name,
            j % len(PLAIN.classes) + 1,
            styles.mark(j),
            " ".join(f"{styles.LINE_WIDTH * length:.2f}" for length in styles.dashes(j)),
            bool(view.is_bound[j]),
        )
        for j, name in enumerate(view.methods)
    ]


def _panel(view: View, number: int) -> dict[str, Any]:
    """Return what the page shows of one judge and one metric; `number` tells them apart."""
    start = f"v{number}"
    is_published = view.metric == view.results.protocol.metrics[0]
    beside = published_beside(view) if is_published else None
    sets = range(len(view.datasets))
    sweep = None if view.results.about["sweep"] is None else SweepView(view)
    ranks = ranks_of(view)
    return {
        "number": number,
        "judge": visible(view.judge),
        "metric": view.metric_name,
        "name": f"{view.metric_name} of the judge {visible(view.judge)}",
        "main": main_table(view),
        "glance": glance_table(view),
        "asides": view.left_out,
        "published": beside,
        "published_table": published_table(view, beside) if beside and beside.pairs else None,
        "curves": [_small(curve_figure(view, i, f"{start}-curve-{i}", listed=False)) for i in sets],
        "boxes": [_small(box_figure(view, i, f"{start}-box-{i}")) for i in sets],
        "diagram": None
        if ranks is None
        else _large(*(diagram_figure(ranks, f"{start}-ranks", w) for w in (WIDE, NARROW))),
        "tests": words.tests_in_words(view),
        "wins": words.wins_in_words(view),
        "wins_table": wins_table(view, corrected=True),
        "wins_plain": wins_table(view, corrected=False),
        "wilcoxon": words.wilcoxon_in_words(view),
        "wilcoxon_table": wilcoxon_table(view),
        "stability": _large(
            *(stability_figure(view, f"{start}-stable", w) for w in (WIDE, NARROW))
        ),
        "time": _large(*(time_figure(view, f"{start}-time", w) for w in (WIDE, NARROW))),
        "sweep_table": None if sweep is None else sweep_table(sweep),
        "sweep": []
        if sweep is None
        else [
            _small(sweep_figure(sweep, measure, None, f"{start}-sweep-{measure}", listed=False))
            for measure in MEASURES
        ],
        "sweeps_of_sets": []
        if sweep is None
        else [
            _small(sweep_figure(sweep, "figure", i, f"{start}-sweep-of-{i}", listed=False))
            for i in sets
        ],
    }


def _small(shown: ReportFigure) -> Picture:
    label = f"{shown.slug}-title {shown.slug}-words"
    return Picture(shown.slug, shown.title, shown.words, shown.on_page(label))


def _large(wide: ReportFigure, narrow: ReportFigure) -> Picture:
    small = narrow.on_page(f"{wide.slug}-words", prefix=f"{wide.slug}-narrow")
    return Picture(wide.slug, wide.title, wide.words, wide.on_page(), small)


def _about_datasets(results: ComparisonResults) -> list[tuple[str, ...]]:
    return [
        (
            visible(name),
            *(f"{about.get(part, 0):,}" for part in ("n_rows", "n_features", "n_classes")),
            f"{results.n_judging[name]:,}" if name in results.n_judging else "none",
            visible(about.get("checksum", "")),
        )
        for name, about in results.about["datasets"].items()
    ]


def _about_methods(results: ComparisonResults) -> list[tuple[str, str]]:
    return [
        (
            visible(name),
            ", ".join(f"{visible(key)}={setting(value)}" for key, value in parameters.items()),
        )
        for name, parameters in results.about["methods"].items()
    ]


def _numbers(results: ComparisonResults) -> Markup:
    """Return the figures as JSON that cannot end its element, rounded to six decimals."""
    protocol = results.protocol
    content: dict[str, Any] = {
        "datasets": results.datasets,
        "methods": results.methods,
        "judges": protocol.judges,
        "metrics": protocol.metrics,
        "sizes": protocol.sizes,
        "records": [
            [
                results.datasets.index(record["dataset"]),
                results.methods.index(record["method"]),
                record["level"],
                record["run"],
                record["measured"]["seconds"],
                record["measured"]["peak_mb"],
                [
                    [[_rounded(value) for value in curves[metric]] for metric in protocol.metrics]
                    for curves in (record["curves"][judge] for judge in protocol.judges)
                ],
            ]
            for record in results.records
            if record["curves"]
        ],
    }
    return htmlsafe_json_dumps(content, separators=(",", ":"))


def _rounded(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else round(value, 6)
