"""The embedded methods written plainly: scikit-learn's machines trained from scratch at each step,
and a general solver on the objective as it is written."""

import warnings

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, OneClassSVM

# LIBSVM holds kernels in single precision, so it may not come to an end by itself.
PRECISE = {"kernel": "linear", "tol": 1e-7, "max_iter": 50_000}
NO_LENGTH = 1e-5


def unit_scaled(X):
    """Scale each column to [0, 1]."""
    X = np.asarray(X, dtype=float)
    return (X - X.min(axis=0)) / np.ptp(X, axis=0)


def weights(Z, y, C=1.0, nu=0.5):
    """Return w of each class against the rest (of the last of two), and of the unlabelled rows."""
    labelled, classes = y >= 0, np.unique(y[y >= 0])
    against = classes[1:] if len(classes) == 2 else classes if len(classes) > 2 else []
    supervised = []
    for label in against:
        sign = np.where(y[labelled] == label, 1, -1)
        supervised.append(trained(SVC(C=C, **PRECISE), Z[labelled], sign))
    unlabelled = None
    if not labelled.all():
        unlabelled = trained(OneClassSVM(nu=nu, **PRECISE), Z[~labelled])
    return supervised, unlabelled


def trained(machine, Z, y=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return machine.fit(Z, y).coef_[0]


def criterion(supervised, unlabelled, eta=1.0, variant="default"):
    if variant == "paper":
        unlabelled = 0.0 if unlabelled is None else unlabelled
        return sum((w + unlabelled) ** 2 for w in supervised)
    parts = [(w, 1 / len(supervised)) for w in supervised]
    if unlabelled is not None:
        parts.append((unlabelled, eta))
    return sum(
        share * (w / np.linalg.norm(w)) ** 2 for w, share in parts if np.linalg.norm(w) > NO_LENGTH
    )


def s3vm_rfe(X, y, n_left=1, step=1, C=1.0, nu=0.5, **reading):
    """Return the columns in the order in which they leave, then those left from the weakest."""
    Z = unit_scaled(X)
    left, order = list(range(Z.shape[1])), []
    while True:
        c = criterion(*weights(Z[:, left], y, C, nu), **reading)
        weakest = [left[i] for i in np.argsort(c)]
        if len(left) <= n_left:
            return order + weakest
        gone = weakest[: min(step, len(left) - n_left)]
        order += gone
        left = [column for column in left if column not in gone]


def machine_labels(codes):
    """Return +1 and -1 for each class against the rest, or for the last of two classes."""
    classes = np.unique(codes)
    against = classes[1:] if len(classes) == 2 else classes
    return np.array([np.where(codes == label, 1.0, -1.0) for label in against])


def manifold_objective(W, b, d, Z, y, S, C=1.0, rho=1.0):
    """Return the objective of FS-Manifold; W has a row for each machine."""
    value = 0.0
    for w, bias, sign in zip(W, b, machine_labels(y[y >= 0]), strict=True):
        value += 0.5 * sum(w**2 / d)
        value += C * sum(np.maximum(0.0, 1 - sign * (Z[y >= 0] @ w + bias)) ** 2)
        f = Z @ w
        value += rho / 2 / len(Z) ** 2 * (S * (f[:, None] - f) ** 2).sum() / 2
    return value


def manifold_gradient(W, b, d, Z, y, S, C=1.0, rho=1.0):
    labelled = np.flatnonzero(y >= 0)
    laplacian = np.diag(S.sum(axis=1)) - S
    by_W, by_b, by_d = np.zeros(W.shape), np.zeros(len(b)), np.zeros(len(d))
    for k, sign in enumerate(machine_labels(y[labelled])):
        loss = np.maximum(0.0, 1 - sign * (Z[labelled] @ W[k] + b[k]))
        by_W[k] = W[k] / d - 2 * C * Z[labelled].T @ (sign * loss)
        by_W[k] += rho / len(Z) ** 2 * Z.T @ (laplacian @ (Z @ W[k]))
        by_b[k] = -2 * C * (sign * loss).sum()
        by_d -= W[k] ** 2 / d**2 / 2
    return np.concatenate([by_W.ravel(), by_b, by_d])


def fs_manifold(Z, y, S, m, C=1.0, rho=1.0):
    """Minimise the objective over w, b and d at once by sequential quadratic programming.

    Returns the objective and d.
    """
    p = Z.shape[1]
    k = len(machine_labels(y[y >= 0]))

    def parts(x):
        return x[: k * p].reshape(k, p), x[k * p : k * p + k], np.maximum(x[k * p + k :], 1e-9)

    start = np.concatenate([np.full(k * p + k, 1e-2), np.full(p, m / p)])
    sums = np.concatenate([np.zeros(k * p + k), np.ones(p)])
    found = minimize(
        lambda x: manifold_objective(*parts(x), Z, y, S, C, rho),
        start,
        jac=lambda x: manifold_gradient(*parts(x), Z, y, S, C, rho),
        method="SLSQP",
        bounds=[(None, None)] * (k * p + k) + [(1e-9, 1.0)] * p,
        constraints={"type": "eq", "fun": lambda x: sums @ x - m, "jac": lambda x: sums},
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    return found.fun, parts(found.x)[2]
