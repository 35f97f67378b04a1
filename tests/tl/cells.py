"""Cells with known markers: counts in an AnnData, most labels hidden."""

import anndata as ad
import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

N_CELLS, N_GENES = 150, 40
TYPES = np.array(["T", "B", "NK"])
# Genes that are raised in each type.
MARKERS = {"T": [0, 1, 2], "B": [3, 4, 5], "NK": [6, 7, 8]}
GENES = [f"g{j}" for j in range(N_GENES)]


def make_counts(seed=0, fold=8.0):
    """Return counts of cells of unequal depth, and their types."""
    rng = np.random.default_rng(seed)
    kind = np.arange(N_CELLS) % 3
    means = np.full((N_CELLS, N_GENES), 0.3)
    for number, name in enumerate(TYPES):
        means[np.ix_(kind == number, MARKERS[name])] *= fold
    depth = rng.lognormal(0.0, 0.3, size=(N_CELLS, 1))
    return rng.poisson(means * depth).astype(np.float32), TYPES[kind]


def make_cells(per_class=8, seed=0, unlabelled=None, sparse=True):
    """Return an AnnData with a few labels in ``.obs["cell_type"]``, and the truth beside them."""
    X, truth = make_counts(seed)
    given = truth.astype(object)
    given[3 * per_class :] = unlabelled
    obs = pd.DataFrame(
        {
            "cell_type": pd.Categorical(given, categories=["T", "B", "NK", "never seen"])
            if unlabelled is None
            else given,
            "truth": truth,
            "donor": [f"d{i % 5}" for i in range(N_CELLS)],
            "plate": pd.Categorical([f"p{i // 75}" for i in range(N_CELLS)]),
            "weight": 1.0 + np.arange(N_CELLS) % 2,
        },
        index=[f"c{i}" for i in range(N_CELLS)],
    )
    return ad.AnnData(csr_matrix(X) if sparse else X, obs, pd.DataFrame(index=GENES))


def log_normalised(adata):
    """Return the same cells as scanpy would have them, brought to the median total."""
    other = adata.copy()
    X = other.X.toarray().astype(np.float64)
    totals = X.sum(axis=1)
    other.X = csr_matrix(np.log1p(X * (np.median(totals) / totals)[:, None]))
    return other


def without(adata, *names):
    """Return what an AnnData holds besides some columns of obs, as plain values to compare."""
    return adata.obs.drop(columns=list(names), errors="ignore")
