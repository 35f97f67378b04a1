"""
Co-training, and why its members must differ
============================================

A committee in which each member sees some of the features labels rows in turn: the rows that the
members are surest about join the labelled ones, and all learn again. This pays if the members are
good *and* err on different rows. ``evaluate_committee`` measures both, before and after.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from semisift import RASCO, CoBC, RelRASCO, SelfTraining

X, truth = load_digits(return_X_y=True)
X, test, truth, hidden_truth = X[:600], X[600:1200], truth[:600], truth[600:1200]
y = np.where(np.arange(600) < 50, truth, -1)

models = {
    "RASCO: random subspaces": RASCO(max_iter=45, random_state=0),
    "Rel-RASCO: relevant subspaces": RelRASCO(max_iter=45, random_state=0),
    "Co-BC: bagged trees": CoBC(random_state=0),
    "Self-training: one member": SelfTraining(random_state=0),
}
found = {}
for name, model in models.items():
    begin, end = model.fit(X, y).evaluate_committee(test, hidden_truth)
    found[name] = (begin, end)
    print(
        f"{name}: vote {begin.accuracy:.2f} -> {end.accuracy:.2f}, one member "
        f"{begin.member_accuracy:.2f} -> {end.member_accuracy:.2f}, diversity "
        f"{begin.diversity:.2f} -> {end.diversity:.2f}"
    )

# %%
# Arrows lead from the first committee, which knows the 50 labelled images, to the last one. Higher
# is a better vote, further right a more diverse committee: 0 means that on each image all members
# are right or all are wrong. Members that teach each other become alike.
#
# Right: the share of right labels among those that were given, iteration by iteration. The subspace
# committees, whose members differ and agree on the surest rows, hardly err at first; the one member
# of self-training believes itself and errs soon.

fig, (ax, other) = plt.subplots(1, 2, figsize=(9.4, 4.2), layout="constrained")
looks = zip("os^D", ["#1f5fa8", "#c2500c", "#0a7a58", "#8a3b8f"], strict=True)
looks = dict(zip(models, looks, strict=True))
for name, (begin, end) in found.items():
    marker, colour = looks[name]
    start, stop = (begin.diversity, begin.accuracy), (end.diversity, end.accuracy)
    arrow = {"arrowstyle": "-|>", "color": colour, "lw": 1.6, "shrinkA": 5, "shrinkB": 5}
    ax.annotate("", stop, start, arrowprops=arrow)
    ax.plot(*start, marker, color=colour, mfc="white", ms=8)
    ax.plot(*stop, marker, color=colour, ms=8, label=name)
ax.set(xlabel="diversity of the committee", ylabel="accuracy of the vote on other images")
ax.margins(0.12)
fig.legend(loc="outside upper center", ncols=2, frameon=False)

for name, model in models.items():
    marker, colour = looks[name]
    given = model.labeled_iter_ > 0
    steps = np.arange(1, model.labeled_iter_.max() + 1)
    upto = [given & (model.labeled_iter_ <= step) for step in steps]
    shares = [
        (model.transduction_ == truth)[rows].mean() if rows.any() else np.nan for rows in upto
    ]
    counts = [rows.sum() for rows in upto]
    other.plot(counts, shares, color=colour, marker=marker, mfc="white", ms=5, lw=1.2)
other.set(xlabel="rows labelled so far", ylabel="share that is right")
for each in (ax, other):
    each.spines[["top", "right"]].set_visible(False)
plt.show()
