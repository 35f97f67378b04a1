"""The batch self-organising map."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from semisift.ensemble._som import (
    batch_som,
    grid_sides,
    nearest_units,
    quantisation_error,
    radii,
)


def blobs(n=1000, p=8, seed=0):
    rng = np.random.default_rng(seed)
    centres = 6 * rng.normal(size=(5, p))
    return centres[np.arange(n) % 5] + rng.normal(size=(n, p)), np.arange(n) % 5


def slow_som(X):
    """The same map with loops over units."""
    n = len(X)
    centre = X.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(X.T, bias=True))
    lengths = np.sqrt(np.maximum(values[::-1][:2], 0))
    directions = vectors[:, ::-1][:, :2].T
    directions *= np.sign(directions[[0, 1], np.abs(directions).argmax(axis=1)])[:, None]
    sides = grid_sides(n, lengths)
    grid = [(a, b) for a in range(sides[0]) for b in range(sides[1])]
    half = [max(1.0, (side - 1) / 2) for side in sides]
    middle = [(side - 1) / 2 for side in sides]
    units = np.array(
        [
            centre
            + (a - middle[0]) / half[0] * lengths[0] * directions[0]
            + (b - middle[1]) / half[1] * lengths[1] * directions[1]
            for a, b in grid
        ]
    )
    for radius in radii(max(sides)):
        winner = [int(np.argmin(((units - x) ** 2).sum(axis=1))) for x in X]
        new = np.zeros_like(units)
        for u, (a, b) in enumerate(grid):
            near = np.array(
                [(a - grid[w][0]) ** 2 + (b - grid[w][1]) ** 2 for w in winner], dtype=float
            )
            weight = np.exp(-near / (2 * radius**2))
            new[u] = weight @ X / weight.sum()
        units = new
    return units


def test_equals_loops():
    X, _ = blobs(60, 3)
    book = batch_som(X)
    units = slow_som(X)
    hits = np.bincount(nearest_units(X, units), minlength=len(units))
    assert_allclose(book.units, units[hits > 0], rtol=1e-8)
    assert_array_equal(book.hits, hits[hits > 0])


def test_size_and_hits():
    X, _ = blobs()
    book = batch_som(X)
    assert book.hits.sum() == 1000
    assert (book.hits > 0).all()
    assert 50 < len(book.units) <= 170  # 158 by the rule, less those without rows
    assert grid_sides(1000, np.array([1.0, 1.0])) == (13, 12)
    assert np.prod(grid_sides(1000, np.array([4.0, 1.0]))) == pytest.approx(158, abs=8)


def test_keeps_the_structure():
    X, group = blobs()
    book = batch_som(X)
    nearest = nearest_units(X, book.units)
    # nearly every unit represents one blob
    mixed = [len(np.unique(group[nearest == unit])) for unit in range(len(book.units))]
    assert np.mean(np.array(mixed) == 1) > 0.95
    around_mean = np.linalg.norm(X - X.mean(axis=0), axis=1).mean()
    assert quantisation_error(X, book.units) < 0.4 * around_mean


@pytest.mark.parametrize("p", [8, 300])
def test_sparse_equals_dense(p):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, size=(600, p)).astype(float)
    dense, compact = batch_som(X), batch_som(csr_array(X))
    assert_allclose(
        quantisation_error(X, dense.units), quantisation_error(X, compact.units), rtol=1e-3
    )


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((600, 4)),
        np.arange(600.0)[:, None],
        np.column_stack([np.arange(600.0), np.zeros(600)]),
        np.ones((1, 3)),
        np.tile([[0.0, 1.0], [1.0, 0.0]], (300, 1)),
    ],
    ids=["constant", "one column", "one direction", "one row", "two points"],
)
def test_odd_data(X):
    book = batch_som(X)
    assert book.hits.sum() == len(X)
    assert np.isfinite(book.units).all()


def test_a_shift_of_the_data_shifts_the_map():
    X, _ = blobs(600)
    assert_allclose(batch_som(X + 100).units, batch_som(X).units + 100, rtol=1e-6)


def test_at_least_as_close_as_minisom():
    minisom = pytest.importorskip("minisom", reason="minisom is not installed")
    X, _ = blobs(500)
    book = batch_som(X)
    side = round(np.sqrt(5 * np.sqrt(len(X))))
    other = minisom.MiniSom(side, side, X.shape[1], sigma=side / 2, random_seed=0)
    other.pca_weights_init(X)
    other.train_batch(X, 20 * len(X))
    assert quantisation_error(X, book.units) <= 1.05 * other.quantization_error(X)
