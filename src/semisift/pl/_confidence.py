"""The cells on an embedding: the label that each was given, and how surely."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from semisift._words import examples, quoted, shorten, visible
from semisift.pl._picture import LETTER, LONGEST_NAME, hand_over, own_axes
from semisift.pl._results import class_colours, classes_of, column, results_of, texts
from semisift.report.palette import PLAIN, Palette, for_user

# Where to look for an embedding, the best first.
USUAL = ("X_umap", "X_tsne", "X_draw_graph_fa", "X_pca")

# Area of a cell in square points, where there are few, and of all cells together.
MOST_AREA, ALL_AREA = 30.0, 60_000.0

# How solid a cell of no confidence is, and from how many cells on files hold pixels of them.
FAINTEST, MANY_CELLS = 0.1, 5_000

# Classes in a column of the legend.
LEGEND_LINES = 17

# Inches of the embedding.
SIDE = 4.6


def confidence(
    adata: Any,
    key: str = "semisift",
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
        With the results of `tl.rank_features` or `tl.label_cells`.
    key : str
        Their name, `key_added` of that call.
    basis : str, optional
        The embedding in ``.obsm``, ``"umap"`` or ``"X_umap"``. None takes the first that is there
        of X_umap, X_tsne, X_draw_graph_fa and X_pca.
    size : float, optional
        Area of a cell in square points. None depends on their number.
    ax : matplotlib.axes.Axes, optional
        Else a new figure.
    show : bool, optional
        Show the figure now. None shows it on a screen and in a notebook, unless `ax` is given.
    save : str or path, optional
        File to write the figure to; its ending says in which form.

    Returns
    -------
    matplotlib.axes.Axes or None
        None where the figure is shown.
    """
    params = results_of(adata, key, f"{key}_labels")["params"]
    found, sure = (column(adata.obs, f"{key}_{name}") for name in ("label", "confidence"))
    if found is None or sure is None:
        raise ValueError(
            f"adata.obs lacks {key}_label and {key}_confidence: the method "
            f"{quoted(params.get('method'))} labels no cells. Take method='consensus', or "
            "semisift.tl.label_cells."
        )
    basis = find_basis(adata, basis)
    places = np.asarray(adata.obsm[basis], dtype=np.float64)[:, :2]
    labels = texts(found)
    classes = classes_of(adata.obs[f"{key}_label"])
    codes = np.array([classes.index(label) if label else -1 for label in labels], dtype=np.intp)
    names = [shorten(visible(name), LONGEST_NAME) for name in classes]
    n_columns = -(-len(names) // LEGEND_LINES)
    given, room = ax is not None, LETTER * (max(map(len, names), default=0) + 6) * n_columns
    ax = own_axes(ax, (SIDE + max(room, 1.8), SIDE))
    palette = for_user()
    own = class_colours(adata, params["labels_key"], classes)
    marks = marks_of(adata, key, params, classes)
    area = size or min(MOST_AREA, ALL_AREA / max(1, len(codes)))
    draw_cells(ax, palette, places, faded(codes, sure.astype(np.float64), own, marks), marks, area)
    if len(classes) > len(PLAIN.classes):
        names = [f"{number}  {name}" for number, name in enumerate(names, 1)]
        _write_numbers(ax, places, codes, len(classes), palette)
    _say_classes(ax, palette, dict(zip(names, own, strict=True)), marks, n_columns)
    ax.set(xticks=[], yticks=[])
    ax.set_xlabel(f"{basis.removeprefix('X_')} 1", color=palette.muted)
    ax.set_ylabel(f"{basis.removeprefix('X_')} 2", color=palette.muted)
    ax.spines[:].set_color(palette.line)
    return hand_over(ax, given=given, show=show, save=save)


def find_basis(adata: Any, basis: str | None) -> str:
    """Return the key of an embedding in ``.obsm``."""
    there = list(adata.obsm)
    wanted = USUAL if basis is None else (basis, f"X_{basis}")
    found = next((name for name in wanted if name in there), None)
    if found is None:
        asked = "basis=None: " if basis is None else f"basis={quoted(basis)}: "
        none = "no embedding is there" if basis is None else "there is no such embedding"
        raise ValueError(
            f"{asked}{none}. adata.obsm holds {examples(there) or 'nothing'}. Name one of it, or "
            "make one, as by scanpy: sc.pp.pca(adata); sc.pp.neighbors(adata); sc.tl.umap(adata)."
        )
    if np.ndim(adata.obsm[found]) != 2 or np.shape(adata.obsm[found])[1] < 2:
        raise ValueError(
            f"basis={quoted(found)}: an embedding needs two columns; this has the shape "
            f"{np.shape(adata.obsm[found])}."
        )
    return found


def marks_of(
    adata: Any, key: str, params: Mapping[str, Any], classes: Sequence[str]
) -> dict[str, NDArray[np.bool_]]:
    """Return which cells are marked as what, where any are."""
    labels = column(adata.obs, params["labels_key"])
    given = set(classes) - {params.get("unlabeled_category")}
    flags = {
        "label given": None if labels is None else np.isin(texts(labels), [*given]),
        "uncertain": column(adata.obs, f"{key}_uncertain"),
        "fits no class": column(adata.obs, f"{key}_fits_none"),
    }
    found = {name: flag.astype(bool) for name, flag in flags.items() if flag is not None}
    return {name: flag for name, flag in found.items() if flag.any()}


def faded(
    codes: NDArray[np.intp],
    sure: NDArray[np.float64],
    own: Sequence[str],
    marks: Mapping[str, NDArray[np.bool_]],
) -> NDArray[np.float64]:
    """Return the colour of each cell, the less solid the less sure its label is."""
    table = np.array([to_rgba(colour) for colour in (*own, PLAIN.muted)])  # -1 is the last
    codes = np.where(marks.get("fits no class", False), -1, codes)
    colours = table[codes]
    colours[:, 3] = FAINTEST + (1 - FAINTEST) * np.clip(np.nan_to_num(sure), 0, 1)
    return colours


def draw_cells(
    ax: Axes,
    palette: Palette,
    places: NDArray[np.float64],
    colours: NDArray[np.float64],
    marks: Mapping[str, NDArray[np.bool_]],
    area: float,
) -> None:
    """Draw the cells, the surest on top, and then their marks."""
    order = np.argsort(colours[:, 3], kind="stable")
    (x, y), pixels = places.T, len(places) > MANY_CELLS
    ax.scatter(x[order], y[order], c=colours[order], s=area, lw=0, rasterized=pixels)
    look: dict[str, Any] = {"zorder": 3, "rasterized": pixels}
    if (own := marks.get("uncertain")) is not None:
        look |= {"marker": "x", "color": palette.ink, "lw": 0.7 if area > 10 else 0.4}
        ax.scatter(x[own], y[own], s=area, **look)
    if (own := marks.get("label given")) is not None:
        look = {"ec": palette.ink, "lw": 0.9, "zorder": 4, "rasterized": pixels}
        ax.scatter(x[own], y[own], c=colours[own], s=max(16.0, 1.6 * area), **look)


def _write_numbers(
    ax: Axes, places: NDArray[np.float64], codes: NDArray[np.intp], n_classes: int, palette: Palette
) -> None:
    """Write the number of each class in the middle of its cells: many colours are hard to tell."""
    around = [withStroke(linewidth=2, foreground=palette.paper)]
    for code in range(n_classes):
        if (own := codes == code).any():
            middle = np.median(places[own], axis=0)
            x, y = places[own][np.linalg.norm(places[own] - middle, axis=1).argmin()]
            look: dict[str, Any] = {"fontsize": "small", "ha": "center", "va": "center"}
            ax.text(x, y, str(code + 1), weight="bold", path_effects=around, zorder=5, **look)


def _say_classes(
    ax: Axes,
    palette: Palette,
    own: Mapping[str, str],
    marks: Mapping[str, NDArray[np.bool_]],
    n_columns: int,
) -> None:
    """Say beside the axes which colour is which class, and what the marks mean."""
    dot: dict[str, Any] = {"marker": "o", "ls": "none", "ms": 6, "mew": 0}
    handles = [Line2D([], [], label=name, color=colour, **dot) for name, colour in own.items()]
    handles.append(Line2D([], [], label="faint: less sure", color=palette.muted, alpha=0.35, **dot))
    looks: dict[str, dict[str, Any]] = {
        "label given": {**dot, "mfc": "none", "mec": palette.ink, "mew": 1},
        "uncertain": {"marker": "x", "ls": "none", "ms": 5, "color": palette.ink, "mew": 0.9},
        "fits no class": {**dot, "color": palette.muted},
    }
    handles += [Line2D([], [], label=name, **looks[name]) for name in marks]
    legend = ax.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(1.01, 1),
        ncols=n_columns,
        fontsize="small",
        handlelength=1,
        borderaxespad=0,
        frameon=False,
        labelcolor=palette.ink,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
