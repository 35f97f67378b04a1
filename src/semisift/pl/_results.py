"""What pictures take from an AnnData: results of `semisift.tl`, and the values of some genes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.colors import is_color_like, to_hex
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift._words import examples, quoted
from semisift.pl._picture import colours
from semisift.stored.rows import StoredRows
from semisift.stored.sources import find_source

MAKE_RESULTS = "semisift.tl.rank_features(adata, labels_key)"


def results_of(adata: Any, key: str, *others: str) -> Mapping[str, Any]:
    """Return what `semisift.tl` kept in ``.uns`` under a key, or else under others."""
    if not hasattr(adata, "uns") or not hasattr(adata, "var"):
        raise TypeError(f"adata must be an AnnData: got {type(adata).__name__}.")
    ours = {name: value for name, value in adata.uns.items() if _is_ours(value)}
    found = next((ours[name] for name in (key, *others) if name in ours), None)
    if found is None:
        there = f"There are {examples([*ours])}." if ours else "There are none under another."
        raise ValueError(
            f"key={quoted(key)}: adata.uns holds no results of semisift under this name. {there} "
            f"Make some: {MAKE_RESULTS}."
        )
    return found


def _is_ours(value: Any) -> bool:
    return isinstance(value, Mapping) and "labels_key" in value.get("params", {})


def column(frame: Any, name: str) -> NDArray[Any] | None:
    """Return a column of ``.var`` or ``.obs``; None where it is not there."""
    return np.asarray(frame[name]) if name in frame.columns else None


def texts(values: NDArray[Any]) -> NDArray[np.str_]:
    """Return names as text, those that are missing as empty text."""
    return np.array(["" if value != value else str(value) for value in values.tolist()])


def classes_of(labels: Any) -> list[str]:
    """Return the classes of a column of labels that has them: categories in their order."""
    found = set(texts(np.asarray(labels)).tolist()) - {""}
    categories = getattr(getattr(labels, "cat", None), "categories", sorted(found))
    return [str(name) for name in categories if str(name) in found]


def class_colours(adata: Any, labels_key: str, classes: Sequence[str]) -> list[str]:
    """Return a colour for each class: those that scanpy has for the labels, if they fit."""
    labels, kept = adata.obs.get(labels_key), adata.uns.get(f"{labels_key}_colors")
    categories = [str(name) for name in getattr(getattr(labels, "cat", None), "categories", ())]
    if kept is not None and len(kept) == len(categories) and set(classes) <= set(categories):
        own = dict(zip(categories, map(str, kept), strict=True))
        if all(is_color_like(own[name]) for name in classes):
            return [to_hex(own[name]) for name in classes]
    return colours(len(classes))


# --- values of genes ------------------------------------------------------------------------------


def expression(
    adata: Any, params: Mapping[str, Any], genes: Sequence[str], layer: str | None = None
) -> NDArray[np.float64]:
    """Return some genes of all cells, log-normalised where they are counts.

    Parameters
    ----------
    adata : AnnData
    params : mapping
        Of the results: they say whether the genes are in ``.raw``, in a layer or in ``.X``.
    genes : sequence of str
    layer : str, optional
        Take the values from this layer instead.

    Returns
    -------
    array of shape (n_obs, len(genes))
    """
    own = adata
    if layer is None and params.get("use_raw"):
        own = adata.raw
    layer = layer if layer is not None else params.get("layer")
    if own is None:
        raise ValueError("The results are of adata.raw, which is not there any more.")
    if own is adata and layer is not None and layer not in adata.layers:
        raise ValueError(
            f"layer={quoted(layer)}: adata.layers holds {examples(list(adata.layers)) or 'none'}."
        )
    matrix = own.X if own is not adata or layer is None else adata.layers[layer]
    first = {str(name): place for place, name in reversed([*enumerate(own.var_names)])}
    if lost := [gene for gene in genes if gene not in first]:
        raise ValueError(f"The results name genes that adata has no more: {examples(lost)}.")
    values, totals = _some_columns(matrix, np.array([first[gene] for gene in genes], dtype=np.intp))
    known = values[~np.isnan(values)]
    if params.get("normalize") is not False and (known >= 0).all() and (known % 1 == 0).all():
        usual = np.median(totals[totals > 0]) if (totals > 0).any() else 1.0
        factors = np.divide(usual, totals, out=np.zeros_like(totals), where=totals > 0)
        values = np.log1p(values * factors[:, None])
    return values


def _some_columns(
    matrix: Any, places: NDArray[np.integer]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return some columns and the totals of all rows; stored ones are read in blocks."""
    blocks: Iterable[Any]
    if find_source(matrix) is None:
        blocks = [matrix if issparse(matrix) else np.asarray(matrix)]
    else:
        blocks = (rows for _, rows in StoredRows(matrix).blocks("values of genes"))
    parts, totals = [], []
    for block in blocks:
        part = block[:, places]
        parts.append(np.asarray(part.toarray() if issparse(part) else part, dtype=np.float64))
        total = block.sum(axis=1, dtype=np.float64) if issparse(block) else np.nansum(block, axis=1)
        totals.append(np.asarray(total, dtype=np.float64).ravel())
    return np.concatenate(parts), np.concatenate(totals)
