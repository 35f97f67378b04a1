"""predict_labels: a label for every cell, from few labels and the shape of all cells."""

from typing import TYPE_CHECKING, Any

from semisift.base._docstrings import fill_slots
from semisift.tl._parameters import Asked
from semisift.tl._read import fit
from semisift.tl._write import KEY_OF_LABELS, check_key, check_target, keep

if TYPE_CHECKING:
    from anndata import AnnData


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
    key = KEY_OF_LABELS if key_added is None else key_added
    check_target(adata, copy)
    check_key(key, labels_key)
    asked = Asked(
        labels_key=labels_key,
        unlabeled_category=unlabeled_category,
        method="transductive",
        layer=layer,
        use_raw=use_raw,
        mask_var=mask_var,
        batch_key=batch_key,
        group_key=group_key,
        weight_key=weight_key,
        normalize=normalize,
        random_state=random_state,
        max_memory=max_memory,
        settings={} if class_prior is None else {"class_prior": class_prior},
    )
    fitted = fit(adata, asked)
    return keep(adata, key, fitted, copy=copy, probabilities=True)
