"""The rows that were given a label with the lowest confidence."""

from typing import NamedTuple

import numpy as np

from semisift.report.rows import RowLabels

MOST_UNCERTAIN = 10


class UncertainRow(NamedTuple):
    """A row, its label, how sure the ranker is of it, and the label of the other class.

    `second` is known of two classes only, else empty.
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
            rows.names[1 - rows.given[row]] if len(rows.names) == 2 else "",
        )
        for row in found.tolist()
        if np.isfinite(rows.confidence[row])
    ]
