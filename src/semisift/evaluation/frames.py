"""The figures of a comparison as data frames."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from semisift.evaluation.runs import Record
from semisift.evaluation.scores import Scores

if TYPE_CHECKING:
    import polars


def long_frame(records: Iterable[Record], sizes: tuple[int, ...]) -> "polars.DataFrame":
    """Return all figures: a row for each record, judge, metric and size.

    Parameters
    ----------
    records : iterable of dict
        A failed one has no figures and no rows.
    sizes : tuple of int
        Of the protocol.

    Returns
    -------
    polars.DataFrame
    """
    import polars

    schema = {
        "dataset": polars.String,
        "method": polars.String,
        "level": polars.Float64,
        "run": polars.Int64,
        "judge": polars.String,
        "metric": polars.String,
        "size": polars.Int64,
        "value": polars.Float64,
        "seconds": polars.Float64,
        "peak_mb": polars.Float64,
    }
    rows = [row for record in records for row in _rows(record, sizes)]
    return polars.DataFrame(rows, schema=schema, orient="row")


def _rows(record: Record, sizes: tuple[int, ...]) -> Iterator[tuple[Any, ...]]:
    who = encodable(record["dataset"]), encodable(record["method"]), record["level"], record["run"]
    cost = record["measured"]["seconds"], record["measured"]["peak_mb"]
    for judge, metrics in record["curves"].items():
        for metric, curve in metrics.items():
            for size, value in zip(sizes, curve, strict=True):
                yield *who, encodable(judge), metric, size, value, *cost


def wide_frame(scores: Scores) -> "polars.DataFrame":
    """Return the means: a row for each data set, a column for each method.

    Parameters
    ----------
    scores : Scores

    Returns
    -------
    polars.DataFrame
        Without a value where there is no mean.
    """
    import polars

    methods = [encodable(method) for method in scores.methods]
    first = "dataset"
    while first in methods:
        first += "_"
    columns: dict[str, Any] = {first: [encodable(name) for name in scores.datasets]}
    for method, means in zip(methods, scores.means.T, strict=True):
        columns[method] = [None if np.isnan(mean) else float(mean) for mean in means]
    types = {first: polars.String, **dict.fromkeys(methods, polars.Float64)}
    return polars.DataFrame(columns, schema=types)


def encodable(name: str) -> str:
    r"""Return a name that UTF-8 holds, as a data frame needs it.

    Names of files may have halves of characters.

    Examples
    --------
    >>> encodable("colon"), encodable("colon" + chr(0xD800))
    ('colon', 'colon\\ud800')
    """
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
