"""Cells with the results that the pictures read."""

import anndata
import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix


def make_cells(n_classes=3, a_class=40, n_genes=30, *, names=None, seed=0, assessed=False):
    """Return counts in which each class has two genes of its own, with results under "semisift"."""
    rng = np.random.default_rng(seed)
    classes = names or [f"type {number}" for number in range(n_classes)]
    truth = np.repeat(np.arange(n_classes), a_class)
    rates = np.full((n_classes, n_genes), 0.4)
    for number in range(n_classes):
        rates[number, [2 * number % n_genes, (2 * number + 1) % n_genes]] = 4.0
    depth = rng.lognormal(0, 0.4, len(truth))
    X = rng.poisson(rates[truth] * depth[:, None]).astype(np.float32)
    given = np.array(classes, dtype=object)[truth]
    given[np.arange(len(truth)) % a_class >= 5] = np.nan
    obs = pd.DataFrame({"kind": pd.Categorical(given, categories=classes)})
    obs.index = [f"cell{i}" for i in range(len(truth))]
    adata = anndata.AnnData(
        csr_matrix(X), obs, pd.DataFrame(index=[f"gene{j}" for j in range(n_genes)])
    )
    adata.obsm["X_umap"] = rng.normal(size=(len(truth), 2)) + 5 * np.column_stack(
        [np.cos(truth * 6.28 / n_classes), np.sin(truth * 6.28 / n_classes)]
    ) * (1 + (truth[:, None] % 3) * (n_classes > 8))
    fill(adata, "kind", truth, assessed=assessed, rng=rng)
    return adata


def fill(adata, labels_key, codes, key="semisift", *, assessed=False, rng=None):
    """Write results as `semisift.tl` does, by a t-like score of each class against the rest."""
    rng = rng or np.random.default_rng(0)
    classes = list(adata.obs[labels_key].cat.categories)
    X = np.log1p(adata.X.toarray())
    scores = []
    for number in range(len(classes)):
        own, rest = X[codes == number], X[codes != number]
        off = own.mean(0) - (rest.mean(0) if len(rest) else 0)
        scores.append(off / np.sqrt(X.var(0) + 0.01) * np.sqrt(len(own)))
    scores = np.array(scores)
    best = scores.max(axis=0)
    order = np.argsort(-best, kind="stable")
    rank = np.empty(len(best))
    rank[order] = np.arange(1, len(best) + 1)
    adata.var[f"{key}_rank"], adata.var[f"{key}_score"] = rank, best
    adata.var[f"{key}_selected"] = rank <= 6
    sure = 1 - rng.beta(1, 6, len(codes))
    adata.obs[f"{key}_label"] = pd.Categorical.from_codes(codes, classes)
    adata.obs[f"{key}_confidence"] = sure
    adata.obs[f"{key}_uncertain"] = sure < 0.6
    if assessed:
        adata.var[f"{key}_decision"] = pd.Categorical(
            np.select([rank <= 6, rank <= 9], ["confirmed", "tentative"], "unconfirmed")
        )
        adata.var[f"{key}_rank_low"] = np.maximum(1, rank - 2).astype(int)
        adata.var[f"{key}_rank_high"] = np.minimum(len(rank), 2 * rank + 3).astype(int)
    each = np.argsort(-scores, axis=1, kind="stable")
    names = np.array(adata.var_names, dtype=object)
    adata.uns[key] = {
        "params": {
            "groupby": f"{key}_label",
            "reference": "rest",
            "method": "consensus",
            "use_raw": False,
            "layer": None,
            "labels_key": labels_key,
            "unlabeled_category": None,
        },
        "names": _records(classes, names[each], "U50"),
        "scores": _records(classes, np.take_along_axis(scores, each, axis=1), "f4"),
    }


def _records(classes, rows, dtype):
    return np.rec.fromarrays(
        [row.astype(dtype) for row in rows], dtype=[(name, dtype) for name in classes]
    )
