"""What a fit was given, in few bytes: methods that need it again tell whether they have it."""

from typing import Any, NamedTuple

import joblib
from numpy.typing import NDArray

from semisift._problem import Problem
from semisift._words import examples


class GivenToFit(NamedTuple):
    """What is kept of the rows and labels of a fit; of what there is for each row, a hash."""

    n_rows: int
    is_marked: bool  # as logarithms of counts
    classes: list[Any]
    y: str | None
    groups: str | None
    batch: str | None
    sample_weight: str | None

    def difference(self, again: "GivenToFit") -> str | None:
        """Say in what something else differs; None where it is the same, as far as is known.

        Groups may be told later: they say how rows are drawn, and nothing of their values.
        """
        if again.n_rows != self.n_rows:
            return f"X had {self.n_rows:,} rows: got {again.n_rows:,}"
        if again.is_marked != self.is_marked:
            was, now = ("was" if each.is_marked else "was not" for each in (self, again))
            return f"the X of fit {was} marked as normalize_counts does, and this one {now}"
        if again.classes != self.classes:
            return f"y had the classes {examples(self.classes)}: got {examples(again.classes)}"
        for name in ("y", "groups", "batch", "sample_weight"):
            known, given = getattr(self, name), getattr(again, name)
            if known is not None and given != known:
                return f"{name} {'is lacking' if given is None else 'differs'}"
            if known is None and given is not None and name != "groups":
                return f"fit was given no {name}"
        return None


def given_to_fit(problem: Problem) -> GivenToFit:
    """Return what is kept of the problem of a fit."""
    labels = problem.all_labels
    design = problem.design if problem.whole is None else problem.whole.design
    return GivenToFit(
        n_rows=len(labels.codes),
        is_marked=problem.design.depth is not None,
        classes=labels.classes.tolist(),
        y=_hash(labels.codes),
        groups=_hash(design.groups),
        batch=_hash(design.batches),
        sample_weight=_hash(design.weights),
    )


def _hash(of_rows: NDArray[Any] | None) -> str | None:
    return None if of_rows is None else str(joblib.hash(of_rows))
