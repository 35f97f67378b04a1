"""Whether the labelled rows look like a random sample of all rows, and whether some are copies.

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

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import rankdata

from semisift.base._training_data import TrainingData
from semisift.parallel import one_blas_thread
from semisift.utils._columns import blocks, dense_columns
from semisift.utils._typing import Floats, Ints

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
LEAST_OF_SHARES = 0.05
N_SHARES = 2

# Rows with fewer columns are equal by coincidence.
FEW_COLUMNS = 20

N_DIRECTIONS = 32

# So many times nearer than any other row is a copy, and no row has more of them than this.
TIMES_NEARER = 10
MOST_COPIES = 10

# No more labelled rows are compared with each other, and with so many others.
MOST_COMPARED = 2000


def row_numbers(problem: TrainingData) -> tuple[Floats, Floats]:
    """Return the `NUMBERS` of each row, and the rows in 32 random directions; made once."""
    made: tuple[Floats, Floats] = problem.once("row numbers", _find_row_numbers)
    return made


def _find_row_numbers(problem: TrainingData) -> tuple[Floats, Floats]:
    n_rows, n_columns = problem.n_rows, problem.n_features
    rng = np.random.default_rng([problem.seed, DIRECTION_STREAM])
    known, zeros, totals, sums, squares = np.zeros((5, n_rows))
    directions = np.zeros((n_rows, N_DIRECTIONS))
    with one_blas_thread():
        for columns in blocks(n_columns, n_rows):
            block = dense_columns(problem.X, columns)
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


def differences_of_labelled(problem: TrainingData, units: Ints | None = None) -> tuple[str, ...]:
    """Return the `NUMBERS` in which the labelled rows differ from the others, the largest first.

    `units` has the group of each row, counted from 0; else each is one by itself.
    """
    is_labelled = problem.labels.codes >= 0
    numbers, _ = row_numbers(problem)
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
    rng = np.random.default_rng([problem.seed, CHOICE_STREAM])
    chosen = (rng.permutation(n)[:m] for _ in range(N_CHOICES))
    highest = np.array([np.abs(ranks[rows].sum(axis=0)).max() for rows in chosen])
    limit = np.sort(highest)[N_CHOICES - int(LEVEL * (N_CHOICES + 1))]
    is_different = observed > limit + 1e-9
    shift = numbers[is_labelled].mean(axis=0) - numbers[~is_labelled].mean(axis=0)
    is_different[:N_SHARES] &= np.abs(shift[:N_SHARES]) >= LEAST_OF_SHARES
    order = np.argsort(-observed, kind="stable")
    return tuple(NUMBERS[place] for place in order if is_different[place])


def copies_of_labelled(problem: TrainingData) -> list[Ints]:
    """Return labelled rows that are copies of each other, two or more each, ascending."""
    labels = problem.labels
    if problem.n_features < FEW_COLUMNS or len(labels.labelled) < 2:
        return []
    labelled = labels.labelled[:MOST_COMPARED]
    rows = np.concatenate([labelled, labels.unlabelled[:MOST_COMPARED]])
    places = row_numbers(problem)[1][rows]
    squares = np.square(places).sum(axis=1)
    own, n_near = np.arange(len(labelled)), min(MOST_COPIES + 1, len(rows) - 1)
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
    is_gap = found[:, :-1] * TIMES_NEARER**2 < found[:, 1:]
    n_copies = np.where(is_gap.any(axis=1), is_gap.argmax(axis=1) + 1, 0)
    one, other = np.nonzero(np.arange(n_near) < n_copies[:, None])
    other = near[one, other]
    both = other < len(labelled)
    ends = one[both], other[both]
    links = coo_array((np.ones(len(ends[0])), ends), shape=(len(own), len(own)))
    n_sets, set_of = connected_components(links, directed=False)
    sizes = np.bincount(set_of, minlength=n_sets)
    return [labelled[set_of == each] for each in np.flatnonzero(sizes > 1)]
