"""Why a row should be labelled next, in words."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from semisift.base._training_data import TrainingData
from semisift.transduction._class_sums import class_scores, mean_scores
from semisift.transduction._components import ClassSums, scaled_rows
from semisift.transduction._gaussian_ridge import machine_shares
from semisift.transduction._soft_labels import DOUBTFUL_MARGIN, SoftLabels, find_machines, lead
from semisift.utils._text import plural, printable_name, shorten
from semisift.utils._typing import Floats, Ints

Kind = Literal["start", "stranger", "disagreement", "cover", "border", "sure"]

# From here on a row is like a labelled one, on the scale of `Chosen.covered`.
ALIKE = 0.5

# The column that speaks most for the second class is sought among so many of the best.
N_BEST = 20

LONGEST_NAME = 40


def start_reason(n_rows: int) -> str:
    """Say why a row is asked about where nothing is labelled.

    Examples
    --------
    >>> start_reason(41)
    'stands for 41 rows; nothing is labelled yet'
    """
    return f"stands for {plural(n_rows, 'row')}; nothing is labelled yet"


class Reasons:
    """What is known of rows that are asked about.

    Parameters
    ----------
    problem : TrainingData
        With two classes, of which one may be the rest.
    soft : SoftLabels
        Of its rows.
    T : float array of shape (n_rows, d)
        Components in which the members label.
    order : int array or None
        Columns, the best first; None takes those that soft labels find.
    votes : sequence of arrays of shape (n_rows,)
        Labels by further parts.
    """

    def __init__(
        self,
        problem: TrainingData,
        soft: SoftLabels,
        T: Floats,
        order: Ints | None,
        votes: Sequence[NDArray[Any]],
    ) -> None:
        self.problem, self.soft, self.T = problem, soft, T
        self.votes = [np.searchsorted(problem.labels.classes, each) for each in votes]
        self._order = order

    def of(self, row: int, n_rows: int, covered: float, *, is_novel: bool) -> tuple[Kind, str]:
        """Say why a row is asked about.

        Parameters
        ----------
        row : int
        n_rows : int
            How many unlabelled rows it stands for.
        covered : float
            How like the nearest labelled row it is.
        is_novel : bool
            Whether it fits no class.

        Returns
        -------
        kind : str
        reason : str
        """
        alike = plural(n_rows, "unlabelled row")
        if is_novel:
            return "stranger", f"fits none of the classes; stands for {alike}"
        shares = self.soft.shares[row]
        first, second = np.argsort(-shares, kind="stable")[:2].tolist()
        said = Counter(self._said(row))
        if len(said) > 1:
            (first, n_first), (second, n_second) = sorted(
                said.items(), key=lambda each: (-each[1], -shares[each[0]])
            )[:2]
            words = (
                f"the parts disagree: {n_first} say {self._class(first)}, "
                f"{n_second} say {self._class(second)}"
            )
            column = self._column_for(row, second, first)
            if column is not None:
                words += f", for which {column} speaks most"
            return "disagreement", f"{words}; stands for {alike}"
        if covered < ALIKE:
            return "cover", f"stands for {alike} that nothing like it is labelled among"
        if lead(shares[None])[0] < DOUBTFUL_MARGIN:
            between = f"between {self._class(first)} and {self._class(second)}"
            return "border", f"lies {between}; stands for {alike}"
        return "sure", f"stands for {alike}, most likely {self._class(first)}"

    def _class(self, code: int) -> str:
        return shorten(printable_name(self.problem.labels.classes[code]), LONGEST_NAME)

    def _said(self, row: int) -> list[int]:
        """Return the class by each part."""
        by_members = [
            int(machine_shares(self.T[row, : len(slopes)][None], slopes, cut)[0].argmax())
            for slopes, cut in self._machines
        ]
        return by_members + [int(each[row]) for each in self.votes]

    @cached_property
    def _machines(self) -> list[tuple[Floats, Floats]]:
        return find_machines(self.T, self.problem.labels, self.problem.design)

    @cached_property
    def _sums(self) -> ClassSums:
        return scaled_rows(self.problem).class_sums(self.soft.shares)

    @cached_property
    def _best(self) -> Ints:
        """The best columns."""
        order = self._order
        if order is None:
            scores = mean_scores(class_scores(self._sums, self.problem.constant))
            order = np.argsort(-scores, kind="stable")
        return np.asarray(order[~self.problem.constant[order]][:N_BEST])

    def _column_for(self, row: int, code: int, other: int) -> str | None:
        """Return the column, among the best, whose value speaks most for one class of two.

        As if columns were independent and normal with one variance in all classes.
        """
        columns, sums = self._best, self._sums
        sizes = np.maximum(np.broadcast_to(sums.sizes, sums.sums.shape)[:, columns], 1e-9)
        means = sums.sums[:, columns] / sizes
        total = np.broadcast_to(sums.total, sums.squares.shape)[columns]
        squares = sums.squares[columns]
        within = np.maximum(squares - (means**2 * sizes).sum(axis=0), squares / total)
        value = np.nan_to_num(scaled_rows(self.problem).take(np.array([row]))[0, columns])
        middle = (means[code] + means[other]) / 2
        speaks = (means[code] - means[other]) * (value - middle) / np.where(within > 0, within, 1.0)
        if not len(columns) or not speaks.max() > 0:
            return None
        column = int(columns[speaks.argmax()])
        names = self.problem.feature_names
        name = f"column {column}" if names is None else printable_name(names[column])
        return shorten(name, LONGEST_NAME)
