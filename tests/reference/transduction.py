"""Soft labels, their score and their test, written down as the docstrings say them."""

import math

import numpy as np


def gaussian_classes(T, codes, n_classes, class_prior=None, steps=15):
    """Return the shares of the classes: expectation and maximisation, row by row."""
    n, d = T.shape
    prior = [1 / n_classes] * n_classes if class_prior is None else list(class_prior)
    shares = [[float(code == c) for c in range(n_classes)] for code in codes]
    for step in range(steps + 1):
        sizes = [sum(row[c] for row in shares) for c in range(n_classes)]
        means = [sum(shares[i][c] * T[i] for i in range(n)) / sizes[c] for c in range(n_classes)]
        # at first nothing is known of most rows: their covariance is that around one mean
        covariance = np.zeros((d, d))
        for i in range(n):
            if step == 0:
                covariance += np.outer(T[i], T[i]) / n
            for c in range(n_classes) if step else ():
                covariance += shares[i][c] * np.outer(T[i] - means[c], T[i] - means[c]) / n
        diagonal = np.diag(np.diag(covariance))
        shrunk = covariance / 2 + diagonal / 2 + np.eye(d) * 1e-6 * np.trace(covariance) / d
        inverse = np.linalg.inv(shrunk)
        if step and class_prior is None:
            prior = [(size / n + 1 / n_classes) / 2 for size in sizes]
        for i in range(n):
            if codes[i] < 0:
                gaps = [T[i] - mean for mean in means]
                logs = [
                    math.log(prior[c]) - gaps[c] @ inverse @ gaps[c] / 2 for c in range(n_classes)
                ]
                shares[i] = softmax(logs)
    return np.array(shares)


def softmax(logs):
    powers = [math.exp(log - max(logs)) for log in logs]
    return [power / sum(powers) for power in powers]


def ridge(T, codes, n_classes):
    """Return the shares by the normal equations with a free intercept, class by class."""
    known = [i for i, code in enumerate(codes) if code >= 0]
    A = T[known]
    around = A - A.mean(axis=0)
    penalty = 0.1 * (around**2).sum() / len(known)
    design = np.hstack([np.ones((len(known), 1)), A])
    normal = design.T @ design + np.diag([0.0] + [penalty] * T.shape[1])
    values = []
    for c in range(n_classes):
        target = [1.0 if codes[i] == c else -1.0 for i in known]
        weights = np.linalg.inv(normal) @ design.T @ target
        values.append(weights[0] + T @ weights[1:])
    values = np.array(values).T
    return np.array([softmax(list(2 * row / values.std())) for row in values])


def members(T, codes, n_classes, class_prior=None):
    """Return the shares by each of the seven members, or fewer where there are few components."""
    found = [
        gaussian_classes(T[:, :d], codes, n_classes, class_prior)
        for d in sorted({min(d, T.shape[1]) for d in (3, 5, 8, 12, 20, 30)})
    ]
    predicted = ridge(T, codes, n_classes)
    for i, code in enumerate(codes):
        if code >= 0:
            predicted[i] = [float(code == c) for c in range(n_classes)]
    return [*found, predicted]


def fifths(codes, n_classes, key):
    """Deal the labelled rows of each class that has two or more, in the order of a key."""
    found = [-1] * len(codes)
    for c in range(n_classes):
        rows = sorted((i for i, code in enumerate(codes) if code == c), key=lambda i: key[i])
        for place, i in enumerate(rows):
            found[i] = place % 5 if len(rows) > 1 else -1
    return found


def soft_labels(T, codes, n_classes, class_prior=None):
    """Return the shares, the weights, the stability, how many are recovered, and the trust."""
    folds = fifths(codes, n_classes, T[:, 0])
    everything = members(T, codes, n_classes, class_prior)
    by_fold = {
        fold: members(
            T, [-1 if f == fold else c for f, c in zip(folds, codes, strict=True)], n_classes,
            class_prior,
        )
        for fold in range(max(folds) + 1)
    }  # fmt: skip
    weights = []
    for m in range(len(everything)):
        product = 1.0
        for i, fold in enumerate(folds):
            if fold >= 0:
                share = by_fold[fold][m][i][codes[i]]
                product *= (0.95 * share + 0.05 / n_classes) ** 0.25
        weights.append(product)
    weights = np.array(weights) / sum(weights)

    def together(parts):
        return sum(weight * part for weight, part in zip(weights, parts, strict=True))

    shares = together(everything)
    hidden = [i for i, code in enumerate(codes) if code < 0]
    ours = shares.argmax(axis=1)
    alike, recovered, evidence = [], 0, 0.0
    for i, fold in enumerate(folds):
        if fold >= 0:
            mean = np.mean([part[i][codes[i]] for part in by_fold[fold]])
            evidence += math.log((0.95 * mean + 0.05 / n_classes) / (1 / n_classes))
    for fold, parts in by_fold.items():
        theirs = together(parts).argmax(axis=1)
        alike.append(kappa(ours[hidden], theirs[hidden], n_classes))
        recovered += sum(f == fold and theirs[i] == codes[i] for i, f in enumerate(folds))
    trust = min(1.0, max(0.0, (1 + evidence) / 2))
    return shares, weights, np.mean(alike) if alike else 0.5, recovered, trust


