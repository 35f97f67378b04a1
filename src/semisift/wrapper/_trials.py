"""Trials: the rows that a learner is tried on, and how they are split to judge columns."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.model_selection import StratifiedKFold, check_cv

from semisift.base._training_data import TrainingData
from semisift.utils._columns import column_factors, dense_columns
from semisift.utils._information import bin_columns, mutual_information
from semisift.utils._text import format_value
from semisift.utils._typing import Bools, Floats, Ints

# Fewer rows than this are held out one by one.
MIN_FOR_FOLDS = 20
MAX_FOLDS = 5

# Probabilities of the true class below this are not told apart.
SMALLEST = 1e-12

# Information is compared up to this: the order in which counts are added changes the last bits.
DECIMALS = 12


class Fold(NamedTuple):
    """Rows to fit on and rows to judge by."""

    train: Ints
    test: Ints


@dataclass(frozen=True, eq=False)
class Trials:
    """One or several samples of the same rows, each with its splits.

    Attributes
    ----------
    X : Fortran-ordered array or csc_array of shape (n, p)
        The rows that the samples are taken from.
    codes : int array of shape (n,)
        Their classes, given or predicted; -1 for rows that are in no sample.
    n_classes : int
    samples : list of int arrays
        The rows of each sample.
    splits_of : list of lists of Fold
        The splits of each sample, in terms of rows of `X`; every split has rows to judge by.
    unit : float
        What X is divided by, so that squares stay in range: 1, but for extreme values.
    """

    X: Any
    codes: NDArray[np.int64]
    n_classes: int
    samples: Sequence[Ints]
    splits_of: list[list[Fold]]
    unit: float

    @classmethod
    def build(
        cls, data: TrainingData, codes: Ints, samples: Sequence[Ints], cv: Any = None
    ) -> "Trials":
        """Prepare to try a learner on samples of the training data's rows.

        Parameters
        ----------
        data : TrainingData
        codes : int array of shape (n_rows,)
            Classes of the rows of the samples.
        samples : sequence of int arrays
            Rows of the training data.
        cv : int, splitter or iterable, optional
            How to split the rows, as in scikit-learn; None is `default_splits`.

        Returns
        -------
        Trials
        """
        rows = np.unique(np.concatenate(samples))
        own_codes = codes[rows].astype(np.int64)
        own_samples = [np.searchsorted(rows, np.sort(sample)) for sample in samples]
        split = default_splits if cv is None else partial(given_splits, cv=cv)
        _, unit = column_factors(data.X, None, data.spans)
        return cls(
            X=_take_rows(data.X, rows),
            codes=own_codes,
            n_classes=data.labels.n_classes,
            samples=own_samples,
            splits_of=[split(own_codes, sample) for sample in own_samples],
            unit=unit,
        )

    def take(self, columns: slice | Ints) -> Floats:
        """Return some columns of all rows as a C-ordered array, in the trials' unit."""
        values = dense_columns(self.X, columns)
        return values if self.unit == 1.0 else values / self.unit

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @cached_property
    def splits(self) -> list[Fold]:
        """The splits of all samples, one sample after the other."""
        return [split for splits in self.splits_of for split in splits]

    @cached_property
    def sample_of_split(self) -> Ints:
        """The sample that each split belongs to."""
        return np.repeat(np.arange(len(self.samples)), [len(s) for s in self.splits_of])

    @cached_property
    def held_out(self) -> Ints:
        """The rows to judge by, one split after the other."""
        return np.concatenate([np.empty(0, dtype=np.int64), *(s.test for s in self.splits)])

    @cached_property
    def parts(self) -> list[slice]:
        """Where the rows of each split stand in `held_out`."""
        return slices_of(len(split.test) for split in self.splits)

    @cached_property
    def parts_of_samples(self) -> list[slice]:
        """Where the rows of each sample stand in `held_out`."""
        return slices_of(sum(len(split.test) for split in splits) for splits in self.splits_of)

    @cached_property
    def split_of_held_out(self) -> Ints:
        """The split that each of `held_out` belongs to."""
        return np.repeat(np.arange(len(self.splits)), [len(s.test) for s in self.splits])

    @cached_property
    def truth(self) -> Ints:
        """The classes of `held_out`."""
        return self.codes[self.held_out]

    @cached_property
    def _relevance(self) -> dict[int, Floats]:
        return {}

    def relevance(self, sample: int) -> Floats:
        """Return the mutual information of all columns with the classes of one sample's rows."""
        if sample not in self._relevance:
            rows = self.samples[sample]
            binned = bin_columns(_take_rows(self.X, rows))
            information = mutual_information(binned, self.codes[rows])
            self._relevance[sample] = np.round(information, DECIMALS)
        return self._relevance[sample]

    def tally(self, right: Bools, sureness: Floats | None) -> "CandidateScores":
        """Sum up how the held-out rows were predicted, for columns side by side.

        Parameters
        ----------
        right : bool array of shape (number of held-out rows, n_columns)
        sureness : float array of that shape, or None
            The log-probability that was given to the true class, or its margin.

        Returns
        -------
        CandidateScores
        """
        accuracy, confidence = np.zeros((2, len(self.samples), right.shape[1]))
        for sample, own in enumerate(self.parts_of_samples):
            if not self.splits_of[sample]:
                continue
            sizes = np.array([len(split.test) for split in self.splits_of[sample]])
            hits = np.add.reduceat(right[own], np.cumsum(sizes) - sizes, axis=0, dtype=np.int64)
            # one contiguous row a column, so that the mean has the bits of cross_val_score's
            accuracy[sample] = np.ascontiguousarray((hits / sizes[:, None]).T).mean(axis=1)
            if sureness is not None:
                confidence[sample] = sureness[own].mean(axis=0)
        return CandidateScores(accuracy, None if sureness is None else confidence)


