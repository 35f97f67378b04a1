"""Data that the tests of soft labels share."""

import numpy as np

from semisift.base._training_data import TrainingData


def mixture(n_rows=40, n_columns=9, n_classes=2, per_class=4, seed=0, gap=2.0):
    """Return the training data of normal classes that overlap, with few labels, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n_rows) % n_classes)
    X = rng.normal(size=(n_rows, n_columns)) * rng.uniform(0.5, 3, n_columns)
    X[:, : n_columns // 2] += gap * truth[:, None]
    y = np.full(n_rows, -1)
    for label in range(n_classes):
        y[np.flatnonzero(truth == label)[:per_class]] = label
    return TrainingData.build(X, y), truth
