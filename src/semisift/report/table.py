"""The rows of the table of features, as plain values."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift._words import same_decimals, visible
from semisift.report.ranking import Ranking
from semisift.report.selection import Selection

MOST_TABLE_ROWS = 1000
MOST_COPIES = 20


@dataclass(frozen=True)
class TableRow:
    """One line of the table; `bar` is the score in percent of the best one.

    `copy_of` is the feature that stands for this one, `copies` those that this one stands for (the
    first of them) and `n_copies` how many. `low` and `high` are the ends of the interval of its
    ranks, `among_best` how often it is among the best, `parts` its ranks by the parts of a
    consensus.
    """

    rank: int
    feature: str
    column: str
    score: str
    bar: float
    draws: str
    selected: bool
    copy_of: str = ""
    copies: tuple[str, ...] = ()
    n_copies: int = 0
    decision: str = ""
    low: int = 0
    high: int = 0
    among_best: float = 0.0
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Columns:
    """Which columns the table of features has, besides rank, feature and score."""

    draws: bool
    decision: bool
    interval: bool
    among_best: bool
    n_best: int
    parts: list[str]
    selected: bool


def columns_of(ranking: Ranking, selection: Selection, n_best: int = 0) -> Columns:
    """Say which columns the table has; what a rule selects, the decisions tell already.

    `n_best` is how many features count as the best ones.
    """
    return Columns(
        draws=ranking.draws is not None,
        decision=ranking.decisions is not None,
        interval=ranking.rank_interval is not None,
        among_best=ranking.selection_probability is not None,
        n_best=n_best,
        parts=[visible(name) for name in ranking.parts or {}],
        selected=0 < selection.n < min(len(ranking), MOST_TABLE_ROWS) and not selection.by_rule,
    )


def table_rows(ranking: Ranking, selected: NDArray[np.bool_]) -> list[TableRow]:
    """Return the lines of the table: the best thousand.

    Parameters
    ----------
    ranking : Ranking
    selected : bool array
        Which features are selected, in the order of their ranks.

    Returns
    -------
    list of TableRow

    Examples
    --------
    >>> import numpy as np
    >>> names = np.array(["a", "b"], dtype=object)
    >>> ranking = Ranking(names, np.array([2.0, 0.5]), None, np.arange(2), names)
    >>> lines = table_rows(ranking, np.array([True, False]))
    >>> [(row.rank, row.feature, row.score, row.bar) for row in lines]
    [(1, 'a', '2.0000', 100.0), (2, 'b', '0.5000', 25.0)]
    """
    scores = ranking.scores[:MOST_TABLE_ROWS]
    form = same_decimals(scores)
    finite = scores[np.isfinite(scores)]
    best = float(finite.max(initial=0.0))
    copies = _copies_by_place(ranking)
    lines = []
    for place, score in enumerate(scores.tolist()):
        feature, column = visible(ranking.features[place]), visible(ranking.column_names[place])
        lines.append(
            TableRow(
                rank=place + 1,
                feature=feature,
                column="" if column == feature else column,
                score=_score(score, form),
                bar=_bar(score, best),
                draws="" if ranking.draws is None else f"{ranking.draws[place]:,}",
                selected=bool(selected[place]),
                copy_of=_copied(ranking, place),
                copies=tuple(visible(ranking.features[i]) for i in copies[place][:MOST_COPIES]),
                n_copies=len(copies[place]),
                **_sureness(ranking, place),
            )
        )
    return lines


def _sureness(ranking: Ranking, place: int) -> dict[str, Any]:
    """Return what is known about how sure the rank of a feature is."""
    known: dict[str, Any] = {}
    if ranking.decisions is not None:
        known["decision"] = str(ranking.decisions[place])
    if ranking.rank_interval is not None:
        known["low"], known["high"] = ranking.rank_interval[place].tolist()
    if ranking.selection_probability is not None:
        known["among_best"] = float(ranking.selection_probability[place])
    if ranking.parts is not None:
        known["parts"] = tuple(_rank(ranks[place]) for ranks in ranking.parts.values())
    return known


def _rank(value: float) -> str:
    """Write a rank; equal scores share a mean rank.

    Examples
    --------
    >>> _rank(1234.0), _rank(2.5)
    ('1,234', '2.5')
    """
    return f"{value:,.1f}".removesuffix(".0")


def _copies_by_place(ranking: Ranking) -> dict[int, list[int]]:
    copies: dict[int, list[int]] = defaultdict(list)
    if ranking.represented_by is not None:
        for place in np.flatnonzero(ranking.is_copy).tolist():
            copies[int(ranking.represented_by[place])].append(place)
    return copies


def _copied(ranking: Ranking, place: int) -> str:
    if ranking.represented_by is None or ranking.represented_by[place] == place:
        return ""
    return visible(ranking.features[ranking.represented_by[place]])


def _score(score: float, form: str) -> str:
    if np.isnan(score):
        return "none"
    if np.isinf(score):
        return "∞" if score > 0 else "-∞"
    return format(score, form)


def _bar(score: float, best: float) -> float:
    if score == np.inf:
        return 100.0
    if not np.isfinite(score) or best <= 0:
        return 0.0
    return round(100 * max(0.0, score / best), 1)
