"""The page of a comparison: one file that needs no network, drawn from the records alone."""

import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from semisift._words import visible
from semisift.evaluation.results import ComparisonResults
from semisift.evaluation.runs import doubt
from semisift.report.comparison import problems, styles, tables, words
from semisift.report.comparison.curves import (
    MOST_BANDS,
    box_figure,
    curve_figure,
    sweep_figure,
    sweep_figures,
)
from semisift.report.comparison.diagram import diagram_figure, ranks_of
from semisift.report.comparison.measures import stability_figure, time_figure
from semisift.report.comparison.published import published_beside
from semisift.report.comparison.view import METRICS, View, sweep_of, views_of
from semisift.report.figures import ReportFigure
from semisift.report.page import fill, write_page

WIDE, NARROW = 860.0, 340.0


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
    return write_page(Path(path), render_comparison(results, title=title))


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
    protocol = results.protocol
    return fill(
        "comparison/page.html",
        title=visible(title or f"Comparison: {protocol.name}"),
        results=results,
        view=views[0],
        panels=[_panel(view, number) for number, view in enumerate(views)],
        metrics=[METRICS.get(metric, visible(metric)) for metric in protocol.metrics],
        shows_bands=len(results.methods) <= MOST_BANDS,
        doubt=doubt(results.n_judging),
        styles=styles,
        words=words,
        tables=tables,
        problems=problems,
        numbers=_numbers(results),
    )


def _panel(view: View, number: int) -> dict[str, Any]:
    """Return what the page shows of one judge and one metric; `number` tells them apart."""
    start, sets = f"v{number}", range(len(view.datasets))
    is_published = view.metric == view.results.protocol.metrics[0]
    sweep, ranks = sweep_of(view), ranks_of(view)

    def large(make: Callable[..., ReportFigure], of: Any, name: str) -> ReportFigure:
        wide, narrow = (make(of, f"{start}-{name}", width) for width in (WIDE, NARROW))
        return replace(wide, small=narrow)

    return {
        "number": number,
        "view": view,
        "name": f"{view.metric_name} of the judge {visible(view.judge)}",
        "published": published_beside(view) if is_published else None,
        "curves": [curve_figure(view, i, f"{start}-curve-{i}", listed=False) for i in sets],
        "boxes": [box_figure(view, i, f"{start}-box-{i}") for i in sets],
        "diagram": ranks and large(diagram_figure, ranks, "ranks"),
        "stability": large(stability_figure, view, "stable"),
        "time": large(time_figure, view, "time"),
        "sweep_table": sweep and tables.sweep_table(sweep),
        "sweep": sweep_figures(view, f"{start}-", listed=False),
        "sweeps_of_sets": sweep
        and [sweep_figure(sweep, "figure", i, f"{start}-sweep-of-{i}", listed=False) for i in sets],
    }


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
