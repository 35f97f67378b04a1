"""
What would more labels bring?
=============================

Before you label more rows, estimate what it would change. ``learning_curve`` splits your labels
into disjoint sets, ranks with each, and compares the best features. A curve fitted to these values
is extrapolated to labels that you do not have yet. Here we do have them, and can check.
"""

import matplotlib.pyplot as plt
import numpy as np

from semisift import SSFI

rng = np.random.default_rng(0)
truth = np.repeat([0, 1], 400)
X = rng.normal(size=(800, 100))
X[truth == 1, :10] += 1.2
X[truth == 1, 10:20] += 0.4


def draw_labels(n_each, rng):
    """Return n_each labels of each class; -1 means no label."""
    y = np.full(len(truth), -1)
    for label in (0, 1):
        y[rng.choice(np.flatnonzero(truth == label), n_each, replace=False)] = label
    return y


y = draw_labels(15, rng)
ranker = SSFI(n_features_to_select=10, n_members=400, random_state=0).fit(X, y)
curve = ranker.learning_curve(X, y, n_more=30)
print(curve.words)

# %%
# To check, different people label rows of their own: eight draws of 30 labels, and eight of 60.
# How alike are their ten best features? 1 means the same, 0 as alike as random choices.


def agreement(n_each):
    """Return the stability of the ten best features over eight draws of labels."""
    chosen = []
    for _ in range(8):
        lighter = SSFI(n_features_to_select=10, n_members=40, random_state=0)
        chosen.append(lighter.fit(X, draw_labels(n_each, rng)).get_support())
    shares = np.mean(chosen, axis=0)
    return 1 - (8 / 7 * shares * (1 - shares)).mean() / (0.1 * 0.9)


checked = {30: agreement(15), 60: agreement(30)}
print({n: round(value, 2) for n, value in checked.items()})

# %%
# Circles were measured with disjoint sets of your labels. Diamonds are the expected values, with an
# interval of 80 % nominal coverage. Stars are the true values, from different labels. Here the
# curve expects too much, and the truth lies in the lower half of the interval, which is wide. So
# believe its lower end, and ask again when you have the labels.

table = curve.to_frame()
fig, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
for kind, marker, colour, name in [
    ("measured", "o", "#1f5fa8", "measured on disjoint sets of your 30 labels"),
    ("expected", "D", "#c2500c", "expected"),
]:
    part = table.filter(table["kind"] == kind)
    ax.plot(part["labels"], part["stability"], marker, color=colour, ms=7, label=name)
    if kind == "expected":
        ax.vlines(part["labels"], part["low"], part["high"], color=colour, lw=4, alpha=0.35)
ax.plot(table["labels"], table["stability"], color="#5b6570", lw=1, zorder=0)
ax.plot([*checked], [*checked.values()], "*", color="#0a7a58", ms=14, label="in fact")
ax.set_xscale("log", base=2)
ax.set_xticks(table["labels"], [f"{n:.0f}" for n in table["labels"]])
ax.minorticks_off()
ax.set(xlabel="labels", ylabel="stability of the ten best features", ylim=(0, 1.02))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left")
plt.show()
