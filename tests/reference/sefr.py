"""SEFR (Bellal, Elghazel, Aussem 2012): every member trains itself, no votes, no weights."""

from fractions import Fraction

import numpy as np

from tests.reference.importance import tree_importance
from tests.reference.plan import make_plan
from tests.reference.streams import TIES, stream_key, word
from tests.reference.tree import Example, confidence, fit_tree, predict


def sefr(X, codes, *, seed, n_members, m, max_iter, spread=None, max_depth=None):
    """Scores of all features, and what led to them.

    Returns
    -------
    dict with scores and draws (p), picks (per member a list of (round, row, label), rounds
    from 1), plans and trees (per member).
    """
    X = np.asarray(X, dtype=np.float64)
    p = X.shape[1]
    K = int(max(codes)) + 1

    total = np.zeros(p)
    draws = np.zeros(p, dtype=int)
    all_picks, plans, trees = [], [], []
    for i in range(n_members):
        plan = make_plan(codes, p, m, seed=seed, member=i)
        bag = [Example(row, w, int(codes[row])) for row, w in sorted(plan.weights.items())]
        options = {"spread": spread, "max_depth": max_depth}
        tree, picks = self_train(
            X, bag, plan, K, max_iter, ties_key=stream_key(seed, i, TIES), options=options
        )
        out_of_bag = [(row, int(codes[row]), 1.0) for row in plan.oob_labelled]
        for row in plan.oob_unlabelled:
            if confidence(tree, X[row]) >= Fraction(9, 10):
                out_of_bag.append((row, predict(tree, X[row]), 1.0))
        for feature, value in tree_importance(tree, X, out_of_bag, net=False).items():
            total[feature] += value
        for feature in plan.subspace:
            draws[feature] += 1
        all_picks.append(picks)
        plans.append(plan)
        trees.append(tree)

    return {
        "scores": total / np.maximum(draws, 1),
        "draws": draws,
        "picks": all_picks,
        "plans": plans,
        "trees": trees,
    }


def self_train(X, bag, plan, K, max_iter, *, ties_key, options):
    """Tree and picks of one member: the surest tenth of its first pool joins per round."""
    examples, pool, picks = list(bag), list(plan.pool), []
    quota = max(1, -(-len(pool) // 10))
    tree = fit_tree(X, examples, plan.subspace, K, **options)
    for t in range(1, max_iter + 1):
        sure = [row for row in pool if confidence(tree, X[row]) > Fraction(1, K)]
        if not sure:
            break
        sure.sort(key=lambda row: (-confidence(tree, X[row]), word(ties_key, row)))
        for row in sure[:quota]:
            label = predict(tree, X[row])
            examples.append(Example(row, 1, label))
            pool.remove(row)
            picks.append((t, row, label))
        tree = fit_tree(X, examples, plan.subspace, K, **options)
    return tree, picks
