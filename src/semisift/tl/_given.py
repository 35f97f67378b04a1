"""What an AnnData gives: values of genes, labels of cells, and what is known of both."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift._design import parse_design
from semisift._labels import UNLABELLED, Labels, parse_labels
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
        A column of ``.obs``: categorical, text, whole numbers or booleans. Cells with NaN, None or
        empty text have no label.
    unlabeled_category : object, optional
        A label that stands for none, too; NaN does so in any case.

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
    values = [_label(value) for value in found.tolist()]
    categories = [_label(value) for value in getattr(column.dtype, "categories", [])]
    if _is_label(unlabeled_category):
        values = _without(values, categories, unlabeled_category, labels_key)
    else:
        _look_for_none(values, labels_key)
    labels = np.empty(len(values) + 1, dtype=object)
    labels[:-1] = values
    return labels[codes], {value: place for place, value in enumerate(categories)}


def _is_label(category: Any) -> bool:
    """Return whether a label is given, which NaN and None are not."""
    import pandas as pd

    if not pd.api.types.is_scalar(category):
        raise ValueError(f"unlabeled_category must be one label: got {quoted(category)}.")
    return not pd.isna(category)


def _label(value: Any) -> Any:
    """Return a label as Python's own; None for empty text."""
    if isinstance(value, str):
        return value if value.strip() else None
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return int(value) if is_number and float(value).is_integer() else value


def _without(values: list[Any], categories: list[Any], unwanted: Any, labels_key: str) -> list[Any]:
    """Return labels with None for the one that means none."""
    meant = _label(unwanted.item() if isinstance(unwanted, np.generic) else unwanted)
    there = [*values, *categories]
    if not any(_same(value, meant) for value in there):
        known = sorted({value for value in there if value is not None}, key=str)
        raise ValueError(
            f"unlabeled_category={quoted(unwanted)} is no value of adata.obs[{quoted(labels_key)}]."
            f" Its values are {examples(known, MOST_SHOWN)}."
        )
    return [None if _same(value, meant) else value for value in values]


def _same(value: Any, other: Any) -> bool:
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def _look_for_none(values: list[Any], labels_key: str) -> None:
    """Refuse -1 among numbers, and warn of words that may mean that a cell has no label."""
    where = f"adata.obs[{quoted(labels_key)}]"
    if any(_same(value, UNLABELLED) for value in values):
        raise ValueError(
            f"{where} holds -1, which may be a class or mean that a cell has no label. Say "
            "unlabeled_category=-1, or make it a class by giving the column as text."
        )
    named = [v for v in values if isinstance(v, str) and v.strip().casefold() in PERHAPS_NONE]
    if named:
        are = "is taken for a class" if len(named) == 1 else "are taken for classes"
        warn(
            f"{examples(named)} in {where} {are}. If cells of that name have no label, say "
            f"unlabeled_category={quoted(named[0])}.",
            UserWarning,
        )
