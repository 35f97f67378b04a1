"""How the scores fall from the first rank to the last: the points of the picture, and in words."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift._words import count, figure, listed, visible
from semisift.outcome import Outcome
from semisift.outcome.decisions import WORDS
from semisift.outcome.ranking import Chance
from semisift.report.palette import MARKS, MOST_MARKED, marked
from semisift.report.rows import find_constant

MOST_POINTS = 400
LOOK_FOR_DROP = 50

# So many confirmed and as many tentative features have a point in any case.
MOST_DECIDED = 100


@dataclass(frozen=True, eq=False)
class Curve:
    """Scores by rank.

    Attributes
    ----------
    ranks, scores : arrays
        Points of the picture: all ranks, or ranks evenly spaced on a logarithmic axis.
    n_first : int
        How many of the first features are selected; 0 where these are not the selected ones.
    names : list of str
        The first features that have a point.
    words : str
        What the picture shows.
    decisions : array of str or None
        What was decided on the features of the points.
    marks : list of str
        The decisions that are marked in the picture.
    chance : Chance or None
        What chance alone scores, where that is not far outside the picture.
    """

    ranks: NDArray[np.int64]
    scores: NDArray[np.float64]
    n_first: int
    names: list[str]
    words: str
    decisions: NDArray[np.str_] | None
    marks: list[str]
    chance: Chance | None


def follow(outcome: Outcome, n_names: int = 10, top: int | None = None) -> Curve:
    """Choose the points to draw, name the first of them and say how the scores fall.

    `top` leaves the features behind so many out.
    """
    own = ~outcome.is_copy
    finite = np.flatnonzero((np.isfinite(outcome.scores) & own)[:top])
    all_scores = outcome.scores[finite]
    chosen = _spaced(len(finite))
    if outcome.decisions is not None:
        for word in ("confirmed", "tentative"):
            found = np.flatnonzero(outcome.decisions[finite] == word)[:MOST_DECIDED]
            chosen = np.union1d(chosen, found)
    places = finite[chosen]
    decisions = None if outcome.decisions is None else outcome.decisions[places]
    marks = [decision for decision, _ in marked(places + 1, decisions)]
    chance, n_infinite = outcome.chance, int(np.isinf(outcome.scores[own]).sum())
    have, stand = ("has", "stands") if n_infinite == 1 else ("have", "stand")
    words = [
        *_fall(finite + 1, all_scores),
        f"{count(n_infinite, 'feature')} {have} an infinite score and {stand} outside the picture."
        * bool(n_infinite),
        _copies(int(outcome.is_copy.sum())),
        _marks(outcome, marks),
        _by_chance(chance, all_scores),
    ]
    return Curve(
        ranks=places + 1,
        scores=outcome.scores[places],
        n_first=outcome.n_first,
        names=[visible(outcome.features[place]) for place in finite[:n_names]],
        words=" ".join(filter(None, words)),
        decisions=decisions,
        marks=marks,
        chance=chance if _in_reach(chance, all_scores) else None,
    )


def _marks(outcome: Outcome, marks: list[str]) -> str:
    """Say which marks mean what."""
    if not marks:
        return ""
    said = [f"{outcome.counts[each]:,} {WORDS[each]} ({MARKS[each].words})" for each in marks]
    own = np.flatnonzero(~outcome.is_copy & (outcome.decisions == "rejected"))
    beyond = ""
    if len(own) and own[-1] >= MOST_MARKED:
        beyond = f" Those not told from chance are marked up to rank {MOST_MARKED}."
    return f"Marks: {listed(said)}.{beyond}"


def _by_chance(chance: Chance | None, scores: NDArray[np.float64]) -> str:
    """Say where the line of chance is."""
    if chance is None or not len(scores):
        return ""
    n_above = int((scores > chance.score).sum())
    above = f"{count(n_above, 'feature')} {'scores' if n_above == 1 else 'score'} higher"
    if not n_above:
        above = "no feature scores higher"
    where = "The dashed line is" if _in_reach(chance, scores) else "Far outside the picture is"
    return f"{where} the {chance.name}, at {figure(chance.score)}: {above}."


def _in_reach(chance: Chance | None, scores: NDArray[np.float64]) -> bool:
    """Return whether a line at the score of chance leaves the curve a third of the picture."""
    if chance is None or not len(scores):
        return False
    span = float(scores[0] - min(0.0, scores[-1])) or 1.0
    return bool(scores[-1] - 2 * span <= chance.score <= scores[0] + 2 * span)


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


def _copies(n_copies: int) -> str:
    what, stand = ("near-copy", "stands") if n_copies == 1 else ("near-copies", "stand")
    words = f"{n_copies:,} {what} of better features {stand} behind the others, outside it."
    return words if n_copies else ""


def missing_scores(outcome: Outcome, X: Any = None) -> list[str]:
    """Say which features have no score, and why.

    Without X they count as columns of a single value, which the base class leaves without one,
    unless no member drew them.
    """
    missing = np.isnan(outcome.scores)
    undrawn = missing & (outcome.draws == 0) if outcome.draws is not None else missing & False
    if X is None:
        constant = missing & ~undrawn
    else:
        constant = np.zeros_like(missing)
        constant[missing] = find_constant(X, outcome.columns[missing])
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
