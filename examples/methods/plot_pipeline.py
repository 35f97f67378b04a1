"""
A pipeline and a grid search
============================

A ranker is a scikit-learn selector: it goes into a pipeline, before a classifier. Two things differ
with few labels. The classifier should learn from labelled rows alone, which ``LabelledOnly``
ensures; and cross-validation should hold back labelled rows only, as ``SemiSupervisedKFold`` does.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from semisift import SSFI, LabelledOnly, SemiSupervisedKFold

rng = np.random.default_rng(0)
real, truth = load_breast_cancer(return_X_y=True)
X = np.hstack([real, *(rng.permuted(real, axis=0) for _ in range(5))])
y = np.full(len(truth), -1)
for label in (0, 1):
    y[rng.choice(np.flatnonzero(truth == label), 20, replace=False)] = label

model = Pipeline(
    [
        ("rank", SSFI(n_members=100, random_state=0)),
        ("scale", StandardScaler()),
        ("classify", LabelledOnly(LogisticRegression())),
    ]
)

# %%
# How many columns, and how strong a penalty? Four folds of the 40 labelled rows; the 529 others are
# in every training set.

grid = {
    "rank__n_features_to_select": [2, 5, 10, 30, 180],
    "classify__estimator__C": [0.01, 0.1, 1.0],
}
search = GridSearchCV(model, grid, cv=SemiSupervisedKFold(4)).fit(X, y)
print(f"Best: {search.best_params_}, {search.best_score_:.2f} in cross-validation")

# %%
# We know the hidden labels, and can evaluate each setting by them. Left: cross-validation, 40
# labels in four folds. Right: the truth, on 529 rows. The frame is the best setting of the search.
# 40 labels cannot separate single settings, so it need not be the best in truth; but both maps show
# that all 180 columns are no good choice.

hidden = y == -1
sizes, penalties = grid.values()
seen = search.cv_results_["mean_test_score"].reshape(len(penalties), len(sizes))
true = np.zeros_like(seen)
for i, penalty in enumerate(penalties):
    for j, size in enumerate(sizes):
        model.set_params(rank__n_features_to_select=size, classify__estimator__C=penalty)
        true[i, j] = model.fit(X, y).score(X[hidden], truth[hidden])

fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
titles = ["Cross-validation on 40 labels", "Truth on 529 hidden labels"]
for ax, values, title in zip(axes, [seen, true], titles, strict=True):
    image = ax.imshow(values, cmap="Blues", vmin=0.6, vmax=1, aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        colour = "white" if value > 0.85 else "#1b1f24"
        ax.text(j, i, f"{value:.2f}", ha="center", va="center", color=colour, fontsize=9)
    best = (
        penalties.index(search.best_params_["classify__estimator__C"]),
        sizes.index(search.best_params_["rank__n_features_to_select"]),
    )
    ax.add_patch(
        plt.Rectangle((best[1] - 0.5, best[0] - 0.5), 1, 1, fill=False, ec="#c2500c", lw=3)
    )
    ax.set_xticks(range(len(sizes)), sizes)
    ax.set_yticks(range(len(penalties)), penalties)
    ax.set(xlabel="columns selected")
    ax.set_title(title, loc="left")
    ax.tick_params(length=0)
axes[0].set_ylabel("C of the regression")
fig.colorbar(image, ax=axes, label="accuracy")
plt.show()