class CandidateScores(NamedTuple):
    """How good columns are beside those picked before, for each sample.

    Attributes
    ----------
    accuracy : float array of shape (n_samples, n_columns)
        Mean over the splits of the share of held-out rows that are predicted right.
    confidence : float array of that shape, or None
        Mean log-probability, or margin, of the true class over the held-out rows.
    """

    accuracy: Floats
    confidence: Floats | None


def log_probability(probability: Floats) -> Floats:
    """Return the logarithm; for less than `SMALLEST`, and for NaN, that of `SMALLEST`."""
    return np.log(np.fmax(probability, SMALLEST))


def default_splits(codes: Ints, rows: Ints) -> list[Fold]:
    """Hold out rows one by one, or from 20 rows on in stratified folds.

    There are five folds, or as many as the smallest class has rows. The only row of a class is
    always fitted on and does not count as a class of its own here.

    Parameters
    ----------
    codes : int array
        Classes.
    rows : int array
        The rows to split.

    Returns
    -------
    list of Fold
    """
    counts = np.bincount(codes[rows])
    held_out = rows[counts[codes[rows]] > 1]
    if len(rows) < MIN_FOR_FOLDS:
        return [Fold(rows[rows != row], np.array([row])) for row in held_out]
    if not len(held_out):
        return []
    folds = StratifiedKFold(min(MAX_FOLDS, int(counts[counts > 1].min())))
    tests = [held_out[test] for _, test in folds.split(held_out, codes[held_out])]
    return [Fold(rows[~np.isin(rows, test)], test) for test in tests]


def given_splits(codes: Ints, rows: Ints, cv: Any) -> list[Fold]:
    """Split rows as `cv` says, in scikit-learn's terms, or not at all."""
    if isinstance(cv, str):  # "resubstitution"
        return [Fold(rows, rows)]
    pairs = cv
    if hasattr(cv, "split") or not isinstance(cv, Iterable):
        pairs = check_cv(cv, codes[rows], classifier=True).split(rows[:, None], codes[rows])
    places = [_places(pair, len(rows)) for pair in pairs]
    folds = [Fold(rows[train], rows[test]) for train, test in places if len(test)]
    if not folds:
        raise ValueError(f"cv must give rows to judge by: got {format_value(cv)}.")
    return folds


def _places(pair: Any, n_rows: int) -> Sequence[Ints]:
    """Return the rows of one split, to fit on and to judge by, or say that it is none."""
    with suppress(TypeError, ValueError):  # of what is no pair, or of lists of unlike lengths
        train, test = map(np.asarray, pair)
        if len(train) and all(_are_rows(part, n_rows) for part in (train, test)):
            return train, test
    raise ValueError(
        "cv must give pairs of rows, to fit on and to judge by, as arrays of whole numbers from 0 "
        f"to {n_rows - 1}, the labelled rows in their order: got {format_value(pair)}."
    )


def _are_rows(part: Ints, n_rows: int) -> bool:
    is_integer = not len(part) or part.dtype.kind in "iu"
    return part.ndim == 1 and is_integer and bool(((part >= 0) & (part < n_rows)).all())


def divide_columns(X: Any, by: Floats) -> Any:
    """Return X, Fortran-ordered or a csc_array, with each column divided; zeros stay zeros."""
    if not issparse(X):
        return np.asfortranarray(X / by)
    X = X.astype(np.float64)
    X.data /= np.repeat(by, np.diff(X.indptr))
    return X


def slices_of(sizes: Iterable[int]) -> list[slice]:
    """Return where runs of these sizes stand, one behind the other."""
    return [slice(*ends) for ends in pairwise(np.cumsum([0, *sizes]).tolist())]


def _take_rows(X: Any, rows: Ints) -> Any:
    if len(rows) == X.shape[0]:
        return X
    return X.tocsr()[rows].tocsc() if issparse(X) else np.asfortranarray(X[rows])
