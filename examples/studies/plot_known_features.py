"""
What you know of features
=========================

Some columns must stay, as age or sex; some must not be used, as a control; some belong together, as
the phenols of a wine; and some are expected to matter. There are four parameters for this:
``include``, ``exclude``, ``feature_groups`` and ``feature_weights``.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from sklearn.datasets import load_wine

from semisift import SSFI

data = load_wine()
names = [name.replace("_", " ") for name in data.feature_names]
names[names.index("od280/od315 of diluted wines")] = "OD280/OD315"
X = pl.DataFrame(data.data, schema=names)
rng = np.random.default_rng(0)
y = np.full(len(X), -1)
for grower in range(3):
    y[rng.choice(np.flatnonzero(data.target == grower), 5, replace=False)] = grower

phenols = ["total phenols", "flavanoids", "nonflavanoid phenols", "proanthocyanins"]
settings = {
    "by score": {},
    "include ash": {"include": ["ash"]},
    "exclude proline": {"exclude": ["proline"]},
    "expect hue": {"feature_weights": {"hue": 6.0}},
    "one panel of phenols": {"feature_groups": {"phenols": phenols}},
}
ranks = {}
for name, known in settings.items():
    ranker = SSFI(n_features_to_select=4, random_state=0)
    ranker.set_params(**known).fit(X, y)
    ranks[name] = ranker.ranking_
    print(f"{name}: selects {', '.join(ranker.get_feature_names_out())}")

# %%
# One line for each feature, from setting to setting; the best on top. An included feature goes
# first, an excluded one last (nothing is learnt from it, so that the others may move as well). With
# a weight of 6 a feature of rank r is ranked as if at r / 6; scores and decisions do not change.
# The four phenols as one panel are side by side where the best of them is, and count as one.

fig, ax = plt.subplots(figsize=(9, 4.8), layout="constrained")
places = np.arange(len(settings))
lines = np.array([*ranks.values()])
shown = {
    "ash": ("#1f5fa8", "o"),
    "proline": ("#c2500c", "s"),
    "hue": ("#0a7a58", "^"),
    **dict.fromkeys(phenols, ("#8a3b8f", "D")),
}
for column, name in enumerate(names):
    colour, marker = shown.get(name, ("#d5dae0", "."))
    order = 3 if name in shown else 1
    ax.plot(places, lines[:, column], color=colour, marker=marker, lw=2, ms=8, zorder=order)
    ink = colour if name in shown else "#5b6570"
    ax.annotate(name, (-0.12, lines[0, column]), ha="right", va="center", color=ink)
ax.set_xticks(places, [*settings])
ax.set(ylim=(13.6, 0.4), xlim=(-1.5, len(settings) - 0.7), yticks=[1, 4, 13], ylabel="rank")
ax.xaxis.tick_top()
ax.tick_params(length=0)
ax.yaxis.tick_right()
ax.yaxis.set_label_position("right")
ax.spines[:].set_visible(False)
plt.show()
