"""The markers of each class by the cells of all classes: dots, or a heatmap of single cells."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.transforms import Transform, blended_transform_factory
from numpy.typing import NDArray

from semisift.base._docstrings import fill_slots
from semisift.pl._figure import LETTER, LINE, MAX_NAME, finish_figure, inches_from_corner
from semisift.pl._read import class_colours, codes_of, column, expression, results_of
from semisift.report._figure import own_axes
from semisift.report._style import LITERAL, Palette, draw_legend, for_user, size_of, spread_out
from semisift.tl._read import column_of
from semisift.tl._write import KEY, KEY_OF_MARKERS
from semisift.utils._text import examples, printable_name, quote, shorten
from semisift.utils._validation import check_integer

# Inches from the axes to the middle of a bracket, and to the names beyond it.
OUTSIDE, NAME = 0.07, 0.125

# Inches of a dot's cell, of the legends, and around all.
CELL = 0.24
LEGEND_WIDTH, LEGEND_HEIGHT = 1.5, 2.3
MARGIN = 0.35

# A dot of all cells takes this share of the width of its cell.
WIDEST = 0.92

SHARES = (0.25, 0.5, 0.75, 1.0)


def draw_dots(shown: "Shown", ax: Axes | None, palette: Palette, cmap: Any) -> Axes:
    """Draw a dot for each class and gene: how many cells have a value, and how high it is."""
    n_classes, n_genes = len(shown.classes), len(shown.genes)
    longest = LETTER * max(map(len, shown.classes))
    turned = any(
        LETTER * len(shown.classes[number]) > CELL * (last + 1 - first)
        for number, first, last in shown.blocks
    )
    width = CELL * n_genes + longest + LEGEND_WIDTH + MARGIN
    height = max(CELL * n_classes + LETTER * max(map(len, shown.genes)), LEGEND_HEIGHT)
    ax = own_axes(ax, (width, height + (longest if turned else LINE) + MARGIN))
    _name_lanes(shown, ax, palette, turned)
    shares, means = by_class(shown)
    x, y = np.meshgrid(range(n_genes), range(n_classes))
    look: dict[str, Any] = {"vmin": 0, "vmax": 1, "ec": palette.muted, "lw": 0.4, "zorder": 3}
    dots = ax.scatter(x.ravel(), y.ravel(), c=means.ravel(), cmap=cmap, **look)
    legend = _draw_share_legend(ax, palette)
    _scale_beside(ax, dots, "mean by class,\nscaled by gene", LEGEND_HEIGHT - 0.75, palette)
    widest = _widest(ax)
    dots.set_sizes(widest**2 * shares.ravel())
    for handle, share in zip(legend.legend_handles, SHARES, strict=True):
        handle.set_markersize(widest * share**0.5)
    return ax


def _name_lanes(shown: "Shown", ax: Axes, palette: Palette, turned: bool) -> None:
    """Name genes and classes, and above the genes the class that they mark."""
    n_classes, n_genes = len(shown.classes), len(shown.genes)
    ax.set_xlim(-0.6, n_genes - 0.4)
    ax.set_ylim(n_classes - 0.4, -0.6)
    ax.set_xticks(range(n_genes), shown.genes, rotation=90, fontsize="small", **LITERAL)
    ax.set_yticks(range(n_classes), shown.classes, fontsize="small", **LITERAL)
    ax.tick_params(length=0, labelcolor=palette.ink)
    ax.spines[:].set_color(palette.line)
    for number, first, last in shown.blocks:
        _bracket(ax, shown.colours[number], first - 0.4, last + 0.4)
        _name_above(ax, shown.classes[number], (first + last) / 2, NAME, palette, turned)


def _widest(ax: Axes) -> float:
    """Return the width of the largest dots in points: they must not touch."""
    width, height = _room_of(ax)
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    return WIDEST * min(width / (right - left), height / (bottom - top), 72 * CELL)


def _draw_share_legend(ax: Axes, palette: Palette) -> Any:
    """Say beside the axes what the area of a dot means."""
    dot = {"marker": "o", "ls": "none", "mew": 0.4, "mec": palette.muted, "mfc": palette.line}
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0.12, 0.03), "borderpad": 0}
    place |= {"bbox_transform": inches_from_corner(ax), "alignment": "left", "labelspacing": 1.1}
    place |= {"title": "cells with a value", "title_fontsize": "small"}
    looks = [(f"{share:.0%}", {**dot, "ms": 10}) for share in SHARES]
    return draw_legend(ax, looks, palette.ink, **place)


def by_class(shown: "Shown") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the share of cells with a value, and the mean from 0 to 1, by class and gene."""
    shares = np.zeros((len(shown.classes), len(shown.genes)))
    means = shares.copy()
    for number in range(len(shown.classes)):
        values = shown.values[shown.codes == number]
        known = ~np.isnan(values)
        n_known = np.maximum(known.sum(axis=0), 1)
        shares[number] = (known & (values != 0)).sum(axis=0) / n_known
        means[number] = np.nansum(values, axis=0) / n_known
    low, high = means.min(axis=0), means.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    return shares, np.where(high > low, (means - low) / span, (means > 0) * 1.0)


