"""The markers of each class by the cells of all classes: dots, or a heatmap of single cells."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from semisift._checks import check_whole
from semisift._docs import fill_slots
from semisift._words import examples, quoted, shorten, visible
from semisift.pl._dots import draw_dots
from semisift.pl._heatmap import draw_heatmap
from semisift.pl._picture import LONGEST_NAME, hand_over
from semisift.pl._results import (
    class_colours,
    codes_of,
    column,
    expression,
    results_of,
)
from semisift.report.palette import for_user
from semisift.tl._columns import column_of
from semisift.tl._kept import KEY, KEY_OF_MARKERS


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
        With the results of `tl.rank_features` or `tl.markers`.
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
        raise ValueError(f"kind must be 'dotplot' or 'heatmap': got {quoted(kind)}.")
    check_whole(n_markers, "n_markers")
    given = ax is not None
    shown = collect(adata, key, results, n_markers, groups, layer)
    draw = draw_dots if kind == "dotplot" else draw_heatmap
    ax = draw(shown, ax, for_user(), "Blues" if cmap is None else cmap)
    return hand_over(ax, given=given, show=show, save=save)


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
            f"key={quoted(key)}: there are no markers by class. The method "
            f"{quoted(params.get('method'))} gives none, or they were not asked for: call "
            "semisift.tl.markers(adata, labels_key)."
        )
    classes = list(names.dtype.names)
    if isinstance(groups, str):
        groups = [groups]
    wanted: Any = classes if groups is None else groups
    if not isinstance(wanted, Iterable) or not (wanted := [*wanted]):
        raise ValueError(f"groups must be None or name a class or more: got {quoted(groups)}.")
    if lost := [name for name in wanted if name not in classes]:
        raise ValueError(f"groups: {examples(lost)} not among the classes {examples(classes)}.")
    genes, blocks = _best(results, wanted, n_markers)
    if not genes:
        raise ValueError(f"key={quoted(key)}: no gene is higher in a class than in the rest.")
    codes = codes_of(column_of(adata.obs, params["groupby"], "groupby", "obs"), classes)
    if (codes < 0).all():
        raise ValueError(
            f"adata.obs[{quoted(params['groupby'])}] has no cell of the classes of the markers, "
            f"{examples(classes)}: it is not what it was when they were made. Make them again."
        )
    sure = column(adata.obs, f"{key}_confidence")
    return Shown(
        [shorten(visible(name), LONGEST_NAME) for name in classes],
        class_colours(adata, params["labels_key"], classes),
        codes,
        None if sure is None else sure.astype(np.float64),
        [shorten(visible(gene), LONGEST_NAME) for gene in genes],
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
