"""The rankers that a consensus asks, and how far each is trusted."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from semisift._base import FeatureRanker
from semisift._problem import Problem
from semisift.ensembles.ssfi import SSFI
from semisift.filters.transductive import TransductiveScore
from semisift.math import Floats
from semisift.transduction.soft_labels import kappa

# Odds are those of a stability no nearer to 0 or 1 than this.
NEAREST = 0.02


def default_rankers(
    n_members: int | Literal["auto"], n_jobs: int | None
) -> list[tuple[str, FeatureRanker]]:
    """Return the rankers that a consensus asks unless told otherwise, by their names.

    Parameters
    ----------
    n_members : int or "auto"
    n_jobs : int or None

    Returns
    -------
    list of (str, FeatureRanker)
    """
    return [
        ("transductive", TransductiveScore()),
        ("ssfi", SSFI(n_members=n_members, n_jobs=n_jobs)),
    ]


def weigh_by_trust(rankers: Sequence[FeatureRanker], problem: Problem) -> Floats:
    """Return how far each fitted ranker is trusted, in any unit.

    With s the stability of the soft labels of `TransductiveScore`, it counts s / (1 - s), the odds
    that its labels hold. Another ranker that labels rows counts the square root of that, but at
    least 1, times the square of how well its labels agree with the soft ones on the unlabelled
    rows: where these are stable, a ranker that labels the rows otherwise has ranked for something
    else. Rankers that label no rows count 1, and without a `TransductiveScore` all do.

    Parameters
    ----------
    rankers : sequence of FeatureRanker
        Fitted on the problem.
    problem : Problem

    Returns
    -------
    float array of shape (n_rankers,)
    """
    weights = np.ones(len(rankers))
    soft = next((each for each in rankers if isinstance(each, TransductiveScore)), None)
    if soft is None:
        return weights
    stable = float(np.clip(soft.stability_, NEAREST, 1 - NEAREST))
    odds = stable / (1 - stable)
    rows, classes = problem.all_labels.unlabelled, problem.labels.classes
    counted = (problem.whole or problem).design.weights
    if counted is not None:
        rows = rows[counted[rows] > 0]
    for place, ranker in enumerate(rankers):
        if ranker is soft:
            weights[place] = odds
        elif ranker.labels_rows:
            own: Any = ranker
            alike = kappa(soft.transduction_[rows], own.transduction_[rows], classes)
            weights[place] = max(1.0, odds) ** 0.5 * max(0.0, alike) ** 2
    return weights


def check_rankers(rankers: Any) -> None:
    """Refuse what is no list of rankers with different names."""
    rule = "rankers must be a list of pairs of a name and a ranker"
    if not len(rankers):
        raise ValueError(f"{rule}: got an empty list.")
    for part in rankers:
        if not isinstance(part, tuple) or len(part) != 2 or not isinstance(part[0], str):
            raise TypeError(f"{rule}: got {part!r}.")
        if not isinstance(part[1], FeatureRanker):
            raise TypeError(f"{rule}: got {part[1]!r} for {part[0]!r}, which is no FeatureRanker.")
    names = [name for name, _ in rankers]
    if len(set(names)) < len(names):
        raise ValueError(f"{rule}, each with a name of its own: got {names}.")
