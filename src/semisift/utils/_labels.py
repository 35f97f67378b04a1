"""Which rows are labelled and with what, and the pairs that follow from it.

The rule for unlabelled rows is the same everywhere: in `fit`, splitters, comparisons, `read_table`,
functions on an AnnData and on the page of ``semisift explore``. A row is unlabelled where its label
is

- a number: -1 or NaN;
- nothing: None, ``pandas.NA``, ``pandas.NaT``, or masked;
- text that, without the spaces around it, is empty or spelled as one of `MISSING` (what files have
  for a missing value) or of `WRITTEN` (what Python writes for the numbers and the nothing above,
  as ``y.astype(str)`` does). Capital letters count.

What else is text is a class. Where text is unlabelled by its spelling, `fit` warns with an
`UnlabelledTextWarning`. Files and an AnnData can name the text that marks unlabelled rows: that of
`WRITTEN` which is not named is then a class, a `ClassName`. Where it is not named, and less than
two classes are left without it, they ask what it means.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, issparse
from scipy.sparse.csgraph import connected_components
from sklearn.exceptions import DataConversionWarning

from semisift.exceptions import UnlabelledTextWarning
from semisift.utils._text import join, plural
from semisift.utils._validation import as_array
from semisift.utils._warnings import warn

UNLABELLED = -1

# Cells that hold no value: a missing value in a feature, an unlabelled row in a label column.
MISSING = ("", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "?")

# How an unlabelled row is written as text; classes may be called so as well.
WRITTEN = ("-1", "-1.0", "None", "<NA>", "NaT")

MAX_SHOWN = 5

# A longer label is no name of a class, but a text in the wrong column.
MAX_LABEL = 1000

# Names of classes that are longer stay Python's: in numpy's own strings every row would take the
# room of the longest.
WIDEST_LABEL = 100

# From here on floats leave whole numbers out.
FIRST_INEXACT = 2**53


class ClassName(str):
    """The name of a class, also where its spelling would mean an unlabelled row."""

    __slots__ = ()


def as_class(label: Any) -> Any:
    """Return a label that nobody takes as unlabelled later, whatever its spelling."""
    return ClassName(label) if isinstance(label, str) and is_unlabelled(label) else label


def unlabelled_words(named: Sequence[str] = ()) -> frozenset[str]:
    """Return the text that marks unlabelled rows, of which a user may name some.

    Examples
    --------
    >>> sorted(unlabelled_words() - unlabelled_words(["unknown", "-1"]))
    ['-1.0', '<NA>', 'NaT', 'None']
    """
    return frozenset((*MISSING, *(named or WRITTEN)))


WORDS = unlabelled_words()


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of all rows as codes.

    Attributes
    ----------
    codes : int32 array of shape (n_rows,)
        Index into `classes`, or -1 for an unlabelled row.
    classes : array of shape (n_classes,)
        The distinct labels in sorted order, in their own type.
    rest : int or None
        The class that nobody labelled, which represents all but the other one, if there is such.
    """

    codes: NDArray[np.int32]
    classes: NDArray[Any]
    rest: int | None = None

    @cached_property
    def labelled(self) -> NDArray[np.int32]:
        """Row numbers of the labelled rows, ascending."""
        return np.flatnonzero(self.codes != UNLABELLED).astype(np.int32)

    @cached_property
    def unlabelled(self) -> NDArray[np.int32]:
        """Row numbers of the unlabelled rows, ascending."""
        return np.flatnonzero(self.codes == UNLABELLED).astype(np.int32)

    @property
    def n_classes(self) -> int:
        """Number of distinct labels."""
        return len(self.classes)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Number of labelled rows of each class."""
        return np.bincount(self.codes[self.labelled], minlength=self.n_classes)


def parse_labels(y: Any, n_rows: int, words: frozenset[str] = WORDS) -> Labels:
    """Read the labels of `n_rows` rows.

    Parameters
    ----------
    y : array-like of shape (n_rows,), Labels or None
        Labels; the rule for unlabelled rows is that of this module. None as a whole means that no
        row is labelled, and labels that were read already are returned as they are.
    n_rows : int
        Number of rows of X.
    words : frozenset of str
        Text that marks unlabelled rows.

    Returns
    -------
    Labels

    Raises
    ------
    ValueError
        If `y` is not one discrete label per row.

    Examples
    --------
    >>> labels = parse_labels(["b", None, "a", "b"], 4)
    >>> labels.codes, labels.classes
    (array([ 1, -1,  0,  1], dtype=int32), array(['a', 'b'], dtype='<U1'))
    """
    if isinstance(y, Labels):
        return y
    codes = np.full(n_rows, UNLABELLED, dtype=np.int32)
    if y is None:
        return Labels(codes, np.empty(0, dtype=np.int64))
    found, numbers = _distinct(y)
    if (n_labels := len(found if numbers is None else numbers)) != n_rows:
        raise ValueError(
            f"y must have one label for each row of X: got {n_labels} labels for {n_rows} rows."
        )
    known, values = _split_known(found, words)
    if numbers is not None:
        n_each, text = np.bincount(numbers, minlength=len(found)).tolist(), Counter[str]()
        for place in np.flatnonzero(~known).tolist():
            if isinstance(value := found[place], str | bytes):
                text[_text(value)] += n_each[place]
        warn_unlabelled_text(text, "y")
    own = np.full(len(found), UNLABELLED, dtype=np.int32)
    classes, own[known] = _classes(values)
    return Labels(own if numbers is None else own[numbers], classes)


def _distinct(y: Any) -> tuple[NDArray[Any], NDArray[np.intp] | None]:
    """Return distinct labels, equal ones of two types apart, and the number of each row's label.

    Numbers are returned as they are, with None.
    """
    categorical = getattr(y, "cat", y)  # of pandas: a Series, or the values themselves
    if hasattr(categorical, "codes") and hasattr(categorical, "categories"):
        present, numbers = np.unique(categorical.codes, return_inverse=True)  # -1 is missing
        return np.array([*categorical.categories, None], dtype=object)[present], numbers
    column = _as_column(y)
    if column.dtype.kind in "US":
        return np.unique(column, return_inverse=True)
    if column.dtype.kind not in "OT":
        return column, None
    values = column.tolist()
    try:
        number = {key: code for code, key in enumerate(dict.fromkeys(_keys(values)))}
    except TypeError:  # of a value that cannot be hashed, which is no label
        for value in values:
            _ = is_unlabelled(value) or _kind(value)
        raise
    found = np.fromiter((value for _, value in number), dtype=object, count=len(number))
    return found, np.fromiter(map(number.__getitem__, _keys(values)), np.intp, len(values))


def _keys(values: list[Any]) -> Iterator[tuple[type, Any]]:
    return zip(map(type, values), values, strict=True)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of rows that belong together, and pairs that do not.

    Attributes
    ----------
    must_link, cannot_link : int32 arrays of shape (k, 2)
        Row numbers, the smaller one first.
    """

    must_link: NDArray[np.int32]
    cannot_link: NDArray[np.int32]

    def __bool__(self) -> bool:
        return len(self.must_link) + len(self.cannot_link) > 0

    def moved(self, place: NDArray[np.integer]) -> "Pairs":
        """Return the pairs by the new places of their rows; those with a row at -1 are left out."""
        moved = [place[part].astype(np.int32) for part in (self.must_link, self.cannot_link)]
        return Pairs(*(np.sort(part[(part >= 0).all(axis=1)], axis=1) for part in moved))


