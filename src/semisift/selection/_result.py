"""RankingResult: what came out of a fit, made once and read by all that show, write or select.

A short list holds one feature of each group of correlated ones, and that could hide strong ones. So
none of the best by score is left out of what a reader sees first: each is listed, or named beside
the feature that represents it.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semisift.base._decisions import count_decisions, find_significant
from semisift.selection._assessment import N_SHOWN, Null, null_of
from semisift.selection._summary import Trust, summarize
from semisift.utils._frame import make_frame
from semisift.utils._redundancy import rank
from semisift.utils._typing import Bools, Floats, Ints

if TYPE_CHECKING:
    from semisift.base._ranker import FeatureRanker
    from semisift.selection._assessment import Assessment

# So many correlated features are named beside the feature that represents them, if not more must
# be.
FIRST_NAMES = 3

# Of the features that are significant, so many are listed.
MAX_LISTED = 50


class CorrelatedGroups(NamedTuple):
    """What is shown of a result first, as places of features.

    Attributes
    ----------
    strongest : int array
        The 20 best features by score, best first; those without a score are not among them.
    shown : int array
        The features of a short list, in their order: those to look at, and those that represent
        the strongest (where fewer features were asked for, for so many of the strongest).
    named : dict of int to list of int
        The correlated features to name beside a feature that represents them: the first three, and
        all that are among the strongest.
    """

    strongest: Ints
    shown: Ints
    named: dict[int, list[int]]


class Chance(NamedTuple):
    """How high chance alone scores, and what represents chance."""

    score: float
    name: str


@dataclass(frozen=True, eq=False)
class RankingResult:
    """The features of a fit in the order of their ranks, with all that is known of them.

    Attributes
    ----------
    ranker : FeatureRanker
        Fitted, and perhaps assessed.
    features : array of str
        Best first.
    scores : float array
        NaN where there is none.
    columns : int array
        The column of X that represents the feature: its own, or the best of its several columns.
    column_names : array of str
        Names of these columns.
    selected : bool array
        Which features are selected. With `selected_by="decisions"` they need not be the first.
    selected_by : {"number", "half", "decisions", "changed"}
        What selected them: a number that was asked for, or half of all since none was, or the rule
        or assessment; "changed" where the ranker cannot tell since its parameter was changed.
    draws : int array or None
        How many members of a committee drew the feature.
    representative : int array or None
        The place, counted from 0, of the feature that represents each: its own, or that of the
        better feature that a correlated feature resembles. None where none were looked for.
    score_rank : int array or None
        The rank by score alone, from 1. None where it is the place.
    correlation : float array or None
        That of a correlated feature with what represents it, with its sign; else 1. None where none
        were looked for.
    decisions : array of str or None
        "significant", "suggestive" or "not significant", by the rule of the ranker or else by its
        assessment; None where there is neither.
    rank_interval : int array of shape (n, 2) or None
        Lowest and highest rank on halves of the rows. None where the ranker was not assessed.
    selection_probability : float array or None
        How often the feature is among the best on halves of the rows.
    family_probability : float array or None
        How often it or one of its correlated features is. None where none were looked for.
    parts : dict of str to float array, or None
        Rank of the feature by each ranker of a consensus.
    chance : Chance or None
        The score that chance alone reaches, where the rule or the assessment knows it.
    place_of : int array of shape (n_columns,) or None
        The place of the feature of each column of X.
    kept, excluded : bool array or None
        Which features are to stay and which were left out; None where no column is.
    n_columns : int array or None
        How many columns a feature has; None where none is a group of them.
    feature_weights : float array or None
        The weight that decided on the place of the feature; None where none were given.
    """

    ranker: "FeatureRanker"
    features: NDArray[Any]
    scores: Floats
    columns: NDArray[np.int64]
    column_names: NDArray[Any]
    selected: Bools
    selected_by: Literal["number", "half", "decisions", "changed"]
    draws: NDArray[np.int64] | None = None
    representative: NDArray[np.int64] | None = None
    score_rank: NDArray[np.int64] | None = None
    correlation: Floats | None = None
    decisions: NDArray[np.str_] | None = None
    rank_interval: NDArray[np.int64] | None = None
    selection_probability: Floats | None = None
    family_probability: Floats | None = None
    parts: dict[str, Floats] | None = None
    chance: Chance | None = None
    place_of: NDArray[np.int64] | None = None
    kept: Bools | None = None
    excluded: Bools | None = None
    n_columns: NDArray[np.int64] | None = None
    feature_weights: Floats | None = None

    def __len__(self) -> int:
        return len(self.features)

    def __repr__(self) -> str:
        by = type(self.ranker).__name__
        return f"<RankingResult: {len(self):,} features by {by}, {self.n_selected:,} selected>"

    @property
    def assessment(self) -> "Assessment | None":
        """How sure the ranking is, where it was assessed."""
        return getattr(self.ranker, "assessment_", None)

    @property
    def cutoff(self) -> Any:
        """What the rule of the ranker measured; None without a rule."""
        return getattr(self.ranker, "cutoff_", None)

    @cached_property
    def null(self) -> Null:
        """What the scores were compared with, whatever parameters the ranker has by now."""
        made: Null | None = getattr(self.assessment or self.cutoff, "null", None)
        return made or null_of(self.ranker._labeller())

    @cached_property
    def is_copy(self) -> Bools:
        """Which features are features correlated with a better one."""
        places = np.arange(len(self))
        stands = places if self.representative is None else self.representative
        return np.asarray(stands != places)

    @cached_property
    def copies(self) -> dict[int, list[int]]:
        """Places of the features that the one at a place represents, best score first."""
        found: dict[int, list[int]] = defaultdict(list)
        for place in np.flatnonzero(self.is_copy).tolist():
            found[int(self.representative[place])].append(place)  # type: ignore[index]
        return found

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many features got which decision; represented ones are counted apart."""
        if self.decisions is None:
            return {}
        counts = count_decisions(self.decisions, self.is_copy)
        return {**counts, "correlated_features": int(self.is_copy.sum())}

    @property
    def significant_are_first(self) -> bool:
        """Whether no feature ranks before a significant one without being significant itself."""
        own = np.zeros(0) if self.decisions is None else self.decisions[~self.is_copy]
        return bool((own[: self.counts.get("significant", 0)] == "significant").all())

    @property
    def n_selected(self) -> int:
        """How many features are selected."""
        return int(self.selected.sum())

    @property
    def n_first(self) -> int:
        """How many are selected if they are the first ones; 0 where others stand between them."""
        return self.n_selected if self.selected[: self.n_selected].all() else 0

    @cached_property
    def listed(self) -> NDArray[np.int64]:
        """Places of the features to look at: the selected ones, and others where these are few.

        Where nothing is significant, they are those that the assessment calls the best.
        """
        if self.selected_by == "number":
            return np.flatnonzero(self.selected)
        kept, n_listed = self.selected & (self.selected_by == "decisions"), N_SHOWN
        if self.assessment is not None and self.counts and not self.counts["significant"]:
            n_listed = self.assessment.n_best
        others = np.flatnonzero(~self.is_copy & ~kept)[: max(0, n_listed - kept.sum())]
        return np.sort(np.concatenate([np.flatnonzero(kept)[:MAX_LISTED], others]))

    @cached_property
    def correlated_groups(self) -> CorrelatedGroups:
        """What to show first, so that no strong feature is hidden behind what represents it."""
        order = np.arange(len(self)) if self.score_rank is None else np.argsort(self.score_rank)
        best = order[~np.isnan(self.scores[order])][:N_SHOWN]
        stand = best[: self.n_selected] if self.selected_by == "number" else best
        if self.representative is not None:
            stand = self.representative[stand]
        strong = set(best.tolist())
        named = {
            place: members[: max(FIRST_NAMES, len(strong.intersection(members)))]
            for place, members in self.copies.items()
        }
        return CorrelatedGroups(best, np.union1d(self.listed, stand), named)

    @cached_property
    def trust(self) -> Trust | None:
        """How sure the ranking is, in words; None where nothing is known of that."""
        return summarize(self)

    def select(self, wanted: "int | Literal['significant']") -> "RankingResult":
        """Return the same with other features selected: the first, or the significant and kept."""
        if not isinstance(wanted, str):
            return replace(self, selected=np.arange(len(self)) < wanted, selected_by="number")
        if self.decisions is None:
            raise ValueError("Nothing was decided on the features, so that none is significant.")
        significant = find_significant(self.decisions, self.is_copy)
        if self.kept is not None:
            significant = significant | self.kept
        return replace(self, selected=significant, selected_by="decisions")

    def to_frame(self, output: Literal["polars", "pandas"] = "polars") -> Any:
        """Return a frame with a row for each feature, best first; see `FeatureRanker.to_frame`."""
        stands, interval = self.representative, self.rank_interval
        low, high = (None, None) if interval is None else interval.T
        table: dict[str, Any] = {
            "feature": self.features,
            "rank": np.arange(1, len(self) + 1),
            "score": self.scores,
            "selected": self.selected,
            "kept": self.kept,
            "n_columns": self.n_columns,
            "best_column": None if self.n_columns is None else self.column_names,
            "feature_weights": self.feature_weights,
            "draws": self.draws,
            "score_rank": self.score_rank,
            "representative": None if stands is None else self.features[stands],
            "correlation": self.correlation,
            "decision": self.decisions,
            "rank_low": low,
            "rank_high": high,
            "selection_probability": self.selection_probability,
            "family_probability": self.family_probability,
        }
        table |= {f"rank_by_{name}": ranks for name, ranks in (self.parts or {}).items()}
        return make_frame(table, output)

    @property
    def facts(self) -> dict[str, Any]:
        """What is known of how sure the ranking is, as plain values."""
        facts: dict[str, Any] = {}
        if self.parts is not None:
            facts["parts"] = dict(zip(self.parts, self.ranker.weights_.tolist(), strict=True))
        if (cutoff := self.cutoff) is not None:
            facts["rule"] = {"name": cutoff.rule, "error": cutoff.error}
            if hasattr(cutoff, "repetitions"):
                facts["rule"]["repetitions"] = cutoff.repetitions
        if self.assessment is not None:
            facts["assessment"] = self.assessment.facts
        if self.counts:
            facts["assessment" if cutoff is None else "rule"]["decisions"] = self.counts
        return facts


