"""Which judge serves an estimator."""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from semisift import kernels
from semisift.math.naive_bayes import NaiveBayes
from semisift.wrappers._judges import EstimatorJudge, Judge
from semisift.wrappers._learner import WrappedLearner
from semisift.wrappers._linear import LinearJudge, Logistic, Ridge
from semisift.wrappers._naive_bayes import NaiveBayesJudge
from semisift.wrappers._neighbours import NeighboursJudge, NNgeJudge
from semisift.wrappers._trees import TreeJudge
from semisift.wrappers._trials import Trials


def choose_judge(learner: WrappedLearner, trials: Trials) -> Judge:
    """Return a judge of all columns at once where there is one for the estimator.

    Parameters
    ----------
    learner : WrappedLearner
    trials : Trials

    Returns
    -------
    Judge
    """
    estimator = learner.estimator
    if type(estimator) is GaussianNB and estimator.priors is None:
        return NaiveBayesJudge(trials, NaiveBayes(estimator.var_smoothing))
    if hasattr(estimator, "_naive_bayes"):  # MixedNB, which this room may not import
        return NaiveBayesJudge(trials, estimator._naive_bayes(trials.n_features))
    if kernels.are_compiled() and hasattr(estimator, "_numeric_options"):  # NNge, likewise
        options = estimator._numeric_options()
        if options is not None:
            return NNgeJudge(trials, *options)
    if type(estimator) is KNeighborsClassifier and _counts_euclidean(estimator):
        return NeighboursJudge(trials, estimator.n_neighbors)
    if (
        type(estimator) is DecisionTreeClassifier
        and kernels.are_compiled()
        and _is_plain(estimator, {"max_depth"})
    ):
        return TreeJudge(trials, estimator.max_depth)
    one_by_one = EstimatorJudge(trials, learner)
    if type(estimator) is RidgeClassifier and _is_exact(estimator):
        return LinearJudge(trials, Ridge, estimator.alpha, estimator.fit_intercept)
    if type(estimator) is LogisticRegression and _converges(estimator):
        penalty = 1.0 / estimator.C
        return LinearJudge(trials, Logistic, penalty, estimator.fit_intercept, one_by_one)
    return one_by_one


def _counts_euclidean(estimator: KNeighborsClassifier) -> bool:
    euclidean = estimator.metric == "euclidean" or (
        estimator.metric == "minkowski" and estimator.p == 2
    )
    return euclidean and estimator.weights == "uniform" and not estimator.metric_params


def _is_plain(estimator: Any, but: set[str]) -> bool:
    """Whether all parameters but some are as by default; random states do not matter."""
    plain = type(estimator)().get_params()
    given = estimator.get_params()
    return all(given[name] == plain[name] for name in plain.keys() - but - {"random_state"})


def _is_exact(estimator: RidgeClassifier) -> bool:
    """Whether the weights are found in closed form, and unique."""
    free = {"alpha", "fit_intercept", "copy_X", "max_iter", "tol", "solver"}
    is_direct = estimator.solver in ("auto", "cholesky", "svd") and _is_plain(estimator, free)
    return is_direct and bool(np.isscalar(estimator.alpha)) and estimator.alpha > 0


def _converges(estimator: LogisticRegression) -> bool:
    """Whether the solver is L-BFGS, not stopped early, and the weights are unique."""
    free = {"C", "tol", "fit_intercept", "max_iter"}
    in_time = estimator.max_iter >= LogisticRegression().max_iter
    return in_time and bool(np.isfinite(estimator.C)) and _is_plain(estimator, free)
