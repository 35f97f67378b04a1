"""RLSR written plainly: the equations in the columns, solved as they are printed."""

import numpy as np

EPSILON = 1e-5


def on_simplex(point):
    """Return the nearest point of the simplex, by trying all numbers of entries that stay."""
    best = None
    for size in range(1, len(point) + 1):
        kept = np.argsort(-point)[:size]
        candidate = np.zeros(len(point))
        candidate[kept] = point[kept] + (1 - point[kept].sum()) / size
        if (candidate >= 0).all():
            distance = ((candidate - point) ** 2).sum()
            if best is None or distance < best[0]:
                best = distance, candidate
    return best[1]


def rlsr(X, y, gamma=1.0, n_inner=1, n_steps=20):
    """Return theta, W, b, Y and the objective after each step."""
    n, p = X.shape
    k = y.max() + 1
    Y = np.array([np.eye(k)[code] if code >= 0 else np.full(k, 1 / k) for code in y])
    H = np.eye(n) - 1 / n
    theta = np.full(p, 1 / p)
    path = []
    for _ in range(n_steps):
        for _ in range(n_inner):
            W = np.linalg.solve(X.T @ H @ X + gamma * np.diag(1 / theta), X.T @ H @ Y)
            lengths = np.sqrt((W**2).sum(axis=1))
            theta = (lengths + EPSILON) / (lengths + EPSILON).sum()
        b = (Y - X @ W).mean(axis=0)
        for i in np.flatnonzero(y < 0):
            Y[i] = on_simplex(X[i] @ W + b)
        path.append(((X @ W + b - Y) ** 2).sum() + gamma * lengths.sum() ** 2)
    return theta, W, b, Y, path
