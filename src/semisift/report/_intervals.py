"""How far the ranks move on halves of the rows: the whiskers of the picture, and in words."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift.report._figures import Pen, ReportFigure, Tip
from semisift.report._scores import draw_marks, set_ranks
from semisift.report._style import decided_on, marked
from semisift.selection import Outcome
from semisift.utils._text import printable_name, shorten

MOST_WHISKERS = 20
MOST_NARROW_WHISKERS = 12

# Of a name: nothing may stick out at the left.
LETTER_WIDTH = 7.0


@dataclass(frozen=True, eq=False)
class RankIntervals:
    """The best features with the interval of their ranks.

    Attributes
    ----------
    names : list of str
    ranks : int array of shape (n,)
    low, high : int arrays of shape (n,)
        Lowest and highest rank on halves of the rows.
    decisions : array of str or None
    n_best : int
        How many features count as the best ones.
    words : str
        What the picture shows.
    """

    names: list[str]
    ranks: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    decisions: NDArray[np.str_] | None
    n_best: int
    words: str = ""

    def __len__(self) -> int:
        return len(self.names)

    @property
    def right(self) -> float:
        """End of the axis of ranks."""
        return max(1.15 * int(max(self.high.max(), self.ranks.max())), 12.0)

    @property
    def shows_best(self) -> bool:
        """Whether the end of the best features is in the picture."""
        return self.n_best + 0.5 < self.right

    @property
    def marks(self) -> list[str]:
        """The decisions that are marked in the picture."""
        return [*marked(self.ranks, self.decisions)]


def rank_intervals(outcome: Outcome, most: int = MOST_WHISKERS) -> RankIntervals | None:
    """Take the best features that are no near-copies; None where their intervals are not known."""
    found = outcome.assessment
    places = np.flatnonzero(~np.isnan(outcome.scores) & ~outcome.is_copy)[:most]
    if outcome.rank_interval is None or found is None or not len(places):
        return None
    intervals = RankIntervals(
        [printable_name(name) for name in outcome.features[places]],
        places + 1,
        outcome.rank_interval[places, 0],
        outcome.rank_interval[places, 1],
        decisions=None if outcome.decisions is None else outcome.decisions[places],
        n_best=found.n_best,
    )
    words = [
        f"The whiskers span the ranks on {found.n_resamples:,} halves of the rows, but for the "
        "highest and lowest 5%; the mark is the rank on all rows.",
        *_extremes(intervals),
    ]
    if intervals.shows_best:
        words.append(f"The dotted line ends the best {found.n_best:,}.")
    if len(outcome) < outcome.ranker.n_features_in_:
        words.append("The whiskers are ranks among columns, of which a feature may have several.")
    return replace(intervals, words=" ".join(words))


def _extremes(intervals: RankIntervals) -> list[str]:
    """Say which feature moves by the fewest ranks, and which by the most.

    Examples
    --------
    >>> low, high = np.array([[1, 11], [50, 42]])
    >>> _extremes(RankIntervals(["a", "b"], np.arange(2), low, high, None, 1))
    ['b moves by the fewest ranks (11 to 42), a by the most (1 to 50).']
    """
    spans = intervals.high - intervals.low
    least, most = int(spans.argmin()), int(spans.argmax())
    if spans[least] == spans[most]:
        return []
    steady, restless = (
        f"({intervals.low[place]:,} to {intervals.high[place]:,})" for place in (least, most)
    )
    return [
        f"{shorten(intervals.names[least], 40)} moves by the fewest ranks {steady}, "
        f"{shorten(intervals.names[most], 40)} by the most {restless}."
    ]


def picture_of_intervals(outcome: Outcome) -> ReportFigure | None:
    """Return how far the ranks move, for wide and narrow screens; None if that is unknown."""
    wide, narrow = rank_intervals(outcome), rank_intervals(outcome, MOST_NARROW_WHISKERS)
    if wide is None or narrow is None:
        return None
    words = wide.words
    if len(narrow) < len(wide):
        words += f" On narrow screens the best {MOST_NARROW_WHISKERS} are drawn."
    return _figure(wide, words, 190, _figure(narrow, words, None))


def _figure(
    intervals: RankIntervals, words: str, room: float | None, small: ReportFigure | None = None
) -> ReportFigure:
    size = (760, 18 * len(intervals) + 50) if room else (340, 32 * len(intervals) + 50)
    margins, draw = (room or 8, 6, 6, 40), partial(draw_intervals, intervals, room)
    title = "Ranks on halves of the rows"
    tips = [
        Tip(rank, line, f"{name}: rank {rank:,}, on halves {low:,} to {high:,}{decided}")
        for line, (name, rank, low, high, decided) in enumerate(
            zip(
                intervals.names,
                intervals.ranks.tolist(),
                intervals.low.tolist(),
                intervals.high.tolist(),
                decided_on(intervals.decisions, len(intervals)),
                strict=True,
            )
        )
    ]
    marks = intervals.marks
    return ReportFigure("moves", title, words, size, margins, draw, small, marks, tips)


def draw_intervals(intervals: RankIntervals, room: float | None, pen: Pen) -> None:
    """Draw a whisker for each feature, the best on top.

    The names stand at the left, where they have `room` units, or above the whiskers.
    """
    ax, palette, _ = pen
    pen.bare("rank", None)
    set_ranks(ax, intervals.right)
    lines = np.arange(len(intervals))
    ax.set_ylim(len(lines) - 0.4, -0.6 if room else -0.9)
    colour = palette.accent if intervals.decisions is None else palette.muted
    ax.hlines(lines, intervals.low, intervals.high, color=colour, lw=1.2)
    for ends in (intervals.low, intervals.high):
        ax.plot(ends, lines, "|", color=colour, ms=4.8, mew=1.2)
    if intervals.decisions is None:
        ax.plot(intervals.ranks, lines, "o", color=palette.accent, ms=4.4, mew=0, zorder=3)
    else:
        draw_marks(pen, intervals.ranks, lines, intervals.decisions)
    if intervals.shows_best:
        ax.axvline(intervals.n_best + 0.5, color=palette.muted, lw=0.9, ls=(0, (1, 3)), zorder=0.5)
    n_letters = int((pen.size[0] if room is None else room - 8) / LETTER_WIDTH)
    look: dict[str, Any] = {} if room else {"ha": "left", "xytext": (0, 12)}
    for line, name in enumerate(intervals.names):
        pen.name_lane(name, n_letters, line, **look)
