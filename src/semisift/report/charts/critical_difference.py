"""The critical-difference diagram: mean ranks on an axis, and bars over those that do not differ.

The best stands on the right, as in the EnsCLS paper. Every method has a line of its own for its
name, so names cannot overlap, however close their ranks are.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes

from semisift.comparison._results import Results
from semisift.comparison._statistical_tests import Nemenyi
from semisift.report._figure import FONT_SIZE, ReportFigure, tagged
from semisift.report._page import paragraph
from semisift.report._style import FigureStyle, n_letters, size_of, width_of
from semisift.report.comparison._view import LEVEL_OF_RANKS, View, view_of

# All heights are in font sizes.
HEAD, BAR, LINE, NUMBER, GAP = 4.6, 0.62, 1.45, 3.5, 0.7

# The widest margin, as a share of the width, and of a width below the last number.
WIDEST_MARGIN, WIDEST_NARROW_MARGIN, NARROW = 0.34, 0.42, 450.0


class Ranks(NamedTuple):
    """What the diagram shows: methods by name and by place among all, and the test of them."""

    names: list[str]
    places: list[int]
    test: Nemenyi
    alpha: float

    @property
    def bars(self) -> list[tuple[int, float, float]]:
        """Line, lowest and highest rank of each bar, on the first line where it meets no other."""
        reach = 0.012 * (len(self.names) - 1)  # by so much a bar sticks out
        ends: list[float] = []
        bars = []
        for group in self.test.groups:
            ranks = self.test.mean_ranks[list(group)]
            free = (line for line, end in enumerate(ends) if end < ranks.min() - 2 * reach)
            line = next(free, len(ends))
            ends[line : line + 1] = [ranks.max() + reach]
            bars.append((line, ranks.min() - reach, ranks.max() + reach))
        return bars

    @property
    def n_bar_lines(self) -> int:
        """How many lines the bars take."""
        return max((line for line, _, _ in self.bars), default=-1) + 1

    def height(self, size: float) -> float:
        """Return the height of the diagram in points at a font size."""
        n_rows = math.ceil(len(self.names) / 2)
        return size * (HEAD + BAR * (self.n_bar_lines + 1) + LINE * n_rows)

    @property
    def ends(self) -> tuple[int, int]:
        """The ends of the axis: whole ranks around all methods, a critical difference apart."""
        ranks = self.test.mean_ranks
        first, last = math.floor(ranks.min()), math.ceil(ranks.max())
        wanted = first + max(1, math.ceil(self.test.critical_difference))
        last = min(max(last, wanted), len(ranks))
        return max(1, min(first, last - wanted + first)), last


def summarize(view: View, alpha: float = LEVEL_OF_RANKS) -> Ranks | None:
    """Return what the diagram of mean ranks shows; None where there is none."""
    test = view.test("nemenyi", alpha)
    return test and Ranks([view.methods[j] for j in view.places], view.places, test, alpha)


def figure(ranks: Ranks, slug: str = "ranks", width: float = 640.0) -> ReportFigure:
    """Return the critical-difference diagram."""
    size = width, math.ceil(ranks.height(FONT_SIZE)) + 8.0
    order = np.argsort(ranks.test.mean_ranks, kind="stable")
    words = paragraph("critical_difference", ranks, order)
    return ReportFigure(slug, "Mean ranks", words, draw, ranks, size, (2.0, 2.0, 2.0, 2.0))


def draw(ax: Axes, ranks: Ranks, style: FigureStyle) -> None:
    """Draw the diagram in coordinates that are points of the axes."""
    palette, (width, height) = style.palette, size_of(ax)
    size = rcParams["font.size"] * min(1.0, height / ranks.height(rcParams["font.size"]))
    ax.set_xlim(0, width)
    ax.set_ylim(0, height)
    ax.set_axis_off()
    # the better half stands on the right, each half from the end inwards
    order = np.argsort(ranks.test.mean_ranks, kind="stable").tolist()
    half = math.ceil(len(order) / 2)
    right, left = order[:half], order[half:][::-1]
    share = WIDEST_NARROW_MARGIN if width < NARROW else WIDEST_MARGIN
    margins = [
        min(
            share * width,
            max(width_of(ranks.names[j], size) for j in side) + (NUMBER + GAP + 0.6) * size,
        )
        for side in (left, right)
    ]
    first, last = ranks.ends
    scale = (width - sum(margins)) / (last - first)

    def across(rank: Any) -> Any:
        return margins[0] + (last - rank) * scale

    def line(x: Any, y: Any, **look: Any) -> None:
        look = {"color": palette.ink, "lw": 1, "solid_capstyle": "butt", **look}
        ax.plot(x, y, clip_on=False, **look)

    y = height - HEAD * size
    line(across(np.array([first, last])), [y, y])
    for tick in _ticks(first, last, scale, size):
        x = across(tick)
        line([x, x], [y, y + 0.4 * size])
        look = {"ha": "center", "va": "bottom", "color": palette.muted, "size": 0.9 * size}
        style.annotate(ax, str(tick), (x, y + 0.55 * size), **look)

    limit, ruler = ranks.test.critical_difference, y + 2.4 * size
    is_inside = limit <= last - first
    ends = [across(last), across(last - limit if is_inside else first)]
    line(ends, [ruler, ruler], lw=1.4, ls="-" if is_inside else (0, (3, 2)))
    for x in ends if is_inside else ends[:1]:
        line([x, x], [ruler - 0.3 * size, ruler + 0.3 * size], lw=1.4)
    words = f"CD = {limit:.3g} at level {ranks.alpha:g}"
    words += "" if is_inside else ", longer than the axis"
    look = {"ha": "left", "va": "bottom", "size": size}
    style.annotate(ax, words, (ends[0], ruler + 0.55 * size), **look)

    for place, low, high in ranks.bars:
        at = y - (place + 1) * BAR * size
        ends = across(np.array([low, high]))
        line(ends, [at, at], lw=0.3 * size, color=palette.accent, zorder=3)
    top = y - (BAR * (ranks.n_bar_lines + 1) + LINE / 2) * size
    for side, members, margin in ((-1, left, margins[0]), (1, right, margins[1])):
        edge = (margin if side < 0 else width - margin) + side * GAP * size
        room, inner = margin - (NUMBER + GAP + 0.4) * size, edge + side * 0.3 * size
        look = {"ha": "left" if side > 0 else "right", "va": "center_baseline", "size": size}
        for row, member in enumerate(members):
            rank, name = ranks.test.mean_ranks[member], ranks.names[member]
            x, at = across(rank), top - row * LINE * size
            with tagged(ax, method=ranks.places[member]):
                line([x, x, edge], [y, at, at], color=palette.muted, lw=0.7, zorder=2)
                ax.plot([x], [y], "o", ms=0.36 * size, mfc=palette.ink, mew=0, zorder=4)
                style.annotate(ax, f"{rank:.2f}", (inner, at), **look, color=palette.muted)
                shown = style.write(name, n_letters(name, room, size))
                style.annotate(ax, shown, (inner + side * NUMBER * size, at), **look)


def _ticks(first: int, last: int, scale: float, size: float) -> list[int]:
    """Return the ranks with a tick: the ends, and round numbers that touch no other."""
    step = next(step for step in (1, 2, 5, 10, 20, 50) if step * scale > 2 * size or step == 50)
    inner = (tick for tick in range(first + 1, last) if tick % step == 0)
    return [first, *(t for t in inner if min(t - first, last - t) >= step / 2), last]


def plot_critical_difference(
    results: Results,
    ax: Axes | None = None,
    *,
    alpha: float = LEVEL_OF_RANKS,
    **choice: Any,
) -> Axes:
    """Draw mean ranks, the best on the right, with the critical difference of Nemenyi's test.

    Methods under one bar do not differ at the level `alpha`.

    Parameters
    ----------
    results : Results
    ax : matplotlib.axes.Axes, optional
        Else a new figure of pyplot that has room for all methods. Writing shrinks where the axes
        are small.
    alpha : float, default=0.05
        0.1 is that of the EnsCLS paper.
    **choice
        As for `Results.scores`.

    Returns
    -------
    matplotlib.axes.Axes

    References
    ----------
    J. Demsar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7.
    """
    view = view_of(results, **choice)
    ranks = summarize(view, alpha)
    if ranks is None:
        raise ValueError(view.obstacle)
    height = ranks.height(rcParams["font.size"]) / 72
    return figure(ranks).on_axes(ax, (7.0, height + 0.2))
