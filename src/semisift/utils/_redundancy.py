"""Correlated features: walk down a ranking and put what repeats a better column behind the others.

A column is kept unless its absolute correlation, over all rows, with one of the columns kept before
it exceeds a threshold. The walk takes the ranking in blocks: one matrix product compares a block
with all that was kept, one more the block with itself, and no p x p matrix is ever made. Its cost
is O(n * visited * kept). The correlations with their sign are computed after it, of each correlated
feature with the column that represents it: O(n * copies). Two columns with missing values are
compared over the rows in which both have a value, which takes six products instead of one.

Ranks from scores.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from semisift.parallel import one_blas_thread
from semisift.utils._columns import dense_columns, power_of_two
from semisift.utils._typing import Bools, Floats, Ints

# The walk goes on until so many columns are kept, or as many as were asked for if that is more.
MIN_KEPT = 1000

# Columns of a block, and how many values it may hold.
BLOCK_COLUMNS = 256
BLOCK_VALUES = 1 << 23

# Kept columns are held in memory up to so many values (1 GB), else prepared again for each block.
MAX_CACHED_VALUES = 1 << 27

# A mean of so many standard deviations leaves twelve digits of a correlation.
FAR_FROM_ZERO = 100.0

# Columns with missing values are compared where they have so many rows in common.
MIN_COMMON = 10

# What is left of a sum of squares around a mean below this share of it is rounding.
ROUNDING = 1e-12

# Correlations that differ by less are equal: dense and sparse products round differently.
TIE = 1e-9


@dataclass(frozen=True, eq=False)
class Standardised:
    """Columns such that ``values @ other.values.T - shift * other.shift`` are correlations.

    Attributes
    ----------
    columns : int array of shape (k,)
    values : array or csr_array of shape (k, n), or None
        None where they are prepared anew.
    shift : float array of shape (k,)
        0 for dense columns, which are centred; sparse ones are not, to stay sparse.
    there : float array of shape (k, n), or None
        1 where there is a value, 0 where there is a missing value and `values` are 0; None without
        missing values. Then `_correlate` does more than the product.
    """

    columns: Ints
    values: Any
    shift: Floats
    there: Floats | None = None


def put_copies_last(
    X: Any,
    ranking: NDArray[np.int64],
    scored: Bools,
    threshold: float,
    n_wanted: int,
    fewest: int | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Change a ranking so that columns that repeat a better one come after the others.

    The columns that are kept come first. The walk ends when `n_wanted` of them are found, or
    `fewest` if that is more: nobody reads so far down, and without an end the cost grows with
    the square of p. Behind them stand the columns that it did not reach, then the correlated
    features, and last the columns without a score, each group in the order of the ranking.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)
    ranking : int array of shape (p,)
        1 is the best.
    scored : bool array of shape (p,)
        Which columns have a score.
    threshold : float
        Largest absolute correlation between two columns that are kept.
    n_wanted : int
    fewest : int, default=None
        None is `MIN_KEPT`.

    Returns
    -------
    ranking : int array of shape (p,)
    representative : int array of shape (p,)
        The kept column that represents each column, itself if it is no copy.
    """
    order = np.argsort(ranking)
    walk, rest = order[scored[order]], order[~scored[order]]
    is_copy, stands_for = find_copies(X, walk, threshold, n_to_keep(n_wanted, fewest))
    representative = np.arange(len(ranking))
    representative[walk] = stands_for
    changed = np.empty_like(ranking)
    changed[np.concatenate([walk[~is_copy], walk[is_copy], rest])] = np.arange(1, len(ranking) + 1)
    return changed, representative


def n_to_keep(n_wanted: int, fewest: int | None) -> int:
    """Return after how many columns that are kept a walk ends; see `put_copies_last`."""
    return max(n_wanted, MIN_KEPT if fewest is None else fewest)


