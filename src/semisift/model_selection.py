"""Splits of partly labelled rows: unlabelled rows always train, labelled rows train or test.

An ordinary splitter takes -1 for a class of its own and puts unlabelled rows into test sets, where
nothing can be judged by them.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, StratifiedShuffleSplit

from semisift.base._sample_info import parse_design
from semisift.utils._labels import Labels, parse_labels
from semisift.utils._sklearn_compat import num_samples

__all__ = [
    "SemiSupervisedGroupKFold",
    "SemiSupervisedKFold",
    "SemiSupervisedStratifiedShuffleSplit",
]

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
            Labels; -1, None and NaN, also as text, mark unlabelled rows (`UnlabelledTextWarning`).
        groups : object
            Ignored, with a warning; it exists for compatibility.

        Yields
        ------
        train : ndarray
            Rows of the training set, all unlabelled ones among them.
        test : ndarray
            Rows of the test set, all labelled.
        """
        labels = self._labels(X, y)
        rows = labels.labelled.astype(np.intp)
        self._check_enough(len(rows), "labelled rows")
        splits = super().split(rows, labels.classes[labels.codes[rows]], groups)  # type: ignore[misc]
        return (
            (np.sort(np.concatenate([rows[train], labels.unlabelled])), rows[test])
            for train, test in splits
        )

    def _labels(self, X: Any, y: Any) -> Labels:
        labels = parse_labels(y, num_samples(X))
        if not len(labels.labelled):
            raise ValueError(
                f"{type(self).__name__} needs labelled rows to test on: all {len(labels.codes)} "
                "values of y are unlabelled (-1, None or NaN)."
            )
        return labels

    def _check_enough(self, n: int, what: str) -> None:
        if isinstance(self, StratifiedKFold | StratifiedGroupKFold) and n < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} cannot be greater than the number of {what}, which is "
                f"{n}."
            )


class GroupSplits(LabelledSplits):
    """Mixin of splitters that keep the rows of a group together."""

    __metadata_request__split: ClassVar = {"groups": True}

    def _split_groups(self, X: Any, y: Any, groups: Any) -> Iterator[Indices]:
        labels = self._labels(X, y)
        known = parse_design(len(labels.codes), groups=groups).groups
        assert known is not None
        rows = labels.labelled.astype(np.intp)
        numbers, own = np.unique(known[rows], return_inverse=True)
        self._check_enough(len(numbers), "groups with labelled rows")
        splits = self._groups_of_splits(labels.classes, labels.codes[rows], own)

        def rows_of(train: NDArray[np.intp], test: NDArray[np.intp]) -> Indices:
            is_tested = np.isin(known[labels.unlabelled], numbers[test])
            trains = rows[np.isin(own, train)], labels.unlabelled[~is_tested]
            return np.sort(np.concatenate(trains)), rows[np.isin(own, test)]

        return (rows_of(*groups_of) for groups_of in splits)

    def _groups_of_splits(
        self, classes: NDArray[Any], codes: NDArray[np.int32], own: NDArray[np.intp]
    ) -> Iterator[Indices]:
        """Yield the groups of training and test sets, by class and group of each labelled row."""
        raise NotImplementedError


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
    SemiSupervisedGroupKFold : Keeps rows of a group together.

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


