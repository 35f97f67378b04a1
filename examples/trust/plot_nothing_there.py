"""
Do the labels matter at all?
============================

Two studies of 200 patients with 300 measurements and 14 labels. In both, patients fall into two
clear groups. In the first, the groups are the diagnosis; in the second they are the hospital, for
example, and have nothing to do with it. Both rankings have a first place and high scores, and look
equally good. ``assess`` shows the difference.
"""

import matplotlib.pyplot as plt
import numpy as np

from semisift import Consensus

rng = np.random.default_rng(0)
group = np.repeat([0, 1], 100)
X = rng.normal(size=(200, 300))
X[group == 1, :20] += 2
labelled = np.r_[rng.choice(100, 7, replace=False), 100 + rng.choice(100, 7, replace=False)]
y = np.full(200, -1)
y[labelled] = group[labelled]
by_hospital = y.copy()
by_hospital[labelled] = [0, 0, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 1, 0]  # 4 and 3, 3 and 4

# %%
# Permuted features (the same columns with their rows permuted) represent what chance can do:
# they have the same groups, but belong to the wrong patients. If a permuted feature scores as high
# as the best feature, the labels carry no information.

studies = {"groups are the diagnosis": y, "groups are the hospital": by_hospital}
rankers = {}
for name, labels in studies.items():
    ranker = Consensus(redundancy_threshold=None, random_state=0).fit(X, labels)
    sure = ranker.assess(X, labels, n_permutations=39, n_resamples=0, fast=True)
    n_significant = (sure.decisions == "significant").sum()
    print(f"{name}: p = {sure.p_value:.3f}, {n_significant} of 300 features significant")
    rankers[name] = ranker

# %%
# Filled circles are significant, i.e. better than chance; hollow ones are not significant. The
# grey bars are the 20 measurements that differ between the groups.

fig, axes = plt.subplots(1, 2, figsize=(8.6, 3.8), sharey=True, layout="constrained")
for ax, (name, ranker) in zip(axes, rankers.items(), strict=True):
    order = np.argsort(ranker.ranking_)[:40]
    places, scores = np.arange(1, 41), ranker.scores_[order]
    significant = ranker.assessment_.decisions[order] == "significant"
    ax.bar(
        places[order < 20], scores[order < 20], width=0.9, color="#d5dae0", label="differ by group"
    )
    ax.plot(
        places[significant], scores[significant], "o", color="#1f5fa8", ms=5, label="significant"
    )
    look = {"marker": "o", "color": "#5b6570", "mfc": "white", "ls": "none", "ms": 4}
    ax.plot(places[~significant], scores[~significant], label="not significant", **look)
    ax.set_title(f"{name}\np = {ranker.assessment_.p_value:.3f}", loc="left")
    ax.set(xlabel="rank", ylim=(0, 1.04))
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("score")
axes[1].legend(frameon=False)
plt.show()
