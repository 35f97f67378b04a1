"""The queue: which rows a label tells most of, and why."""

from typing import NamedTuple

import numpy as np

from semisift._labels import Labels
from semisift._problem import Problem
from semisift.explore.rankings import Guess, Ranking
from semisift.outcome.next_rows import find_next_rows

N_ROWS = 10


class Asked(NamedTuple):
    """A row to label, by its place among the drawn ones, and why."""

    place: int
    reason: str


def ask(problem: Problem, labels: Labels, guess: Guess | None, ranking: Ranking) -> list[Asked]:
    """Choose rows to label next.

    Parameters
    ----------
    problem : Problem
    labels : Labels
        Of its rows.
    guess : Guess or None
    ranking : Ranking

    Returns
    -------
    list of Asked
    """
    known = problem.with_labels(labels, None, problem.seed)
    soft, order = None if guess is None else guess.soft, np.argsort(ranking.ranks)
    found = find_next_rows(known, N_ROWS, soft=soft, order=order)
    return [*map(Asked, found.rows.tolist(), found.reasons)]