class SemiSupervisedGroupKFold(GroupSplits, StratifiedGroupKFold):
    """Stratified folds of the labelled rows that keep groups together.

    The folds are those of scikit-learn's `StratifiedGroupKFold` on the labelled rows alone: each
    labelled row is in one test set, all labelled rows of a group are in the same one, and each test
    set has about the same share of every class, as far as groups allow. Unlabelled rows are in
    every training set but those in which their group is tested: there they are in neither set.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2 and at most as many as there are groups with labelled rows. A
        class with fewer labelled rows is missing from some test sets, of which scikit-learn warns;
        where all classes have fewer it is an error.
    shuffle : bool, default=False
        Whether to shuffle the groups before they are dealt to the folds.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffling. An int gives the same folds in every call.

    See Also
    --------
    SemiSupervisedKFold : The same for rows that are independent.

    Notes
    -----
    Training sets are in the order of the rows. With scikit-learn's metadata routing `groups` are
    asked for unless ``set_split_request(groups=False)`` was called.

    Examples
    --------
    >>> import numpy as np
    >>> from semisift import SemiSupervisedGroupKFold
    >>> X, y = np.zeros((8, 2)), np.array([0, -1, 1, 0, -1, 1, 1, -1])
    >>> donors = np.array(["a", "a", "b", "c", "c", "d", "d", "e"])
    >>> for train, test in SemiSupervisedGroupKFold(n_splits=2).split(X, y, groups=donors):
    ...     print(donors[test], y[test], donors[train], y[train])
    ['c' 'd' 'd'] [0 1 1] ['a' 'a' 'b' 'e'] [ 0 -1  1 -1]
    ['a' 'b'] [0 1] ['c' 'c' 'd' 'd' 'e'] [ 0 -1  1  1 -1]
    """

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[Indices]:
        """Yield the rows of training and test sets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Its length alone matters.
        y : array-like of shape (n_samples,)
            Labels; -1, None and NaN, also as text, mark unlabelled rows (`UnlabelledTextWarning`).
        groups : array-like of shape (n_samples,)
            The group of each row, labelled or not: names or whole numbers.

        Yields
        ------
        train : ndarray
            Rows of the training set, of no group that is tested.
        test : ndarray
            Rows of the test set, all labelled.
        """
        if groups is None:
            raise ValueError("The 'groups' parameter should not be None.")
        return self._split_groups(X, y, groups)

    def _groups_of_splits(
        self, classes: NDArray[Any], codes: NDArray[np.int32], own: NDArray[np.intp]
    ) -> Iterator[Indices]:
        splits = StratifiedGroupKFold.split(self, own, classes[codes], own)
        return ((np.unique(own[train]), np.unique(own[test])) for train, test in splits)


class SemiSupervisedStratifiedShuffleSplit(GroupSplits, StratifiedShuffleSplit):
    """Random stratified splits of the labelled rows; unlabelled rows are in every training set.

    The splits are those of scikit-learn's `StratifiedShuffleSplit` on the labelled rows alone. If
    `split` is given groups, they are splits of the groups with labelled rows instead, each of the
    class that most of its labelled rows have: no group is on both sides, and unlabelled rows are in
    every training set but those in which their group is tested.

    Parameters
    ----------
    n_splits : int, default=10
        Number of splits.
    test_size : float or int, default=None
        Share or number of the labelled rows, or groups, in a test set. None is what `train_size`
        leaves, or 0.1 where that is None as well.
    train_size : float or int, default=None
        Share or number of the labelled rows, or groups, in a training set, to which the unlabelled
        rows come. None is what the test set leaves.
    random_state : int, RandomState instance or None, default=None
        Seed of the splits. An int gives the same splits in every call.

    See Also
    --------
    SemiSupervisedKFold : Each labelled row is in one test set.
    SemiSupervisedGroupKFold : The same with groups.

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

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[Indices]:
        """Yield the rows of training and test sets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Its length alone matters.
        y : array-like of shape (n_samples,)
            Labels; -1, None and NaN, also as text, mark unlabelled rows (`UnlabelledTextWarning`).
        groups : array-like of shape (n_samples,), default=None
            The group of each row, labelled or not, if rows belong together: names or whole numbers.

        Yields
        ------
        train : ndarray
            Rows of the training set, of no group that is tested.
        test : ndarray
            Rows of the test set, all labelled.
        """
        return super().split(X, y) if groups is None else self._split_groups(X, y, groups)

    def _groups_of_splits(
        self, classes: NDArray[Any], codes: NDArray[np.int32], own: NDArray[np.intp]
    ) -> Iterator[Indices]:
        counts = np.zeros((own.max() + 1, len(classes)), dtype=np.int64)
        np.add.at(counts, (own, codes), 1)
        most = counts.argmax(axis=1)
        n_groups = np.bincount(most, minlength=len(classes))
        if 1 in n_groups:
            single = classes.tolist()[n_groups.tolist().index(1)]
            raise ValueError(
                f"{type(self).__name__} needs at least two groups of a class, to train and to test "
                f"on: class {single!r} has one."
            )
        return StratifiedShuffleSplit.split(self, np.arange(len(counts)), classes[most])
