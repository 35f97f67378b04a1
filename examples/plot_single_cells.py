"""
From a few annotated cells to markers and labels for all
========================================================

You know the type of a few cells, because you looked at them, sorted them or trust a few clear
ones, and you have thousands of others that nobody has named. semisift learns from both: it finds
the genes that separate the types, the markers of each type, and the likely type of every cell.

The cells here are 700 blood cells of a healthy donor (10x Genomics, 68k PBMC), a small part of
which comes with scanpy, so that nothing is downloaded. We know a type for every cell; we keep
five of each, hide all others, and compare at the end.
"""

# %%
# Counts
# ------
# Start from counts: molecules of each gene in each cell, whole numbers, as they come from Cell
# Ranger and the like. scanpy's copy of these cells holds them normalised (10,000 molecules a cell,
# then the logarithm), so we turn that back.

import tempfile
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import scanpy as sc
from scipy.sparse import csr_matrix
from sklearn.metrics import roc_auc_score

import semisift

reduced = sc.datasets.pbmc68k_reduced()
per_cell = reduced.obs["n_counts"].to_numpy()[:, None]
counts = np.expm1(reduced.raw.X.toarray()) * per_cell / 10_000
print(f"Farthest from a whole number: {np.abs(counts - counts.round()).max():.2f}")

adata = anndata.AnnData(
    csr_matrix(counts.round().astype(np.float32)),
    obs=reduced.obs[["bulk_labels"]].copy(),
    var=pd.DataFrame(index=reduced.raw.var_names.astype(str)),
    obsm={"X_umap": reduced.obsm["X_umap"]},
)
print(adata)

# %%
# The numbers are whole but for what rounding took, so these are the counts themselves. With data of
# your own this step is ``adata = sc.read_10x_h5("filtered_feature_bc_matrix.h5")``.
#
# A few labels
# ------------
# The ten published types have five kinds of T cells, which 765 genes hardly separate. We merge
# them, and keep five labels of each of the six types. A cell without a label has NaN; if
# yours says "Unknown" instead, pass ``unlabeled_category="Unknown"`` below.

truth = reduced.obs["bulk_labels"].astype(str)
truth = truth.where(~truth.str.match(r"CD4\+/|CD8\+"), "T cell")

shuffled = truth.sample(frac=1, random_state=0)
kept = shuffled.groupby(shuffled).head(5).index
adata.obs["cell_type"] = truth.where(truth.index.isin(kept)).astype("category")
print(adata.obs["cell_type"].value_counts(dropna=False))

# %%
# Rank the genes
# --------------
# One call does the work. It sees that these are counts and brings all cells to the same total, so
# that cells with more molecules do not dominate; it labels all cells, and ranks the genes by how
# well they separate the types.

semisift.tl.rank_markers(adata, "cell_type")
print(adata.uns["semisift"]["values"])
print(adata.var.sort_values("semisift_rank").head())

# %%
# How sure is that? ``tl.assess`` repeats the ranking with permuted genes, to see what chance alone
# reaches, and on halves of the cells, to see how far the ranks move.

semisift.tl.assess(adata)
for sentence in adata.uns["semisift"]["assessment"]["sentences"]:
    print(sentence)

# %%
# The best genes with their scores. Filled circles are significant, i.e. better than chance; the
# numbers are the ranks on halves of the cells, without the highest and lowest 5%.

ax = semisift.pl.ranking(adata, n_features=20, show=False)

# %%
# Markers of each type
# --------------------
# Large dark dots on the diagonal are what one hopes for: a gene that most cells of a type have, and
# that is highest there. CD79A and CD79B for B cells, CD3D for T cells, GNLY and NKG7 for NK cells
# are textbook markers, and five cells of each type were enough to find them.

ax = semisift.pl.markers(adata, n_markers=4, show=False)

# %%
# The same as a table, by scanpy's own function: the results have the form of
# ``sc.tl.rank_genes_groups``.

table = sc.get.rank_genes_groups_df(adata, None, key="semisift")
print(table.groupby("group", observed=True).head(2).to_string(index=False))

# %%
# Single cells, each type side by side, the surest cells first:

ax = semisift.pl.markers(adata, n_markers=3, kind="heatmap", show=False)

# %%
# A label for every cell
# ----------------------
# The labels are in ``adata.obs`` already, with their confidence. Rings are the cells whose type
# we gave, crosses those that could as well be of a second type.

# sphinx_gallery_thumbnail_number = 4
ax = semisift.pl.confidence(adata, show=False)

# %%
# Against the truth
# -----------------
# Now uncover the hidden labels. How many were found?

hidden = adata.obs["cell_type"].isna()
label = adata.obs["semisift_label"].astype(str)
is_right = (label == truth)[hidden]
print(f"{is_right.mean():.1%} of {hidden.sum()} hidden labels found")
sure = adata.obs["semisift_confidence"][hidden] > 0.95
print(f"{is_right[sure].mean():.1%} of the {sure.sum()} with a confidence above .95")
print(f"{is_right[~sure].mean():.1%} of the other {(~sure).sum()}")
print(pd.crosstab(truth[hidden].rename("published"), label[hidden].rename("found")))

# %%
# Most of what differs are cells that were published as dendritic and are found to be monocytes. Do
# they look like dendritic cells (FCER1A) or like monocytes (FCGR3A)? Mean of log(1 + molecules):

logs = adata.copy()
sc.pp.normalize_total(logs)
sc.pp.log1p(logs)
group = truth.where(truth.isin(["Dendritic", "CD14+ Monocyte"]))
group = group.mask((truth == "Dendritic") & (label == "CD14+ Monocyte"), "in question")
print(sc.get.obs_df(logs, ["FCER1A", "FCGR3A", "LYZ"]).groupby(group).mean().round(2))

# %%
# Like monocytes. The published types are themselves the work of a program, which compared each cell
# with bulk samples, and need not be the last word. But mind the other side, too: of the labels with
# a confidence above .95, fewer than 95% agree. A confidence shows how clear the case is given the
# labels and the model; it does not account for labels that are wrong, or types that nobody named.
#
# And the markers? Take the first ten genes of each type, and ask all 700 cells with their published
# types: how often has a cell of the type more of the gene than a cell of another type? 1 is always,
# .5 a toss. For comparison, scanpy's t-test on the 30 labelled cells, and on all cells with the
# types that we hid.

logs.obs["truth"] = truth.astype("category")


def best_ten(results):
    """Return the ten best genes of each type."""
    return {kind: list(results["names"][kind][:10]) for kind in results["names"].dtype.names}


def by_t_test(cells, groupby):
    """Return the ten best genes of each type by scanpy."""
    sc.tl.rank_genes_groups(cells, groupby, method="t-test")
    return best_ten(cells.uns["rank_genes_groups"])


def mean_auc(best):
    """Return how well the genes separate their type from the others, for each type."""
    return {
        kind: np.mean([roc_auc_score(truth == kind, logs.obs_vector(gene)) for gene in genes])
        for kind, genes in best.items()
    }


areas = pd.DataFrame(
    {
        "semisift, 30 labels": mean_auc(best_ten(adata.uns["semisift"])),
        "t-test, 30 labels": mean_auc(by_t_test(logs[~hidden.to_numpy()].copy(), "cell_type")),
        "t-test, all labels": mean_auc(by_t_test(logs, "truth")),
    }
)
print(areas.round(3))
print(areas.mean().round(3))

# %%
# The 30 labels, with the 670 cells that have none, find better genes than the 30 labels alone, and
# nearly as good ones as all 700 labels do.

# %%
# Keep it
# -------
# All results are in the AnnData and go into its file; the labelled table is a csv for everyone
# else.

folder = Path(tempfile.mkdtemp())
adata.write_h5ad(folder / "cells.h5ad")
columns = ["semisift_label", "semisift_confidence", "semisift_uncertain"]
adata.obs[columns].to_csv(folder / "labels.csv")
table.to_csv(folder / "markers.csv", index=False)
print(sorted(path.name for path in folder.iterdir()))
print(anndata.read_h5ad(folder / "cells.h5ad").obs[columns].head())