def ranking_result(
    ranker: "FeatureRanker",
    names: Sequence[str] | None = None,
    *,
    variables: Sequence[str] | None = None,
    variable_of: NDArray[np.integer] | None = None,
    seed: int = 0,
) -> RankingResult:
    """Return what came out of a fit, with what the ranker selects.

    Parameters
    ----------
    ranker : fitted FeatureRanker
    names : sequence of str, optional
        Names of the columns; else those seen in fit, or x0, x1, ...
    variables : sequence of str, optional
        Names of the features, where some are spread over several columns. A feature has the score
        of its best column, which is defined for every method, and the draws of all its columns. It
        is a correlated feature if all its columns are features correlated with others. The groups
        of a ranker that was told of some are its features, and count instead.
    variable_of : int array of shape (n_columns,), optional
        The feature of each column.
    seed : int, default=0
        Decides the order of features of equal score, if they are spread over columns.

    Returns
    -------
    RankingResult
    """
    if names is None:
        unnamed = [f"x{j}" for j in range(ranker.n_features_in_)]
        names = getattr(ranker, "feature_names_in_", unnamed)
    ranks, known, is_spread = ranker.ranking_, ranker._features, variable_of is not None
    if known is not None:
        variables, variable_of = known.names(names), known.feature_of
    elif variable_of is None or variables is None:
        variables, variable_of = names, np.arange(ranker.n_features_in_)
    best = np.argsort(ranks)
    best = best[np.unique(variable_of[best], return_index=True)[1]]
    if is_spread and known is None and not hasattr(ranker, "representative_"):
        order = np.argsort(rank(ranker.scores_[best], seed))
    else:
        order = np.argsort(ranks[best])
    columns = best[order]
    draws = getattr(ranker, "n_draws_", None)
    if draws is not None:
        draws = np.bincount(variable_of, draws, len(variables)).astype(np.int64)[order]
    selected, selected_by = _selection(ranker)
    place_of = np.argsort(order)[variable_of]
    return RankingResult(
        ranker=ranker,
        features=np.array([str(name) for name in variables], dtype=object)[order],
        scores=ranker.scores_[columns],
        columns=columns,
        column_names=np.array([str(name) for name in names], dtype=object)[columns],
        selected=selected[columns],
        selected_by=selected_by,
        draws=draws,
        chance=chance_of(ranker),
        place_of=place_of,
        **_correlated_groups(ranker, columns, place_of),
        **_of_columns(ranker, columns),
    )


