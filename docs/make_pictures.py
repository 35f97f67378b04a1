"""Make the pictures of the user guide, docs/images/guide/*.svg.

Run ``python docs/make_pictures.py``, or with the names of some of them. The same pictures come
out to the byte with the same versions of what draws them.
"""

import re
import sys
import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer

from semisift import METHODS, Consensus, FisherScore

DOCS = Path(__file__).parent
TARGET = DOCS / "images" / "guide"
COLOURS = {
    "one": "#0b6fa4",
    "other": "#c2571a",
    "none": "#8a8f98",
    "third": "#3b8554",
    "ink": "#222",
}
STYLE = {
    "svg.hashsalt": "semisift",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.constrained_layout.use": True,
}


def which() -> plt.Figure:
    """Draw how many real columns are found, by labels and method."""
    data = load_breast_cancer()
    numbers = [2, 3, 5, 10, 20]
    names = {"consensus": "one", "ssfi": "third", "fisher": "other", "laplacian": "none"}
    found = {name: np.zeros(len(numbers)) for name in names}
    draws = 10
    for draw in range(draws):
        rng = np.random.default_rng(draw)
        copies = [rng.permuted(data.data, axis=0) for _ in range(20)]
        X = np.hstack([data.data, *copies])
        for place, number in enumerate(numbers):
            y = np.full(len(X), -1)
            for label in (0, 1):
                y[rng.choice(np.flatnonzero(data.target == label), number, replace=False)] = label
            for name in names:
                options = {"redundancy_threshold": None} if name == "consensus" else {}
                ranks = METHODS[name].cls(random_state=draw, **options).fit(X, y).ranking_
                found[name][place] += np.mean(ranks[:30] <= 30) / draws
    figure, axes = plt.subplots(figsize=(7, 3.6))
    for name, colour in names.items():
        axes.plot(numbers, found[name], "o-", color=COLOURS[colour], label=name)
    axes.set(xscale="log", xlabel="labels a class", ylim=(0, 1.02), ylabel="real among the best 30")
    axes.set_xticks(numbers, numbers)
    axes.minorticks_off()
    axes.axhline(30 / 630, color=COLOURS["none"], linestyle=":", label="by chance")
    axes.legend(frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.22))
    return figure


def labels() -> plt.Figure:
    """Draw what can be known of rows: labels, pairs, one class."""
    rng = np.random.default_rng(3)
    rows = np.vstack([rng.normal(place, 0.55, size=(40, 2)) for place in ([0, 0], [2.4, 1.2])])
    figure, panels = plt.subplots(1, 3, figsize=(9, 3), sharex=True, sharey=True)
    titles = ("labels of a few rows", "pairs of rows", "labels of one class")
    for axes, title in zip(panels, titles, strict=True):
        axes.scatter(*rows.T, s=18, facecolors="none", edgecolors=COLOURS["none"])
        axes.set_title(title, fontsize=10)
        axes.set(xticks=[], yticks=[])
    known = [[3, 9, 17], [44, 52, 61]]
    for chosen, colour in zip(known, ("one", "other"), strict=True):
        panels[0].scatter(*rows[chosen].T, s=55, color=COLOURS[colour])
    for one, other in [(3, 9), (17, 21), (44, 52), (61, 66)]:
        panels[1].plot(*rows[[one, other]].T, "o-", color=COLOURS["third"])
    for one, other in [(5, 47), (12, 70)]:
        panels[1].plot(*rows[[one, other]].T, "o--", color=COLOURS["other"])
    panels[1].plot([], [], "-", color=COLOURS["third"], label="must link")
    panels[1].plot([], [], "--", color=COLOURS["other"], label="cannot link")
    panels[1].legend(frameon=False, fontsize=8, loc="lower right")
    panels[2].scatter(*rows[known[0] + [30, 35]].T, s=55, color=COLOURS["one"])
    return figure


