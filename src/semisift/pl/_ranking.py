"""The best genes with their scores, what was decided on them, and their correlated features."""

import os
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from semisift.base._decisions import WORDS
from semisift.base._docstrings import fill_slots
from semisift.pl._figure import LETTER, LINE, MAX_NAME, finish_figure, inches_from_corner
from semisift.pl._read import MAKE_RESULTS, column, results_of
from semisift.report._figure import own_axes
from semisift.report._style import LITERAL, MARKS, FigureStyle, Palette, draw_legend, for_user
from semisift.utils._text import printable_name, shorten
from semisift.utils._validation import check_integer

# Inches of the axes without what stands beside them, of a gene, and of the axis below.
WIDTH, HEIGHT, FOOT = 3.2, 0.23, 0.9

# Features correlated with a gene that are named, and letters for each of them.
MAX_COPIES, COPY_LETTERS = 3, 16


class Best(NamedTuple):
    """The best genes, best first; None for what is not known of them.

    `words` are the columns of text beside the axes, by their headings.
    """

    names: list[str]
    scores: NDArray[np.float64]
    decisions: NDArray[np.str_] | None
    n_selected: int
    words: dict[str, list[str]]


@fill_slots
def ranking(
    adata: Any,
    key: str = "semisift",
    *,
    n_features: int = 20,
    ax: Axes | None = None,
    show: bool | None = None,
    save: str | os.PathLike[str] | None = None,
) -> Axes | None:
    """Draw the best genes with their scores.

    After `tl.assess`, marks tell which genes are significant, and the ranks on halves of the
    cells stand beside the scores. Features correlated with a gene are named beside it and have no
    line of their own.

    Parameters
    ----------
    adata : AnnData
        With the results of `tl.rank_markers`.
    key : str
        Their name, `key_added` of that call.
    n_features : int
        How many genes to draw.
    {ax (pictures of cells)}

    Returns
    -------
    matplotlib.axes.Axes or None
        None where the figure is shown.
    """
    params = results_of(adata, key)[1]["params"]
    check_integer(n_features, "n_features")
    best = best_genes(adata, key, n_features)
    letters = sum(_width(heading, words) for heading, words in best.words.items())
    letters += max(map(len, best.names))
    given, inches = ax is not None, HEIGHT * len(best.names) + FOOT
    ax = own_axes(ax, (WIDTH + LETTER * letters, inches + 2 * LINE * (best.decisions is not None)))
    draw_ranking(best, ax, for_user())
    ax.set_xlabel(f"score ({params.get('method', 'semisift')})")
    return finish_figure(ax, given=given, show=show, save=save)


def best_genes(adata: Any, key: str, n_features: int) -> Best:
    """Take the best genes that are no features correlated with better ones."""
    var = adata.var
    ranks, scores = (column(var, f"{key}_{name}") for name in ("rank", "score"))
    if ranks is None or scores is None:
        raise ValueError(
            f"adata.var lacks {key}_rank and {key}_score, which go with adata.uns[{key!r}]. "
            f"Make them again: {MAKE_RESULTS}."
        )
    # objects: in numpy's own strings every name would take the room of the longest
    names, representatives = np.array([str(name) for name in adata.var_names], dtype=object), None
    own = ~np.isnan(ranks.astype(np.float64))
    if (found := column(var, f"{key}_family")) is not None:
        is_known = found == found  # NaN is no family
        representatives = names.copy()
        representatives[is_known] = [str(name) for name in found[is_known]]
        own &= representatives == names
    order = np.flatnonzero(own)
    order = order[np.argsort(ranks[order], kind="stable")][:n_features]
    if not len(order):
        raise ValueError(f"adata.var[{f'{key}_rank'!r}] ranks no gene: it holds NaN alone.")
    words = {}
    low, high = (column(var, f"{key}_rank_{end}") for end in ("low", "high"))
    if low is not None and high is not None:
        words["rank on halves"] = [f"{low[gene]:,.0f} to {high[gene]:,.0f}" for gene in order]
    if representatives is not None and (representatives != names).any():
        words["represents"] = _copies(names, representatives, names[order], ranks)
    selected = column(var, f"{key}_selected")
    decisions = column(var, f"{key}_decision")
    return Best(
        [shorten(printable_name(name), MAX_NAME) for name in names[order]],
        scores[order].astype(np.float64),
        None if decisions is None else decisions[order].astype(str),
        0 if selected is None else int(selected[order].astype(bool).sum()),
        words,
    )


