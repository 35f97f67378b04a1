"""One labelled class and unlabelled rows: which of these are surely none of it.

In principal components, with S the covariance of all rows, half of it shrunk to its diagonal, rows
are ordered by how far they lie towards the labelled ones,

    s_i = t_i' S^-1 (mean of the labelled rows - mean of the others)

in standard deviations over the unlabelled rows, the mean over the numbers of components in which
soft labels look for classes. If a share pi of the unlabelled rows is of the labelled class, these
have the scores of labelled rows, so that

    pi = 2 * share of the unlabelled rows above the median score of the labelled ones

where each labelled row has its score without its own help. Of the rows in the lower half of the
others, the share (1 - pi) / 2 with the lowest scores, three times as many as there are labelled
rows are taken, at equal steps, and labelled as the rest: the training data of two classes.

C. Elkan, K. Noto (2008). Learning classifiers from only positive and unlabeled data. KDD 14, and
B. Liu, Y. Dai, X. Li, W. S. Lee, P. S. Yu (2003). Building text classifiers using positive and
unlabeled examples. ICDM 3, for the two ideas; the form is our own (benchmarks/one_class.py).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from semisift.base._training_data import TrainingData
from semisift.parallel import one_blas_thread
from semisift.transduction._components import components
from semisift.transduction._gaussian_ridge import shrunk
from semisift.transduction._soft_labels import dimensions_of
from semisift.utils._labels import Labels, known_prior
from semisift.utils._typing import Floats, Ints

# Rows that are taken for the rest, for each labelled row.
TIMES = 3

# An estimated share is no nearer to 0 or 1 than this, and of one labelled row there is none.
NEAREST = 0.02
UNKNOWN = 0.5

# What no table can tell.
CAUTION = (
    "The table cannot tell the class from a batch: this holds only if the labelled rows were not "
    "chosen or measured apart from the others."
)

# What the rest is called, where the labelled class is no number and has not this name itself.
REST, OTHER_REST = "other", "rest"


def find_rest(data: TrainingData, share: float | None = None) -> tuple[TrainingData, float]:
    """Return the data of two classes, and the share of the labelled one among unlabelled rows.

    Parameters
    ----------
    data : TrainingData
        With labelled rows of one class, and unlabelled ones.
    share : float, optional
        The share where it is known; else it is estimated.

    Returns
    -------
    data : TrainingData
        Some of whose unlabelled rows are labelled as the rest.
    share : float
    """
    T, labels = components(data), data.labels
    rows, share = rest_by([T[:, :d] for d in dimensions_of(T)], labels.labelled, share)
    return data.relabelled(rows, with_rest(labels)), share


def given_share(class_prior: Any, labels: Labels) -> float | None:
    """Return the share of the one labelled class by a prior that was given; None without one."""
    if class_prior is None:
        return None
    both = with_rest(labels)
    prior = known_prior(class_prior, both)
    assert prior is not None
    return float(prior[1 - both.rest])  # type: ignore[operator]


def with_rest(labels: Labels) -> Labels:
    """Return the labels with a second class, the rest, of which there is no row yet.

    Examples
    --------
    >>> from semisift.utils._labels import parse_labels
    >>> labels = with_rest(parse_labels([1, -1, 1], 3))
    >>> labels.classes.tolist(), labels.codes.tolist(), labels.rest
    ([0, 1], [1, -1, 1], 0)
    """
    (own,) = labels.classes.tolist()
    if isinstance(own, str | bytes):
        names = (REST, OTHER_REST) if isinstance(own, str) else (REST.encode(), OTHER_REST.encode())
        rest = names[own == names[0]]
    else:
        rest = type(own)(not own)
    classes, codes = np.unique([own, rest], return_inverse=True)
    return Labels(np.where(labels.codes < 0, -1, codes[0]).astype(np.int32), classes, int(codes[1]))


def rest_by(parts: Sequence[Floats], labelled: Ints, share: float | None) -> tuple[Ints, float]:
    """Return the rows that are taken for the rest, and the share of the labelled class.

    Parameters
    ----------
    parts : sequence of float arrays of shape (n, d)
        Components of the rows, centred, in several numbers.
    labelled : int array
        Rows of the labelled class.
    share : float or None

    Returns
    -------
    rows : int array
        Ascending.
    share : float
    """
    n_rows = len(parts[0])
    others = np.setdiff1d(np.arange(n_rows), labelled)
    with one_blas_thread():
        found = [_scores(T, labelled, others) for T in parts]
    scores = np.mean([of_others for of_others, _ in found], axis=0)
    if share is None:
        own = np.mean([of_labelled for _, of_labelled in found], axis=0)
        above = 2 * np.mean(scores > np.median(own)) if len(labelled) > 1 else UNKNOWN
        share = float(np.clip(above, NEAREST, 1 - NEAREST))
    n_low, n_rest = _numbers(share, len(labelled), len(others))
    low = others[np.argsort(scores, kind="stable")[:n_low]]
    steps = np.linspace(0, n_low - 1, n_rest).astype(np.int64)
    return np.sort(low[steps]), share


def _numbers(share: float, n_labelled: int, n_others: int) -> tuple[int, int]:
    """Return how many rows are far from the labelled ones, and how many of them are the rest."""
    n_low = max(1, int((1 - share) / 2 * n_others))
    return n_low, min(n_low, TIMES * n_labelled)


def format_reliable_negatives(estimator: Any, n_labelled: int, n_unlabelled: int) -> str | None:
    """Say what was made of the unlabelled rows; None where more than one class is labelled.

    Parameters
    ----------
    estimator : fitted ranker or classifier
    n_labelled, n_unlabelled : int
        Rows of the table.

    Returns
    -------
    str or None
    """
    share = getattr(estimator, "positive_share_", None)
    if share is None:
        return None
    n_sampled = getattr(estimator, "_n_sampled", None)  # of rows that stay on disk
    n_rest = _numbers(share, n_labelled, n_unlabelled if n_sampled is None else n_sampled)[1]
    was = "row was" if n_rest == 1 else "rows were"
    shares = f"about {share:.0%} of the unlabelled rows are estimated to be of it"
    if estimator.get_params(deep=False).get("class_prior") is not None:
        shares = f"{share:.0%} of the unlabelled rows are of it, as class_prior says"
    return f"One class is labelled: {n_rest:,} unlabelled {was} taken for the rest; {shares}."


def _scores(T: Floats, labelled: Ints, others: Ints) -> tuple[Floats, Floats]:
    """Return the scores of the others, and those of labelled rows without their own help."""
    covariance = shrunk((T.T @ T / len(T))[None])[0]
    centre = T[others].mean(axis=0)
    turned = np.linalg.solve(covariance, (T[labelled] - centre).T)
    total = turned.sum(axis=1, keepdims=True)
    spread = np.cov(T[others].T, bias=True).reshape(T.shape[1], T.shape[1])
    # a column for all labelled rows, and one without each of them
    without = (total - turned) / max(1, len(labelled) - 1)
    directions = np.concatenate([total / len(labelled), without], axis=1)
    variances = np.einsum("di,de,ei->i", directions, spread, directions)
    directions /= np.sqrt(np.where(variances > 0, variances, 1.0))
    of_others = (T[others] - centre) @ directions[:, 0]
    return of_others, np.einsum("id,di->i", T[labelled] - centre, directions[:, 1:])
