"""WrappedLearner: the wrapped estimator, ready to be fitted on some columns again and again."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from semisift._committee.permutation import Constant
from semisift._sklearn import check_params
from semisift.math.streams import Purpose, draw_below


class WrappedLearner:
    """An estimator that is cloned once and fitted many times, on class codes.

    Random states that are not fixed are fixed by the seed. A parameter ``categorical`` that is a
    mask of all columns is cut down to the columns at hand, and the number of neighbours to the
    rows.

    Parameters
    ----------
    estimator : classifier or None
        None is a GaussianNB.
    n_features : int
        Number of columns of X.
    seed : int

    Attributes
    ----------
    estimator : classifier
        Not fitted.
    """

    def __init__(self, estimator: Any, n_features: int, seed: int) -> None:
        if estimator is None:
            estimator = GaussianNB()
        if not is_classifier(estimator):
            raise ValueError(f"estimator must be a classifier: got {estimator!r}.")
        self.estimator = clone(estimator)
        _validate(self.estimator)
        _fix_random_states(self.estimator, seed)
        self._categorical = _mask(self.estimator, n_features)
        self._fitted = clone(self.estimator)

    def fit(self, X: NDArray[np.float64], codes: NDArray[np.int64], columns: Any) -> Any:
        """Fit on rows of some columns; the next fit may overwrite what is returned.

        Parameters
        ----------
        X : array of shape (n, number of columns)
        codes : int array of shape (n,)
        columns : int array
            Which columns of the whole X these are.

        Returns
        -------
        A fitted classifier, whose classes are codes; a constant where there is one class.
        """
        if (codes == codes[0]).all():
            return Constant(int(codes[0]))
        if getattr(self.estimator, "warm_start", False):
            self._fitted = clone(self.estimator)
        if self._categorical is not None:
            self._fitted.categorical = self._categorical[columns]
        if isinstance(self.estimator, KNeighborsClassifier):
            self._fitted.n_neighbors = min(self.estimator.n_neighbors, len(X))
        return self._fitted.fit(X, codes)


def _validate(estimator: Any) -> None:
    """Validate the parameters, also of nested estimators, which later fits need not do again."""
    for part in [estimator, *estimator.get_params().values()]:
        check_params(part)


def _fix_random_states(estimator: Any, seed: int) -> None:
    """Set random states that are None or generators to numbers, so that every fit is the same."""
    free = [
        name
        for name, value in sorted(estimator.get_params().items())
        if (name == "random_state" or name.endswith("__random_state"))
        and not isinstance(value, (int, np.integer))
    ]
    states = draw_below(seed, 0, Purpose.NODE_SUBSPACE, np.arange(len(free)), 2**31 - 1)
    estimator.set_params(**dict(zip(free, states.tolist(), strict=True)))


def _mask(estimator: Any, n_features: int) -> NDArray[np.bool_] | None:
    """Return the mask of categorical columns where the estimator has one."""
    mask = getattr(estimator, "categorical", None)
    if mask is None or isinstance(mask, str):
        return None
    mask = np.asarray(mask)
    if mask.dtype != bool or mask.shape != (n_features,):
        raise ValueError(
            "categorical of the estimator must be a mask with one bool for each of the "
            f"{n_features} columns of X: got an array of dtype {mask.dtype} and shape {mask.shape}."
        )
    return mask
