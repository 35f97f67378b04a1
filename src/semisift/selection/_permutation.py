"""Permuted labels and permuted rows: between rows, groups of rows, and batches.

Rows of a group, as of a donor, are no independent ones, so the group is what labels belong to. If
the labelled rows of a group are all of one class, the group exchanges its class with other such
groups; if they are of several classes, their labels are permuted among them:

    between groups    all labelled rows of a group get the class of another group
    within a group    its labelled rows exchange their labels

Without groups each row is one by itself. If batches are known, groups change places with groups of
the same batches, and rows of a group with rows of the same batch. Of these forms the first counts
that has at least `ENOUGH_LABELLINGS` ways; else that with the most:

    batches     as above, within batches
    labelled    as above, whatever the batches
    all         the labels of whole groups are given to groups drawn from all, labelled or not, that
                have rows enough, and there to rows drawn at random

The first two assume nothing of how groups or rows were chosen for labelling; the last, which is all
there is for labels of a single class, assumes that they are a random sample. Where the table tells
that they are not (see below), one of the first two counts, however
few ways it has: without groups and batches each way is then tried once at most. Labels of a single
class are given to rows of the same batches, where batches are known: no table tells a class from
the batch that all of its rows are from. With w ways no p-value is below 1 / w, whatever is drawn.

Permuted features exchange the values of rows instead, and need groups of the same size to change
places. So in their test groups count alike: each has as many labelled and as many unlabelled rows
as the mean group. Larger groups have some of their rows there, smaller ones repeat theirs, and a
group without unlabelled rows has copies of its labelled ones for them. What a group has is not a
matter of its class, so the exchange is exact.

Whether the labelled rows look like a random sample of all rows, and whether some are copies, is
checked before.

Few labels cannot be permuted among the labelled rows alone: labels of other rows are then drawn in
their place, which is only right if the labelled rows are a random sample of all rows. Where they
were chosen or measured apart, the table can tell. Each row gets five numbers,

    the share of missing values, the share of zeros, the total of its values, and the mean and the
    spread of its values in standard deviations of the columns,

whose ranks are compared between labelled and unlabelled rows. The largest difference, in standard
deviations under a random choice, is compared with that of 999 random choices of as many rows; with
groups, of groups with their mean numbers. What reaches the highest 5 % of these is a difference;
shares must differ by .05 as well, as single columns that only the labelled rows have do no harm. A
true random sample is told apart in 5 % of tables; what then follows is a permutation among the
labelled rows, which assumes less.

Labelled rows that are copies of each other, as of a sample that was measured twice, are no
independent ones. Copies are rows that are at least ten times as near to each other as to any other
row, in 32 random directions. Tables of few columns hold equal rows by coincidence, and are not
asked.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from math import exp, inf, lgamma, log
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import rankdata

from semisift.base._training_data import TrainingData
from semisift.parallel import one_blas_thread
from semisift.selection._refit import Units, take_rows, units_of
from semisift.utils._columns import blocks, dense_columns
from semisift.utils._labels import UNLABELLED, Labels
from semisift.utils._typing import Bools, Floats, Ints

# The share of random samples that are taken for others, and the choices that they are held against.
LEVEL = 0.05
N_CHOICES = 999

# Separates these draws from all others.
CHOICE_STREAM = 0x63686F69
DIRECTION_STREAM = 0x64697265

NUMBERS = (
    "share of missing values",
    "share of zeros",
    "total",
    "mean of the standardised values",
    "spread of the standardised values",
)

# Shares that differ by less do not matter: the first two numbers are shares.
MIN_OF_SHARES = 0.05
N_SHARES = 2

# Rows with fewer columns are equal by coincidence.
MIN_COLUMNS = 20

N_DIRECTIONS = 32

# So many times nearer than any other row is a copy, and no row has more of them than this.
TIMES_NEARER = 10
MAX_COPIES = 10

# No more labelled rows are compared with each other, and with so many others.
MAX_COMPARED = 2000

# With fewer ways to permute the labels among the labelled rows, they are given to other rows.
ENOUGH_LABELLINGS = 1000

# Ways that differ by less, in logarithms, are as many.
SAME_WAYS = 1e-9

# Separate the draw of the rows of even groups, and the order of few labellings, from other draws.
EVEN_STREAM = 0x6576656E
LABELLING_STREAM = 0x66657720

How = Literal["batches", "labelled", "all"]

# A seed, and the labels of the labelled rows where they do not follow from it.
Draw = tuple[int, NDArray[np.int32] | None]


@dataclass(frozen=True)
class PermutationPlan:
    """How labels are permuted where groups or batches are known.

    Attributes
    ----------
    how : {"batches", "labelled", "all"}
        The form, as the module says.
    log_ways : float
        Logarithm of the number of ways; those that differ in the names of classes are one.
    n_between : int
        Groups that exchange their class with each other.
    n_within : int
        Groups that hold several classes, whose rows exchange their labels.
    has_groups, has_batches : bool
        Which of them are known.
    differences : tuple of str
        In what the labelled rows differ from the others, so that they are no random sample.
    copies : list of int arrays
        Labelled rows that are copies of each other, and were taken for groups.
    is_one_class : bool
        Whether there are labels of a single class.
    labellings : int array of shape (n_labellings, n_labelled) or None
        All other labels of the labelled rows, in random order, where they are so few that each is
        tried once at most.
    """

    how: How
    log_ways: float
    n_between: int = 0
    n_within: int = 0
    has_groups: bool = False
    has_batches: bool = False
    differences: tuple[str, ...] = ()
    copies: list[Ints] = field(default_factory=list)
    is_one_class: bool = False
    labellings: NDArray[np.int32] | None = None

    @property
    def is_known(self) -> bool:
        """Whether groups or batches are known."""
        return self.has_groups or self.has_batches

    @property
    def is_special(self) -> bool:
        """Whether the labelled rows are no sample of independent rows, or of one class."""
        return bool(self.differences or self.copies or self.is_one_class)

    @property
    def n_units(self) -> int:
        """How many groups, or rows where each is one by itself, have labels."""
        return self.n_between + self.n_within

    @property
    def least_p_value(self) -> float:
        """No p-value is below this; 0 where each row is one by itself and there are many ways."""
        is_bounded = self.is_known or self.labellings is not None
        return exp(-self.log_ways) if is_bounded else 0.0

    def draws(self, seeds: Iterable[int]) -> Iterator["Draw"]:
        """Yield a draw for each seed, and none twice where there are few ways."""
        if self.labellings is None:
            return ((seed, None) for seed in seeds)
        return zip(seeds, self.labellings, strict=False)

    @property
    def facts(self) -> dict[str, Any]:
        """Between and within what labels were exchanged, as plain values."""
        facts: dict[str, Any] = {}
        if self.has_groups:
            facts |= {"between_groups": self.n_between, "within_groups": self.n_within}
        if self.has_batches:
            facts["within_batches"] = self.how == "batches"
        if self.differences:
            facts["labelled_differ_in"] = list(self.differences)
        return facts


def plan_permutation(data: TrainingData) -> tuple[TrainingData, PermutationPlan]:
    """Return how labels are permuted, after a look at the labelled rows.

    The groups of the training data that is returned are the copies among the labelled rows, where
    no groups are known.
    """
    rows = data.some_rows(MAX_COMPARED)
    some, copies = data.part(rows), list[Ints]()
    if data.design.groups is None:
        copies = [rows[some_copies] for some_copies in copies_of_labelled(some)]
    if copies:
        groups = np.arange(data.n_rows)
        for alike in copies:
            groups[alike] = alike[0]
        design = replace(data.design, groups=groups.astype(np.int32))
        data, some = data.with_design(design), some.with_design(design.take(rows))
    plan = find_permutation_plan(data)
    can_choose = plan.how == "all" and not plan.is_one_class and not data.given_pairs
    if can_choose and len(data.labels.labelled):
        units = None if some.design.groups is None else units_of(some).of_row
        if differences := differences_of_labelled(some, units):
            plan = find_permutation_plan(data, differences)
    return data, replace(plan, copies=copies)


def find_permutation_plan(data: TrainingData, differences: tuple[str, ...] = ()) -> PermutationPlan:
    """Return how labels are permuted: among the labelled rows where these differ from the others.

    Ways that differ in the names of classes of equal size are one: 6 labels of two classes can be
    permuted in 10 ways, so that no p-value below .1 would be possible.
    """
    design, labels = data.design, data.labels
    known: dict[str, Any] = {
        "has_groups": design.groups is not None,
        "has_batches": design.batches is not None,
        "differences": differences,
        "is_one_class": len(labels.counts) == 1,
    }
    if design.groups is None and design.batches is None:
        ways, labellings = _log_ways(labels.counts[None]), None
        among = bool(differences)
        if among:
            rng = np.random.default_rng([data.seed, LABELLING_STREAM])
            labellings = _other_labellings(labels.codes[labels.labelled], rng)
        elif not data.given_pairs:
            among = ways >= log(ENOUGH_LABELLINGS)
        known |= {"n_between": int(labels.counts.sum()), "labellings": labellings}
        return PermutationPlan("labelled" if among else "all", ways, **known)
    units = units_of(data)
    known |= {"n_between": int(units.is_pure.sum()), "n_within": int(units.is_mixed.sum())}
    if data.given_pairs or not len(labels.labelled):
        return PermutationPlan("all", inf, **known)
    forms: list[tuple[How, float]] = []
    if labels.n_classes > 1:  # else labelled rows have nothing to exchange
        if known["has_batches"]:
            within = _permutation_sets(data, units, within_batches=True)
            forms.append(("batches", _log_ways(within)))
        forms.append(("labelled", _log_ways(_permutation_sets(data, units))))
    if not differences:
        strata = units.strata(known["has_batches"] and labels.n_classes == 1)
        parts = [_log_ways_among_all(units, strata == each) for each in np.unique(strata)]
        forms.append(("all", sum(parts)))
    most = max(ways for _, ways in forms)
    needed = min(log(ENOUGH_LABELLINGS), most - SAME_WAYS)
    how, ways = next(form for form in forms if form[1] >= needed)
    return PermutationPlan(how, ways, **known)


def _permutation_sets(data: TrainingData, units: Units, *, within_batches: bool = False) -> Ints:
    """Return for each set whose members exchange their labels how many are of each class."""
    stratum, keys = units.strata(within_batches), units.row_keys(data, within_batches)
    sets = np.unique(stratum)
    between = np.zeros((len(sets), units.counts.shape[1]), dtype=np.int64)
    pure = np.flatnonzero(units.is_pure)
    place = np.searchsorted(sets, stratum[pure])
    np.add.at(between, (place, units.counts[pure].argmax(axis=1)), 1)
    rows = data.labels.labelled
    rows = rows[units.is_mixed[units.of_row[rows]]]
    own, place = np.unique(keys[rows], return_inverse=True)
    within = np.zeros((len(own), units.counts.shape[1]), dtype=np.int64)
    np.add.at(within, (place, data.labels.codes[rows]), 1)
    return np.concatenate([between, within])


def _other_labellings(codes: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int32]:
    """Return all other ways to label some rows, in random order.

    Those that differ in the names of classes of equal size are one.
    """
    sizes = np.bincount(codes)
    found: list[list[int]] = []

    def label(so_far: list[int], left: Ints) -> None:
        if len(so_far) == len(codes):
            found.append(so_far)
            return
        is_new = set()  # of classes of one size that no row has yet, one represents all
        for code in np.flatnonzero(left):
            if left[code] == sizes[code]:
                if sizes[code] in is_new:
                    continue
                is_new.add(sizes[code])
            fewer = left.copy()
            fewer[code] -= 1
            label([*so_far, int(code)], fewer)

    label([], sizes)
    every = np.array(found, dtype=np.int32)
    same = (every[:, :, None] == np.arange(len(sizes)))[:, :, :, None]
    own = (codes[:, None] == np.arange(len(sizes)))[None, :, None, :]
    overlap = (same & own).sum(axis=1)  # of classes that are the same rows by another name
    is_given = (overlap.max(axis=2) == sizes).all(axis=1)
    return rng.permutation(every[~is_given])


def _log_ways(sets: Ints) -> float:
    """Return the logarithm of the number of ways to permute labels within each of some sets."""
    ways = sum(lgamma(each.sum() + 1) - sum(lgamma(n + 1) for n in each) for each in sets)
    return ways - _log_names(sets)


def _log_names(sets: Ints) -> float:
    """Return the logarithm of the number of ways to name classes that are everywhere as large."""
    if not sets.size:
        return 0.0
    return sum(lgamma(n + 1) for n in np.unique(sets.T, axis=0, return_counts=True)[1])


def _log_ways_among_all(units: Units, some: Bools) -> float:
    """Return the logarithm of the number of ways to give the labels of groups to other groups."""
    counts, sizes = units.counts[some], units.sizes[some]
    ways = sum(log(n_open) for _, n_open in _by_room(counts.sum(axis=1), sizes))
    by_group, by_row = units.is_pure[some], units.is_mixed[some]
    if counts.shape[1] == 1:  # within a group it matters which rows have the label
        by_group, by_row = np.zeros_like(by_row), ~units.is_free[some]
    pure, mixed = (counts[by_group] > 0).sum(axis=0), counts[by_row]
    ways -= sum(lgamma(n + 1) for n in pure)
    for size, own in zip(sizes[by_row], mixed, strict=True):
        ways += lgamma(size + 1) - lgamma(size - own.sum() + 1) - sum(lgamma(n + 1) for n in own)
    ways -= sum(lgamma(n + 1) for n in np.unique(mixed, axis=0, return_counts=True)[1])
    return ways - _log_names(np.concatenate([pure[None], mixed]))


def _by_room(needed: Ints, sizes: Ints) -> Iterable[tuple[int, int]]:
    """Yield the units that need rows, that of the most first, and how many places each may take.

    Who needs less may go wherever who needs more may, so that this does not depend on where the
    others went.
    """
    ordered = np.sort(sizes)
    in_need = np.flatnonzero(needed)
    for n_before, unit in enumerate(in_need[np.argsort(-needed[in_need], kind="stable")]):
        n_large = len(sizes) - np.searchsorted(ordered, needed[unit])
        yield int(unit), int(n_large) - n_before


# Labels -------------------------------------------------------------------------------------------


def permuted_labels(data: TrainingData, draw: Draw, plan: PermutationPlan) -> TrainingData:
    """Return the training data with permuted labels.

    They are exchanged among the labelled rows or, where there are too few ways to do so, given to
    rows drawn from all, as are given pairs. The latter assumes that the labelled rows are a random
    sample of all rows. With groups and batches see above.
    """
    seed, labelling = draw
    rng = np.random.default_rng(seed)
    labels, pairs = data.labels, data.given_pairs
    codes = labels.codes.copy()
    if labelling is not None:
        codes[labels.labelled] = labelling
    elif plan.how != "all" and plan.is_known:
        codes = _permuted_codes(data, rng, within_batches=plan.how == "batches")
    elif plan.how != "all":
        codes[labels.labelled] = rng.permutation(codes[labels.labelled])
    else:
        place = rng.permutation(data.n_rows)
        if plan.is_known:
            place = _placed_rows(data, rng)
        placed = place >= 0
        codes[:] = UNLABELLED
        codes[place[placed]] = labels.codes[placed]
        pairs = None if pairs is None else pairs.moved(place)
    return data.with_labels(Labels(codes, labels.classes), pairs, seed)


def _permuted_codes(
    data: TrainingData, rng: np.random.Generator, *, within_batches: bool
) -> NDArray[np.int32]:
    codes, units = data.labels.codes.copy(), units_of(data)
    pure = np.flatnonzero(units.is_pure)
    code_of = units.counts.argmax(axis=1)
    code_of[pure] = code_of[pure[_another(units.strata(within_batches)[pure], rng)]]
    rows = data.labels.labelled
    is_pure = units.is_pure[units.of_row[rows]]
    codes[rows[is_pure]] = code_of[units.of_row[rows[is_pure]]]
    rows = rows[~is_pure]
    keys = units.row_keys(data, within_batches)[rows]
    codes[rows] = codes[rows[_another(keys, rng)]]
    return codes


def _another(keys: Ints, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return for each element another one of the same key: they are permuted within keys."""
    other = np.empty(len(keys), dtype=np.int64)
    other[np.argsort(keys, kind="stable")] = np.lexsort((rng.random(len(keys)), keys))
    return other