def parse_pairs(
    must_link: Any, cannot_link: Any, labels: Labels, show: Callable[[int], str] = str
) -> Pairs:
    """Validate the pairs of a user against each other and against the labels.

    Parameters
    ----------
    must_link, cannot_link : array-like of shape (k, 2) or None
        Row numbers.
    labels : Labels
    show : callable
        How messages call a row, by its number.

    Returns
    -------
    Pairs
        Each pair once.

    Raises
    ------
    ValueError
        Where pairs contradict each other, by themselves or through a chain of pairs, or the labels.
    """
    n_rows = len(labels.codes)
    must = np.unique(check_pairs(must_link, n_rows, "must_link"), axis=0)
    cannot = np.unique(check_pairs(cannot_link, n_rows, "cannot_link"), axis=0)
    linked = coo_array((np.ones(len(must)), (must[:, 0], must[:, 1])), shape=(n_rows, n_rows))
    _, group = connected_components(linked, directed=False)
    together = group[cannot[:, 0]] == group[cannot[:, 1]]
    if together.any():
        raise ValueError(
            "must_link and cannot_link contradict each other: cannot_link has the pairs "
            f"{_format_pairs(cannot[together], show)}, which must_link joins, directly or by a "
            "chain of pairs."
        )
    # what a chain of must-links and the labels say about the same rows
    known = labels.labelled
    first = np.full(n_rows, UNLABELLED, dtype=np.int32)
    first[group[known[::-1]]] = labels.codes[known[::-1]]
    clash = known[first[group[known]] != labels.codes[known]]
    if len(clash):
        row = int(clash[0])
        other = int(known[(group[known] == group[row])][0])
        one, two = labels.classes[labels.codes[[other, row]]]
        raise ValueError(
            f"must_link contradicts the labels: it joins the rows {show(other)} and {show(row)}, "
            f"directly or by a chain of pairs, whose labels are {one} and {two}."
        )
    code = first[group]
    same = (code[cannot[:, 0]] == code[cannot[:, 1]]) & (code[cannot[:, 0]] != UNLABELLED)
    if same.any():
        raise ValueError(
            "cannot_link contradicts the labels: the rows of the pairs "
            f"{_format_pairs(cannot[same], show)} have the same label, of their own or through "
            "must_link."
        )
    return Pairs(must, cannot)


