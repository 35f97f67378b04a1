"""Paired differences between FW-SemiFS and its rivals, from the records of a reproduction.

    semisift reproduce fw-semifs-table2 --data data --out fw-semifs-table2 --runs 30
    python benchmarks/fw_semifs_paired.py fw-semifs-table2

Prints for each judge and data set the mean difference over the splits, in its standard errors.
"""

import sys

import numpy as np

from semisift import Results

results = Results.load(sys.argv[1])
for evaluator in results.protocol.judges:
    scores = results.scores(judge=evaluator)
    names = {
        "FW-SemiFS": f"fw-semifs:estimator={evaluator}:feature_scaling=minmax",
        "SFFS": f"sffs:estimator={evaluator}:feature_scaling=minmax",
        "SLS": "sls:variant=paper",
    }
    ours, *rivals = (scores.methods.index(name) for name in names.values())
    for dataset, values in zip(scores.datasets, scores.values, strict=True):
        differences = values[:, [ours]] - values[:, rivals]
        error = differences.std(axis=0, ddof=1) / np.sqrt(len(values))
        in_errors = ", ".join(
            f"{name} {ratio:+.1f}"
            for name, ratio in zip(list(names)[1:], differences.mean(axis=0) / error, strict=True)
        )
        print(f"{evaluator:5} {dataset:11} {in_errors}")
