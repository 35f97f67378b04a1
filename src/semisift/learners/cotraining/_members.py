"""Classifiers in subspaces that learn from one growing list of labelled rows.

A `Trainer` shows the list to the classifiers and says what they make of the rows that are left; its
panel is what remains of it: the classifiers before the first row was added and after the last.
There are two kinds, for any scikit-learn classifier (here) and for the k nearest neighbours
(_neighbours.py).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from semisift._classifiers import fit_classifier
from semisift._committee.engine import Committee
from semisift._committee.estimators import gets_dense, with_random_states
from semisift._committee.permutation import Member
from semisift._problem import Problem
from semisift._threads import one_openmp_thread
from semisift.learners.cotraining._base import Array, Ints, When
from semisift.math.blocks import row_blocks

Subspaces = Sequence[Ints] | Ints

# Mean shares are rounded to this unit, so that equal ones are equal in whatever order they were
# added: no share of k neighbours in K subspaces lies near the middle between two units.
SHARE = 2.0**-40


class Trainer(ABC):
    """Shows labelled rows to the classifiers of all subspaces.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    rows : int array
        The unlabelled rows that are left.
    known, codes : int arrays of one length
        The others, in the order in which they were labelled, and their classes.
    """

    def __init__(self, problem: Problem) -> None:
        labels = problem.labels
        self.rows: Ints = labels.unlabelled
        self.known: Ints = labels.labelled
        self.codes: Ints = labels.codes[self.known]

    @abstractmethod
    def judge(self) -> Array:
        """Return the mean shares of the classes for `rows`, rounded to whole units."""

    def add(self, places: Ints, codes: Ints) -> None:
        """Label the rows at some places of `rows`, which leave it."""
        self.known = np.concatenate([self.known, self.rows[places]])
        self.codes = np.concatenate([self.codes, codes])
        self.rows = np.delete(self.rows, places)

    @abstractmethod
    def panel(self) -> Any:
        """Return the classifiers, which have seen all that was labelled.

        They have a length and ``shares(X, when="end")``, the shares of the classes, of shape
        (n_subspaces, n_rows, n_classes).
        """


@dataclass(frozen=True, eq=False)
class EstimatorPanel:
    """Fitted scikit-learn classifiers.

    Attributes
    ----------
    begin, end : list of Member
        Before the first and after the last row was added.
    n_classes : int
    is_dense : bool
        Whether sparse rows are made dense for them.
    """

    begin: list[Member]
    end: list[Member]
    n_classes: int
    is_dense: bool

    def __len__(self) -> int:
        return len(self.end)

    def shares(self, X: Any, when: When = "end") -> Array:
        """Return the shares of the classes, of shape (n_subspaces, n_rows, n_classes)."""
        rows = X.tocsr() if issparse(X) else X
        members = self.begin if when == "begin" else self.end
        return np.array([self._shares_of(member, rows) for member in members])

    def _shares_of(self, member: Member, X: Any) -> Array:
        parts = [
            member.class_shares(take(X, part, member.columns, self.is_dense))
            for part in row_blocks(X, len(member.columns), self.is_dense)
        ]
        return np.concatenate(parts)


class EstimatorTrainer(Trainer):
    """Fits any classifier again after rows were added.

    Parameters
    ----------
    problem : Problem
    subspaces : sequence of int arrays
        The columns of each classifier.
    estimator : scikit-learn classifier
    committee : Committee
        Who fits them.
    """

    def __init__(
        self, problem: Problem, subspaces: Subspaces, estimator: Any, committee: Committee
    ) -> None:
        super().__init__(problem)
        widest = max(len(columns) for columns in subspaces)
        self.made_for = problem.labels.n_classes, gets_dense(estimator, problem.n_rows, widest)
        self.X = problem.X.tocsr() if problem.is_sparse else problem.X
        self.setting = subspaces, estimator, problem.seed, *self.made_for
        self.committee = committee
        self.begin: list[Member] = []
        self.end: list[Member] = []

    def judge(self) -> Array:
        """Return the mean shares of the classes for `rows`, rounded to whole units."""
        return rounded(self.judge_each(self.rows).mean(axis=0))

    def judge_each(self, rows: Ints) -> Array:
        """Return the shares of the classes for some rows, (n_subspaces, n_rows, n_classes)."""
        shared = self.X, self.setting, self.known, self.codes, rows
        answers = self.committee.map(fit_and_judge, self.committee.ranges(), *shared)
        fitted, shares = zip(*answers, strict=True)
        self.end = [member for members in fitted for member in members]
        self.begin = self.begin or self.end
        return np.concatenate(shares)

    def add(self, places: Ints, codes: Ints) -> None:
        """Label the rows at some places of `rows`, which leave it."""
        super().add(places, codes)
        self.end = []

    def panel(self) -> EstimatorPanel:
        """Return the classifiers, which have seen all that was labelled."""
        if not self.end:
            self.judge_each(self.rows[:0])
        return EstimatorPanel(self.begin, self.end, *self.made_for)


@one_openmp_thread()
@np.errstate(over="ignore", invalid="ignore")  # scikit-learn adds up all values to check them
def fit_and_judge(
    block: tuple[int, int], X: Any, setting: tuple[Any, ...], known: Ints, codes: Ints, rows: Ints
) -> tuple[list[Member], Array]:
    """Fit some members on the known rows, and return them and their shares for other rows."""
    subspaces, estimator, seed, n_classes, is_dense = setting
    members, shares = [], np.zeros((block[1] - block[0], len(rows), n_classes))
    for i, number in enumerate(range(*block)):
        columns = np.asarray(subspaces[number], dtype=np.int32)
        fresh = with_random_states(estimator, seed, number)
        fitted = fit_classifier(fresh, take(X, known, columns, is_dense), codes)
        members.append(Member(number, columns, fitted, n_classes))
        shares[i] = members[-1].class_shares(take(X, rows, columns, is_dense))
    return members, shares


def take(X: Any, rows: Ints | slice, columns: Ints, is_dense: bool) -> Any:
    """Return a copy of some rows and columns: a C-ordered array, or else a CSR array."""
    part = X[rows][:, columns]
    if issparse(part):
        return part.toarray(order="C") if is_dense else part
    return np.ascontiguousarray(part)


def rounded(shares: Array) -> Array:
    """Return shares in whole units of `SHARE`."""
    return np.rint(shares / SHARE)
