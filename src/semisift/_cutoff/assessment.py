"""Assessment: how much a ranking depends on the rows it has seen, and whether on the labels."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from semisift._cutoff.samples import exchanges_labels, half_of_rows, shuffled_labels
from semisift._cutoff.scoring import Scorer, comparable_scores, learns_from_labels, seed_of
from semisift._problem import Problem
from semisift.math.stability import Stability, nogueira

if TYPE_CHECKING:
    from semisift._base import FeatureRanker

RESAMPLE_STREAM = 0x726573
PERMUTATION_STREAM = 0x706572

# The interval of the ranks leaves out this share at each end.
TAIL = 0.05

# How many of the best columns the permutation test looks at.
N_TESTED = 20


@dataclass(frozen=True, eq=False)
class Assessment:
    """How sure a ranking is.

    Attributes
    ----------
    rank_interval : int array of shape (p, 2) or None
        Lowest and highest rank of each column, without the 5 % of the halves of the rows at either
        end. None without resamples.
    selection_probability : float array of shape (p,) or None
        In which share of them each column was among the best.
    stability : Stability or None
        How alike the best columns of different halves are: 1 if they are the same, about 0 if they
        are as alike as random ones (Nogueira's measure, with its 95 % interval).
    n_best : int
        How many columns are the best ones.
    n_resamples : int
    p_value : float
        The chance of columns that score so high if the labels tell nothing. NaN without
        permutations, without labels, and for methods whose scores are places in an order.
    n_permutations : int
    exchanged : bool
        Whether labels were exchanged among the labelled rows, rather than given to rows drawn from
        all.
    """

    rank_interval: NDArray[np.int64] | None
    selection_probability: NDArray[np.float64] | None
    stability: Stability | None
    n_best: int
    n_resamples: int
    p_value: float
    n_permutations: int
    exchanged: bool


def assess_ranking(
    ranker: "FeatureRanker",
    X: Any,
    y: Any,
    pairs: Mapping[str, Any],
    n_best: int | None = None,
    n_resamples: int = 50,
    n_permutations: int = 99,
    random_state: int | None = None,
) -> Assessment:
    """Assess a fitted ranker; parameters as of `FeatureRanker.assess`."""
    for name, value in {"n_resamples": n_resamples, "n_permutations": n_permutations}.items():
        if value < 0:
            raise ValueError(f"{name} must be 0 or more: got {value}.")
    problem = clone(ranker)._build_problem(X, y, **pairs)
    p = ranker.n_features_in_
    if problem.n_features != p:
        raise ValueError(
            f"X must be the rows of the fit, with {p} columns: got {problem.n_features}."
        )
    if n_best is None:
        n_best = max(1, int(ranker.get_support().sum()))
    if not 1 <= n_best <= p:
        raise ValueError(f"n_best must be from 1 to the {p} columns of X: got {n_best}.")
    seed = problem.seed if random_state is None else random_state
    scorer = Scorer(ranker)
    rankings = resampled_rankings(scorer, problem, n_resamples, seed)
    found = n_resamples > 0
    tested = permutation_scores(ranker, scorer, problem, n_permutations, seed)
    return Assessment(
        rank_interval=rank_interval(rankings) if found else None,
        selection_probability=(rankings <= n_best).mean(axis=0) if found else None,
        stability=best_stability(rankings, n_best) if found else None,
        n_best=n_best,
        n_resamples=n_resamples,
        p_value=nan if tested is None else permutation_p_value(tested),
        n_permutations=0 if tested is None else n_permutations,
        exchanged=exchanges_labels(problem),
    )


def resampled_rankings(
    scorer: Scorer, problem: Problem, n_resamples: int, seed: int
) -> NDArray[np.int64]:
    """Return the ranks of all columns on halves of the rows, of shape (n_resamples, p)."""
    rankings = np.empty((n_resamples, problem.n_features), dtype=np.int64)
    for number in range(n_resamples):
        own = seed_of(seed, RESAMPLE_STREAM, number)
        rankings[number] = scorer.ranking_on(problem, half_of_rows(problem, own), own)
    return rankings


def rank_interval(rankings: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the lowest and highest rank of each column, without the tails."""
    low = np.quantile(rankings, TAIL, axis=0, method="lower")
    high = np.quantile(rankings, 1 - TAIL, axis=0, method="higher")
    return np.column_stack([low, high]).astype(np.int64)


def best_stability(rankings: NDArray[np.int64], n_best: int) -> Stability:
    """Return how alike the best columns of the rankings are."""
    tops = [np.flatnonzero(ranking <= n_best) for ranking in rankings]
    return nogueira(tops, rankings.shape[1])


def permutation_scores(
    ranker: "FeatureRanker", scorer: Scorer, problem: Problem, n_permutations: int, seed: int
) -> NDArray[np.float64] | None:
    """Return the scores under the real labels and, below, under labels that tell nothing.

    None where the scores of different fits cannot be compared, and without labels.
    """
    observed = comparable_scores(ranker)
    if observed is None or not n_permutations or not learns_from_labels(ranker, problem):
        return None
    scores = [observed]
    for number in range(n_permutations):
        own = seed_of(seed, PERMUTATION_STREAM, number)
        rivals = scorer.comparable(shuffled_labels(problem, own))
        assert rivals is not None
        scores.append(rivals)
    return np.array(scores)


def permutation_p_value(scores: NDArray[np.float64], n_tested: int = N_TESTED) -> float:
    """Return the p-value of the first row of scores against the others.

    The statistic is the mean of the highest scores. Infinite ones count as the highest finite score
    of all rows.

    Parameters
    ----------
    scores : float array of shape (1 + n_permutations, p)
    n_tested : int
        How many of the highest scores.

    Returns
    -------
    float
    """
    finite = scores[np.isfinite(scores)]
    if not len(finite):
        return 1.0
    best = np.sort(np.clip(scores, finite.min(), finite.max()), axis=1)[:, -n_tested:]
    means = best.mean(axis=1)
    reach = means[1:] >= means[0] - 1e-12 * abs(means[0])
    return float((1 + np.count_nonzero(reach)) / len(means))
