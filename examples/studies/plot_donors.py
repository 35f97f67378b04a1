"""
Donors: rows that belong together
=================================

Seven ill and seven healthy donors gave ten samples each, three of which carry a label. Donors
differ from each other in many measurements, whatever their health, and with few donors some of
these fit the diagnosis by accident. Here **nothing** has to do with the diagnosis. A test that
treats the 42 labelled samples as independent does not detect this.
"""

import matplotlib.pyplot as plt
import numpy as np

from semisift import FisherScore

donor = np.repeat(np.arange(14), 10)
y = np.where(np.arange(140) % 10 < 3, donor // 7, -1)  # 0 is healthy, 1 is ill


def make_study(rng):
    """Return a table in which 50 of 100 features differ between donors, and none by health."""
    X = rng.normal(size=(140, 100))
    X[:, :50] += rng.normal(size=(14, 50))[donor]
    return X


# %%
# One such study, with and without ``groups`` for the samples that belong together:

X = make_study(np.random.default_rng(2))
without = FisherScore(random_state=0).fit(X, y)
without.assess(X, y, n_resamples=0, n_permutations=99)
knowing = FisherScore(random_state=0).fit(X, y, groups=donor)
knowing.assess(X, y, n_resamples=0, n_permutations=99, groups=donor)
for name, ranker in [("without groups", without), ("with groups", knowing)]:
    n_significant = (ranker.assessment_.decisions == "significant").sum()
    print(f"{name}: p = {ranker.assessment_.p_value:.2f}, {n_significant} features significant")

# %%
# And 20 such studies: in how many is any feature significant, though none should be?

wrong = {"without groups": 0, "with groups": 0}
for seed in range(20):
    table = make_study(np.random.default_rng(100 + seed))
    for name, known in [("without groups", {}), ("with groups", {"groups": donor})]:
        ranker = FisherScore(random_state=0).fit(table, y, **known)
        sure = ranker.assess(table, y, n_resamples=0, n_permutations=39, **known)
        wrong[name] += bool((sure.decisions == "significant").any())
print("Studies of 20 in which something is significant:", wrong)

# %%
# Left: the best feature of the first study. Long lines are the means of the healthy and of the ill,
# which differ; short ones are the means of donors, which differ among the healthy and among the ill
# as well. Right: how often this goes wrong.

fig, (ax, other) = plt.subplots(
    1, 2, figsize=(8.8, 3.9), width_ratios=[2.2, 1], layout="constrained"
)
best = np.argmin(without.ranking_)
rng = np.random.default_rng(0)
for ill, colour, marker in [(0, "#1f5fa8", "o"), (1, "#c2500c", "^")]:
    own = donor // 7 == ill
    places = donor[own] + 1 + rng.uniform(-0.2, 0.2, own.sum())
    name = ["healthy donors", "ill donors"][ill]
    ax.scatter(places, X[own, best], color=colour, marker=marker, s=22, alpha=0.7, lw=0, label=name)
    ax.hlines(X[own, best].mean(), 1 + 7 * ill - 0.4, 7 + 7 * ill + 0.4, color=colour, lw=1.4)
for number in range(14):
    mean = X[donor == number, best].mean()
    ax.hlines(mean, number + 0.7, number + 1.3, color="#1b1f24", lw=2.4)
ax.set(xlabel="donor", ylabel="best feature", xticks=range(1, 15))
ax.legend(frameon=False, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1))
bars = other.bar([*wrong], [*wrong.values()], color=["#8a3b8f", "#0a7a58"], width=0.6)
other.bar_label(bars, padding=3)
other.set(ylabel="studies of 20 with a false discovery", ylim=(0, 20), yticks=range(0, 21, 5))
for each in (ax, other):
    each.spines[["top", "right"]].set_visible(False)
plt.show()
