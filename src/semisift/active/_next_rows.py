"""The rows to label next, and why: what `FeatureRanker.query` tells.

`semisift.active._design` chooses the rows. Here soft labels say how much is open about each
of them, and `Reasons` says what is known of the chosen ones.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from semisift.active._design import choose_rows
from semisift.base._training_data import TrainingData
from semisift.transduction._class_sums import class_scores, mean_scores
from semisift.transduction._components import ClassSums, components, scaled_rows
from semisift.transduction._gaussian_ridge import machine_shares
from semisift.transduction._novelty import find_novel_rows
from semisift.transduction._positive_unlabelled import find_rest
from semisift.transduction._soft_labels import (
    DOUBTFUL_MARGIN,
    SoftLabels,
    find_machines,
    find_soft_labels,
    lead,
)
from semisift.utils._text import plural, printable_name, shorten
from semisift.utils._typing import Floats, Ints
from semisift.utils._validation import check_choice

Kind = Literal["start", "stranger", "disagreement", "cover", "border", "sure"]

# From here on a row is like a labelled one, on the scale of `Chosen.covered`.
ALIKE = 0.5

# The column that speaks most for the second class is sought among so many of the best.
N_BEST = 20

MAX_NAME = 40


def start_reason(n_rows: int) -> str:
    """Say why a row is asked about where nothing is labelled.

    Examples
    --------
    >>> start_reason(41)
    'represents 41 rows; nothing is labelled yet'
    """
    return f"represents {plural(n_rows, 'row')}; nothing is labelled yet"


class Reasons:
    """What is known of rows that are asked about.

    Parameters
    ----------
    data : TrainingData
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
        data: TrainingData,
        soft: SoftLabels,
        T: Floats,
        order: Ints | None,
        votes: Sequence[NDArray[Any]],
    ) -> None:
        self.data, self.soft, self.T = data, soft, T
        self.votes = [np.searchsorted(data.labels.classes, each) for each in votes]
        self._order = order

    def of(self, row: int, n_rows: int, covered: float, *, is_novel: bool) -> tuple[Kind, str]:
        """Say why a row is asked about.

        Parameters
        ----------
        row : int
        n_rows : int
            How many unlabelled rows it represents.
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
            return "stranger", f"fits none of the classes; represents {alike}"
        shares = self.soft.shares[row]
        first, second = np.argsort(-shares, kind="stable")[:2].tolist()
        votes = Counter(self._votes(row))
        if len(votes) > 1:
            (first, n_first), (second, n_second) = sorted(
                votes.items(), key=lambda each: (-each[1], -shares[each[0]])
            )[:2]
            words = (
                f"the parts disagree: {n_first} say {self._class(first)}, "
                f"{n_second} say {self._class(second)}"
            )
            column = self._column_for(row, second, first)
            if column is not None:
                words += f", for which {column} speaks most"
            return "disagreement", f"{words}; represents {alike}"
        if covered < ALIKE:
            return "cover", f"represents {alike} that nothing like it is labelled among"
        if lead(shares[None])[0] < DOUBTFUL_MARGIN:
            between = f"between {self._class(first)} and {self._class(second)}"
            return "border", f"lies {between}; represents {alike}"
        return "sure", f"represents {alike}, most likely {self._class(first)}"

    def _class(self, code: int) -> str:
        return shorten(printable_name(self.data.labels.classes[code]), MAX_NAME)

    def _votes(self, row: int) -> list[int]:
        """Return the class by each part."""
        by_members = [
            int(machine_shares(self.T[row, : len(slopes)][None], slopes, cut)[0].argmax())
            for slopes, cut in self._machines
        ]
        return by_members + [int(each[row]) for each in self.votes]

    @cached_property
    def _machines(self) -> list[tuple[Floats, Floats]]:
        return find_machines(self.T, self.data.labels, self.data.design)

    @cached_property
    def _sums(self) -> ClassSums:
        return scaled_rows(self.data).class_sums(self.soft.shares)

    @cached_property
    def _best(self) -> Ints:
        """The best columns."""
        order = self._order
        if order is None:
            scores = mean_scores(class_scores(self._sums, self.data.constant))
            order = np.argsort(-scores, kind="stable")
        return np.asarray(order[~self.data.constant[order]][:N_BEST])

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
        value = np.nan_to_num(scaled_rows(self.data).take(np.array([row]))[0, columns])
        middle = (means[code] + means[other]) / 2
        speaks = (means[code] - means[other]) * (value - middle) / np.where(within > 0, within, 1.0)
        if not len(columns) or not speaks.max() > 0:
            return None
        column = int(columns[speaks.argmax()])
        names = self.data.feature_names
        name = f"column {column}" if names is None else printable_name(names[column])
        return shorten(name, MAX_NAME)


@dataclass(frozen=True, eq=False)
class NextRows:
    """Rows to label next, the most useful first.

    Attributes
    ----------
    rows : int array of shape (n,)
        Numbers of the rows, counted from 0.
    reasons : list of str
        Why each of them, in words.
    kinds : list of str
        The same in one: "start" where nothing is labelled yet, "stranger" where a row fits no
        class, "disagreement" where the parts that label rows disagree, "cover" where no label is
        near, "border" where one is, and yet there is doubt, "sure" where there is little.
    stands_for : int array of shape (n,)
        How many unlabelled rows are more like it than like any other that is labelled or chosen.
    guesses : object array of shape (n,)
        The most likely label of each; None where nothing is known.
    confidence : float array of shape (n,)
        How likely that label is; NaN where nothing is known.
    n_unlabelled : int
        How many rows there were to choose from.
    """

    rows: NDArray[np.int64]
    reasons: list[str]
    kinds: list[Kind]
    stands_for: NDArray[np.int64]
    guesses: NDArray[Any]
    confidence: Floats
    n_unlabelled: int

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<NextRows: {len(self)} of {plural(self.n_unlabelled, 'unlabelled row')}>"

    def to_frame(
        self,
        output: Literal["polars", "pandas"] = "polars",
        row_names: Sequence[Any] | None = None,
    ) -> Any:
        """Return the rows as a frame, the most useful first.

        Parameters
        ----------
        output : {"polars", "pandas"}, default="polars"
            Kind of the frame.
        row_names : sequence, default=None
            Names of all rows of the table, to stand in place of their numbers.

        Returns
        -------
        polars.DataFrame or pandas.DataFrame
            With the columns row, reason, guess, confidence and stands_for.
        """
        check_choice(output, "output", ("polars", "pandas"))
        import polars as pl

        rows = self.rows.tolist()
        columns = {
            "row": rows if row_names is None else [str(row_names[row]) for row in rows],
            "reason": self.reasons,
            "guess": [None if each is None else str(each) for each in self.guesses],
            "confidence": [None if np.isnan(each) else each for each in self.confidence.tolist()],
            "stands_for": self.stands_for.tolist(),
        }
        types = {"guess": pl.String, "confidence": pl.Float64}
        frame = pl.DataFrame(columns, schema_overrides=types)
        if output == "polars":
            return frame
        import pandas as pd

        return pd.DataFrame(frame.to_dict(as_series=False))

    def _repr_html_(self) -> str:
        from semisift import report

        shown: str = report.next_rows_table(self)
        return shown


def find_next_rows(
    data: TrainingData,
    n_wanted: int,
    *,
    soft: SoftLabels | None = None,
    votes: Sequence[NDArray[Any]] = (),
    order: Ints | None = None,
) -> NextRows:
    """Return the rows of the training data to label next.

    Parameters
    ----------
    data : TrainingData
        With any number of classes; what it has made of its rows is used again.
    n_wanted : int
    soft : SoftLabels, optional
        Of the rows that the training data holds, by two classes or more, where they are at hand.
    votes : sequence of arrays of shape (n_rows,)
        Labels of the rows that the training data holds by further parts, as of a consensus.
    order : int array, optional
        Columns, the best first; else those that soft labels find.

    Returns
    -------
    NextRows
    """
    labels, known = data.labels, data
    if labels.n_classes == 1 and len(labels.unlabelled) > 1:
        known, _ = find_rest(data, None)
    if known.labels.n_classes < 2:
        soft = None
    elif soft is None:
        soft = find_soft_labels(known)
    T = components(data)
    if soft is not None and soft.depth is not None and data.design.depth is not None:
        T = soft.depth.without(T, data.design.depth)
    is_novel = np.zeros(data.n_rows, dtype=bool)
    doubt = None
    if soft is not None and known is data:
        is_novel[find_novel_rows(T, labels)] = True
        doubt = np.where(is_novel, 1.0, 1.0 - lead(soft.shares))
    elif soft is not None:
        doubt = soft.shares[:, known.labels.rest]
    chosen = choose_rows(T, labels.labelled, n_wanted, doubt=doubt, design=data.design)
    rows, n_unlabelled = chosen.rows, len(data.all_labels.unlabelled)
    share = n_unlabelled / max(1, len(labels.unlabelled))
    stands_for = np.round(chosen.stands_for * share).astype(np.int64)
    kinds: list[Kind] = ["start"] * len(rows)
    texts = [start_reason(n) for n in stands_for.tolist()]
    guesses, confidence = np.full(len(rows), None, dtype=object), np.full(len(rows), np.nan)
    if soft is not None:
        guesses[:] = known.labels.classes[soft.codes[rows]].tolist()
        confidence = soft.distributions(known.labels.codes)[rows].max(axis=1)
        reasons = Reasons(known, soft, T, order, votes)
        found = [
            reasons.of(row, n, covered, is_novel=bool(is_novel[row]))
            for row, n, covered in zip(
                rows.tolist(), stands_for.tolist(), chosen.covered.tolist(), strict=True
            )
        ]
        kinds, texts = [kind for kind, _ in found], [reason for _, reason in found]
    numbers = data.numbers if data.full is None else data.full.sampled
    return NextRows(
        rows=np.asarray(rows if numbers is None else numbers[rows], dtype=np.int64),
        reasons=texts,
        kinds=kinds,
        stands_for=stands_for,
        guesses=guesses,
        confidence=confidence,
        n_unlabelled=n_unlabelled,
    )
