"""Supervised baseline: a forest whose every node draws its own columns, labelled rows only."""

import math

import numpy as np

from tests.reference.importance import tree_importance
from tests.reference.plan import make_plan
from tests.reference.streams import NODE_SUBSPACE, distinct, stream_key
from tests.reference.tree import Example, grow


def forest(X, codes, *, seed, n_members, m, spread=None, max_depth=None):
    """Return a dict with scores (p), and plans and trees (per member).

    The subspace in the plans is not used here.
    """
    X = np.asarray(X, dtype=np.float64)
    p = X.shape[1]
    K = int(max(codes)) + 1

    total = np.zeros(p)
    plans, trees = [], []
    for i in range(n_members):
        plan = make_plan(codes, p, m, seed=seed, member=i)
        bag = [Example(row, w, int(codes[row])) for row, w in sorted(plan.weights.items())]

        def columns_at(number, examples, member=i):
            return node_columns(X, examples, m, stream_key(seed, member, NODE_SUBSPACE + number))

        tree = grow(X, bag, columns_at, K, spread, max_depth)
        out_of_bag = [(row, int(codes[row]), 1.0) for row in plan.oob_labelled]
        for feature, value in tree_importance(tree, X, out_of_bag, net=True).items():
            total[feature] += value
        plans.append(plan)
        trees.append(tree)

    return {"scores": total / n_members, "plans": plans, "trees": trees}


def node_columns(X, examples, m, key):
    """The first m distinct draws; if all are constant here, also the first that is not."""

    def varies(column):
        values = {float(X[e.row, column]) for e in examples}
        return len({value for value in values if not math.isnan(value)}) > 1

    columns = []
    for column in distinct(key, X.shape[1]):
        if len(columns) < m:
            columns.append(column)
        elif any(varies(c) for c in columns):
            break
        elif varies(column):
            columns.append(column)
            break
    return columns
