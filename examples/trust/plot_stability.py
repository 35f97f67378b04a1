"""
Stability: would other rows give the same list?
===============================================

A list of the best features depends on the rows that happened to be measured and labelled.
``assess`` ranks random halves of the rows again and again, and measures how far the ranks move. We
compare five labels a class with forty.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from sklearn.datasets import load_breast_cancer

from semisift import Consensus

data = load_breast_cancer()
X = pl.DataFrame(data.data, schema=list(data.feature_names))


def hide_labels(n_each):
    """Return the labels with n_each of each class left; -1 means no label."""
    rng = np.random.default_rng(0)
    y = np.full(len(X), -1)
    for label in (0, 1):
        y[rng.choice(np.flatnonzero(data.target == label), n_each, replace=False)] = label
    return y


# %%
# ``fast=True`` takes smaller ensembles for the repetitions, and ``n_permutations=0`` leaves out
# the test whether the labels matter: another example has it.

fitted = {}
for n_each in (5, 40):
    y = hide_labels(n_each)
    ranker = Consensus(n_features_to_select=6, random_state=0).fit(X, y)
    sure = ranker.assess(X, y, n_resamples=20, n_permutations=0, fast=True)
    fitted[n_each] = ranker
    single, grouped = sure.stability, sure.family_stability
    print(
        f"{n_each} labels a class: stability {single.value:.2f} ({single.low:.2f} to "
        f"{single.high:.2f}), correlated features counted as one {grouped.value:.2f}"
    )

# %%
# Points are the ranks with all rows, bars reach from the lowest to the highest rank on halves
# (without the tails of 5 %), and the percentage is how often the feature, or one
# correlated with it, is among the best six. A stability of 1 means that all halves choose the
# same, 0 that they agree no more than random choices do.

fig, axes = plt.subplots(1, 2, figsize=(9, 4), sharex=True, layout="constrained")
for ax, (n_each, ranker) in zip(axes, fitted.items(), strict=True):
    best = ranker.to_frame()[:8]
    places = np.arange(8)
    for place, low, high in zip(places, best["rank_low"], best["rank_high"], strict=True):
        colour = "#1f5fa8" if place < 6 else "#5b6570"
        ax.plot([low, high], [place, place], color=colour, lw=5, alpha=0.35, solid_capstyle="round")
        ax.plot(place + 1, place, "o" if place < 6 else "D", color=colour, ms=7)
        share = best["family_probability"][int(place)]
        ax.annotate(f"{share:.0%}", (1.03, place), xycoords=("axes fraction", "data"), va="center")
    ax.set_yticks(places, best["feature"])
    ax.set(xlabel="rank", ylim=(7.6, -0.6), xlim=(0.3, 30.7), xticks=[1, 5, 10, 15, 20, 25, 30])
    ax.axhline(5.5, color="#1b1f24", ls=(0, (4, 3)), lw=1)
    value = ranker.assessment_.stability.value
    ax.set_title(f"{n_each} labels a class: stability {value:.2f}", loc="left")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
plt.show()
