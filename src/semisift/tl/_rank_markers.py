"""rank_markers: one ranking of genes for all classes, with markers by class."""

from typing import TYPE_CHECKING, Any

from semisift.base._docstrings import fill_slots
from semisift.tl._parameters import Asked
from semisift.tl._read import fit
from semisift.tl._write import KEY, check_key, check_target, keep, records_of

if TYPE_CHECKING:
    from anndata import AnnData


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
    ``.var["semisift_family"]``       the better gene that a near-copy stands behind, else itself;
                                      where near-copies are looked for
    ``.var["semisift_decision"]``     "confirmed", "tentative" or "unconfirmed"; where `n_features`
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
    key = KEY if key_added is None else key_added
    check_target(adata, copy)
    check_key(key, labels_key)
    asked = Asked(
        labels_key=labels_key,
        unlabeled_category=unlabeled_category,
        method=method,
        layer=layer,
        use_raw=use_raw,
        mask_var=mask_var,
        batch_key=batch_key,
        group_key=group_key,
        weight_key=weight_key,
        normalize=normalize,
        n_features=n_features,
        random_state=random_state,
        n_jobs=n_jobs,
        max_memory=max_memory,
        settings=params,
    )
    fitted = fit(adata, asked)
    found = fitted.markers()
    records = {} if found is None else records_of(fitted.given, found)
    return keep(adata, key, fitted, copy=copy, ranks=True, **records)
