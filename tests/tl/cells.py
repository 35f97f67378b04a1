"""Cells with known markers: counts in an AnnData, most labels hidden."""

import anndata as ad
import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

N_CELLS, N_GENES = 150, 40
TYPES = np.array(["T", "B", "NK"])
# Genes that are raised in each type.
MARKERS = {"T": ["g0", "g1", "g2"], "B": ["g3", "g4", "g5"], "NK": ["g6", "g7", "g8"]}
GENES = [f"g{j}" for j in range(N_GENES)]


def make_counts(seed=0, fold=8.0):
    """Return counts of cells of unequal depth, and their types."""
    rng = np.random.default_rng(seed)
    kind = np.arange(N_CELLS) % 3
    means = np.full((N_CELLS, N_GENES), 0.3)
    for number, name in enumerate(TYPES):
        means[np.ix_(kind == number, np.isin(GENES, MARKERS[name]))] *= fold
    depth = rng.lognormal(0.0, 0.3, size=(N_CELLS, 1))
    return rng.poisson(means * depth).astype(np.float32), TYPES[kind]


def make_cells(per_class=8, seed=0):
    """Return an AnnData with a few labels in ``.obs["cell_type"]``, and the truth beside them."""
    X, truth = make_counts(seed)
    given = truth.astype(object)
    given[3 * per_class :] = None
    obs = pd.DataFrame(
        {
            "cell_type": pd.Categorical(given, categories=["T", "B", "NK", "never seen"]),
            "truth": truth,
            "donor": [f"d{i % 5}" for i in range(N_CELLS)],
            "plate": pd.Categorical([f"p{i // 75}" for i in range(N_CELLS)]),
            "weight": 1.0 + np.arange(N_CELLS) % 2,
        },
        index=[f"c{i}" for i in range(N_CELLS)],
    )
    return ad.AnnData(csr_matrix(X), obs, pd.DataFrame(index=GENES))


def log_normalised(adata):
    """Return the cells brought to the median total, as logarithms."""
    other = adata.copy()
    X = adata.X.toarray().astype(np.float64)
    totals = X.sum(axis=1)
    other.X = csr_matrix(np.log1p(X * (np.median(totals) / totals)[:, None]))
    return other


def same_results(adata, other, key="semisift"):
    """Assert that two AnnData hold the same results to the bit."""
    for name in ("var", "obs"):
        own, its = getattr(adata, name), getattr(other, name)
        columns = [column for column in own.columns if column.startswith(f"{key}_")]
        assert columns == [column for column in its.columns if column.startswith(f"{key}_")]
        for column in columns:
            parts = (frame[column].reset_index(drop=True) for frame in (own, its))
            pd.testing.assert_series_equal(*parts, check_exact=True)
    own, its = adata.uns[key], other.uns[key]
    assert set(own) == set(its)
    for name in ("names", "scores", "logfoldchanges"):
        assert own[name].tolist() == its[name].tolist()
        assert own[name].dtype == its[name].dtype
