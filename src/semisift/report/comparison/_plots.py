"""The pictures of a comparison on axes of the user."""

from collections.abc import Sequence
from typing import Any

from matplotlib import rcParams
from matplotlib.axes import Axes

from semisift.comparison._results import ComparisonResults, one_of
from semisift.report.charts import critical_difference, curves, tradeoffs
from semisift.report.charts.curves import places_of
from semisift.report.comparison._view import LEVEL_OF_RANKS, MEASURES, SweepView, view_of


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
    ranks = critical_difference.summarize(view, alpha)
    if ranks is None:
        raise ValueError(view.obstacle)
    height = ranks.height(rcParams["font.size"]) / 72
    return critical_difference.figure(ranks).on_axes(ax, (7.0, height + 0.2))


def plot_curves(
    results: ComparisonResults,
    dataset: str,
    ax: Axes | None = None,
    *,
    methods: Sequence[str] | None = None,
    bands: bool | None = None,
    **choice: Any,
) -> Axes:
    """Draw the mean figures of a data set against the number of features.

    Parameters
    ----------
    results : Results
    dataset : str
    ax : matplotlib.axes.Axes, optional
        Else a new figure of pyplot.
    methods : sequence of str, optional
        Else all of them. The list on the right has the best on average first.
    bands : bool, optional
        Shade the 95 % t intervals of the means over runs; None shades them for up to five methods.
    **choice
        Judge, metric and level, as for `Results.scores`.

    Returns
    -------
    matplotlib.axes.Axes
    """
    view, i = view_of(results, **choice), _place(results, dataset)
    places = places_of(results, methods)
    return curves.figure(view, i, listed=True, places=places, bands=bands).on_axes(ax)


def plot_boxes(
    results: ComparisonResults,
    dataset: str,
    ax: Axes | None = None,
    *,
    methods: Sequence[str] | None = None,
    **choice: Any,
) -> Axes:
    """Draw the spread of the figures of a data set over runs; the parameters are as before.

    A box holds the middle half of the runs, with the median as a thick line; whiskers reach from
    the 5th to the 95th percentile, and each run is a mark. Up to five runs are marks alone.
    """
    view, i = view_of(results, **choice), _place(results, dataset)
    places = places_of(results, methods)
    return curves.runs_figure(view, i, places=places).on_axes(ax, (6.4, 0.9 + 0.27 * len(places)))


def plot_sweep(
    results: ComparisonResults,
    ax: Axes | None = None,
    *,
    measure: str = "figure",
    dataset: str | None = None,
    methods: Sequence[str] | None = None,
    **choice: Any,
) -> Axes:
    """Draw how methods fare from level to level of a sweep.

    Parameters
    ----------
    results : Results
        Of a comparison with a sweep.
    ax : matplotlib.axes.Axes, optional
        Else a new figure of pyplot.
    measure : {"figure", "stability", "agreement"}, default="figure"
        What the judge found, how alike selections are over runs, or how alike they are to those at
        the first level.
    dataset : str, optional
        Else the mean over the data sets that are complete at all levels.
    methods : sequence of str, optional
        Else all of them.
    **choice
        Judge, metric and size, as for `Results.scores`.

    Returns
    -------
    matplotlib.axes.Axes
    """
    if results.about["sweep"] is None:
        raise ValueError("plot_sweep needs a comparison with a sweep: this one has none.")
    one_of("measure", measure, MEASURES)
    sweep = SweepView(view_of(results, **choice))
    i = None if dataset is None else _place(results, dataset)
    places = places_of(results, methods)
    return curves.sweep_figure(sweep, measure, i, listed=True, places=places).on_axes(ax)


def plot_stability(results: ComparisonResults, ax: Axes | None = None, **choice: Any) -> Axes:
    """Draw the mean figure of each method against the stability of its selection.

    Both are means over the data sets on which all methods have all their runs.

    Parameters
    ----------
    results : Results
    ax : matplotlib.axes.Axes, optional
        Else a new figure of pyplot.
    **choice
        As for `Results.scores`.

    Returns
    -------
    matplotlib.axes.Axes
    """
    return tradeoffs.stability_figure(view_of(results, **choice)).on_axes(ax)


def plot_time(results: ComparisonResults, ax: Axes | None = None, **choice: Any) -> Axes:
    """Draw the mean figure of each method against the seconds of a ranking.

    Seconds are geometric means over data sets; the parameters are those of `plot_stability`.
    """
    return tradeoffs.time_figure(view_of(results, **choice)).on_axes(ax)


def plot_similarity(
    results: ComparisonResults, ax: Axes | None = None, *, size: int | None = None
) -> Axes:
    """Draw how alike the rankings of two methods are, over data sets and runs.

    Parameters
    ----------
    results : Results
    ax : matplotlib.axes.Axes, optional
        Else a new figure of pyplot.
    size : int, optional
        Of the best features; None is as many as are judged.

    Returns
    -------
    matplotlib.axes.Axes
    """
    side = 2.6 + 0.36 * len(results.methods)
    return tradeoffs.similarity_figure(results, size).on_axes(ax, (side, side))


def _place(results: ComparisonResults, dataset: str) -> int:
    return results.datasets.index(one_of("dataset", dataset, results.datasets))
