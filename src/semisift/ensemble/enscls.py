"""EnsCLS: a committee of constrained Laplacian scores in random subspaces.

M. Hindawi, H. Elghazel, K. Benabdeslem (2013). Efficient semi-supervised feature selection by an
ensemble approach. COPEM workshop at ECML-PKDD, algorithm 2.

Member i owns the random streams (seed, i), so its draws depend on nobody else's.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from semisift import _kernels
from semisift.base._ranker import PairRanker
from semisift.base._training_data import TrainingData
from semisift.committee._bootstrap import Bootstrap, Int32s
from semisift.ensemble._importance import COMMITTEE_CONSTRAINTS, CommitteeMixin
from semisift.ensemble._random_subspaces import KINDS
from semisift.ensemble._som import MIN_ROWS, batch_som
from semisift.filters._constrained_laplacian import (
    N_CANNOT_LINKS,
    Constraints,
    Parts,
    TieOptions,
    combine,
    member_parts,
)
from semisift.filters._constraints import (
    check_not_vanished,
    list_constraints,
    scaled,
    warn_of_no_cannot_link,
    weight_options,
)
from semisift.parallel import features_to_draw, one_blas_thread
from semisift.utils._columns import MAX_SQUARED, dense_columns
from semisift.utils._random import Purpose, stream_words
from semisift.utils._sklearn_compat import Interval, StrOptions, at_least
from semisift.utils._typing import Bools, Floats

# Members whose weights are looked at one by one, to tell whether the heat fits the data.
N_PROBED = 3

Aggregate = Literal["draws", "rank", "zscore", "printed"]
AGGREGATES = ("draws", "rank", "zscore", "printed")


def aggregate(
    features: NDArray[np.integer], scores: Floats, n_features: int, how: Aggregate, n_members: int
) -> tuple[Floats, NDArray[np.int64]]:
    """Put the scores of members together, in member order.

    Parameters
    ----------
    features : int array of shape (n, m)
        The features of each member.
    scores : float array of shape (n, m)
        Low is good. NaN counts as not drawn, except where the printed rule adds it.
    n_features : int
    how : {"draws", "rank", "zscore", "printed"}
        The mean of the scores over the draws of a feature; of their ranks within the member over
        the number of its features; of the scores in standard deviations from the member's mean; or
        the sum over all members divided by `n_members`, drawn or not.
    n_members : int

    Returns
    -------
    scores : float array of shape (n_features,)
        NaN for features that nobody drew; 0 by the printed rule.
    n_draws : int array of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> features, scores = np.array([[0, 1], [0, 2]]), np.array([[0.4, 0.9], [0.4, 0.2]])
    >>> aggregate(features, scores, 4, "draws", 2)[0]
    array([0.4, 0.9, 0.2, nan])
    >>> aggregate(features, scores, 4, "printed", 2)[0]
    array([0.4 , 0.45, 0.1 , 0.  ])
    """
    drawn = ~np.isnan(scores)
    n_draws = np.bincount(features[drawn], minlength=n_features)
    if how == "printed":
        return np.bincount(features.ravel(), scores.ravel(), n_features) / n_members, n_draws
    if how == "rank":
        scores = within_ranks(scores, drawn)
    elif how == "zscore":
        scores = within_zscores(scores, drawn)
    total = np.bincount(features[drawn], scores[drawn], n_features)
    mean = np.divide(total, n_draws, out=np.full(n_features, np.nan), where=n_draws > 0)
    return mean, n_draws


def within_ranks(scores: Floats, drawn: Bools) -> Floats:
    """Rank the scores of each member, equal ones in the middle, and divide by their number."""
    # what was not drawn comes after all others
    low_first = np.where(drawn, np.minimum(scores, np.finfo(np.float64).max), np.inf)
    if not low_first.size:
        return low_first
    return rankdata(low_first, axis=1) / np.maximum(1, drawn.sum(axis=1, keepdims=True))


def within_zscores(scores: Floats, drawn: Bools) -> Floats:
    """Measure the scores of each member in standard deviations from their mean.

    An infinite score counts as the largest finite one of the member.
    """
    finite = np.isfinite(scores)
    largest = np.max(scores, axis=1, initial=0.0, where=finite, keepdims=True)
    scores = np.where(drawn, np.minimum(scores, largest), 0.0)
    n = np.maximum(1, drawn.sum(axis=1, keepdims=True))
    apart = np.where(drawn, scores - scores.sum(axis=1, keepdims=True) / n, 0.0)
    spread = np.sqrt((apart**2).sum(axis=1, keepdims=True) / n)
    return np.divide(apart, spread, out=np.zeros_like(apart), where=spread > 1e-12 * largest)


# --- subspaces ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SubspaceContext:
    """What all members share.

    Attributes
    ----------
    X : Fortran-ordered array or csc_array
    unit : float array of shape (p,)
        Powers of two in which columns are added up.
    constraints : Constraints
    unlabelled : int32 array
    strata : int32 array
        Where each stratum of the rows (or pairs) to bootstrap starts, with the end as last entry.
    groups : int array or None
        The group of each row of the constraints.
    bootstrap : {"rows", "pairs", None}
    keeps_copies : bool
        Whether what is drawn twice counts twice.
    n_drawn : int
        Features of a member.
    most_unlabelled : int or None
    most_unmapped : int or None
        A map replaces the unlabelled rows where there are more; None: never.
    balance : float or None
    options : TieOptions
    seed : int
    subspaces : int32 array of shape (n_members, n_drawn) or None
        The features of all members; None: drawn with equal chances.
    """

    X: Any
    unit: Floats
    constraints: Constraints
    unlabelled: Int32s
    strata: Int32s
    groups: NDArray[np.integer] | None
    bootstrap: Literal["rows", "pairs"] | None
    keeps_copies: bool
    n_drawn: int
    most_unlabelled: int | None
    most_unmapped: int | None
    balance: float | None
    options: TieOptions
    seed: int
    subspaces: Int32s | None

    @property
    def maps_rows(self) -> bool:
        """Whether the units of a map represent the unlabelled rows of each member."""
        return self.most_unmapped is not None and len(self.unlabelled) > self.most_unmapped


class SubspaceSample(NamedTuple):
    """What the members of a block draw: features, and how often rows and pairs count."""

    features: Int32s
    copies: Int32s
    pair_counts: Int32s
    unlabelled: Int32s  # one row where all members share them

    def alone(self, i: int) -> "SubspaceSample":
        """Return what one member draws."""
        own = i if len(self.unlabelled) > 1 else 0
        features, copies, pair_counts = (part[i : i + 1] for part in self[:3])
        return SubspaceSample(features, copies, pair_counts, self.unlabelled[own : own + 1])


def make_context(ranker: Any, data: TrainingData) -> SubspaceContext:
    """Return what the members of an `EnsCLS` share on the training data."""
    _kernels.warn_if_missing()
    is_printed = ranker.variant == "paper"
    feature_scaling = None if is_printed else ranker.feature_scaling
    n_drawn = features_to_draw(ranker.max_features, data.n_features)
    options = weight_options(ranker)
    if feature_scaling == "minmax" and options.heat_scale == "raw":
        # columns are scaled for a mean over all of them
        constant = options.heat_constant * n_drawn / data.n_features
        options = replace(options, heat_constant=constant)
    constraints, unlabelled = list_constraints(data)
    bootstrap = "plain" if is_printed else ranker.bootstrap
    codes = data.labels.codes[constraints.rows]
    bags_pairs = len(codes) > 0 and bool((codes < 0).all())
    n_each = [len(codes)]
    if bags_pairs:
        n_each = [len(constraints.must_link), len(constraints.cannot_link)]
    elif bootstrap == "stratified":
        constraints = constraints.ordered(np.argsort(codes, kind="stable"))
        n_each = np.unique(codes, return_counts=True)[1].tolist()
    X, unit = scaled(data, feature_scaling)
    groups = data.design.groups
    # the paper maps the rows of every subspace, however few; a map of one row is that row
    most_unmapped = 1 if is_printed else MIN_ROWS if ranker.compress == "som" else None
    return SubspaceContext(
        X=X,
        unit=unit,
        constraints=constraints,
        unlabelled=unlabelled,
        strata=np.cumsum([0, *n_each]).astype(np.int32),
        groups=None if groups is None else groups[constraints.rows],
        bootstrap=None if bootstrap is None else "pairs" if bags_pairs else "rows",
        keeps_copies=is_printed,
        n_drawn=n_drawn,
        most_unlabelled=ranker.max_unlabelled if most_unmapped is None else None,
        most_unmapped=most_unmapped,
        balance=None if is_printed else ranker.balance,
        options=options,
        seed=data.seed,
        subspaces=ranker._subspaces(data, n_drawn),
    )


def draw_samples(members: tuple[int, int], context: SubspaceContext) -> SubspaceSample:
    """Draw the features and bootstraps of some members."""
    start, stop = members
    if context.subspaces is not None:
        features = context.subspaces[start:stop]
    else:
        size = context.X.shape[1], context.n_drawn
        features = _kernels.plan.draw_subspaces(context.seed, start, stop, *size)
    copies = np.ones((stop - start, len(context.constraints.rows)), dtype=np.int32)
    pair_counts = np.empty((0, 0), dtype=np.int32)
    if context.bootstrap is not None and context.strata[-1] > 0:
        drawn = _draw(members, context)
        drawn = drawn if context.keeps_copies else np.minimum(drawn, 1)
        is_of_rows = context.bootstrap == "rows"
        copies, pair_counts = (drawn, pair_counts) if is_of_rows else (copies, drawn)
    if (labels := context.constraints.labels) is not None:
        for i, member in enumerate(range(start, stop)):
            _leave_some_out(copies[i], labels.codes >= 0, member, context)
    rows, most = context.unlabelled, context.most_unlabelled
    if most is None or len(rows) <= most:
        return SubspaceSample(features, copies, pair_counts, rows[None, :])
    some = np.empty((stop - start, most), dtype=np.int32)
    counters = np.arange(len(rows))
    for i, member in enumerate(range(start, stop)):
        words = stream_words(context.seed, member, Purpose.UNLABELLED_BAG, counters)
        some[i] = rows[np.sort(np.argpartition(words, most - 1)[:most])]
    return SubspaceSample(features, copies, pair_counts, some)


def _draw(members: tuple[int, int], context: SubspaceContext) -> Int32s:
    """Return how often each member draws each row of the constraints, or each pair.

    Where the rows are of groups, these are drawn, and a pair as often as both of its rows.
    """
    groups = context.groups
    n_rows = int(context.strata[-1]) if groups is None else len(groups)
    strata = context.strata if groups is None else None
    drawn, _ = Bootstrap.of_all(n_rows, strata, groups).draw(context.seed, *members)
    if groups is None or context.bootstrap == "rows":
        return drawn
    pairs = np.concatenate([context.constraints.must_link, context.constraints.cannot_link])
    return np.ascontiguousarray(drawn[:, pairs].prod(axis=2, dtype=np.int32))


def _leave_some_out(
    copies: Int32s, is_labelled: Bools, member: int, context: SubspaceContext
) -> None:
    """Leave the same share of each stratum out of a bag that has too many labelled rows."""
    n = len(copies)
    # the bootstrap has used the words before
    words = stream_words(context.seed, member, Purpose.LABELLED_BAG, np.arange(n, 2 * n))
    is_drawn = (copies > 0) & is_labelled
    order = np.empty(n)
    for start, stop in pairwise(context.strata.tolist()):
        drawn = start + np.flatnonzero(is_drawn[start:stop])
        order[drawn[np.argsort(words[drawn])]] = np.arange(len(drawn)) / max(1, len(drawn))
    drawn = np.flatnonzero(is_drawn)
    copies[drawn[np.lexsort((words[drawn], order[drawn]))[MAX_SQUARED:]]] = 0


def listed_member(
    i: int, sample: SubspaceSample, context: SubspaceContext
) -> tuple[SubspaceSample, SubspaceContext]:
    """Return what one member draws, with a list of the pairs of its own labelled rows."""
    alone = sample.alone(i)
    if context.constraints.labels is None:
        return alone, context
    drawn = np.flatnonzero(alone.copies[0])
    alone = alone._replace(copies=np.ascontiguousarray(alone.copies[:, drawn]))
    return alone, replace(context, constraints=context.constraints.listed(drawn))


# --- subspace scores ------------------------------------------------------------------------------


class MemberScores(NamedTuple):
    """Scores of a block of members.

    Attributes
    ----------
    features : int32 array of shape (n_members, m)
    scores : float array of shape (n_members, m)
        Low is good; NaN where a feature is constant.
    totals : float array of shape (n_members, 5)
        As in `semisift.filters._constrained_laplacian.Parts`.
    """

    features: Int32s
    scores: Floats
    totals: Floats


def score_members(members: tuple[int, int], context: SubspaceContext) -> MemberScores:
    """Score the features of the members start..stop-1.

    Parameters
    ----------
    members : tuple of int
        The first member and the first one after the last.
    context : SubspaceContext

    Returns
    -------
    MemberScores
    """
    sample = draw_samples(members, context)
    if context.constraints.labels is None:
        return _score_sample(sample, context)
    alone = [_score_sample(*listed_member(i, sample, context)) for i in range(len(sample.features))]
    return MemberScores(*map(np.concatenate, zip(*alone, strict=True)))


def _score_sample(sample: SubspaceSample, context: SubspaceContext) -> MemberScores:
    if context.maps_rows:
        with one_blas_thread():
            mapped = (_mapped(sample.alone(i), context) for i in range(len(sample.features)))
            done = [run_kernel(*each) for each in mapped]
        sums, totals = (np.concatenate(part) for part in zip(*done, strict=True))
    else:
        sums, totals = run_kernel(context.X, context.unit, sample, context)
    return MemberScores(sample.features, combine(sums, totals, context.balance), totals)


def run_kernel(
    X: Any, unit: Floats, sample: SubspaceSample, context: SubspaceContext
) -> tuple[Floats, Floats]:
    """Return the sums and totals of some members."""
    if not _kernels.are_compiled():
        members = range(len(sample.features))
        done = [_parts_of(sample.alone(i), X, unit, context) for i in members]
        return np.array([parts.sums for parts in done]), np.array([parts.totals for parts in done])
    rows, must_link, cannot_link, _ = context.constraints
    return _kernels.neighbours.cls_parts(
        _kernels.columns.Columns(X),
        (np.frexp(unit)[1] - 1).astype(np.int32),
        sample.features,
        rows.astype(np.int32),
        sample.copies,
        sample.unlabelled,
        np.concatenate([must_link, cannot_link]).astype(np.int32),
        len(must_link),
        sample.pair_counts,
        context.options,
    )


def _mapped(
    alone: SubspaceSample, context: SubspaceContext
) -> tuple[Floats, Floats, SubspaceSample, SubspaceContext]:
    """Return the rows of a member, with a map for the unlabelled ones, as `run_kernel` takes it."""
    features = alone.features[0]
    values = dense_columns(context.X, features)
    held = values[context.constraints.rows]
    X = np.asfortranarray(np.vstack([held, batch_som(values[alone.unlabelled[0]]).units]))
    rows, columns = (np.arange(n, dtype=np.int32) for n in X.shape)
    mapped = alone._replace(features=columns[None, :], unlabelled=rows[None, len(held) :])
    own = replace(context, constraints=context.constraints._replace(rows=rows[: len(held)]))
    return X, context.unit[features], mapped, own


def weigh_members(n_members: int, context: SubspaceContext) -> list[Parts]:
    """Return what ties the rows of the first members, to tell whether the heat fits the data."""
    sample, found = draw_samples((0, n_members), context), []
    for i in range(n_members):
        alone, own = listed_member(i, sample, context)
        X, unit = own.X, own.unit
        if own.maps_rows:
            with one_blas_thread():
                X, unit, alone, own = _mapped(alone, own)
        found.append(_parts_of(alone, X, unit, own))
    return found


def _parts_of(alone: SubspaceSample, X: Any, unit: Floats, context: SubspaceContext) -> Parts:
    """Return the parts of the score of one member."""
    features = alone.features[0]
    pair_counts = alone.pair_counts[0] if len(alone.pair_counts) else None
    drawn = context.constraints, alone.copies[0], pair_counts
    X, unit = dense_columns(X, features), unit[features]
    return member_parts(X, alone.unlabelled[0], *drawn, context.options, unit)


# --- ranker ---------------------------------------------------------------------------------------


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

    def _score(self, data: TrainingData) -> Floats:
        warn_of_no_cannot_link(data, type(self).__name__)
        context, is_printed = make_context(self, data), self.variant == "paper"
        with self._committee(data) as committee:
            committee.limit_threads()
            scored = committee.map(score_members, committee.ranges(), context)
            parts = list(self._progress(scored, "members"))
        members = MemberScores(*map(np.concatenate, zip(*parts, strict=True)))

        # Weights of the training data that was made from another one were checked there.
        if context.options.weights == "heat" and data.graph_source is None:
            self._check_heat(min(N_PROBED, len(members.features)), context)
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

    def _check_heat(self, n_probed: int, context: SubspaceContext) -> None:
        """Refuse weights that vanish in most members, and warn of few edges in most of them."""
        weights = weigh_members(n_probed, context)
        few = sorted(each.few_edges for each in weights if each.few_edges is not None)
        if 2 * sum(each.vanished for each in weights) > n_probed:
            check_not_vanished(type(self).__name__, self.variant == "paper")
        elif 2 * len(few) > n_probed:
            check_not_vanished(type(self).__name__, False, few[len(few) // 2])
