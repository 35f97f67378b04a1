"""What pictures take from an AnnData: results of `semisift.tl`, and the values of some genes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.colors import is_color_like, to_hex
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift.out_of_core._matrix import OutOfCoreMatrix
from semisift.pl._figure import colours
from semisift.tl._parameters import Parameters
from semisift.tl._read import check_adata, read_labels, take_values
from semisift.utils._text import examples, quote
from semisift.utils._warnings import quiet

MAKE_RESULTS = "semisift.tl.rank_markers(adata, labels_key)"


def results_of(adata: Any, key: str | None, *usual: str) -> tuple[str, Mapping[str, Any]]:
    """Return what `semisift.tl` kept in ``.uns`` under a key, or the first of the usual ones."""
    check_adata(adata)
    ours = {name: value for name, value in adata.uns.items() if _is_ours(value)}
    wanted = usual if key is None else (key,)
    found = next((name for name in wanted if name in ours), None)
    if found is None:
        there = f"There are {examples([*ours])}." if ours else "There are none under another."
        raise ValueError(
            f"key={quote(wanted[0])}: adata.uns holds no results of semisift under this name. "
            f"{there} Make some: {MAKE_RESULTS}."
        )
    return found, ours[found]


def _is_ours(value: Any) -> bool:
    return isinstance(value, Mapping) and "labels_key" in value.get("params", {})


def column(frame: Any, name: str) -> NDArray[Any] | None:
    """Return a column of ``.var`` or ``.obs``; None where it is not there."""
    return np.asarray(frame[name]) if name in frame.columns else None


def given_labels(adata: Any, params: Mapping[str, Any]) -> NDArray[Any]:
    """Return the labels that were given; None for cells without one."""
    with quiet():  # it was said when the ranking was made
        return read_labels(adata, params["labels_key"], params.get("unlabeled_category"))[0]


def codes_of(labels: Any, classes: Sequence[str]) -> NDArray[np.intp]:
    """Return the number of the class of each cell; -1 for cells of none.

    Examples
    --------
    >>> codes_of(np.array(["B", None, "T", 3], dtype=object), ["T", "B"]).tolist()
    [1, -1, 0, -1]
    """
    import pandas as pd

    numbers, found = pd.factorize(labels)  # -1 for what is missing
    places = {name: place for place, name in enumerate(classes)}
    return np.array([*(places.get(str(name), -1) for name in found), -1], dtype=np.intp)[numbers]


def class_colours(adata: Any, labels_key: str, classes: Sequence[str]) -> list[str]:
    """Return a colour for each class: those that scanpy has for the labels, if they fit."""
    labels, kept = adata.obs.get(labels_key), adata.uns.get(f"{labels_key}_colors")
    categories = [str(name) for name in getattr(getattr(labels, "cat", None), "categories", ())]
    if kept is not None and len(kept) == len(categories) and set(classes) <= set(categories):
        own = dict(zip(categories, map(str, kept), strict=True))
        if all(is_color_like(own[name]) for name in classes):
            return [to_hex(own[name]) for name in classes]
    return colours(len(classes))


def expression(
    adata: Any, params: Mapping[str, Any], genes: Sequence[str], layer: str | None = None
) -> NDArray[np.float64]:
    """Return some genes of all cells as they were ranked, counts as logarithms of shares.

    Parameters
    ----------
    adata : AnnData
    params : mapping
        Of the results: they say which table the genes are in.
    genes : sequence of str
    layer : str, optional
        Take the values from this layer instead.

    Returns
    -------
    array of shape (n_obs, len(genes))
        Of rows that stay in a file no more is held.
    """
    own: dict[str, Any] = {"layer": layer}
    if layer is None:
        own = {name: params.get(name) for name in ("layer", "normalize")}
        own["use_raw"] = bool(params.get("use_raw"))
    parameters = Parameters(labels_key=params["labels_key"], **own)
    table = adata.raw if parameters.use_raw and adata.raw is not None else adata
    if lost := [gene for gene in genes if gene not in table.var_names]:
        raise ValueError(f"the results name genes that adata has no more: {examples(lost)}.")
    with quiet():  # it was said when the ranking was made
        taken = take_values(adata, replace(parameters, mask_var=table.var_names.isin(genes)))
    rows = taken.X
    blocks = (block for _, block in rows.blocks()) if isinstance(rows, OutOfCoreMatrix) else [rows]
    dense = [block.toarray() if issparse(block) else np.asarray(block) for block in blocks]
    place = {name: number for number, name in enumerate(taken.names)}
    return np.concatenate(dense).astype(np.float64)[:, [place[gene] for gene in genes]]
