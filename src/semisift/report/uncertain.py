"""The rows that were given a label with the lowest confidence."""

from typing import NamedTuple

import numpy as np

from semisift.report.rows import RowLabels

MOST_UNCERTAIN = 10


class UncertainRow(NamedTuple):
    """A row, its label, how sure the ranker is of it, and the next label.

    `second` is empty where the ranker of more than two classes does not tell.
    """

    name: str
    label: str
    confidence: float
    second: str


def uncertain_rows(rows: RowLabels | None) -> list[UncertainRow]:
    """Return the rows of lowest confidence, least sure first; none where nothing is known."""
    if rows is None or rows.given is None or rows.confidence is None:
        return []
    unlabelled = rows.labels.unlabelled
    sure = np.asarray(rows.confidence, dtype=np.float64)[unlabelled]
    found = unlabelled[np.argsort(sure, kind="stable")[:MOST_UNCERTAIN]]
    return [
        UncertainRow(
            rows.name(row),
            rows.names[rows.given[row]],
            float(rows.confidence[row]),
            _second(rows, row),
        )
        for row in found.tolist()
        if np.isfinite(rows.confidence[row])
    ]


def _second(rows: RowLabels, row: int) -> str:
    if len(rows.names) == 2:
        return rows.names[1 - rows.given[row]]  # type: ignore[index]
    if rows.distributions is None:
        return ""
    return rows.names[int(np.argsort(rows.distributions[row])[-2])]
