"""
Comparing methods
=================

Which method is best on data like yours? ``compare`` hides labels, ranks with each method, trains a
classifier on the best features and tests it on rows that nobody saw, in the same splits for all. A
small comparison with two yardsticks: features in random order, and all labels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from semisift import Protocol, compare

rng = np.random.default_rng(0)


def with_noise(load):
    """Return up to 300 rows with two shuffled copies of each column beside it."""
    X, y = load(return_X_y=True)
    rows = rng.permutation(len(X))[:300]
    X = X[rows]
    return np.hstack([X, rng.permuted(X, axis=0), rng.permuted(X, axis=0)]), y[rows]


datasets = {
    "tumours": with_noise(load_breast_cancer),
    "wine": with_noise(load_wine),
    "digits": with_noise(load_digits),
}
ssfi = ("ssfi", "ssfi:n_members=200")  # a name for a method with parameters
methods = ["consensus", ssfi, "fisher", "laplacian", "random", "all-labels"]
protocol = Protocol(n_runs=4, labels_per_class=3, sizes=(1, 2, 5, 10, 15))
results = compare(methods, datasets, protocol)
print(results)

# %%
# The accuracy of a decision tree on the best features, from one to fifteen, on the digits. The tree
# learns from all training rows with their true labels, so that the features are evaluated and not
# the labels.

fig, ax = plt.subplots(figsize=(7.6, 4.4), layout="constrained")
ax = results.plot_curves("digits", ax, bands=False)

# %%
# Over all data sets: mean ranks, and the critical difference beyond which two methods differ
# significantly. Three data sets show little, which is why a real comparison needs more of them.

fig, ax = plt.subplots(figsize=(7.6, 3), layout="constrained")
results.plot_critical_difference(ax)
print(results.table())
plt.show()
