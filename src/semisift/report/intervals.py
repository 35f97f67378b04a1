"""How far the ranks move on halves of the rows: the whiskers of the picture, and in words."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from semisift._base import FeatureRanker
from semisift._cutoff.assessment import Assessment
from semisift._words import shorten, visible
from semisift.report.marks import draw_marks
from semisift.report.palette import Palette, WriteName, bare
from semisift.report.plots import set_ranks, size_in_points
from semisift.report.ranking import Ranking

MOST_WHISKERS = 20

# Of a name: nothing may stick out at the left.
LETTER_WIDTH = 7.0


@dataclass(frozen=True, eq=False)
class Moves:
    """The best features with the interval of their ranks.

    Attributes
    ----------
    names : list of str
    ranks : int array of shape (n,)
    intervals : int array of shape (n, 2)
        Lowest and highest rank on halves of the rows.
    decisions : array of str or None
    n_best : int or None
        How many features count as the best ones; None where that is outside the picture.
    words : str
        What the picture shows.
    """

    names: list[str]
    ranks: NDArray[np.int64]
    intervals: NDArray[np.int64]
    decisions: NDArray[np.str_] | None
    n_best: int | None
    words: str

    def __len__(self) -> int:
        return len(self.names)

    @property
    def right(self) -> float:
        """End of the axis of ranks."""
        return max(1.15 * int(max(self.intervals.max(), self.ranks.max())), 12.0)

    def head(self, n: int) -> "Moves":
        """Return the best n features alone."""
        decisions = None if self.decisions is None else self.decisions[:n]
        part = replace(
            self,
            names=self.names[:n],
            ranks=self.ranks[:n],
            intervals=self.intervals[:n],
            decisions=decisions,
        )
        fits = self.n_best is not None and self.n_best + 0.5 < part.right
        return part if fits else replace(part, n_best=None)


def follow_ranks(ranking: Ranking, ranker: FeatureRanker) -> Moves | None:
    """Take the best features that are no near-copies; None where their intervals are not known."""
    found: Assessment | None = getattr(ranker, "assessment_", None)
    if ranking.rank_interval is None or found is None:
        return None
    places = np.flatnonzero(~np.isnan(ranking.scores) & ~ranking.is_copy)[:MOST_WHISKERS]
    if not len(places):
        return None
    names = [visible(name) for name in ranking.features[places]]
    intervals = ranking.rank_interval[places]
    moves = Moves(
        names=names,
        ranks=places + 1,
        intervals=intervals,
        decisions=None if ranking.decisions is None else ranking.decisions[places],
        n_best=None,
        words="",
    )
    n_best = found.n_best if found.n_best + 0.5 < moves.right else None
    words = [
        f"The whiskers span the ranks on {found.n_resamples:,} halves of the rows, but for the "
        "highest and lowest 5%; the mark is the rank on all rows.",
        *_extremes(names, intervals),
    ]
    if n_best is not None:
        words.append(f"The dotted line ends the best {n_best:,}.")
    if len(ranking) < ranker.n_features_in_:
        words.append("The whiskers are ranks among columns, of which a feature may have several.")
    return replace(moves, n_best=n_best, words=" ".join(words))


def _extremes(names: list[str], intervals: NDArray[np.int64]) -> list[str]:
    """Say which feature moves least, and which most.

    Examples
    --------
    >>> _extremes(["a", "b"], np.array([[1, 3], [2, 60]]))
    ['a moves least (rank 1 to 3), b most (2 to 60).']
    """
    low, high = intervals.T
    factors = high / low
    least, most = int(factors.argmin()), int(factors.argmax())
    if factors[least] == factors[most]:
        return []
    steady, restless = (shorten(names[place], 40) for place in (least, most))
    return [
        f"{steady} moves least (rank {low[least]:,} to {high[least]:,}), {restless} most "
        f"({low[most]:,} to {high[most]:,})."
    ]


def draw_whiskers(
    ax: Axes, moves: Moves, palette: Palette, write: WriteName, room: float | None = None
) -> None:
    """Draw a whisker for each feature, the best on top.

    The names stand at the left, where they have `room` units, or above the whiskers.
    """
    bare(ax, palette)
    set_ranks(ax, moves.right, palette)
    lines = np.arange(len(moves))
    ax.set_ylim(len(moves) - 0.4, -0.6 if room else -0.9)
    ax.spines["left"].set_visible(False)
    ax.set_yticks([])
    colour = palette.accent if moves.decisions is None else palette.muted
    low, high = moves.intervals.T
    ax.hlines(lines, low, high, color=colour, lw=1.2)
    ends, middles = np.concatenate([low, high]), np.tile(lines, 2)
    ax.plot(ends, middles, "|", color=colour, ms=4.8, mew=1.2)
    if moves.decisions is None:
        ax.plot(moves.ranks, lines, "o", color=palette.accent, ms=4.4, mew=0, zorder=3)
    else:
        draw_marks(ax, moves.ranks, lines, moves.decisions, palette)
    if moves.n_best is not None:
        ax.axvline(moves.n_best + 0.5, color=palette.muted, lw=0.9, ls=(0, (1, 3)), zorder=0.5)
    _write_names(ax, moves.names, palette, write, room)


def _write_names(
    ax: Axes, names: list[str], palette: Palette, write: WriteName, room: float | None
) -> None:
    width, _ = size_in_points(ax)
    look: dict[str, Any] = {"ha": "right", "xytext": (-8, 0)}
    if room is None:
        look = {"ha": "left", "xytext": (0, 12)}
    n_letters = int((width if room is None else room - 8) / LETTER_WIDTH)
    for line, name in enumerate(names):
        ax.annotate(
            write(name, n_letters),
            (0, line),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            color=palette.ink,
            annotation_clip=False,
            **look,
        )
