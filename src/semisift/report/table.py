"""The rows of the table of features, as plain values."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from semisift._words import same_decimals, visible
from semisift.report.ranking import Ranking

MOST_TABLE_ROWS = 1000
MOST_COPIES = 20


@dataclass(frozen=True)
class TableRow:
    """One line of the table; `bar` is the score in percent of the best one.

    `copy_of` is the feature that stands for this one, `copies` those that this one stands for (the
    first of them) and `n_copies` how many.
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


def table_rows(ranking: Ranking, n_selected: int) -> list[TableRow]:
    """Return the lines of the table: the best thousand.

    Examples
    --------
    >>> import numpy as np
    >>> names = np.array(["a", "b"], dtype=object)
    >>> ranking = Ranking(names, np.array([2.0, 0.5]), None, np.arange(2), names)
    >>> [(row.rank, row.feature, row.score, row.bar) for row in table_rows(ranking, 1)]
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
                selected=place < n_selected,
                copy_of=_copied(ranking, place),
                copies=tuple(visible(ranking.features[i]) for i in copies[place][:MOST_COPIES]),
                n_copies=len(copies[place]),
            )
        )
    return lines


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