def _format_pairs(pairs: NDArray[np.int32], show: Callable[[int], str]) -> str:
    shown = [f"({show(first)}, {show(second)})" for first, second in pairs[:MAX_SHOWN].tolist()]
    more = len(pairs) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def pairs_from_labels(labels: Labels) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the pairs of labelled rows of the same and of different classes.

    The number of pairs grows with the square of the labelled rows.

    Parameters
    ----------
    labels : Labels

    Returns
    -------
    must_link, cannot_link : int32 arrays of shape (k, 2)
        Row numbers, the smaller one first.
    """
    rows = labels.labelled
    codes = labels.codes[rows]
    same = codes[:, None] == codes
    # a matrix of bits: the pairs in the order of the rows, without a list of all of them
    is_later = np.tri(len(rows), dtype=bool).T
    np.fill_diagonal(is_later, False)
    return _pairs_at(rows, same & is_later), _pairs_at(rows, is_later & ~same)


def _pairs_at(rows: NDArray[np.int32], wanted: NDArray[np.bool_]) -> NDArray[np.int32]:
    places = np.flatnonzero(wanted)
    first, second = np.divmod(places, max(1, len(rows)))
    pairs = np.empty((len(places), 2), dtype=rows.dtype)
    pairs[:, 0], pairs[:, 1] = rows[first], rows[second]
    return pairs


def check_pairs(pairs: Any, n_rows: int, name: str) -> NDArray[np.int32]:
    """Validate pairs of row numbers given by the user.

    Parameters
    ----------
    pairs : array-like of shape (k, 2) or None
        Row numbers; None means no pair.
    n_rows : int
        Number of rows of X.
    name : str
        Name of the parameter, for the messages.

    Returns
    -------
    pairs : int32 array of shape (k, 2)
        The same pairs, the smaller row number first.
    """
    array = np.empty((0, 2), dtype=np.int32) if pairs is None else as_array(pairs)
    if array.size == 0 and array.ndim <= 2:
        return np.empty((0, 2), dtype=np.int32)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"{name} must be pairs of row numbers: got shape {array.shape}.")
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be pairs of integers: got dtype {array.dtype}.")
    outside = (array < 0) | (array >= n_rows)
    if outside.any():
        raise ValueError(
            f"{name} must hold row numbers from 0 to {n_rows - 1}: got {array[outside][0]}."
        )
    if (own := array[:, 0] == array[:, 1]).any():
        raise ValueError(f"{name} must pair different rows: got row {array[own][0, 0]} twice.")
    return np.sort(array, axis=1).astype(np.int32)


def _as_column(y: Any) -> NDArray[Any]:
    """Turn `y` into a 1-d array without letting numpy guess a type for mixed values."""
    if issparse(y):
        raise ValueError("y must be a dense 1d array: got a sparse matrix.")
    # pandas has both, and warns of that of its Categorical; polars has `to_list` alone
    as_list = getattr(y, "tolist", getattr(y, "to_list", None))
    if as_list is not None and hasattr(y, "dtype") and not isinstance(y.dtype, np.dtype):
        # polars and the nullable types of pandas become floats in numpy where a value is missing.
        y = as_list()
    array = np.array(y, dtype=object) if isinstance(y, (list, tuple)) else as_array(y)
    if array.ndim == 2 and array.shape[1] == 1:
        warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape "
            "of y to (n_samples, ), for example using ravel().",
            DataConversionWarning,
        )
        return array.ravel()
    if array.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {array.shape} instead.")
    return array


def _split_known(
    column: NDArray[Any], words: frozenset[str]
) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Return which entries are labels, and these labels in one plain type or as objects of one."""
    kind = column.dtype.kind
    if kind in "OT":
        known = np.array([not is_unlabelled(value, words) for value in column], dtype=bool)
        return known, _narrow(column[known].astype(object))
    if kind == "c":
        raise ValueError(f"Complex data not supported: y has dtype {column.dtype}.")
    if kind not in "biufUS":
        raise ValueError(
            f"Unknown label type: y has dtype {column.dtype}; labels must be integers or strings."
        )
    known = np.ones(len(column), dtype=bool)
    if kind in "iuf":
        known = (column != UNLABELLED) & ~np.isnan(column)
    if kind == "f":
        _check_integers(column[known])
    if kind in "US" and words:
        known = ~np.isin(np.strings.strip(column), np.array(sorted(words)).astype(kind))
    return known, column[known]


