"""The functions on an AnnData: rank genes, find markers, label cells, assess a ranking."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from semisift.base._docstrings import fill_slots
from semisift.selection import ranking_result
from semisift.tl._parameters import Parameters
from semisift.tl._read import Fitted, fit
from semisift.tl._write import (
    KEY,
    KEY_OF_LABELS,
    KEY_OF_MARKERS,
    check_key,
    check_target,
    keep,
    open_for_writing,
    records_of,
    write_genes,
)
from semisift.utils._text import examples, quote
from semisift.utils._validation import check_flag, check_integer
from semisift.utils._warnings import quiet

if TYPE_CHECKING:
    from anndata import AnnData

    from semisift.selection import RankingResult


@fill_slots
def rank_markers(
    adata: "AnnData",
    labels_key: str,
    unlabeled_category: Any = None,
    *,
    method: str = "consensus",
    layer: str | None = None,
    use_raw: bool = False,
    mask_var: Any = None,
    batch_key: str | None = None,
    group_key: str | None = None,
    weight_key: str | None = None,
    normalize: bool | None = None,
    n_features: int | float | str | None = None,
    key_added: str | None = None,
    copy: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    max_memory: int | str | None = None,
    **params: Any,
) -> "AnnData | None":
    """Rank genes by how well they tell classes of cells, from few labelled cells and all others.

    The results are "semisift" in the table, or what `key_added` says.

    ================================= ==============================================================
    where                             what
    ================================= ==============================================================
    ``.var["semisift_rank"]``         1 is the best gene; NaN for genes that were not ranked
    ``.var["semisift_score"]``        higher is better; compare scores within one ranking only
    ``.var["semisift_selected"]``     whether the gene is among the `n_features` best
    ``.var["semisift_family"]``       the better gene that a correlated feature stands behind, else
    itself;
                                      where correlated features are looked for
    ``.var["semisift_decision"]``     "significant", "suggestive" or "not significant"; where
    `n_features`
                                      is a rule, and after `semisift.tl.assess`
    ``.obs["semisift_label"]``        the label of every cell: the given one, or what was found, as
                                      text; with this and the next three where the method labels
                                      cells, as "consensus", "transductive" and "ssfi" do
    ``.obs["semisift_confidence"]``   how likely that label is; 1 where it was given
    ``.obs["semisift_uncertain"]``    whether a second class comes within .2 of it, or the cell has
                                      no value but 0
    ``.obs["semisift_fits_none"]``    cells that fit none of the classes, where they are many
    ``.obs["semisift_given"]``        the given labels as text, and NaN; in place of these four
                                      where the method labels no cells
    ``.uns["semisift"]``              markers by class in the form of
                                      ``scanpy.tl.rank_genes_groups``, from the labels of all cells
                                      where the method labels cells: "names", "scores",
                                      "logfoldchanges", "pvals" and "pvals_adj" (NaN before
                                      `semisift.tl.assess`), "pts" and "pts_rest" (not where
                                      files do not take the name of a class, such as "NK/ILC")
    ``.uns["semisift"]["params"]``    what was asked for
    ``.uns["semisift"]["values"]``    what the values were taken for, and what was done to them
    ``.uns["semisift"]["labelled"]``  labelled cells of each class
    ``.uns["semisift"]["stability"]`` how far the labels that were found stay the same when a fifth
                                      of those given is left out: from 0, as by chance, to 1
    ``.uns["semisift"]["weights"]``   how much each part of a consensus counts
    ================================= ==============================================================

    So ``sc.get.rank_genes_groups_df(adata, None, key="semisift")`` is a table of the markers, and
    ``sc.pl.rank_genes_groups_dotplot(adata, key="semisift")`` shows them.

    Parameters
    ----------
    adata : AnnData
        Of cells and genes, in memory, backed by a file, lazy or with arrays of dask. Of a view, a
        copy is made, as scanpy does.
    {labels_key}
    method : str, default="consensus"
        One of ``semisift.METHODS``.
    {layer}
    {batch_key}
    {normalize}
    n_features : int, float or str, default=None
        How many genes to select: a number, a share, or a rule: "shadow", "stability" or
        "knockoff". None selects half.
    {key_added}
    {random_state (cells)}
    **params
        Further parameters of the method, such as ``n_members``, ``keep`` or ``exclude``.

    Returns
    -------
    None, or AnnData where `copy` is true

    See Also
    --------
    semisift.tl.assess : Tell how sure the ranking is.
    semisift.tl.markers : Markers by class alone.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import semisift
    >>> rng = np.random.default_rng(0)
    >>> kind = rng.integers(0, 2, 300)
    >>> means = np.full((300, 50), 0.3)
    >>> means[:, :3] += 2.0 * kind[:, None]
    >>> adata = anndata.AnnData(rng.poisson(means).astype(np.float32))
    >>> adata.var_names = [f"gene{j}" for j in range(50)]
    >>> adata.obs["cell_type"] = np.array(["T", "B"])[kind]
    >>> adata.obs.loc[adata.obs_names[20:], "cell_type"] = None
    >>> semisift.tl.rank_markers(adata, "cell_type")
    >>> adata.var["semisift_rank"].nsmallest(3).index.sort_values().tolist()
    ['gene0', 'gene1', 'gene2']
    >>> bool((adata.obs["semisift_label"] == np.array(["T", "B"])[kind]).mean() > 0.9)
    True
    """
    fitted, key = _fit(locals(), KEY)
    return keep(
        adata, key, fitted, copy=copy, ranks=True, **records_of(fitted.given, fitted.markers())
    )


@fill_slots
def markers(
    adata: "AnnData",
    labels_key: str,
    unlabeled_category: Any = None,
    *,
    method: str = "transductive",
    n_genes: int | None = None,
    layer: str | None = None,
    use_raw: bool = False,
    mask_var: Any = None,
    batch_key: str | None = None,
    group_key: str | None = None,
    weight_key: str | None = None,
    normalize: bool | None = None,
    key_added: str | None = None,
    copy: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    max_memory: int | str | None = None,
    **params: Any,
) -> "AnnData | None":
    """Find the genes of each class against all other cells, labelled and unlabelled.

    It is what `semisift.tl.rank_markers` does without its ranking for all classes: ``.var`` is
    left as it is, and the default method is the quickest of those that label all cells. Unlabelled
    cells count for each class by how likely it is for them, where
    ``scanpy.tl.rank_genes_groups`` counts all of them as the rest.

    ======================================== =======================================================
    where                                    what
    ======================================== =======================================================
    ``.uns["semisift_markers"]``             markers by class in the form of
                                             ``scanpy.tl.rank_genes_groups``, and how they were
                                             made: see `semisift.tl.rank_markers`
    ``.obs["semisift_markers_label"]``       the label of every cell, by which scanpy groups them;
                                             and ``_confidence``, ``_uncertain``, ``_fits_none``;
                                             or ``_given`` where the method labels no cells
    ======================================== =======================================================

    Parameters
    ----------
    adata : AnnData
        Of cells and genes; see `semisift.tl.rank_markers`.
    {labels_key}
    method : str, default="transductive"
        One of ``semisift.METHODS``. Those that label no cells make the markers from the labelled
        cells alone.
    n_genes : int, default=None
        Genes of each class; None is all of them.
    {layer}
    {batch_key}
    {normalize}
    {key_added}
    {random_state (cells)}
    **params
        Further parameters of the method.

    Returns
    -------
    None, or AnnData where `copy` is true

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import semisift
    >>> rng = np.random.default_rng(0)
    >>> kind = rng.integers(0, 2, 300)
    >>> means = np.full((300, 50), 0.3)
    >>> means[:, 0] += 2.0 * kind
    >>> means[:, 1] += 2.0 * (1 - kind)
    >>> adata = anndata.AnnData(rng.poisson(means).astype(np.float32))
    >>> adata.var_names = [f"gene{j}" for j in range(50)]
    >>> adata.obs["cell_type"] = np.array(["T", "B"])[kind]
    >>> adata.obs.loc[adata.obs_names[20:], "cell_type"] = None
    >>> semisift.tl.markers(adata, "cell_type", n_genes=1)
    >>> names = adata.uns["semisift_markers"]["names"]
    >>> names["B"].tolist(), names["T"].tolist()
    (['gene0'], ['gene1'])
    """
    if n_genes is not None:
        check_integer(n_genes, "n_genes")
    fitted, key = _fit(locals(), KEY_OF_MARKERS)
    records = records_of(fitted.given, fitted.markers(), n_genes)
    if not records:
        raise ValueError(
            f"method={method!r} finds no markers: it does not learn from labels, or it labels no "
            "cells, and there are not two classes of labelled ones."
        )
    return keep(adata, key, fitted, copy=copy, **records)


@fill_slots
def predict_labels(
    adata: "AnnData",
    labels_key: str,
    unlabeled_category: Any = None,
    *,
    layer: str | None = None,
    use_raw: bool = False,
    mask_var: Any = None,
    batch_key: str | None = None,
    group_key: str | None = None,
    weight_key: str | None = None,
    normalize: bool | None = None,
    class_prior: Any = None,
    key_added: str | None = None,
    copy: bool = False,
    random_state: int = 0,
    max_memory: int | str | None = None,
) -> "AnnData | None":
    """Label all cells, and tell how likely each label is.

    ========================================= ======================================================
    where                                     what
    ========================================= ======================================================
    ``.obs["semisift_cells_label"]``          the label of every cell: the given one, or the
                                              likeliest, as text
    ``.obs["semisift_cells_confidence"]``     how likely it is; 1 where it was given
    ``.obs["semisift_cells_uncertain"]``      whether a second class comes within .2 of it, or the
                                              cell has no value but 0
    ``.obs["semisift_cells_fits_none"]``      cells that fit none of the classes, where these are
                                              many
    ``.obsm["semisift_cells_probabilities"]`` how likely each class is for each cell: a table with a
                                              column for each class (an array, in the order of the
                                              categories of the labels, where files do not take the
                                              name of a class, such as "NK/ILC")
    ``.uns["semisift_cells"]``                what was asked for, what the values were taken for,
                                              the "stability" of the labels, how many of the given
                                              ones were "recovered" when they were left out
    ========================================= ======================================================

    It labels as `TransductiveScore` does, whose labels the rankings "transductive" and "consensus"
    start from: classes are normal distributions in the principal components of all cells.

    Parameters
    ----------
    adata : AnnData
        Of cells and genes; see `semisift.tl.rank_markers`.
    {labels_key}
    {layer}
    {batch_key}
    {normalize}
    class_prior : array-like or dict, default=None
        The shares of the classes among all cells, by label or in their sorted order. None
        estimates them.
    {key_added}
    {random_state (cells)}

    Returns
    -------
    None, or AnnData where `copy` is true

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import semisift
    >>> rng = np.random.default_rng(0)
    >>> kind = rng.integers(0, 2, 300)
    >>> means = np.full((300, 50), 0.3)
    >>> means[:, :5] += 2.0 * kind[:, None]
    >>> adata = anndata.AnnData(rng.poisson(means).astype(np.float32))
    >>> adata.obs["cell_type"] = np.array(["T", "B"])[kind]
    >>> adata.obs.loc[adata.obs_names[10:], "cell_type"] = "Unknown"
    >>> semisift.tl.predict_labels(adata, "cell_type", "Unknown")
    >>> bool((adata.obs["semisift_cells_label"] == np.array(["T", "B"])[kind]).mean() > 0.9)
    True
    >>> adata.obsm["semisift_cells_probabilities"].columns.tolist()
    ['B', 'T']
    """
    own = {} if class_prior is None else {"class_prior": class_prior}
    fitted, key = _fit(locals() | {"method": "transductive", "params": own}, KEY_OF_LABELS)
    return keep(adata, key, fitted, copy=copy, probabilities=True)


def assess(
    adata: "AnnData",
    key: str = KEY,
    *,
    n_resamples: int = 20,
    n_permutations: int = 39,
    fast: bool = True,
    n_jobs: int | None = None,
    max_memory: int | str | None = None,
    copy: bool = False,
) -> "AnnData | None":
    """Tell how sure a ranking of `semisift.tl.rank_markers` is.

    The ranking is made again, on halves of the cells and with labels that tell nothing; how, stands
    in ``FeatureRanker.assess`` and docs/cutoffs.md.

    ==================================== ===========================================================
    where                                what
    ==================================== ===========================================================
    ``.var["semisift_decision"]``        "significant", "suggestive" or "not significant" (not told
    from
                                         chance, which does not show that the gene is useless)
    ``.var["semisift_rank_low"]``        the lowest and the highest rank on halves of the cells,
    ``.var["semisift_rank_high"]``       without 5 % at either end
    ``.uns["semisift"]["assessment"]``   p-value of the ranking, stability of the best genes, how
                                         many are significant, and "sentences" that say so
    ``.uns["semisift"]["pvals"]``        the chance that any gene tells the class from the rest so
                                         well, being higher or lower, if the labels tell nothing;
                                         where the method is tested with permuted features of the
                                         genes, as "consensus" and "transductive" are. As this
                                         accounts for all genes, "pvals_adj" is the same
    ==================================== ===========================================================

    Parameters
    ----------
    adata : AnnData
        With the cells, genes, values and labels that were ranked.
    key : str, default="semisift"
        Name of the results.
    n_resamples : int, default=20
        Rankings of half of the cells; 0 leaves them out.
    n_permutations : int, default=39
        Rankings from labels that tell nothing; 0 leaves them out. At least 39 are needed to confirm
        a gene.
    fast : bool, default=True
        Repeat the ranking with smaller committees.
    n_jobs : int, default=None
        Threads; the result does not depend on it.
    max_memory : int or str, default=None
        As of `semisift.tl.rank_markers`.
    copy : bool, default=False
        Return a changed copy instead of changing `adata`.

    Returns
    -------
    None, or AnnData where `copy` is true

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import semisift
    >>> rng = np.random.default_rng(1)
    >>> kind = rng.integers(0, 2, 300)
    >>> means = np.full((300, 50), 0.3)
    >>> means[:, :3] += 3.0 * kind[:, None]
    >>> adata = anndata.AnnData(rng.poisson(means).astype(np.float32))
    >>> adata.var_names = [f"gene{j}" for j in range(50)]
    >>> adata.obs["cell_type"] = np.array(["T", "B"])[kind]
    >>> adata.obs.loc[adata.obs_names[20:], "cell_type"] = None
    >>> semisift.tl.rank_markers(adata, "cell_type", method="transductive")
    >>> semisift.tl.assess(adata)
    >>> adata.var_names[adata.var["semisift_decision"] == "significant"].tolist()
    ['gene0', 'gene1', 'gene2']
    """
    check_target(adata, copy)
    check_flag(fast, "fast")
    check_integer(n_resamples, "n_resamples", 0)
    check_integer(n_permutations, "n_permutations", 0)
    written = _results(adata, key)
    parameters = Parameters.again(written["params"], n_jobs=n_jobs, max_memory=max_memory)
    with quiet():  # it was said when the ranking was made
        fitted = fit(adata, parameters)
    given, ranker = fitted.given, fitted.ranker
    there = given.places >= 0
    ranks = np.asarray(adata.var[f"{key}_rank"], dtype=np.float64)[given.places[there]]
    if not np.array_equal(ranks, ranker.ranking_[there]):
        problem = "the values or labels are no longer those that were ranked"
        raise ValueError(f"key={quote(key)}: {problem}. Rank them again.")
    effort: dict[str, Any] = {"n_resamples": n_resamples, "n_permutations": n_permutations}
    ranker.assess(given.X, given.y, fast=fast, **effort, **given.of_rows)
    found, assessed = fitted.markers(), ranker.assessment_
    columns = {"decision": getattr(ranker, "decisions_", assessed.decisions)}
    if assessed.rank_interval is not None:
        columns["rank_low"], columns["rank_high"] = assessed.rank_interval.T.astype(np.float64)
    adata = open_for_writing(adata, copy)
    write_genes(adata, key, given, **columns)
    changed = {"assessment": _facts(ranking_result(ranker, given.names.tolist()))}
    if found is not None and found.p_values is not None:
        records = records_of(given, found)
        changed |= {name: records[name] for name in ("pvals", "pvals_adj")}
    adata.uns[key] = {**adata.uns[key], **changed}
    return adata if copy else None


def _fit(given: dict[str, Any], default_key: str) -> tuple[Fitted, str]:
    """Return what the arguments of a function ask for, fitted, and the name of its results."""
    key = default_key if given["key_added"] is None else given["key_added"]
    check_target(given["adata"], given["copy"])
    check_key(key, given["labels_key"])
    return fit(given["adata"], Parameters.of(given)), key


def _results(adata: Any, key: str) -> Any:
    """Return what was kept of a ranking, or say what is missing or has changed."""
    ranked = [
        name
        for name, value in adata.uns.items()
        if isinstance(value, Mapping)
        and "settings" in value.get("params", {})
        and f"{name}_rank" in adata.var.columns
    ]
    if not isinstance(key, str) or key not in ranked:
        there = f"Those that are there: {examples(ranked)}." if ranked else "There is none."
        problem = "names no ranking of semisift.tl.rank_markers in adata"
        raise ValueError(f"key={quote(key)} {problem}. {there}")
    shape = tuple(np.asarray(adata.uns[key]["shape"]).tolist())
    if shape != adata.shape:
        raise ValueError(
            f"key={quote(key)}: {shape[0]:,} cells and {shape[1]:,} genes were ranked, and adata "
            f"has {adata.n_obs:,} and {adata.n_vars:,}. Rank these first."
        )
    return adata.uns[key]


def _facts(outcome: "RankingResult") -> dict[str, Any]:
    """Return how sure the ranking is, in plain values and in the sentences of the report."""
    facts, trust = outcome.facts["assessment"], outcome.trust
    if outcome.counts:
        facts["decisions"] = outcome.counts
    sentences = []
    if trust is not None:
        sentences = [trust.summary, trust.test, trust.error, trust.stability, *trust.notes]
    known = {name: value for name, value in facts.items() if value is not None}
    return {**known, "sentences": np.array([each for each in sentences if each], dtype=object)}
