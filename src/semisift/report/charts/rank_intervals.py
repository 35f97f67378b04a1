"""How far the ranks of the best features move on halves of the rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from semisift.report._figure import ReportFigure
from semisift.report._page import paragraph
from semisift.report._style import FigureStyle, draw_marks, marked, size_of
from semisift.report.charts.scores import decided_tips, set_ranks
from semisift.selection import RankingResult
from semisift.utils._text import printable_name

MAX_WHISKERS, MAX_NARROW_WHISKERS = 20, 12

# Of a name, in points; and the room for names at the left of a wide picture.
LETTER_WIDTH, ROOM = 7.0, 190.0


@dataclass(frozen=True, eq=False)
class RankIntervals:
    """The best features with the interval of their ranks.

    Attributes
    ----------
    names : list of str
    ranks, low, high : int arrays of shape (n,)
        The rank on all rows, and the lowest and the highest on halves of them.
    decisions : array of str or None
    n_best : int
        How many features count as the best ones.
    is_wide : bool
        Whether names stand at the left rather than above the whiskers.
    """

    names: list[str]
    ranks: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    decisions: NDArray[np.str_] | None
    n_best: int
    is_wide: bool = True

    @property
    def right(self) -> float:
        """End of the axis of ranks."""
        return max(1.15 * int(max(self.high.max(), self.ranks.max())), 12.0)


def summarize(outcome: RankingResult, most: int = MAX_WHISKERS) -> RankIntervals | None:
    """Return the best features that represent themselves; None where no intervals are known."""
    found = outcome.assessment
    places = np.flatnonzero(~np.isnan(outcome.scores) & ~outcome.is_copy)[:most]
    if outcome.rank_interval is None or found is None or not len(places):
        return None
    return RankIntervals(
        [printable_name(name) for name in outcome.features[places]],
        places + 1,
        outcome.rank_interval[places, 0],
        outcome.rank_interval[places, 1],
        decisions=None if outcome.decisions is None else outcome.decisions[places],
        n_best=found.n_best,
        is_wide=most == MAX_WHISKERS,
    )


def figure(outcome: RankingResult, *_: Any) -> ReportFigure | None:
    """Return how far the ranks move, for wide and narrow screens; None if that is unknown."""
    wide, narrow = summarize(outcome), summarize(outcome, MAX_NARROW_WHISKERS)
    if wide is None or narrow is None:
        return None
    words = paragraph("rank_intervals", outcome, wide, narrow)
    large = _figure(wide, words, (760.0, 18.0 * len(wide.names) + 50), ROOM)
    small = _figure(narrow, words, (340.0, 32.0 * len(narrow.names) + 50), 8.0)
    return replace(large, small=small)


def _figure(
    shown: RankIntervals, words: str, size: tuple[float, float], room: float
) -> ReportFigure:
    found = zip(shown.names, shown.ranks, shown.low, shown.high, strict=True)
    texts = [
        f"{name}: rank {rank:,}, on halves {low:,} to {high:,}" for name, rank, low, high in found
    ]
    return ReportFigure(
        "moves",
        "Ranks on halves of the rows",
        words,
        draw,
        shown,
        size,
        (room, 6.0, 6.0, 40.0),
        marks=[*marked(shown.ranks, shown.decisions)],
        tips=decided_tips(shown.ranks.tolist(), range(len(texts)), texts, shown.decisions),
    )


def draw(ax: Axes, shown: RankIntervals, style: FigureStyle) -> None:
    """Draw a whisker for each feature, the best on top."""
    palette, lines = style.palette, np.arange(len(shown.names))
    style.clean_axes(ax, "rank", None)
    set_ranks(ax, shown.right)
    ax.set_ylim(len(lines) - 0.4, -0.6 if shown.is_wide else -0.9)
    colour = palette.accent if shown.decisions is None else palette.muted
    ax.hlines(lines, shown.low, shown.high, color=colour, lw=1.2)
    for ends in (shown.low, shown.high):
        ax.plot(ends, lines, "|", color=colour, ms=4.8, mew=1.2)
    draw_marks(ax, style, shown.ranks, lines, shown.decisions)
    if shown.n_best + 0.5 < shown.right:
        ax.axvline(shown.n_best + 0.5, color=palette.muted, lw=0.9, ls=(0, (1, 3)), zorder=0.5)
    n_letters = int((ROOM - 8 if shown.is_wide else size_of(ax)[0]) / LETTER_WIDTH)
    look: dict[str, Any] = {} if shown.is_wide else {"ha": "left", "xytext": (0, 12)}
    for line, name in enumerate(shown.names):
        style.name_lane(ax, name, n_letters, line, **look)
