"""The tools that rank genes for benchmarks/single_cell.py.

Each takes log-normalised values, labels (-1 for none), batches and a seed, and returns its order of
the genes for all classes (two of them where it can be read in two ways) and a score for each class
and gene.
"""

import contextlib
import io
import tempfile

import numpy as np
from scipy import sparse
from scipy.stats import rankdata

from semisift import METHODS


def semisift(method, with_batch=False):
    def rank(X, given, batch, seed):
        known = {"batch": batch} if with_batch else {}
        ranker = METHODS[method].cls(random_state=seed).fit(X, given, **known)
        return [np.argsort(ranker.ranking_)], ranker.markers(X, given, **known).scores

    return rank


def one_against_rest(scores_of, only_labelled=True):
    """Return a tool that ranks by the scores of one class against the rest."""

    def rank(X, given, batch, seed):
        import anndata
        import pandas

        own = given >= 0 if only_labelled else np.ones(len(given), dtype=bool)
        labels = pandas.Categorical([f"c{code}" if code >= 0 else None for code in given[own]])
        obs = pandas.DataFrame({"label": labels}, index=[f"r{row}" for row in range(own.sum())])
        if batch is not None:
            obs["batch"] = pandas.Categorical(batch[own].astype(str))
        names = [f"g{gene}" for gene in range(X.shape[1])]
        values = sparse.csr_matrix(X[own].astype(np.float32))
        cells = anndata.AnnData(values, obs=obs, var=pandas.DataFrame(index=names))
        classes = [f"c{code}" for code in np.unique(given[given >= 0])]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            scores = scores_of(cells, classes)
        return readings(scores), scores

    return rank


def readings(scores):
    """Return the genes by their best rank over the classes, by the scores and by their size."""
    orders = []
    for values in (scores, np.abs(scores)):
        values = np.nan_to_num(values, nan=-np.inf, posinf=np.inf, neginf=-np.inf)
        best_rank = rankdata(-values, method="min", axis=1).min(axis=0)
        orders.append(np.lexsort((-values.max(axis=0), best_rank)))
    return orders


def from_records(names, scores, classes):
    """Return the scores (class, gene) of scanpy's record arrays."""
    found = np.full((len(classes), len(names)), np.nan)
    for code, name in enumerate(classes):
        genes = [int(gene[1:]) for gene in names[name]]
        found[code, genes] = scores[name]
    return found


def scanpy_scores(method):
    def scores_of(cells, classes):
        import scanpy

        scanpy.tl.rank_genes_groups(cells, "label", method=method)
        found = cells.uns["rank_genes_groups"]
        if method == "logreg" and len(classes) == 2:  # one row, for the second class
            coefficients = from_records(found["names"], found["scores"], classes[:1])
            return np.concatenate([-coefficients, coefficients])
        return from_records(found["names"], found["scores"], classes)

    return scores_of


def cosg_scores(with_batch=False):
    def scores_of(cells, classes):
        import cosg

        fewest = int(cells.obs["label"].value_counts().min())  # of which 3 must have a gene
        cosg.cosg(
            cells,
            groupby="label",
            n_genes_user=cells.n_vars,
            expressed_min_num_cells_in_target_group=min(3, fewest),
            batch_key="batch" if with_batch else None,
        )
        found = cells.uns["cosg"]
        return from_records(found["names"], found["scores"], classes)

    return scores_of


def illico_scores(cells, classes):
    from illico import asymptotic_wilcoxon
    from loguru import logger

    logger.disable("illico")
    found = asymptotic_wilcoxon(cells, is_log1p=True, group_keys="label", n_threads=1)
    z_scores = found["z_score"].unstack().loc[classes, cells.var_names]
    return np.nan_to_num(z_scores.to_numpy())


def nsforest_scores(cells, classes):
    """Return 1 / place in the list of a class, that is its markers, then its binary genes."""
    import nsforest

    n_genes = cells.n_vars
    cells = nsforest.pp.prep_medians(cells, "label")
    cells = nsforest.pp.prep_binary_scores(cells, "label")
    with tempfile.TemporaryDirectory() as folder:
        chosen = {"n_jobs": 1, "n_binary_genes": 15, "output_folder": f"{folder}/"}
        try:
            found = nsforest.nsforesting.NSForest(cells, "label", **chosen)
        except ValueError:  # no gene is above its threshold
            found = nsforest.nsforesting.NSForest(cells, "label", gene_selection=None, **chosen)
    scores = np.zeros((len(classes), n_genes))
    for _, row in found.iterrows():
        genes = dict.fromkeys([*row["NSForest_markers"], *row["binary_genes"]])
        places = [int(gene[1:]) for gene in genes]
        scores[classes.index(row["clusterName"]), places] = 1 / np.arange(1, len(places) + 1)
    return scores


OURS = "consensus", "transductive", "ssfi"
SCANPY = {f"scanpy {test}": scanpy_scores(test) for test in ("t-test", "wilcoxon", "logreg")}
PEERS = SCANPY | {"illico": illico_scores, "cosg": cosg_scores(), "nsforest": nsforest_scores}
ALONE = {name: semisift(name) for name in OURS}
ALONE |= {name: one_against_rest(scores_of) for name, scores_of in PEERS.items()}
WITH_BATCH = {
    "consensus, batch given": semisift("consensus", with_batch=True),
    "cosg, batch given": one_against_rest(cosg_scores(with_batch=True)),
}
AS_CALLED = {
    f"{name}, as called": one_against_rest(scores_of, only_labelled=False)
    for name, scores_of in SCANPY.items()
    if "logreg" not in name  # which leaves cells without a label out by itself
}
CEILING = {f"{name}, all labelled": ALONE[name] for name in SCANPY}
TOOLS = ALONE | WITH_BATCH | AS_CALLED | CEILING
