"""How good a committee is on rows with known classes, at its beginning and at its end."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semisift.math.diversity import entropy_diversity

When = Literal["begin", "end"]


class Quality(NamedTuple):
    """How good a committee is on a test set.

    Attributes
    ----------
    accuracy : float
        Of the vote.
    member_accuracy : float
        The mean of the members' own.
    diversity : float
        The entropy measure of `semisift.math.diversity.entropy_diversity`: 0 if on each row all
        members are right or all are wrong.
    """

    accuracy: float
    member_accuracy: float
    diversity: float


class Diagnosis(NamedTuple):
    """How good a committee was before any row was added, and how good it is now."""

    begin: Quality
    end: Quality


def quality(
    votes: NDArray[np.floating],
    choices: NDArray[np.integer],
    classes: NDArray[Any],
    truth: NDArray[Any],
) -> Quality:
    """Judge a committee.

    Parameters
    ----------
    votes : array of shape (n_rows, n_classes)
        For each class.
    choices : int array of shape (n_members, n_rows)
        The class that each member prefers.
    classes : array of shape (n_classes,)
    truth : array of shape (n_rows,)

    Returns
    -------
    Quality
    """
    vote = classes[votes.argmax(axis=1)]
    is_right = classes[choices] == truth
    return Quality(
        float((vote == truth).mean()), float(is_right.mean()), entropy_diversity(is_right)
    )
