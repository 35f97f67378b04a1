"""Columns of an AnnData by their names.

The values of genes: which table of an AnnData they stand in, what they are, what is done.

What an AnnData gives: values of genes, labels of cells, and what is known of both.

A ranker that was fitted to what an AnnData gives.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift.base._data_kind import Kind, are_whole, kind_of_cells, takes_logarithms
from semisift.base._sample_info import parse_design
from semisift.io._guards import import_extra
from semisift.io._on_disk import few_rows
from semisift.out_of_core._matrix import OutOfCoreMatrix
from semisift.out_of_core._sources import SelectedColumns, find_source
from semisift.preprocessing._counts import to_log_shares
from semisift.preprocessing._counts import first_no_count
from semisift.tl._parameters import Asked
from semisift.utils._labels import (
    UNLABELLED,
    WORDS,
    WRITTEN,
    Labels,
    as_class,
    is_unlabelled,
    parse_labels,
    tell_unlabelled,
    unlabelled_words,
)
from semisift.utils._named_array import with_names
from semisift.utils._text import examples, plural, quote
from semisift.utils._validation import as_array
from semisift.utils._warnings import warn

if TYPE_CHECKING:
    from semisift.base._ranker import FeatureRanker
    from semisift.selection._markers import Markers


MOST_SHOWN = 10


def column_of(frame: Any, key: Any, parameter: str, where: str) -> Any:
    """Return a column of ``.obs`` or ``.var`` as a Series of pandas, also of a lazy one."""
    check_name(key, frame.columns, parameter, f"column of adata.{where}")
    column = frame[key] if not hasattr(frame, "to_memory") else frame[[key]].to_memory()[key]
    if getattr(column, "ndim", 1) != 1:
        raise ValueError(
            f"{parameter}={quote(key)}: several columns of adata.{where} are called so."
        )
    return column


def check_name(wanted: Any, known: Iterable[Any], parameter: str, what: str) -> None:
    """Refuse a name that is not there, and name those that are near."""
    names = [str(name) for name in known]
    if isinstance(wanted, str) and wanted in names:
        return
    near = get_close_matches(str(wanted), names, 3)
    hint = f"Did you mean {' or '.join(map(quote, near))}?" if near else "There is none at all."
    if names and not near:
        hint = f"There are {examples(names, MOST_SHOWN)}."
    raise ValueError(f"{parameter}={quote(wanted)} is no {what}. {hint}")


# --- values ---------------------------------------------------------------------------------------


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
        settled = _on_disk(
            OutOfCoreMatrix(source, feature_names=every, **about), where, asked.normalize
        )
        rows = settled.X
        if selects:
            part = SelectedColumns(rows.source, chosen)
            rows = OutOfCoreMatrix(part, feature_names=names, **about)
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
        return adata.layers[layer], adata.var, f"adata.layers[{quote(layer)}]"
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
    said = f"mask_var={quote(mask)}" if isinstance(mask, str) else "mask_var"
    if isinstance(mask, str):
        mask = column_of(var, mask, "mask_var", where)
    elif hasattr(mask, "iloc") and not mask.index.equals(var.index):
        raise ValueError(f"mask_var must have the genes of adata.{where} for an index.")
    values = as_array(mask)
    if values.shape != (len(var.index),) or values.dtype != bool:
        raise ValueError(
            f"{said} must say True or False of each of {plural(len(var.index), 'gene')} of "
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
            f"{where} holds {found[2]:g} (cell {quote(cell)}, gene {quote(gene)}), and counts "
            "are finite and 0 or more. Name the layer that holds counts, or say normalize=False."
        )
    shares, total = to_log_shares(X)
    return Settled(shares, True, _say_done(look, where, total))


def _on_disk(rows: OutOfCoreMatrix, where: str, normalize: bool | None) -> Settled:
    look = _look(few_rows(rows))
    if not _is_to_do(look, where, normalize):
        return Settled(rows, look.kind == "logarithms", _say_as_they_are(look, where))
    shares, total = to_log_shares(rows)
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
    if not isinstance(X, OutOfCoreMatrix):
        return _without_values(X)
    blocks = X.blocks("looking for cells without values", X.many_rows)
    return np.concatenate([_without_values(block) for _, block in blocks])


def _without_values(X: Any) -> NDArray[np.bool_]:
    if issparse(X):
        n_filled = np.concatenate([[0], np.cumsum(X.data != 0)])
        return np.asarray(np.diff(n_filled[X.indptr]) == 0)
    return np.asarray(~np.asarray(X).any(axis=1))


# --- given ----------------------------------------------------------------------------------------


# Parameters that name columns of .obs, and what `fit` calls them.
OF_CELLS = {"batch_key": "batch", "group_key": "groups", "weight_key": "sample_weight"}

# Labels that may mean that a cell has none, in small letters.
PERHAPS_NONE = frozenset({"nan", "na", "none", "null", "?", "unknown", "unassigned", "unlabelled"})
PERHAPS_NONE |= {"unlabeled", "undefined", "not assigned", "<na>"}


@dataclass(frozen=True, eq=False)
class Given:
    """What is ranked, and what is known of it.

    Attributes
    ----------
    X : array, sparse array or OutOfCoreMatrix of shape (n_cells, p)
        It knows the names of the genes.
    y : object array of shape (n_cells,)
        Labels; None for unlabelled cells.
    labels : Labels
        The same, read.
    order : dict
        The place of each label in the order of the categories; empty for other columns.
    names : object array of shape (p,)
        The genes that are ranked.
    places : int array of shape (p,)
        Where they stand in ``.var``; -1 for genes of ``.raw`` that are not there.
    of_rows : dict
        Batches, groups and weights of the cells, as `fit` takes them.
    values : str
        What the values were taken for and what was done to them.
    """

    X: Any
    y: NDArray[Any]
    labels: Labels
    order: dict[Any, int]
    names: NDArray[Any]
    places: NDArray[np.int64]
    of_rows: dict[str, Any]
    values: str

    def in_order(self, classes: NDArray[Any]) -> list[int]:
        """Return the numbers of some classes in the order in which they are shown."""
        found = classes.tolist()
        return sorted(range(len(found)), key=lambda i: self.order.get(found[i], len(self.order)))


def check_adata(adata: Any) -> None:
    """Refuse what is no AnnData."""
    anndata = import_extra("anndata", "anndata")
    if not isinstance(adata, anndata.AnnData):
        raise TypeError(f"adata must be an AnnData: got {type(adata).__name__}.")


def read_given(adata: Any, asked: Asked) -> Given:
    """Take what was asked for from an AnnData, or say what is wrong with it."""
    y, order = read_labels(adata, asked.labels_key, asked.unlabeled_category)
    with naming("labels_key", asked.labels_key):
        labels = parse_labels(y, adata.n_obs)
    of_rows = {}
    for parameter, argument in OF_CELLS.items():
        if (key := getattr(asked, parameter)) is not None:
            of_rows[argument] = column_of(adata.obs, key, parameter, "obs").tolist()
            with naming(parameter, key):
                parse_design(adata.n_obs, **{argument: of_rows[argument]})
    taken = take_values(adata, asked)
    return Given(
        X=taken.X,
        y=y,
        labels=labels,
        order=order,
        names=taken.names,
        places=taken.places,
        of_rows=of_rows,
        values=taken.words,
    )


@contextmanager
def naming(parameter: str, value: Any) -> Iterator[None]:
    """Say which parameter holds what cannot be used."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{parameter}={quote(value)}: {error}") from error


