"""How the scores of many subspaces become one score for each feature.

What the members of EnsCLS are dealt: features, a bootstrap of what is labelled, and rows.

Member i owns the random streams (seed, i), so its draws depend on nobody else's.

The constrained Laplacian score of each member of EnsCLS in its subspace.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from semisift import _kernels
from semisift.base._training_data import TrainingData
from semisift.committee._bootstrap import Bootstrap
from semisift.ensemble._som import MIN_ROWS, batch_som
from semisift.filters._constrained_laplacian import (
    Constraints,
    Parts,
    TieOptions,
    combine,
    member_parts,
)
from semisift.filters._constraints import list_constraints, scaled, weight_options
from semisift.parallel import features_to_draw, one_blas_thread
from semisift.utils._columns import MAX_SQUARED, dense_columns
from semisift.utils._random import Purpose, stream_words

Aggregate = Literal["draws", "rank", "zscore", "printed"]
AGGREGATES = ("draws", "rank", "zscore", "printed")


def aggregate(
    features: NDArray[np.integer],
    scores: NDArray[np.float64],
    n_features: int,
    how: Aggregate,
    n_members: int,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
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


def within_ranks(scores: NDArray[np.float64], drawn: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Rank the scores of each member, equal ones in the middle, and divide by their number."""
    # what was not drawn comes after all others
    low_first = np.where(drawn, np.minimum(scores, np.finfo(np.float64).max), np.inf)
    if not low_first.size:
        return low_first
    return rankdata(low_first, axis=1) / np.maximum(1, drawn.sum(axis=1, keepdims=True))


def within_zscores(scores: NDArray[np.float64], drawn: NDArray[np.bool_]) -> NDArray[np.float64]:
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


# A member lists the pairs of at most so many labelled rows.
MAX_LABELLED = MAX_SQUARED

NO_COUNTS = np.empty((0, 0), dtype=np.int32)


@dataclass(frozen=True, eq=False)
class SubspaceSetting:
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
    unit: NDArray[np.float64]
    constraints: Constraints
    unlabelled: NDArray[np.int32]
    strata: NDArray[np.int32]
    groups: NDArray[np.integer] | None
    bootstrap: Literal["rows", "pairs"] | None
    keeps_copies: bool
    n_drawn: int
    most_unlabelled: int | None
    most_unmapped: int | None
    balance: float | None
    options: TieOptions
    seed: int
    subspaces: NDArray[np.int32] | None

    @property
    def maps_rows(self) -> bool:
        """Whether the units of a map represent the unlabelled rows of each member."""
        return self.most_unmapped is not None and len(self.unlabelled) > self.most_unmapped


class SubspaceSample(NamedTuple):
    """What the members of a block are dealt: features, and how often rows and pairs count."""

    features: NDArray[np.int32]
    copies: NDArray[np.int32]
    pair_counts: NDArray[np.int32]
    unlabelled: NDArray[np.int32]  # one row where all members share them

    def alone(self, i: int) -> "SubspaceSample":
        """Return what one member is dealt."""
        own = i if len(self.unlabelled) > 1 else 0
        features, copies, pair_counts = (part[i : i + 1] for part in self[:3])
        return SubspaceSample(features, copies, pair_counts, self.unlabelled[own : own + 1])


