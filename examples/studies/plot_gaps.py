"""
Missing values
==============

Real tables have missing values (NaN). Many methods accept them as they are, without imputation. We
remove more and more values from a table of tumours, and compare the ranking with that of the full
table.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr
from sklearn.datasets import load_breast_cancer
from sklearn.impute import SimpleImputer

from semisift import METHODS, Consensus

X, truth = load_breast_cancer(return_X_y=True)
rng = np.random.default_rng(0)
rows = rng.choice(len(X), 300, replace=False)
X, truth = X[rows], truth[rows]
y = np.full(len(truth), -1)
for label in (0, 1):
    y[rng.choice(np.flatnonzero(truth == label), 10, replace=False)] = label

takers = [name for name, method in METHODS.items() if method.cls.allow_nan]
print(f"{len(takers)} of {len(METHODS)} methods take missing values: {', '.join(takers)}")

# %%
# Three draws of the missing values for each share. The alternative is to fill each missing value
# with the median of its column first, as is often done.


def rank(table):
    """Return the scores of the consensus."""
    return Consensus(redundancy_threshold=None, n_members=200, random_state=0).fit(table, y).scores_


full = rank(X)
shares = [0.02, 0.05, 0.1, 0.2, 0.3]
alike = np.zeros((2, len(shares), 3))
for j, share in enumerate(shares):
    for draw in range(3):
        holes = np.where(rng.random(X.shape) < share, np.nan, X)
        alike[0, j, draw] = spearmanr(full, rank(holes)).statistic
        filled = SimpleImputer(strategy="median").fit_transform(holes)
        alike[1, j, draw] = spearmanr(full, rank(filled)).statistic
print("kept  ", dict(zip(shares, alike[0].mean(axis=1).round(2).tolist(), strict=True)))
print("filled", dict(zip(shares, alike[1].mean(axis=1).round(2).tolist(), strict=True)))

# %%
# Left: a corner of the table with 20 % of its values missing. Right: the correlation of the ranking
# with that of the full table (Spearman: 1 is the same order). Lines are means, small marks
# single draws. Both ways do well here, and with many missing values it is a little better to keep
# them.

fig, (ax, other) = plt.subplots(
    1, 2, figsize=(8.8, 3.8), width_ratios=[1, 1.7], layout="constrained"
)
corner = np.where(rng.random((30, 20)) < 0.2, np.nan, X[:30, :20])
corner = (corner - np.nanmean(corner, axis=0)) / np.nanstd(corner, axis=0)
ax.set_facecolor("#1b1f24")
ax.imshow(corner, cmap="Blues", aspect="auto", vmin=-2.5, vmax=2.5)
ax.set(xticks=[], yticks=[], xlabel="20 columns", ylabel="30 rows")
ax.set_title("Missing values are black", loc="left")
looks = [("kept", "#1f5fa8", "o", 0.97), ("filled by medians", "#c2500c", "^", 1.03)]
for values, (name, colour, marker, shift) in zip(alike, looks, strict=True):
    places = 100 * np.array(shares) * shift
    other.plot(places, values.mean(axis=1), color=colour, marker=marker, ms=7, label=name)
    look = {"color": colour, "marker": marker, "s": 10, "alpha": 0.6, "lw": 0}
    other.scatter(np.repeat(places, 3), values, **look)
other.set(
    xlabel="missing values (%)", ylabel="agreement with full table", xscale="log", ylim=(0.9, 1.002)
)
other.set_xticks([2, 5, 10, 20, 30], [2, 5, 10, 20, 30])
other.minorticks_off()
other.spines[["top", "right"]].set_visible(False)
other.legend(frameon=False)
plt.show()