# --- labels ---------------------------------------------------------------------------------------


def read_labels(
    adata: Any, labels_key: str, unlabeled_category: Any = None
) -> tuple[NDArray[Any], dict[Any, int]]:
    """Read the labels of the cells.

    Parameters
    ----------
    adata : AnnData
    labels_key : str
        A column of ``.obs``: categorical, text, whole numbers or booleans. The rule for cells
        without a label is that of `semisift.utils._labels`.
    unlabeled_category : object, optional
        A label that stands for none, too.

    Returns
    -------
    y : object array of shape (n_cells,)
        Text, whole numbers or booleans; None for unlabelled cells.
    order : dict
        The place of each label in the order of the categories; empty for other columns.
    """
    import pandas as pd

    column = column_of(adata.obs, labels_key, "labels_key", "obs")
    codes, found = pd.factorize(column)  # -1 for what is missing
    values = [_plain(value) for value in found.tolist()]
    categories = [_plain(value) for value in getattr(column.dtype, "categories", [])]
    n_cells = np.bincount(codes[codes >= 0], minlength=len(values)).tolist()
    if _is_label(unlabeled_category):
        meant = _plain(unlabeled_category)
        _check_there(meant, [*values, *categories], labels_key)
        words = unlabelled_words([str(meant)])
        is_none = [_same(value, meant) or is_unlabelled(value, words) for value in values]
    else:
        is_none = [is_unlabelled(value) for value in values]
        _tell_none(values, len(values) - sum(is_none), n_cells, labels_key)
    labels = np.empty(len(values) + 1, dtype=object)
    pairs = zip(values, is_none, strict=True)
    labels[:-1] = [None if none else as_class(value) for value, none in pairs]
    return labels[codes], {value: place for place, value in enumerate(categories)}


