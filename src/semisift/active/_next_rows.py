"""The rows to label next, and why: what `FeatureRanker.query` tells.

`semisift.active._design` chooses the rows. Here soft labels say how much is open about each
of them, and `semisift.active._reasons` says what is known of the chosen ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from semisift.active._design import choose_rows
from semisift.active._reasons import Kind, Reasons, start_reason
from semisift.base._training_data import TrainingData
from semisift.transduction._components import components
from semisift.transduction._novelty import find_novel_rows
from semisift.transduction._positive_unlabelled import find_rest
from semisift.transduction._soft_labels import SoftLabels, find_soft_labels, lead
from semisift.utils._text import plural
from semisift.utils._typing import Floats, Ints
from semisift.utils._validation import check_choice


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
    problem: TrainingData,
    n_wanted: int,
    *,
    soft: SoftLabels | None = None,
    votes: Sequence[NDArray[Any]] = (),
    order: Ints | None = None,
) -> NextRows:
    """Return the rows of a problem to label next.

    Parameters
    ----------
    problem : TrainingData
        With any number of classes; what it has made of its rows is used again.
    n_wanted : int
    soft : SoftLabels, optional
        Of the rows that the problem holds, by two classes or more, where they are at hand.
    votes : sequence of arrays of shape (n_rows,)
        Labels of the rows that the problem holds by further parts, as of a consensus.
    order : int array, optional
        Columns, the best first; else those that soft labels find.

    Returns
    -------
    NextRows
    """
    labels, known = problem.labels, problem
    if labels.n_classes == 1 and len(labels.unlabelled) > 1:
        known, _ = find_rest(problem, None)
    if known.labels.n_classes < 2:
        soft = None
    elif soft is None:
        soft = find_soft_labels(known)
    T = components(problem)
    if soft is not None and soft.depth is not None and problem.design.depth is not None:
        T = soft.depth.without(T, problem.design.depth)
    is_novel = np.zeros(problem.n_rows, dtype=bool)
    doubt = None
    if soft is not None and known is problem:
        is_novel[find_novel_rows(T, labels)] = True
        doubt = np.where(is_novel, 1.0, 1.0 - lead(soft.shares))
    elif soft is not None:
        doubt = soft.shares[:, known.labels.rest]
    chosen = choose_rows(T, labels.labelled, n_wanted, doubt=doubt, design=problem.design)
    rows, n_unlabelled = chosen.rows, len(problem.all_labels.unlabelled)
    share = n_unlabelled / max(1, len(labels.unlabelled))
    stands_for = np.round(chosen.stands_for * share).astype(np.int64)
    kinds: list[Kind] = ["start"] * len(rows)
    told = [start_reason(n) for n in stands_for.tolist()]
    guesses, confidence = np.full(len(rows), None, dtype=object), np.full(len(rows), np.nan)
    if soft is not None:
        guesses[:] = known.labels.classes[soft.codes[rows]].tolist()
        confidence = soft.told(known.labels.codes)[rows].max(axis=1)
        reasons = Reasons(known, soft, T, order, votes)
        found = [
            reasons.of(row, n, covered, is_novel=bool(is_novel[row]))
            for row, n, covered in zip(
                rows.tolist(), stands_for.tolist(), chosen.covered.tolist(), strict=True
            )
        ]
        kinds, told = [kind for kind, _ in found], [reason for _, reason in found]
    numbers = problem.numbers if problem.whole is None else problem.whole.held
    return NextRows(
        rows=np.asarray(rows if numbers is None else numbers[rows], dtype=np.int64),
        reasons=told,
        kinds=kinds,
        stands_for=stands_for,
        guesses=guesses,
        confidence=confidence,
        n_unlabelled=n_unlabelled,
    )
