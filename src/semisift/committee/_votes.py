"""How a committee decides on rows: counting votes, class mass, and the surest rows."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semisift.committee._bootstrap import Int32s
from semisift.utils._typing import Bools, Floats

# The vote has collapsed when all classes but one together win at most this share of the rows,
COLLAPSED_SHARE = 0.05
# and at most this part of what the labelled rows let expect,
COLLAPSED_PART = 0.25
# provided that at least so many rows were to be expected: a few rows may well be of one class.
MIN_EXPECTED = 30


class CommitteeVerdict(NamedTuple):
    """The label that most voters prefer (-1: nobody voted) and its share of the votes."""

    label: Int32s
    confidence: Floats


def decide(
    votes: NDArray[np.int64], prior: Floats | None = None, labelled_shares: Floats | None = None
) -> CommitteeVerdict:
    """Return the winner of each row's votes and its share (algorithm 3 of the SSFI paper).

    Parameters
    ----------
    votes : int array of shape (..., n_classes)
    prior : array of shape (n_classes,) or None
        Scale the votes towards these shares of the classes (class-mass normalisation): each class
        by one factor, then each row to a sum of one.
    labelled_shares : array of shape (n_classes,) or None
        If given, and if by these shares among the labelled rows the vote has collapsed, scale it
        towards equal shares.

    Returns
    -------
    CommitteeVerdict

    Examples
    --------
    >>> import numpy as np
    >>> decide(np.array([[3, 2], [0, 0]]))
    CommitteeVerdict(label=array([ 0, -1], dtype=int32), confidence=array([0.6, 0. ]))
    """
    return aggregate_votes(votes, class_factors(votes, prior, labelled_shares))


def class_factors(
    votes: NDArray[np.int64], prior: Floats | None = None, labelled_shares: Floats | None = None
) -> Floats | None:
    """Return what `decide` scales the votes of each class by; None leaves them as they are."""
    if prior is None and labelled_shares is None:
        return None
    usable, share = _shares(votes)
    if prior is None and is_degenerate(share.argmax(axis=1)[usable], labelled_shares):
        prior = np.full(votes.shape[1], 1 / votes.shape[1])
    if prior is None or not usable.any():
        return None
    mass = share[usable].mean(axis=0)
    return np.divide(prior, mass, out=np.zeros_like(mass), where=mass > 0)


def aggregate_votes(votes: NDArray[np.int64], factors: Floats | None) -> CommitteeVerdict:
    """Return the winner of each row's votes and its share, with the votes of a class scaled."""
    usable, share = _shares(votes)
    if factors is not None:
        share = share * factors
        total = share.sum(axis=-1)
        share /= np.where(total > 0, total, 1.0)[..., None]
    label = np.where(usable, share.argmax(axis=-1), -1).astype(np.int32)
    return CommitteeVerdict(label, np.where(usable, share.max(axis=-1, initial=0), 0.0))


def _shares(votes: NDArray[np.int64]) -> tuple[Bools, Floats]:
    """Return which rows have votes, and the shares of the classes in them."""
    total = votes.sum(axis=-1)
    usable = total > 0
    return usable, votes / np.where(usable, total, 1)[..., None]


def is_degenerate(winner: NDArray[np.integer], labelled_shares: Floats | None) -> bool:
    """Whether one class wins nearly everywhere although the labelled rows speak against it."""
    if labelled_shares is None:
        return False
    wins = np.bincount(winner, minlength=len(labelled_shares))
    top = wins.argmax()
    others = len(winner) - wins[top]
    expected = len(winner) * (1 - labelled_shares[top])
    most = min(COLLAPSED_SHARE * len(winner), COLLAPSED_PART * expected)
    return bool(expected >= MIN_EXPECTED and others <= most)


def sort_confident(
    verdict: CommitteeVerdict, unlabelled: Int32s, n_rows: int, quotas: Int32s
) -> tuple[NDArray[Any], ...]:
    """List the usable rows class by class, the most confident first, for `pick_confident`."""
    usable = np.flatnonzero(verdict.label >= 0)
    label, certainty = verdict.label[usable], verdict.confidence[usable]
    sorted_rows = np.lexsort((-certainty, label))
    class_starts = np.searchsorted(label[sorted_rows], np.arange(len(quotas) + 1))
    confidence = np.zeros(n_rows)
    confidence[unlabelled] = verdict.confidence
    return unlabelled[usable[sorted_rows]], confidence, class_starts.astype(np.int32), quotas
