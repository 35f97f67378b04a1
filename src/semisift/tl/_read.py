"""What an AnnData gives, values of genes and labels of cells, and a ranker fitted to it."""

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

from semisift.base._data_kind import Kind, are_integers, kind_of_cells, takes_logarithms
from semisift.base._sample_info import parse_design
from semisift.io._guards import import_extra
from semisift.io._on_disk import few_rows
from semisift.out_of_core._matrix import OutOfCoreMatrix
from semisift.out_of_core._sources import DerivedSource, find_source
from semisift.preprocessing._counts import first_no_count, format_total, to_log_shares
from semisift.tl._parameters import Parameters
from semisift.utils._labels import (
    UNLABELLED,
    WORDS,
    WRITTEN,
    Labels,
    as_class,
    is_unlabelled,
    parse_labels,
    unlabelled_words,
    warn_unlabelled_text,
)
from semisift.utils._named_array import with_names
from semisift.utils._text import examples, plural, quote
from semisift.utils._validation import as_array
from semisift.utils._warnings import warn

if TYPE_CHECKING:
    from semisift.base._ranker import FeatureRanker
    from semisift.selection._markers import Markers


MAX_SHOWN = 10


def column_of(frame: Any, key: Any, parameter: str, where: str) -> Any:
    """Return a column of ``.obs`` or ``.var`` as a Series of pandas, also of a lazy one."""
    check_name(key, frame.columns, parameter, f"column of adata.{where}")
    column = frame[key] if not hasattr(frame, "to_memory") else frame[[key]].to_memory()[key]
    if getattr(column, "ndim", 1) != 1:
        problem = f"several columns of adata.{where} are called so"
        raise ValueError(f"{parameter}={quote(key)}: {problem}.")
    return column


def check_name(wanted: Any, known: Iterable[Any], parameter: str, what: str) -> None:
    """Refuse a name that is not there, and name those that are near."""
    names = [str(name) for name in known]
    if isinstance(wanted, str) and wanted in names:
        return
    near = get_close_matches(str(wanted), names, 3)
    hint = f"Did you mean {' or '.join(map(quote, near))}?" if near else "There is none at all."
    if names and not near:
        hint = f"There are {examples(names, MAX_SHOWN)}."
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


def take_values(adata: Any, parameters: Parameters) -> Taken:
    """Take the values of the genes that are to be ranked, counts as logarithms of shares."""
    X, var, where = _find_table(adata, parameters.layer, parameters.use_raw)
    every = _names_of_genes(var.index, where)
    places = np.arange(len(every))
    if parameters.use_raw:
        places = np.asarray(adata.var_names.get_indexer(every), dtype=np.int64)
    chosen = _chosen(var, parameters.mask_var, "raw.var" if parameters.use_raw else "var")
    names, places = every[chosen], places[chosen]
    if not len(names) or not adata.n_obs:
        raise ValueError(f"{where} must have cells and genes: its shape is {tuple(X.shape)}.")
    source, selects = find_source(X, where), len(names) < len(every)
    if source is None:
        X, is_log, words = _scale(
            X.tocsr() if issparse(X) else np.asarray(X),
            where,
            parameters.normalize,
            adata.obs_names,
            every,
        )
        rows: Any = with_names(X[:, chosen] if selects else X, names, is_log=is_log)
    else:
        about: dict[str, Any] = {"max_memory": parameters.max_memory, "name": where}
        rows = OutOfCoreMatrix(source, feature_names=every, **about)
        rows, is_log, words = _scale(rows, where, parameters.normalize)
        if selects:
            part = DerivedSource(rows.source, columns=chosen)
            rows = OutOfCoreMatrix(part, feature_names=names, **about)
        rows.is_log = is_log
    return Taken(rows, names, places, words)


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
        cure = "Call adata.var_names_make_unique() first"
        raise ValueError(f"{where} has several genes called {examples(twice)}. {cure}.")
    return np.array([str(name) for name in index], dtype=object)


def _chosen(var: Any, mask: Any, where: str) -> NDArray[np.intp]:
    """Return the numbers of the genes that a mask names."""
    if mask is None:
        return np.arange(len(var.index))
    option = f"mask_var={quote(mask)}" if isinstance(mask, str) else "mask_var"
    if isinstance(mask, str):
        mask = column_of(var, mask, "mask_var", where)
    elif hasattr(mask, "iloc") and not mask.index.equals(var.index):
        raise ValueError(f"mask_var must have the genes of adata.{where} for an index.")
    values = as_array(mask)
    if values.shape != (len(var.index),) or values.dtype != bool:
        genes = f"{plural(len(var.index), 'gene')} of adata.{where}"
        got = f"got values of type {values.dtype} and shape {values.shape}"
        raise ValueError(f"{option} must say True or False of each of {genes}: {got}.")
    if not values.any():
        raise ValueError(f"{option} must leave a gene to rank: it is False for all of them.")
    return np.flatnonzero(values)


# --- what the values are --------------------------------------------------------------------------