def make_setting(ranker: Any, data: TrainingData) -> SubspaceSetting:
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
    return SubspaceSetting(
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


def draw_members(members: tuple[int, int], setting: SubspaceSetting) -> SubspaceSample:
    """Draw the features and bootstraps of some members."""
    start, stop = members
    if setting.subspaces is not None:
        features = setting.subspaces[start:stop]
    else:
        size = setting.X.shape[1], setting.n_drawn
        features = _kernels.plan.draw_subspaces(setting.seed, start, stop, *size)
    copies = np.ones((stop - start, len(setting.constraints.rows)), dtype=np.int32)
    pair_counts = NO_COUNTS
    if setting.bootstrap is not None and setting.strata[-1] > 0:
        drawn = _draw(members, setting)
        drawn = drawn if setting.keeps_copies else np.minimum(drawn, 1)
        if setting.bootstrap == "rows":
            copies = drawn
        else:
            pair_counts = drawn
    if (labels := setting.constraints.labels) is not None:
        for i, member in enumerate(range(start, stop)):
            _leave_some_out(copies[i], labels.codes >= 0, member, setting)
    rows, most = setting.unlabelled, setting.most_unlabelled
    if most is None or len(rows) <= most:
        return SubspaceSample(features, copies, pair_counts, rows[None, :])
    some = np.empty((stop - start, most), dtype=np.int32)
    counters = np.arange(len(rows))
    for i, member in enumerate(range(start, stop)):
        words = stream_words(setting.seed, member, Purpose.UNLABELLED_BAG, counters)
        some[i] = rows[np.sort(np.argpartition(words, most - 1)[:most])]
    return SubspaceSample(features, copies, pair_counts, some)


def _draw(members: tuple[int, int], setting: SubspaceSetting) -> NDArray[np.int32]:
    """Return how often each member draws each row of the constraints, or each pair.

    Where the rows are of groups, these are drawn, and a pair as often as both of its rows.
    """
    if setting.groups is None:
        rows = Bootstrap.of_all(int(setting.strata[-1]), strata=setting.strata)
    else:
        rows = Bootstrap.of_all(len(setting.groups), groups=setting.groups)
    drawn, _ = rows.draw(setting.seed, *members)
    if setting.groups is None or setting.bootstrap == "rows":
        return drawn
    pairs = np.concatenate([setting.constraints.must_link, setting.constraints.cannot_link])
    return np.ascontiguousarray(drawn[:, pairs].prod(axis=2, dtype=np.int32))


def _leave_some_out(
    copies: NDArray[np.int32], is_labelled: NDArray[np.bool_], member: int, setting: SubspaceSetting
) -> None:
    """Leave the same share of each stratum out of a bag that has too many labelled rows."""
    n = len(copies)
    # the bootstrap has used the words before
    words = stream_words(setting.seed, member, Purpose.LABELLED_BAG, np.arange(n, 2 * n))
    is_drawn = (copies > 0) & is_labelled
    order = np.empty(n)
    for start, stop in pairwise(setting.strata.tolist()):
        drawn = start + np.flatnonzero(is_drawn[start:stop])
        order[drawn[np.argsort(words[drawn])]] = np.arange(len(drawn)) / max(1, len(drawn))
    drawn = np.flatnonzero(is_drawn)
    copies[drawn[np.lexsort((words[drawn], order[drawn]))[MAX_LABELLED:]]] = 0


def member_with_pairs(
    i: int, sample: SubspaceSample, setting: SubspaceSetting
) -> tuple[SubspaceSample, SubspaceSetting]:
    """Return what one member is dealt, with a list of the pairs of its own labelled rows."""
    alone = sample.alone(i)
    if setting.constraints.labels is None:
        return alone, setting
    drawn = np.flatnonzero(alone.copies[0])
    alone = alone._replace(copies=np.ascontiguousarray(alone.copies[:, drawn]))
    return alone, replace(setting, constraints=setting.constraints.listed(drawn))


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

    features: NDArray[np.int32]
    scores: NDArray[np.float64]
    totals: NDArray[np.float64]


def score_members(members: tuple[int, int], setting: SubspaceSetting) -> MemberScores:
    """Score the features of the members start..stop-1.

    Parameters
    ----------
    members : tuple of int
        The first member and the first one after the last.
    setting : SubspaceSetting

    Returns
    -------
    MemberScores
    """
    sample = draw_members(members, setting)
    if setting.constraints.labels is None:
        return _score_sample(sample, setting)
    alone = [
        _score_sample(*member_with_pairs(i, sample, setting)) for i in range(len(sample.features))
    ]
    return MemberScores(*(np.concatenate(part) for part in zip(*alone, strict=True)))


def _score_sample(sample: SubspaceSample, setting: SubspaceSetting) -> MemberScores:
    if setting.maps_rows:
        with one_blas_thread():
            done = [_compressed(i, sample, setting) for i in range(len(sample.features))]
        sums, totals = (np.array(part) for part in zip(*done, strict=True))
    else:
        sums, totals = run_kernel(setting.X, setting.unit, sample, setting)
    return MemberScores(sample.features, combine(sums, totals, setting.balance), totals)


def run_kernel(
    X: Any, unit: NDArray[np.float64], sample: SubspaceSample, setting: SubspaceSetting
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sums and totals of some members."""
    if not _kernels.are_compiled():
        done = [_parts(sample.alone(i), X, unit, setting) for i in range(len(sample.features))]
        return np.array([parts.sums for parts in done]), np.array([parts.totals for parts in done])
    rows, must_link, cannot_link, _ = setting.constraints
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
        setting.options,
    )


def _compressed(
    i: int, sample: SubspaceSample, setting: SubspaceSetting
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score a member whose unlabelled rows are the units of a map."""
    sums, totals = run_kernel(*_mapped(sample.alone(i), setting))
    return sums[0], totals[0]


def _mapped(
    alone: SubspaceSample, setting: SubspaceSetting
) -> tuple[NDArray[np.float64], NDArray[np.float64], SubspaceSample, SubspaceSetting]:
    """Return the rows of a member, with a map for the unlabelled ones, as `run_kernel` takes it."""
    features = alone.features[0]
    values = dense_columns(setting.X, features)
    constrained = values[setting.constraints.rows]
    X = np.asfortranarray(np.vstack([constrained, batch_som(values[alone.unlabelled[0]]).units]))
    rows, columns = (np.arange(n, dtype=np.int32) for n in X.shape)
    mapped = alone._replace(features=columns[None, :], unlabelled=rows[None, len(constrained) :])
    own = replace(setting, constraints=setting.constraints._replace(rows=rows[: len(constrained)]))
    return X, setting.unit[features], mapped, own


def weigh_members(n_members: int, setting: SubspaceSetting) -> list[Parts]:
    """Return what ties the rows of the first members, to tell whether the heat fits the data."""
    sample = draw_members((0, n_members), setting)
    return [_weights(*member_with_pairs(i, sample, setting)) for i in range(n_members)]


def _weights(alone: SubspaceSample, setting: SubspaceSetting) -> Parts:
    if setting.maps_rows:
        with one_blas_thread():
            X, unit, alone, setting = _mapped(alone, setting)
    else:
        X, unit = setting.X, setting.unit
    return _parts(alone, X, unit, setting)


def _parts(
    alone: SubspaceSample, X: Any, unit: NDArray[np.float64], setting: SubspaceSetting
) -> Parts:
    """Return the parts of the score of one member."""
    features = alone.features[0]
    return member_parts(
        dense_columns(X, features),
        alone.unlabelled[0],
        setting.constraints,
        alone.copies[0],
        alone.pair_counts[0] if len(alone.pair_counts) else None,
        setting.options,
        unit[features],
    )
