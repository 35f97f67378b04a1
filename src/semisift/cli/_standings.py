"""How the methods of a comparison stand, on a terminal."""

from collections import Counter
from pathlib import Path

import numpy as np
from rich.table import Column, Table
from rich.text import Text

from semisift._words import count, figure, listed, visible
from semisift.cli._terminal import Terminal
from semisift.evaluation.results import ComparisonResults
from semisift.evaluation.runs import doubt
from semisift.evaluation.sweeps import SWEEPS
from semisift.report.comparison.problems import failures, too_slow
from semisift.report.comparison.view import view_of

LONGEST_ERROR = 300


def show(results: ComparisonResults, report: Path | None) -> None:
    """Print a table of the methods, what went wrong, and where all is."""
    console = Terminal()
    console.print(standings(results))
    for problem in [*failures(results), *too_slow(results)]:
        console.print(f"{problem.where}: {problem.what[:LONGEST_ERROR]}")
    for line in remarks(results):
        console.print(line)
    if results.folder is not None:
        console.print(f"Records: {results.folder}")
    if report is not None:
        console.print(f"Report: {report}")


def standings(results: ComparisonResults) -> Table:
    """Return a table with a row for each method, the best mean rank first."""
    judge, metric = results.protocol.judges[0], results.protocol.metrics[0]
    of_levels = [
        metric if level is None else f"{results.about['sweep']['kind']}={level:g}"
        for level in results.levels
    ]
    numbers = ("mean rank", *of_levels, "median seconds", "failed")
    table = Table(
        Column("method", overflow="fold"),
        *(Column(heading, justify="right") for heading in numbers),
        title=f"{count(len(results.datasets), 'data set')}, "
        f"{count(results.protocol.n_runs, 'run')}: {metric} of {judge}",
    )
    ranks = dict(zip(results.methods, view_of(results).mean_ranks, strict=True))
    means = [results.means(level=level) for level in results.levels]
    seconds = _median_seconds(results)
    failed = Counter(record["method"] for record in results.failures)
    for method in sorted(ranks, key=lambda method: np.nan_to_num(ranks[method], nan=np.inf)):
        rank = "-" if np.isnan(ranks[method]) else f"{ranks[method]:.2f}"
        figures = [_mean(*of_level[method], len(results.datasets)) for of_level in means]
        time = "-" if np.isnan(seconds[method]) else figure(seconds[method])
        table.add_row(Text(visible(method)), rank, *figures, time, str(failed[method] or "-"))
    return table


def _mean(mean: float, n_known: int, n_sets: int) -> str:
    """Write a mean over data sets, and of how many, where some are missing."""
    if not n_known:
        return "-"
    return f"{mean:.4f}" + (f" ({n_known} of {n_sets})" if n_known < n_sets else "")


def _median_seconds(results: ComparisonResults) -> dict[str, float]:
    found = {}
    seconds = results.measured("seconds")
    for method, values in zip(seconds.methods, np.moveaxis(seconds.values, 2, 0), strict=True):
        known = values[np.isfinite(values)]
        found[method] = float(np.median(known)) if len(known) else np.nan
    return found


def remarks(results: ComparisonResults) -> list[str]:
    """Say what the figures of the table stand on, where that is not all there is."""
    found = [*filter(None, [doubt(results.n_judging)])]
    complete = results.scores().complete().datasets
    n_complete = len(complete)
    if problem := results.unpaired(complete):
        found.append(f"There are no ranks: {problem}")
    elif 0 < n_complete < len(results.datasets):
        found.append(
            f"Ranks are over the {n_complete} of {len(results.datasets)} data sets on which every "
            "method has all its runs."
        )
    if results.levels[0] is not None:
        sweep = results.about["sweep"]["kind"]
        found.append(
            f"Ranks and seconds are at the first level, {results.levels[0]:g} ({SWEEPS[sweep]})."
        )
    if results.n_missing:
        found.append(f"{count(results.n_missing, 'record')} are missing: resume the comparison.")
    if len(results.protocol.judges) > 1 or len(results.protocol.metrics) > 1:
        others = [*results.protocol.judges[1:], *results.protocol.metrics[1:]]
        found.append(f"The records and the report have more: {listed(others)}.")
    return found
