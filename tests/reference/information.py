"""Bins, entropies and MRMR as loops over columns and counts, in nats."""

import math
from collections import Counter


def binned(values, n_bins=5):
    """Return the bin of each value: equal widths, or the values themselves where they are few."""
    distinct = sorted(set(values))
    if len(distinct) <= n_bins:
        return [distinct.index(value) for value in values]
    low, high = distinct[0], distinct[-1]
    edges = [(low * (n_bins - k) + high * k) / n_bins for k in range(1, n_bins)]
    return [sum(value >= edge for edge in edges) for value in values]


def entropy(*variables):
    joint = Counter(zip(*variables, strict=True))
    n = len(variables[0])
    return -math.fsum(count / n * math.log(count / n) for count in joint.values())


def mutual(f, y):
    return entropy(f) + entropy(y) - entropy(f, y)


def conditional(f, y, s):
    """Return I(f; y | s)."""
    return entropy(f, s) + entropy(y, s) - entropy(f, y, s) - entropy(s)


def value_of(relevance, redundancy, criterion):
    if criterion == "MID":
        return relevance - redundancy
    return relevance / (redundancy if redundancy > 1e-12 else 1e-12)


def mrmr(columns, y, n_picks, criterion, redundancy_columns=None):
    """Return the columns in the order of their picks; there must be no ties."""
    relevance = [mutual(column, y) for column in columns]
    others = redundancy_columns or columns
    picks = [max(range(len(columns)), key=lambda j: relevance[j])]
    while len(picks) < n_picks:

        def value(j, picks=tuple(picks)):
            redundancy = math.fsum(mutual(others[j], others[s]) for s in picks) / len(picks)
            return value_of(relevance[j], redundancy, criterion)

        left = [j for j in range(len(columns)) if j not in picks]
        picks.append(max(left, key=value))
    return picks
