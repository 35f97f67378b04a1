"""Data that several test files share."""

import os
import warnings
from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy.sparse import csr_array

from semisift import CompiledKernelsMissingWarning, FeatureRanker, _kernels
from semisift.utils import _columns


class Data(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    y_true: np.ndarray


def make_data(n_rows=60, n_features=8, n_classes=2, per_class=6, seed=0):
    """Return normal columns of which the first two follow the class, with most labels hidden.

    The values are exact in float32, so that both precisions hold the same numbers.
    """
    rng = np.random.default_rng(seed)
    y_true = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, n_features))
    X[:, :2] += 2.0 * y_true[:, None]
    y = np.full(n_rows, -1)
    for label in range(n_classes):
        rows = np.flatnonzero(y_true == label)[:per_class]
        y[rows] = label
    return Data(X.astype(np.float32).astype(np.float64), y, y_true)


@pytest.fixture
def data():
    return make_data()


@pytest.fixture
def stay_sparse(monkeypatch):
    """Let small sparse matrices be worked on as large ones are."""
    monkeypatch.setattr(_columns, "MIN_VALUES", 0)
    monkeypatch.setattr(_columns, "MIN_COLUMNS", -1)


needs_callbacks = pytest.mark.skipif(
    not hasattr(FeatureRanker, "set_callbacks"), reason="scikit-learn 1.9 brought callbacks"
)

needs_kernels = pytest.mark.skipif(not _kernels.are_compiled(), reason="the kernels are not built")


@contextmanager
def in_numpy():
    """Let numpy serve in place of the kernels, without the warning about it."""
    with _kernels.numpy_only():
        with warnings.catch_warnings(action="ignore", category=CompiledKernelsMissingWarning):
            _kernels.warn_if_missing()
        yield


@pytest.fixture
def without_kernels():
    """Let the kernels be missing, with the warning about it."""
    with _kernels.numpy_only():
        yield


@pytest.fixture(params=["kernel", "numpy"])
def path(request):
    """Run a test on the kernels and on what serves without them."""
    if request.param == "kernel" and not _kernels.are_compiled():
        pytest.skip("the kernels are not built")
    with in_numpy() if request.param == "numpy" else nullcontext():
        yield request.param


# What a test asks for tells what it needs; tests that start clusters or kill say so themselves.
MARKS_OF_FIXTURES = {"chromium": "browser", "data_dir": "real_data"}

# What is slow by nature runs every night, and by `.ci/run --all`.
NIGHTLY = {"browser", "cluster", "kill"}


@pytest.hookimpl(tryfirst=True)  # before the options of the command line choose among marks
def pytest_collection_modifyitems(items):
    for item in items:
        for fixture, mark in MARKS_OF_FIXTURES.items():
            if fixture in item.fixturenames:
                item.add_marker(mark)
        if any(item.get_closest_marker(mark) for mark in NIGHTLY):
            item.add_marker("nightly")


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    """A real browser, for tests that are marked with `needs_browser`."""
    from .browsing import browser

    with browser(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture(scope="session")
def data_dir() -> Path:
    folder = os.environ.get("SEMISIFT_DATA")
    if not folder:
        pytest.skip("set SEMISIFT_DATA to the folder of the data sets to run this test")
    if not Path(folder).is_dir():
        pytest.skip(f"SEMISIFT_DATA={folder!r} is not a folder")
    return Path(folder)


@pytest.fixture(scope="session")
def load_dataset(data_dir) -> Callable:
    """Return ``load(name) -> (X, y)``; X is dense or a CSR array, y is fully labelled."""

    def load(name):
        path = data_dir / f"{name}.npz"
        if not path.exists():
            pytest.skip(f"the data set {name} is not in {data_dir}")
        with np.load(path, allow_pickle=False) as file:
            y = file["y"]
            if y.dtype.kind == "u":
                y = y.astype(np.int64)  # so that -1 can hide a label
            if "X" in file:
                return file["X"], y
            indices = file["indices"].astype(np.int32)  # stored as uint16 where that is enough
            parts = file["data"], indices, file["indptr"].astype(np.int64)
            return csr_array(parts, shape=tuple(file["shape"])), y

    return load


@pytest.fixture(scope="session")
def comparison():
    """Return the results of a small real comparison."""
    from .shown_comparisons import compare_for_real

    return compare_for_real()
