"""What the members of EnsCLS are dealt: features, a bootstrap of what is labelled, and rows.

Member i owns the random streams (seed, i), so its draws depend on nobody else's.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semisift import kernels
from semisift._committee.bags import Bootstrap
from semisift._committee.engine import features_to_draw
from semisift._problem import Problem
from semisift.graphs.constrained import list_constraints, scaled, weight_options
from semisift.math.blocks import MOST_SQUARED
from semisift.math.cls import TieOptions
from semisift.math.constraints import Constraints
from semisift.math.som import FEWEST_ROWS
from semisift.math.streams import Purpose, stream_words

# A member lists the pairs of at most so many labelled rows.
MOST_LABELLED = MOST_SQUARED

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
        """Whether the units of a map stand for the unlabelled rows of each member."""
        return self.most_unmapped is not None and len(self.unlabelled) > self.most_unmapped


class Deal(NamedTuple):
    """What the members of a block are dealt: features, and how often rows and pairs count."""

    features: NDArray[np.int32]
    copies: NDArray[np.int32]
    pair_counts: NDArray[np.int32]
    unlabelled: NDArray[np.int32]  # one row where all members share them

    def alone(self, i: int) -> "Deal":
        """Return what one member is dealt."""
        own = i if len(self.unlabelled) > 1 else 0
        features, copies, pair_counts = (part[i : i + 1] for part in self[:3])
        return Deal(features, copies, pair_counts, self.unlabelled[own : own + 1])


def make_setting(ranker: Any, problem: Problem) -> SubspaceSetting:
    """Return what the members of an `EnsCLS` share on a problem."""
    kernels.warn_if_missing()
    is_printed = ranker.variant == "paper"
    feature_scaling = None if is_printed else ranker.feature_scaling
    n_drawn = features_to_draw(ranker.max_features, problem.n_features)
    options = weight_options(ranker)
    if feature_scaling == "minmax" and options.heat_scale == "raw":
        # columns are scaled for a mean over all of them
        constant = options.heat_constant * n_drawn / problem.n_features
        options = replace(options, heat_constant=constant)
    constraints, unlabelled = list_constraints(problem)
    bootstrap = "plain" if is_printed else ranker.bootstrap
    codes = problem.labels.codes[constraints.rows]
    bags_pairs = len(codes) > 0 and bool((codes < 0).all())
    n_each = [len(codes)]
    if bags_pairs:
        n_each = [len(constraints.must_link), len(constraints.cannot_link)]
    elif bootstrap == "stratified":
        constraints = constraints.ordered(np.argsort(codes, kind="stable"))
        n_each = np.unique(codes, return_counts=True)[1].tolist()
    X, unit = scaled(problem, feature_scaling)
    groups = problem.design.groups
    # the paper maps the rows of every subspace, however few; a map of one row is that row
    most_unmapped = 1 if is_printed else FEWEST_ROWS if ranker.compress == "som" else None
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
        seed=problem.seed,
        subspaces=ranker._subspaces(problem, n_drawn),
    )


def deal_members(members: tuple[int, int], setting: SubspaceSetting) -> Deal:
    """Draw the features and bootstraps of some members."""
    start, stop = members
    if setting.subspaces is not None:
        features = setting.subspaces[start:stop]
    else:
        size = setting.X.shape[1], setting.n_drawn
        features = kernels.plan.draw_subspaces(setting.seed, start, stop, *size)
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
        return Deal(features, copies, pair_counts, rows[None, :])
    some = np.empty((stop - start, most), dtype=np.int32)
    counters = np.arange(len(rows))
    for i, member in enumerate(range(start, stop)):
        words = stream_words(setting.seed, member, Purpose.UNLABELLED_BAG, counters)
        some[i] = rows[np.sort(np.argpartition(words, most - 1)[:most])]
    return Deal(features, copies, pair_counts, some)


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
    copies[drawn[np.lexsort((words[drawn], order[drawn]))[MOST_LABELLED:]]] = 0


def listed_member(i: int, deal: Deal, setting: SubspaceSetting) -> tuple[Deal, SubspaceSetting]:
    """Return what one member is dealt, with a list of the pairs of its own labelled rows."""
    alone = deal.alone(i)
    if setting.constraints.labels is None:
        return alone, setting
    drawn = np.flatnonzero(alone.copies[0])
    alone = alone._replace(copies=np.ascontiguousarray(alone.copies[:, drawn]))
    return alone, replace(setting, constraints=setting.constraints.listed(drawn))