def _scale(
    X: Any, where: str, normalize: bool | None, cells: Any = None, genes: Any = None
) -> tuple[Any, bool, str]:
    """Return values, counts as logarithms of shares, whether they are logarithms, what was done.

    Rows in a file are judged by some of them; `cells` and `genes` are the names of others.
    """
    some = few_rows(X)
    kind, is_integer = kind_of_cells(some), are_integers(some)
    lowest = np.fmin.reduce(some.data if issparse(some) else some, axis=None, initial=0.0)
    if normalize is None and kind == "measurements" and is_integer and lowest >= 0:
        warn(
            f"{where} holds whole numbers of 0 or more, of which more than half are not 0, and "
            "they are taken as they are. If they are counts, say normalize=True, so that cells "
            "with more of them do not decide; else normalize=False.",
            UserWarning,
        )
    name = NAMES[kind]
    if kind == "counts" and not is_integer:
        name = "large fractions, mostly 0, as of counts that were brought to one total"
    if not takes_logarithms(kind, normalize):
        below = ", some of them below 0, of which there are no fold changes" * bool(lowest < 0)
        return X, kind == "logarithms", f"{where} holds {name}{below}: taken as they are."
    if kind != "counts":
        name = "values that do not look like counts, and were said to be some"
    if cells is not None and (found := first_no_count(X)) is not None:
        cell, gene = quote(cells[found[0]]), quote(genes[found[1]])
        problem = f"{where} holds {found[2]:g} (cell {cell}, gene {gene})"
        cure = "Name the layer that holds counts, or pass normalize=False"
        raise ValueError(f"{problem}, and counts are finite and 0 or more. {cure}.")
    shares, total = to_log_shares(X)
    brought = f"cells that were brought to the median total of {format_total(total)}"
    return shares, True, f"{where} holds {name}: taken as log(1 + x) of {brought}."


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
        places = [self.order.get(name, len(self.order)) for name in classes.tolist()]
        return sorted(range(len(places)), key=places.__getitem__)


def check_adata(adata: Any) -> None:
    """Refuse what is no AnnData."""
    anndata = import_extra("anndata", "anndata")
    if not isinstance(adata, anndata.AnnData):
        raise TypeError(f"adata must be an AnnData: got {type(adata).__name__}.")


def read_given(adata: Any, parameters: Parameters) -> Given:
    """Take what was asked for from an AnnData, or say what is wrong with it."""
    y, order = read_labels(adata, parameters.labels_key, parameters.unlabeled_category)
    with _error_context("labels_key", parameters.labels_key):
        labels = parse_labels(y, adata.n_obs)
    of_rows = {}
    for parameter, argument in OF_CELLS.items():
        if (key := getattr(parameters, parameter)) is not None:
            of_rows[argument] = column_of(adata.obs, key, parameter, "obs").tolist()
            with _error_context(parameter, key):
                parse_design(adata.n_obs, **{argument: of_rows[argument]})
    X, names, places, words = take_values(adata, parameters)
    return Given(X, y, labels, order, names, places, of_rows, words)


@contextmanager
def _error_context(parameter: str, value: Any) -> Iterator[None]:
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
        A label that represents none, too.

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
        every = {*values, *categories}
        if not any(_same(value, meant) for value in every):
            known = sorted((value for value in every if str(value).strip()), key=str)
            problem = f"unlabeled_category={quote(meant)} is no value of adata.obs"
            values_are = f"Its values are {examples(known, MAX_SHOWN)}"
            raise ValueError(f"{problem}[{quote(labels_key)}]. {values_are}.")
        words = unlabelled_words([str(meant)])
        is_none = [_same(value, meant) or is_unlabelled(value, words) for value in values]
    else:
        is_none = [is_unlabelled(value) for value in values]
        _warn_of_none(values, len(values) - sum(is_none), n_cells, labels_key)
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


def _same(value: Any, other: Any) -> bool:
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def _warn_of_none(values: list[Any], n_classes: int, n_cells: list[int], labels_key: str) -> None:
    """Warn of labels that mean an unlabelled cell, and ask where they may be one of two classes."""
    where = f"adata.obs[{quote(labels_key)}]"
    texts = {value: n for value, n in zip(values, n_cells, strict=True) if isinstance(value, str)}
    unclear = [value for value in values if _same(value, UNLABELLED) or value in WRITTEN]
    if unclear and n_classes < 2:
        raise ValueError(
            f"{where} holds {quote(unclear[0])}, which may be a class or mean that a cell has no "
            f"label. Say unlabeled_category={quote(unclear[0])}, or give the class another name."
        )
    unlabelled_text: Counter[str] = Counter()
    for value, n in texts.items():
        unlabelled_text.update({value.strip(): n} if value.strip() in WORDS - {""} else {})
    warn_unlabelled_text(unlabelled_text, where)
    named = [value for value in texts if value.strip().casefold() in PERHAPS_NONE]
    if named := [value for value in named if value.strip() not in WORDS]:
        are = "is taken for a class" if len(named) == 1 else "are taken for classes"
        warn(
            f"{examples(named)} in {where} {are}. If cells of that name have no label, pass "
            f"unlabeled_category={quote(named[0])}.",
            UserWarning,
        )


# --- fitted ---------------------------------------------------------------------------------------


class Fitted(NamedTuple):
    """A ranker, and what it was fitted to."""

    parameters: Parameters
    given: Given
    ranker: "FeatureRanker"

    def markers(self) -> "Markers | None":
        """Return the markers by class; None where there is no rest to compare a class with."""
        if len(getattr(self.ranker, "classes_", ())) < 2:
            return None
        return self.ranker.markers(self.given.X, self.given.y, **self.given.of_rows)


def fit(adata: Any, parameters: Parameters) -> Fitted:
    """Read what was asked for, and rank."""
    given = read_given(adata, parameters)
    wanted, n_genes = parameters.n_features, len(given.names)
    if isinstance(wanted, Integral) and wanted > n_genes:
        rule = f"at most {n_genes:,}, the number of genes that are ranked"
        raise ValueError(f"n_features must be {rule}: got {wanted:,}.")
    return Fitted(parameters, given, parameters.ranker().fit(given.X, given.y, **given.of_rows))
