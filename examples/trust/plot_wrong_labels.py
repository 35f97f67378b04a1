"""
Wrong labels
============

Labels given by hand are not always right. What becomes of a ranking if some are wrong? We flip a
growing share of 30 labels of tumours, and count how many of the 30 real measurements stay ahead of
150 shuffled copies, which carry no information.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from semisift import SSFI, Consensus, FisherScore

rng = np.random.default_rng(0)
real, truth = load_breast_cancer(return_X_y=True)
X = np.hstack([real, *(rng.permuted(real, axis=0) for _ in range(5))])

methods = {
    "Fisher score (labelled rows alone)": FisherScore(),
    "SSFI": SSFI(random_state=0),
    "Consensus": Consensus(redundancy_threshold=None, random_state=0),
}
n_wrong = [0, 3, 6, 9, 12]
found = np.zeros((3, len(n_wrong), 3))
labels_right = np.zeros((len(n_wrong), 3))
for draw in range(3):
    labelled = np.concatenate(
        [rng.choice(np.flatnonzero(truth == label), 15, replace=False) for label in (0, 1)]
    )
    order = rng.permutation(labelled)
    for j, n in enumerate(n_wrong):
        y = np.full(len(truth), -1)
        y[labelled] = truth[labelled]
        y[order[:n]] = 1 - y[order[:n]]
        for i, method in enumerate(methods.values()):
            found[i, j, draw] = (method.fit(X, y).ranking_[:30] <= 30).mean()
        hidden = y == -1
        labels_right[j, draw] = (method.transduction_ == truth)[hidden].mean()

# %%
# The Fisher score trusts each label, and drops at once. The two others use the rows without a label
# as well: these still fall into the same two groups, whatever a few wrong labels say. With
# 12 wrong labels among 30 they suffer as well.
#
# Right: the labels that the consensus itself gives to the other 539 tumours. Bands are the lowest
# and the highest of three draws.

mean = found.mean(axis=2)
for name, shares in zip(methods, mean, strict=True):
    print(f"{name:36}", dict(zip(n_wrong, shares.round(2).tolist(), strict=True)))

fig, (ax, other) = plt.subplots(1, 2, figsize=(8.8, 3.8), layout="constrained")
looks = zip(["#5b6570", "#c2500c", "#1f5fa8"], ["s", "^", "o"], strict=True)
for name, shares, (colour, marker) in zip(methods, found, looks, strict=True):
    ax.plot(n_wrong, shares.mean(axis=1), color=colour, marker=marker, label=name)
    ax.fill_between(n_wrong, shares.min(axis=1), shares.max(axis=1), color=colour, alpha=0.12, lw=0)
ax.axhline(30 / 180, color="#8a3b8f", ls=":", lw=1.6, label="chance")
ax.set(xlabel="wrong labels among 30", ylabel="real among the 30 best", ylim=(0, 1.02))
fig.legend(loc="outside upper left", ncols=4, frameon=False, fontsize="small")

other.plot(n_wrong, labels_right.mean(axis=1), color="#1f5fa8", marker="o")
band = (labels_right.min(axis=1), labels_right.max(axis=1))
other.fill_between(n_wrong, *band, color="#1f5fa8", alpha=0.12, lw=0)
other.set(xlabel="wrong labels among 30", ylabel="hidden labels found", ylim=(0, 1.02))
print("Hidden labels found by the consensus:", labels_right.mean(axis=1).round(2).tolist())
for each in (ax, other):
    each.spines[["top", "right"]].set_visible(False)
plt.show()