def kappa(one, other, n_classes):
    """Return Cohen's kappa from the table of both labellings."""
    table = np.zeros((n_classes, n_classes))
    for a, b in zip(one, other, strict=True):
        table[a, b] += 1 / len(one)
    chance = sum(table[c].sum() * table[:, c].sum() for c in range(n_classes))
    same = sum(table[c, c] for c in range(n_classes))
    return (same - chance) / (1 - chance) if chance < 1 else float(same == 1)


def class_scores(Z, shares):
    """Return the F-score of each class against the rest, for rows that count by their shares."""
    n, p = Z.shape
    n_classes = shares.shape[1]
    found = np.zeros((n_classes, p))
    for c in range(n_classes):
        for r in range(p):
            column = Z[:, r]
            size = shares[:, c].sum()
            inside = (shares[:, c] * column).sum() / size
            outside = ((1 - shares[:, c]) * column).sum() / (n - size)
            squares = sum(
                shares[i, c] * (column[i] - inside) ** 2
                + (1 - shares[i, c]) * (column[i] - outside) ** 2
                for i in range(n)
            )
            gap = (inside - column.mean()) ** 2 * n * size / (n - size)
            found[c, r] = gap / max(squares, ((column - column.mean()) ** 2).sum() / n)
    return found


def labelled_scores(Z, codes, n_classes):
    """Return the F-score of each column over the labelled rows."""
    found = []
    for column in Z.T:
        values = [column[[code == c for code in codes]] for c in range(n_classes)]
        everything = np.concatenate(values)
        within = sum(((part - part.mean()) ** 2).sum() for part in values)
        total = ((everything - everything.mean()) ** 2).sum()
        found.append((total - within) / max(within, total / len(column)))
    return np.array(found)


def without_depth(T, shares, depth):
    """Return components less what goes with depth in a regression with a mean for each class."""
    n_classes = shares.shape[1]
    rows = [(i, c) for i in range(len(T)) for c in range(n_classes)]
    weight = np.sqrt([shares[i, c] for i, c in rows])
    given = [[depth[i], *(float(c == other) for other in range(n_classes))] for i, c in rows]
    values = np.array([T[i] for i, c in rows])
    slopes = np.linalg.lstsq(np.array(given) * weight[:, None], values * weight[:, None])[0][0]
    return T - np.outer(depth - depth.mean(), slopes)


def beaten_by_permuted(Z, T, codes, n_classes, order, class_prior=None, depth=None):
    """Return which columns the best permuted feature reaches, by either score.

    The table of columns and permuted features is there: its first half are the columns.
    """
    p = Z.shape[1]
    both = np.hstack([Z, Z[order]])

    def label(mine, theirs):
        total = 0
        dimensions = sorted({min(d, T.shape[1]) for d in (3, 5, 8, 12, 20, 30)})
        for d in dimensions:
            axes = np.hstack([mine[:, :d], theirs[:, :d]])
            total = total + gaussian_classes(axes, codes, n_classes, class_prior)
        predicted = ridge(np.hstack([mine, theirs]), codes, n_classes)
        for i, code in enumerate(codes):
            if code >= 0:
                predicted[i] = [float(code == c) for c in range(n_classes)]
        return (total + predicted) / (len(dimensions) + 1)

    shares = label(T, T[order])
    if depth is not None:
        theirs = without_depth(T[order], shares, depth[order])
        shares = label(without_depth(T, shares, depth), theirs)
    by_class = class_scores(both, shares)
    scores = [(by_class / by_class.max(axis=1, keepdims=True)).mean(axis=0)]
    few = [labelled_scores(both, codes, n_classes)]
    if n_classes > 2:
        scores += [*by_class]
        for c in range(n_classes):
            against = [-1 if code < 0 else int(code == c) for code in codes]
            few.append(labelled_scores(both, against, 2))
    return [[s[:p] <= s[p:].max() for s in each] for each in (scores, few)]
