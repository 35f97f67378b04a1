"""LearningCurve: how alike the best features of other labels are, now and with more of them."""

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from semisift._checks import check_choice
from semisift._problem import Problem
from semisift._words import count
from semisift.math import Floats
from semisift.math.extrapolation import LEVEL, extrapolate
from semisift.outcome.assessment import count_best
from semisift.outcome.hands import LEAST_OF_CLASS, Deal, measure
from semisift.outcome.units import units_of

if TYPE_CHECKING:
    from semisift._base import FeatureRanker

# The curve was tried up to so many times the labels that it starts from.
FAR = 2


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """What more labels would bring.

    A stability is 1 if the best features from other labels, as many as these, would be the same,
    and about 0 if they would be as alike as random ones (Nogueira's measure).

    Attributes
    ----------
    sizes : float array of shape (k,)
        Numbers of labels with which the stability was measured, the largest first; in the mean,
        where groups differ in their labels.
    stability, spread : float arrays of shape (k,)
        The stability with so many labels: the mean over deals, and the standard deviation between
        them. All deals are of the same labels, so that other labels would vary by more.
    now, then : float or None
        The stability that is expected with the labels at hand, and with more of them. None where
        there are too few labels to tell.
    now_interval, interval : (float, float) or None
        Where the two lie in `level` of cases.
    n_labelled, n_more : int
        How many labels there are, and how many more were asked for.
    n_best : int
        How many features are the best ones, with those that are kept.
    level : float
    light : bool
        Whether committees were smaller than in the fit.
    lacking : str
        Why nothing can be told; empty where something can.
    """

    sizes: Floats
    stability: Floats
    spread: Floats
    now: float | None
    then: float | None
    now_interval: tuple[float, float] | None
    interval: tuple[float, float] | None
    n_labelled: int
    n_more: int
    n_best: int
    light: bool
    level: float = LEVEL
    lacking: str = ""

    @property
    def words(self) -> str:
        """What it says, in a sentence or two."""
        if self.now is None or self.then is None:
            return self.lacking
        (low_now, high_now), (low, high) = self.now_interval, self.interval  # type: ignore[misc]
        best = "feature" if self.n_best == 1 else f"{self.n_best:,} features"
        text = (
            f"With {count(self.n_labelled, 'label')} the stability of the best {best} is about "
            f"{self.now:.2f} ({self.level:.0%} interval {low_now:.2f} to {high_now:.2f}); with "
            f"{self.n_more:,} more expect {self.then:.2f} ({low:.2f} to {high:.2f}), where 1 is "
            "always the same, whichever rows are labelled, and 0 as alike as random picks."
        )
        if self.n_more > (FAR - 1) * self.n_labelled:
            text += (
                f" That is more than {FAR} times the labels at hand, further than the curve was "
                "tried: take it for a guess."
            )
        return text

    def __repr__(self) -> str:
        if self.now is None or self.then is None:
            return f"<LearningCurve: {self.lacking}>"
        return (
            f"<LearningCurve: stability of the best {self.n_best:,} {self.now:.2f} with "
            f"{self.n_labelled:,} labels, {self.then:.2f} with {self.n_more:,} more>"
        )

    def to_frame(self, output: Literal["polars", "pandas"] = "polars") -> Any:
        """Return a frame with a row for each size, what is expected last.

        Parameters
        ----------
        output : {"polars", "pandas"}, default="polars"

        Returns
        -------
        polars.DataFrame or pandas.DataFrame
            With the columns labels, stability, kind ("measured" or "expected"), spread (of what was
            measured), low and high (of what is expected).
        """
        check_choice(output, "output", ("polars", "pandas"))
        n, nan = len(self.sizes), float("nan")
        table: dict[str, list[Any]] = {
            "labels": self.sizes[::-1].tolist(),
            "stability": self.stability[::-1].tolist(),
            "kind": ["measured"] * n,
            "spread": self.spread[::-1].tolist(),
            "low": [nan] * n,
            "high": [nan] * n,
        }
        ahead = [(0, self.now, self.now_interval), (self.n_more, self.then, self.interval)]
        for more, value, interval in ahead:
            if value is not None and interval is not None:
                row = (float(self.n_labelled + more), value, "expected", nan, *interval)
                for column, cell in zip(table.values(), row, strict=True):
                    column.append(cell)
        return importlib.import_module(output).DataFrame(table)


def draw_curve(
    ranker: "FeatureRanker",
    problem: Problem,
    deals: list[Deal],
    steps: Iterator[int],
    *,
    n_more: int,
    n_best: int | None,
    seed: int,
    light: bool,
) -> LearningCurve:
    """Measure the stability from some of the labels, and lead the curve to more of them.

    Parameters
    ----------
    ranker : FeatureRanker
        Fitted on the problem.
    problem : Problem
    deals : list of Deal
        Of its labels.
    steps : iterator
        One step is taken for each ranking.
    n_more, n_best, seed, light
        As of `FeatureRanker.learning_curve`.

    Returns
    -------
    LearningCurve
    """
    if n_best is None:
        assessed = getattr(ranker, "assessment_", None)
        n_best = count_best(ranker, None) if assessed is None else assessed.n_best
    found = measure(ranker, problem, deals, steps, n_best=n_best, seed=seed, light=light)
    n = len(problem.labels.labelled)
    now = then = None
    lacking = _say_lacking(ranker, problem, n_best)
    if len(found.sizes):
        measured = found.sizes, found.values, float(n)
        now, then = extrapolate(*measured, float(n)), extrapolate(*measured, float(n + n_more))
        lacking = ""
    return LearningCurve(
        sizes=found.sizes,
        stability=found.values,
        spread=found.spreads,
        now=None if now is None else now.value,
        then=None if then is None else then.value,
        now_interval=None if now is None else (now.low, now.high),
        interval=None if then is None else (then.low, then.high),
        n_labelled=n,
        n_more=n_more,
        n_best=n_best,
        light=light,
        lacking=lacking,
    )


def _say_lacking(ranker: "FeatureRanker", problem: Problem, n_best: int) -> str:
    """Say why nothing can be told, where nothing was measured."""
    labels, has_groups = problem.labels, problem.design.groups is not None
    if ranker.labels_needed == "none":
        return (
            f"{type(ranker).__name__} learns nothing from labels: more of them change nothing in "
            "its ranking."
        )
    start = "Too few labels to tell what more would bring"
    if not len(labels.labelled):
        return f"{start}: there are none."
    held = (units_of(problem).counts > 0).sum(axis=0)
    fewest, needed = int(held.argmin()), 2 * LEAST_OF_CLASS
    if held[fewest] < needed:
        unit = "group" if has_groups else "labelled row"
        return (
            f"{start}: rankings from half of them are compared with rankings from the others, "
            f"which takes {count(needed, unit)} of each class, and the class "
            f"{labels.classes.tolist()[fewest]!r} has {int(held[fewest])}."
        )
    if has_groups and n_best < problem.n_features:
        return (
            f"{start}: groups are compared with others whose labelled rows are of the same "
            "classes, and there are too few of these. Label rows of more groups."
        )
    return (
        "Nothing can be told of what more labels would bring: the best features are the same with "
        "any labels, as no others are left."
    )
