"""
Pairs instead of labels
=======================

Sometimes nobody can name a class, but many can say whether two rows are of the same kind:
two photographs of one person, two samples of one clone, two reports of one fault. Such pairs are
enough: a good feature is close within pairs that must link, and apart within pairs that cannot.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from matplotlib.lines import Line2D
from sklearn.datasets import load_wine

from semisift import ConstraintScore

data = load_wine()
X = pl.DataFrame(data.data, schema=list(data.feature_names))
grower = data.target

# %%
# A taster is given 30 pairs of wines at random and says whether they come from the same grower; who
# the growers are, nobody says.

rng = np.random.default_rng(4)
pairs = rng.permutation(len(X))[:60].reshape(30, 2)
same = grower[pairs[:, 0]] == grower[pairs[:, 1]]
print(f"{same.sum()} pairs of the same grower, {(~same).sum()} of different ones")

ranker = ConstraintScore(n_features_to_select=2)
ranker.fit(X, must_link=pairs[same], cannot_link=pairs[~same])
print(ranker.to_frame().head(4))

# %%
# The two best features and the two worst. Solid lines join wines of the same grower, dotted ones
# wines of different growers. With good features solid lines are short and dotted ones long. The
# shapes are the true growers, of which the method knows nothing.

fig, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
values = X.to_numpy()
order = np.argsort(ranker.ranking_)
for ax, chosen, title in zip(axes, [order[:2], order[-2:]], ["two best", "two worst"], strict=True):
    points = values[:, chosen]
    for number, (marker, colour) in enumerate(
        zip("os^", ["#1f5fa8", "#c2500c", "#0a7a58"], strict=True)
    ):
        look = {"marker": marker, "color": colour, "s": 24, "alpha": 0.7, "lw": 0, "zorder": 3}
        ax.scatter(*points[grower == number].T, **look)
    for pair, is_same in zip(pairs, same, strict=True):
        look = {"ls": "-", "lw": 1.8} if is_same else {"ls": ":", "lw": 1}
        ax.plot(*points[pair].T, color="#1b1f24" if is_same else "#5b6570", **look)
    names = [X.columns[j].replace("_", " ") for j in chosen]
    ax.set(xlabel=names[0], ylabel=names[1])
    ax.set_title(f"The {title} features", loc="left")
    ax.spines[["top", "right"]].set_visible(False)
lines = [Line2D([], [], color="#1b1f24", lw=1.8), Line2D([], [], color="#5b6570", ls=":")]
names = ["must link", "cannot link"]
fig.legend(lines, names, loc="outside lower center", ncols=2, frameon=False)
plt.show()
