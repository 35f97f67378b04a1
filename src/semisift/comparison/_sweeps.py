"""Sweeps: one property of the task is varied step by step, all else stays the same.

labels
    Labelled rows of each class.
flipped
    Share of the labelled rows that carry a wrong label, and so of the pairs that follow from it.
    (Pairs that are flipped one by one contradict each other, which methods refuse.)
left-out
    Share of the unlabelled training rows that a method does not get to see.

The choices are nested: what is labelled at a small number is so at all larger ones, and what is
wrong or left out at a small share is so at all larger ones. Shares of few rows are rounded. Wrong
labels and rows left out disturb the methods alone: judges learn from the same rows, with their true
labels, at every level.
"""

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift.comparison._protocol import Protocol
from semisift.comparison._splits import RowSplit
from semisift.utils._labels import UNLABELLED
from semisift.utils._text import quote

SWEEPS = {
    "labels": "labelled rows of each class",
    "flipped": "share of wrong labels",
    "left-out": "share of unlabelled rows left out",
}


@dataclass(frozen=True)
class Sweep:
    """What is varied, and over which levels.

    Attributes
    ----------
    kind : str
        RunKey of `SWEEPS`.
    levels : tuple of float
        Numbers of labels from 1, or shares from 0 to below 1. The first is what others are held
        against.
    """

    kind: str
    levels: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.kind not in SWEEPS:
            raise ValueError(f"sweep must be one of {', '.join(SWEEPS)}: got {self.kind!r}.")
        is_count = self.kind == "labels"
        rule = "whole numbers from 1" if is_count else "shares from 0 to below 1"
        for level in self.levels:
            if not (_is_count(level) if is_count else _is_proportion(level)):
                raise ValueError(f"sweep {self.kind}: levels must be {rule}: got {level!r}.")
        # one type, so that a level has one name wherever it comes from
        object.__setattr__(self, "levels", tuple(float(level) for level in self.levels))
        if not self.levels or len(set(self.levels)) < len(self.levels):
            raise ValueError(f"sweep {self.kind}: levels must be different: got {self.levels}.")

    @classmethod
    def parse(cls, text: str) -> "Sweep":
        """Read ``labels=1,2,3``.

        Examples
        --------
        >>> Sweep.parse("flipped=0,0.1")
        Sweep(kind='flipped', levels=(0.0, 0.1))
        """
        kind, equals, levels = text.partition("=")
        try:
            numbers = tuple(float(level) for level in levels.split(","))
        except ValueError:
            numbers = ()
        if not equals or not numbers:
            raise ValueError(f"sweep must be KIND=LEVEL,LEVEL,..., as labels=1,2,3: got {text!r}.")
        return cls(kind.strip(), numbers)

    def protocol(self, protocol: Protocol, level: float) -> Protocol:
        """Return the protocol of one level."""
        if self.kind != "labels":
            return protocol
        return replace(protocol, labels_per_class=int(level), n_labelled=None, labelled_share=None)


def find_sweep(sweep: "str | Sweep | None") -> Sweep | None:
    """Return a sweep, or the one that a text describes."""
    if isinstance(sweep, str):
        return Sweep.parse(sweep)
    if sweep is not None and not isinstance(sweep, Sweep):
        raise ValueError(f"sweep must be None, a text or a Sweep: got {quote(sweep)}.")
    return sweep


def _is_count(level: Any) -> bool:
    return isinstance(level, Real) and float(level).is_integer() and float(level) >= 1


def _is_proportion(level: Any) -> bool:
    return isinstance(level, Real) and 0 <= float(level) < 1


@dataclass(frozen=True, eq=False)
class Task:
    """What a method is given: rows and what it may know of them.

    Attributes
    ----------
    rows : int array
        Rows of the data set.
    y : int array of shape (len(rows),)
        Codes of the classes, -1 for unlabelled rows.
    """

    rows: NDArray[np.int64]
    y: NDArray[np.int64]


def disturb(
    split: RowSplit,
    y: NDArray[np.int64],
    sweep: Sweep | None,
    level: float | None,
    rng: np.random.Generator,
) -> Task:
    """Return what a method is given at one level of a sweep.

    Parameters
    ----------
    split : RowSplit
    y : int array of shape (n,)
        True classes of all rows.
    sweep : Sweep or None
    level : float or None
    rng : Generator
        In the same state for all levels of a run.

    Returns
    -------
    Task
    """
    given = np.where(split.is_labelled, y[split.train], UNLABELLED)
    task = Task(split.train, given)
    if sweep is None or level is None or sweep.kind == "labels":
        return task
    change = {"flipped": _flip_labels, "left-out": _leave_out}
    return change[sweep.kind](task, level, rng)


def _flip_labels(task: Task, share: float, rng: np.random.Generator) -> Task:
    labelled = rng.permutation(np.flatnonzero(task.y != UNLABELLED))
    classes = np.unique(task.y[labelled])
    steps = rng.integers(1, len(classes), size=len(labelled)) if len(classes) > 1 else 0
    wrong = classes[(np.searchsorted(classes, task.y[labelled]) + steps) % len(classes)]
    n_flipped = round(share * len(labelled))
    y = task.y.copy()
    y[labelled[:n_flipped]] = wrong[:n_flipped]
    return replace(task, y=y)


def _leave_out(task: Task, share: float, rng: np.random.Generator) -> Task:
    unlabelled = rng.permutation(np.flatnonzero(task.y == UNLABELLED))
    kept = np.ones(len(task.y), dtype=bool)
    kept[unlabelled[: round(share * len(unlabelled))]] = False
    return Task(task.rows[kept], task.y[kept])
