"""Families: a feature with the near-copies that it stands for, and what is shown of them first.

A short list holds one feature of each family, and that could hide strong ones. So none of the best
by score is left out of what a reader sees first: each is listed, or named beside the feature that
stands for it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from semisift.outcome.assessment import N_SHOWN

if TYPE_CHECKING:
    from semisift.outcome.ranking import Outcome

# So many near-copies are named beside the feature that stands for them, if not more must be.
FIRST_NAMES = 3


@dataclass(frozen=True, eq=False)
class Families:
    """What is shown of an outcome first, as places of features.

    Attributes
    ----------
    strongest : int array
        The 20 best features by score, best first; those without a score are not among them.
    shown : int array
        The features of a short list, in their order: those to look at, and those that stand for
        the strongest (where fewer features were asked for, for so many of the strongest).
    named : dict of int to list of int
        The near-copies to name beside a feature that stands for them: the first three, and all that
        are among the strongest.
    """

    strongest: NDArray[np.int64]
    shown: NDArray[np.int64]
    named: dict[int, list[int]]


def gather(outcome: "Outcome") -> Families:
    """Find out what to show of an outcome first."""
    best = _strongest(outcome)
    stand = best[: outcome.n_selected] if outcome.selected_by == "number" else best
    if outcome.represented_by is not None:
        stand = outcome.represented_by[stand]
    strong = set(best.tolist())
    named = {
        place: members[: max(FIRST_NAMES, len(strong.intersection(members)))]
        for place, members in outcome.copies.items()
    }
    return Families(best, np.union1d(outcome.listed, stand), named)


def _strongest(outcome: "Outcome") -> NDArray[np.int64]:
    ranks = outcome.score_rank
    order = np.arange(len(outcome)) if ranks is None else np.argsort(ranks)
    return order[~np.isnan(outcome.scores[order])][:N_SHOWN]
