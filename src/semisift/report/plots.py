"""The picture of the scores, on axes of the page or of the user."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator
from numpy.typing import NDArray

from semisift._words import shorten
from semisift.outcome import Outcome
from semisift.report.curve import Curve, follow
from semisift.report.marks import MOST_MARKED, chance_line, draw_legend, draw_marks
from semisift.report.palette import Palette, WriteName, bare, for_user

LINE_HEIGHT = 14.0
HALF_LINE = 6.0
LETTER_WIDTH = 6.4
LEAST_ROOM = 95.0


def plot_scores(
    outcome: Outcome, *, ax: Axes | None = None, top: int | None = None, n_names: int = 8
) -> Axes:
    """Draw the scores against the ranks.

    Parameters
    ----------
    outcome : Outcome
    ax : matplotlib.axes.Axes, optional
        Else a new figure of pyplot.
    top : int, optional
        Draw this many of the best features only.
    n_names : int
        Name at most this many features.

    Returns
    -------
    matplotlib.axes.Axes
    """
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots()
    curve = follow(outcome, n_names, top)
    draw_scores(ax, curve, for_user(), shorten, n_names, legend=True)
    return ax


def draw_scores(
    ax: Axes,
    curve: Curve,
    palette: Palette,
    write: WriteName,
    n_names: int = 8,
    *,
    legend: bool = False,
) -> None:
    """Draw the curve with a logarithmic axis of ranks, on which the drop-off is seen at any size.

    `write` turns a name and the number of letters that fit into what is put on the axes. The page
    has a legend of its own beside the picture.
    """
    bare(ax, palette)
    ax.set_ylabel("score", color=palette.muted)
    last = int(curve.ranks[-1]) if len(curve.ranks) else 1
    set_ranks(ax, max(1.5 * last, 12.0), palette)  # room for names where there are few ranks
    if not len(curve.ranks):
        return
    n_names, heights = _set_heights(ax, curve, min(n_names, len(curve.names)))
    names_from = _start_of_names(ax, curve, n_names)

    low = ax.get_ylim()[0]
    shaded = curve.ranks <= curve.n_first
    ax.fill_between(
        curve.ranks[shaded], curve.scores[shaded], low, color=palette.accent, alpha=0.12, lw=0
    )
    if curve.decisions is None:
        ax.plot(curve.ranks, curve.scores, color=palette.accent, lw=1.6)
        few = curve.ranks <= MOST_MARKED
        ax.plot(curve.ranks[few], curve.scores[few], "o", color=palette.accent, ms=3.6, mew=0)
    else:
        ax.plot(curve.ranks, curve.scores, color=palette.muted, lw=1)
        draw_marks(ax, curve.ranks, curve.scores, curve.decisions, palette)
    if low < 0:
        ax.axhline(0, color=palette.line, lw=0.8, zorder=0)
    if 0 < curve.n_first < last:
        _mark_selected(ax, curve.n_first, palette)
    if curve.chance is not None:
        _draw_chance(ax, curve.chance.score, heights, names_from, palette)
    _name_points(ax, curve, heights, names_from, palette, write)
    if legend:
        draw_legend(ax, curve.marks, curve.chance, palette)


def set_ranks(ax: Axes, right: float, palette: Palette) -> None:
    """Make the horizontal axis one of ranks, logarithmic, up to `right`."""
    ax.set_xscale("log")
    ax.set_xlabel("rank", color=palette.muted)
    ax.set_xlim(0.88, right)
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0,) if right > 300 else (1.0, 2.0, 5.0)))
    ax.xaxis.set_minor_locator(LogLocator(subs=()))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def _mark_selected(ax: Axes, n_first: int, palette: Palette) -> None:
    x, right = n_first + 0.5, ax.get_xlim()[1]
    ax.axvline(x, color=palette.muted, lw=1, ls=(0, (4, 3)))
    ax.annotate(
        f"{n_first:,} selected",
        (x, 1),
        xycoords=("data", "axes fraction"),
        xytext=(0, 4),
        textcoords="offset points",
        ha="left" if x < right**0.3 else "right" if x > right**0.8 else "center",
        color=palette.muted,
        annotation_clip=False,
    )


def _draw_chance(
    ax: Axes, score: float, heights: Sequence[float], names_from: float, palette: Palette
) -> None:
    """Draw a line at what chance reaches; it ends before the names where it would cross one."""
    low, high = ax.get_ylim()
    line = LINE_HEIGHT * (high - low) / size_in_points(ax)[1]
    crosses = any(abs(score - height) < line for height in heights)
    left, right = ax.get_xlim()
    end = names_from if crosses else right
    ax.plot([left, end], [score, score], zorder=1.5, **chance_line(palette))


def size_in_points(ax: Axes) -> tuple[float, float]:
    """Return width and height of the axes in points."""
    box = ax.get_window_extent()
    dpi = ax.get_figure(root=True).dpi  # type: ignore[union-attr]
    return box.width * 72 / dpi, box.height * 72 / dpi


def _set_heights(ax: Axes, curve: Curve, n_names: int) -> tuple[int, list[float]]:
    """Set the limits of the scores and place the names above the curve; return how many fit."""
    width, height = size_in_points(ax)
    best, worst = float(curve.scores[0]), float(curve.scores[-1])
    low = 0.0 if 0 <= worst < best / 2 else worst
    span = (best - low) or abs(best) or 1.0
    if curve.chance is not None:
        best, low = max(best, curve.chance.score), min(low, curve.chance.score)
        span = max(span, best - low)
    low -= 0.03 * span
    while n_names and width * _along(ax, int(curve.ranks[n_names - 1])) > width - LEAST_ROOM:
        n_names -= 1
    for n_shown in range(n_names, -1, -1):
        for headroom in (0.06, 0.16, 0.3):
            top = best + headroom * span
            points = (curve.scores[:n_shown] - low) / (top - low) * height
            heights = stack_above(points + HALF_LINE)
            if not heights or heights[0] <= height - HALF_LINE:
                ax.set_ylim(low, top)
                return n_shown, [low + (top - low) * place / height for place in heights]
    raise AssertionError("no names always fit")


def _along(ax: Axes, rank: float) -> float:
    left, right = (math.log10(limit) for limit in ax.get_xlim())
    return (math.log10(rank) - left) / (right - left)


def stack_above(heights: NDArray[np.float64]) -> list[float]:
    """Raise falling heights until neighbours are a line apart.

    Examples
    --------
    >>> stack_above(np.array([90.0, 50.0, 49.0]))
    [90.0, 63.0, 49.0]
    """
    places: list[float] = []
    for height in heights[::-1]:
        places.append(max(float(height), places[-1] + LINE_HEIGHT) if places else float(height))
    return places[::-1]


def _start_of_names(ax: Axes, curve: Curve, n_names: int) -> float:
    """Return the place of the names along the axis of ranks."""
    left, right = ax.get_xlim()
    if not n_names:
        return right
    width, _ = size_in_points(ax)
    start = width * _along(ax, int(curve.ranks[n_names - 1])) + 20
    mark = width * _along(ax, curve.n_first + 0.5)
    if start < mark + 6 < width - LEAST_ROOM:  # names beyond the mark of the selection
        start = mark + 6
    return float(left * (right / left) ** (start / width))


def _name_points(
    ax: Axes,
    curve: Curve,
    heights: Sequence[float],
    x: float,
    palette: Palette,
    write: WriteName,
) -> None:
    width, _ = size_in_points(ax)
    n_letters = int((width * (1 - _along(ax, x)) - 4) / LETTER_WIDTH)
    named = zip(curve.ranks, curve.scores, heights, curve.names, strict=False)
    for rank, score, height, name in named:
        ax.plot([rank, x], [score, height], color=palette.line, lw=0.8, zorder=0.5)
        ax.annotate(
            write(name, n_letters),
            (x, height),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            color=palette.ink,
            parse_math=False,
            usetex=False,
        )
