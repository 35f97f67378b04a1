"""
One labelled class
==================

You know twelve patients who have the disease. Of all others you know nothing: most are healthy,
some are ill as well. Every ranker accepts this. Some of the unlabelled rows that are least similar
to the labelled ones are taken as assumed negatives, and the share of ill patients among the others
is estimated.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from sklearn.datasets import load_breast_cancer

from semisift import Consensus

data = load_breast_cancer()
X = pl.DataFrame(data.data, schema=list(data.feature_names))
ill = data.target == 0
rng = np.random.default_rng(0)
y = np.full(len(X), None)
y[rng.choice(np.flatnonzero(ill), 12, replace=False)] = "malignant"
hidden = np.array([label is None for label in y])

ranker = Consensus(n_features_to_select=4, random_state=0).fit(X, y)
print("Classes:", ranker.classes_.tolist())
print(f"Estimated share of malignant rows among the others: {ranker.positive_share_:.2f}")
print(f"In truth: {ill[hidden].mean():.2f}")
print("Best measurements:", ", ".join(ranker.to_frame()["feature"][:4]))

# %%
# How likely is each of the other rows to be malignant? Bars are numbers of rows, by their true
# class, which the method did not see.
#
# The two best measurements: labelled rows are ringed, and shapes are predicted classes.

likely = ranker.label_distributions_[hidden, ranker.classes_.tolist().index("malignant")]
called = likely > 0.5
print(f"Called malignant: {called.sum()}, of which {ill[hidden][called].mean():.0%} are")
print(
    f"Of the {ill[hidden].sum()} hidden malignant rows {called[ill[hidden]].mean():.0%} are found"
)

fig, (ax, other) = plt.subplots(1, 2, figsize=(8.8, 3.9), layout="constrained")
bins = np.linspace(0, 1, 21)
parts = [likely[~ill[hidden]], likely[ill[hidden]]]
look = {"color": ["#1f5fa8", "#c2500c"], "label": ["benign", "malignant"], "stacked": True}
_, _, (low, high) = ax.hist(parts, bins, **look)
for bar in high:
    bar.set_hatch("////")
    bar.set_edgecolor("white")
ax.set(xlabel="likelihood of malignant", ylabel="rows without a label")
ax.legend(frameon=False, title="in truth", loc="upper center")

first, second = (X[name].to_numpy() for name in ranker.to_frame()["feature"][:2])
found = ranker.transduction_ == "malignant"
for own, colour, marker, name in [
    (~found, "#1f5fa8", "o", "predicted other"),
    (found, "#c2500c", "^", "predicted malignant"),
]:
    look = {"color": colour, "marker": marker, "s": 18, "alpha": 0.6, "lw": 0}
    other.scatter(first[own], second[own], label=name, **look)
ring = {"facecolors": "none", "edgecolors": "#1b1f24", "s": 90, "lw": 1.3}
other.scatter(first[~hidden], second[~hidden], label="labelled", **ring)
other.set(xlabel=ranker.to_frame()["feature"][0], ylabel=ranker.to_frame()["feature"][1])
other.legend(frameon=False, fontsize="small")
for each in (ax, other):
    each.spines[["top", "right"]].set_visible(False)
plt.show()
