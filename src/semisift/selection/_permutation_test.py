"""The test with labels that tell nothing: how high do columns score if labels are shuffled.

Under R shuffled labellings all columns are scored again. A column is as good as its score is rare
among the best scores of all R + 1 fits, which corrects for the number of columns. A consensus has a
score of each of its parts: how rare each is becomes lambda, and they are put together as

    lambda_mj = share of the fits whose best score by part m reaches s_mj
    psi_j     = - sum over parts m of log lambda_mj
    p_j       = share of the fits whose best psi reaches psi_j

The fit with the real labels is one of the R + 1, and all are treated alike, so that the p-values
are exact whatever the parts have in common. The p-value of the whole ranking is made in the same
way from the highest score, and the mean of the 20 highest, of each part.

Where a ranker labels all rows by the shape of the data, shuffled labels find the same shape, and
columns are compared with twins instead: see `semisift.transduction._permuted_features`.

F. Pesarin, L. Salmaso (2010). Permutation tests for complex data. Wiley, for the combination.
P. H. Westfall, S. S. Young (1993). Resampling-based multiple testing. Wiley, for the best score.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from semisift.base._decisions import decide
from semisift.base._training_data import TrainingData
from semisift.selection._permutation import (
    Draw,
    How,
    PermutationPlan,
    even_groups,
    permuted_labels,
    permuted_rows,
)
from semisift.selection._refit import (
    ALPHA,
    LABEL_STREAM,
    SIGNIFICANT,
    Scorer,
    parallel_map,
    seeds_of,
)
from semisift.selection._resampling import take_rows
from semisift.transduction._components import components, make_components
from semisift.transduction._permuted_features import exceeded_by_permuted_features, n_together
from semisift.transduction._positive_unlabelled import given_share
from semisift.utils._labels import known_prior

# How many of the highest scores the test of the whole ranking looks at, besides the highest.
N_TESTED = 20

# Twins are tried on at most so many unlabelled rows: enough for the test, and its time is bounded.
MOST_TRIED = 2000

# Sums of logarithms that differ by less are equal.
DECIMALS = 9


@dataclass(frozen=True, eq=False)
class LabellingsTest:
    """What labels that tell nothing leave of a ranking.

    Attributes
    ----------
    p_value : float
        The chance of columns that score so high if the labels tell nothing.
    p_values : float array of shape (p,)
        The chance that any column scores as high as this one if the labels tell nothing.
    null_score : float
        What the best column under shuffled labels exceeds in .025 of them at most; NaN where a
        column has several scores.
    n_labellings : int
        How many shuffled ones, or trials with twins.
    class_p_values : float array of shape (n_classes, p) or None
        With twins: the chance that any column tells the class from the rest as well as this one.
    """

    p_value: float
    p_values: NDArray[np.float64]
    null_score: float
    n_labellings: int
    class_p_values: NDArray[np.float64] | None = None

    @property
    def passed(self) -> NDArray[np.bool_]:
        """Which columns are better than what labels that tell nothing reach."""
        return np.asarray(self.p_values <= ALPHA + 1e-12)

    @property
    def decisions(self) -> NDArray[np.str_]:
        """Return "confirmed", "tentative" or "unconfirmed" for each column.

        Confirmed are columns that pass, if the ranking as a whole does; tentative are those that
        beat the best column in more than half of the shuffled labellings, or the best twin in more
        than three quarters of the trials.
        """
        is_told = self.p_value <= SIGNIFICANT + 1e-12
        return decide(self.passed & is_told, self.p_values < 0.5)

    def no_less_than(self, least: float) -> "LabellingsTest":
        """Return the test without p-values below what so few ways to exchange labels can show.

        That labels are as they were is one of the ways, and rounding may hide that they are.
        """
        least = min(1.0, least)
        of_classes = self.class_p_values
        return replace(
            self,
            p_value=max(self.p_value, least),
            p_values=np.maximum(self.p_values, least),
            class_p_values=None if of_classes is None else np.maximum(of_classes, least),
        )


def test_labels(
    scorer: Scorer,
    plan: tuple[TrainingData, PermutationPlan],
    steps: Iterator[int],
    n: int,
    seed: int,
) -> LabellingsTest | None:
    """Compare the scores with those of labels that tell nothing, as suits the ranker.

    One that labels all rows by the shape of the data is compared with twins of its columns, others
    with n fits to shuffled labels.

    Parameters
    ----------
    scorer : Scorer
    plan : (Problem, Exchange)
        As `plan_exchange` returns them.
    steps : iterator
        One step is taken for each of the n repetitions.
    n, seed : int

    Returns
    -------
    LabellingsTest or None
        None where the scores of different fits cannot be compared.
    """
    labeller = scorer.ranker._labeller()
    seeds = seeds_of(steps, n, seed, LABEL_STREAM)
    problem, exchange = plan
    least = exchange.least_p_value
    if labeller is None:
        test = try_labellings(scorer, problem, seeds, exchange)
        for _ in seeds:  # to the end of the bar, also where there are fewer ways than steps
            pass
        return None if test is None else test.no_less_than(least)
    if problem.labels.n_classes > 1:
        prior = known_prior(labeller.class_prior, problem.labels)
    else:
        share = given_share(labeller.class_prior, problem.labels)
        prior = None if share is None else np.array([share, 1 - share])
    test = try_twins(problem.unweighted, seeds, prior, exchange, scorer.n_jobs)
    for _ in seeds:
        pass
    return test.no_less_than(2 * least)


def try_twins(
    problem: TrainingData,
    seeds: Iterable[int],
    prior: NDArray[np.float64] | None,
    exchange: PermutationPlan,
    n_jobs: int | None = None,
) -> LabellingsTest:
    """Compare the columns with their twins, twice for each seed and once more for the first.

    Parameters
    ----------
    problem : TrainingData
    seeds : iterable of int
        With 39 of them the smallest p-value, which is doubled, is 2 / 80.
    prior : float array of shape (n_classes,) or None
    exchange : Exchange
    n_jobs : int or None

    Returns
    -------
    LabellingsTest
    """
    turns = exchange.draws(
        seed + turn for number, seed in enumerate(seeds) for turn in range(2 if number else 3)
    )
    n_rows = len(problem.some_rows(MOST_TRIED))
    size = n_together(n_rows * components(problem).shape[1])
    trials = iter(lambda: [*islice(turns, size)], [])
    n_classes = max(2, problem.labels.n_classes)
    n_scores = 1 if n_classes == 2 else 1 + n_classes
    reached = np.zeros((2, n_scores, problem.n_features), dtype=np.int64)
    all_reached = np.zeros(2, dtype=np.int64)
    n = 0
    for beaten in parallel_map(try_together, trials, problem, prior, exchange.how, n_jobs=n_jobs):
        reached += beaten.sum(axis=0)
        all_reached += beaten[:, :, 0].all(axis=2).sum(axis=0)
        n += len(beaten)
    # the better of two scores counts, so the p-value is doubled
    p_values = np.minimum(1.0, 2 * (1 + reached.min(axis=0)) / (1 + n))
    p_values[:, problem.constant] = 1.0
    p_value = min(1.0, 2 * (1 + int(all_reached.min())) / (1 + n))
    # of two classes, what tells one from the other tells of both
    of_classes = p_values[1:] if n_classes > 2 else np.repeat(p_values, 2, axis=0)
    return LabellingsTest(p_value, p_values[0], float("nan"), n, of_classes)


def try_together(
    draws: list[Draw], problem: TrainingData, prior: NDArray[np.float64] | None, how: How
) -> NDArray[np.bool_]:
    """Tell which columns the best twin reaches in some trials.

    The shape is (n_trials, 2, n_scores, p): see `exceeded_by_permuted_features`.
    """
    make_components(problem)  # of all rows, of which a part has its own
    rows = problem.some_rows(MOST_TRIED)
    if len(rows) < problem.n_rows:
        problem = take_rows(problem, rows, problem.seed)
    problem = even_groups(problem, how)
    orders = (permuted_rows(problem, draw, how) for draw in draws)
    return np.array([*exceeded_by_permuted_features(problem, orders, prior)])


def try_labellings(
    scorer: Scorer, problem: TrainingData, seeds: Iterable[int], exchange: PermutationPlan
) -> LabellingsTest | None:
    """Compare the scores with those of the same problem under labels that tell nothing.

    None where the scores of different fits cannot be compared.
    """
    observed = scorer.fresh().comparable(problem)
    if observed is None:
        return None
    draws = exchange.draws(seeds)
    others = parallel_map(score_shuffled, draws, problem, scorer, exchange, n_jobs=scorer.n_jobs)
    return compare_labellings(np.array([observed, *others]))


def score_shuffled(
    draw: Draw, problem: TrainingData, scorer: Scorer, exchange: PermutationPlan
) -> NDArray[np.float64] | None:
    """Return the scores under labels that tell nothing; see `Scorer.comparable`."""
    return scorer.fresh().comparable(permuted_labels(problem, draw, exchange))


def compare_labellings(scores: NDArray[np.float64]) -> LabellingsTest:
    """Compare the first of several fits, that with the real labels, with the others.

    Parameters
    ----------
    scores : float array of shape (n_fits, n_parts, p)
        Minus infinity where there is none.

    Returns
    -------
    LabellingsTest

    Examples
    --------
    >>> scores = np.array([[[9.0, 1.0]], [[2.0, 3.0]], [[0.0, 4.0]], [[1.0, 0.0]]])
    >>> test = compare_labellings(scores)
    >>> test.p_value, test.p_values.tolist()
    (0.25, [0.25, 1.0])
    """
    best = scores.max(axis=2)
    psi = np.array([_combine(own, best) for own in scores])
    p_values = _share_reaching(psi[0], psi.max(axis=1))
    whole = np.concatenate([best, _mean_of_highest(scores)], axis=1)
    combined = _combine(whole.T, whole)
    return LabellingsTest(
        p_value=float(_share_reaching(combined[:1], combined)[0]),
        p_values=p_values,
        null_score=_chance_score(best[1:, 0]) if scores.shape[1] == 1 else float("nan"),
        n_labellings=len(scores) - 1,
    )


def _combine(values: NDArray[np.float64], rivals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return psi of each column of `values`; both have a row or column for each statistic."""
    total = np.zeros(values.shape[1])
    for own, against in zip(values, rivals.T, strict=True):
        total -= np.log(_share_reaching(own, against))
    return np.round(total, DECIMALS)


def _share_reaching(
    values: NDArray[np.float64], rivals: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the share of the rivals that are not below each value."""
    n_below = np.searchsorted(np.sort(rivals), values, side="left")
    return np.asarray((len(rivals) - n_below) / len(rivals))


def _mean_of_highest(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of the highest scores; infinite ones are the highest finite one."""
    finite = scores[np.isfinite(scores)]
    if not len(finite):
        return np.zeros(scores.shape[:2])
    clipped = np.clip(scores, finite.min(), finite.max())
    n_left = max(0, scores.shape[2] - N_TESTED)
    return np.asarray(np.partition(clipped, n_left, axis=2)[:, :, n_left:].mean(axis=2))


def _chance_score(best: NDArray[np.float64]) -> float:
    n_above = int(ALPHA * (len(best) + 1) + 1e-12) - 1
    return float(np.sort(best)[-1 - n_above]) if n_above >= 0 and len(best) else float("nan")
