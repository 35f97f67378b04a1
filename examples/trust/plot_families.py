"""
Correlated groups: several columns, one fact
============================================

Radius, perimeter and area of a cell nucleus are three columns and one fact. Ranked by score alone,
such columns fill the first ranks. With a redundancy threshold the best feature of a correlated
group represents the others, which go last.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from matplotlib.colors import LinearSegmentedColormap
from sklearn.datasets import load_breast_cancer

from semisift import SSFI

data = load_breast_cancer()
X = pl.DataFrame(data.data, schema=list(data.feature_names))
rng = np.random.default_rng(0)
y = np.full(len(X), -1)
for label in (0, 1):
    y[rng.choice(np.flatnonzero(data.target == label), 8, replace=False)] = label

by_score = SSFI(random_state=0).fit(X, y)
by_group = SSFI(redundancy_threshold=0.7, random_state=0).fit(X, y)

# %%
# Correlations, in absolute value and over all rows, of the ten best features in both orders. A dark
# square off the diagonal is a pair that carries nearly the same information.

fig, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
blues = LinearSegmentedColormap.from_list("blues", ["#ffffff", "#1f5fa8"])
titles = ["The ten best by score", "The ten best, correlated features last"]
correlation = np.abs(np.corrcoef(X.to_numpy(), rowvar=False))
for ax, ranker, title in zip(axes, [by_score, by_group], titles, strict=True):
    best = np.argsort(ranker.ranking_)[:10]
    image = ax.imshow(correlation[np.ix_(best, best)], cmap=blues, vmin=0, vmax=1)
    ax.set_yticks(range(10), np.array(X.columns)[best])
    ax.set(xticks=[])
    ax.set_title(title, loc="left")
    ax.tick_params(length=0)
    ax.spines[:].set_color("#d5dae0")
fig.colorbar(image, ax=axes, shrink=0.8, label="correlation (absolute)")
for ranker, title in zip([by_score, by_group], titles, strict=True):
    best = np.argsort(ranker.ranking_)[:10]
    others = correlation[np.ix_(best, best)][np.triu_indices(10, 1)]
    print(f"{title}: {(others > 0.7).sum()} of 45 pairs correlate by more than .7")

# %%
# Nothing is lost: each column lists its representative and their correlation.

represented = by_group.to_frame().filter(pl.col("feature") != pl.col("representative"))
for name in by_group.to_frame()["feature"][:4]:
    own = represented.filter(pl.col("representative") == name)
    others = [f"{f} ({c:.2f})" for f, c in own.select("feature", "correlation").iter_rows()]
    print(f"{name} represents: {', '.join(others) or 'itself alone'}")
plt.show()
