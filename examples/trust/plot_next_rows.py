"""
Which rows to label next
========================

You can afford ten more labels. Rows drawn at random repeat what is known. ``query`` lists the rows
that would help most, for example where the classes meet or no label is near, with the reasons. It
starts here from two labelled bottles of each of three wine growers.
"""

from collections import Counter

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from sklearn.datasets import load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale

from semisift import Consensus

data = load_wine()
X = pl.DataFrame(data.data, schema=list(data.feature_names))
truth = np.array(["grower 1", "grower 2", "grower 3"])[data.target]
y = np.full(len(truth), None)
rng = np.random.default_rng(0)
for grower in np.unique(truth):
    y[rng.choice(np.flatnonzero(truth == grower), 2, replace=False)] = grower
found = Consensus(random_state=0).query(X, y, n=10)
print(Counter(found.kinds))
for row, reason in zip(found.rows[:3], found.reasons[:3], strict=True):
    print(f"row {row}: {reason}")

# %%
# All 178 bottles in their first two principal components, with the true grower as shape. Numbers
# are the rows to label next, the most useful first. Most of them are where the models behind
# ``query`` disagree about the label.

points = PCA(2).fit_transform(scale(X))
fig, ax = plt.subplots(figsize=(7, 4.6), layout="constrained")
looks = zip("os^", ["#1f5fa8", "#c2500c", "#0a7a58"], strict=True)
for grower, (marker, colour) in zip(np.unique(truth), looks, strict=True):
    ax.scatter(*points[truth == grower].T, marker=marker, color=colour, s=26, alpha=0.35, lw=0)
    own = y == grower
    look = {"color": colour, "s": 110, "edgecolors": "#1b1f24", "lw": 1.2, "zorder": 3}
    ax.scatter(*points[own].T, marker=marker, label=f"labelled: {grower}", **look)
ax.scatter(*points[found.rows].T, s=190, facecolors="white", edgecolors="#8a3b8f", lw=1.6, zorder=4)
for place, row in enumerate(found.rows, start=1):
    ax.annotate(place, points[row], ha="center", va="center", fontsize=8, zorder=5)
ax.set(xlabel="first component", ylabel="second component")
ax.legend(frameon=False, fontsize="small")
ax.spines[["top", "right"]].set_visible(False)

# %%
# Do they help more than others? A harder case: digits, with one labelled image of each, and ten
# more labels at a time, asked for or at random. How many of all others does a logistic regression
# that learns from the labelled ones recognise?

X, truth = load_digits(return_X_y=True)
X, truth = X[:500] / 16, truth[:500]


def follow(ask, seed):
    """Return the share of others recognised with 10, 20, ... labels."""
    rng = np.random.default_rng(seed)
    y, shares = np.full(len(truth), -1), []
    for digit in range(10):
        y[rng.choice(np.flatnonzero(truth == digit))] = digit
    for _ in range(5):
        hidden = np.flatnonzero(y == -1)
        model = LogisticRegression(max_iter=500).fit(X[y >= 0], y[y >= 0])
        shares.append(model.score(X[hidden], truth[hidden]))
        more = rng.choice(hidden, 10, replace=False)
        if ask:
            more = Consensus().query(X, y, n=10).rows
        y[more] = truth[more]
    return shares


fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ways = [(True, "asked for by query", "#8a3b8f", "o"), (False, "at random", "#5b6570", "s")]
for ask, name, colour, marker in ways:
    shares = np.array([follow(ask, seed) for seed in range(3)])
    ax.plot([10, 20, 30, 40, 50], shares.mean(axis=0), color=colour, marker=marker, label=name)
    print(f"{name}: {shares.mean(axis=0).round(3).tolist()}, mean of three starts")
ax.set(xlabel="labels", ylabel="others recognised", xticks=[10, 20, 30, 40, 50])
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
