"""What an AnnData gives: values of genes, labels of cells, and what is known of both."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift._design import parse_design
from semisift._labels import (
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
from semisift._warnings import warn
from semisift._words import examples, quoted
from semisift.io.limits import import_extra
from semisift.tl._asked import Asked
from semisift.tl._columns import MOST_SHOWN, column_of
from semisift.tl._values import take_values

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
    X : array, sparse array or StoredRows of shape (n_cells, p)
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
        raise ValueError(f"{parameter}={quoted(value)}: {error}") from error


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
        without a label is that of `semisift._labels`.
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
        raise ValueError(f"unlabeled_category must be one label: got {quoted(category)}.")
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
        f"unlabeled_category={quoted(meant)} is no value of adata.obs[{quoted(labels_key)}]."
        f" Its values are {examples(known, MOST_SHOWN)}."
    )


def _is_blank(value: Any) -> bool:
    return isinstance(value, str) and not value.strip()


def _same(value: Any, other: Any) -> bool:
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def _tell_none(values: list[Any], n_classes: int, n_cells: list[int], labels_key: str) -> None:
    """Say which labels mean that a cell has none, and ask where they may be one of two classes."""
    where = f"adata.obs[{quoted(labels_key)}]"
    asked = [v for v in values if _same(v, UNLABELLED) or (isinstance(v, str) and v in WRITTEN)]
    if asked and n_classes < 2:
        raise ValueError(
            f"{where} holds {quoted(asked[0])}, which may be a class or mean that a cell has no "
            f"label. Say unlabeled_category={quoted(asked[0])}, or give the class another name."
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
            f"unlabeled_category={quoted(named[0])}.",
            UserWarning,
        )