def find_copies(
    X: Any, walk: Ints, threshold: float, n_kept: int, n_sure: int = 0
) -> tuple[Bools, Ints]:
    """Find the columns that repeat a better one.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)
    walk : int array
        Columns from the best on.
    threshold : float
        Largest absolute correlation between two columns that are kept.
    n_kept : int
        The walk ends when so many columns are kept; those after them count as no copies.
    n_sure : int, default=0
        So many columns at the start are kept, whatever they resemble.

    Returns
    -------
    is_copy : bool array of shape (len(walk),)
    representative : int array of shape (len(walk),)
        Of a copy, the kept column that is most correlated with it (the better one of equals); else
        the column itself.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0, 1.0], [2.0, 4.0, -1.0], [3.0, 6.0, 1.0], [4.0, 8.0, -1.0]])
    >>> find_copies(X, np.array([1, 2, 0]), 0.7, 3)
    (array([False, False,  True]), array([1, 2, 1]))
    """
    n_rows = X.shape[0]
    width = _block_width(n_rows)
    holds = issparse(X) or n_rows * min(n_kept, len(walk)) <= MAX_CACHED_VALUES
    is_copy, representative = np.zeros(len(walk), dtype=bool), np.array(walk, dtype=np.int64)
    pieces: list[Standardised] = []
    left = max(n_kept, n_sure)
    with one_blas_thread():
        for start in range(0, len(walk), width):
            block = standardise(X, walk[start : start + width])
            standardised = (piece if holds else standardise(X, piece.columns) for piece in pieces)
            before = [np.abs(_correlate(piece, block)) for piece in standardised]
            known = np.concatenate([*before, np.empty((0, len(block.columns)))])
            inside = np.abs(_correlate(block, block))
            kept, n_visited = _walk_block(known, inside, threshold + TIE, left, n_sure - start)
            copies = np.setdiff1d(np.arange(n_visited), kept)
            names = np.concatenate([*(piece.columns for piece in pieces), block.columns[kept]])
            before_it = np.where(kept[:, None] < copies, inside[np.ix_(kept, copies)], 0.0)
            best = _most_correlated(np.concatenate([known[:, copies], before_it]))
            is_copy[start + copies] = True
            representative[start + copies] = names[best]
            left -= len(kept)
            if not left:
                break
            values = block.values[kept] if holds else None
            there = block.there[kept] if holds and block.there is not None else None
            pieces.append(Standardised(block.columns[kept], values, block.shift[kept], there))
    return is_copy, representative


def find_copies_of_first(X: Any, walk: Ints, n_first: int, threshold: float) -> tuple[Bools, Ints]:
    """Find the columns that repeat one of the first ones, which are all kept.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)
    walk : int array
        Columns, those that may be repeated first.
    n_first : int
        How many these are.
    threshold : float
        Largest absolute correlation of another column with one of them.

    Returns
    -------
    is_copy, representative
        As of `find_copies`.
    """
    is_copy, representative = np.zeros(len(walk), dtype=bool), np.array(walk, dtype=np.int64)
    width = _block_width(X.shape[0])
    starts = range(0, n_first, width)
    with one_blas_thread():
        first = [standardise(X, walk[start : min(start + width, n_first)]) for start in starts]
        for start in range(n_first, len(walk) if first else 0, width):
            block = standardise(X, walk[start : start + width])
            known = np.concatenate([np.abs(_correlate(piece, block)) for piece in first])
            copies = np.flatnonzero(known.max(axis=0) > threshold + TIE)
            best = _most_correlated(known[:, copies])
            is_copy[start + copies] = True
            representative[start + copies] = walk[best]
    return is_copy, representative


def representative_correlations(X: Any, representative: Ints) -> Floats:
    """Return how each column correlates with the one that represents it.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)
    representative : int array of shape (p,)

    Returns
    -------
    float array of shape (p,)
        Between -1 and 1; 1 for columns that represent themselves.

    Examples
    --------
    >>> X = np.array([[1.0, -2.0, 1.0], [2.0, -4.0, -1.0], [3.0, -6.0, 1.0]])
    >>> representative_correlations(X, np.array([0, 0, 2])).round(6).tolist()
    [1.0, -1.0, 1.0]
    """
    found = np.ones(len(representative))
    copies = np.flatnonzero(representative != np.arange(len(representative)))
    width = _block_width(X.shape[0])
    for start in range(0, len(copies), width):
        block = copies[start : start + width]
        own, other = standardise(X, block), standardise(X, representative[block])
        if own.there is not None or other.there is not None:
            found[block] = _over_common_rows(own, other, lambda a, b: np.einsum("ij,ij->i", a, b))
            continue
        products = own.values * other.values
        found[block] = np.asarray(products.sum(axis=1)).ravel() - own.shift * other.shift
    return np.clip(found, -1.0, 1.0)


def standardise(X: Any, columns: Ints) -> Standardised:
    """Scale columns to length 1 about their mean; constant columns and missing values are 0.

    Parameters
    ----------
    X : array or csc_array of shape (n, p)
    columns : int array

    Returns
    -------
    Standardised
    """
    if issparse(X):
        return _standardise_sparse(X[:, columns], columns)
    values = np.ascontiguousarray(dense_columns(X, columns).T)
    known = ~np.isnan(values)
    there = None if known.all() else known.astype(np.float64)
    values = values if there is None else np.nan_to_num(values)
    values /= power_of_two(np.abs(values).max(axis=1))[:, None]
    values -= (values.sum(axis=1) / np.maximum(known.sum(axis=1), 1))[:, None]
    if there is not None:
        values *= there
    length = np.sqrt(np.einsum("ij,ij->i", values, values))
    values *= _inverse(length, np.sqrt(values.shape[1]))[:, None]
    return Standardised(columns.astype(np.int64), values, np.zeros(len(columns)), there)


