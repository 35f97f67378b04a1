"""Variance, Fisher score and constraint scores as loops over rows and pairs of rows."""

import math
from itertools import combinations

# Six rows of which the last two are unlabelled: f0 follows the class, f1 does not, f2 is constant.
TOY_X = [[0, 0, 2], [1, 3, 2], [4, 0, 2], [5, 3, 2], [0, 2, 2], [5, 1, 2]]
TOY_Y = [0, 0, 1, 1, -1, -1]


def columns_of(X):
    return [[float(row[j]) for row in X] for j in range(len(X[0]))]


def mean(values):
    return math.fsum(values) / len(values)


def variance(values):
    middle = mean(values)
    return math.fsum((value - middle) ** 2 for value in values) / len(values)


def fisher(X, y):
    scores = []
    for column in columns_of(X):
        labelled = [value for value, label in zip(column, y, strict=True) if label != -1]
        between = within = 0.0
        for label in sorted(set(y) - {-1}):
            values = [value for value, other in zip(column, y, strict=True) if other == label]
            between += len(values) * (mean(values) - mean(labelled)) ** 2
            within += len(values) * variance(values)
        scores.append(between / within if within else math.inf if between else math.nan)
    return scores


def pairs_of(y, must_link=(), cannot_link=()):
    """Return the sets of must-link and of cannot-link pairs, each pair once."""
    must = {tuple(sorted(pair)) for pair in must_link}
    cannot = {tuple(sorted(pair)) for pair in cannot_link}
    for i, j in combinations(range(len(y)), 2):
        if -1 not in (y[i], y[j]):
            (must if y[i] == y[j] else cannot).add((i, j))
    return sorted(must), sorted(cannot)


def squares(column, pairs):
    """Sum the squared differences over a list of pairs, in which a pair may stand twice."""
    return math.fsum((column[i] - column[j]) ** 2 for i, j in pairs)


def constraint(X, must, cannot, criterion="ratio", trade_off=0.1):
    """Return the paper's values: lower is better."""
    scores = []
    for column in columns_of(X):
        m, c = squares(column, must), squares(column, cannot)
        if criterion == "difference":
            scores.append(m - trade_off * c)
        else:
            scores.append(m / c if c else math.inf if m else math.nan)
    return scores


def mean_ranks(values):
    """Rank from 1, the lowest, with equal values sharing the mean of their ranks."""
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2
        for value in values
    ]


def bagging(X, bags):
    """Return mean scores and mean ranks over bags, each a list of must-link and of cannot-link."""
    scores = [constraint(X, must, cannot) for must, cannot in bags]
    worst = [[math.inf if math.isnan(value) else value for value in bag] for bag in scores]
    ranks = [mean_ranks(bag) for bag in worst]
    return (
        [mean(column) for column in zip(*worst, strict=True)],
        [mean(column) for column in zip(*ranks, strict=True)],
    )
