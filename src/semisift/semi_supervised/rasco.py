"""RASCO, Rel-RASCO and Prob-MRMR: co-training in many subspaces.

J. Wang, S. Luo, X. Zeng (2008). A random subspace method for co-training. IJCNN.

Y. Yaslan, Z. Cataltepe. Selection of relevant and non-redundant feature subspaces for co-training.

    draw K subspaces of m columns
    repeat:
        train a classifier C_k on the labelled rows in each subspace
        label the unlabelled rows by C = (1/K) sum_k C_k
        add the surest row of each class to the labelled ones
    predict by a vote of the classifiers

The subspaces are drawn once, from what is labelled at the beginning: at random (RASCO), columns in
proportion to their mutual information with the class (Rel-RASCO), or in proportion to that minus
their mean mutual information with the columns drawn before (Prob-MRMR).

What is a reading: the number of iterations, which the papers leave open; a row belongs to the class
with the largest mean probability, and a class that is the first choice for no row gets none;
equally sure rows stand in a seeded random order; subspaces have no column twice; the bins, five of
equal width; Prob-MRMR's negative scores count as 0.
"""

from typing import Any, ClassVar, Literal

from semisift.base._training_data import TrainingData
from semisift.committee._bootstrap import Int32s
from semisift.ensemble._random_subspaces import Kind, draw_subspaces
from semisift.parallel import features_to_draw
from semisift.semi_supervised._subspace_loop import SubspaceClassifier
from semisift.semi_supervised._team import NUMBER_OR_SHARE
from semisift.utils._sklearn_compat import MAX_MEMBERS, StrOptions, at_least

SUBSPACE_SIZE = 25


class RASCO(SubspaceClassifier):
    """Co-training in random subspaces.

    A classifier is trained in each of K random subspaces. In every iteration their class
    probabilities for the unlabelled rows are averaged, the surest row of each class is added to the
    labelled ones with that class, and all are trained again. Cost: K fits and K predictions of the
    unlabelled rows in each iteration; with k nearest neighbours, one distance for each subspace and
    pair of rows in all.

    Parameters
    ----------
    estimator : classifier, default=None
        Any scikit-learn classifier; None is 3 nearest neighbours, as in the papers. One without
        `predict_proba` is certain of what it predicts. `KNeighborsClassifier` with uniform weights
        and Euclidean distances is never fitted again, with the same results (see Notes).
    n_members : int, default=25
        K.
    max_features : int, float or "auto", default="auto"
        m, columns of a subspace: a number (all, if there are fewer), or a share. "auto" is 25, the
        papers' number, or half of the columns if these are fewer than 50: subspaces that are all
        the same would be one classifier.
    max_iter : int or None, default=10
        Iterations; None goes on until all rows are labelled. The papers do not give a number.
    voting : {"soft", "hard"}, default="soft"
        How predictions are put together at the end: by the mean of the probabilities or, as in the
        papers, by a majority of the predicted classes. Rows are always added by the mean.
    {n_jobs}
    random_state : int or RandomState instance, default=None
        Seed of the subspaces, of the order of equally sure rows and of the random states of the
        estimator. None is a fixed seed.

    Attributes
    ----------
    {classes_}
    subspaces_ : ndarray of shape (n_members, m)
        The columns of each subspace.
    {transduction_}
    {labeled_iter_}
    n_iter_ : int
        Iterations.
    termination_condition_ : {"max_iter", "all_labeled"}
        Why the loop ended.
    {n_features_in_}
    {feature_names_in_}

    Notes
    -----
    Nearest neighbours are those of scikit-learn's search by brute force. Where rows are equally
    far, as with whole numbers, its trees (up to 15 columns) may choose others.

    References
    ----------
    J. Wang, S. Luo, X. Zeng (2008). A random subspace method for co-training. IJCNN.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from semisift import RASCO
    >>> X, y = load_digits(return_X_y=True)
    >>> few_labels = np.where(np.arange(len(y)) < 50, y, -1)
    >>> model = RASCO(max_iter=30, random_state=0).fit(X[:900], few_labels[:900])
    >>> round(model.score(X[900:], y[900:]), 3)
    0.827
    >>> diagnosis = model.evaluate_committee(X[900:], y[900:])
    >>> round(diagnosis.begin.accuracy, 3), round(diagnosis.end.accuracy, 3)
    (0.814, 0.827)
    """

    _kind: ClassVar[Kind] = "random"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SubspaceClassifier._parameter_constraints,
        "n_members": [at_least(1, MAX_MEMBERS)],
        "max_features": [StrOptions({"auto"}), *NUMBER_OR_SHARE],
        "voting": [StrOptions({"soft", "hard"})],
    }

    n_members: int = 25
    max_features: int | float | Literal["auto"] = "auto"
    voting: Literal["soft", "hard"] = "soft"

    def _draw(self, data: TrainingData) -> Int32s:
        p = data.n_features
        is_auto = self.max_features == "auto"
        size = (
            min(SUBSPACE_SIZE, (p + 1) // 2) if is_auto else features_to_draw(self.max_features, p)
        )
        self.subspaces_ = draw_subspaces(
            self._kind, data.X, data.labels, data.seed, int(self.n_members), size
        )
        return self.subspaces_


class RelRASCO(RASCO):
    """Co-training in random subspaces of relevant columns.

    As `RASCO`, which has the parameters and attributes, but columns are drawn with probabilities
    proportional to their mutual information with the class on the labelled rows, without
    replacement. Where fewer columns than needed have any, the others are drawn at random.

    References
    ----------
    Y. Yaslan, Z. Cataltepe (2010). Co-training with relevant random subspaces. Neurocomputing
    73(10-12).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from semisift import RelRASCO
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few_labels = np.where(np.arange(len(y)) % 20 == 0, y, -1)
    >>> model = RelRASCO(random_state=0).fit(X[:300], few_labels[:300])
    >>> round(model.score(X[300:], y[300:]), 3)
    0.903
    """

    _kind = "relevant"


class ProbMRMR(RASCO):
    """Co-training in random subspaces of relevant columns that are not redundant.

    As `RASCO`, which has the parameters and attributes, but the first column of a subspace is drawn
    with a probability proportional to its mutual information with the class, and each further one
    to that minus its mean mutual information with the columns drawn so far, on the labelled rows.
    Where no column is better than its redundancy, one of those left is drawn at random.

    References
    ----------
    Y. Yaslan, Z. Cataltepe. Selection of relevant and non-redundant feature subspaces for
    co-training.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from semisift import ProbMRMR
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few_labels = np.where(np.arange(len(y)) % 20 == 0, y, -1)
    >>> model = ProbMRMR(random_state=0).fit(X[:300], few_labels[:300])
    >>> round(model.score(X[300:], y[300:]), 3)
    0.907
    """

    _kind = "probabilistic-mrmr"
