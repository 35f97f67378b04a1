"""The critical-difference diagram: mean ranks on an axis, and bars over those that do not differ.

The best stands on the right, as in the EnsCLS paper. Every method has a line of its own for its
name, so names cannot overlap, however close their ranks are.

How methods look: colours, dashes and marks that tell forty of them apart.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from semisift.comparison._results import ComparisonResults
from semisift.comparison._statistical_tests import Nemenyi
from semisift.report._figures import STYLE, Pen, ReportFigure, tagged
from semisift.report._style import MARKERS, Palette
from semisift.report.comparison._labels import LINE_HEIGHT, font_size, n_letters, width_of
from semisift.report.comparison._view import LEVEL_OF_RANKS, LONGEST_SAID, View, view_of
from semisift.utils._text import shorten

# All heights are in font sizes.
HEAD = 4.6
BAR = 0.62
NUMBER = 3.5
GAP = 0.7
WIDEST_MARGIN = 0.34
WIDEST_MARGIN_OF_NARROW = 0.42
NARROW = 450.0

Across = Callable[[Any], Any]  # from ranks to places


@dataclass(frozen=True, eq=False)
class Ranks:
    """What the diagram shows.

    Attributes
    ----------
    names : list of str
    places : list of int
        Of these methods among all.
    test : Nemenyi
    alpha : float
    """

    names: list[str]
    places: list[int]
    test: Nemenyi
    alpha: float


def ranks_of(view: View, alpha: float = LEVEL_OF_RANKS) -> Ranks | None:
    """Return what the diagram of mean ranks shows; None where there is none."""
    test = view.nemenyi(alpha)
    if test is None:
        return None
    return Ranks([view.methods[place] for place in view.places], view.places, test, alpha)


def plot_critical_difference(
    results: ComparisonResults,
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
    ranks = ranks_of(view, alpha)
    if ranks is None:
        raise ValueError(view.obstacle)
    height = natural_height(ranks, font_size()) / 72
    return diagram_figure(ranks).on_axes(ax, (7.0, height + 0.2))


def diagram_figure(ranks: Ranks, slug: str = "ranks", width: float = 640.0) -> ReportFigure:
    """Return the critical-difference diagram."""
    size = width, math.ceil(natural_height(ranks, STYLE[1]["font.size"])) + 8
    words, draw = ranks_in_words(ranks), partial(draw_cd, ranks)
    return ReportFigure(slug, "Mean ranks", words, size, (2.0, 2.0, 2.0, 2.0), draw)


def natural_height(ranks: Ranks, size: float) -> float:
    """Return the height in points at a font size."""
    n_rows = math.ceil(len(ranks.names) / 2)
    n_bars = max(stack_bars(ranks.test), default=-1) + 1
    return size * (HEAD + BAR * (n_bars + 1) + LINE_HEIGHT * n_rows)


def stack_bars(test: Nemenyi) -> list[int]:
    """Return the line of each bar: the first one on which it meets no bar before it.

    Examples
    --------
    >>> from semisift.comparison._statistical_tests import nemenyi
    >>> scores = [[5, 4, 3, 2, 1.0]] * 9
    >>> nemenyi(scores).groups, stack_bars(nemenyi(scores))
    (((0, 1, 2), (1, 2, 3), (2, 3, 4)), [0, 1, 2])
    """
    reach = _padding(test)
    ends: list[float] = []
    lines = []
    for group in test.groups:
        ranks = test.mean_ranks[list(group)]
        free = [line for line, end in enumerate(ends) if end < ranks.min() - 2 * reach]
        line = free[0] if free else len(ends)
        ends[line : line + 1] = [ranks.max() + reach]
        lines.append(line)
    return lines


def _padding(test: Nemenyi) -> float:
    """Return by how much a bar sticks out, in ranks."""
    return 0.012 * (len(test.mean_ranks) - 1)


def draw_cd(ranks: Ranks, pen: Pen) -> None:
    """Draw the diagram in coordinates that are points of the axes."""
    ax, palette, write = pen
    width, height = pen.size
    size = font_size() * min(1.0, height / natural_height(ranks, font_size()))
    ax.set_xlim(0, width)
    ax.set_ylim(0, height)
    ax.set_axis_off()
    # the better half stands on the right, each half from the end inwards
    order = np.argsort(ranks.test.mean_ranks, kind="stable").tolist()
    half = math.ceil(len(order) / 2)
    right, left = order[:half], order[half:][::-1]
    margins = [_margin(ranks, members, width, size) for members in (left, right)]
    first, last = shown_ranks(ranks.test)
    scale = (width - sum(margins)) / (last - first)

    def across(rank: Any) -> Any:
        return margins[0] + (last - rank) * scale

    y = height - HEAD * size
    _draw_axis(pen, across, (first, last), scale, y, size)
    _draw_ruler(pen, ranks, across, y + 2.4 * size, size)
    _draw_bars(pen, ranks.test, across, y - BAR * size, size)
    n_bars = max(stack_bars(ranks.test), default=-1) + 1
    top = y - (BAR * (n_bars + 1) + LINE_HEIGHT / 2) * size
    for side, members, margin in ((-1, left, margins[0]), (1, right, margins[1])):
        edge = (margin if side < 0 else width - margin) + side * GAP * size
        inner = edge + side * 0.3 * size
        room = margin - (NUMBER + GAP + 0.4) * size
        look = {"ha": "left" if side > 0 else "right", "va": "center_baseline", "size": size}
        for row, member in enumerate(members):
            rank, name = ranks.test.mean_ranks[member], ranks.names[member]
            x, height = across(rank), top - row * LINE_HEIGHT * size
            shown = write(name, n_letters(name, room, size))
            with tagged(ax, method=ranks.places[member]):
                line = [x, x, edge], [y, height, height]
                ax.plot(*line, color=palette.muted, lw=0.7, zorder=2, clip_on=False)
                ax.plot([x], [y], "o", ms=0.36 * size, mfc=palette.ink, mew=0, zorder=4)
                pen.say(f"{rank:.2f}", (inner, height), color=palette.muted, **look)
                outer = inner + side * NUMBER * size
                pen.say(shown, (outer, height), color=palette.ink, **look)


def _margin(ranks: Ranks, members: Sequence[int], width: float, size: float) -> float:
    share = WIDEST_MARGIN_OF_NARROW if width < NARROW else WIDEST_MARGIN
    longest = max(width_of(ranks.names[member], size) for member in members)
    return min(share * width, longest + (NUMBER + GAP + 0.6) * size)


def shown_ranks(test: Nemenyi) -> tuple[int, int]:
    """Return the ends of the axis: whole ranks around all methods, a critical difference apart.

    Examples
    --------
    >>> from semisift.comparison._statistical_tests import nemenyi
    >>> shown_ranks(nemenyi([[3, 2, 1.0]] * 9))
    (1, 3)
    >>> shown_ranks(nemenyi([[1, 2, 3.0], [3, 2, 1.0]] * 9))
    (2, 3)
    """
    first, last = math.floor(test.mean_ranks.min()), math.ceil(test.mean_ranks.max())
    wanted = first + max(1, math.ceil(test.critical_difference))
    last = min(max(last, wanted), len(test.mean_ranks))
    return max(1, min(first, last - wanted + first)), last


def _draw_axis(
    pen: Pen, across: Across, ends: tuple[int, int], scale: float, y: float, size: float
) -> None:
    line: Any = {"color": pen.palette.ink, "lw": 1, "clip_on": False}
    pen.ax.plot(across(np.array(ends)), [y, y], **line)
    first, last = ends
    step = next(step for step in (1, 2, 5, 10, 20, 50) if step * scale > 2 * size or step == 50)
    ticks = {first, last, *(tick for tick in range(first, last) if tick % step == 0)}
    # a tick beside an end would touch its number
    ticks -= {t for t in ticks - {first, last} if min(t - first, last - t) < step / 2}
    look = {"ha": "center", "va": "bottom", "color": pen.palette.muted, "size": 0.9 * size}
    for tick in sorted(ticks):
        x = across(tick)
        pen.ax.plot([x, x], [y, y + 0.4 * size], **line)
        pen.say(str(tick), (x, y + 0.55 * size), **look)


def _draw_ruler(pen: Pen, ranks: Ranks, across: Across, y: float, size: float) -> None:
    limit = ranks.test.critical_difference
    first, last = shown_ranks(ranks.test)
    whole = limit <= last - first
    left, right = across(last), across(last - limit if whole else first)
    line: Any = {"color": pen.palette.ink, "lw": 1.4, "clip_on": False, "solid_capstyle": "butt"}
    pen.ax.plot([left, right], [y, y], ls="-" if whole else (0, (3, 2)), **line)
    for x in [left, right] if whole else [left]:
        pen.ax.plot([x, x], [y - 0.3 * size, y + 0.3 * size], **line)
    words = f"CD = {limit:.3g} at level {ranks.alpha:g}"
    words += "" if whole else ", longer than the axis"
    look = {"ha": "left", "va": "bottom", "color": pen.palette.ink, "size": size}
    pen.say(words, (left, y + 0.55 * size), **look)


def _draw_bars(pen: Pen, test: Nemenyi, across: Across, y: float, size: float) -> None:
    reach = _padding(test)
    line: Any = {"lw": 0.3 * size, "solid_capstyle": "butt", "clip_on": False, "zorder": 3}
    for group, place in zip(test.groups, stack_bars(test), strict=True):
        ranks = test.mean_ranks[list(group)]
        ends = across(np.array([ranks.min() - reach, ranks.max() + reach]))
        height = y - place * BAR * size
        pen.ax.plot(ends, [height, height], color=pen.palette.accent, **line)


def ranks_in_words(ranks: Ranks) -> str:
    """Say what the diagram shows."""
    order = np.argsort(ranks.test.mean_ranks, kind="stable")
    named = [
        f"{shorten(ranks.names[j], LONGEST_SAID)} {ranks.test.mean_ranks[j]:.2f}" for j in order
    ]
    groups = ranks.test.groups
    bars = "A bar joins methods whose mean ranks differ by no more than the critical difference."
    if not groups:
        bars = "All methods differ from each other."
    elif len(groups[0]) == len(ranks.names):
        bars = "No two methods differ by more than the critical difference: one bar joins them all."
    return f"Mean ranks, the best first: {'; '.join(named)}. {bars}"


# --- styles ---------------------------------------------------------------------------------------


# In widths of the line.
DASHES: tuple[tuple[float, ...], ...] = (
    (),
    (4, 1.6),
    (1.1, 1.3),
    (6, 1.6, 1.1, 1.6),
    (3, 1.3, 1.1, 1.3, 1.1, 1.3),
)
LINE_WIDTH = 1.7


def colour(place: int, palette: Palette) -> str:
    """Return the colour of a method by its place."""
    return palette.classes[place % len(palette.classes)]


def dashes(place: int) -> tuple[float, ...]:
    """Return the dashes of a method by its place; none for a solid line."""
    return DASHES[place // len(MARKERS) % len(DASHES)]


def mark(place: int) -> int:
    """Return the number of a method's mark; with its colour it is its own up to 64 methods.

    Examples
    --------
    >>> mark(0), mark(1), mark(8), mark(9)
    (0, 1, 1, 2)
    """
    return (place + place // len(MARKERS)) % len(MARKERS)


def line(place: int, palette: Palette) -> dict[str, Any]:
    """Return the look of a method's line, as matplotlib takes it."""
    pattern = dashes(place)
    style: Any = (0, pattern) if pattern else "solid"
    return {"color": colour(place, palette), "ls": style, "lw": LINE_WIDTH, **point(place, palette)}


def point(place: int, palette: Palette, size: float = 5.2) -> dict[str, Any]:
    """Return the look of a method's mark, as matplotlib takes it."""
    shape = MARKERS[mark(place)]
    return {
        "marker": shape,
        "ms": 1.3 * size if shape in "PX*" else size,
        "mfc": colour(place, palette),
        "mec": palette.paper,
        "mew": 0.6,
    }
