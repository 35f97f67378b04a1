"""What the tests of the report of a comparison share: a real one, and made-up ones."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_wine

from semisift import Protocol, Results, compare

EVIL = "</script><script>window.stolen = true</script>"
EVIL_SET = "<img src=x onerror=alert(1)> & 'wine' \"$x^2$\""


class Stubborn(BaseEstimator):
    """Refuses every table, in words that would be a script."""

    def fit(self, X, y):
        raise ValueError(EVIL)


def compare_for_real():
    """Compare on two data sets of scikit-learn, with names and an error that would be scripts."""
    protocol = Protocol(
        name="ssfi",
        n_runs=6,
        sizes=(1, 2, 3, 4, 5),
        judges=("tree", "knn:n_neighbors=3"),
        metrics=("accuracy", "macro_f1"),
    )
    methods = ["fisher", "laplacian", (EVIL, "lsdf"), "random", "all-labels", Stubborn()]
    datasets = {
        EVIL_SET: load_wine(return_X_y=True),
        "breast cancer": load_breast_cancer(return_X_y=True),
    }
    published = {
        "source": f"A paper (2013) {EVIL}",
        "table": {
            "breast cancer": {"fisher": 0.2, "random": 0.99, "laplacian": None, "sefr": 0.5},
            EVIL_SET: {EVIL: 0.9},
        },
        "sentences": ["The paper does not name its kernel."],
    }
    notes = {"published": published, "command": f"semisift compare '{EVIL}'\n  --runs 6"}
    return compare(methods, datasets, protocol, notes=notes)


def made_up(
    values,
    *,
    methods=None,
    datasets=None,
    protocol=None,
    sweep=None,
    seconds=0.01,
    max_seconds=None,
    notes=None,
):
    """Return results with these figures, of shape (n_datasets, n_runs, n_methods).

    With a sweep of levels there is one more axis in front. A NaN is a record that is not there.
    """
    values = np.asarray(values, dtype=float)
    levels = [None] if sweep is None else list(sweep["levels"])
    values = values[None] if sweep is None else values
    _, n_datasets, n_runs, n_methods = values.shape
    methods = methods or [f"method {j}" for j in range(n_methods)]
    datasets = datasets or [f"set {i}" for i in range(n_datasets)]
    protocol = protocol or Protocol(n_runs=n_runs, sizes=(1, 2, 5))
    rng = np.random.default_rng(0)
    records = [
        {
            "dataset": datasets[i],
            "method": methods[j],
            "run": run,
            "level": level,
            "status": "done",
            "error": None,
            "warnings": [],
            "n_train": 80,
            "n_test": 40,
            "split": run,
            "top": rng.permutation(30)[:10].tolist(),
            "curves": {
                judge: {
                    metric: [float(values[place, i, run, j]) + 0.01 * k for k in protocol.sizes]
                    for metric in protocol.metrics
                }
                for judge in protocol.judges
            },
            "versions": {"semisift": "1"},
            "measured": {"seconds": seconds, "judge_seconds": 0.1, "peak_mb": 100.0},
        }
        for place, level in enumerate(levels)
        for i in range(n_datasets)
        for run in range(n_runs)
        for j in range(n_methods)
        if np.isfinite(values[place, i, run, j])
    ]
    about = {
        "protocol": protocol.to_dict(),
        "sweep": sweep,
        "datasets": {
            name: {"n_rows": 30, "n_features": 30, "n_classes": 2, "checksum": "0"}
            for name in datasets
        },
        "methods": {name: {} for name in methods},
        "versions": {"semisift": "1"},
        "max_seconds": max_seconds,
        "notes": notes or {},
    }
    return Results(about, records)


def random_figures(*shape, seed=0):
    return np.random.default_rng(seed).uniform(0.5, 0.9, size=shape)


def made_up_sweep():
    """Return results of a sweep over labels, with three levels, two data sets and three methods."""
    figures = random_figures(3, 2, 4, 3)
    return made_up(figures, sweep={"kind": "labels", "levels": [1.0, 2.0, 5.0]})