# --- beside the axes ------------------------------------------------------------------------------


def _room_of(ax: Axes) -> tuple[float, float]:
    """Return width and height of axes in points, after what stands beside them has its room."""
    figure: Any = ax.get_figure(root=True)
    if (layout := figure.get_layout_engine()) is not None:
        layout.execute(figure)
    return size_of(ax)


def _scale_beside(ax: Axes, of: ScalarMappable, words: str, below: float, palette: Palette) -> None:
    """Draw what colours from 0 to 1 mean, so many inches below the upper right corner."""
    bar = ax.inset_axes((0.12, -below - 0.1, 1.0, 0.1), transform=inches_from_corner(ax))
    scale = bar.figure.colorbar(of, cax=bar, orientation="horizontal", ticks=[0, 0.5, 1])
    scale.outline.set_edgecolor(palette.line)
    bar.tick_params(labelsize="small", labelcolor=palette.ink, color=palette.line, length=3)
    bar.set_title(words, fontsize="small", color=palette.ink, loc="left", pad=4)


def _above(ax: Axes) -> Transform:
    """Return places along the horizontal axis, and inches above the axes."""
    return blended_transform_factory(ax.transData, inches_from_corner(ax))


def _beside(ax: Axes) -> Transform:
    """Return inches right of the left side of the axes, and places along the vertical axis."""
    return blended_transform_factory(inches_from_corner(ax, x=0), ax.transData)


def _bracket(
    ax: Axes, colour: str, start: float, end: float, side: Literal["top", "left"] = "top"
) -> None:
    """Draw a thick line along the columns, or rows, of a class, outside the axes."""
    look: dict[str, Any] = {"color": colour, "lw": 4, "solid_capstyle": "butt", "clip_on": False}
    if side == "top":
        ax.plot([start, end], [OUTSIDE, OUTSIDE], transform=_above(ax), **look)
    else:
        ax.plot([-OUTSIDE, -OUTSIDE], [start, end], transform=_beside(ax), **look)


def _name_above(
    ax: Axes, name: str, place: float, inches: float, palette: Palette, turned: bool
) -> None:
    """Write a name so many inches above the axes, upright or not."""
    look: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": "small", **LITERAL}
    rotation = 90 if turned else 0
    ax.text(place, inches, name, color=palette.ink, rotation=rotation, transform=_above(ax), **look)


# --- heatmap --------------------------------------------------------------------------------------


# Of each class at most so many cells are drawn.
MAX_CELLS = 500

# Values above this share of those of a gene have the full colour: single cells run far ahead.
FULL = 0.99

# Inches of the cells, of a gene, of the scale beside them, and of lines that lead to names.
WIDTH, GENE, SIDE, LEADER = 6.0, 0.17, 1.4, 0.14