def is_unlabelled(value: Any, words: frozenset[str] = WORDS) -> bool:
    """Tell whether a single label means an unlabelled row, by the rule of this module."""
    if type(value) is str:  # as of most rows
        return value.strip() in words
    if isinstance(value, str | bytes):
        return _text(value) in words and not isinstance(value, ClassName)
    if isinstance(value, Real) and not isinstance(value, bool | np.bool_):
        return bool(value == UNLABELLED or value != value)
    # those of pandas are recognised by the names of their types, so that it need not be imported
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _text(value: str | bytes) -> str:
    return (value if isinstance(value, str) else value.decode("latin-1")).strip()


def warn_unlabelled_text(n_rows: Mapping[str, int], where: str) -> None:
    """Warn of text that was taken as unlabelled because of its spelling, with the rows of each."""
    if not n_rows:
        return
    each = [f"{text!r} ({plural(n_rows[text], 'row')})" for text in sorted(n_rows)]
    warn(
        f"{where} holds text that means an unlabelled row: {join(each)}. Give another name to a "
        "class that is spelled so; rows with -1, None or NaN are unlabelled without this warning.",
        UnlabelledTextWarning,
    )


def _narrow(values: NDArray[Any]) -> NDArray[Any]:
    """Make numbers of the values of an object array, or make sure that all of them are strings."""
    kinds = {_kind(value) for value in values}
    if len(kinds) > 1:
        raise ValueError(
            f"Unknown label type: y mixes labels that are {' and '.join(sorted(kinds))}; use one "
            "type, and -1, None or NaN for unlabelled rows."
        )
    if kinds <= {"strings", "bytes"}:
        return values if kinds else np.empty(0, dtype=np.int64)
    numbers = np.array(values.tolist())
    if numbers.dtype.kind == "f":
        _check_integers(numbers)
        if np.any(np.abs(numbers) >= FIRST_INEXACT):
            _check_unchanged(values, numbers)
    return numbers


