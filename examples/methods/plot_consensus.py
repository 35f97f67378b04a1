"""
A consensus and its parts
=========================

``Consensus`` combines two complementary methods: one labels all rows and tests each feature, the
other trains many small trees. The order is that of the weighted geometric mean of the two ranks.
The weight of a method depends on how stable its labels are.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from sklearn.datasets import load_breast_cancer

from semisift import Consensus

data = load_breast_cancer()
X = pl.DataFrame(data.data, schema=list(data.feature_names))
rng = np.random.default_rng(0)
y = np.full(len(X), -1)
for label in (0, 1):
    y[rng.choice(np.flatnonzero(data.target == label), 5, replace=False)] = label

ranker = Consensus(redundancy_threshold=None, n_features_to_select=8, random_state=0).fit(X, y)
parts = [name for name, _ in ranker.rankers_]
for name, weight in zip(parts, ranker.weights_, strict=True):
    print(f"{name}: weight {weight:.0%}")

# %%
# A point is a measurement, at its rank by either part. Near the lower left corner both agree that
# it is among the best. On each grey line the consensus is the same: ranks count by their logarithm,
# so that the top of the lists decides.

fig, ax = plt.subplots(figsize=(7, 5.2), layout="constrained")
grid = np.geomspace(1, 30, 200)
across, up = np.meshgrid(grid, grid)
weight = ranker.weights_
score = 1 - (weight[0] * np.log(across) + weight[1] * np.log(up)) / np.log(30)
lines = ax.contour(across, up, score, levels=[0.2, 0.4, 0.6, 0.8], colors="#d5dae0", zorder=0)
ax.clabel(lines, fmt="score %.1f", fontsize=8, colors="#5b6570")
places, kept = ranker.part_rankings_, ranker.get_support()
for own, marker, colour, face in [
    (kept, "o", "#1f5fa8", "#1f5fa8"),
    (~kept, "D", "#5b6570", "white"),
]:
    name = "among the best 8" if marker == "o" else "others"
    ax.plot(*places[:, own], marker, color=colour, mfc=face, ms=7, label=name)
for number in np.flatnonzero(kept):
    place = places[:, number]
    ax.annotate(X.columns[number], place, (6, -11), textcoords="offset points", fontsize=8)
ax.set(xscale="log", yscale="log", xlim=(0.9, 40), ylim=(0.75, 34))
ax.set(xlabel=f"rank by {parts[0]}", ylabel=f"rank by {parts[1]}")
ax.set_xticks([1, 2, 5, 10, 20, 30], [1, 2, 5, 10, 20, 30])
ax.set_yticks([1, 2, 5, 10, 20, 30], [1, 2, 5, 10, 20, 30])
ax.minorticks_off()
fig.legend(loc="outside upper center", ncols=2, frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %%
# The ranks are in the table of the ranking, too.

print(ranker.to_frame().select("feature", "rank", "rank_by_transductive", "rank_by_ssfi").head(8))
plt.show()
