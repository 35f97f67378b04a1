"""
A label for every row, and when to look twice
=============================================

Most rankers predict a class for every row, with a confidence. Where the confidence is low,
somebody should look. Here are the 1,797 digits of scikit-learn with four labels of each.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from semisift import TransductiveClassifier

X, truth = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
y = np.full(len(truth), -1)
for digit in range(10):
    y[rng.choice(np.flatnonzero(truth == digit), 4, replace=False)] = digit

model = TransductiveClassifier(random_state=0).fit(X, y)
hidden = y == -1
confidence = model.label_distributions_.max(axis=1)[hidden]
right = (model.transduction_ == truth)[hidden]
print(f"{right.mean():.1%} of {hidden.sum()} labels are right")
print(f"{confidence.mean():.1%} would be expected to be, by their confidence")

# %%
# Left: rows by their confidence, and the share of right labels among them. On the dashed line
# confidence and truth would agree. Right: what is left if only labels above some confidence are
# taken. Uncertain rows hold most of the errors, but the surest are not free of them: the confidence
# does not account for digits that are written like another one.

bins = np.array([0.0, 0.5, 0.7, 0.8, 0.9, 0.97, 1.0])
place = np.digitize(confidence, bins[1:-1])
fig, (ax, other) = plt.subplots(1, 2, figsize=(8.6, 3.9), layout="constrained")
ax.plot([0.2, 1], [0.2, 1], color="#5b6570", ls=(0, (7, 3)), lw=1.2)
for number in range(len(bins) - 1):
    own = place == number
    mean, share, n = confidence[own].mean(), right[own].mean(), own.sum()
    ax.scatter(mean, share, s=20 + 0.4 * n, color="#1f5fa8", alpha=0.8, lw=0, zorder=3)
    print(f"confidence about {mean:.2f}: {n} rows, {share:.2f} right")
ax.set(xlabel="confidence", ylabel="share that is right", xlim=(0.25, 1.04), ylim=(0.25, 1.08))
ax.set_title("Dots are larger for more rows", loc="left")

order = np.argsort(-confidence)
kept = np.arange(1, len(order) + 1) / len(order)
errors = 1 - np.cumsum(right[order]) / np.arange(1, len(order) + 1)
other.plot(100 * kept[100:], 100 * errors[100:], color="#c2500c", lw=2)
other.set(xlabel="rows that keep their label, surest first (%)", ylabel="wrong among these (%)")
other.set(ylim=(0, None), xlim=(0, 100))
other.set_title("Doubtful rows hold most errors", loc="left")
for each in (ax, other):
    each.spines[["top", "right"]].set_visible(False)
plt.show()
