"""Where results come from and what they lack: failures, slow methods, warnings, versions.

The page of a comparison: one file that needs no network, drawn from the records alone.
"""

import math
import os
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from semisift.comparison._results import ComparisonResults, Records
from semisift.comparison._run import Record, doubt
from semisift.report._figures import ReportFigure
from semisift.report._page import fill, write_page
from semisift.report.comparison import _diagram, _page, _tables, _text
from semisift.report.comparison._curves import (
    MOST_BANDS,
    box_figure,
    curve_figure,
    sweep_figure,
    sweep_figures,
)
from semisift.report.comparison._diagram import diagram_figure, ranks_of
from semisift.report.comparison._measures import stability_figure, time_figure
from semisift.report.comparison._published import published_beside
from semisift.report.comparison._view import LONGEST_SAID, METRICS, View, sweep_of, views_of
from semisift.utils._text import format_number, join, plural, printable, printable_name, shorten


@dataclass(frozen=True)
class RunProblem:
    """What went wrong, where and how often; places are None where there are several."""

    where: str
    what: str
    dataset: int | None = None
    method: int | None = None


def failures(results: Records) -> list[RunProblem]:
    """Return errors, a line for each data set, method and message."""
    found = Counter(
        (record["dataset"], record["method"], str(record["error"])) for record in results.failures
    )
    return [
        RunProblem(
            f"{_short(method)} failed on {_short(dataset)} in {plural(n, 'run')}",
            printable(error),
            results.datasets.index(dataset),
            results.methods.index(method),
        )
        for (dataset, method, error), n in found.items()
    ]


def too_slow(results: Records) -> list[RunProblem]:
    """Return methods that were left out on a data set because of their time."""
    limit = results.about.get("max_seconds")
    return [
        RunProblem(
            f"{_short(method)} on {_short(dataset)}",
            f"left out after a run of {format_number(seconds)} seconds; the limit was {limit:g}",
            results.datasets.index(dataset),
            results.methods.index(method),
        )
        for (dataset, method), seconds in results.too_slow.items()
    ]


def warnings(results: Records) -> list[RunProblem]:
    """Return warnings, a line for each message and method."""
    found: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in results.records:
        for message in record["warnings"]:
            found[record["method"], message].append(record)
    lines = []
    for (method, message), records in found.items():
        sets = dict.fromkeys(_short(record["dataset"]) for record in records)
        where = f"{_short(method)}, {plural(len(records), 'run')} on {join(list(sets))}"
        lines.append(RunProblem(where, printable(message), method=results.methods.index(method)))
    return lines


def unfinished(results: Records) -> str:
    """Say how many records are missing; empty if none is."""
    if not results.n_missing:
        return ""
    n_records = len(results.records)
    return (
        f"The comparison is not finished: {plural(results.n_missing, 'record')} of "
        f"{n_records + results.n_missing:,} are still to be made."
    )


def versions(results: Records) -> list[tuple[str, str]]:
    """Return the versions with which the records were made; all of them where they differ."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for record in [*results.records, results.about]:
        for name, version in (record.get("versions") or {}).items():
            found[printable_name(name)][printable_name(version)] = None
    return [(name, " and ".join(values)) for name, values in found.items()]


def command_of(results: Records) -> str:
    """Return the command of the notes, which makes the comparison again; empty if there is none."""
    command = (results.about.get("notes") or {}).get("command") or ""
    return "\n".join(printable(line) for line in str(command).splitlines())


def _short(name: str) -> str:
    return shorten(printable_name(name), LONGEST_SAID)


# --- html -----------------------------------------------------------------------------------------


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
        title=printable_name(title or f"Comparison: {protocol.name}"),
        results=results,
        view=views[0],
        panels=[_panel(view, number) for number, view in enumerate(views)],
        metrics=[METRICS.get(metric, printable_name(metric)) for metric in protocol.metrics],
        shows_bands=len(results.methods) <= MOST_BANDS,
        doubt=doubt(results.n_judging),
        styles=_diagram,
        words=_text,
        tables=_tables,
        problems=_page,
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
        "name": f"{view.metric_name} of the judge {printable_name(view.judge)}",
        "published": published_beside(view) if is_published else None,
        "curves": [curve_figure(view, i, f"{start}-curve-{i}", listed=False) for i in sets],
        "boxes": [box_figure(view, i, f"{start}-box-{i}") for i in sets],
        "diagram": ranks and large(diagram_figure, ranks, "ranks"),
        "stability": large(stability_figure, view, "stable"),
        "time": large(time_figure, view, "time"),
        "sweep_table": sweep and _tables.sweep_table(sweep),
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
