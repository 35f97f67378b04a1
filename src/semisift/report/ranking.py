"""Ranking: features with their score and rank, best first, as every output shows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semisift._base import FeatureRanker
from semisift.math.ranks import rank

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Ranking:
    """Features in the order of their ranks.

    Attributes
    ----------
    features : array of str
        Best first.
    scores : float array
        NaN where there is none.
    draws : int array or None
        How many members of a committee drew the feature.
    columns : int array
        The column of X that stands for the feature: its own, or the best of its one-hot columns.
    column_names : array of str
        Names of these columns.
    represented_by : int array or None
        The place, counted from 0, of the feature that stands for each: its own, or that of the
        better feature that a near-copy resembles. None without a redundancy threshold.
    """

    features: NDArray[Any]
    scores: NDArray[np.float64]
    draws: NDArray[np.int64] | None
    columns: NDArray[np.int64]
    column_names: NDArray[Any]
    represented_by: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.features)

    @property
    def is_copy(self) -> NDArray[np.bool_]:
        """Which features are near-copies of a better one."""
        if self.represented_by is None:
            return np.zeros(len(self), dtype=bool)
        return np.asarray(self.represented_by != np.arange(len(self)))

    def to_polars(self) -> "pl.DataFrame":
        """Return a frame with feature, rank, score and, where known, draws and represented_by."""
        import polars as pl

        table: dict[str, Any] = {
            "feature": [str(name) for name in self.features],
            "rank": np.arange(1, len(self) + 1),
            "score": self.scores,
        }
        if self.draws is not None:
            table["draws"] = self.draws
        if self.represented_by is not None:
            table["represented_by"] = [str(name) for name in self.features[self.represented_by]]
        return pl.DataFrame(table)


def ranking_of(ranker: FeatureRanker, names: Sequence[str] | None = None) -> Ranking:
    """Order the columns of a fitted ranker.

    Parameters
    ----------
    ranker : fitted FeatureRanker
    names : sequence of str, optional
        Names of the columns; else those seen in fit, or x0, x1, ...

    Returns
    -------
    Ranking
    """
    if names is None:
        names = getattr(ranker, "feature_names_in_", None)
    if names is None:
        names = [f"x{j}" for j in range(ranker.n_features_in_)]
    order = np.argsort(ranker.ranking_)
    sorted_names = np.array([str(name) for name in names], dtype=object)[order]
    draws = getattr(ranker, "n_draws_", None)
    return Ranking(
        features=sorted_names,
        scores=ranker.scores_[order],
        draws=None if draws is None else np.asarray(draws)[order],
        columns=order,
        column_names=sorted_names,
        represented_by=_places(ranker, order, np.arange(len(order)), ranker.ranking_ - 1),
    )


def ranking_of_variables(
    ranker: FeatureRanker,
    names: Sequence[str],
    variable_of: NDArray[np.integer],
    variables: Sequence[str],
    seed: int,
) -> Ranking:
    """Order variables of which some are spread over several columns.

    A variable has the score of its best column, which is defined for every method, and the draws of
    all its columns. It is a near-copy if all its columns are near-copies of others.

    Parameters
    ----------
    ranker : fitted FeatureRanker
    names : sequence of str
        Names of the columns.
    variable_of : int array of shape (n_columns,)
        The variable of each column.
    variables : sequence of str
        Names of the variables.
    seed : int
        Decides the order of ties.

    Returns
    -------
    Ranking
    """
    order = np.argsort(ranker.ranking_)
    _, first = np.unique(variable_of[order], return_index=True)
    best = order[first]
    if hasattr(ranker, "represented_by_"):
        by_rank = np.argsort(ranker.ranking_[best])
    else:
        by_rank = np.argsort(rank(ranker.scores_[best], seed))
    draws = getattr(ranker, "n_draws_", None)
    if draws is not None:
        draws = np.bincount(variable_of, draws, len(variables)).astype(np.int64)[by_rank]
    columns = best[by_rank]
    return Ranking(
        features=np.array([str(name) for name in variables], dtype=object)[by_rank],
        scores=ranker.scores_[columns],
        draws=draws,
        columns=columns,
        column_names=np.array([str(name) for name in names], dtype=object)[columns],
        represented_by=_places(ranker, columns, variable_of, np.argsort(by_rank)),
    )


def _places(
    ranker: FeatureRanker,
    columns: NDArray[np.integer],
    variable_of: NDArray[np.integer],
    place_of: NDArray[np.integer],
) -> NDArray[np.int64] | None:
    """Return the place of the variable that stands for the variable of each column."""
    represented_by = getattr(ranker, "represented_by_", None)
    if represented_by is None:
        return None
    return np.asarray(place_of[variable_of[represented_by[columns]]])
