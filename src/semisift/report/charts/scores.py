"""How the scores fall from the first rank to the last."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator
from numpy.typing import NDArray

from semisift.base._decisions import WORDS
from semisift.report import _style
from semisift.report._figure import ReportFigure, own_axes
from semisift.report._page import paragraph
from semisift.report._style import FigureStyle
from semisift.selection import RankingResult
from semisift.selection._result import Chance
from semisift.utils._text import format_number, printable_name

MAX_POINTS = 400
N_FOR_DROP = 50

# So many significant and as many suggestive features have a point in any case.
MAX_DECIDED = 100

# In points: lines of names, their letters, and the least room for them.
LINE_HEIGHT, LETTER_WIDTH, MIN_ROOM = 14.0, 6.4, 95.0


@dataclass(frozen=True, eq=False)
class Curve:
    """Scores by rank.

    Attributes
    ----------
    ranks, scores : arrays
        Points of the picture: all ranks, or ranks evenly spaced on a logarithmic axis.
    names : list of str
        The features of the points.
    n_names : int
        How many of these may be named.
    n_first : int
        How many of the first features are selected; 0 where these are not the selected ones.
    words : str
        What the picture shows.
    decisions : array of str or None
        What was decided on the features of the points.
    chance : Chance or None
        What chance alone scores, where that is not far outside the picture.
    """

    ranks: NDArray[np.int64]
    scores: NDArray[np.float64]
    names: list[str]
    n_names: int
    n_first: int
    words: str
    decisions: NDArray[np.str_] | None
    chance: Chance | None


def summarize(outcome: RankingResult, n_names: int = 8, top: int | None = None) -> Curve:
    """Return the points to draw; `top` leaves the features behind so many out."""
    finite = np.flatnonzero((np.isfinite(outcome.scores) & ~outcome.is_copy)[:top])
    chosen = _spaced(len(finite))
    decided: Any = () if outcome.decisions is None else outcome.decisions[finite]
    for decision in ("significant", "suggestive") if len(decided) else ():
        chosen = np.union1d(chosen, np.flatnonzero(decided == decision)[:MAX_DECIDED])
    places = finite[chosen]
    decisions = None if outcome.decisions is None else outcome.decisions[places]
    in_reach = _in_reach(outcome.chance, outcome.scores[finite])
    facts = _facts(outcome, finite) | {"in_reach": in_reach}
    facts["marks"] = [
        f"{outcome.counts[each]:,} {WORDS[each]} ({_style.MARKS[each].words})"
        for each in _style.marked(places + 1, decisions)
    ]
    return Curve(
        places + 1,
        outcome.scores[places],
        [printable_name(name) for name in outcome.features[places]],
        n_names,
        outcome.n_first,
        paragraph("scores", facts),
        decisions,
        outcome.chance if in_reach else None,
    )


def _facts(outcome: RankingResult, places: NDArray[np.intp]) -> dict[str, Any]:
    """Return what the words tell of the scores at these places."""
    scores, own = outcome.scores[places], ~outcome.is_copy
    ranked = [*zip((places + 1).tolist(), scores.tolist(), strict=True)]
    half: Any = ()
    if len(scores) and scores[0] > 0:
        half = np.flatnonzero(scores <= scores[0] / 2)
    drops = -np.diff(scores[:N_FOR_DROP])
    last = 0
    if outcome.decisions is not None:
        last = int(max(np.flatnonzero(own & (outcome.decisions == "not significant")), default=0))
    return {
        "ranked": ranked,
        "half": ranked[half[0]][0] if len(half) else None,
        "drop": int(drops.argmax()) if len(drops) > 1 and drops.max() > 0 else None,
        "n_for_drop": N_FOR_DROP if len(scores) > N_FOR_DROP else None,
        "n_infinite": int(np.isinf(outcome.scores[own]).sum()),
        "n_copies": int(outcome.is_copy.sum()),
        "max_marked": _style.MAX_MARKED if last >= _style.MAX_MARKED else None,
        "chance": outcome.chance,
        "n_above": 0 if outcome.chance is None else int((scores > outcome.chance.score).sum()),
    }


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
    >>> _spaced(3).tolist(), len(_spaced(100_000)) <= MAX_POINTS
    ([0, 1, 2], True)
    """
    if length <= MAX_POINTS:
        return np.arange(length)
    return np.unique(np.geomspace(1, length, MAX_POINTS).round().astype(np.intp)) - 1


def figure(
    outcome: RankingResult, *_: Any, slug: str = "scores", is_small: bool = False
) -> ReportFigure:
    """Return the picture of the scores for the page, or a small one for a notebook."""
    curve = summarize(outcome, 0 if is_small else 8)
    margins = (52.0, 6.0, 20.0, 40.0)
    tips = decided_tips(
        curve.ranks.tolist(),
        curve.scores.tolist(),
        [
            f"{name}: rank {rank:,}, score {format_number(score)}"
            for name, rank, score in zip(curve.names, curve.ranks, curve.scores, strict=True)
        ],
        curve.decisions,
    )
    marks = [*_style.marked(curve.ranks, curve.decisions)]
    size = (420.0, 240.0) if is_small else (760.0, 350.0)
    made = ReportFigure(
        slug, "Scores by rank", curve.words, draw, curve, size, margins, marks=marks, tips=tips
    )
    if is_small:
        return replace(made, tips=())  # which need the script of the page
    return replace(
        made, small=replace(made, summary=replace(curve, n_names=5), size=(340.0, 300.0))
    )


