"""EnsCLS: a committee of constrained Laplacian scores in random subspaces.

M. Hindawi, H. Elghazel, K. Benabdeslem (2013). Efficient semi-supervised feature selection by an
ensemble approach. COPEM workshop at ECML-PKDD, algorithm 2.
"""

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from semisift.base._ranker import PairRanker
from semisift.base._training_data import TrainingData
from semisift.ensemble._importance import COMMITTEE_CONSTRAINTS, CommitteeMixin
from semisift.ensemble._random_subspaces import KINDS
from semisift.ensemble._subspaces import (
    AGGREGATES,
    MemberScores,
    SubspaceSetting,
    aggregate,
    make_setting,
    score_members,
    weigh_members,
)
from semisift.filters._constrained_laplacian import N_CANNOT_LINKS
from semisift.filters._constraints import check_not_vanished, warn_of_no_cannot_link
from semisift.utils._sklearn_compat import Interval, StrOptions, at_least

# Members whose weights are looked at one by one, to tell whether the heat fits the data.
N_PROBED = 3


class EnsCLS(CommitteeMixin, PairRanker):
    """Rank features by the constrained Laplacian scores of many random subspaces.

    Each of N members draws sqrt(p) features and a bootstrap of the labelled rows, and computes the
    constrained Laplacian score of its features (see `CLS`) from these and from the unlabelled
    rows::

        score_i(f) = (sum over unlabelled neighbours and must-links of S_ij (f_i - f_j)^2)
                     / (sum over cannot-links of D_i (f_i - f_j)^2
                        + sum over unlabelled rows of D_i (f_i - mean)^2)

    with heat weights S that fall to 1/e at the mean squared distance of the subspace, and D their
    sums. The scores of the members are put together feature by feature. Low is good in the paper,
    so ``scores_`` is minus that: higher is better. Cost: N searches for neighbours among the
    unlabelled rows, O(n_U^2 sqrt(p)) each, of which there are at most `max_unlabelled` a member;
    with ``compress="som"`` linear in n_U from 10,000 rows on, and n_U^1.5 below.

    ``variant="paper"`` is the printed method: weights ``exp(-d2 / 0.1)`` of raw squared distances
    on the union of the 10 nearest neighbours, rows that were drawn twice count twice, the
    unlabelled rows of every subspace are replaced by the units of a self-organising map, and the
    scores are summed and divided by N. As low is good and a feature is
    drawn a random number of times, the printed division ranks mostly by the number of draws; the
    default divides by the draws. It also measures distances in their mean, since on most data every
    weight with the constant 0.1 vanishes; drops copies, which as pairs at distance 0 would outweigh
    all others; ties labelled rows to themselves, or the only row of a class would not count; and
    leaves members without a cannot-link out.

    `aggregate` and `balance` were chosen on the 14 sets of benchmarks/enscls.py, so take these as
    the figures of a selection. Mean accuracy of a linear SVM on the top 1 to 20 features: .740 by
    default; .715 without balance, which helps on ten sets and costs .05 on madelon; .727 with ranks
    or plain scores in place of z-scores, where nearly all of the difference comes from two sets of
    text.

    What is a reading in both: the denominator of the score (see `CLS`) and the settings of the map.

    Parameters
    ----------
    {n_features_to_select}
    {n_members (auto)}
    {max_features (member)}
    subspace : {"random", "relevant", "probabilistic-mrmr"}, default="random"
        How members draw their features: with equal chances; in proportion to their mutual
        information with the class on the labelled rows; or to that minus their mean mutual
        information with the features that the member has drawn before. Without two classes all
        chances are equal. Features that no member draws have no score.
    aggregation : {"zscore", "draws", "rank", "printed"}, default="zscore"
        How the scores of the members become one: the mean over the members that drew a feature, of
        scores in standard deviations from the mean of the member ("zscore"), as they are
        ("draws"), or of ranks within the member ("rank"); or the sum over N ("printed").
    balance : float or None, default=1.0
        If given, neighbours, must-links and cannot-links are each divided by their total weight,
        and the pairs multiplied by this number: else many unlabelled rows drown a few labelled
        ones.
    bootstrap : {"plain", "stratified"} or None, default="plain"
        Draw the labelled rows with replacement, each class by itself, or take all; a member then
        keeps at most 2,000 of them, drawn at random. Where there are pairs and no label, the pairs
        are drawn instead, must-links and cannot-links separately.
    max_unlabelled : int or None, default=2000
        Each member works on so many unlabelled rows, drawn at random, where there are more.
        Not with ``compress="som"``.
    compress : {None, "som"}, default=None
        "som" replaces more than 500 unlabelled rows by the units of a self-organising map, in each
        subspace.
    {n_neighbors (unlabelled)}
    variant : {"default", "paper"}, default="default"
        The recommended method or the printed one, with which only `n_members`, `max_features` and
        `subspace` are used.
    {graph (by name)}
    {weights}
    feature_scaling : {None, "minmax"}, default=None
        "minmax" measures distances after scaling each column to [0, 1], as the mean over the
        subspace. Counts, as of words, are better left alone.
    heat_scale : {"mean", "raw"}, default="mean"
        The scale of the heat weights: the mean squared distance in the subspace, or 1.
    heat_constant : float, default=1.0
        Larger is more even weights.
    {self_loops}
    {mean (of the variance)}
    n_jobs : int, default=None
        Threads; the scores do not depend on it. A joblib backend with processes or machines of its
        own is used where one was chosen.
    {redundancy_threshold}
    {known columns}
    {random_state (draws, ties)}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Score of each column, higher is better; NaN for constant columns and those that no member
        drew.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    n_draws_ : ndarray of shape (n_features_in_,)
        Number of members that scored each column.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows, where there are any.

    References
    ----------
    M. Hindawi, H. Elghazel, K. Benabdeslem (2013). Efficient semi-supervised feature selection by
    an ensemble approach. COPEM workshop at ECML-PKDD.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import EnsCLS
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> ranker = EnsCLS(n_features_to_select=3, feature_scaling="minmax").fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['flavanoids', 'od280/od315_of_diluted_wines', 'proline']
    """

    bytes_a_draw = 48

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PairRanker._parameter_constraints,
        **{name: COMMITTEE_CONSTRAINTS[name] for name in ("n_members", "max_features", "n_jobs")},
        "subspace": [StrOptions(set(KINDS))],
        "aggregation": [StrOptions(set(AGGREGATES))],
        "balance": [None, Interval(Real, 0, 1e100, closed="both")],  # products stay in range
        "bootstrap": [None, StrOptions({"plain", "stratified"})],
        "max_unlabelled": [None, at_least(2)],
        "compress": [None, StrOptions({"som"})],
        "n_neighbors": [at_least(1)],
        "variant": [StrOptions({"default", "paper"})],
        "graph": [StrOptions({"mean", "union"})],
        "weights": [StrOptions({"heat", "binary"})],
        "feature_scaling": [None, StrOptions({"minmax"})],
        "heat_scale": [StrOptions({"mean", "raw"})],
        "heat_constant": [Interval(Real, 0, None, closed="neither")],
        "self_loops": ["boolean"],
        "mean": [StrOptions({"plain", "D"})],
    }

    n_members: int | Literal["auto"] = "auto"
    max_features: int | float | Literal["sqrt"] = "sqrt"
    subspace: Literal["random", "relevant", "probabilistic-mrmr"] = "random"
    aggregation: Literal["zscore", "draws", "rank", "printed"] = "zscore"
    balance: float | None = 1.0
    bootstrap: Literal["plain", "stratified"] | None = "plain"
    max_unlabelled: int | None = 2000
    compress: Literal["som"] | None = None
    n_neighbors: int = 10
    variant: Literal["default", "paper"] = "default"
    graph: Literal["mean", "union"] = "mean"
    weights: Literal["heat", "binary"] = "heat"
    feature_scaling: Literal["minmax"] | None = None
    heat_scale: Literal["mean", "raw"] = "mean"
    heat_constant: float = 1.0
    self_loops: bool = True
    mean: Literal["plain", "D"] = "D"
    n_jobs: int | None = None

    def _score(self, data: TrainingData) -> NDArray[np.float64]:
        warn_of_no_cannot_link(data, type(self).__name__)
        setting, is_printed = make_setting(self, data), self.variant == "paper"
        with self._committee(data) as committee:
            committee.limit_threads()
            scored = committee.map(score_members, committee.ranges(), setting)
            parts = list(self._progress(scored, "members"))
        members = MemberScores(*(np.concatenate(part) for part in zip(*parts, strict=True)))

        # Weights of the training data that was made from another one were checked there.
        if setting.options.weights == "heat" and data.graph_source is None:
            self._check_heat(min(N_PROBED, len(members.features)), setting)
        taken = members.totals[:, N_CANNOT_LINKS] > 0
        if is_printed or not taken.any():
            taken[:] = True
        scores, self.n_draws_ = aggregate(
            members.features[taken],
            members.scores[taken],
            data.n_features,
            "printed" if is_printed else self.aggregation,
            len(taken),
        )
        return 0.0 - scores

    def _check_heat(self, n_probed: int, setting: SubspaceSetting) -> None:
        """Refuse weights that vanish in most members, and warn of few edges in most of them."""
        weights = weigh_members(n_probed, setting)
        few = sorted(each.few_edges for each in weights if each.few_edges is not None)
        if 2 * sum(each.vanished for each in weights) > n_probed:
            check_not_vanished(type(self).__name__, self.variant == "paper")
        elif 2 * len(few) > n_probed:
            check_not_vanished(type(self).__name__, False, few[len(few) // 2])
