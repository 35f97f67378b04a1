"""Statistics as loops: all signs of signed ranks, all groups of methods, all pairs of sets."""

import itertools
import math
from fractions import Fraction


def doubled_ranks(values):
    """Return twice the average rank of each value, 2 for the smallest."""
    return [
        2 * sum(other < value for other in values) + 1 + sum(other == value for other in values)
        for value in values
    ]


def wilcoxon(differences):
    """Return W+, W-, n and the two-sided p, by trying all signs; whole numbers."""
    differences = [d for d in differences if d]
    ranks = doubled_ranks([abs(d) for d in differences])
    plus = sum(rank for rank, d in zip(ranks, differences, strict=True) if d > 0)
    smaller = min(plus, sum(ranks) - plus)
    as_small = 0
    for signs in itertools.product((False, True), repeat=len(ranks)):
        w = sum(itertools.compress(ranks, signs))
        as_small += min(w, sum(ranks) - w) <= smaller
    p = Fraction(as_small, 2 ** len(ranks))
    return plus / 2, (sum(ranks) - plus) / 2, len(ranks), float(p)


def cliques(mean_ranks, limit):
    """Return the largest groups of at least two methods of which no two differ by more."""
    m = len(mean_ranks)
    close = [
        set(group)
        for size in range(2, m + 1)
        for group in itertools.combinations(range(m), size)
        if max(mean_ranks[i] for i in group) - min(mean_ranks[i] for i in group) <= limit
    ]
    return [group for group in close if not any(group < other for other in close)]


def holm(p_values):
    n = len(p_values)
    order = sorted(range(n), key=lambda i: p_values[i])
    return [
        min(1.0, max((n - step) * p_values[order[step]] for step in range(order.index(i) + 1)))
        for i in range(n)
    ]


def critical_wins(n, alpha):
    """Return the fewest wins whose chance is at most `alpha`, a fraction."""
    chances = [Fraction(math.comb(n, w), 2**n) for w in range(n + 1)]
    return next(w for w in range(n + 2) if sum(chances[w:]) <= alpha)


def kuncheva(a, b, p):
    k = len(a)
    shared = len(set(a) & set(b))
    return (shared - k**2 / p) / (k - k**2 / p)


def mean_kuncheva(sets, p):
    values = [kuncheva(a, b, p) for a, b in itertools.combinations(sets, 2)]
    return math.fsum(values) / len(values)


def nogueira(sets, p):
    """Return the stability and its variance, as Nogueira et al. (2018) print them."""
    M = len(sets)
    z = [[float(f in members) for f in range(p)] for members in map(set, sets)]
    h = [sum(row[f] for row in z) / M for f in range(p)]
    k = [sum(row) for row in z]
    mean_k = sum(k) / M
    below = mean_k / p * (1 - mean_k / p)
    stability = 1 - math.fsum(M / (M - 1) * hf * (1 - hf) for hf in h) / p / below
    phi = []
    for i in range(M):
        inner = math.fsum(z[i][f] * h[f] for f in range(p)) / p - k[i] * mean_k / p**2
        correction = 2 * k[i] * mean_k / p**2 - k[i] / p - mean_k / p + 1
        phi.append((inner + stability / 2 * correction) / below)
    mean_phi = math.fsum(phi) / M
    return stability, 4 / M**2 * math.fsum((value - mean_phi) ** 2 for value in phi)


def rank_overlap(first, second, depth):
    shares = [len(set(first[:d]) & set(second[:d])) / d for d in range(1, depth + 1)]
    return math.fsum(shares) / depth