def _is_label(category: Any) -> bool:
    """Return whether a label is given, which NaN and None are not."""
    import pandas as pd

    if not pd.api.types.is_scalar(category):
        raise ValueError(f"unlabeled_category must be one label: got {quote(category)}.")
    return not pd.isna(category)


def _plain(value: Any) -> Any:
    """Return a label as Python's own, whole numbers as such."""
    value = value.item() if isinstance(value, np.generic) else value
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return int(value) if is_number and float(value).is_integer() else value


def _check_there(meant: Any, values: list[Any], labels_key: str) -> None:
    """Refuse a category that no cell and no list of categories has."""
    if any(_same(value, meant) for value in values):
        return
    known = sorted({value for value in values if not _is_blank(value)}, key=str)
    raise ValueError(
        f"unlabeled_category={quote(meant)} is no value of adata.obs[{quote(labels_key)}]."
        f" Its values are {examples(known, MOST_SHOWN)}."
    )


def _is_blank(value: Any) -> bool:
    return isinstance(value, str) and not value.strip()


def _same(value: Any, other: Any) -> bool:
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def _tell_none(values: list[Any], n_classes: int, n_cells: list[int], labels_key: str) -> None:
    """Say which labels mean that a cell has none, and ask where they may be one of two classes."""
    where = f"adata.obs[{quote(labels_key)}]"
    asked = [v for v in values if _same(v, UNLABELLED) or (isinstance(v, str) and v in WRITTEN)]
    if asked and n_classes < 2:
        raise ValueError(
            f"{where} holds {quote(asked[0])}, which may be a class or mean that a cell has no "
            f"label. Say unlabeled_category={quote(asked[0])}, or give the class another name."
        )
    told: Counter[str] = Counter()
    for value, n in zip(values, n_cells, strict=True):
        if isinstance(value, str) and value.strip() in WORDS - {""}:
            told[value.strip()] += n
    tell_unlabelled(told, where)
    texts = [value for value in values if isinstance(value, str) and value.strip() not in WORDS]
    named = [value for value in texts if value.strip().casefold() in PERHAPS_NONE]
    if named:
        are = "is taken for a class" if len(named) == 1 else "are taken for classes"
        warn(
            f"{examples(named)} in {where} {are}. If cells of that name have no label, say "
            f"unlabeled_category={quote(named[0])}.",
            UserWarning,
        )


# --- fitted ---------------------------------------------------------------------------------------


class Fitted(NamedTuple):
    """A ranker, and what it was fitted to."""

    asked: Asked
    given: Given
    ranker: "FeatureRanker"

    def markers(self) -> "Markers | None":
        """Return the markers by class; None where there is no rest to compare a class with."""
        if len(getattr(self.ranker, "classes_", ())) < 2:
            return None
        return self.ranker.markers(self.given.X, self.given.y, **self.given.of_rows)


def fit(adata: Any, asked: Asked) -> Fitted:
    """Read what was asked for, and rank."""
    given = read_given(adata, asked)
    wanted, n_genes = asked.n_features, len(given.names)
    if isinstance(wanted, Integral) and wanted > n_genes:
        raise ValueError(
            f"n_features must be at most {n_genes:,}, the number of genes that are ranked: got "
            f"{wanted:,}."
        )
    return Fitted(asked, given, asked.ranker().fit(given.X, given.y, **given.of_rows))