def _classes(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct labels in sorted order, and the number of each label among them."""
    if values.dtype != object or not len(values) or _kind(values[0]) not in ("strings", "bytes"):
        return np.unique(values, return_inverse=True)
    found = np.array(sorted(set(values)), dtype=object)
    longest = max(found, key=len)
    if len(longest) > MAX_LABEL:
        raise ValueError(
            f"Labels must be names of classes, of at most {MAX_LABEL:,} characters: y holds "
            f"one of {len(longest):,} characters, {longest[:40]!r}... Is it the right column?"
        )
    code = {label: i for i, label in enumerate(found)}
    inverse = np.fromiter(map(code.__getitem__, values), dtype=np.intp, count=len(values))
    if len(longest) > WIDEST_LABEL:
        return found, inverse
    plain = np.array(found.tolist())
    _check_unchanged(found, plain)
    return plain, inverse


def _check_unchanged(values: NDArray[Any], stored: NDArray[Any]) -> None:
    """Refuse labels that numpy takes for others: 2**53 + 1, and a zero byte at the end of text."""
    for value, other in zip(values.tolist(), stored.tolist(), strict=True):
        if value != other:
            taken = int(other) if isinstance(other, float) else other
            raise ValueError(
                f"The label {value!r} in y cannot be told from {taken!r} in an array of type "
                f"{stored.dtype}. Use strings that end in no zero byte, or whole numbers below "
                "2**63 beside no floats."
            )


def _kind(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "booleans"
    if isinstance(value, (Integral, Real)):
        return "numbers"
    if isinstance(value, (str, bytes)):
        return "strings" if isinstance(value, str) else "bytes"
    raise ValueError(
        f"Unknown label type: {value!r} in y is of type {type(value).__name__}; labels must be "
        "integers or strings."
    )


def _check_integers(values: NDArray[np.floating]) -> None:
    if not (finite := np.isfinite(values)).all():
        raise ValueError(
            f"Input y contains infinity or a value too large for {values.dtype!r}: "
            f"got {values[~finite][0]}."
        )
    if (broken := values != np.floor(values)).any():
        raise ValueError(
            "Unknown label type: continuous. Maybe you are trying to fit a classifier, which "
            "expects discrete classes on a regression target with continuous values: "
            f"got {values[broken][0]} in y."
        )


def describe_few(labels: Labels) -> str:
    """Say what labels there are where there are fewer than two classes."""
    n_labelled, n_unlabelled = len(labels.labelled), len(labels.unlabelled)
    if not n_labelled:
        return f"y has no labelled row: all {n_unlabelled} are unlabelled (-1, None or NaN)"
    return (
        f"y has {n_labelled} labelled row{'s' if n_labelled > 1 else ''}, all of one class "
        f"({labels.classes.tolist()[0]!r}), and {n_unlabelled} unlabelled "
        f"row{'' if n_unlabelled == 1 else 's'} (-1, None or NaN)"
    )


def known_prior(given: Any, labels: Labels) -> NDArray[np.float64] | None:
    """Return the class prior as given; None where it is not."""
    return None if given is None else class_prior(given, labels)


def _share_of_one(given: Any, labels: Labels) -> float | None:
    """Return the share of the class that is labelled where it is given alone."""
    own = labels.classes.tolist()[1 - labels.rest]  # type: ignore[operator]
    if isinstance(given, dict):
        given = [*given.values()] if [*given] == [own] else []
    values = np.atleast_1d(np.asarray(given, dtype=object))
    if len(values) != 1:
        return None
    if not isinstance(values[0], Real) or not 0 < float(values[0]) < 1:
        raise ValueError(
            f"class_prior must be between 0 and 1, the share of the class {own!r} among the "
            f"unlabelled rows, where no other is labelled: got {values[0]!r}."
        )
    return float(values[0])


def class_prior(given: Any, labels: Labels) -> NDArray[np.float64]:
    """Return the class prior: as given, or the shares among the labelled rows."""
    if given is None:
        return labels.counts / labels.counts.sum()
    classes = labels.classes.tolist()
    if labels.rest is not None and (share := _share_of_one(given, labels)) is not None:
        return np.where(np.arange(2) == labels.rest, 1 - share, share)
    if isinstance(given, dict):
        missing = [label for label in classes if label not in given]
        if missing:
            raise ValueError(
                f"class_prior must have an entry for each class of y: {missing} missing, got "
                f"{given!r}."
            )
        given = [given[label] for label in classes]
    try:
        prior = np.asarray(given, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            prior = prior / prior.max(initial=0)
            prior = prior / prior.sum()
    except (TypeError, ValueError):
        prior = np.empty(0)
    if prior.shape != (labels.n_classes,) or not (prior > 0).all():
        raise ValueError(
            f"class_prior must be {labels.n_classes} positive numbers, one for each class of y "
            f"({classes}), none of them vanishing beside the others: got {given!r}."
        )
    return prior
