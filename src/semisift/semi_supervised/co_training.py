"""CoTraining: two classifiers that label rows for each other, each from its own columns.

A. Blum, T. Mitchell (1998). Combining labeled and unlabeled data with co-training. COLT.

    draw a pool of u unlabelled rows
    repeat:
        train a classifier on the labelled rows in each of the two views
        each picks from the pool the n_c rows of every class c that it is surest about
        add both picks to the labelled rows, and fill up the pool

What is a reading: n_c, which is 1 and 3 for the two classes of the paper, is here the share of
class c among the labelled rows, in units of the smallest class; where both pick a row with
different classes, the surer one decides, and if they are equally sure the row stays in the pool;
and the two are put together by the mean of their probabilities.
"""

from typing import Any, ClassVar, Literal

import numpy as np

from semisift.base._training_data import TrainingData
from semisift.parallel import Committee
from semisift.semi_supervised._subspace_loop import (
    EstimatorTrainer,
    Picks,
    SubspaceClassifier,
    Trainer,
    pick,
    rounded,
)
from semisift.utils._random import Purpose, stream_words
from semisift.utils._sklearn_compat import StrOptions, at_least
from semisift.utils._text import format_value
from semisift.utils._typing import Floats, Ints

# Separates the order in which rows enter the pool from other draws with the same seed.
POOL_MEMBER = 0x706F6F6C


class CoTraining(SubspaceClassifier):
    """Two classifiers that see different columns and label rows for each other.

    In every iteration each of the two picks the rows of a small random pool that it is surest
    about, some of each class, and both learn from what either has picked. Cost: two fits and
    predictions of the pool in each iteration.

    Parameters
    ----------
    estimator : classifier, default=None
        Any scikit-learn classifier; None is 3 nearest neighbours.
    views : pair of array-like of int, default=None
        The columns of the two views. None splits the columns into random halves: the papers then
        take the mean over several splits, that is over `random_state`.
    pool_size : int or None, default=75
        Unlabelled rows from which is picked; None is all of them.
    max_iter : int or None, default=30
        Iterations; None goes on until all rows are labelled or nothing is added.
    voting : {"soft", "hard"}, default="soft"
        How predictions are put together at the end: by the mean of the probabilities, or by the
        two predicted classes, of which the first one is taken where they differ.
    {n_jobs}
    random_state : int or RandomState instance, default=None
        Seed of the views, of the pool, of the order of equally sure rows and of the random states
        of the estimator. None is a fixed seed.

    Attributes
    ----------
    {classes_}
    views_ : list of two ndarray
        The columns of the two views.
    n_per_class_ : ndarray of shape (n_classes,)
        Rows of each class that either picks in an iteration.
    {transduction_}
    {labeled_iter_}
    {n_iter_}
    {termination_condition_}
    {n_features_in_}
    {feature_names_in_}

    References
    ----------
    A. Blum, T. Mitchell (1998). Combining labeled and unlabeled data with co-training. COLT.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from semisift import CoTraining
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few_labels = np.where(np.arange(len(y)) % 20 == 0, y, -1)
    >>> model = CoTraining(GaussianNB(), random_state=0).fit(X[:300], few_labels[:300])
    >>> model.n_per_class_
    array([1, 2])
    >>> round(model.score(X[300:], y[300:]), 3)
    0.948
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SubspaceClassifier._parameter_constraints,
        "views": [None, "array-like", tuple],
        "pool_size": [None, at_least(1)],
        "voting": [StrOptions({"soft", "hard"})],
    }

    views: Any = None
    pool_size: int | None = 75
    max_iter: int | None = 30
    voting: Literal["soft", "hard"] = "soft"

    def _draw(self, data: TrainingData) -> list[Ints]:
        counts, p = data.labels.counts, data.n_features
        self.n_per_class_ = np.maximum(1, np.rint(counts / counts.min())).astype(np.int64)
        order = np.argsort(stream_words(data.seed, 0, Purpose.SUBSPACE, np.arange(p)))
        # of a single column there are no halves: both see it
        halves: list[Ints] = [order[: max(1, p // 2)], order[p // 2 :]]
        self.views_ = halves if self.views is None else check_views(self.views, p)
        return self.views_

    def _trainer(
        self, data: TrainingData, subspaces: Any, estimator: Any, committee: Committee
    ) -> Trainer:
        trainer = EstimatorTrainer(data, subspaces, estimator, committee)
        trainer.rows = shuffled(trainer.rows, data.seed)
        return trainer

    def _pick(self, trainer: EstimatorTrainer, seed: int, n_iter: int) -> Picks:
        # rows stand in the order in which they enter the pool, and those that leave make room
        pool = trainer.rows[: self.pool_size]
        shares = rounded(trainer.predict_each(pool))
        one, other = (pick(own, pool, seed, n_iter, self.n_per_class_) for own in shares)
        return merge_picks(one, other, shares.max(axis=2))


def merge_picks(one: Picks, other: Picks, sureness: Floats) -> Picks:
    """Put two picks together; where they disagree about a row the surer one is right.

    Parameters
    ----------
    one, other : pairs of int arrays
        Places in the pool, and classes.
    sureness : array of shape (2, n_pool)
        Of either about each row.

    Returns
    -------
    places : int array
        Ascending, without rows about which both are equally sure and disagree.
    codes : int array
    """
    n_pool = sureness.shape[1]
    given = np.full((2, n_pool), -1, dtype=np.intp)
    for mine, (places, codes) in zip(given, (one, other), strict=True):
        mine[places] = codes
    clash = (given >= 0).all(axis=0) & (given[0] != given[1])
    resolved = given.max(axis=0)
    surer = given[sureness.argmax(axis=0), np.arange(n_pool)]
    resolved[clash] = np.where(sureness[0] == sureness[1], -1, surer)[clash]
    chosen = np.flatnonzero(resolved >= 0)
    return chosen, resolved[chosen]


def shuffled(rows: Ints, seed: int) -> Ints:
    """Return rows in the random order in which they enter the pool."""
    return rows[np.argsort(stream_words(seed, POOL_MEMBER, Purpose.UNLABELLED_BAG, rows))]


def check_views(views: Any, n_features: int) -> list[Ints]:
    """Return two views as arrays, or say what is wrong with them."""
    columns = [np.asarray(view) for view in views]
    if len(columns) != 2:
        raise ValueError(f"views must be two lists of columns: got {len(columns)}.")
    for view in columns:
        is_list = view.ndim == 1 and view.dtype.kind in "iu" and len(view) > 0
        if not (is_list and len(set(view) & set(range(n_features))) == len(view)):
            raise ValueError(
                "views must hold column numbers, each once in a view, from 0 to "
                f"{n_features - 1}: got {format_value(view.tolist())}."
            )
    return columns
