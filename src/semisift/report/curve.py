"""How the scores fall from the first rank to the last: the points of the picture, and in words."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift._words import count, figure, visible
from semisift.report.ranking import Ranking
from semisift.report.rows import find_constant

MOST_POINTS = 400
LOOK_FOR_DROP = 50


@dataclass(frozen=True, eq=False)
class Curve:
    """Scores by rank.

    Attributes
    ----------
    ranks, scores : arrays
        Points of the picture: all ranks, or ranks evenly spaced on a logarithmic axis.
    n_scored : int
        Features with a finite score that are no near-copies.
    n_selected : int
    names : list of str
        The first features that have a point.
    words : str
        What the picture shows.
    """

    ranks: NDArray[np.int64]
    scores: NDArray[np.float64]
    n_scored: int
    n_selected: int
    names: list[str]
    words: str


def follow(ranking: Ranking, n_selected: int, n_names: int = 10) -> Curve:
    """Choose the points to draw and say how the scores fall.

    Parameters
    ----------
    ranking : Ranking
    n_selected : int
    n_names : int
        How many names to keep.

    Returns
    -------
    Curve
    """
    is_copy = ranking.is_copy
    finite = np.flatnonzero(np.isfinite(ranking.scores) & ~is_copy)
    ranks, scores = finite + 1, ranking.scores[finite]
    chosen = _spaced(len(ranks))
    names = [visible(ranking.features[place]) for place in finite[:n_names]]
    words = " ".join(_fall(ranks, scores) + _infinite(ranking.scores[~is_copy]) + _copies(is_copy))
    return Curve(ranks[chosen], scores[chosen], len(ranks), n_selected, names, words)


def _spaced(length: int) -> NDArray[np.intp]:
    """Return places evenly spaced in the logarithm; all of the first ones, and the last.

    Examples
    --------
    >>> _spaced(3).tolist(), len(_spaced(100_000)) <= MOST_POINTS
    ([0, 1, 2], True)
    """
    if length <= MOST_POINTS:
        return np.arange(length)
    return np.unique(np.geomspace(1, length, MOST_POINTS).round().astype(np.intp)) - 1


def _fall(ranks: NDArray[np.int64], scores: NDArray[np.float64]) -> list[str]:
    if not len(scores):
        return ["No feature has a finite score."]
    first, best = ranks[0], scores[0]
    if len(scores) == 1:
        return [f"One feature has a score: {figure(best)}."]
    if scores[-1] == best:
        return [f"All {len(scores):,} scores are the same: {figure(best)}."]
    words = [
        f"The score falls from {figure(best)} at rank {first:,} to {figure(scores[-1])} at rank "
        f"{ranks[-1]:,}."
    ]
    if best > 0 and (low := np.flatnonzero(scores <= best / 2)).size:
        words.append(f"Half of the best score is reached at rank {ranks[low[0]]:,}.")
    drops = -np.diff(scores[:LOOK_FOR_DROP])
    if len(drops) > 1 and drops.max() > 0:
        place = int(drops.argmax())
        among = f" of the first {LOOK_FOR_DROP}" if len(scores) > LOOK_FOR_DROP else ""
        words.append(
            f"The largest drop between neighbours{among} is from {figure(scores[place])} at rank "
            f"{ranks[place]:,} to {figure(scores[place + 1])} at rank {ranks[place + 1]:,}."
        )
    return words


def _infinite(scores: NDArray[np.float64]) -> list[str]:
    n_infinite = int(np.isinf(scores).sum())
    if not n_infinite:
        return []
    have, stand = ("has", "stands") if n_infinite == 1 else ("have", "stand")
    features = count(n_infinite, "feature")
    return [f"{features} {have} an infinite score and {stand} outside the picture."]


def _copies(is_copy: NDArray[np.bool_]) -> list[str]:
    n_copies = int(is_copy.sum())
    if not n_copies:
        return []
    what, stand = ("near-copy", "stands") if n_copies == 1 else ("near-copies", "stand")
    return [f"{n_copies:,} {what} of better features {stand} behind the others, outside it."]


def missing_scores(ranking: Ranking, X: Any = None) -> list[str]:
    """Say which features have no score, and why.

    Without X they count as columns of a single value, which the base class leaves without one,
    unless no member drew them.
    """
    missing = np.isnan(ranking.scores)
    undrawn = missing & (ranking.draws == 0) if ranking.draws is not None else missing & False
    if X is None:
        constant = missing & ~undrawn
    else:
        constant = np.zeros_like(missing)
        constant[missing] = find_constant(X, ranking.columns[missing])
    reasons = [
        (constant, "a single value and no score"),
        (missing & undrawn & ~constant, "no score, as no member of the committee drew them"),
        (missing & ~undrawn & ~constant, "no score"),
    ]
    return [
        f"{count(int(which.sum()), 'feature')} {'has' if which.sum() == 1 else 'have'} {what}."
        for which, what in reasons
        if which.any()
    ]
