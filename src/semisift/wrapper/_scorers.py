"""Which judge serves an estimator.

An estimator may offer a method ``_batch_model(n_features)`` to be judged for all columns at once,
without this room knowing it: it returns a key of `JUDGES` and a tuple of what that judge takes
besides the trials, or None to be fitted for each column. MixedNB and NNge have it.
"""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from semisift import _kernels
from semisift.utils._naive_bayes import NaiveBayes
from semisift.wrapper._candidate_scorers import EstimatorJudge, Judge, WrappedLearner
from semisift.wrapper._linear import LinearJudge, Logistic, Ridge
from semisift.wrapper._naive_bayes import NaiveBayesJudge
from semisift.wrapper._neighbors import NeighboursJudge, NNgeJudge
from semisift.wrapper._trees import TreeJudge
from semisift.wrapper._trials import Trials

JUDGES: dict[str, Any] = {
    "naive Bayes": NaiveBayesJudge,
    "neighbours": NeighboursJudge,
    "linear": LinearJudge,
    "NNge": NNgeJudge,
    "tree": TreeJudge,
}
# Those that need the compiled kernels.
COMPILED = {"NNge", "tree"}


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
    estimator, one_by_one = learner.estimator, EstimatorJudge(trials, learner)
    if hasattr(estimator, "_batch_model"):
        model = estimator._batch_model(trials.n_features)
    else:
        model = _known_model(estimator, one_by_one)
    if model is None or (model[0] in COMPILED and not _kernels.are_compiled()):
        return one_by_one
    return JUDGES[model[0]](trials, *model[1])


def _known_model(estimator: Any, for_large: Judge) -> tuple[str, tuple[Any, ...]] | None:
    """Return what ``_batch_model`` would, for estimators of scikit-learn."""
    kind = type(estimator)
    if kind is GaussianNB and estimator.priors is None:
        return "naive Bayes", (NaiveBayes(estimator.var_smoothing),)
    if kind is KNeighborsClassifier and _counts_euclidean(estimator):
        return "neighbours", (estimator.n_neighbors,)
    if kind is DecisionTreeClassifier and _is_plain(estimator, {"max_depth"}):
        return "tree", (estimator.max_depth,)
    if kind is RidgeClassifier and _is_exact(estimator):
        return "linear", (Ridge, None, estimator.alpha, estimator.fit_intercept)
    if kind is LogisticRegression and _converges(estimator):
        return "linear", (Logistic, for_large, 1.0 / estimator.C, estimator.fit_intercept)
    return None


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
