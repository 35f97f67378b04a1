"""markers: the genes of each class, in the form of scanpy."""

from typing import TYPE_CHECKING, Any

from semisift.base._docstrings import fill_slots
from semisift.tl._parameters import Asked
from semisift.tl._read import fit
from semisift.tl._write import KEY_OF_MARKERS, check_key, check_target, keep, records_of
from semisift.utils._validation import check_integer

if TYPE_CHECKING:
    from anndata import AnnData


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
    key = KEY_OF_MARKERS if key_added is None else key_added
    check_target(adata, copy)
    check_key(key, labels_key)
    if n_genes is not None:
        check_integer(n_genes, "n_genes")
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
        random_state=random_state,
        n_jobs=n_jobs,
        max_memory=max_memory,
        settings=params,
    )
    fitted = fit(adata, asked)
    found = fitted.markers()
    if found is None:
        raise ValueError(
            f"method={method!r} finds no markers: it does not learn from labels, or it labels no "
            "cells, and there are not two classes of labelled ones."
        )
    return keep(adata, key, fitted, copy=copy, **records_of(fitted.given, found, n_genes))
