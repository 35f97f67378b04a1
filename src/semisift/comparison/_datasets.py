"""Data sets of a comparison."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from semisift.comparison._protocol import Protocol
from semisift.utils._labels import parse_labels
from semisift.utils._text import plural

# What a data set may have of its own; the rest of a protocol is common to all.
OF_SPLITS = (
    "train_size",
    "labels_per_class",
    "n_labelled",
    "labelled_share",
    "n_unlabelled",
    "n_test",
)


@dataclass(frozen=True, eq=False)
class ComparisonData:
    """A data set whose labels are known, so that rankings can be judged.

    Attributes
    ----------
    name : str
    X : array or csr_array of shape (n, p)
    y : int array of shape (n,)
        Codes of the classes; -1 for rows of unknown class, which always train.
    classes : list of str
    groups : int array of shape (n,), or None
        Rows of one group are never split between training and test.
    overrides : dict
        How this data set is split, where it differs from the protocol: fields of `Protocol`.
    """

    name: str
    X: Any
    y: NDArray[np.int64]
    classes: list[str]
    groups: NDArray[np.int64] | None = None
    overrides: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def build(
        cls,
        name: str,
        X: Any,
        y: Any,
        groups: Any = None,
        overrides: Mapping[str, Any] | None = None,
    ) -> "ComparisonData":
        """Check a data set.

        Parameters
        ----------
        name : str
        X : array, data frame or sparse matrix of shape (n, p)
        y : array-like of shape (n,)
            Labels; -1, None and NaN mark rows of unknown class.
        groups : array-like of shape (n,), optional
        overrides : mapping, optional
            Fields of `Protocol` that are different for this data set: some of `OF_SPLITS`.
        """
        if unknown := [field for field in overrides or {} if field not in OF_SPLITS]:
            raise ValueError(
                f"data set {name!r}: overrides may have {', '.join(OF_SPLITS)}: got {unknown[0]!r}."
            )
        try:
            X = _matrix(X)
            labels = parse_labels(y, X.shape[0])
            if labels.n_classes < 2:
                raise ValueError(
                    f"a comparison needs rows of at least two classes, found {labels.n_classes} "
                    "(-1, None and NaN mark rows of unknown class)."
                )
            groups = None if groups is None else _group_codes(groups, X.shape[0])
        except ValueError as error:
            raise ValueError(f"data set {name!r}: {error}") from error
        codes, classes = labels.codes.astype(np.int64), [str(label) for label in labels.classes]
        return cls(str(name), X, codes, classes, groups, dict(overrides or {}))

    def protocol(self, protocol: Protocol) -> Protocol:
        """Return the protocol with what is different for this data set."""
        return replace(protocol, **self.overrides)

    @property
    def about(self) -> dict[str, Any]:
        """What a store keeps of it."""
        about = {
            "n_rows": int(self.X.shape[0]),
            "n_features": int(self.X.shape[1]),
            "n_classes": len(self.classes),
            "sparse": bool(issparse(self.X)),
            "checksum": self._checksum(),
        }
        return {**about, "overrides": self.overrides} if self.overrides else about

    def _checksum(self) -> str:
        found = hashlib.sha256(repr(self.X.shape).encode())
        parts = (self.X.data, self.X.indices, self.X.indptr) if issparse(self.X) else (self.X,)
        for part in (*parts, self.y, self.groups):
            if part is not None:
                found.update(np.ascontiguousarray(part).data)
        return found.hexdigest()[:16]


def _matrix(X: Any) -> Any:
    """Return numbers in two dimensions; whatever else X holds is an error."""
    if np.ma.is_masked(X):
        raise ValueError("X must not have masked values: fill them first.")
    X = csr_array(X) if issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions: got {X.ndim}.")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X must hold numbers: got the type {X.dtype}.")
    bad = ~np.isfinite(X.data if issparse(X) else X)
    if bad.any():
        columns = X.indices[bad] if issparse(X) else np.nonzero(bad)[1]
        raise ValueError(
            f"X must be finite: {plural(len(np.unique(columns)), 'column')} hold NaN or infinity, "
            f"the first one is column {columns.min()}."
        )
    return X


def _group_codes(groups: Any, n_rows: int) -> NDArray[np.int64]:
    groups = np.asarray(groups, dtype=object)
    if groups.shape != (n_rows,):
        raise ValueError(
            f"groups must have one entry for each of {n_rows} rows: got the shape {groups.shape}."
        )
    # of pandas.NA it is not known whether it is equal to itself
    kinds = [None if type(group).__name__ == "NAType" else group for group in groups]
    if missing := [row for row, group in enumerate(kinds) if group is None or group != group]:
        raise ValueError(
            f"groups must be known for each row: {plural(len(missing), 'entry', 'entries')} "
            f"missing,"
            f" the first one of row {missing[0]}."
        )
    # not by numpy's own strings, in which every row takes the room of the longest name
    names = [str(group) for group in groups]
    code = {name: number for number, name in enumerate(sorted(set(names)))}
    return np.array([code[name] for name in names], dtype=np.int64)


def find_datasets(datasets: Any) -> list[ComparisonData]:
    """Return checked data sets.

    Parameters
    ----------
    datasets : mapping of str to (X, y) or (X, y, groups), or list of ComparisonData

    Returns
    -------
    list of ComparisonData
        With names that differ.
    """
    found: list[Any] = []
    if isinstance(datasets, Mapping):
        for name, parts in datasets.items():
            if not isinstance(parts, tuple | list) or len(parts) not in (2, 3):
                raise ValueError(f"data set {name!r} must be (X, y) or (X, y, groups).")
        found = [ComparisonData.build(name, *parts) for name, parts in datasets.items()]
    elif isinstance(datasets, Iterable):
        found = list(datasets)
    if not found or not all(isinstance(data, ComparisonData) for data in found):
        raise ValueError(
            "datasets must map names to (X, y) or (X, y, groups), or be a list of ComparisonData."
        )
    if twice := repeated(data.name for data in found):
        raise ValueError(f"data sets must have different names: {twice} came twice.")
    return found


def repeated(names: Iterable[str]) -> str:
    """Return those names that come more than once, for a message."""
    return ", ".join(sorted(name for name, times in Counter(names).items() if times > 1))
