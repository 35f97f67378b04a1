"""The values of genes: which table of an AnnData they stand in, what they are, what is done."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift._checks import as_array
from semisift._named import with_names
from semisift._warnings import warn
from semisift._words import count, examples, quoted
from semisift.graphs.kind import Kind, are_whole, kind_of_cells, takes_logarithms
from semisift.io.on_disk import few_rows
from semisift.math.counts import to_log_shares
from semisift.stored.rows import StoredRows
from semisift.stored.shares import as_log_shares, first_no_count
from semisift.stored.sources import SelectedColumns, find_source
from semisift.tl._asked import Asked
from semisift.tl._columns import check_name, column_of

NAMES: dict[Kind, str] = {
    "counts": "counts (whole numbers, mostly 0)",
    "logarithms": "logarithms of counts (fractions, mostly 0)",
    "measurements": "measurements",
}


class Taken(NamedTuple):
    """Values with the names of the genes, where these stand in ``.var``, and what was done."""

    X: Any
    names: NDArray[Any]
    places: NDArray[np.int64]
    words: str


class Look(NamedTuple):
    """What cells look like: all that are in memory, or some of those that are in a file."""

    kind: Kind
    are_whole: bool
    lowest: float


class Settled(NamedTuple):
    """Values of all genes, whether they are logarithms of counts, and what was done."""

    X: Any
    is_log: bool
    words: str


def take_values(adata: Any, asked: Asked) -> Taken:
    """Take the values of the genes that are to be ranked, counts as logarithms of shares."""
    X, var, where = _find_table(adata, asked.layer, asked.use_raw)
    every = _names_of_genes(var.index, where)
    places = np.arange(len(every))
    if asked.use_raw:
        places = np.asarray(adata.var_names.get_indexer(every), dtype=np.int64)
    chosen = _chosen(var, asked.mask_var, "raw.var" if asked.use_raw else "var")
    names, places = every[chosen], places[chosen]
    if not len(names) or not adata.n_obs:
        raise ValueError(f"{where} must have cells and genes: its shape is {tuple(X.shape)}.")
    source, selects = find_source(X, where), len(names) < len(every)
    if source is None:
        settled = _in_memory(X, (adata.obs_names, every), where, asked.normalize)
        part = settled.X[:, chosen] if selects else settled.X
        rows: Any = with_names(part, names, is_log=settled.is_log)
    else:
        about: dict[str, Any] = {"max_memory": asked.max_memory, "name": where}
        settled = _on_disk(StoredRows(source, feature_names=every, **about), where, asked.normalize)
        rows = settled.X
        if selects:
            part = SelectedColumns(rows.source, chosen)
            rows = StoredRows(part, feature_names=names, **about)
        rows.is_log = settled.is_log
    return Taken(rows, names, places, settled.words)


def _find_table(adata: Any, layer: str | None, use_raw: bool) -> tuple[Any, Any, str]:
    """Return the matrix, the table of its genes, and what messages call it."""
    if use_raw:
        if adata.raw is None:
            raise ValueError("use_raw=True: adata has no .raw.")
        return adata.raw.X, adata.raw.var, "adata.raw.X"
    if layer is not None:
        check_name(layer, adata.layers.keys(), "layer", "layer of adata")
        return adata.layers[layer], adata.var, f"adata.layers[{quoted(layer)}]"
    if adata.X is None:
        named = examples([*adata.layers.keys()])
        way_out = f"Name a layer: {named}." if named else "Put values into it."
        raise ValueError(f"adata.X is empty. {way_out}")
    return adata.X, adata.var, "adata.X"


def _names_of_genes(index: Any, where: str) -> NDArray[Any]:
    if not index.is_unique:
        twice = index[index.duplicated()].unique().tolist()
        raise ValueError(
            f"the genes of {where} must have names of their own, by which results are found again: "
            f"got {examples(twice)} more than once. Call adata.var_names_make_unique() first."
        )
    return np.array([str(name) for name in index], dtype=object)


def _chosen(var: Any, mask: Any, where: str) -> NDArray[np.intp]:
    """Return the numbers of the genes that a mask names."""
    if mask is None:
        return np.arange(len(var.index))
    said = f"mask_var={quoted(mask)}" if isinstance(mask, str) else "mask_var"
    if isinstance(mask, str):
        mask = column_of(var, mask, "mask_var", where)
    elif hasattr(mask, "iloc") and not mask.index.equals(var.index):
        raise ValueError(f"mask_var must have the genes of adata.{where} for an index.")
    values = as_array(mask)
    if values.shape != (len(var.index),) or values.dtype != bool:
        raise ValueError(
            f"{said} must say True or False of each of {count(len(var.index), 'gene')} of "
            f"adata.{where}: got values of type {values.dtype} and shape {values.shape}."
        )
    if not values.any():
        raise ValueError(f"{said} must leave a gene to rank: it is False for all of them.")
    return np.flatnonzero(values)


# --- what the values are --------------------------------------------------------------------------


def _in_memory(X: Any, names: tuple[Any, Any], where: str, normalize: bool | None) -> Settled:
    X = X.tocsr() if issparse(X) else np.asarray(X)
    look = _look(X)
    if not _is_to_do(look, where, normalize):
        return Settled(X, look.kind == "logarithms", _say_as_they_are(look, where))
    if (found := first_no_count(X)) is not None:
        cell, gene = names[0][found[0]], names[1][found[1]]
        raise ValueError(
            f"{where} holds {found[2]:g} (cell {quoted(cell)}, gene {quoted(gene)}), and counts "
            "are finite and 0 or more. Name the layer that holds counts, or say normalize=False."
        )
    shares, total = to_log_shares(X)
    return Settled(shares, True, _say_done(look, where, total))


def _on_disk(rows: StoredRows, where: str, normalize: bool | None) -> Settled:
    look = _look(few_rows(rows))
    if not _is_to_do(look, where, normalize):
        return Settled(rows, look.kind == "logarithms", _say_as_they_are(look, where))
    shares, total = as_log_shares(rows)
    return Settled(shares, True, _say_done(look, where, total))


def _look(X: Any) -> Look:
    lowest = np.fmin.reduce(X.data if issparse(X) else X, axis=None, initial=0.0)
    return Look(kind=kind_of_cells(X), are_whole=are_whole(X), lowest=float(lowest))


def _is_to_do(look: Look, where: str, normalize: bool | None) -> bool:
    """Return whether to take logarithms of shares, and warn of what may be meant otherwise."""
    may_be_counts = look.kind == "measurements" and look.are_whole and look.lowest >= 0
    if normalize is None and may_be_counts:
        warn(
            f"{where} holds whole numbers of 0 or more, of which more than half are not 0, and "
            "they are taken as they are. If they are counts, say normalize=True, so that cells "
            "with more of them do not decide; else normalize=False.",
            UserWarning,
        )
    return takes_logarithms(look.kind, normalize)


def _say_as_they_are(look: Look, where: str) -> str:
    scaled = ", some of them below 0, of which there are no fold changes" if look.lowest < 0 else ""
    return f"{where} holds {_name(look)}{scaled}: taken as they are."


def _say_done(look: Look, where: str, total: float) -> str:
    shown = f"{total:,.0f}" if total >= 100 else f"{total:.3g}"
    what = _name(look)
    if look.kind != "counts":
        what = "values that do not look like counts, and were said to be some"
    return (
        f"{where} holds {what}: taken as log(1 + x) of cells that were brought to the median total "
        f"of {shown}."
    )


def _name(look: Look) -> str:
    if look.kind == "counts" and not look.are_whole:
        return "large fractions, mostly 0, as of counts that were brought to one total"
    return NAMES[look.kind]


# --- cells without a value ------------------------------------------------------------------------


def empty_cells(X: Any) -> NDArray[np.bool_]:
    """Return the cells that have no value but 0; of those that stay in a file, in a pass."""
    if not isinstance(X, StoredRows):
        return _without_values(X)
    blocks = X.blocks("looking for cells without values", X.many_rows)
    return np.concatenate([_without_values(block) for _, block in blocks])


def _without_values(X: Any) -> NDArray[np.bool_]:
    if issparse(X):
        n_filled = np.concatenate([[0], np.cumsum(X.data != 0)])
        return np.asarray(np.diff(n_filled[X.indptr]) == 0)
    return np.asarray(~np.asarray(X).any(axis=1))
