"""Published numbers beside ours: above them, within two standard errors, or below."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from semisift._words import count, listed, printable, visible
from semisift.report.comparison.tables import Cell, Line, Table, number
from semisift.report.comparison.view import View

WIDTH = 2.0
WORDS = ("above", "within two standard errors", "below")
UNKNOWN = "no standard error"


@dataclass(frozen=True)
class Pair:
    """A published number and ours.

    Attributes
    ----------
    dataset, method : int
        Places.
    published, ours, error : float
    word : str
        How ours stands to the published one: one of `WORDS`, or `UNKNOWN`.
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


@dataclass(frozen=True)
class Published:
    """What was published, beside ours.

    Attributes
    ----------
    source : str
    pairs : list of Pair
    sentences : list of str
        What we found in words, and what whoever noted the numbers wants said.
    """

    source: str
    pairs: list[Pair]
    sentences: list[str]


def published_beside(view: View) -> Published | None:
    """Return the published numbers of the notes beside ours; None where there are none.

    Sentences stand beside the first judge's numbers.
    """
    notes = view.results.about.get("notes") or {}
    content = notes.get("published") if isinstance(notes, Mapping) else None
    if not isinstance(content, Mapping):
        return None
    is_first = view.judge == view.results.protocol.judges[0]
    table = _part(content, "tables", view.judge) or (content.get("table") if is_first else None)
    if not isinstance(table, Mapping):
        return None
    spreads = _part(content, "spreads", view.judge) or {}
    pairs: list[Pair] = []
    datasets: dict[str, None] = {}  # as sets that keep their order
    methods: dict[str, None] = {}
    for dataset, row in table.items():
        for method, value in row.items() if isinstance(row, Mapping) else ():
            number = _number(value)
            if number is None:
                continue
            if dataset not in view.results.datasets:
                datasets[visible(dataset)] = None
            elif method not in view.results.methods:
                methods[visible(method)] = None
            else:
                i = view.results.datasets.index(dataset)
                j = view.results.methods.index(method)
                spread = _number((_part(spreads, dataset) or {}).get(method))
                pairs.append(_pair(view, i, j, number, spread))
    sentences = [_counts(pairs)] if pairs else []
    if any(pair.spreads for pair in pairs):
        sentences.append(
            "Spread is the standard deviation over the numbers of features, of ours that of the "
            "mean over the runs."
        )
    if is_first:
        for what, names in (("data sets", datasets), ("methods", methods)):
            if names:
                sentences.append(
                    f"Published, but not part of this comparison, {what}: {listed([*names])}."
                )
        sentences += [printable(sentence) for sentence in content.get("sentences") or ()]
    return Published(printable(content.get("source") or "no source given"), pairs, sentences)


def _part(content: Any, *names: str) -> Any:
    """Return what lies within nested mappings, or None where there is no such thing."""
    for name in names:
        content = content.get(name) if isinstance(content, Mapping) else None
    return content if isinstance(content, Mapping) else None


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) else None


def _pair(view: View, i: int, j: int, published: float, spread: float | None) -> Pair:
    ours, error = float(view.scores.means[i, j]), float(view.scores.errors[i, j])
    spreads = None
    if spread is not None and not math.isnan(ours) and view.curves.shape[-1] > 1:
        spreads = spread, float(np.nanmean(view.curves[i, :, j], axis=0).std(ddof=1))
    return Pair(i, j, published, ours, error, stand(ours, error, published), spreads)


def stand(ours: float, error: float, published: float) -> str:
    """Say how our number stands to a published one.

    Examples
    --------
    >>> stand(0.75, 0.01, 0.70), stand(0.75, 0.03, 0.70), stand(0.60, 0.03, 0.70)
    ('above', 'within two standard errors', 'below')
    """
    if math.isnan(ours):
        return "no figure"
    if math.isnan(error):
        return UNKNOWN
    # equal to the printed digits is not above or below
    if abs(ours - published) <= WIDTH * error + 1e-9:
        return WORDS[1]
    return WORDS[0] if ours > published else WORDS[2]


def _counts(pairs: list[Pair]) -> str:
    found = Counter(pair.word for pair in pairs)
    parts = [f"{found[word]} {word}" for word in [*WORDS, UNKNOWN, "no figure"] if found[word]]
    numbers = count(len(pairs), "published number")
    mean = math.fsum(pair.ours - pair.published for pair in pairs) / len(pairs)
    words = f"Of {numbers}, ours are: {listed(parts)}."
    return words if math.isnan(mean) else f"{words} The mean difference is {mean:+.3f}."


def published_table(view: View, beside: Published) -> Table:
    """Return a line for each published number."""
    lines = []
    has_spreads = any(pair.spreads for pair in beside.pairs)
    for pair in beside.pairs:
        aside = "" if math.isnan(pair.error) else f"± {pair.error:.3f}"
        ours = number(pair.ours)
        cells = [
            Cell(view.methods[pair.method]),
            number(pair.published),
            Cell(ours.text, ours.value, aside=aside),
            Cell(pair.word),
        ]
        if has_spreads:
            cells += [number(spread) for spread in pair.spreads or (math.nan, math.nan)]
        lines.append(Line(view.datasets[pair.dataset], cells, pair.dataset, pair.method))
    columns = ["method", "published", "ours", "ours is"]
    columns += ["published spread", "our spread"] if has_spreads else []
    nothing: list[int | None] = [None] * len(columns)
    return Table("published-of", "Published numbers", "data set", columns, nothing, lines)
