"""The cells on an embedding: the label that each was given, and how surely."""

import os
from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from semisift.base._docstrings import fill_slots
from semisift.pl._figure import LETTER, MAX_NAME, finish_figure
from semisift.pl._read import class_colours, codes_of, column, given_labels, results_of
from semisift.report._figure import own_axes
from semisift.report._style import PLAIN, Palette, draw_legend, for_user
from semisift.tl._read import column_of
from semisift.tl._write import KEY, KEY_OF_LABELS
from semisift.utils._text import examples, printable_name, quote, shorten

# Where to look for an embedding, the best first.
USUAL = ("X_umap", "X_tsne", "X_draw_graph_fa", "X_pca")

# Area of a cell in square points, where there are few, and of all cells together.
MAX_AREA, ALL_AREA = 30.0, 60_000.0

# How solid a cell of no confidence is, and from how many cells on files hold pixels of them.
FAINTEST, MANY_CELLS = 0.1, 5_000

# Classes in a column of the legend, and letters that its marks need.
LEGEND_LINES, MIN_LETTERS = 17, 20

# Inches of the embedding.
SIDE = 4.6


class Cells(NamedTuple):
    """What is drawn.

    Attributes
    ----------
    basis : str
        What the embedding is called.
    places : array of shape (n_obs, 2)
    codes : int array of shape (n_obs,)
        The class of each cell; -1 for cells without one.
    confidence : array of shape (n_obs,)
    names, colours : lists of str
        Of the classes.
    marks : dict
        Which cells are marked as what.
    """

    basis: str
    places: NDArray[np.float64]
    codes: NDArray[np.intp]
    confidence: NDArray[np.float64]
    names: list[str]
    colours: list[str]
    marks: dict[str, NDArray[np.bool_]]


