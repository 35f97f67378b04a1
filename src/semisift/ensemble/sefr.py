"""SEFR: semi-supervised feature ranking by a committee of self-training trees.

F. Bellal, H. Elghazel, A. Aussem (2012). A semi-supervised feature ranking method with ensemble
learning. Pattern Recognition Letters 33(10).
"""

import math
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from semisift.base._ranker import WeightedRanker
from semisift.base._training_data import TrainingData
from semisift.committee._blocks import Importance, MemberBlock
from semisift.committee._bootstrap import Masks
from semisift.committee._members import build_context, new_blocks
from semisift.ensemble._importance import COMMITTEE_CONSTRAINTS, CommitteeMixin, add_up, sum_draws
from semisift.exceptions import LongRuntimeWarning
from semisift.parallel import features_to_draw
from semisift.utils._random import row_mask
from semisift.utils._sklearn_compat import HasMethods, Interval, at_least
from semisift.utils._typing import Floats
from semisift.utils._warnings import warn

# Values that trees are grown on, one for each row, column, round and member, from which on a fit
# takes minutes on one core: 13 to 21 ns for each, by benchmarks/ssfi.py --part self-training.
MAX_VALUES = 10**10


class SEFR(CommitteeMixin, WeightedRanker):
    """Rank features by how many predictions of self-trained trees change when they are permuted.

    Each member draws sqrt(p) features and bootstraps of the labelled and of the unlabelled rows. It
    trains itself: it labels the rows of its unlabelled bag that it is surest about, adds them to
    its training rows and starts again. Then each of its features is permuted over its out-of-bag
    rows (the labelled ones that it predicts right, the unlabelled ones that it is sure about)::

        score(f) = expected number of predictions that change, summed over the members
                   that drew f / number of those members

    Higher is better. The cost is that of ``N * max_iter`` trees of sqrt(p) features: linear in p
    and in the members; linear in the rows while trees stay small, as they do with few labels, and
    rows times depth where many labels let them grow with the rows. It is many times that of
    SSFI, whose members are given a few rows: here they take in up to all of their unlabelled bag,
    6 in 10 rows, and start again in each round. Where that takes minutes, a warning comes first.

    What is a reading: the original was not available, so this follows the listing of the method in
    a survey. It leaves open how many rows count as the most confident (here: a tenth of the
    member's unlabelled bag in each round, equal ones in random order, and none that is not more
    likely than chance), when to stop (here: after ten rounds, since it is said to run until the bag
    is empty), which out-of-bag rows are confident enough (here: leaf purity of at least 0.9), and
    what to divide by. The expectation over all permutations is exact; the survey permutes once.

    Parameters
    ----------
    {n_features_to_select}
    n_members : int or "auto", default="auto"
        Committee size; "auto" is ``10 ceil(log(0.01) / log(1 - 1 / sqrt(p)))``.
    {max_features (member)}
    max_iter : int, default=10
        Most rounds of self-training.
    pick_share : float, default=0.1
        Share of its unlabelled bag that a member labels in each round.
    min_confidence : float, default=0.9
        Least leaf purity at which an unlabelled out-of-bag row counts.
    {estimator (for trees)}
    {max_depth}
    {permutation}
    {n_jobs}
    {redundancy_threshold}
    {known columns}
    {random_state (draws, ties)}

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Score of each column, higher is better; NaN for constant columns and columns never drawn.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best.
    n_draws_ : ndarray of shape (n_features_in_,)
        Number of members that drew each column.
    n_iter_ : int
        Rounds of self-training of the member with most of them.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows.

    References
    ----------
    F. Bellal, H. Elghazel, A. Aussem (2012). A semi-supervised feature ranking method with ensemble
    learning. Pattern Recognition Letters 33(10).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import SEFR
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> ranker = SEFR(n_features_to_select=3, random_state=0).fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['total_phenols', 'od280/od315_of_diluted_wines', 'proline']
    """

    labels_needed = "two_classes"
    allow_nan = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **WeightedRanker._parameter_constraints,
        **COMMITTEE_CONSTRAINTS,
        "max_iter": [at_least(0)],
        "pick_share": [Interval(Real, 0, 1, closed="right")],
        "min_confidence": [Interval(Real, 0, 1, closed="both")],
        "estimator": [None, HasMethods(["fit", "predict"])],
    }

    n_members: int | Literal["auto"] = "auto"
    max_features: int | float | Literal["sqrt"] = "sqrt"
    max_iter: int = 10
    pick_share: float = 0.1
    min_confidence: float = 0.9
    estimator: Any = None
    max_depth: int | None = None
    permutation: Literal["expected", "sampled"] = "expected"
    n_jobs: int | None = None

    def _score(self, data: TrainingData) -> Floats:
        labels = data.labels
        context = build_context(
            data,
            features_to_draw(self.max_features, data.n_features),
            estimator=self.estimator,
            max_depth=self.max_depth,
            large_bags=True,
        )
        truth = row_mask(labels.codes == np.arange(labels.n_classes)[:, None])
        with self._committee(data) as committee:
            self._warn_if_long(data, committee.n_members, context.n_drawn)
            options = self.max_iter, self.pick_share, self.min_confidence, self.permutation
            shared = new_blocks(committee, context), context, truth, options
            trained = committee.map(self_train_and_measure, *shared)
            parts, n_rounds = zip(*self._progress(trained, "members"), strict=True)
        # scikit-learn expects at least one iteration of whoever has a max_iter
        self.n_iter_ = max(1, *n_rounds)
        self.n_draws_ = sum_draws(parts)
        return add_up(parts, self.n_draws_, data.n_features)

    def _warn_if_long(self, data: TrainingData, n_members: int, n_drawn: int) -> None:
        """Say beforehand that the trees of all rounds take minutes, and what would take less."""
        n_pool = math.ceil(len(data.labels.unlabelled) * (1 - 1 / math.e))
        share = min(1.0, self.pick_share * self.max_iter)
        n_rows = len(data.labels.labelled) + round(n_pool * share / 2)
        n_trees = n_members * (self.max_iter + 1)
        if n_trees * n_drawn * n_rows > MAX_VALUES:
            warn(
                f"SEFR grows {n_trees:,} trees on about {n_rows:,} rows and {n_drawn:,} columns "
                "each, which takes minutes. Fewer n_members or rounds (max_iter) take less, "
                "n_jobs=-1 shares them out, and SSFI is many times as fast.",
                LongRuntimeWarning,
            )


