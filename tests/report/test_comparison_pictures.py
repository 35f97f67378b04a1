"""The pictures of a comparison."""

import re
from itertools import combinations

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from scipy import stats

from semisift.report._style import PLAIN, dashes, mark
from semisift.report.comparison import (
    plot_boxes,
    plot_critical_difference,
    plot_curves,
    plot_similarity,
    plot_stability,
    plot_sweep,
    plot_time,
    write_figures,
)
from semisift.report.comparison._view import interval
from tests.shown_comparisons import EVIL_SET, made_up, made_up_sweep, random_figures

LONG = "a method with a name that is far too long for any picture:parameter={}"


@pytest.fixture(autouse=True)
def _no_window():
    matplotlib.use("agg")
    yield
    pyplot.close("all")


def boxes_of(ax):
    figure = ax.get_figure()
    figure.canvas.draw()
    texts = [text for text in ax.texts if text.get_text()]
    assert texts
    return {id(text): text.get_window_extent() for text in texts}


def assert_apart(boxes):
    for first, second in combinations(boxes.values(), 2):
        width = min(first.x1, second.x1) - max(first.x0, second.x0)
        height = min(first.y1, second.y1) - max(first.y0, second.y0)
        assert width <= 0 or height <= 0, (first, second)


def figures_with_ranks(kind, n_methods):
    rng = np.random.default_rng(n_methods)
    if kind == "equal":
        return np.full((4, 1, n_methods), 0.7)
    if kind == "close":  # mean ranks around the middle that hardly differ
        rows = [rng.permutation(n_methods) for _ in range(30)]
        return np.array(rows, dtype=float)[:, None]
    return np.tile(np.linspace(0.5, 0.9, n_methods), (12, 1))[:, None]