@fill_slots
def confidence(
    adata: Any,
    key: str | None = None,
    *,
    basis: str | None = None,
    size: float | None = None,
    ax: Axes | None = None,
    show: bool | None = None,
    save: str | os.PathLike[str] | None = None,
) -> Axes | None:
    """Draw the cells on an embedding, coloured by label and faded where it is not sure.

    Cells whose label was given have a ring, cells that are uncertain (the second class is close
    behind) a cross, and cells that fit no class are grey.

    Parameters
    ----------
    adata : AnnData
        With the results of `tl.rank_markers` or `tl.predict_labels`.
    key : str, optional
        Their name, `key_added` of that call. None is "semisift", or else "semisift_cells".
    basis : str, optional
        The embedding in ``.obsm``, ``"umap"`` or ``"X_umap"``. None takes the first that is there
        of X_umap, X_tsne, X_draw_graph_fa and X_pca.
    size : float, optional
        Area of a cell in square points. None depends on their number.
    {ax (pictures of cells)}

    Returns
    -------
    matplotlib.axes.Axes or None
        None where the figure is shown.
    """
    key, results = results_of(adata, key, KEY, KEY_OF_LABELS)
    if size is not None and (not isinstance(size, Real) or not 0 < size < np.inf):
        raise ValueError(f"size must be a number above 0: got {quote(size)}.")
    cells = collect(adata, key, results["params"], basis)
    n_columns = -(-len(cells.names) // LEGEND_LINES)
    longest = max(max(map(len, cells.names)) + 6, MIN_LETTERS)
    given, palette = ax is not None, for_user()
    ax = own_axes(ax, (SIDE + LETTER * longest * n_columns, SIDE))
    draw_cells(cells, ax, palette, size or min(MAX_AREA, ALL_AREA / len(cells.codes)))
    if len(cells.names) > len(PLAIN.classes):
        _write_numbers(cells, ax, palette)
    _draw_class_legend(cells, ax, palette, n_columns)
    ax.set(xticks=[], yticks=[])
    ax.set_xlabel(f"{cells.basis} 1", color=palette.muted)
    ax.set_ylabel(f"{cells.basis} 2", color=palette.muted)
    ax.spines[:].set_color(palette.line)
    return finish_figure(ax, given=given, show=show, save=save)


def collect(adata: Any, key: str, params: Mapping[str, Any], basis: str | None) -> Cells:
    """Take the labels of the cells, and their places on an embedding."""
    confidence = column(adata.obs, f"{key}_confidence")
    if f"{key}_label" not in adata.obs.columns or confidence is None:
        raise ValueError(
            f"adata.obs lacks {key}_label and {key}_confidence: the method "
            f"{quote(params.get('method'))} labels no cells. Take method='consensus', or "
            "semisift.tl.predict_labels."
        )
    basis = find_basis(adata, basis)
    labels = column_of(adata.obs, f"{key}_label", "key", "obs").astype("category")
    classes = [str(name) for name in labels.cat.remove_unused_categories().cat.categories]
    return Cells(
        basis.removeprefix("X_"),
        np.asarray(adata.obsm[basis], dtype=np.float64)[:, :2],
        codes_of(labels, classes),
        confidence.astype(np.float64),
        [shorten(printable_name(name), MAX_NAME) for name in classes],
        class_colours(adata, params["labels_key"], classes),
        marks_of(adata, key, params),
    )


def find_basis(adata: Any, basis: str | None) -> str:
    """Return the key of an embedding in ``.obsm``."""
    there = list(adata.obsm)
    wanted = USUAL if basis is None else (basis, f"X_{basis}")
    found = next((name for name in wanted if name in there), None)
    if found is None:
        option = "basis=None: " if basis is None else f"basis={quote(basis)}: "
        none = "no embedding is there" if basis is None else "there is no such embedding"
        raise ValueError(
            f"{option}{none}. adata.obsm holds {examples(there) or 'nothing'}. Name one of it, or "
            "make one, as by scanpy: sc.pp.pca(adata); sc.pp.neighbors(adata); sc.tl.umap(adata)."
        )
    if np.ndim(adata.obsm[found]) != 2 or np.shape(adata.obsm[found])[1] < 2:
        raise ValueError(
            f"basis={quote(found)}: an embedding needs two columns; this has the shape "
            f"{np.shape(adata.obsm[found])}."
        )
    return found


def marks_of(adata: Any, key: str, params: Mapping[str, Any]) -> dict[str, NDArray[np.bool_]]:
    """Return which cells are marked as what, where any are."""
    has_labels = params["labels_key"] in adata.obs.columns
    flags = {
        "label given": given_labels(adata, params) != None if has_labels else None,  # noqa: E711
        "uncertain": column(adata.obs, f"{key}_uncertain"),
        "fits no class": column(adata.obs, f"{key}_fits_none"),
    }
    found = {name: flag.astype(bool) for name, flag in flags.items() if flag is not None}
    return {name: flag for name, flag in found.items() if flag.any()}


def faded(cells: Cells) -> NDArray[np.float64]:
    """Return the colour of each cell, the less solid the less sure its label is."""
    table = np.array([to_rgba(colour) for colour in (*cells.colours, PLAIN.muted)])
    colours = table[np.where(cells.marks.get("fits no class", False), -1, cells.codes)]
    colours[:, 3] = FAINTEST + (1 - FAINTEST) * np.clip(np.nan_to_num(cells.confidence), 0, 1)
    return colours


def draw_cells(cells: Cells, ax: Axes, palette: Palette, area: float) -> None:
    """Draw the cells, the surest on top, and then their marks."""
    (x, y), colours = cells.places.T, faded(cells)
    order = np.argsort(colours[:, 3], kind="stable")
    look: dict[str, Any] = {"rasterized": len(x) > MANY_CELLS}
    ax.scatter(x[order], y[order], c=colours[order], s=area, lw=0, **look)
    if (own := cells.marks.get("uncertain")) is not None:
        cross: dict[str, Any] = {
            "marker": "x",
            "color": palette.ink,
            "lw": 0.7 if area > 10 else 0.4,
            "zorder": 3,
        }
        ax.scatter(x[own], y[own], s=area, **cross, **look)
    if (own := cells.marks.get("label given")) is not None:
        ring: dict[str, Any] = {"ec": palette.ink, "lw": 0.9, "zorder": 4}
        ax.scatter(x[own], y[own], c=colours[own], s=max(16.0, 1.6 * area), **ring, **look)


def _write_numbers(cells: Cells, ax: Axes, palette: Palette) -> None:
    """Write the number of each class in the middle of its cells: many colours are hard to tell."""
    look: dict[str, Any] = {"fontsize": "small", "ha": "center", "va": "center", "weight": "bold"}
    look["path_effects"] = [withStroke(linewidth=2, foreground=palette.paper)]
    for code in range(len(cells.names)):
        own = cells.places[cells.codes == code]
        nearest = np.linalg.norm(own - np.median(own, axis=0), axis=1).argmin()
        ax.text(own[nearest, 0], own[nearest, 1], str(code + 1), zorder=5, **look)


def _draw_class_legend(cells: Cells, ax: Axes, palette: Palette, n_columns: int) -> None:
    """Say beside the axes which colour is which class, and what the marks mean."""
    names = cells.names
    if len(names) > len(PLAIN.classes):
        names = [f"{number}  {name}" for number, name in enumerate(names, 1)]
    dot: dict[str, Any] = {"marker": "o", "ls": "none", "ms": 6, "mew": 0}
    looks: list[tuple[str, dict[str, Any]]] = [
        *((name, {"color": own}) for name, own in zip(names, cells.colours, strict=True)),
        ("faint: less sure", {"color": palette.muted, "alpha": 0.35}),
    ]
    of_marks: dict[str, dict[str, Any]] = {
        "label given": {"mfc": "none", "mec": palette.ink, "mew": 1},
        "uncertain": {"marker": "x", "ms": 5, "color": palette.ink, "mew": 0.9},
        "fits no class": {"color": PLAIN.muted},
    }
    looks += [(name, of_marks[name]) for name in cells.marks]
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1)}
    found = [(name, {**dot, **look}) for name, look in looks]
    draw_legend(ax, found, palette.ink, **place, ncols=n_columns, handlelength=1)
