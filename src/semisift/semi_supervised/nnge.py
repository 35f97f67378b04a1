"""NNge: the nearest of boxes that hold rows of one class each and do not overlap.

B. Martin, "Instance-based learning: nearest neighbour with generalisation", master's thesis,
University of Waikato, 1995; S. Roy, "Nearest neighbor with generalization", University of
Canterbury, 2002. Read from the program of both authors in Weka, not from the two texts.

An exemplar is a box with a class: from the lowest to the highest value of its rows in each numeric
column, the set of their values in each nominal one. The distance of a row to it is::

    d^2 = sum_j (w_j * gap_j)^2 / p^2
    gap_j = distance to the box / (highest - lowest value seen so far)     (numeric)
    gap_j = 0 if the value is in the set, else 1                           (nominal)
    w_j   = mutual information, in bits, of the class and the column cut into equal intervals

Rows are learnt one after another, in the order in which they come. For each, the ranges and w are
brought up to date; if the nearest exemplar holds the row but has another class, it is split; then
the nearest exemplars of the row's own class are stretched to it in turn until one overlaps no other
exemplar, and if none does the row becomes an exemplar by itself. Of exemplars at the same distance
the one touched last is nearest. A new row gets the class of its nearest exemplar.

Cost: O(n e p) for n rows, p columns and e exemplars, and O(n^2 p) where values keep rising or
falling from row to row: each new extreme moves the intervals.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from semisift import _kernels
from semisift.committee._bootstrap import Int32s
from semisift.semi_supervised.labelled_only import rows_to_learn, rows_to_predict
from semisift.utils._sklearn_compat import at_least, fit_context
from semisift.utils._text import format_value, plural
from semisift.utils._typing import Bools, Floats
from semisift.utils._validation import as_array


class Exemplars(NamedTuple):
    """What was learnt, the exemplars that were touched last first.

    Attributes
    ----------
    lower, upper : float arrays of shape (n_columns, n_exemplars)
        Sides of the boxes; NaN in nominal columns.
    held : uint64 array of shape (n_words, n_exemplars)
        Values of the boxes in nominal columns, as bits (see kernels/nnge.pyx).
    codes, counts : int32 arrays of shape (n_exemplars,)
        Class and number of rows.
    scales : float array of shape (2, n_columns)
        Weights and ranges of the columns.
    values : dict of int to array
        The values of each nominal column, ascending.
    n_values : int32 array of shape (n_columns,)
        How many these are, 0 for numeric columns.
    """

    lower: Floats
    upper: Floats
    held: NDArray[np.uint64]
    codes: Int32s
    counts: Int32s
    scales: Floats
    values: dict[int, Floats]
    n_values: Int32s


@dataclass(kw_only=True, eq=False, repr=False)
class NNge(ClassifierMixin, BaseEstimator):
    """Nearest neighbour with non-nested generalised exemplars.

    Learns boxes that hold rows of one class each and do not overlap, in one pass over the rows, and
    predicts the class of the nearest box. Columns weigh by their mutual information with the class.
    The boxes depend on the order of the rows.

    Parameters
    ----------
    n_attempts : int, default=5
        How many of the nearest boxes of its class may be stretched to a row before it becomes a box
        by itself.
    n_intervals : int, default=5
        Intervals of equal width that numeric columns are cut into for the weights.
    half_open : bool, default=True
        Whether a value on the border of two intervals counts in the upper one alone. False counts
        it in both, as Weka does; weights may then exceed the information that the class has.
    categorical : array-like, default=None
        Which columns are nominal: a mask or positions. Their values are numbers that are only
        compared for equality. None means that all columns are numeric.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    lower_, upper_ : ndarray of shape (n_exemplars, n_features_in_)
        Sides of the boxes, those that were added or changed last first; NaN in nominal columns.
    values_ : list of dict
        For each box, the values that it holds in each nominal column, by its number.
    exemplar_classes_ : ndarray of shape (n_exemplars,)
        The class of each box.
    counts_ : ndarray of shape (n_exemplars,)
        Rows of each box. Of rows with equal values and different classes only the last is kept, so
        the sum may be less than the number of rows.
    weights_ : ndarray of shape (n_features_in_,)
        Mutual information of each column with the class, in bits.
    n_features_in_ : int
        Number of columns seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, where X has string column names.

    Notes
    -----
    From B. Martin (1995) and S. Roy (2002) [1]_ [2]_ by way of their program in Weka [3]_, with
    these differences:

    - intervals are half-open unless `half_open` is False;
    - where a box is split, rows that lie on the cut join a part only if the parts do not overlap
      then, and equal rows left alone make one box. Weka lets such parts overlap, which takes equal
      values in several columns;
    - missing values are refused. Weka learns a missing number as 0.

    Boxes do not overlap as long as all weights are positive. Where a column weighs nothing, the
    nearest box need not be the one that holds a row, and boxes of different classes may overlap.

    `y` must be fully labelled; wrap the classifier in `LabelledOnly` where it is not.

    References
    ----------
    .. [1] B. Martin, "Instance-based learning: nearest neighbour with generalisation", master's
       thesis, University of Waikato, Hamilton, New Zealand, 1995.
    .. [2] S. Roy, "Nearest neighbor with generalization", unpublished, University of Canterbury,
       Christchurch, New Zealand, 2002.
    .. [3] weka.classifiers.rules.NNge.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import train_test_split
    >>> from semisift import NNge
    >>> X, y = load_iris(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = NNge().fit(X_train, y_train)
    >>> round(model.score(X_test, y_test), 3)
    0.974
    >>> model.counts_  # rows of each box: most are in three
    array([37, 35, 32,  1,  1,  3,  2,  1], dtype=int32)
    >>> model.exemplar_classes_[0], model.lower_[0], model.upper_[0]
    (np.int64(0), array([4.3, 2.3, 1.1, 0.1]), array([5.8, 4.4, 1.7, 0.6]))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_attempts": [at_least(1)],
        "n_intervals": [at_least(2, 1_000_000)],
        "half_open": ["boolean"],
        "categorical": [None, "array-like"],
    }

    n_attempts: int = 5
    n_intervals: int = 5
    half_open: bool = True
    categorical: Any = None

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn boxes from the rows, in their order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            The class of each row; -1 is a class like any other.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        X, y = rows_to_learn(self, X, y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        nominal = _parse_categorical(self.categorical, X.shape[1])
        self._fit_arrays(X, codes.astype(np.int32), len(self.classes_), nominal)
        learnt = self._exemplars
        self.lower_, self.upper_ = learnt.lower.T, learnt.upper.T
        self.values_ = _values_of(learnt)
        self.exemplar_classes_ = self.classes_[learnt.codes]
        self.counts_ = learnt.counts
        self.weights_ = learnt.scales[0]
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the nearest box of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        codes = self._predict_codes(rows_to_predict(self, X))
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> Floats:
        """Return 1 for the class of the nearest box of each row and 0 for the others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        codes = self._predict_codes(rows_to_predict(self, X))
        return np.eye(len(self.classes_))[codes]

    def _batch_model(self, n_features: int) -> tuple[str, tuple[Any, ...]] | None:
        """Return what the wrappers judge many columns at once by (see wrappers/_choose.py)."""
        options = self.n_attempts, self.n_intervals, self.half_open
        return ("NNge", options) if self.categorical is None else None

    # In the two that follow nothing is validated and nothing but `_exemplars` is set; `_fit_arrays`
    # does not look at the parameter `categorical`.

    def _fit_arrays(
        self, X: NDArray[np.floating], codes: Int32s, n_classes: int, nominal: Bools | None = None
    ) -> Self:
        """Learn from finite X and class codes in 0, ..., n_classes - 1; `nominal` is a mask."""
        _kernels.warn_if_missing()
        rows = np.ascontiguousarray(X, dtype=np.float64)
        n_rows, n_columns = rows.shape
        columns = [] if nominal is None else np.flatnonzero(nominal).tolist()
        values = {j: np.unique(rows[:, j]) for j in columns}
        n_values = np.zeros(n_columns, dtype=np.int32)
        n_values[columns] = [len(known) for known in values.values()]
        # room for as many exemplars as rows
        lower, upper = np.empty((2, n_columns, n_rows))
        held = np.empty((((n_values + 63) // 64).sum(), n_rows), dtype=np.uint64)
        members = np.empty((2, n_rows), dtype=np.int32)
        scales = np.empty((2, n_columns))
        options = n_classes, self.n_attempts, self.n_intervals, self.half_open
        n = _kernels.nnge.learn(
            *(_encode(rows, values), codes, n_values, *options),
            *(lower, upper, held, members, scales),
        )
        lower, upper = lower[:, :n].copy(), upper[:, :n].copy()
        lower[columns] = upper[columns] = np.nan
        of_class, counts = members[:, :n].copy()
        learnt = lower, upper, held[:, :n].copy(), of_class, counts, scales, values, n_values
        self._exemplars = Exemplars(*learnt)
        return self

    def _predict_codes(self, X: NDArray[np.floating]) -> Int32s:
        """Return the class codes of the rows of finite X."""
        known = self._exemplars
        encoded = _encode(np.ascontiguousarray(X, dtype=np.float64), known.values)
        nearest = np.empty(len(X), dtype=np.int32)
        _kernels.nnge.nearest(
            encoded, known.n_values, known.lower, known.upper, known.held, known.scales, nearest
        )
        return known.codes[nearest]


def _parse_categorical(categorical: Any, n_columns: int) -> Bools | None:
    """Return the mask of nominal columns, None if there are none."""
    if categorical is None:
        return None
    given = as_array(categorical)
    mask = np.zeros(n_columns, dtype=bool)
    if given.dtype == bool and given.shape == mask.shape:
        mask = given
    elif given.dtype.kind in "iu" and given.ndim == 1 and np.isin(given, range(n_columns)).all():
        mask[given] = True
    elif given.size:
        raise ValueError(
            f"categorical must be a mask of the {plural(n_columns, 'column')} of X or positions "
            f"from 0 to {n_columns - 1}: got {format_value(categorical)}."
        )
    return mask if mask.any() else None


def _encode(X: Floats, values: dict[int, Floats]) -> Floats:
    """Replace nominal values by their numbers, -1 for unknown ones."""
    if not values:
        return X
    X = X.copy()
    for j, known in values.items():
        place = np.searchsorted(known, X[:, j])
        place[place == len(known)] = 0
        X[:, j] = np.where(known[place] == X[:, j], place, -1)
    return X


def _values_of(learnt: Exemplars) -> list[dict[int, Floats]]:
    """Return the nominal values of each box."""
    found: list[dict[int, Floats]] = [{} for _ in learnt.codes]
    word = 0
    for j, known in learnt.values.items():
        number = np.arange(len(known))
        held = learnt.held[word + number // 64] >> (number % 64).astype(np.uint64)[:, None]
        word += (len(known) + 63) // 64
        for box, holds in zip(found, (held & np.uint64(1)).T.astype(bool), strict=True):
            box[j] = known[holds]
    return found