@pytest.mark.parametrize("kind", ["equal", "close", "apart"])
@pytest.mark.parametrize(
    "n_methods", [2, 7, 40, *(pytest.param(n, marks=pytest.mark.nightly) for n in (3, 20))]
)
@pytest.mark.parametrize("own_axes", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_names_of_the_diagram_never_overlap(kind, n_methods, own_axes):
    names = [LONG.format(j) if j % 2 else f"W{j}" * 12 for j in range(n_methods)]
    results = made_up(figures_with_ranks(kind, n_methods), methods=names)
    ax = pyplot.subplots(figsize=(4, 3))[1] if own_axes else None
    ax = plot_critical_difference(results, ax)
    boxes = boxes_of(ax)
    assert len(boxes) >= 2 * n_methods + 3
    assert_apart(boxes)


def test_the_diagram_of_the_enscls_paper():
    """Its table 2 has the best on the right, three bars and a critical difference of 1.83."""
    ranks = np.array([1, 14 / 3, 11 / 3, 10 / 3, 7 / 3])
    # figures whose ranks have these means over nine data sets
    table = np.array([[1, 5, 4, 3, 2]] * 4 + [[1, 5, 3, 4, 2]] * 2)
    table = np.vstack([table, [[1, 4, 5, 3, 2], [1, 4, 3, 5, 2], [1, 4, 3, 2, 5]]])
    results = made_up(
        -table[:, None].astype(float), methods=["EnsCLS", "CLS", "CSFS", "BS", "SSFI"]
    )
    assert np.allclose(list(results.mean_ranks().values()), ranks)
    ax = plot_critical_difference(results, alpha=0.1)
    words = [text.get_text() for text in ax.texts]
    assert "CD = 1.83 at level 0.1" in words
    place = {text.get_text(): text.get_window_extent().x0 for text in ax.texts}
    assert place["EnsCLS"] > place["CLS"]
    bars = [line for line in ax.lines if line.get_color() == PLAIN.accent]
    assert len(bars) == 3
    first, last = sorted(float(word) for word in words if re.fullmatch(r"\d", word))[::4]
    assert (first, last) == (1, 5)


def test_forty_methods_look_different():
    looks = [(PLAIN.of_class(j), dashes(j)) for j in range(40)]
    marks = [(PLAIN.of_class(j), mark(j)) for j in range(40)]
    assert len(set(looks)) == len(set(marks)) == 40


@pytest.mark.parametrize("n_methods", [1, 5, 40])
def test_names_beside_points_are_apart(n_methods):
    results = made_up(0.7 + 0.001 * random_figures(2, 2, n_methods))
    ax = plot_time(results, pyplot.subplots(figsize=(6, 8))[1])
    boxes = boxes_of(ax)
    assert len(boxes) == n_methods
    assert_apart(boxes)


def test_bands_are_t_intervals(comparison):
    runs = comparison.curves()[1, :, 0]
    mean, half = interval(runs)
    low, high = stats.t.interval(0.95, 5, loc=runs.mean(axis=0), scale=stats.sem(runs, axis=0))
    assert np.allclose([mean - half, mean + half], [low, high])
    ax = plot_curves(comparison, "breast cancer", methods=["fisher", "random"])
    band = ax.collections[0].get_paths()[0].vertices
    assert np.isclose(band[:, 1].max(), high.max())
    assert np.allclose(ax.lines[0].get_ydata(), mean)
    assert not plot_curves(comparison, "breast cancer").collections


def test_pictures_on_axes_of_the_user(comparison):
    ax = pyplot.subplots()[1]
    n_figures = len(pyplot.get_fignums())
    for draw in [
        lambda: plot_curves(comparison, "breast cancer", ax),
        lambda: plot_boxes(comparison, EVIL_SET, ax, judge="tree", metric="macro_f1"),
        lambda: plot_critical_difference(comparison, ax),
        lambda: plot_stability(comparison, ax),
        lambda: plot_time(comparison, ax),
        lambda: plot_similarity(comparison, ax),
        lambda: comparison.plot_curves("breast cancer", ax, methods=["random"]),
        lambda: comparison.plot_boxes("breast cancer", ax),
        lambda: comparison.plot_stability(ax),
        lambda: comparison.plot_time(ax),
        lambda: comparison.plot_similarity(ax),
    ]:
        ax.clear()
        assert draw() is ax
        ax.get_figure().canvas.draw()
        assert ax.has_data() or ax.texts
    assert len(pyplot.get_fignums()) == n_figures


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda r: plot_curves(r, "iris"), "dataset must be one of .*: got 'iris'"),
        (lambda r: plot_boxes(r, "breast cancer", methods=["x"]), "methods must be one of"),
        (lambda r: plot_sweep(r), "this one has none"),
        (lambda r: write_figures(r, "unused", "gif"), "form must be one of svg, pdf: got 'gif'"),
        (lambda r: plot_critical_difference(made_up(random_figures(1, 2, 2))), "at least two"),
    ],
)
def test_what_cannot_be_drawn(comparison, draw, message):
    with pytest.raises(ValueError, match=message):
        draw(comparison)


def test_the_list_of_methods_has_the_best_first():
    values = np.array([[[0.5, 0.9, 0.7]], [[0.5, 0.9, 0.7]]])
    results = made_up(values, methods=["_low", "$high$", "middle"])
    legend = plot_curves(results, "set 0").get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["$high$", "middle", "_low"]


@pytest.mark.parametrize(
    ("measure", "dataset"),
    [("figure", None), ("figure", "set 1"), ("stability", None), ("agreement", "set 1")],
)
def test_sweeps(measure, dataset):
    results = made_up_sweep()
    ax = plot_sweep(results, measure=measure, dataset=dataset)
    lines = {tuple(line.get_ydata()) for line in ax.lines}
    rows = slice(None) if dataset is None else [1]
    of_level = {
        "figure": lambda level: results.scores(level=level).means,
        "stability": lambda level: results.stability(level=level),
        "agreement": lambda level: results.agreement(level),
    }[measure]
    values = np.array([of_level(level)[rows].mean(axis=0) for level in results.levels])
    assert np.allclose(sorted(lines), sorted(map(tuple, values.T)))
    assert ax.get_xlabel() == "labelled rows of each class"
