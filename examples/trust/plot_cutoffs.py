"""
Cut-offs: how many features are worth keeping?
==============================================

Every ranking has a first place, also where nothing matters. Three rules decide how many features to
keep: **shadow** keeps what beats shuffled copies and shuffled labels, **stability** what is among
the best on most halves of the rows, **knockoff** what beats synthetic copies with the same
correlations. We try them where the truth is known: 15 of 200 features differ between two classes.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from semisift import FisherScore, NoFeatureSelectedWarning

rng = np.random.default_rng(0)
truth = np.repeat([0, 1], 150)
X = rng.normal(size=(300, 200))
X[truth == 1, :15] += np.linspace(1.6, 0.6, 15)
useful = np.arange(200) < 15
y = np.where(np.arange(300) % 5 == 0, truth, -1)
print(f"{(y == 0).sum()} and {(y == 1).sum()} labelled rows of {len(y)}")

# %%
# The same with permuted labels, which carry no information: a good rule keeps nothing then, and
# gives a warning.

nothing = y.copy()
nothing[y >= 0] = rng.permutation(y[y >= 0])
rules = ["shadow", "stability", "knockoff"]
rankers, of_nothing = {}, {}
for rule in rules:
    rankers[rule] = FisherScore(n_features_to_select=rule, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoFeatureSelectedWarning)
        other = FisherScore(n_features_to_select=rule, random_state=0).fit(X, nothing)
    of_nothing[rule] = other.get_support().sum()
    kept = rankers[rule].get_support()
    print(
        f"{rule:10} keeps {(kept & useful).sum()} useful and {(kept & ~useful).sum()} useless "
        f"features; with shuffled labels {of_nothing[rule]}"
    )

# %%
# The scores in the order of their ranks, and below them what each rule keeps. Features further down
# may be useful all the same: with 60 labels they cannot be distinguished from luck.

fig, (ax, below) = plt.subplots(
    2, 1, figsize=(7.4, 4.8), sharex=True, height_ratios=[3, 1.3], layout="constrained"
)
order = np.argsort(rankers["shadow"].ranking_)[:40]
scores, places = rankers["shadow"].scores_[order], np.arange(1, 41)
is_useful = useful[order]
ax.vlines(places, 0, scores, color="#d5dae0", lw=2)
ax.plot(places[is_useful], scores[is_useful], "o", color="#1f5fa8", ms=7, label="useful")
look = {"marker": "D", "color": "#c2500c", "mfc": "white", "ls": "none", "ms": 5}
ax.plot(places[~is_useful], scores[~is_useful], label="useless", **look)
chance = rankers["shadow"].cutoff_.null_score
ax.axhline(chance, color="#8a3b8f", ls=(0, (7, 3)), lw=1.4)
ax.text(40, chance, "the best shuffled column (median)", color="#8a3b8f", ha="right", va="bottom")
ax.set(ylabel="Fisher score", ylim=(0, None))
ax.legend(frameon=False)
for row, rule in enumerate(rules):
    kept = rankers[rule].get_support()[order]
    below.scatter(places[kept], np.full(kept.sum(), row), marker="s", s=36, color="#0a7a58")
    below.scatter(places[~kept], np.full((~kept).sum(), row), marker="s", s=3, color="#5b6570")
below.set_yticks(range(3), [f"kept by {rule}" for rule in rules])
below.set(xlabel="rank (the best 40 of 200)", ylim=(2.6, -0.6))
for each in (ax, below):
    each.spines[["top", "right"]].set_visible(False)
plt.show()