def families() -> plt.Figure:
    """Draw the correlations of the breast-cancer measurements, group by group."""
    data = load_breast_cancer(as_frame=True)
    y = data.target.where(data.target.groupby(data.target).cumcount() < 8, -1)
    ranker = FisherScore(redundancy_threshold=0.7).fit(data.data, y)
    rank, representative = ranker.score_ranking_, np.asarray(ranker.representative_)
    order = np.lexsort(
        (rank, rank[representative], representative != np.arange(len(representative)))[:2]
    )
    correlation = np.abs(np.corrcoef(data.data.to_numpy().T))[np.ix_(order, order)]
    names = np.asarray(data.data.columns)[order]
    figure, axes = plt.subplots(figsize=(8, 6.6))
    picture = axes.imshow(correlation, cmap="Blues", vmin=0, vmax=1)
    kept = representative[order] == order
    axes.set_xticks([])
    axes.set_yticks(range(len(names)), names, fontsize=8)
    for text, stands in zip(axes.get_yticklabels(), kept, strict=True):
        text.set_fontweight("bold" if stands else "normal")
        text.set_color(COLOURS["ink"] if stands else "#6b6f76")
    for place in np.flatnonzero(kept)[1:] - 0.5:
        axes.axhline(place, color="white", linewidth=2)
        axes.axvline(place, color="white", linewidth=2)
    axes.spines[:].set_visible(False)
    figure.colorbar(picture, label="absolute correlation over all rows", shrink=0.6)
    return figure


def cutoffs() -> plt.Figure:
    """Draw scores by rank, with what was significant."""
    data = load_breast_cancer(as_frame=True)
    y = data.target.where(data.target.groupby(data.target).cumcount() < 8, -1)
    ranker = Consensus(n_features_to_select="shadow", redundancy_threshold=None, random_state=0)
    ranker.fit(data.data, y)
    figure, axes = plt.subplots(figsize=(7, 3.8))
    ranker.plot_scores(ax=axes)
    return figure


def scale() -> plt.Figure:
    """Draw the exponents of docs/growth.md: how the time grows with the unlabelled rows."""
    cells = re.findall(
        r"^\| ([\w-]+) \| ([\d.]+) \(", (DOCS / "growth.md").read_text("utf-8"), re.M
    )
    names, exponents = zip(*sorted(cells, key=lambda cell: float(cell[1])), strict=True)
    values = np.array([float(exponent) for exponent in exponents])
    figure, axes = plt.subplots(figsize=(7, 5))
    colours = [COLOURS["other" if value > 1.7 else "one"] for value in values]
    axes.barh(names, values, color=colours, height=0.7)
    axes.axvline(1, color=COLOURS["ink"], linewidth=0.8, linestyle=":")
    axes.axvline(2, color=COLOURS["ink"], linewidth=0.8, linestyle=":")
    axes.set_xticks([0, 1, 2], ["0", "1\nlinear", "2\nquadratic"])
    axes.set_xlabel("exponent of the time in the unlabelled rows")
    axes.tick_params(axis="y", labelsize=8)
    return figure


def cells() -> plt.Figure:
    """Draw the markers of simulated cells."""
    import anndata

    import semisift

    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, size=600)
    rates = rng.gamma(0.6, 0.8, size=(1, 300)) * np.ones((3, 300))
    for kind in range(3):
        rates[kind, 6 * kind : 6 * kind + 6] += 3
    counts = rng.poisson(rates[kinds]).astype(np.float32)
    names = np.array(["B cell", "monocyte", "T cell"])[kinds].astype(object)
    names[rng.permutation(600)[30:]] = None
    adata = anndata.AnnData(counts)
    adata.obs["cell_type"] = names
    adata.var_names = [f"gene {number}" for number in range(300)]
    semisift.tl.rank_markers(adata, "cell_type")
    semisift.pl.markers(adata, show=False)
    return plt.gcf()


PICTURES = {
    "which": which,
    "labels": labels,
    "families": families,
    "cutoffs": cutoffs,
    "scale": scale,
    "cells": cells,
}


def main(names: list[str]) -> None:
    """Draw the pictures with these names, or all."""
    TARGET.mkdir(parents=True, exist_ok=True)
    for name in names or PICTURES:
        with mpl.rc_context(STYLE), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            figure = PICTURES[name]()
            figure.savefig(
                TARGET / f"{name}.svg",
                metadata={"Date": None},
                facecolor="white",
                bbox_inches="tight",
            )
            plt.close("all")
        print(f"{name}.svg: {(TARGET / f'{name}.svg').stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
