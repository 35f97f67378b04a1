"""SSFI: semi-supervised feature importance by a co-training committee of trees.

H. Barkia, H. Elghazel, A. Aussem (2011). Semi-supervised feature importance evaluation with
ensemble learning. IEEE International Conference on Data Mining (ICDM), algorithms 1 to 4.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Literal

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, issparse

from semisift.base._ranker import WeightedRanker
from semisift.base._training_data import TrainingData
from semisift.committee._blocks import Importance, MemberBlock, count_quotas
from semisift.committee._bootstrap import Int32s, row_weights
from semisift.committee._members import Predictors, build_context, new_blocks
from semisift.committee._votes import aggregate_votes, class_factors, decide, sort_confident
from semisift.ensemble._importance import (
    COMMITTEE_CONSTRAINTS,
    CommitteeMixin,
    add_up,
    measure,
    sum_draws,
)
from semisift.ensemble._random_subspaces import KINDS
from semisift.parallel import Committee, features_to_draw
from semisift.utils._labels import class_prior
from semisift.utils._random import row_mask
from semisift.utils._sklearn_compat import HasMethods, Interval, StrOptions, at_least
from semisift.utils._typing import Floats


@dataclass(frozen=True)
class VariantOptions:
    """Where the printed method and the recommended one part; as printed unless told otherwise."""

    n_rounds: int = 10
    # bootstrap each class by itself, so that no bag lacks one (did not help)
    stratified: bool = False
    probability: bool = False  # leaves vote with their class shares instead of their majority
    widest_gap: bool = False  # between equal splits: the widest gap instead of the first
    net: bool = False  # rows that turn right by the permutation count against the feature
    per_draw: bool = False  # divide by the members that drew a feature instead of by all
    mends_collapse: bool = False  # class-mass normalisation where the vote leaves classes empty


VARIANTS = {
    "paper": VariantOptions(),
    "default": VariantOptions(
        n_rounds=3, probability=True, widest_gap=True, net=True, per_draw=True, mends_collapse=True
    ),
}


class SSFI(CommitteeMixin, WeightedRanker):
    """Rank features by what a committee of co-trained trees loses when they are permuted.

    Each of N members draws sqrt(p) features and bootstraps of the labelled and of the unlabelled
    rows, and grows a tree. In each round the members vote on the unlabelled rows that are out of
    their bags; every member is given the rows of its own bag that the vote is surest about, one of
    each class, and is grown again. At the end each feature f of a member i is permuted over its
    out-of-bag rows O_i, the labelled ones and the unlabelled ones with the voted label::

        score(f) = sum over members i that drew f of
                   sum over rows x in O_i of weight(x) *
                       ([h_i is right about x] - P(h_i is right about x after permuting f))
                   / number of members that drew f

    where the weight of an unlabelled row is the share of the votes for its label, and that of a
    labelled row is 1. Higher is better; useless features score about 0. The probability is exact:
    the expectation over all permutations costs no more than one of them, and features that a tree
    does not split on add exactly 0. The cost is that of N * (rounds + 1) tiny trees and their
    votes: linear in p, in the members and in the unlabelled rows.

    ``variant="paper"`` is the printed method: ten rounds, plain bootstraps, majority votes, the
    first of equally good splits, only rows that h_i gets right count, and division by N. The
    default differs: three rounds; leaves vote with their class shares; between equally good splits
    the one with the widest gap in standard deviations of its feature; rows that turn right by the
    permutation count against a feature; division by the draws; and where one class wins nearly all
    votes, as on text, the votes are scaled to equal shares of the classes. With three labels a
    class and a decision tree on the top 1 to 10 features, all training rows labelled, it is more
    accurate by .027 (standard error .010, 12 paired runs over the eight sets of benchmarks/ssfi.py)
    and by .017 (.005) on eleven others; most of it comes from the widest gap
    (benchmarks/ssfi_variants.py, which also shows what did not help, such as stratified bags).

    What is a reading in both: with one row a round the paper's growth rate is below 1 for each
    class and is rounded up; the votes of a round are counted once, at its start; out-of-bag sets
    stay those of the first bootstrap; a row is given to a member once, however often it was drawn.

    Missing values (NaN) are taken as they are. At a node, the thresholds of a feature are midpoints
    between the values that are there. For each of them the rows with a missing value go to the side
    that has more rows with a value, to the left if they are as many, and the impurity counts them
    there: a feature with few values has no advantage. Other rows with a missing value follow the
    same way, and where a feature is permuted, a missing value travels as a value does.

    With groups, a member draws as many of these as there are, and all rows of a group are in its
    bag or out of it. With weights, rows are drawn as ever; each counts in the bag, in the
    importance and among the values that are exchanged as often as its weight says, as so many rows
    of one group would. The votes on a row do not depend on its weight.

    Parameters
    ----------
    {n_features_to_select}
    {n_members (auto)}
    {max_features (member)}
    subspace : {"random", "relevant", "probabilistic-mrmr"}, default="random"
        How members draw their features: with equal chances; in proportion to their mutual
        information with the class on the labelled rows; or to that minus their mean mutual
        information with the features that the member has drawn before. Features that no member
        draws have no score.
    max_iter : int or "auto", default="auto"
        Rounds of co-training; "auto" is 3, and 10 for the printed method. They stop earlier
        when no member has a row left to be given.
    growth : float, default=1
        Rows that a member is given in a round, shared among the classes by their prior and rounded
        up: with 1, one row of each class.
    class_prior : array-like of shape (n_classes,) or dict, default=None
        The shares of the classes in the population, in the order of ``classes_`` or by label. None
        takes the shares among the labelled rows for the growth. If given, the votes are also scaled
        towards these shares, which helps where they are known: the mix of classes among a few
        labelled rows is rarely the true one. (Not with ``variant="paper"``.)
    max_unlabelled : int or None, default=10000
        Of more unlabelled rows so many, drawn by a hash of their numbers and the seed, represent
        all in the bags and the votes; the others are labelled in a last pass over the rows, by as
        many members as vote on these. None uses all.
    {estimator (for trees)}
    {max_depth}
    {permutation}
    variant : {"default", "paper"}, default="default"
        The recommended method or the printed one.
    n_jobs : int, default=None
        Threads; the scores do not depend on it. A joblib backend with processes or machines of its
        own, as chosen with ``joblib.parallel_config``, is used where there is one.
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
    transduction_ : ndarray of shape (n_samples,)
        Label of every row: its own where it has one, else the committee's.
    confidence_ : ndarray of shape (n_samples,)
        Share of the votes for that label; 1 for labelled rows.
    n_iter_ : int
        Rounds of co-training.
    oob_agreement_ : float
        Share of its out-of-bag unlabelled rows on which a member agrees with the vote, averaged
        over the members; NaN where there was nothing to vote on.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows.

    References
    ----------
    H. Barkia, H. Elghazel, A. Aussem (2011). Semi-supervised feature importance evaluation with
    ensemble learning. IEEE International Conference on Data Mining (ICDM).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from semisift import SSFI
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
    >>> ranker = SSFI(n_features_to_select=3, random_state=0).fit(X, few_labels)
    >>> ranker.get_feature_names_out().tolist()
    ['hue', 'od280/od315_of_diluted_wines', 'proline']
    """

    labels_needed = "two_classes"
    is_transductive = True
    allow_nan = True
    committee_divisor = 10  # the trees are cheap

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **WeightedRanker._parameter_constraints,
        **COMMITTEE_CONSTRAINTS,
        "subspace": [StrOptions(set(KINDS))],
        "max_iter": [StrOptions({"auto"}), at_least(0)],
        "growth": [Interval(Real, 0, None, closed="neither")],
        "class_prior": [None, "array-like", dict],
        "max_unlabelled": [None, at_least(2)],
        "estimator": [None, HasMethods(["fit", "predict"])],
        "variant": [StrOptions({"default", "paper"})],
    }

    n_members: int | Literal["auto"] = "auto"
    max_features: int | float | Literal["sqrt"] = "sqrt"
    subspace: Literal["random", "relevant", "probabilistic-mrmr"] = "random"
    max_iter: int | Literal["auto"] = "auto"
    growth: float = 1
    class_prior: Any = None
    max_unlabelled: int | None = 10_000
    estimator: Any = None
    max_depth: int | None = None
    permutation: Literal["expected", "sampled"] = "expected"
    variant: Literal["default", "paper"] = "default"
    n_jobs: int | None = None

    @property
    def _most_used(self) -> int | None:
        return self.max_unlabelled

    def _n_tasks(self, data: TrainingData) -> int:
        return self._n_rounds(data) + 2

    def _n_rounds(self, data: TrainingData) -> int:
        if self.max_iter == "auto":
            return VARIANTS[self.variant].n_rounds
        # each round takes a row out of some bag, and the last one finds them empty
        return min(int(self.max_iter), len(data.labels.unlabelled) + 1)

    def _score(self, data: TrainingData) -> Floats:
        data = self._limit(data)
        reading = VARIANTS[self.variant]
        labels = data.labels
        prior = class_prior(self.class_prior, labels)
        weights = row_weights(data)
        if self.class_prior is None and weights is not None:
            class_weights = np.bincount(labels.codes[labels.labelled], weights[labels.labelled])
            prior = class_weights / class_weights.sum()
        unlabelled = labels.unlabelled
        quotas = count_quotas(self.growth, prior, len(unlabelled))
        n_rounds = self._n_rounds(data)
        # what the votes are scaled towards: a prior that was given, or equal shares on a collapse
        scaled: dict[str, Any] = {}
        if reading.mends_collapse:
            scaled["prior" if self.class_prior is not None else "labelled_shares"] = prior
        n_drawn = features_to_draw(self.max_features, data.n_features)
        context = build_context(
            data,
            n_drawn,
            estimator=self.estimator,
            stratified=reading.stratified,
            widest_gap=reading.widest_gap,
            max_depth=self.max_depth,
            subspaces=self._subspaces(data, n_drawn),
        )
        with self._committee(data) as committee:
            # algorithm 1, lines 3 to 11: the initial committee, and its first vote
            steps = self._progress(range(n_rounds + 2), "round")
            next(steps)
            blocks: Sequence[MemberBlock] = new_blocks(committee, context)
            how = context, reading.probability
            votes = sum(committee.map(MemberBlock.vote, blocks, *how))
            verdict = decide(votes[unlabelled], **scaled)

            # lines 12 to 20: every member is given the rows that the others are surest about
            self.n_iter_ = 0
            while self.n_iter_ < n_rounds and next(steps, None) is not None:
                self.n_iter_ += 1
                choice = sort_confident(verdict, unlabelled, data.n_rows, quotas)
                trained = committee.map(co_train, blocks, *how, choice)
                blocks, cast, changed = zip(*trained, strict=True)
                if not any(changed):
                    break
                votes = sum(cast)
                verdict = decide(votes[unlabelled], **scaled)

            # lines 21 to 34: what the members lose when a feature is permuted
            label, confidence = labels.codes.copy(), np.ones(data.n_rows)
            label[unlabelled], confidence[unlabelled] = verdict
            by_label = row_mask(label == np.arange(labels.n_classes)[:, None])
            options = {"net": reading.net, "sampled": self.permutation == "sampled"}
            how_measured = by_label, confidence, options, data.full is not None
            measured = committee.map(measure_and_keep, blocks, context, *how_measured)
            parts, voters = zip(*measured, strict=True)
            never_voted = row_mask(label < 0)
            if never_voted.any():
                votes = sum(committee.map(MemberBlock.vote, blocks, *how, never_voted))
                verdict = decide(votes[unlabelled], **scaled)
                label[unlabelled], confidence[unlabelled] = verdict
                # nobody has an opinion: the most frequent class, with no confidence
                label[label < 0] = labels.counts.argmax()
            if data.full is not None:
                factors = class_factors(votes[unlabelled], **scaled)
                known = label, confidence
                how_others = voters, reading.probability, factors
                label, confidence = label_others(data, committee, *how_others, known)
            list(steps)  # to the end of the bar, also where the rounds stopped early

        self.transduction_ = labels.classes[label]
        self.confidence_ = confidence
        agreement = np.concatenate([part.agreement for part in parts])
        agreement = agreement[~np.isnan(agreement)]
        self.oob_agreement_ = float(agreement.mean()) if len(agreement) else math.nan
        self.n_draws_ = sum_draws(parts)
        divisor = self.n_draws_ if reading.per_draw else committee.n_members
        scores = add_up(parts, divisor, data.n_features)
        return scores if data.full is None else np.where(data.constant, np.nan, scores)


# What travels to the blocks -----------------------------------------------------------------------


def vote_on(voters: Predictors, X: Any, probability: bool) -> NDArray[np.int64]:
    """Let members vote on rows that the committee does not hold."""
    return voters.vote(X, probability)


def measure_and_keep(
    block: MemberBlock, context: Any, labels: Any, weights: Any, options: Any, keeps_voters: bool
) -> tuple[Importance, Predictors | None]:
    """Return what the members lose, and those that are to vote on further rows."""
    lost = measure(block, context, labels, weights, options)
    return lost, block.voters(context) if keeps_voters else None


def co_train(
    block: MemberBlock, context: Any, probability: bool, choice: tuple[NDArray[Any], ...]
) -> tuple[MemberBlock, NDArray[np.int64], bool]:
    """Hand each member its confident rows (algorithm 2), refit it and let it vote again."""
    order, confidence, class_starts, quotas = choice
    rows = block.pick_confident(context, order, confidence, class_starts, quotas)
    slots = np.repeat(np.arange(len(quotas), dtype=np.int32), quotas)
    block = block.with_picks(rows, np.broadcast_to(slots, rows.shape))
    return block, block.vote(context, probability), bool((rows >= 0).any())


# The rows that no member has seen -----------------------------------------------------------------


def label_others(
    data: TrainingData,
    committee: Committee,
    voters: Sequence[Predictors],
    probability: bool,
    factors: Floats | None,
    known: tuple[Int32s, Floats],
) -> tuple[Int32s, Floats]:
    """Let members vote on the rows that the training data does not hold, in one pass.

    As many vote on each row as on those that it holds, of which each is out of the bag of 1 in e
    members.

    Parameters
    ----------
    data : TrainingData
        One that knows all rows.
    committee : Committee
    voters : sequence of Predictors
    probability : bool
        Members vote with the shares of the classes.
    factors : float array of shape (n_classes,) or None
        What the votes of each class are scaled by.
    known : (int array, float array)
        Label and confidence of the rows that it holds.

    Returns
    -------
    label : int array of shape (n,)
        Of all rows.
    confidence : float array of shape (n,)
    """
    full = data.full
    assert full is not None

    is_sampled = np.zeros(len(full.rows), dtype=bool)
    is_sampled[full.sampled] = True

    def vote(X: Any) -> Any:
        if committee.is_remote:  # to send the rows would take longer
            return sum(vote_on(each, X, probability) for each in voters)
        return sum(committee.map(vote_on, voters, X, probability))

    def go_through() -> dict[str, NDArray[Any]]:
        label, confidence = np.empty(len(is_sampled), dtype=np.int32), np.empty(len(is_sampled))
        for start, rows in full.rows.blocks("votes", full.rows.many_rows):
            others = np.flatnonzero(~is_sampled[start : start + rows.shape[0]])
            if len(others):
                X = rows[others]
                X = csc_array(X) if issparse(X) else np.asfortranarray(X)
                verdict = aggregate_votes(vote(X), factors)
                label[start + others], confidence[start + others] = verdict
        return {"label": label, "confidence": confidence}

    about = joblib.hash([data.fingerprint, voters, probability, factors])
    made = full.rows.cached("votes", about, go_through)
    label, confidence = made["label"].copy(), made["confidence"].copy()
    label[full.sampled], confidence[full.sampled] = known
    return label, confidence