def _selection(ranker: "FeatureRanker") -> tuple[Bools, Any]:
    """Return which columns a ranker selects, and what selects them."""
    try:
        selected, wanted = ranker.get_support(), ranker.n_features_to_select
    except ValueError:  # the number was raised, or a rule set, after the fit
        return np.zeros(ranker.n_features_in_, dtype=bool), "changed"
    by_rule = "decisions" if isinstance(wanted, str) else "number"
    return selected, "half" if wanted is None else by_rule


def _correlated_groups(ranker: "FeatureRanker", columns: Ints, place_of: Ints) -> dict[str, Any]:
    """Return who represents whom; `place_of` has the place of the feature of each column."""
    score_rank = np.argsort(np.argsort(ranker.score_ranking_[columns])) + 1
    if not hasattr(ranker, "representative_"):
        is_place = np.array_equal(score_rank, np.arange(1, len(columns) + 1))
        return {} if ranker._features is None or is_place else {"score_rank": score_rank}
    stands = place_of[ranker.representative_[columns]]
    is_own = stands == place_of[columns]  # also where it resembles another column of its own
    return {
        "representative": stands,
        "score_rank": score_rank,
        "correlation": np.where(is_own, 1.0, ranker.representative_correlation_[columns]),
    }


def _of_columns(ranker: "FeatureRanker", columns: Ints) -> dict[str, Any]:
    """Return how sure the ranks of some columns are, and the constraints on them."""
    assessed, known = getattr(ranker, "assessment_", None), ranker._features
    table: dict[str, Any] = {
        "decisions": getattr(ranker, "decisions_", getattr(assessed, "decisions", None)),
        "family_probability": getattr(assessed, "family_probability", None),
        "rank_interval": getattr(ranker, "rank_interval_", None),
        "selection_probability": getattr(ranker, "selection_probability_", None),
    }
    if known is not None:
        table["kept"] = known.kept if known.kept.any() else None
        table["excluded"] = known.excluded if known.excluded.any() else None
        table["n_columns"] = known.sizes[known.feature_of] if known.groups else None
        if known.weights is not None:
            table["feature_weights"] = known.deciding_weights(ranker.score_ranking_)
    found = {name: each[columns] for name, each in table.items() if each is not None}
    if hasattr(ranker, "part_rankings_"):
        ranks = zip(ranker.rankers_, ranker.part_rankings_, strict=True)
        found["parts"] = {name: own[columns] for (name, _), own in ranks}
    return found


def chance_of(ranker: "FeatureRanker") -> Chance | None:
    """Return what chance alone scores by the rule of a ranker, else by its assessment, else None.

    A consensus is assessed by the scores of its parts, so that only a rule knows its chance score.
    """
    names = {"cutoff_": "best of the shuffled copies", "assessment_": "best by chance"}
    for holder, name in names.items():
        score = float(getattr(getattr(ranker, holder, None), "null_score", math.nan))
        if math.isfinite(score):
            return Chance(score, name)
    return None