def decided_tips(
    x: Sequence[float],
    y: Sequence[float],
    texts: Sequence[str],
    decisions: NDArray[np.str_] | None,
) -> list[tuple[float, float, str]]:
    """Return the tips of features, which end in what was decided on them."""
    if decisions is not None:
        texts = [f"{text}, {WORDS[each]}" for text, each in zip(texts, decisions, strict=True)]
    return [*zip(x, y, texts, strict=True)]


def plot_scores(
    outcome: RankingResult, *, ax: Axes | None = None, top: int | None = None, n_names: int = 8
) -> Axes:
    """Draw the scores against the ranks.

    Parameters
    ----------
    outcome : RankingResult
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
    ax, curve = own_axes(ax, (6.4, 4.8)), summarize(outcome, n_names, top)
    style = FigureStyle(_style.for_user())
    draw(ax, curve, style)
    palette = style.palette
    decided = _style.marked(curve.ranks, curve.decisions)
    looks = [(WORDS[each], _style.MARKS[each].look(palette)) for each in decided]
    looks += [] if curve.chance is None else [(curve.chance.name, palette.chance)]
    if looks:  # above the words on how many are selected
        place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1.05)}
        _style.draw_legend(ax, looks, palette.muted, **place, ncols=len(looks), columnspacing=1.2)
    return ax


def draw(ax: Axes, curve: Curve, style: FigureStyle) -> None:
    """Draw the scores on a logarithmic axis of ranks, where the drop-off is seen at any size."""
    palette = style.palette
    style.clean_axes(ax, "rank", "score")
    last = int(curve.ranks[-1]) if len(curve.ranks) else 1
    set_ranks(ax, max(1.5 * last, 12.0))  # room for names where there are few ranks
    if not len(curve.ranks):
        return
    low = _set_scores(ax, curve)
    first = curve.ranks <= curve.n_first
    shade: dict[str, Any] = {"color": palette.accent, "alpha": 0.12, "lw": 0}
    ax.fill_between(curve.ranks[first], curve.scores[first], low, **shade)
    is_plain = curve.decisions is None
    colour = palette.accent if is_plain else palette.muted
    ax.plot(curve.ranks, curve.scores, color=colour, lw=1.6 if is_plain else 1)
    few = curve.ranks <= _style.MAX_MARKED if is_plain else slice(None)
    _style.draw_marks(ax, style, curve.ranks[few], curve.scores[few], curve.decisions)
    names_from = _name_points(ax, curve, style)
    if low < 0:
        ax.axhline(0, color=palette.line, lw=0.8, zorder=0)
    if 0 < curve.n_first < last:
        x, right = curve.n_first + 0.5, ax.get_xlim()[1]
        ax.axvline(x, color=palette.muted, lw=1, ls=(0, (4, 3)))
        side = "left" if x < right**0.3 else "right" if x > right**0.8 else "center"
        look = {"xycoords": ("data", "axes fraction"), "xytext": (0, 4), "va": "bottom"}
        style.annotate(
            ax, f"{curve.n_first:,} selected", (x, 1), ha=side, color=palette.muted, **look
        )
    if curve.chance is not None:
        at, left = curve.chance.score, ax.get_xlim()[0]
        ax.plot([left, names_from(at)], [at, at], zorder=1.5, **palette.chance)


def set_ranks(ax: Axes, right: float) -> None:
    """Make the horizontal axis logarithmic, for ranks up to `right`."""
    ax.set_xscale("log")
    ax.set_xlim(0.88, right)
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0,) if right > 300 else (1.0, 2.0, 5.0)))
    ax.xaxis.set_minor_locator(LogLocator(subs=()))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def _set_scores(ax: Axes, curve: Curve) -> float:
    """Set the limits of the scores, with room for names, and return the lower one."""
    best, worst = float(curve.scores[0]), float(curve.scores[-1])
    low = 0.0 if 0 <= worst < best / 2 else worst
    span = (best - low) or abs(best) or 1.0
    if curve.chance is not None:
        best, low = max(best, curve.chance.score), min(low, curve.chance.score)
        span = max(span, best - low)
    low -= 0.03 * span
    ax.set_ylim(low, best + (0.16 if curve.n_names else 0.06) * span)
    return low


def _name_points(ax: Axes, curve: Curve, style: FigureStyle) -> Any:
    """Name the first points, and return where a line at a score has to end before the names."""
    (width, height), (left, right), (low, high) = _style.size_of(ax), ax.get_xlim(), ax.get_ylim()
    line = LINE_HEIGHT * (high - low) / height

    def along(rank: Any) -> Any:
        return width * np.log(rank / left) / np.log(right / left)

    has_room = along(curve.ranks[: curve.n_names]) <= width - MIN_ROOM
    n = min(int(has_room.sum()), int(height / LINE_HEIGHT) - 1)
    if n < 1:
        return lambda score: right
    start, selected = along(curve.ranks[n - 1]) + 20, along(curve.n_first + 0.5)
    if start < selected + 6 < width - MIN_ROOM:  # names beyond the mark of the selection
        start = selected + 6
    x = float(left * (right / left) ** (start / width))
    wanted = curve.scores[:n][::-1] + 0.4 * line
    heights = _style.spread_out(wanted, line, low + line / 2, high - line / 2)[::-1]
    n_letters = int((width - start - 4) / LETTER_WIDTH)
    for rank, score, at, name in zip(curve.ranks, curve.scores, heights, curve.names, strict=False):
        ax.plot([rank, x], [score, at], color=style.palette.line, lw=0.8, zorder=0.5)
        style.annotate(ax, style.write(name, n_letters), (x, at), xytext=(3, 0))
    return lambda score: x if (abs(heights - score) < line).any() else right
