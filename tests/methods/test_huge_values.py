"""One value that dwarfs all others: the kernel and numpy still find the same neighbours."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from semisift import EnsCLS
from tests.conftest import in_numpy, needs_kernels
from tests.ensemble.test_enscls import make_data

pytestmark = pytest.mark.filterwarnings(
    "ignore::semisift.CompiledKernelsMissingWarning", "ignore::semisift.GraphWarning"
)

HUGE = {
    "minmax": {"feature_scaling": "minmax", "n_neighbors": 3},
    "minmax, union": {"feature_scaling": "minmax", "n_neighbors": 7, "graph": "union"},
    "unscaled": {"n_neighbors": 7},
    "raw": {"heat_scale": "raw", "heat_constant": 3.0},
}


@needs_kernels
@pytest.mark.parametrize("name", HUGE)
@pytest.mark.parametrize("kind", ["normal", pytest.param("counts", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("row", [50, pytest.param(0, marks=pytest.mark.nightly)])
def test_a_huge_value_leaves_the_other_neighbours(row, kind, name):
    """Rows that differ little against it are told apart all the same."""
    X, y = make_data(kind, p=5)
    X[50:, 2] = np.arange(70) % 3  # rows that differ in the column of the huge value alone
    X[row, 0], X[row + 1, 0], X[row + 2, 1] = 1e40, 1e20, -1e20
    ranker = EnsCLS(n_members=30, max_features=2, balance=None, aggregation="draws", **HUGE[name])
    fast = ranker.fit(X, y).scores_
    with in_numpy():
        assert_allclose(fast, ranker.fit(X, y).scores_, rtol=1e-9, atol=1e-12)
