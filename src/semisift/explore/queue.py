"""The queue: which rows a label tells most of, and why."""

from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans

from semisift._labels import Labels
from semisift._problem import Problem
from semisift._words import count
from semisift.explore.rankings import Guess
from semisift.math import Ints
from semisift.transduction.components import components

N_ROWS = 10
N_GROUPS = 10
N_COMPONENTS = 10


class Asked(NamedTuple):
    """A row to label, by its place among the drawn ones, and why."""

    place: int
    reason: str


def ask(problem: Problem, labels: Labels, guess: Guess | None) -> list[Asked]:
    """Choose rows to label next.

    Parameters
    ----------
    problem : Problem
    labels : Labels
        Of its rows.
    guess : Guess or None

    Returns
    -------
    list of Asked
    """
    group: Ints = problem.once("groups to label", _groups)
    T, open_rows = components(problem), labels.unlabelled
    found = []
    sizes = np.bincount(group[open_rows], minlength=N_GROUPS + 1)
    held = np.bincount(group[labels.labelled], minlength=N_GROUPS + 1)
    for number in np.argsort(-sizes):
        if held[number] or not sizes[number]:
            continue
        rows = open_rows[group[open_rows] == number]
        middle = T[group == number].mean(axis=0)
        nearest = rows[np.square(T[rows] - middle).sum(axis=1).argmin()]
        others = count(int(sizes[number]), "unlabelled row")
        found.append(Asked(int(nearest), f"stands for {others} among which none is labelled"))
    if guess is not None:
        sure = guess.sure[open_rows]
        for row in open_rows[np.argsort(sure, kind="stable")].tolist():
            found.append(
                Asked(row, f"is in doubt: its most likely class has {guess.sure[row]:.0%}")
            )
            if len(found) >= 2 * N_ROWS:
                break
    seen = dict.fromkeys(each.place for each in found)
    first = {each.place: each for each in reversed(found)}
    return [first[place] for place in seen][:N_ROWS]


def _groups(problem: Problem) -> Ints:
    T = components(problem)[:, :N_COMPONENTS]
    n_groups = min(N_GROUPS, len(np.unique(T, axis=0)))
    found: Ints = KMeans(n_groups, n_init=1, random_state=problem.seed % 2**32).fit_predict(T)
    return found
