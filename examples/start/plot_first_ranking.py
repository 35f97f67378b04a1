"""
Five labels a class, one ranking
================================

A table of 569 tumours, 30 measurements of their cell nuclei each, and a diagnosis for ten of them.
Which measurements distinguish benign from malignant? The 559 other rows have no label, but they are
not thrown away: they show which groups the tumours fall into.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from sklearn.datasets import load_breast_cancer

from semisift import Consensus

data = load_breast_cancer()
X = pl.DataFrame(data.data, schema=list(data.feature_names))
truth = data.target_names[data.target]

# %%
# We know all diagnoses here. Keep five of each kind, and hide the others: None means that nobody
# has looked at the row.

rng = np.random.default_rng(0)
y = np.full(len(truth), None)
for name in data.target_names:
    y[rng.choice(np.flatnonzero(truth == name), 5, replace=False)] = name
print(f"{(y != None).sum()} of {len(y)} rows carry a label")  # noqa: E711

# %%
# One call ranks the measurements. ``Consensus`` is the method to start with; every other one is
# used in the same way.

ranker = Consensus(n_features_to_select=5).fit(X, y)
print(ranker.to_frame().select("feature", "rank", "score").head(8))

# %%
# Many of the 30 carry nearly the same information: radius, perimeter and area of a nucleus. The
# best of such a correlated group represents the others, which go last. The picture has one point
# for each group.

fig, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
ranker.plot_scores(ax)
print(f"{len(np.unique(ranker.representative_))} correlated groups")

# %%
# The ranker has also given a label to every row. Now uncover the hidden ones:

hidden = np.array([label is None for label in y])
print(f"{(ranker.transduction_ == truth)[hidden].mean():.1%} of {hidden.sum()} labels are right")

# %%
# And the two best measurements? The ten labelled rows are ringed.

fig, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
first, second = ranker.to_frame()["feature"][:2]
for name, colour, marker in [("benign", "#1f5fa8", "o"), ("malignant", "#c2500c", "^")]:
    own = truth == name
    look = {"color": colour, "marker": marker, "s": 20, "alpha": 0.6, "lw": 0}
    ax.scatter(X[first].to_numpy()[own], X[second].to_numpy()[own], label=name, **look)
seen = ~hidden
ring = {"facecolors": "none", "edgecolors": "#1b1f24", "s": 90, "lw": 1.4}
ax.scatter(X[first].to_numpy()[seen], X[second].to_numpy()[seen], label="labelled", **ring)
ax.set(xlabel=first, ylabel=second)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
