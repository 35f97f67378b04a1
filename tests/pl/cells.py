"""Cells with results of `semisift.tl`."""

import anndata
import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

import semisift


def make_cells(n_classes=3, a_class=40, n_genes=30, *, names=None, assessed=False):
    """Return counts in which each class has two genes of its own, with their results.

    Five cells of each class are labelled, in ``.obs["kind"]``.
    """
    rng = np.random.default_rng(0)
    classes = names or [f"type {number}" for number in range(n_classes)]
    truth = np.repeat(np.arange(n_classes), a_class)
    own = truth[:, None] == np.arange(n_genes) // 2
    depth = rng.lognormal(0, 0.3, size=(len(truth), 1))
    X = rng.poisson(np.where(own, 3.0, 0.3) * depth).astype(np.float32)
    given = np.array(classes, dtype=object)[truth]
    given[np.arange(len(truth)) % a_class >= 5] = np.nan
    adata = anndata.AnnData(
        csr_matrix(X),
        pd.DataFrame(
            {"kind": pd.Categorical(given, categories=classes)},
            index=[f"cell{i}" for i in range(len(truth))],
        ),
        pd.DataFrame(index=[f"gene{j}" for j in range(n_genes)]),
    )
    turn = 2 * np.pi * truth / n_classes
    middles = 5 * np.column_stack([np.cos(turn), np.sin(turn)])
    adata.obsm["X_umap"] = middles + rng.normal(size=middles.shape)
    semisift.tl.rank_markers(adata, "kind", method="transductive", n_features=6)
    if assessed:
        semisift.tl.assess(adata)
    return adata
