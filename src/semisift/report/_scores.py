"""How the scores fall from the first rank to the last: points, words and the picture."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator
from numpy.typing import NDArray

from semisift.base._decisions import WORDS
from semisift.report._figures import Pen, ReportFigure, Tip
from semisift.report._style import MARKS, MOST_MARKED, decided_on, for_user, marked
from semisift.selection import Outcome
from semisift.selection._result import Chance
from semisift.utils._text import format_number, join, plural, printable_name, shorten

MOST_POINTS = 400
LOOK_FOR_DROP = 50

# So many confirmed and as many tentative features have a point in any case.
MOST_DECIDED = 100

LINE_HEIGHT = 14.0
HALF_LINE = 6.0
LETTER_WIDTH = 6.4
LEAST_ROOM = 95.0


@dataclass(frozen=True, eq=False)
class Curve:
    """Scores by rank.

    Attributes
    ----------
    ranks, scores : arrays
        Points of the picture: all ranks, or ranks evenly spaced on a logarithmic axis.
    n_first : int
        How many of the first features are selected; 0 where these are not the selected ones.
    names : list of str
        The features of the points.
    n_names : int
        How many of these may be named.
    words : str
        What the picture shows.
    decisions : array of str or None
        What was decided on the features of the points.
    marks : list of str
        The decisions that are marked in the picture.
    chance : Chance or None
        What chance alone scores, where that is not far outside the picture.
    """

    ranks: NDArray[np.int64]
    scores: NDArray[np.float64]
    n_first: int
    names: list[str]
    n_names: int
    words: str
    decisions: NDArray[np.str_] | None
    marks: list[str]
    chance: Chance | None


def follow(outcome: Outcome, n_names: int = 10, top: int | None = None) -> Curve:
    """Choose the points to draw, name the first of them and say how the scores fall.

    `top` leaves the features behind so many out.
    """
    own = ~outcome.is_copy
    finite = np.flatnonzero((np.isfinite(outcome.scores) & own)[:top])
    all_scores = outcome.scores[finite]
    chosen = _spaced(len(finite))
    if outcome.decisions is not None:
        for word in ("confirmed", "tentative"):
            found = np.flatnonzero(outcome.decisions[finite] == word)[:MOST_DECIDED]
            chosen = np.union1d(chosen, found)
    places = finite[chosen]
    decisions = None if outcome.decisions is None else outcome.decisions[places]
    marks = [*marked(places + 1, decisions)]
    chance, n_infinite = outcome.chance, int(np.isinf(outcome.scores[own]).sum())
    have, stand = ("has", "stands") if n_infinite == 1 else ("have", "stand")
    words = [
        *_fall(finite + 1, all_scores),
        f"{plural(n_infinite, 'feature')} {have} an infinite score and {stand} outside the picture."
        * bool(n_infinite),
        _copies(int(outcome.is_copy.sum())),
        _marks(outcome, marks),
        _by_chance(chance, all_scores),
    ]
    return Curve(
        ranks=places + 1,
        scores=outcome.scores[places],
        n_first=outcome.n_first,
        names=[printable_name(name) for name in outcome.features[places]],
        n_names=n_names,
        words=" ".join(filter(None, words)),
        decisions=decisions,
        marks=marks,
        chance=chance if _in_reach(chance, all_scores) else None,
    )


def _marks(outcome: Outcome, marks: list[str]) -> str:
    """Say which marks mean what."""
    if not marks:
        return ""
    said = [f"{outcome.counts[each]:,} {WORDS[each]} ({MARKS[each].words})" for each in marks]
    own = np.flatnonzero(~outcome.is_copy & (outcome.decisions == "unconfirmed"))
    beyond = ""
    if len(own) and own[-1] >= MOST_MARKED:
        beyond = f" Those not told from chance are marked up to rank {MOST_MARKED}."
    return f"Marks: {join(said)}.{beyond}"


def _by_chance(chance: Chance | None, scores: NDArray[np.float64]) -> str:
    """Say where the line of chance is."""
    if chance is None or not len(scores):
        return ""
    n_above = int((scores > chance.score).sum())
    above = f"{plural(n_above, 'feature')} {'scores' if n_above == 1 else 'score'} higher"
    if not n_above:
        above = "no feature scores higher"
    where = "The dashed line is" if _in_reach(chance, scores) else "Far outside the picture is"
    return f"{where} the {chance.name}, at {format_number(chance.score)}: {above}."


def _in_reach(chance: Chance | None, scores: NDArray[np.float64]) -> bool:
    """Return whether a line at the score of chance leaves the curve a third of the picture."""
    if chance is None or not len(scores):
        return False
    span = float(scores[0] - min(0.0, scores[-1])) or 1.0
    return bool(scores[-1] - 2 * span <= chance.score <= scores[0] + 2 * span)


def _spaced(length: int) -> NDArray[np.intp]:
    """Return places evenly spaced in the logarithm; all of the first ones, and the last.

    Examples
    --------
    >>> _spaced(3).tolist(), len(_spaced(100_000)) <= MOST_POINTS
    ([0, 1, 2], True)
    """
    if length <= MOST_POINTS:
        return np.arange(length)
    return np.unique(np.geomspace(1, length, MOST_POINTS).round().astype(np.intp)) - 1


def _fall(ranks: NDArray[np.int64], scores: NDArray[np.float64]) -> list[str]:
    if not len(scores):
        return ["No feature has a finite score."]
    first, best = ranks[0], scores[0]
    if len(scores) == 1:
        return [f"One feature has a score: {format_number(best)}."]
    if scores[-1] == best:
        return [f"All {len(scores):,} scores are the same: {format_number(best)}."]
    words = [
        f"The score falls from {format_number(best)} at rank {first:,} to "
        f"{format_number(scores[-1])} at rank "
        f"{ranks[-1]:,}."
    ]
    if best > 0 and (low := np.flatnonzero(scores <= best / 2)).size:
        words.append(f"Half of the best score is reached at rank {ranks[low[0]]:,}.")
    drops = -np.diff(scores[:LOOK_FOR_DROP])
    if len(drops) > 1 and drops.max() > 0:
        place = int(drops.argmax())
        among = f" of the first {LOOK_FOR_DROP}" if len(scores) > LOOK_FOR_DROP else ""
        words.append(
            f"The largest drop between neighbours{among} is from {format_number(scores[place])} "
            f"at rank "
            f"{ranks[place]:,} to {format_number(scores[place + 1])} at rank {ranks[place + 1]:,}."
        )
    return words


def _copies(n_copies: int) -> str:
    what, stand = ("near-copy", "stands") if n_copies == 1 else ("near-copies", "stand")
    words = f"{n_copies:,} {what} of better features {stand} behind the others, outside it."
    return words if n_copies else ""


# --- the picture ---


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
    draw_scores(follow(outcome, n_names, top), n_names, Pen(ax, for_user(), shorten), legend=True)
    return ax


def scores_figure(
    curve: Curve,
    slug: str,
    size: tuple[float, float],
    n_names: int,
    small: ReportFigure | None = None,
) -> ReportFigure:
    """Return the picture of the scores for the page or a notebook."""
    draw = partial(draw_scores, curve, n_names)
    margins = (52, 6, 20, 40)
    tips = [
        Tip(rank, score, f"{name}: rank {rank:,}, score {format_number(score)}{decided}")
        for rank, score, name, decided in zip(
            curve.ranks.tolist(),
            curve.scores.tolist(),
            curve.names,
            decided_on(curve.decisions, len(curve.ranks)),
            strict=True,
        )
    ]
    return ReportFigure(
        slug, "Scores by rank", curve.words, size, margins, draw, small, curve.marks, tips
    )


def draw_scores(curve: Curve, n_names: int, pen: Pen, *, legend: bool = False) -> None:
    """Draw the curve with a logarithmic axis of ranks, on which the drop-off is seen at any size.

    The page has a legend of its own beside the picture.
    """
    ax, palette, _ = pen
    pen.bare("rank", "score")
    last = int(curve.ranks[-1]) if len(curve.ranks) else 1
    set_ranks(ax, max(1.5 * last, 12.0))  # room for names where there are few ranks
    if not len(curve.ranks):
        return
    n_names, heights = _set_heights(pen, curve, min(n_names, curve.n_names, len(curve.names)))
    names_from = _start_of_names(pen, curve, n_names)

    low = ax.get_ylim()[0]
    first = curve.ranks <= curve.n_first
    shade: dict[str, Any] = {"color": palette.accent, "alpha": 0.12, "lw": 0}
    ax.fill_between(curve.ranks[first], curve.scores[first], low, **shade)
    if curve.decisions is None:
        ax.plot(curve.ranks, curve.scores, color=palette.accent, lw=1.6)
        few = curve.ranks <= MOST_MARKED
        ax.plot(curve.ranks[few], curve.scores[few], "o", color=palette.accent, ms=3.6, mew=0)
    else:
        ax.plot(curve.ranks, curve.scores, color=palette.muted, lw=1)
        draw_marks(pen, curve.ranks, curve.scores, curve.decisions)
    if low < 0:
        ax.axhline(0, color=palette.line, lw=0.8, zorder=0)
    if 0 < curve.n_first < last:
        _mark_selected(pen, curve.n_first)
    if curve.chance is not None:
        _draw_chance(pen, curve.chance.score, heights, names_from)
    _name_points(pen, curve, heights, names_from)
    if legend:
        _draw_legend(pen, curve)


def set_ranks(ax: Axes, right: float) -> None:
    """Make the horizontal axis logarithmic, for ranks up to `right`."""
    ax.set_xscale("log")
    ax.set_xlim(0.88, right)
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0,) if right > 300 else (1.0, 2.0, 5.0)))
    ax.xaxis.set_minor_locator(LogLocator(subs=()))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def draw_marks(
    pen: Pen, x: NDArray[np.number], y: NDArray[np.number], decisions: NDArray[np.str_]
) -> None:
    """Draw the points of features, the confirmed ones on top; x are ranks."""
    for decision, own in reversed(marked(x, decisions).items()):
        pen.ax.plot(x[own], y[own], zorder=3, **MARKS[decision].look(pen.palette))


def _mark_selected(pen: Pen, n_first: int) -> None:
    x, right = n_first + 0.5, pen.ax.get_xlim()[1]
    pen.ax.axvline(x, color=pen.palette.muted, lw=1, ls=(0, (4, 3)))
    pen.ax.annotate(
        f"{n_first:,} selected",
        (x, 1),
        xycoords=("data", "axes fraction"),
        xytext=(0, 4),
        textcoords="offset points",
        ha="left" if x < right**0.3 else "right" if x > right**0.8 else "center",
        color=pen.palette.muted,
        annotation_clip=False,
    )


def _draw_chance(pen: Pen, score: float, heights: Sequence[float], names_from: float) -> None:
    """Draw a line at what chance reaches; it ends before the names where it would cross one."""
    low, high = pen.ax.get_ylim()
    line = LINE_HEIGHT * (high - low) / pen.size[1]
    crosses = any(abs(score - height) < line for height in heights)
    left, right = pen.ax.get_xlim()
    end = names_from if crosses else right
    pen.ax.plot([left, end], [score, score], zorder=1.5, **pen.palette.chance)


def _draw_legend(pen: Pen, curve: Curve) -> None:
    """Say above the axes what marks and line mean, where there are any."""
    looks = {WORDS[decision]: MARKS[decision].look(pen.palette) for decision in curve.marks}
    if curve.chance is not None:
        looks[curve.chance.name] = pen.palette.chance
    if looks:
        pen.ax.legend(
            handles=[Line2D([], [], label=label, **look) for label, look in looks.items()],
            loc="lower left",
            bbox_to_anchor=(0, 1.05),  # above the words on how many are selected
            ncols=len(looks),
            fontsize="small",
            handlelength=1.8,
            columnspacing=1.2,
            borderaxespad=0,
            frameon=False,
            labelcolor=pen.palette.muted,
        )


def _set_heights(pen: Pen, curve: Curve, n_names: int) -> tuple[int, list[float]]:
    """Set the limits of the scores and place the names above the curve; return how many fit."""
    width, height = pen.size
    best, worst = float(curve.scores[0]), float(curve.scores[-1])
    low = 0.0 if 0 <= worst < best / 2 else worst
    span = (best - low) or abs(best) or 1.0
    if curve.chance is not None:
        best, low = max(best, curve.chance.score), min(low, curve.chance.score)
        span = max(span, best - low)
    low -= 0.03 * span
    while n_names and width * _along(pen, int(curve.ranks[n_names - 1])) > width - LEAST_ROOM:
        n_names -= 1
    for n_shown in range(n_names, -1, -1):
        for headroom in (0.06, 0.16, 0.3):
            top = best + headroom * span
            points = (curve.scores[:n_shown] - low) / (top - low) * height
            heights = stack_above(points + HALF_LINE)
            if not heights or heights[0] <= height - HALF_LINE:
                pen.ax.set_ylim(low, top)
                return n_shown, [low + (top - low) * place / height for place in heights]
    raise AssertionError("no names always fit")


def _along(pen: Pen, rank: float) -> float:
    left, right = (math.log10(limit) for limit in pen.ax.get_xlim())
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


def _start_of_names(pen: Pen, curve: Curve, n_names: int) -> float:
    """Return the place of the names along the axis of ranks."""
    left, right = pen.ax.get_xlim()
    if not n_names:
        return right
    width, _ = pen.size
    start = width * _along(pen, int(curve.ranks[n_names - 1])) + 20
    mark = width * _along(pen, curve.n_first + 0.5)
    if start < mark + 6 < width - LEAST_ROOM:  # names beyond the mark of the selection
        start = mark + 6
    return float(left * (right / left) ** (start / width))


def _name_points(pen: Pen, curve: Curve, heights: Sequence[float], x: float) -> None:
    n_letters = int((pen.size[0] * (1 - _along(pen, x)) - 4) / LETTER_WIDTH)
    look = {"textcoords": "offset points", "va": "center", "color": pen.palette.ink}
    named = zip(curve.ranks, curve.scores, heights, curve.names, strict=False)
    for rank, score, height, name in named:
        pen.ax.plot([rank, x], [score, height], color=pen.palette.line, lw=0.8, zorder=0.5)
        pen.say(pen.write(name, n_letters), (x, height), xytext=(3, 0), **look)