def _over_common_rows(
    first: Standardised, second: Standardised, product: Callable[[Floats, Floats], Floats]
) -> Floats:
    """Return the correlations over the rows in which both columns have a value.

    They are 0 where these are fewer than `MIN_COMMON`, or than half of all rows if that is less:
    any two columns are correlated features in two rows.
    """
    a, b = first.values, second.values
    has_a, has_b = (
        np.ones_like(each.values) if each.there is None else each.there for each in (first, second)
    )
    n = product(has_a, has_b)
    enough = n >= max(2, min(MIN_COMMON, a.shape[1] // 2))
    n = np.maximum(n, 1)
    sum_a, sum_b = product(a, has_b), product(has_a, b)
    square_a, square_b = product(a**2, has_b), product(has_a, b**2)
    left_a, left_b = square_a - sum_a**2 / n, square_b - sum_b**2 / n
    varies = enough & (left_a > ROUNDING * square_a) & (left_b > ROUNDING * square_b)
    length = np.sqrt(np.where(varies, left_a * left_b, 1.0))
    return np.where(varies, (product(a, b) - sum_a * sum_b / n) / length, 0.0)


def _standardise_sparse(part: Any, columns: Ints) -> Standardised:
    n_rows, n_columns = part.shape
    filled = np.diff(part.indptr)
    column = np.repeat(np.arange(n_columns), filled)
    unit = power_of_two(abs(part).max(axis=0).toarray().ravel().astype(np.float64))
    data = part.data / unit[column]
    mean = np.bincount(column, data, n_columns) / n_rows
    squares = np.bincount(column, (data - mean[column]) ** 2, n_columns)
    length = np.sqrt(squares + (n_rows - filled) * mean**2)
    inverse = _inverse(length, np.sqrt(n_rows))
    shift = mean * inverse * np.sqrt(n_rows)
    # Where the mean is large, the shift would cancel all digits: such columns are centred.
    far = np.flatnonzero(np.abs(shift) > FAR_FROM_ZERO)
    values = csr_array((data * inverse[column], part.indices, part.indptr), (n_columns, n_rows))
    if len(far):
        centred = (part[:, far].toarray() / unit[far] - mean[far]) * inverse[far]
        near = np.setdiff1d(np.arange(n_columns), far)
        both = vstack([values[near], csr_array(centred.T)], format="csr")
        values = both[np.argsort(np.concatenate([near, far]))]
        shift[far] = 0.0
    return Standardised(columns.astype(np.int64), values, shift)


def _block_width(n_rows: int) -> int:
    """Return how many columns of so many rows make a block."""
    return int(np.clip(BLOCK_VALUES // max(1, n_rows), 16, BLOCK_COLUMNS))


def _inverse(length: Floats, scale: float) -> Floats:
    """Return 1 / length, and 0 where the length is rounding alone (values are below 1)."""
    return np.divide(1.0, length, out=np.zeros_like(length), where=length > 1e-14 * scale)


def _correlate(first: Standardised, second: Standardised) -> Floats:
    if first.there is not None or second.there is not None:
        return _over_common_rows(first, second, lambda a, b: a @ b.T)
    product = first.values @ second.values.T
    if issparse(product):
        return np.asarray(product.toarray() - np.outer(first.shift, second.shift))
    return np.asarray(product)


def _walk_block(
    known: Floats, inside: Floats, threshold: float, left: int, n_sure: int
) -> tuple[Ints, int]:
    """Return which of a block are kept, the first `n_sure` of all, and how many were visited."""
    is_copy = np.asarray((known > threshold).any(axis=0))
    kept: list[int] = []
    for i in range(len(inside)):
        if is_copy[i] and i >= n_sure:
            continue
        kept.append(i)
        if len(kept) == left:
            return np.array(kept), i + 1
        is_copy |= inside[i] > threshold
    return np.array(kept, dtype=np.int64), len(inside)


def _most_correlated(known: Floats) -> Ints:
    """Return for each copy, a column, the first of the kept ones that comes nearest."""
    if not known.size:
        return np.empty(0, dtype=np.int64)
    return np.asarray((known >= known.max(axis=0) - TIE).argmax(axis=0))


# --- ranks ----------------------------------------------------------------------------------------


# Separates the draw that orders ties from the draws a method makes with the same seed.
TIE_STREAM = 0x7469


def rank(
    scores: NDArray[np.floating], seed: int, tie_key: NDArray[np.floating] | None = None
) -> NDArray[np.int64]:
    """Rank scores from 1, the highest, with NaN last and ties in a random order.

    Parameters
    ----------
    scores : array of shape (p,)
    seed : int
        Decides the order of ties.
    tie_key : array of shape (p,), optional
        Decides it first, higher before lower.

    Returns
    -------
    ranking : int array of shape (p,)
        A permutation of 1, ..., p.

    Examples
    --------
    >>> import numpy as np
    >>> rank(np.array([0.2, np.nan, 0.7]), seed=0)
    array([2, 3, 1])
    """
    tie_order = np.random.default_rng([seed, TIE_STREAM]).permutation(len(scores))
    ranking = np.empty(len(scores), dtype=np.int64)
    keys = (tie_order, -scores) if tie_key is None else (tie_order, -tie_key, -scores)
    ranking[np.lexsort(keys)] = np.arange(1, len(scores) + 1)
    return ranking