def _copies(
    names: NDArray[Any],
    representatives: NDArray[Any],
    shown: NDArray[Any],
    ranks: NDArray[Any],
) -> list[str]:
    """Name the features correlated with each gene that is shown, the best first."""
    own = set(shown)
    places = np.flatnonzero((representatives != names) & [name in own for name in representatives])
    members: dict[str, list[str]] = {}
    for place in places[np.argsort(ranks[places], kind="stable")]:
        members.setdefault(str(representatives[place]), []).append(printable_name(names[place]))
    texts = []
    for name in shown.tolist():
        its = members.get(name, [])
        copies_shown = ", ".join(shorten(copy, COPY_LETTERS) for copy in its[:MAX_COPIES])
        n_more = len(its) - MAX_COPIES
        texts.append(f"{copies_shown} and {n_more:,} more" if n_more > 0 else copies_shown)
    return texts


def _width(heading: str, words: list[str]) -> int:
    """Return the letters of a column of text, with the gap before it."""
    return max(map(len, [heading, *words])) + 3


def draw_ranking(best: Best, ax: Axes, palette: Palette) -> None:
    """Draw a line for each gene, the best on top."""
    FigureStyle(palette).clean_axes(ax)
    lines = np.arange(len(best.names))
    finite = best.scores[np.isfinite(best.scores)]
    # an infinite score reaches the end of the axis, and a missing one has no mark
    low, high = min(0.0, *finite), max(0.0, *finite) or 1.0
    ends = np.clip(best.scores, low, 1.04 * high)
    ax.hlines(lines, 0, ends, color=palette.line, lw=1.6, zorder=1)
    if best.decisions is None:
        ax.plot(ends, lines, "o", color=palette.accent, ms=5, mew=0, zorder=3)
    else:
        for decision in MARKS:
            own = best.decisions == decision
            ax.plot(ends[own], lines[own], zorder=3, **MARKS[decision].look(palette))
        _draw_mark_legend(best.decisions, ax, palette, LINE if best.words else 0)
    if 0 < best.n_selected < len(lines):
        ax.axhline(best.n_selected - 0.5, color=palette.muted, lw=1, ls=(0, (4, 3)), zorder=0.5)
        ax.annotate(
            f"{best.n_selected:,} selected",
            (1, best.n_selected - 0.5),
            xycoords=("axes fraction", "data"),
            xytext=(-2, -2),
            textcoords="offset points",
            ha="right",
            va="top",
            color=palette.muted,
            fontsize="small",
        )
    ax.set_xlim(low - 0.04 * (high - low) * (low < 0), high + 0.06 * (high - low))
    ax.set_ylim(len(lines) - 0.4, -0.6)
    ax.set_yticks(lines, best.names, color=palette.ink, fontsize="small", **LITERAL)
    ax.tick_params(axis="y", length=0)
    _write_columns(best.words, ax, palette)


def _draw_mark_legend(
    decisions: NDArray[np.str_], ax: Axes, palette: Palette, height: float
) -> None:
    """Say what the marks mean, so many inches above the axes."""
    found = [decision for decision in MARKS if (decisions == decision).any()]
    looks = [(WORDS[each], MARKS[each].look(palette)) for each in found]
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, height)}
    place |= {"bbox_transform": inches_from_corner(ax, x=0), "ncols": len(found)}
    draw_legend(ax, looks, palette.muted, **place, handlelength=1.2, columnspacing=1.2)


def _write_columns(words: dict[str, list[str]], ax: Axes, palette: Palette) -> None:
    """Write columns of text beside the axes."""
    start = 1.5
    for heading, column_ in words.items():
        look: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "va": "center"}
        look |= {"xytext": (72 * LETTER * start, 0), "textcoords": "offset points"}
        look |= {"fontsize": "small", "annotation_clip": False, **LITERAL}
        ax.annotate(heading, (1, -0.95), color=palette.muted, style="italic", **look)
        for line, text in enumerate(column_):
            ax.annotate(text, (1, line), color=palette.ink, **look)
        start += _width(heading, column_) - 1
