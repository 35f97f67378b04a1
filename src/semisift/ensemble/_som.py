"""A self-organising map trained in batches: many rows replaced by a few that keep their structure.

T. Kohonen (2001). Self-Organizing Maps. Springer.

The settings are a reading, since the papers that use the map give none: a rectangular grid of
about 5 sqrt(n) units, and at most 500, whose sides follow the two leading principal components,
where the units start; 20 rough epochs in which the Gaussian radius falls from half the longer side
to 2, 50 fine ones from 2 to 1. In an epoch every row goes to its nearest unit, and a unit becomes
the mean of all rows, weighted by the neighbourhood on the grid of the units they went to. All of
it is matrix products: an epoch costs O(n u p) for u units, which is linear in the rows from 10,000
on.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from semisift.utils._columns import blocks, power_of_two
from semisift.utils._typing import Floats, Ints

# So few rows are not worth a map.
MIN_ROWS = 500

# More units would make the cost of many rows more than linear in them.
MAX_UNITS = 500

ROUGH_EPOCHS, FINE_EPOCHS = 20, 50

# Products of rows and units are computed for so many values at once, 32 MB.
BLOCK_VALUES = 1 << 22

# Up to so many columns the covariance is decomposed; beyond, its leading directions are iterated.
MAX_COLUMNS = 256
ITERATIONS = 12


class Codebook(NamedTuple):
    """The units of a map that have rows.

    Attributes
    ----------
    units : float array of shape (n_units, p)
    hits : int array of shape (n_units,)
        Number of rows nearest to each unit.
    """

    units: Floats
    hits: Ints


def batch_som(X: Any) -> Codebook:
    """Train a map on the rows of `X` and return the units that have rows.

    Parameters
    ----------
    X : array or sparse array of shape (n, p)

    Returns
    -------
    Codebook

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[0.0, 0.0], [0.0, 9.0], [9.0, 0.0]], 100, axis=0)
    >>> batch_som(X).hits.sum()
    np.int64(300)
    """
    X = X.tocsr().astype(np.float64) if issparse(X) else np.array(X, dtype=np.float64, order="C")
    n, p = X.shape
    origin = np.zeros(p) if issparse(X) else X.mean(axis=0)
    if not issparse(X):
        X -= origin  # for the search in float32
    unit = float(power_of_two(abs(X).max()))
    X /= unit
    centre = np.asarray(X.sum(axis=0)).ravel() / n
    directions, lengths = _principal_plane(X, centre)
    sides = grid_sides(n, lengths)
    grid = np.indices(sides).reshape(2, -1).T
    place = (grid - (np.array(sides) - 1) / 2) / np.maximum(1, (np.array(sides) - 1) / 2)
    units = centre + (place * lengths) @ directions
    narrow = X.astype(np.float32)  # which halves the time, and only decides between near units
    apart = ((grid[:, None, :] - grid[None, :, :]) ** 2).sum(axis=2)
    for radius in radii(max(sides)):
        winner = nearest_units(narrow, units.astype(np.float32))
        near = np.exp(apart / (-2 * radius**2))
        if n <= MIN_ROWS and not issparse(X):
            pull = near[:, winner]
            weight, moved = pull.sum(axis=1), pull @ X
        else:
            members = csr_array((np.ones(n), (winner, np.arange(n))), shape=(len(units), n))
            sums = members @ X
            weight = near @ np.bincount(winner, minlength=len(units))
            moved = near @ (sums.toarray() if issparse(sums) else sums)
        # a unit far from all rows stays where it is
        np.divide(moved, weight[:, None], out=units, where=weight[:, None] > 0)
    hits = np.bincount(nearest_units(X, units), minlength=len(units))
    return Codebook(units[hits > 0] * unit + origin, hits[hits > 0])


def grid_sides(n_rows: int, lengths: Floats) -> tuple[int, int]:
    """Return the sides of a grid of about 5 sqrt(n) units, as long as the principal components.

    Examples
    --------
    >>> import numpy as np
    >>> grid_sides(1000, np.array([1.0, 1.0]))
    (13, 12)
    """
    n_units = min(5 * math.sqrt(n_rows), MAX_UNITS)
    shape = min(lengths[0] / lengths[1], n_units) if lengths[1] > 0 else n_units
    long = max(1, round(math.sqrt(n_units * shape)))
    return long, max(1, round(n_units / long))


def radii(longest: int) -> Floats:
    """Return the radius of the neighbourhood in each epoch."""
    return np.concatenate(
        [np.linspace(max(2.0, longest / 2), 2.0, ROUGH_EPOCHS), np.linspace(2.0, 1.0, FINE_EPOCHS)]
    )


def nearest_units(X: Any, units: NDArray[np.floating]) -> NDArray[np.intp]:
    """Return the nearest unit of each row; the first of several.

    Parameters
    ----------
    X : array or csr_array of shape (n, p)
    units : float array of shape (n_units, p)
        Of the same precision.

    Returns
    -------
    int array of shape (n,)
    """
    half = (units**2).sum(axis=1) / 2
    transposed = np.ascontiguousarray(units.T)
    winner = np.empty(X.shape[0], dtype=np.intp)
    for rows in blocks(X.shape[0], len(units), BLOCK_VALUES):
        product = X[rows] @ transposed
        product -= half
        np.argmax(product, axis=1, out=winner[rows])
    return winner


def quantisation_error(X: NDArray[np.floating], units: Floats) -> float:
    """Return the mean distance of the rows to their nearest units."""
    return float(np.linalg.norm(X - units[nearest_units(X, units)], axis=1).mean())


def _principal_plane(X: Any, centre: Floats) -> tuple[Floats, Floats]:
    """Return the two leading principal directions and the standard deviation along each."""
    n, p = X.shape

    def covary(vectors: Floats) -> Floats:
        shifted = X @ vectors - centre @ vectors
        return (X.T @ shifted - np.outer(centre, shifted.sum(axis=0))) / n

    if p <= MAX_COLUMNS:
        values, vectors = np.linalg.eigh(covary(np.eye(p)))
    else:
        vectors = np.random.default_rng(0).normal(size=(p, 4))
        for _ in range(ITERATIONS):
            vectors = np.linalg.qr(covary(np.linalg.qr(vectors)[0]))[0]
        values, turn = np.linalg.eigh(vectors.T @ covary(vectors))
        vectors = vectors @ turn
    lengths = np.sqrt(np.maximum(values[::-1][:2], 0.0))
    directions = vectors[:, ::-1][:, :2].T
    if p == 1:
        directions, lengths = np.vstack([directions, [[0.0]]]), np.append(lengths, 0.0)
    # a direction has two signs; take the same one always
    largest = np.abs(directions).argmax(axis=1)
    return directions * np.sign(directions[[0, 1], largest] + 0.5e-300)[:, None], lengths
