"""Design: what a study knows of its rows besides their values and labels."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift.utils._labels import UNLABELLED, parse_labels
from semisift.utils._text import quote
from semisift.utils._validation import as_numbers

# Between these, squares of weights and what is divided by them are ordinary numbers.
LIGHTEST, HEAVIEST = 1e-60, 1e60


@dataclass(frozen=True, eq=False)
class SampleInfo:
    """Which rows belong together, were measured together, and how much each counts.

    Attributes
    ----------
    groups : int32 array of shape (n_rows,) or None
        Number of the group of each row, as of a donor: rows of a group are no independent ones.
    batches : int32 array of shape (n_rows,) or None
        Number of the batch of each row, whose differences mean nothing.
    weights : float64 array of shape (n_rows,) or None
        How many rows each row counts for; not negative, and some of them positive.
    depth : float64 array of shape (n_rows,) or None
        How much was measured of each row, where X holds logarithms of counts, as of the molecules
        of cells (see `semisift.transduction._soft_labels`): not given, but found.
    """

    groups: NDArray[np.int32] | None = None
    batches: NDArray[np.int32] | None = None
    weights: NDArray[np.float64] | None = None
    depth: NDArray[np.float64] | None = None

    def take(self, rows: NDArray[np.integer]) -> "SampleInfo":
        """Return what is known of some rows, which may be repeated."""
        known = {each.name: getattr(self, each.name) for each in fields(self)}
        return SampleInfo(**{name: None if a is None else a[rows] for name, a in known.items()})

    @property
    def names(self) -> list[str]:
        """What is known by the user."""
        given = ("groups", "batches", "weights")
        return [name for name in given if getattr(self, name) is not None]

    @property
    def is_known(self) -> bool:
        """Whether anything is known."""
        return bool(self.names)


NOTHING = SampleInfo()


def parse_design(
    n_rows: int, groups: Any = None, batch: Any = None, sample_weight: Any = None
) -> SampleInfo:
    """Read what is known of `n_rows` rows.

    Parameters
    ----------
    n_rows : int
    groups, batch : array-like of shape (n_rows,) or None
        Names or whole numbers, one for each row.
    sample_weight : array-like of shape (n_rows,), float or None

    Returns
    -------
    Design

    Examples
    --------
    >>> parse_design(3, groups=["b", "a", "b"]).groups
    array([1, 0, 1], dtype=int32)
    """
    if groups is None and batch is None and sample_weight is None:
        return NOTHING
    return SampleInfo(
        groups=_codes(groups, n_rows, "groups"),
        batches=_codes(batch, n_rows, "batch"),
        weights=_weights(sample_weight, n_rows),
    )


def _codes(given: Any, n_rows: int, name: str) -> NDArray[np.int32] | None:
    if given is None:
        return None
    rule = f"{name} must hold one name or whole number for each row of X"
    try:
        codes = parse_labels(given, n_rows, words=frozenset()).codes  # any text is a name
    except ValueError as error:
        raise ValueError(f"{rule}. As labels they would be refused: {error}") from error
    if n_without := int(np.sum(codes == UNLABELLED)):
        raise ValueError(f"{rule}: {n_without} of {n_rows} rows have none (None, NaN or -1).")
    return codes


def _weights(given: Any, n_rows: int) -> NDArray[np.float64] | None:
    if given is None:
        return None
    rule, problem = "one number for each row of X, none of them negative", None
    weights = as_numbers(given).copy()
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    wrong = weights[~(np.isfinite(weights) & (weights >= 0))]
    outside = weights[(weights > 0) & ((weights < LIGHTEST) | (weights > HEAVIEST))]
    if weights.ndim == 2 and np.isnan(weights).all():
        problem = f": got {quote(given)}"
    elif weights.ndim != 1:
        problem = f". Sample weights must be 1D: got the shape {weights.shape}"
    elif len(weights) != n_rows:
        problem = f": got {len(weights)} for {n_rows} rows"
    elif len(wrong):
        problem = f", and finite: got {wrong[0]}"
    elif not weights.any():
        problem = f", and not all 0: got {n_rows} zeros"
    elif len(outside):
        problem = f", and 0 or from {LIGHTEST:g} to {HEAVIEST:g}: got {outside[0]}"
    if problem is not None:
        raise ValueError(f"sample_weight must be {rule}{problem}.")
    return weights
