"""The pictures of a comparison as drawn, for the page and for files, with words for each."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from semisift._words import count, figure, visible
from semisift.report.comparison.canvas import ReportFigure
from semisift.report.comparison.curves import (
    LANE,
    MOST_BANDS,
    draw_curves,
    draw_runs,
    list_by_figure,
)
from semisift.report.comparison.diagram import (
    Ranks,
    draw_cd,
    natural_height,
    ranks_in_words,
    ranks_of,
)
from semisift.report.comparison.similarity import draw_similarity
from semisift.report.comparison.sweep import MEASURES, SweepView, draw_sweep
from semisift.report.comparison.trade_offs import draw_stability, draw_time
from semisift.report.comparison.view import View, interval, mean_stability, typical_seconds
from semisift.report.palette import Palette, WriteName
from semisift.report.svg import STYLE

FONT_SIZE: float = STYLE[1]["font.size"]
LIST_WIDTH = 190.0
SMALL = ((440.0, 290.0), (54.0, 8.0, 8.0, 40.0))


def curve_figure(view: View, i: int, slug: str, *, listed: bool) -> ReportFigure:
    """Return the curves of a data set; `listed` adds the list of methods to the picture."""
    places = range(len(view.methods))

    def draw(ax: Axes, palette: Palette, write: WriteName) -> None:
        # the page hides and shows bands, a file has them where they can be told apart
        draw_curves(ax, view, i, places, palette, bands=not listed or len(places) <= MOST_BANDS)
        if listed:
            means = view.curves[i].mean(axis=-1)
            list_by_figure(ax, means, places, view.methods, palette, write)

    size, margins = _size(len(places), listed)
    return ReportFigure(slug, view.datasets[i], curves_in_words(view, i), size, margins, draw)


def _size(n_methods: int, listed: bool) -> tuple[Any, Any]:
    """Return the size and the margins of a picture with or without a list of methods."""
    if not listed:
        return SMALL
    height = max(300.0, 14.0 * n_methods + 60)
    return (460 + LIST_WIDTH, height), (58.0, LIST_WIDTH, 8.0, 40.0)


def curves_in_words(view: View, i: int) -> str:
    """Say which method does best with few and with many features."""
    sizes = view.results.protocol.sizes
    said = []
    for size in dict.fromkeys([min(sizes), max(sizes)]):
        runs = view.curves[i][:, :, sizes.index(size)]
        means = np.where(view.is_bound, np.nan, interval(runs)[0])
        if np.isfinite(means).any():
            best = int(np.nanargmax(means))
            said.append(
                f"With {count(size, 'feature')} {view.said[best]} does best: {means[best]:.3f}."
            )
    return " ".join(said) or "There are no figures."


def box_figure(view: View, i: int, slug: str) -> ReportFigure:
    """Return the spread of the figures of a data set over runs."""
    places = range(len(view.methods))

    def draw(ax: Axes, palette: Palette, write: WriteName) -> None:
        draw_runs(ax, view, i, places, palette, write)

    height = LANE * len(places) + 48
    values = view.scores.values[i]
    ranges = [
        f"{name} {values[is_there, j].min():.3f} to {values[is_there, j].max():.3f}"
        for j, name in enumerate(view.said)
        if (is_there := np.isfinite(values[:, j])).any()
    ]
    words = f"Least and largest of the runs: {'; '.join(ranges)}." if ranges else "No figures."
    return ReportFigure(
        slug, view.datasets[i], words, (360.0, height), (108.0, 12.0, 4.0, 40.0), draw
    )


def diagram_figure(ranks: Ranks, slug: str, width: float) -> ReportFigure:
    """Return the critical-difference diagram."""

    def draw(ax: Axes, palette: Palette, write: WriteName) -> None:
        draw_cd(ax, ranks, palette, write)

    height = math.ceil(natural_height(ranks, FONT_SIZE)) + 8
    words = ranks_in_words(ranks)
    return ReportFigure(slug, "Mean ranks", words, (width, height), (2.0, 2.0, 2.0, 2.0), draw)


def stability_figure(view: View, slug: str, width: float) -> ReportFigure:
    """Return stability against the figures."""
    words = _best_in_words(view, mean_stability(view), "Most stable: {} ({})")
    return _trade_off(view, slug, width, "Stability", words, draw_stability)


def time_figure(view: View, slug: str, width: float) -> ReportFigure:
    """Return seconds against the figures."""
    words = _best_in_words(view, -typical_seconds(view), "Fastest: {} ({} seconds)")
    return _trade_off(view, slug, width, "Time", words, draw_time)


def _trade_off(
    view: View, slug: str, width: float, what: str, words: str, draw: Callable[..., None]
) -> ReportFigure:
    return ReportFigure(
        slug,
        f"{what} and {view.metric_name}",
        words,
        (width, 320.0),
        (58.0, 12.0, 16.0, 40.0),
        lambda ax, palette, write: draw(ax, view, palette, write),
    )


def _best_in_words(view: View, values: NDArray[np.float64], first: str) -> str:
    """Say which method has the largest value, and which one the best mean."""
    there = np.isfinite(values) & np.isfinite(view.overall)
    if not there.any():
        return "There are no means over complete data sets to draw."
    top = int(np.where(there, values, -np.inf).argmax())
    best = int(np.where(there, view.overall, -np.inf).argmax())
    return (
        f"{first.format(view.said[top], figure(abs(values[top])))}. Best mean {view.metric_name}: "
        f"{view.said[best]} ({view.overall[best]:.3f})."
    )


def similarity_figure(view: View, slug: str) -> ReportFigure:
    """Return how alike rankings are, for files; the page has a table of shades."""
    values = view.results.similarity()
    side = 30.0 * max(len(view.methods), 4)

    def draw(ax: Axes, palette: Palette, write: WriteName) -> None:
        draw_similarity(ax, values, view.methods, palette, write)

    words = "The darker, the more alike the rankings of two methods are."
    return ReportFigure(
        slug, "Overlap of rankings", words, (side + 130, side + 130), (122.0, 8.0, 122.0, 8.0), draw
    )


def sweep_figure(
    sweep: SweepView, measure: str, dataset: int | None, slug: str, *, listed: bool
) -> ReportFigure:
    """Return a measure against the levels, for a data set or on average."""
    places = range(len(sweep.view.methods))

    def draw(ax: Axes, palette: Palette, write: WriteName) -> None:
        draw_sweep(ax, sweep, measure, dataset, places, palette)
        if listed:
            means = sweep.values(measure, dataset).mean(axis=-1)
            list_by_figure(ax, means, places, sweep.view.methods, palette, write)

    where = "mean over data sets" if dataset is None else visible(sweep.results.datasets[dataset])
    title = f"{sweep.name(measure)}, {where}"
    size, margins = _size(len(places), listed)
    words = sweep_in_words(sweep, measure, dataset)
    return ReportFigure(slug, title, words, size, margins, draw)


def sweep_in_words(sweep: SweepView, measure: str, dataset: int | None) -> str:
    """Say from where to where each method goes."""
    values = sweep.values(measure, dataset).mean(axis=0)
    ends = [
        f"{name} {values[j, 0]:.3f} to {values[j, -1]:.3f}"
        for j, name in enumerate(sweep.view.said)
        if np.isfinite(values[j, [0, -1]]).all()
    ]
    if not ends:
        return "There are no values at both ends of the sweep."
    first, last = sweep.levels[0], sweep.levels[-1]
    return f"From level {first:g} to level {last:g}: {'; '.join(ends)}."


def all_figures(view: View) -> list[ReportFigure]:
    """Return every picture for a paper."""
    drawn = []
    if (ranks := ranks_of(view)) is not None:
        drawn.append(diagram_figure(ranks, "ranks", 640.0))
    for i in range(len(view.datasets)):
        drawn.append(curve_figure(view, i, f"curves-{i + 1}", listed=True))
        drawn.append(box_figure(view, i, f"boxes-{i + 1}"))
    drawn += trade_off_figures(view)
    drawn.append(similarity_figure(view, "similarity"))
    return drawn + sweep_figures(view)


def trade_off_figures(view: View) -> list[ReportFigure]:
    """Return stability and time against the figures."""
    return [stability_figure(view, "stability", 560.0), time_figure(view, "time", 560.0)]


def sweep_figures(view: View) -> list[ReportFigure]:
    """Return the means of a sweep by each measure; none without a sweep."""
    if view.results.about["sweep"] is None:
        return []
    sweep = SweepView(view)
    return [
        sweep_figure(sweep, measure, None, f"sweep-{measure}", listed=True) for measure in MEASURES
    ]


def file_name(picture: ReportFigure) -> str:
    """Return the name of the file of a picture: those of data sets are told by their names.

    Examples
    --------
    >>> file_name(ReportFigure("curves-1", "a/b", "", (1, 1), (0, 0, 0, 0), lambda *_: None))
    'curves-1-a-b'
    """
    kind, _, number = picture.slug.rpartition("-")
    if kind not in ("curves", "boxes"):
        return picture.slug
    plain = [letter if letter.isascii() and letter.isalnum() else "-" for letter in picture.title]
    return f"{kind}-{number}-{''.join(plain)[:40].strip('-')}".rstrip("-")
