"""Ranking: features with their score and rank, best first, as every output shows them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semisift._base import FeatureRanker
from semisift.math.ranks import rank

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Chance:
    """How high chance alone scores, and what stands for chance."""

    score: float
    name: str


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
    decisions : array of str or None
        "confirmed", "tentative" or "rejected", by the rule of the ranker or else by its
        assessment; None where there is neither.
    rank_interval : int array of shape (n, 2) or None
        Lowest and highest rank on halves of the rows. None where the ranker was not assessed.
    selection_probability : float array or None
        How often the feature is among the best on halves of the rows.
    parts : dict of str to float array, or None
        Rank of the feature by each ranker of a consensus.
    chance : Chance or None
        The score that chance alone reaches, where the rule or the assessment knows it.
    """

    features: NDArray[Any]
    scores: NDArray[np.float64]
    draws: NDArray[np.int64] | None
    columns: NDArray[np.int64]
    column_names: NDArray[Any]
    represented_by: NDArray[np.int64] | None = None
    decisions: NDArray[np.str_] | None = None
    rank_interval: NDArray[np.int64] | None = None
    selection_probability: NDArray[np.float64] | None = None
    parts: dict[str, NDArray[np.float64]] | None = None
    chance: Chance | None = None

    def __len__(self) -> int:
        return len(self.features)

    @property
    def is_copy(self) -> NDArray[np.bool_]:
        """Which features are near-copies of a better one."""
        if self.represented_by is None:
            return np.zeros(len(self), dtype=bool)
        return np.asarray(self.represented_by != np.arange(len(self)))

    @property
    def confirmed(self) -> NDArray[np.bool_] | None:
        """Which features are confirmed and no near-copies; None where nothing was decided."""
        return None if self.decisions is None else (self.decisions == "confirmed") & ~self.is_copy

    def head(self, top: int) -> "Ranking":
        """Return the best features alone."""
        known: dict[str, Any] = {
            name: value[:top] for name, value in vars(self).items() if isinstance(value, np.ndarray)
        }
        if self.parts is not None:
            known["parts"] = {name: ranks[:top] for name, ranks in self.parts.items()}
        return replace(self, **known)

    def to_polars(self) -> "pl.DataFrame":
        """Return a frame with feature, rank, score and whatever else is known of a feature."""
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
        if self.decisions is not None:
            table["decision"] = self.decisions.tolist()
        if self.rank_interval is not None:
            table["rank_low"], table["rank_high"] = self.rank_interval.T
        if self.selection_probability is not None:
            table["selection_probability"] = self.selection_probability
        for name, ranks in (self.parts or {}).items():
            table[f"rank_by_{name}"] = ranks
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
        **_sureness(ranker, order),
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
        **_sureness(ranker, columns),
    )


def decisions_of(ranker: FeatureRanker) -> NDArray[np.str_] | None:
    """Return what the rule of a ranker decided, else its assessment, else None."""
    found = getattr(ranker, "decisions_", None)
    if found is None:
        found = getattr(getattr(ranker, "assessment_", None), "decisions", None)
    return found


def _sureness(ranker: FeatureRanker, columns: NDArray[np.integer]) -> dict[str, Any]:
    """Return what is known about how sure the ranks of some columns are."""
    known: dict[str, Any] = {
        "decisions": decisions_of(ranker),
        "rank_interval": getattr(ranker, "rank_interval_", None),
        "selection_probability": getattr(ranker, "selection_probability_", None),
    }
    found = {name: None if each is None else each[columns] for name, each in known.items()}
    if hasattr(ranker, "part_rankings_"):
        ranks = zip(ranker.rankers_, ranker.part_rankings_, strict=True)
        found["parts"] = {name: own[columns] for (name, _), own in ranks}
    return {**found, "chance": chance_of(ranker)}


def chance_of(ranker: FeatureRanker) -> Chance | None:
    """Return what chance alone scores by the rule of a ranker, else by its assessment, else None.

    A consensus is assessed by the scores of its parts, so that only a rule knows its chance score.
    """
    names = {"cutoff_": "best of the shuffled copies", "assessment_": "best by chance"}
    for holder, name in names.items():
        score = float(getattr(getattr(ranker, holder, None), "chance_score", math.nan))
        if math.isfinite(score):
            return Chance(score, name)
    return None


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
