"""Recursive elimination: which column is the weakest in the machines on those that are left.

The strength of a column is the square root of its criterion, a length that moves no further than
the machines do. So machines need not be compared with all columns after each removal: the weakest
columns at one time are the front, and while the others cannot have become weaker than the weakest
of the front, they are not looked at.
"""

import numpy as np

from semisift.embedded._svm_solver import Machines
from semisift.exceptions import FallbackWarning
from semisift.utils._typing import Bools, Floats, Ints
from semisift.utils._warnings import warn

# The front has so many columns, and more of them if rows are few, up to so many values, 2 MB: more
# are slower to compare, fewer are used up sooner.
FRONT_COLUMNS = 1024
FRONT_VALUES = 1 << 18

# Strengths that differ by less than this share of the usual one are equal: well above what the
# tolerance of the machines leaves open, or rounding would decide between equally weak columns.
TIE = 1e-8

# A weighted sum of rows below this share of the weights is none: a class that lies between the
# others in the columns left has no direction, and unlabelled rows may hold nothing but zeros.
NO_LENGTH = 1e-8


class Elimination:
    """The columns that are left, and the machines trained on them.

    Parameters
    ----------
    labelled, unlabelled : Machines or None
        Columns scaled to [0, 1].
    unlabelled_weight : float
        Weight of the unlabelled machine in the criterion.
    is_printed : bool
        Add the weights of both machines, instead of the squares of weights of length 1.
    kept : bool array of shape (p,)
        The columns that are left at the start.
    tie_order : int array of shape (p,)
        Of equally weak columns the one with the lowest number leaves.
    last : bool array of shape (p,), optional
        Columns that leave after all others.
    """

    def __init__(
        self,
        labelled: Machines | None,
        unlabelled: Machines | None,
        *,
        unlabelled_weight: float,
        is_printed: bool,
        kept: Bools,
        tie_order: Ints,
        last: Bools | None = None,
    ) -> None:
        self.unlabelled = unlabelled
        self.machines = [part for part in (labelled, unlabelled) if part is not None]
        self.shares = [
            unlabelled_weight if part is unlabelled else 1 / len(part.dual)
            for part in self.machines
        ]
        self.is_printed, self.tie_order = is_printed, tie_order
        self.kept = kept.copy()
        self.last = np.zeros(len(kept), dtype=bool) if last is None else last & kept
        self.n_kept = int(kept.sum())
        self.has_direction = True
        self._start_afresh()

    def remove(self, count: int) -> Ints:
        """Remove the weakest columns and return them, the weakest first."""
        if self.last.any() and self.n_kept == np.count_nonzero(self.kept & self.last):
            self.last = np.zeros_like(self.last)  # all others have left
            self._no_front()
        if count == 1:
            place = self._weakest()
            weakest = self.front[[place]]
            columns = [block[[place]].T for block in self.blocks]
            self.in_front[place] = False
        else:
            weakest = self.by_strength()[:count]
            columns = [part.columns.columns(weakest) for part in self.machines]
            self._no_front()
        self.kept[weakest] = False
        self.n_kept -= count
        if self.n_kept < self.n_at_start / 2:
            self._start_afresh()
        else:
            for part, Z in zip(self.machines, columns, strict=True):
                part.remove(Z, self.kept)
        return weakest

    def by_strength(self) -> Ints:
        """Return the columns that are left, the weakest first."""
        if self.n_kept <= 1:
            return np.flatnonzero(self.kept)
        self._train()
        left, strengths = self._all_strengths()
        levels = np.round(strengths / self.tie) if self.tie > 0 else strengths
        return left[np.lexsort((self.tie_order[left], levels, self.last[left]))]

    def _all_strengths(self) -> tuple[Ints, Floats]:
        """Return the columns that are left and their strengths."""
        left = np.flatnonzero(self.kept)
        pairs = zip(self.machines, self.directions, strict=True)
        weights = [part.columns.project(direction.T)[left] for part, direction in pairs]
        return left, self._strengths(weights)

    def _start_afresh(self) -> None:
        """Compute the Gram matrices, which lose a little precision with each removal."""
        self.n_at_start = self.n_kept
        for part in self.machines:
            part.keep(self.kept)
        self._no_front()

    def _train(self) -> None:
        """Train the machines, and scale their dual variables as the criterion asks."""
        self.directions = []
        total = 0.0
        for part, share in zip(self.machines, self.shares, strict=True):
            part.train()
            lengths = part.lengths
            has_length = lengths > NO_LENGTH * np.abs(part.dual).sum(axis=1)
            if part is self.unlabelled and not has_length[0]:
                self._warn_of_no_direction()
            scales = np.ones(len(lengths))
            if not self.is_printed:
                np.divide(np.sqrt(share), lengths, out=scales, where=has_length)
                scales[~has_length] = 0.0
            total += ((scales * lengths) ** 2).sum()
            self.directions.append(part.dual * scales[:, None])
        self.tie = TIE * float(np.sqrt(total / max(1, self.n_kept)))

    def _strengths(self, weights: list[Floats]) -> Floats:
        """Return strengths from the weights in the machines, each of shape (n, n_machines)."""
        if self.is_printed:
            weights = [sum(weights[1:], weights[0])]
        return np.sqrt(sum(np.einsum("ij,ij->i", part, part) for part in weights))

    def _weakest(self) -> int:
        """Return the place in the front of the weakest column of all."""
        self._train()
        strengths = self._strengths_in_front()
        if strengths.min(initial=np.inf) + self.tie >= self.beyond - self._drift():
            self._new_front()
            strengths = self._strengths_in_front()
        tied = np.flatnonzero(strengths <= strengths.min() + self.tie)
        return int(tied[np.argmin(self.tie_order[self.front[tied]])])

    def _strengths_in_front(self) -> Floats:
        pairs = zip(self.blocks, self.directions, strict=True)
        strengths = self._strengths([block @ direction.T for block, direction in pairs])
        return np.where(self.in_front & ~self.last[self.front], strengths, np.inf)

    def _drift(self) -> float:
        """Return by how much columns can be weaker than when the front was made.

        The values of a column are between 0 and 1, so they differ from 1/2 by 1/2 at most. As
        printed, the one weight of the unlabelled rows is added to that of each class.
        """
        drift = 0.0
        n_sums = max(len(direction) for direction in self.directions) if self.is_printed else 1
        for now, then in zip(self.directions, self.then, strict=True):
            moved = now - then
            most = np.sqrt(moved.shape[1]) * np.linalg.norm(moved) + np.abs(moved.sum(axis=1)).sum()
            drift += np.sqrt(max(1.0, n_sums / len(moved))) * most / 2
        return float(drift)

    def _new_front(self) -> None:
        """Put the weakest columns in the front, and the equally weak ones by their tie order."""
        n_rows = sum(part.columns.n_rows for part in self.machines)
        size = max(FRONT_COLUMNS, FRONT_VALUES // n_rows)
        left, strengths = self._all_strengths()
        strengths = np.where(self.last[left], np.inf, strengths)
        self.front, self.beyond = left, np.inf
        if len(left) > size:
            places = np.argpartition(strengths, size)
            self.front, self.beyond = left[places[:size]], float(strengths[places[size]])
            if strengths.min() + self.tie >= self.beyond:
                self.front = self.by_strength()[:size]
        self.in_front = np.ones(len(self.front), dtype=bool)
        self.blocks = [
            np.ascontiguousarray(part.columns.columns(self.front).T) for part in self.machines
        ]
        self.then = self.directions

    def _no_front(self) -> None:
        self.front = np.empty(0, dtype=np.int64)
        self.in_front = np.empty(0, dtype=bool)
        self.beyond = -np.inf
        self.blocks = [np.empty((0, part.columns.n_rows)) for part in self.machines]
        self.then = [part.dual for part in self.machines]

    def _warn_of_no_direction(self) -> None:
        if self.has_direction:
            warn(
                "The one-class machine of the unlabelled rows has no direction in the last "
                f"{self.n_kept} columns: too many of these rows hold nothing but the smallest "
                "values. From there on the labelled rows alone decide; a larger nu may help.",
                FallbackWarning,
            )
        self.has_direction = False