def draw_heatmap(shown: "Shown", ax: Axes | None, palette: Palette, cmap: Any) -> Axes:
    """Draw a line for each gene and a column for each cell, class by class."""
    cells = chosen_cells(shown)
    there = [number for number, its in enumerate(cells) if len(its)]
    names = [shown.classes[number] for number in there]
    longest = LETTER * max(map(len, names))
    width = max(WIDTH, LINE * len(names))
    ax = own_axes(
        ax,
        (
            width + LETTER * max(map(len, shown.genes)) + SIDE,
            max(GENE * len(shown.genes), 1.0) + longest + 0.6,
        ),
    )
    values = scaled(shown.values[np.concatenate(cells)])
    look: dict[str, Any] = {"cmap": cmap, "vmin": 0, "vmax": 1, "interpolation": "nearest"}
    image = ax.imshow(values.T, aspect="auto", **look)
    ax.set_yticks(range(len(shown.genes)), shown.genes, fontsize="small", **LITERAL)
    ax.tick_params(length=0, labelcolor=palette.ink, pad=72 * NAME + 2, axis="y")
    ax.set_xticks([])
    ax.spines[:].set_color(palette.line)
    ends = np.cumsum([len(its) for its in cells]) - 0.5
    starts = np.concatenate([[-0.5], ends[:-1]])
    for number in there:
        _bracket(ax, shown.colours[number], starts[number], ends[number])
        if ends[number] < ends[-1]:
            ax.axvline(ends[number], color=palette.line, lw=0.8)
    for number, first, last in shown.blocks:
        _bracket(ax, shown.colours[number], first - 0.4, last + 0.4, side="left")
    _scale_beside(ax, image, "value, scaled\nby gene", 0.45, palette)
    _name_classes(ax, names, starts[there], ends[there], palette)
    return ax


def _name_classes(
    ax: Axes,
    names: list[str],
    starts: NDArray[np.float64],
    ends: NDArray[np.float64],
    palette: Palette,
) -> None:
    """Write the names above the bars of the classes, upright and apart where they have no room."""
    inch = 72 * (ends[-1] - starts[0]) / _room_of(ax)[0]
    middles, widths = (starts + ends) / 2, [LETTER * inch * len(name) for name in names]
    turned = bool((widths > ends - starts).any())
    places = spread_out(middles, LINE * inch, starts[0], ends[-1]) if turned else middles
    if turned:
        lines = np.column_stack([middles, places, np.full(len(names), np.nan)]).ravel()
        heights = np.tile([NAME, NAME + LEADER, np.nan], len(names))
        look: dict[str, Any] = {"color": palette.muted, "lw": 0.5, "clip_on": False}
        ax.plot(lines, heights, transform=_above(ax), **look)
    for name, place in zip(names, places, strict=True):
        _name_above(ax, name, place, NAME + (LEADER + 0.02) * turned, palette, turned)


def chosen_cells(shown: "Shown") -> list[NDArray[np.intp]]:
    """Return the cells of each class, the surest first; of many some, evenly from first to last."""
    chosen = []
    for number in range(len(shown.classes)):
        its = np.flatnonzero(shown.codes == number)
        if shown.confidence is not None:
            its = its[np.argsort(-shown.confidence[its], kind="stable")]
        if len(its) > MAX_CELLS:
            its = its[np.linspace(0, len(its) - 1, MAX_CELLS).round().astype(np.intp)]
        chosen.append(its)
    return chosen


def scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bring the values of each gene to 0 to 1.

    Examples
    --------
    >>> scaled(np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0]])).T.tolist()
    [[0.0, 0.5, 1.0], [1.0, 1.0, 1.0]]
    """
    known = np.nan_to_num(values)
    low, most = known.min(axis=0), known.max(axis=0)
    full = np.quantile(known, FULL, axis=0, method="higher")
    span = np.where(full > low, full, most) - low
    return np.where(
        span > 0, np.clip((values - low) / np.where(span > 0, span, 1), 0, 1), values > 0
    )


# --- markers --------------------------------------------------------------------------------------


class Shown(NamedTuple):
    """What is drawn.

    Attributes
    ----------
    classes : list of str
        All of them, as they are written.
    colours : list of str
    codes : int array of shape (n_obs,)
        The class of each cell; -1 for cells without one.
    confidence : array of shape (n_obs,) or None
    genes : list of str
        As they are written, the markers of one class after those of another.
    blocks : list of (int, int, int)
        For each class with markers its number, and the first and the last of its genes.
    values : array of shape (n_obs, n_genes)
    """

    classes: list[str]
    colours: list[str]
    codes: NDArray[np.intp]
    confidence: NDArray[np.float64] | None
    genes: list[str]
    blocks: list[tuple[int, int, int]]
    values: NDArray[np.float64]


@fill_slots
def markers(
    adata: Any,
    key: str | None = None,
    *,
    n_markers: int = 5,
    kind: Literal["dotplot", "heatmap"] = "dotplot",
    groups: Sequence[str] | None = None,
    layer: str | None = None,
    cmap: Any = None,
    ax: Axes | None = None,
    show: bool | None = None,
    save: str | os.PathLike[str] | None = None,
) -> Axes | None:
    """Draw the best markers of each class by the cells of all classes.

    In the dot plot, the area of a dot is the share of the cells of a class that have a value other
    than 0, and its colour the mean, from 0 for the class in which the gene is lowest to 1 for the
    class in which it is highest. In the heatmap, each cell has a column; classes stand side by
    side, the surest cells first, and of a class with more than 500 cells as many are drawn, evenly
    from the surest to the least sure. Counts are brought to one total a cell and taken as
    log(1 + x) first.

    Parameters
    ----------
    adata : AnnData
        With the results of `tl.rank_markers` or `tl.markers`.
    key : str, optional
        Their name, `key_added` of that call. None is "semisift", or else "semisift_markers".
    n_markers : int
        How many markers a class. Genes that are lower in a class than in the rest are none.
    kind : {"dotplot", "heatmap"}
    groups : sequence of str, optional
        The classes whose markers are drawn. The cells of all classes are, for comparison.
    layer : str, optional
        Take the values from this layer. None takes them from where the results are from.
    cmap : str or matplotlib.colors.Colormap, optional
        Colours from low to high; "Blues" by default.
    {ax (pictures of cells)}

    Returns
    -------
    matplotlib.axes.Axes or None
        None where the figure is shown. The scale of the colours is in axes within these.
    """
    key, results = results_of(adata, key, KEY, KEY_OF_MARKERS)
    if kind not in ("dotplot", "heatmap"):
        raise ValueError(f"kind must be 'dotplot' or 'heatmap': got {quote(kind)}.")
    check_integer(n_markers, "n_markers")
    given = ax is not None
    shown = collect(adata, key, results, n_markers, groups, layer)
    draw = draw_dots if kind == "dotplot" else draw_heatmap
    ax = draw(shown, ax, for_user(), "Blues" if cmap is None else cmap)
    return finish_figure(ax, given=given, show=show, save=save)


def collect(
    adata: Any,
    key: str,
    results: Mapping[str, Any],
    n_markers: int,
    groups: Sequence[str] | None,
    layer: str | None,
) -> Shown:
    """Take the markers of each class, and their values."""
    params, names = results["params"], results.get("names")
    if names is None or names.dtype.names is None:
        raise ValueError(
            f"key={quote(key)}: there are no markers by class. The method "
            f"{quote(params.get('method'))} gives none, or they were not asked for: call "
            "semisift.tl.markers(adata, labels_key)."
        )
    classes = list(names.dtype.names)
    if isinstance(groups, str):
        groups = [groups]
    wanted: Any = classes if groups is None else groups
    if not isinstance(wanted, Iterable) or not (wanted := [*wanted]):
        raise ValueError(f"groups must be None or name a class or more: got {quote(groups)}.")
    if lost := [name for name in wanted if name not in classes]:
        raise ValueError(f"groups: {examples(lost)} not among the classes {examples(classes)}.")
    genes, blocks = _best(results, wanted, n_markers)
    if not genes:
        raise ValueError(f"key={quote(key)}: no gene is higher in a class than in the rest.")
    codes = codes_of(column_of(adata.obs, params["groupby"], "groupby", "obs"), classes)
    if (codes < 0).all():
        raise ValueError(
            f"adata.obs[{quote(params['groupby'])}] has no cell of the classes of the markers, "
            f"{examples(classes)}: it is not what it was when they were made. Make them again."
        )
    sure = column(adata.obs, f"{key}_confidence")
    return Shown(
        [shorten(printable_name(name), MAX_NAME) for name in classes],
        class_colours(adata, params["labels_key"], classes),
        codes,
        None if sure is None else sure.astype(np.float64),
        [shorten(printable_name(gene), MAX_NAME) for gene in genes],
        blocks,
        expression(adata, params, genes, layer),
    )


def _best(
    results: Mapping[str, Any], groups: Sequence[str], n_markers: int
) -> tuple[list[str], list[tuple[int, int, int]]]:
    """Return the best markers of some classes, and which of them belong to which class."""
    genes: list[str] = []
    blocks = []
    for number, name in enumerate(results["names"].dtype.names):
        if name in groups:
            higher = np.asarray(results["scores"][name])[:n_markers] > 0
            its = np.asarray(results["names"][name])[:n_markers][higher].astype(str).tolist()
            if its:
                blocks.append((number, len(genes), len(genes) + len(its) - 1))
            genes += its
    return genes, blocks
