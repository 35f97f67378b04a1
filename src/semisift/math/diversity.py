"""How much the members of a committee disagree, and what a vote of independent members is worth."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtrc


def entropy_diversity(correct: ArrayLike) -> float:
    """Return the entropy measure of diversity.

    With L members of which l(z) are right on row z:

        E = mean_z min(l(z), L - l(z)) / (L - ceil(L / 2))

    Parameters
    ----------
    correct : bool array of shape (n_members, n_rows)
        Which members are right on which rows.

    Returns
    -------
    float
        0 if on each row all are right or all are wrong, 1 if each row splits the members evenly; 0
        for a single member.

    References
    ----------
    L. I. Kuncheva (2004). Combining pattern classifiers, chapter 10. Wiley.

    Examples
    --------
    >>> entropy_diversity([[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]])
    0.5
    """
    is_right = np.asarray(correct)
    if is_right.ndim != 2 or not is_right.size or not np.isin(is_right, (0, 1)).all():
        raise ValueError(
            "correct must be true or false for each member and row (two axes, none of them empty), "
            f"received {is_right.dtype} values of shape {is_right.shape}."
        )
    n_members = len(is_right)
    if n_members == 1:
        return 0.0
    n_right = is_right.astype(bool).sum(axis=0)
    return float(np.minimum(n_right, n_members - n_right).mean() / (n_members // 2))


def majority_accuracy(n_members: int, accuracy: float) -> float:
    """Return how often most of the members are right, if they err independently.

        P = sum over m > K / 2 of (K over m) a^m (1 - a)^(K - m)

    It is the accuracy of the vote for two classes. A tie in an even committee counts as wrong.

    Parameters
    ----------
    n_members : int
        K, at least 1.
    accuracy : float
        The accuracy a of each member.

    Returns
    -------
    float

    References
    ----------
    Y. Yaslan, Z. Cataltepe. Selection of relevant and non-redundant feature subspaces for
    co-training, equation 4; after L. I. Kuncheva (2004). Combining pattern classifiers. Wiley.

    Examples
    --------
    >>> round(majority_accuracy(5, 0.6), 5)
    0.68256
    """
    if n_members < 1:
        raise ValueError(f"n_members must be at least 1, received {n_members!r}.")
    if not 0 <= accuracy <= 1:
        raise ValueError(f"accuracy must lie between 0 and 1, received {accuracy!r}.")
    return float(bdtrc(n_members // 2, n_members, accuracy))