def _placed_rows(data: TrainingData, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return where the label and the pairs of each row go: whole groups to groups drawn from all.

    -1 for rows without either.
    """
    units, pairs = units_of(data), data.given_pairs
    has_any = data.labels.codes != UNLABELLED
    if pairs is not None:
        has_any[np.concatenate([*pairs.must_link, *pairs.cannot_link]).astype(np.int64)] = True
    needed = np.bincount(units.of_row[has_any], minlength=len(units.sizes))
    members = units.members()
    is_open = np.ones(len(units.sizes), dtype=bool)
    place = np.full(data.n_rows, -1)
    stratum = _strata_of_all(data, units)
    for unit, _ in _by_room(needed, units.sizes):
        may_take = is_open & (units.sizes >= needed[unit]) & (stratum == stratum[unit])
        target = rng.choice(np.flatnonzero(may_take))
        is_open[target] = False
        rows = members[unit][has_any[members[unit]]]
        place[rows] = rng.permutation(members[target])[: len(rows)]
    return place


def _strata_of_all(data: TrainingData, units: Units) -> Ints:
    """Return a number for each unit; where all change places, those with the same one do."""
    one_class = data.labels.n_classes == 1 and not data.given_pairs
    return units.strata(data.design.batches is not None and one_class)


# Rows ---------------------------------------------------------------------------------------------


def permuted_rows(data: TrainingData, draw: Draw, how: How) -> NDArray[np.int64]:
    """Return for each row another one, each once, whose values have nothing to do with its label.

    Rows are exchanged among the labelled and among the unlabelled ones or, where there are too few
    ways to do so, among all; with groups, which must be even, or batches as above.
    """
    seed, labelling = draw
    rng = np.random.default_rng(seed)
    if data.design.groups is not None or data.design.batches is not None:
        return _permuted_blocks(data, rng, how)
    if how == "all":
        return rng.permutation(data.n_rows)
    order, labelled = np.arange(data.n_rows), data.labels.labelled
    for rows in (labelled, data.labels.unlabelled):
        order[rows] = rng.permutation(rows)
    if labelling is not None:  # rows have the values of those that now have their label
        own = data.labels.codes[labelled]
        to = np.argsort(own, kind="stable")
        order[labelled[to]] = labelled[np.lexsort((rng.random(len(own)), labelling))]
    return order


def _permuted_blocks(data: TrainingData, rng: np.random.Generator, how: How) -> NDArray[np.int64]:
    units, is_labelled = units_of(data), data.labels.codes != UNLABELLED
    n_units = len(units.sizes)
    if how == "all":
        stratum = _strata_of_all(data, units)
        partner = _another(stratum, rng) if stratum.any() else rng.permutation(n_units)
        return _values_of(units.of_row, partner, _another(units.of_row, rng))
    stratum, partner = units.strata(how == "batches"), np.arange(n_units)
    for some in (np.flatnonzero(units.is_pure), np.flatnonzero(units.is_free)):
        partner[some] = some[_another(stratum[some], rng)]
    parts = 2 * units.of_row + is_labelled
    both = np.column_stack([2 * partner, 2 * partner + 1]).ravel()
    order = _values_of(parts, both, np.arange(data.n_rows))
    rows = np.flatnonzero(units.is_mixed[units.of_row])
    keys = 2 * units.row_keys(data, how == "batches")[rows] + is_labelled[rows]
    order[rows] = rows[_another(keys, rng)]
    return order


def _values_of(part: Ints, partner: Ints, within: Ints) -> NDArray[np.int64]:
    """Return for each row that of the partner of its part, which has as many rows.

    The rows of a part come in the order in which `within` exchanges them.
    """
    by_part = np.argsort(part, kind="stable")
    starts = np.searchsorted(part[by_part], np.arange(len(partner) + 1))
    place = np.empty(len(part), dtype=np.int64)
    place[by_part] = np.arange(len(part)) - starts[part[by_part]]
    return np.asarray(within[by_part[starts[partner[part]] + place]])


def even_groups(data: TrainingData, how: How) -> TrainingData:
    """Return training data whose groups can change places, as they have as many rows.

    The same where they can already.
    """
    if data.design.groups is None:
        return data
    units, codes = units_of(data), data.labels.codes
    n_labelled = units.counts.sum(axis=1)
    kinds, alike = [units.is_pure, units.is_free], [units.sizes, n_labelled]
    if how == "all":
        kinds, alike = [np.ones(len(units.sizes), dtype=bool)], [units.sizes]
    if all(len(np.unique(sizes[kind])) <= 1 for kind in kinds for sizes in alike):
        return data
    rng = np.random.default_rng([data.seed, EVEN_STREAM])
    drawn = (_draw_any if how == "all" else _draw_alike)(rng, units, codes)
    rows, is_labelled = (np.concatenate(each) for each in zip(*drawn, strict=True))
    order = np.argsort(rows, kind="stable")
    rows, is_labelled = rows[order], is_labelled[order]
    even = take_rows(data, rows, data.seed)
    labels = Labels(np.where(is_labelled, codes[rows], UNLABELLED), data.labels.classes)
    return even.with_labels(labels, even.given_pairs, data.seed)


Drawn = Iterable[tuple[Ints, Bools]]


def _draw_alike(rng: np.random.Generator, units: Units, codes: NDArray[np.int32]) -> Drawn:
    """Yield rows of each group, and which are labelled: as many of groups that change places."""
    n_labelled, is_pure, is_free = units.counts.sum(axis=1), units.is_pure, units.is_free
    n_own, n_others = (_mean_up(n[is_pure]) for n in (n_labelled, units.sizes - n_labelled))
    n_free = _mean_up(units.sizes[is_free])

    def drawn(rows: Ints, n: int) -> Ints:  # of fewer rows all, again and again
        return np.resize(rng.permutation(rows), n)

    for unit, rows in enumerate(units.members()):
        labelled, others = rows[codes[rows] != UNLABELLED], rows[codes[rows] == UNLABELLED]
        if is_pure[unit]:
            labelled = drawn(labelled, n_own)
            others = drawn(others if len(others) else labelled, n_others)
        elif is_free[unit]:
            others = drawn(others, n_free)
        yield np.append(labelled, others), np.arange(len(labelled) + len(others)) < len(labelled)


def _draw_any(rng: np.random.Generator, units: Units, codes: NDArray[np.int32]) -> Drawn:
    """Yield rows of each group, and which are labelled: as many rows of every group."""
    n_labelled = units.counts.sum(axis=1)
    most = max(_mean_up(n_labelled[n_labelled > 0]), units.counts.shape[1])
    size = max(most, _mean_up(units.sizes))
    for rows in units.members():
        labelled = rng.permutation(rows[codes[rows] != UNLABELLED])
        # one of each class comes first
        times = np.zeros(len(labelled), dtype=np.int64)
        for code in np.unique(codes[labelled]):
            own = codes[labelled] == code
            times[own] = np.arange(own.sum())
        labelled = labelled[np.argsort(times, kind="stable")][:most]
        others = rng.permutation(rows[codes[rows] == UNLABELLED])
        others = np.resize(np.append(others, rng.permutation(rows)), size - len(labelled))
        yield np.append(labelled, others), np.arange(size) < len(labelled)


def _mean_up(sizes: Ints) -> int:
    return int(np.ceil(sizes.mean())) if len(sizes) else 0


# Checks of the sample -----------------------------------------------------------------------------


def row_numbers(data: TrainingData) -> tuple[Floats, Floats]:
    """Return the `NUMBERS` of each row, and the rows in 32 random directions; made once."""
    made: tuple[Floats, Floats] = data.cached("row numbers", _find_row_numbers)
    return made


def _find_row_numbers(data: TrainingData) -> tuple[Floats, Floats]:
    n_rows, n_columns = data.n_rows, data.n_features
    rng = np.random.default_rng([data.seed, DIRECTION_STREAM])
    known, zeros, totals, sums, squares = np.zeros((5, n_rows))
    directions = np.zeros((n_rows, N_DIRECTIONS))
    with one_blas_thread():
        for columns in blocks(n_columns, n_rows):
            block = dense_columns(data.X, columns)
            is_known = ~np.isnan(block)
            n_known = np.maximum(is_known.sum(axis=0), 1)
            unit = np.maximum(np.nanmax(np.abs(block), axis=0, initial=0.0), np.finfo(float).tiny)
            scaled = np.where(is_known, block, 0.0) / unit  # so that squares stay in range
            centred = np.where(is_known, scaled - scaled.sum(axis=0) / n_known, 0.0)
            spread = np.sqrt(np.square(centred).sum(axis=0) / n_known)
            centred /= np.where(spread > 1e-12, spread, np.inf)
            known += is_known.sum(axis=1)
            zeros += (is_known & (block == 0)).sum(axis=1)
            totals += np.where(is_known, block, 0.0).sum(axis=1)
            sums += centred.sum(axis=1)
            squares += np.square(centred).sum(axis=1)
            directions += centred @ rng.normal(size=(centred.shape[1], N_DIRECTIONS))
    n = np.maximum(known, 1.0)
    found = [1 - known / n_columns, zeros / n, totals / n, sums / n, squares / n]
    return np.column_stack(found), directions


def differences_of_labelled(data: TrainingData, units: Ints | None = None) -> tuple[str, ...]:
    """Return the `NUMBERS` in which the labelled rows differ from the others, the largest first.

    `units` has the group of each row, counted from 0; else each is one by itself.
    """
    is_labelled = data.labels.codes >= 0
    numbers, _ = row_numbers(data)
    if units is not None:
        sizes = np.bincount(units)
        numbers = np.column_stack([np.bincount(units, each) / sizes for each in numbers.T])
        is_labelled = np.bincount(units, is_labelled) > 0
    n, m = len(numbers), int(is_labelled.sum())
    if m in (0, n):
        return ()
    # numbers that differ by rounding alone are equal
    unit = np.maximum(np.abs(numbers).max(axis=0), np.finfo(float).tiny)
    ranks = rankdata(np.round(numbers / unit, 9), axis=0) - (n + 1) / 2
    error = np.sqrt(m * (n - m) / (n * (n - 1)) * np.square(ranks).sum(axis=0))
    ranks /= np.where(error > 0, error, np.inf)
    observed = np.abs(ranks[is_labelled].sum(axis=0))
    rng = np.random.default_rng([data.seed, CHOICE_STREAM])
    chosen = (rng.permutation(n)[:m] for _ in range(N_CHOICES))
    highest = np.array([np.abs(ranks[rows].sum(axis=0)).max() for rows in chosen])
    limit = np.sort(highest)[N_CHOICES - int(LEVEL * (N_CHOICES + 1))]
    is_different = observed > limit + 1e-9
    shift = numbers[is_labelled].mean(axis=0) - numbers[~is_labelled].mean(axis=0)
    is_different[:N_SHARES] &= np.abs(shift[:N_SHARES]) >= MIN_OF_SHARES
    order = np.argsort(-observed, kind="stable")
    return tuple(NUMBERS[place] for place in order if is_different[place])


def copies_of_labelled(data: TrainingData) -> list[Ints]:
    """Return labelled rows that are copies of each other, two or more each, ascending."""
    labels = data.labels
    if data.n_features < MIN_COLUMNS or len(labels.labelled) < 2:
        return []
    labelled = labels.labelled[:MAX_COMPARED]
    rows = np.concatenate([labelled, labels.unlabelled[:MAX_COMPARED]])
    places = row_numbers(data)[1][rows]
    squares = np.square(places).sum(axis=1)
    own, n_near = np.arange(len(labelled)), min(MAX_COPIES + 1, len(rows) - 1)
    if n_near < 2:
        return []
    with one_blas_thread():
        apart = squares[own, None] + squares - 2 * (places[own] @ places.T)
    apart = np.maximum(apart, 0.0)
    apart[own, own] = np.inf
    near = np.argpartition(apart, n_near - 1, axis=1)[:, :n_near]
    found = np.take_along_axis(apart, near, axis=1)
    order = np.argsort(found, axis=1, kind="stable")
    near, found = np.take_along_axis(near, order, axis=1), np.take_along_axis(found, order, axis=1)
    # sums of squares that differ by rounding alone are equal
    rounding = 1e-12 * (squares[own, None] + squares[near])
    found = np.where(found <= rounding, 0.0, found)
    is_missing = found[:, :-1] * TIMES_NEARER**2 < found[:, 1:]
    n_copies = np.where(is_missing.any(axis=1), is_missing.argmax(axis=1) + 1, 0)
    one, other = np.nonzero(np.arange(n_near) < n_copies[:, None])
    other = near[one, other]
    both = other < len(labelled)
    ends = one[both], other[both]
    links = coo_array((np.ones(len(ends[0])), ends), shape=(len(own), len(own)))
    n_sets, set_of = connected_components(links, directed=False)
    sizes = np.bincount(set_of, minlength=n_sets)
    return [labelled[set_of == each] for each in np.flatnonzero(sizes > 1)]
