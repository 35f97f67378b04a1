"""Published numbers beside ours: above them, within the error of both, or below.

A published mean of m runs is taken to have an error too: it is not printed, but that of our n runs
times sqrt(n / m), as if the runs of both were spread alike. Of few runs the spread is not well
known, so that Student's t says how many errors are within chance, at the level 0.05.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t as student

from semisift.report._page import paragraph, sentences
from semisift.report.comparison._tables import ReportTable, TableCell, TableLine, number
from semisift.report.comparison._view import View
from semisift.utils._text import printable, printable_name

# Differences that chance would exceed less often than that are differences.
LEVEL = 0.05

# how ours stands to a published number -> what tables call it
WORDS = {
    "above": "above",
    "within": "within the error",
    "below": "below",
    "alone": "no standard error",
    "nothing": "no figure",
}


@dataclass(frozen=True)
class Pair:
    """A published number and ours.

    Attributes
    ----------
    dataset, method : int
        Places.
    published, ours, error : float
    word : str
        How ours stands to the published one: a value of `WORDS`.
    spreads : (float, float), optional
        The published standard deviation over the numbers of features, and that of our mean curve.
    """

    dataset: int
    method: int
    published: float
    ours: float
    error: float
    word: str
    spreads: tuple[float, float] | None = None


def published_beside(view: View) -> dict[str, Any] | None:
    """Return the published numbers of the notes beside ours; None where there are none.

    Sentences stand beside the first judge's numbers.

    Returns
    -------
    dict
        Judge, source, pairs, sentences and the table, which has a line for each pair.
    """
    evaluator, results = view.evaluator, view.results
    content = _part(results.about, "notes", "published")
    if content is None:
        return None
    is_first = evaluator == results.protocol.judges[0]
    table = _part(content, "tables", evaluator) or (content.get("table") if is_first else None)
    if not isinstance(table, Mapping):
        return None
    spreads, n_runs = _part(content, "spreads", evaluator), content.get("n_runs")
    pairs: list[Pair] = []
    absent: dict[str, dict[str, None]] = {"data sets": {}, "methods": {}}  # sets that keep order
    for dataset, row in table.items():
        for method, value in row.items() if isinstance(row, Mapping) else ():
            if (published := _number(value)) is None:
                continue
            if dataset not in results.datasets:
                absent["data sets"][printable_name(dataset)] = None
            elif method not in results.methods:
                absent["methods"][printable_name(method)] = None
            else:
                i, j = results.datasets.index(dataset), results.methods.index(method)
                spread = _number((_part(spreads, dataset) or {}).get(method))
                pairs.append(_pair(view, i, j, published, spread, n_runs))
    paragraphs = []
    if pairs:
        found = Counter(pair.word for pair in pairs)
        parts = [f"{found[word]} {word}" for word in WORDS.values() if found[word]]
        mean = math.fsum(pair.ours - pair.published for pair in pairs) / len(pairs)
        paragraphs += [paragraph("published", len(pairs), parts, mean), describe_evaluation(n_runs)]
    has_spreads = any(pair.spreads for pair in pairs)
    paragraphs += sentences("beside_published", has_spreads, absent if is_first else {})
    more = content.get("sentences") or () if is_first else ()
    paragraphs += [printable(sentence) for sentence in more]
    return {
        "judge": evaluator,
        "source": printable(content.get("source") or "no source given"),
        "pairs": pairs,
        "sentences": paragraphs,
        "table": _table(view, pairs, has_spreads),
    }


def _part(content: Any, *names: str) -> Any:
    """Return what lies within nested mappings, or None where there is no such thing."""
    for name in names:
        content = content.get(name) if isinstance(content, Mapping) else None
    return content if isinstance(content, Mapping) else None


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) else None


def _pair(
    view: View, i: int, j: int, published: float, spread: float | None, n_theirs: int | None
) -> Pair:
    ours, error = float(view.scores.means[i, j]), float(view.scores.errors[i, j])
    spreads = None
    if spread is not None and not math.isnan(ours) and view.curves.shape[-1] > 1:
        spreads = spread, float(np.nanmean(view.curves[i, :, j], axis=0).std(ddof=1))
    n_ours = int(np.isfinite(view.scores.values[i, :, j]).sum())
    word = WORDS[stand(ours, error, published, n_ours, n_theirs)]
    return Pair(i, j, published, ours, error, word, spreads)


def stand(
    ours: float, error: float, published: float, n_ours: int, n_theirs: int | None = None
) -> str:
    """Return how our number stands to a published one: a key of `WORDS`.

    Parameters
    ----------
    ours, error : float
        Mean of the runs and its standard error.
    published : float
    n_ours : int
        Runs.
    n_theirs : int or None
        Runs that the published number is a mean of; None: not known, it counts as exact.

    Examples
    --------
    >>> stand(0.75, 0.01, 0.70, 10), stand(0.75, 0.03, 0.70, 10), stand(0.60, 0.03, 0.70, 10)
    ('above', 'within', 'below')
    >>> stand(0.75, 0.02, 0.70, 10), stand(0.75, 0.02, 0.70, 10, n_theirs=3)
    ('above', 'within')
    """
    if math.isnan(ours) or math.isnan(error):
        return "nothing" if math.isnan(ours) else "alone"
    n_errors = float(student.ppf(1 - LEVEL / 2, n_ours - 1))
    of_both = error * math.sqrt(1 + (n_ours / n_theirs if n_theirs else 0))
    # equal to the printed digits is not above or below
    if abs(ours - published) <= n_errors * of_both + 1e-9:
        return "within"
    return "above" if ours > published else "below"


def describe_evaluation(n_theirs: int | None) -> str:
    """Return in a sentence what "within the error" is."""
    return paragraph("describe_evaluation", LEVEL, n_theirs)


def _table(view: View, pairs: list[Pair], has_spreads: bool) -> ReportTable:
    lines = []
    for pair in pairs:
        cells = [
            TableCell(view.methods[pair.method]),
            number(pair.published),
            number(pair.ours, error=pair.error),
            TableCell(pair.word),
        ]
        if has_spreads:
            cells += [number(spread) for spread in pair.spreads or (math.nan, math.nan)]
        lines.append(TableLine(view.datasets[pair.dataset], cells, pair.dataset, pair.method))
    columns = ["method", "published", "ours", "ours is"]
    columns += ["published spread", "our spread"] if has_spreads else []
    return ReportTable("published-of", "Published numbers", "data set", columns, lines)
