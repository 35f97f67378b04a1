"""Which tables have long right tails."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from semisift.utils._columns import has_long_tails
from tests.nightly import daily_are


def normal(n_rows=80, n_columns=30):
    return np.random.default_rng(0).normal(6, 1, size=(n_rows, n_columns))


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (np.exp(normal()), True),
        (np.exp(normal()).astype(np.float32), True),
        (pd.DataFrame(np.exp(normal())), True),
        (np.exp(normal(80, 5000)), True),
        (normal(), False),
        (np.log1p(np.exp(normal())), False),
        (-np.exp(normal()), False),
        (np.exp(normal()) - 50, False),
        (np.exp(normal(n_rows=15)), False),
        (np.exp(normal(n_columns=5)), False),
        (csr_array(np.exp(normal())), False),
        (np.random.default_rng(0).poisson(0.3, size=(80, 30)), False),
        (np.ones((80, 30)), False),
        (np.where(normal() > 7, np.nan, np.exp(normal())), False),
        (pd.DataFrame(normal()).assign(word="a"), False),
    ],
)
def test_what_counts_as_a_long_tail(X, expected):
    assert has_long_tails(X) is expected


def test_half_of_the_columns_decide():
    values = normal()
    values[:, :18] = np.exp(values[:, :18])
    assert has_long_tails(values)
    values[:, :10] = normal()[:, :10]
    assert not has_long_tails(values)


def test_outliers_are_no_tail():
    values = normal()
    values[:2] = 1e6
    assert not has_long_tails(values)


RAW = {"chowdary", "colon_alon"}
DENSE = "german ionosphere isolet_bc khan_srbct madelon optdigits sonar warppie10p waveform40 wdbc"


EVERY = [*sorted(RAW), *DENSE.split(), "leukemia_allaml", "prostata"]


@pytest.mark.parametrize("name", daily_are([*RAW, "prostata", "wdbc"], EVERY))
def test_real_tables(load_dataset, name):
    """prostata is raw as well, but has values below 0, of which there is no logarithm."""
    X, _ = load_dataset(name)
    assert has_long_tails(X) is (name in RAW)
    if name in RAW:
        assert not has_long_tails(np.log1p(X))