def self_train_and_measure(
    block: MemberBlock, context: Any, truth: Masks, options: tuple[int, float, float, str]
) -> tuple[Importance, int]:
    """Let each member of a block train itself, then permute its features."""
    max_iter, pick_share, min_confidence, permutation = options
    unlabelled = row_mask(context.labels.codes < 0)
    pools = unlabelled & ~block.sample(context).out_of_bag
    n_pool = np.bitwise_count(pools).sum(axis=1)
    # the tiny amount keeps 0.1 * 30 from being a little more than 3
    quotas = np.ceil(n_pool * pick_share - 1e-9).astype(np.int32)
    n_rounds = 0
    for _ in range(max_iter):
        rows, labels = block.pick_own(context, pools, quotas, 1 / context.labels.n_classes)
        member, slot = np.nonzero(rows >= 0)
        if not len(member):
            break
        n_rounds += 1
        block = block.with_picks(rows, labels)
        picked = rows[member, slot]
        bits = np.uint64(1) << (picked & 63).astype(np.uint64)
        np.bitwise_and.at(pools, (member, picked >> 6), ~bits)
    alike, sampled = np.ones(len(context.labels.codes)), permutation == "sampled"
    how = {"net": False, "sampled": sampled, "own_labels_from": min_confidence}
    return block.permute(context, truth, alike, **how), n_rounds
