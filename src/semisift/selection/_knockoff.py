"""The knockoff rule: a column must beat a made-up permuted feature that has the same correlations.

All rows, labelled and unlabelled, are described by a normal distribution with their mean and
covariance. A knockoff of a column is drawn from it so that column and knockoff could be exchanged
without changing the joint distribution of all columns, but given the columns it does not depend on
the labels. Columns and knockoffs are scored together, and W is the score of a column minus that of
its knockoff: for a useless column its sign is a coin flip. A column is significant if W >= T, with

    T = min{t > 0: (1 + number of W <= -t) / max(1, number of W >= t) <= q},      q = .1

which bounds the expected share of useless columns among the significant ones by q (knockoff+), as
far as the normal distribution holds. Suggestive columns are those of the same rule without the 1.

Real columns are not normal, and their covariance is estimated; of columns that go together, many
may then beat their knockoffs by the same accident. So the number of significant columns is compared
with the numbers under labels that tell nothing, with the same knockoffs: unless it exceeds them in
all but .025 of the repetitions, nothing is significant. Without any column that matters, the chance
to confirm one is thus at most .025, whatever the distribution. Knockoffs are drawn row by row, also
where rows belong together: that the comparison permutes labels between groups is what bounds that
chance then, and the share q is not bounded.

In correlations, with equal s for all columns (equicorrelated), C the correlation matrix:

    s = min(1, 2 smallest eigenvalue of C),    knockoffs ~ N(Z - s Z C^-1, 2 s I - s^2 C^-1)

C is shrunk (Ledoit-Wolf) where there are more columns than half the rows. Shuffled columns are no
valid knockoffs, since they have lost the correlations with the other columns.

E. Candès, Y. Fan, L. Janson, J. Lv (2018). Panning for gold: model-X knockoffs. Journal of the
Royal Statistical Society B 80(3). O. Ledoit, M. Wolf (2004). A well-conditioned estimator for
large-dimensional covariance matrices. Journal of Multivariate Analysis 88(2).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.covariance import ledoit_wolf_shrinkage

from semisift.base._decisions import decide
from semisift.base._training_data import TrainingData
from semisift.parallel import one_blas_thread
from semisift.selection._permutation import Draw, PermutationPlan, permuted_labels, plan_permutation
from semisift.selection._refit import (
    LABEL_STREAM,
    MAX,
    MaxStatisticTest,
    Scorer,
    is_significant,
    parallel_map,
    seed_of,
    seeds_of,
    with_columns,
)
from semisift.utils._typing import Floats

if TYPE_CHECKING:
    from semisift.base._ranker import FeatureRanker

KNOCKOFF_STREAM = 0x6B6E6F

Q = 0.1


@dataclass(frozen=True, eq=False)
class KnockoffCutoff:
    """What the knockoff rule measured.

    Attributes
    ----------
    W : float array of shape (p,)
        Score of each column minus that of its knockoff.
    threshold : float
        The lowest W that confirms a column; infinity where none does.
    label_p_value : float or None
        Of the number of significant columns, against labels that tell nothing. None where there are
        none, and for methods that do not learn from labels.
    error : str
        What is bounded.
    """

    W: Floats
    threshold: float
    label_p_value: float | None
    error: str = "the expected share of useless features among the significant ones is at most .1"
    rule: ClassVar[str] = "knockoff"


def knockoff_threshold(W: Floats, q: float, offset: int = 1) -> float:
    """Return the lowest W to select; infinity where nothing can be.

    q is the share of useless columns among the selected to aim at; an offset of 1 is knockoff+,
    which bounds that share, and one of 0 selects no fewer.

    Examples
    --------
    >>> W = np.array([5, 4.2, 3.9, 3.1, 2.8, 2.2, -1.5, 1.2, -0.7, 0.4])
    >>> knockoff_threshold(W, 0.2), knockoff_threshold(W, 0.2, offset=0)
    (2.2, 1.2)
    """
    sizes = np.unique(np.abs(W[W != 0]))
    ordered = np.sort(W)
    n_above = len(W) - np.searchsorted(ordered, sizes, side="left")
    n_below = np.searchsorted(ordered, -sizes, side="right")
    enough = np.flatnonzero((offset + n_below) <= q * np.maximum(1, n_above) + 1e-12)
    return float(sizes[enough[0]]) if len(enough) else float("inf")


@one_blas_thread()
def gaussian_knockoffs(X: NDArray[np.floating], seed: int) -> Floats:
    """Draw knockoffs of all columns from a normal distribution with the moments of the rows.

    The cost is O(n p min(n, p)), besides O(n p^2) for the shrinkage: no matrix of all pairs of
    columns is held where there are more columns than rows.

    The columns of the result are Fortran-ordered; constant ones are their own knockoffs.
    """
    n, p = X.shape
    X = np.asarray(X, dtype=np.float64)
    unit = np.maximum(np.abs(X).max(axis=0), np.finfo(np.float64).tiny)
    mean = (X / unit).mean(axis=0)
    Z = X / unit - mean
    spread = Z.std(axis=0)
    varies = spread > 1e-12
    Z[:, varies] /= spread[varies]
    Z[:, ~varies] = 0.0
    shrinkage = ledoit_wolf_shrinkage(Z, assume_centered=True) if 2 * p > n else 0.0
    eigenvalues, vectors, rest = _correlations(Z, shrinkage)
    s = min(1.0, 2 * float(min(eigenvalues.min(), rest)))
    noise = np.random.default_rng(seed).standard_normal((n, p))
    if s <= 1e-10:  # some columns determine another one, which can only be its own knockoff
        return np.asfortranarray(X)
    # Along each eigenvector: the mean of Z shrinks, and the noise has what is left of its variance.
    along = np.sqrt(np.maximum(2 * s - s**2 / eigenvalues, 0.0))
    elsewhere = np.sqrt(max(2 * s - s**2 / rest, 0.0)) if np.isfinite(rest) else 0.0
    turned = (noise @ vectors) * (along - elsewhere) - (Z @ vectors) * (s / eigenvalues)
    made = (Z + elsewhere * noise + turned @ vectors.T) * spread + mean
    return np.asfortranarray(np.where(varies, made * unit, X))


def _correlations(Z: Floats, shrinkage: float) -> tuple[Floats, Floats, float]:
    """Return the eigenvalues and eigenvectors of the shrunk correlations, and the other eigenvalue.

    With fewer rows than columns all eigenvectors that are not returned have that eigenvalue.
    """
    n, p = Z.shape
    if n > p:
        values, vectors = np.linalg.eigh(Z.T @ Z / n)
        return (1 - shrinkage) * np.maximum(values, 0.0) + shrinkage, vectors, np.inf
    _, singular, vectors = np.linalg.svd(Z, full_matrices=False)
    kept = singular > 1e-10 * max(singular[0], 1e-300)
    values = (1 - shrinkage) * singular[kept] ** 2 / n + shrinkage
    return values, vectors[kept].T, shrinkage


def decide_by_knockoffs(
    ranker: "FeatureRanker", data: TrainingData, steps: Iterator[int]
) -> tuple[NDArray[np.str_], KnockoffCutoff]:
    """Decide on each column; parameters and results as of `decide_by_shadows`."""
    scorer = Scorer(ranker)
    seed = seed_of(data.seed, KNOCKOFF_STREAM, 0)
    # Dense: what is made up from all columns has no zeros.
    X = np.asfortranarray(data.X.toarray()) if data.is_sparse else data.X
    dense = replace(data, X=X, seed=seed, feature_names=None, graph_source=None, full=None)
    # Knockoffs count for the graph as columns do, or the two could not be exchanged.
    both = with_columns(dense, gaussian_knockoffs(X, seed), seed, own_graph=True)
    next(steps, None)
    W = differences(scorer.fresh(), both)
    threshold, p_value = knockoff_threshold(W, Q), None
    if np.isfinite(threshold) and scorer.learns_from_labels(data):
        p_value = _p_value_of_number(scorer, both, int((threshold <= W).sum()), steps)
    can_confirm = p_value is None or is_significant(p_value)
    decisions = decide((threshold <= W) & can_confirm, knockoff_threshold(W, Q, offset=0) <= W)
    return decisions, KnockoffCutoff(W, threshold, p_value)


def differences(scorer: Scorer, both: TrainingData) -> Floats:
    """Return W: the scores of the columns in the first half minus those of their knockoffs.

    Infinite scores are put just outside the finite ones.
    """
    scores = scorer.scores(both)
    finite = scores[np.isfinite(scores)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    own, others = np.split(np.clip(scores, low, high + max(high - low, 1.0)), 2)
    return np.where(both.constant[: len(own)], 0.0, own - others)


def _p_value_of_number(
    scorer: Scorer, both: TrainingData, n_kept: int, steps: Iterator[int]
) -> float:
    """Return the p-value of the number of columns kept, against permuted labels."""
    test = MaxStatisticTest(1)
    both, plan = plan_permutation(both)
    draws = plan.draws(seeds_of(steps, MAX, both.seed, LABEL_STREAM))
    for n in parallel_map(_count_by_chance, draws, both, scorer, plan, n_jobs=scorer.n_jobs):
        test.add(np.array([float(n_kept)]), np.array([float(n)]))
        if test.is_over():
            break
    return max(float(test.p_values[0]), plan.least_p_value)


def _count_by_chance(draw: Draw, both: TrainingData, scorer: Scorer, plan: PermutationPlan) -> int:
    """Return how many columns are kept under permuted labels."""
    W = differences(scorer.fresh(), permuted_labels(both, draw, plan))
    return int((knockoff_threshold(W, Q) <= W).sum())
