"""LearningCurve: how alike the best features of other labels are, now and with more of them.

The labelled rows are shuffled and split into m disjoint subsets: of each class n_c // m rows a
subset, the rest are left out. Subsets that held one class more often than the others do would
differ by that alone. With groups, whole groups are split, of those whose labelled rows are of the
same classes as many to each subset. All rows stay; those that are not of a subset count as
unlabelled.

Rankings from two subsets of one split differ as those from labels of two studies of that size
would. How alike their best features are, in the mean over many splits, is the stability at that
size.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semisift.base._training_data import TrainingData
from semisift.selection._assessment import alike_features, count_best
from semisift.selection._refit import Scorer, parallel_map, rank_labelled, seed_of, units_of
from semisift.transduction._components import make_components
from semisift.utils._agreement import LEVEL, extrapolate
from semisift.utils._frame import make_frame
from semisift.utils._text import plural
from semisift.utils._typing import Floats

if TYPE_CHECKING:
    from semisift.base._ranker import FeatureRanker

SPLIT_STREAM = 0x68616E64

# Labelled rows of each class, or groups with such, that each of two subsets must have. With one of
# each, all that can be told is what is usual (see docs/results/learning-curve.md).
MIN_OF_CLASS = 2

# Rankings at each size, or a few less.
N_RANKINGS = 24

# Sizes at most, each smaller than the last by such a factor at least.
MAX_SIZES = 4
STEP = 1.4

# The curve was tried up to so many times the labels that it starts from.
FAR = 2

# Disjoint subsets of the labelled rows.
LabelSplit = list[NDArray[np.int64]]


class Measured(NamedTuple):
    """The stability at some sizes, the largest first: float arrays of shape (k,).

    Attributes
    ----------
    n_subsets : in one split
    sizes : labels of a subset, in the mean
    values, spreads : mean over splits, and standard deviation between them
    n_splits : that could be compared
    """

    n_subsets: Floats
    sizes: Floats
    values: Floats
    spreads: Floats
    n_splits: Floats


def numbers_of_subsets(data: TrainingData, least: int = MIN_OF_CLASS) -> list[int]:
    """Return into how many subsets the labels are split, ascending; none where they are too few.

    Of numbers that give subsets of the same size the largest counts. Each of two subsets has
    `least` rows of each class, or groups with such; smaller subsets have one.
    """
    units = units_of(data)
    kinds, sizes = units.kinds(), dict[int, int]()
    for n_subsets in range(2, max(map(len, kinds), default=0) + 1):
        subset = np.concatenate([kind[: len(kind) // n_subsets] for kind in kinds])
        n_units = (units.counts[subset] > 0).sum(axis=0)
        if n_units.min() < (1 if sizes else least):
            break
        sizes[len(subset)] = n_subsets
    chosen: list[int] = []
    last = np.inf
    for size, n_subsets in sizes.items():
        if size * STEP <= last and len(chosen) < MAX_SIZES:
            chosen.append(n_subsets)
            last = size
    return chosen


def split_labels(data: TrainingData, seed: int, least: int = MIN_OF_CLASS) -> list[LabelSplit]:
    """Split the labels into every one of the `numbers_of_subsets`, several times."""
    units = units_of(data)
    kinds = units.kinds()
    labelled = [rows[data.labels.codes[rows] >= 0] for rows in units.members()]
    rng = np.random.default_rng([seed, SPLIT_STREAM])
    splits = []
    for n_subsets in numbers_of_subsets(data, least):
        for _ in range(max(1, N_RANKINGS // n_subsets)):
            rows: list[LabelSplit] = [[] for _ in range(n_subsets)]
            for kind in kinds:
                shuffled, n_each = rng.permutation(kind), len(kind) // n_subsets
                for place, subset in enumerate(rows):
                    subset += [labelled[unit] for unit in shuffled[place * n_each :][:n_each]]
            splits.append([np.sort(np.concatenate(subset)) for subset in rows])
    return splits


def measure(
    ranker: "FeatureRanker",
    data: TrainingData,
    splits: list[LabelSplit],
    steps: Iterator[int],
    *,
    n_best: int,
    seed: int,
    fast: bool,
) -> Measured:
    """Return how alike the best features are by the labels of the subsets, a step each."""
    scorer = Scorer(ranker, fast=fast)
    if scorer.labeller is not None:
        make_components(data)
    subsets = [subset for split in splits for subset in split]
    items = (
        (subset, seed_of(seed, SPLIT_STREAM, number))
        for number, (subset, _) in enumerate(zip(subsets, steps, strict=False))
    )
    found = parallel_map(rank_labelled, items, data, scorer, n_best, n_jobs=scorer.n_jobs)
    rankings = iter([np.flatnonzero(ranking <= n_best) for ranking in found])
    measured = []
    for n_subsets, alike in groupby(splits, key=len):
        values, sizes = [], []
        for split in alike:
            best = [*islice(rankings, n_subsets)]
            stable = alike_features(ranker, best) if len(best) == n_subsets else None
            if stable is not None and not np.isnan(stable.value):
                values.append(stable.value)
                sizes.append(np.mean([*map(len, split)]))
        if values:
            spread = np.std(values, ddof=len(values) > 1)
            measured.append((n_subsets, np.mean(sizes), np.mean(values), spread, len(values)))
    return Measured(*np.array(measured).reshape(-1, 5).T)


# --- curve ----------------------------------------------------------------------------------------


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
        The stability with so many labels: the mean over splits, and the standard deviation between
        them. All splits are of the same labels, so that other labels would vary by more.
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
    fast : bool
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
    fast: bool
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
            f"With {plural(self.n_labelled, 'label')} the stability of the best {best} is about "
            f"{self.now:.2f} ({self.level:.0%} interval {low_now:.2f} to {high_now:.2f}); with "
            f"{self.n_more:,} more expect {self.then:.2f} ({low:.2f} to {high:.2f}), where 1 is "
            "always the same, whichever rows are labelled, and 0 as alike as random picks."
        )
        if self.n_more <= (FAR - 1) * self.n_labelled:
            return text
        return (
            f"{text} That is more than {FAR} times the labels at hand, further than the curve was "
            "tried: take it for a guess."
        )

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
        nan = float("nan")
        measured = zip(self.sizes, self.stability, self.spread, strict=True)
        rows = [(n, value, "measured", spread, nan, nan) for n, value, spread in [*measured][::-1]]
        ahead = [(0, self.now, self.now_interval), (self.n_more, self.then, self.interval)]
        for more, value, interval in ahead:
            if value is not None and interval is not None:
                rows.append((float(self.n_labelled + more), value, "expected", nan, *interval))
        names = ("labels", "stability", "kind", "spread", "low", "high")
        columns = zip(*rows, strict=True) if rows else [()] * len(names)
        return make_frame(dict(zip(names, map(list, columns), strict=True)), output)


def draw_curve(
    ranker: "FeatureRanker",
    data: TrainingData,
    splits: list[LabelSplit],
    steps: Iterator[int],
    *,
    n_more: int,
    n_best: int | None,
    seed: int,
    fast: bool,
) -> LearningCurve:
    """Return the stability from some of the labels, and what the curve says of more of them.

    `splits` are those of the labels, with a step for each subset; the other parameters are those of
    `FeatureRanker.learning_curve`.
    """
    if n_best is None:
        assessed = getattr(ranker, "assessment_", None)
        n_best = count_best(ranker, None) if assessed is None else assessed.n_best
    found = measure(ranker, data, splits, steps, n_best=n_best, seed=seed, fast=fast)
    n, now, then, known = len(data.labels.labelled), None, None, len(found.sizes) > 0
    if known:
        measured = found.sizes, found.values, float(n)
        now, then = extrapolate(*measured, float(n)), extrapolate(*measured, float(n + n_more))
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
        fast=fast,
        lacking="" if known else _format_lacking(ranker, data, n_best),
    )


def _format_lacking(ranker: "FeatureRanker", data: TrainingData, n_best: int) -> str:
    """Return why there is no curve, where nothing was measured."""
    labels, has_groups = data.labels, data.design.groups is not None
    if ranker.labels_needed == "none":
        return f"{type(ranker).__name__} learns nothing from labels: more of them change nothing."
    start = "Too few labels to tell what more would bring"
    if not len(labels.labelled):
        return f"{start}: there are none."
    n_units = (units_of(data).counts > 0).sum(axis=0)
    fewest, needed = int(n_units.argmin()), 2 * MIN_OF_CLASS
    if n_units[fewest] < needed:
        unit = "group" if has_groups else "labelled row"
        return (
            f"{start}: comparing rankings from two halves takes {plural(needed, unit)} of each "
            f"class, and the class {labels.classes.tolist()[fewest]!r} has {int(n_units[fewest])}."
        )
    if has_groups and n_best < data.n_features:
        return (
            f"{start}: groups are compared with others whose labelled rows are of the same "
            "classes, and there are too few of these. Label rows of more groups."
        )
    return "More labels change nothing: the best features are the same with any labels."
