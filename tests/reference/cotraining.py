"""Co-training by the book: slow, without tricks."""

from itertools import permutations

import numpy as np


def relevant_pairs(chances):
    """Return the probabilities of the pairs (0, 1), (0, 2), (1, 2) drawn in turn."""
    found = {}
    for first, second in permutations(range(3), 2):
        chance = chances[first] * chances[second] / (1 - chances[first])
        found[frozenset([first, second])] = found.get(frozenset([first, second]), 0) + chance
    return [found[frozenset(pair)] for pair in ([0, 1], [0, 2], [1, 2])]


def draw_prob_mrmr_odds(relevance, information, size, negative):
    """Return the probability of every sequence of columns that Prob-MRMR may draw."""
    odds = {(): 1.0}
    for _ in range(size):
        longer = {}
        for drawn, chance in odds.items():
            for column, share in _next_shares(relevance, information, drawn, negative).items():
                longer[(*drawn, column)] = chance * share
        odds = longer
    return odds


def _next_shares(relevance, information, drawn, negative):
    rest = [j for j in range(len(relevance)) if j not in drawn]
    score = {}
    for j in rest:
        redundancy = np.mean([information[s][j] for s in drawn]) if drawn else 0.0
        score[j] = relevance[j] - redundancy
    if drawn and negative == "shift":
        lowest = min(score.values())
        score = {j: value - lowest for j, value in score.items()}
    score = {j: value if value > 1e-12 else 0.0 for j, value in score.items()}
    total = sum(score.values())
    return {j: score[j] / total if total else 1 / len(rest) for j in rest}


def rounded(share):
    """Return a share in units that are coarser than the errors of a sum."""
    return round(float(share) * 2**40)


def argmax(shares):
    """Return the first of the classes with the largest share."""
    return max(range(len(shares)), key=lambda code: (rounded(shares[code]), -code))


def add_surest(shares, rows, words, n_per_class=1):
    """Return the surest rows of each class, of equally sure ones those with the smallest word."""
    picked = []
    for code in range(shares.shape[1]):
        own = [i for i in range(len(rows)) if argmax(shares[i]) == code]
        own.sort(key=lambda i: (-rounded(shares[i].max()), words[i]))
        picked += [(rows[i], code) for i in own[:n_per_class]]
    return picked


def rasco(X, codes, n_classes, subspaces, make_estimator, words_of, max_iter, n_per_class=1):
    """Run the loop of RASCO, fitting every classifier again in each iteration.

    `words_of(iteration, rows)` gives the numbers that order equally sure rows. Returns the classes
    and iterations of all rows.
    """
    known = [int(row) for row in np.flatnonzero(codes >= 0)]
    given = {row: int(codes[row]) for row in known}
    iterations = np.where(codes >= 0, 0, -1)
    left = [int(row) for row in np.flatnonzero(codes < 0)]
    for iteration in range(1, max_iter + 1):
        if not left:
            break
        mean = np.zeros((len(left), n_classes))
        for columns in subspaces:
            labels = [given[row] for row in known]
            model = make_estimator().fit(X[np.ix_(known, columns)], labels)
            mean[:, model.classes_] += model.predict_proba(X[np.ix_(left, columns)])
        mean /= len(subspaces)
        for row, code in add_surest(mean, left, words_of(iteration, left), n_per_class):
            given[row] = code
            iterations[row] = iteration
            known.append(row)
            left.remove(row)
    return np.array([given.get(row, -1) for row in range(len(X))]), iterations


def co_training(X, codes, views, quotas, make_estimator, words_of, pool, pool_size, max_iter):
    """Run Blum and Mitchell's loop. `pool` lists the unlabelled rows in the order of entering."""
    known = [int(row) for row in np.flatnonzero(codes >= 0)]
    given = {row: int(codes[row]) for row in known}
    waiting = [int(row) for row in pool]
    for iteration in range(1, max_iter + 1):
        here = waiting[:pool_size]
        opinions = []
        for columns in views:
            labels = [given[row] for row in known]
            model = make_estimator().fit(X[np.ix_(known, columns)], labels)
            shares = model.predict_proba(X[np.ix_(here, columns)])
            chosen = []
            for code, quota in enumerate(quotas):
                picks = add_surest(shares, here, words_of(iteration, here), quota)
                chosen += [pick for pick in picks if pick[1] == code]
            opinions.append(
                (dict(chosen), {row: rounded(shares[i].max()) for i, row in enumerate(here)})
            )
        (one, sure_one), (other, sure_other) = opinions
        added = {}
        for row in sorted(one.keys() | other.keys(), key=here.index):
            first, second = one.get(row), other.get(row)
            if first is None or second is None or first == second:
                added[row] = second if first is None else first
            elif sure_one[row] != sure_other[row]:
                added[row] = first if sure_one[row] > sure_other[row] else second
        given |= added
        known += list(added)
        waiting = [row for row in waiting if row not in added]
        if not added or not waiting:
            break
    return np.array([given.get(row, -1) for row in range(len(X))])
