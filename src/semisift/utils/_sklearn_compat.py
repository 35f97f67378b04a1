"""The private names of scikit-learn, all of them, so that a new release breaks this file alone.

With them stand what is built from them: the constraints of whole numbers that a user gives, and
what callbacks need to follow a fit.
"""

# ruff: noqa: F401  (names for the other modules)

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from numbers import Integral
from typing import Any, TypeVar

from sklearn.base import _fit_context
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import (
    HasMethods,
    RealNotInt,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils._param_validation import Interval as _Interval
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled
from sklearn.utils.validation import _check_feature_names as check_feature_names
from sklearn.utils.validation import _check_method_params as check_method_params
from sklearn.utils.validation import _estimator_has as estimator_has
from sklearn.utils.validation import _get_feature_names as feature_names_of
from sklearn.utils.validation import _num_samples as num_samples

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: there are no callbacks."""


Item = TypeVar("Item")


class Interval(_Interval):
    """The interval of scikit-learn, in which True is no number."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Tell whether a value is a number of the interval."""
        return not isinstance(val, bool) and super().is_satisfied_by(val)


# What compiled code can count; more would overflow long after it was given.
MAX = 2**31 - 1

# A committee of so many takes days and gigabytes: a larger number is a slip of the pen.
MAX_MEMBERS = 1_000_000


def at_least(low: int, most: int = MAX) -> Interval:
    """Return the constraint of a parameter that is a whole number.

    Examples
    --------
    >>> print(at_least(1))
    an int in the range [1, 2147483647]
    """
    return Interval(Integral, low, most, closed="both")


# None is 1 unless a joblib context says otherwise; 0 threads do nothing.
JOBS: list[Any] = [None, at_least(1, 10_000), at_least(-10_000, -1)]


def fit_context(*, prefer_skip_nested_validation: bool) -> Any:
    """Decorate `fit` as scikit-learn does; one that fails leaves the estimator as it was before.

    But for what the estimator says that it keeps, in `_stays_after_failure`: a model of one table
    would answer under the names and the width of another.
    """

    def decorate(method: Callable[..., Any]) -> Any:
        inner = _fit_context(prefer_skip_nested_validation=prefer_skip_nested_validation)(method)

        @wraps(method)
        def fit(estimator: Any, *args: Any, **kwargs: Any) -> Any:
            before = vars(estimator).copy()
            try:
                return inner(estimator, *args, **kwargs)
            except BaseException:
                now = vars(estimator)
                stays = getattr(estimator, "_stays_after_failure", lambda before: ())(before)
                kept = {name: now[name] for name in stays if name in now}
                was = {name: value for name, value in before.items() if name not in stays}
                now.clear()
                now.update(was | kept)
                raise

        return fit

    return decorate


def check_param(estimator: Any, name: str) -> None:
    """Refuse a wrong value of one parameter, as a fit does."""
    constraints = {name: estimator._parameter_constraints[name]}
    validate_parameter_constraints(
        constraints, {name: getattr(estimator, name)}, type(estimator).__name__
    )


def check_params(estimator: Any) -> None:
    """Refuse wrong parameters of an estimator that declares what it takes."""
    if hasattr(estimator, "_parameter_constraints") and not isinstance(estimator, type):
        estimator._validate_params()


class WatchedMixin(CallbackSupportMixin):
    """Mixin of estimators whose `fit`, decorated with `fit_context`, callbacks can follow."""

    @contextmanager
    def _watched(
        self, X: Any, y: Any, n_tasks: int | None, task_name: str = "fit"
    ) -> Iterator[None]:
        """Tell the callbacks when the work begins and, unless it fails, when it ends."""
        if not hasattr(self, "_init_callback_context"):
            yield
            return
        task = self._init_callback_context(task_name=task_name, max_subtasks=n_tasks)
        task.call_on_fit_task_begin(estimator=self, X=X, y=y)
        yield
        task.call_on_fit_task_end(estimator=self, X=X, y=y, reconstruction_attributes={})

    def _progress(self, items: Iterable[Item], name: str) -> Iterator[Item]:
        """Yield `items`, telling the callbacks about each; a callback may end the loop early."""
        # There is no context where another estimator scores a shared Problem with this one.
        context = getattr(self, "_callback_fit_ctx", None)
        for item in items:
            if context is None:
                yield item
                continue
            task = context.subcontext(task_name=name)
            task.call_on_fit_task_begin(estimator=self)
            yield item
            if task.call_on_fit_task_end(estimator=self):
                return

    @contextmanager
    def _watches(self, part: "WatchedMixin") -> Iterator[None]:
        """Let who watches this fit hear of the steps of another estimator."""
        context = getattr(self, "_callback_fit_ctx", None)
        if context is not None:
            part._callback_fit_ctx = context
        try:
            yield
        finally:
            part.__dict__.pop("_callback_fit_ctx", None)
