"""Which judge serves an estimator."""

from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from semisift import kernels
from semisift.math.naive_bayes import NaiveBayes
from semisift.wrappers._judges import EstimatorJudge, Judge
from semisift.wrappers._learner import Learner
from semisift.wrappers._naive_bayes import NaiveBayesJudge
from semisift.wrappers._neighbours import NeighboursJudge
from semisift.wrappers._nnge import NNgeJudge
from semisift.wrappers._trees import TreeJudge
from semisift.wrappers._trials import Trials


def choose_judge(learner: Learner, trials: Trials) -> Judge:
    """Return a judge of all columns at once where there is one for the estimator.

    Parameters
    ----------
    learner : Learner
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
    if kernels.AVAILABLE and hasattr(estimator, "_numeric_options"):  # NNge, likewise
        options = estimator._numeric_options()
        if options is not None:
            return NNgeJudge(trials, *options)
    if type(estimator) is KNeighborsClassifier and _counts_euclidean(estimator):
        return NeighboursJudge(trials, estimator.n_neighbors)
    if type(estimator) is DecisionTreeClassifier and kernels.AVAILABLE and _is_plain(estimator):
        return TreeJudge(trials, estimator.max_depth)
    return EstimatorJudge(trials, learner)


def _counts_euclidean(estimator: KNeighborsClassifier) -> bool:
    euclidean = estimator.metric == "euclidean" or (
        estimator.metric == "minkowski" and estimator.p == 2
    )
    return euclidean and estimator.weights == "uniform" and not estimator.metric_params


def _is_plain(estimator: DecisionTreeClassifier) -> bool:
    """Whether all but the depth is as by default."""
    plain = DecisionTreeClassifier().get_params()
    given = estimator.get_params()
    return all(given[name] == plain[name] for name in plain.keys() - {"max_depth", "random_state"})
