"""The rows of the table of features, as plain values."""

from dataclasses import dataclass

import numpy as np

from semisift._words import figure, same_decimals, visible
from semisift.outcome import Outcome

MOST_TABLE_ROWS = 1000
MOST_COPIES = 20


@dataclass(frozen=True)
class TableRow:
    """One line of the table; `bar` is the score in percent of the best one.

    `column` is the column that stands for the feature if it has several, `copy_of` the feature that
    stands for this one, `copies` those that this one stands for (the first of them) and `n_copies`
    how many.
    """

    rank: int
    feature: str
    column: str
    score: str
    bar: float
    copy_of: str
    copies: list[str]
    n_copies: int


def table_rows(outcome: Outcome, most: int = MOST_TABLE_ROWS) -> list[TableRow]:
    """Return the lines of the table: the best thousand."""
    names = [visible(name) for name in outcome.features[:most]]
    scores = outcome.scores[:most]
    form = same_decimals(scores)
    best = float(scores[np.isfinite(scores)].max(initial=0.0))
    rows = []
    for place, (feature, score) in enumerate(zip(names, scores.tolist(), strict=True)):
        column, copies = visible(outcome.column_names[place]), outcome.copies.get(place, [])
        stands = place if outcome.represented_by is None else int(outcome.represented_by[place])
        rows.append(
            TableRow(
                rank=place + 1,
                feature=feature,
                column="" if column == feature else column,
                score=format(score, form) if np.isfinite(score) else figure(score),
                bar=_bar(score, best),
                copy_of="" if stands == place else visible(outcome.features[stands]),
                copies=[visible(outcome.features[i]) for i in copies[:MOST_COPIES]],
                n_copies=len(copies),
            )
        )
    return rows


def _bar(score: float, best: float) -> float:
    """Return the length of the bar of a score.

    Examples
    --------
    >>> _bar(0.5, 2.0), _bar(-1.0, 2.0), _bar(float("inf"), 2.0), _bar(float("nan"), 2.0)
    (25.0, 0.0, 100.0, 0.0)
    """
    if score == np.inf:
        return 100.0
    return round(100 * max(0.0, score / best), 1) if np.isfinite(score) and best > 0 else 0.0


def as_rank(value: float) -> str:
    """Write a rank; equal scores share a mean rank.

    Examples
    --------
    >>> as_rank(1234.0), as_rank(2.5)
    ('1,234', '2.5')
    """
    return f"{value:,.1f}".removesuffix(".0")
