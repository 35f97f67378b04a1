"""Splits of partly labelled rows: unlabelled rows always train, labelled rows train or test.

An ordinary splitter takes -1 for a class of its own and puts unlabelled rows into test sets, where
nothing can be judged by them.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from semisift._labels import parse_labels
from semisift._sklearn import num_samples

__all__ = ["SemiSupervisedKFold", "SemiSupervisedStratifiedShuffleSplit"]

Indices = tuple[NDArray[np.intp], NDArray[np.intp]]


class LabelledSplits:
    """Mixin of stratified splitters, which makes them split the labelled rows."""

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[Indices]:
        """Yield the rows of training and test sets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Its length alone matters.
        y : array-like of shape (n_samples,)
            Labels; -1, None and NaN mark unlabelled rows.
        groups : object
            Ignored, with a warning; it exists for compatibility.

        Yields
        ------
        train : ndarray
            Rows of the training set, all unlabelled ones among them.
        test : ndarray
            Rows of the test set, all labelled.
        """
        labels = parse_labels(y, num_samples(X))
        rows, n_labelled = labels.labelled.astype(np.intp), len(labels.labelled)
        if not n_labelled:
            raise ValueError(
                f"{type(self).__name__} needs labelled rows to test on: all {len(labels.codes)} "
                "values of y are unlabelled (-1, None or NaN)."
            )
        if isinstance(self, StratifiedKFold) and n_labelled < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} cannot be greater than the number of labelled rows, "
                f"which is {n_labelled}."
            )
        splits = super().split(rows, labels.classes[labels.codes[rows]], groups)  # type: ignore[misc]
        return (
            (np.sort(np.concatenate([rows[train], labels.unlabelled])), rows[test])
            for train, test in splits
        )


class SemiSupervisedKFold(LabelledSplits, StratifiedKFold):
    """Stratified folds of the labelled rows; unlabelled rows are in every training set.

    The folds are those of scikit-learn's `StratifiedKFold` on the labelled rows alone: each
    labelled row is in one test set, and each test set has about the same share of every class.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2. A class with fewer labelled rows is missing from some test
        sets, of which scikit-learn warns; where all classes have fewer it is an error.
    shuffle : bool, default=False
        Whether to shuffle the labelled rows of each class before they are dealt to the folds.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffling. An int gives the same folds in every call.

    See Also
    --------
    SemiSupervisedStratifiedShuffleSplit : Splits at random, of any size.

    Notes
    -----
    Training sets are in the order of the rows. `y` is left as it is: with -1, None or NaN for the
    unlabelled rows of a training set, and nothing but labels in a test set.

    Examples
    --------
    >>> import numpy as np
    >>> from semisift import SemiSupervisedKFold
    >>> X, y = np.zeros((8, 2)), np.array([0, -1, 1, 0, -1, 1, -1, -1])
    >>> for train, test in SemiSupervisedKFold(n_splits=2).split(X, y):
    ...     print(train, y[train], test, y[test])
    [1 3 4 5 6 7] [-1  0 -1  1 -1 -1] [0 2] [0 1]
    [0 1 2 4 6 7] [ 0 -1  1 -1 -1 -1] [3 5] [0 1]
    """


class SemiSupervisedStratifiedShuffleSplit(LabelledSplits, StratifiedShuffleSplit):
    """Random stratified splits of the labelled rows; unlabelled rows are in every training set.

    The splits are those of scikit-learn's `StratifiedShuffleSplit` on the labelled rows alone.

    Parameters
    ----------
    n_splits : int, default=10
        Number of splits.
    test_size : float or int, default=None
        Share or number of the labelled rows in a test set. None is what `train_size` leaves, or 0.1
        where that is None as well.
    train_size : float or int, default=None
        Share or number of the labelled rows in a training set, to which the unlabelled rows come.
        None is what the test set leaves.
    random_state : int, RandomState instance or None, default=None
        Seed of the splits. An int gives the same splits in every call.

    See Also
    --------
    SemiSupervisedKFold : Each labelled row is in one test set.

    Notes
    -----
    Training sets are in the order of the rows. Labelled rows in neither set, which `train_size`
    may leave, are not used.

    Examples
    --------
    >>> import numpy as np
    >>> from semisift import SemiSupervisedStratifiedShuffleSplit
    >>> X, y = np.zeros((8, 2)), np.array(["a", None, "b", "a", None, "b", None, None])
    >>> cv = SemiSupervisedStratifiedShuffleSplit(n_splits=2, test_size=0.5, random_state=0)
    >>> for train, test in cv.split(X, y):
    ...     print(np.sort(test), y[np.sort(test)], train)
    [0 5] ['a' 'b'] [1 2 3 4 6 7]
    [3 5] ['a' 'b'] [0 1 2 4 6 7]
    """
