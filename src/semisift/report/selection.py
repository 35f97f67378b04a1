"""Which features of a ranking are selected, and by what."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from semisift._base import FeatureRanker
from semisift.report.ranking import Ranking


@dataclass(frozen=True, eq=False)
class Selection:
    """The selected features.

    Attributes
    ----------
    mask : bool array
        Of the features in the order of their ranks.
    by_rule : bool
        Whether a rule or an assessment chose them; they need not be the first ones then.
    words : str
        How their number came about.
    """

    mask: NDArray[np.bool_]
    by_rule: bool
    words: str

    @property
    def n(self) -> int:
        """How many are selected."""
        return int(self.mask.sum())

    @property
    def n_first(self) -> int:
        """How many are selected if they are the first ones; 0 where others stand between them."""
        return self.n if self.mask[: self.n].all() else 0


def select(ranker: FeatureRanker, ranking: Ranking, n_selected: int | None = None) -> Selection:
    """Return what the ranker selects, or the best `n_selected` features.

    Parameters
    ----------
    ranker : fitted FeatureRanker
    ranking : Ranking
    n_selected : int, optional
        Where it is the number of features that the rule of the ranker confirmed, or its assessment
        if nothing was asked for, these are meant.

    Returns
    -------
    Selection
    """
    confirmed, rule = ranking.confirmed, ranker._rule
    decided = rule is not None and getattr(getattr(ranker, "cutoff_", None), "rule", None) == rule
    if confirmed is not None and decided and n_selected in (None, int(confirmed.sum())):
        return Selection(confirmed, True, f"as many as the {rule} rule confirmed")
    is_open = ranker.n_features_to_select is None and n_selected is not None
    if confirmed is not None and is_open and n_selected == int(confirmed.sum()):
        return Selection(confirmed, True, "as many as shuffled labels confirmed")
    words = "the best by rank"
    if n_selected is None:
        n_selected = _count(ranker, len(ranking))
        if ranker.n_features_to_select is None:
            words = "half of all, as no number was asked for"
    return Selection(np.arange(len(ranking)) < n_selected, False, words)


def _count(ranker: FeatureRanker, n_features: int) -> int:
    """Return how many of `n_features` the ranker selects."""
    if ranker._rule is not None:  # set after the fit, so that nothing was decided
        return n_features
    try:
        return min(ranker._count_to_select(ranker.n_features_in_), n_features)
    except ValueError:  # the number was raised after the fit
        return n_features
