"""
Markers of each class
=====================

A ranking shows which features separate the classes. Readers often want more: what is high in this
class, and low in the others? Three growers of wine, 13 chemical measurements, five labelled bottles
of each grower.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from sklearn.datasets import load_wine

from semisift import Consensus

data = load_wine()
names = [name.replace("_", " ") for name in data.feature_names]
names[names.index("od280/od315 of diluted wines")] = "OD280/OD315"
X = pl.DataFrame(data.data, schema=names)
truth = np.array(["grower 1", "grower 2", "grower 3"])[data.target]
rng = np.random.default_rng(0)
y = np.full(len(truth), None)
for grower in np.unique(truth):
    y[rng.choice(np.flatnonzero(truth == grower), 5, replace=False)] = grower

ranker = Consensus(random_state=0).fit(X, y)
markers = ranker.markers(X, y)
print(markers.to_frame(2).select("class", "feature", "score"))

# %%
# Bars are the difference between a class and all others, in standard deviations: to the right what
# the class has more of, to the left what it has less of. All 178 bottles count, those without a
# label by how likely each grower is. The diamonds are the same from the true labels of all bottles.

values = X.to_numpy()
values = (values - values.mean(axis=0)) / values.std(axis=0)
order = np.argsort(ranker.score_ranking_)[::-1]
fig, axes = plt.subplots(1, 3, figsize=(9, 4.4), sharex=True, sharey=True, layout="constrained")
colours = ["#1f5fa8", "#c2500c", "#0a7a58"]
for number, (ax, colour) in enumerate(zip(axes, colours, strict=True)):
    own = truth == markers.classes[number]
    true = values[own].mean(axis=0) - values[~own].mean(axis=0)
    found = markers.differences[number]
    ax.barh(np.arange(13), found[order], color=colour, height=0.7, label="15 labels")
    ax.plot(true[order], np.arange(13), "D", color="#1b1f24", mfc="white", ms=5, label="all labels")
    ax.axvline(0, color="#5b6570", lw=1)
    ax.set_title(markers.classes[number], loc="left", color=colour)
    ax.set_yticks(np.arange(13), np.array(names)[order])
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    apart = np.abs(found - true).max()
    print(f"{markers.classes[number]}: bars and diamonds are at most {apart:.2f} apart")
handles, labels = axes[0].get_legend_handles_labels()
fig.legend(handles, labels, loc="outside upper right", ncols=2, frameon=False)
fig.supxlabel("mean of the grower less mean of the others (standard deviations)", fontsize="medium")
plt.show()
