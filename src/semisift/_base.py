"""FeatureRanker: what every ranker does around its score.

A ranker declares `labels_needed` and `_parameter_constraints` and implements one method,
``_score(problem)``. The base validates, builds the `Problem`, ranks the scores and selects.
"""

import importlib
import os
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, _fit_context
from sklearn.callback import CallbackSupportMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, estimator_html_repr
from sklearn.utils._param_validation import Interval, RealNotInt
from sklearn.utils.validation import check_is_fitted, validate_data

from semisift._labels import Labels
from semisift._problem import Problem
from semisift._warnings import warn
from semisift.exceptions import NothingUnlabelledWarning
from semisift.math.redundancy import put_copies_last

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Item = TypeVar("Item")

# Separates the draw that orders ties from the draws a method makes with the same seed.
TIE_STREAM = 0x7469


class FeatureRanker(SelectorMixin, CallbackSupportMixin, BaseEstimator):
    """Base class of all rankers: score the columns, rank them and select the best.

    Subclasses implement ``_score(problem)`` and may set further attributes in it.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many columns to select: a number, or a share in (0, 1]. None selects half.
    redundancy_threshold : float, default=None
        In (0, 1). Columns whose absolute correlation with a better one exceeds it, over labelled
        and unlabelled rows together, are ranked behind all others. None ranks by score alone.
    random_state : int or RandomState instance, default=None
        Seed of the method and of the order of ties. None is a fixed seed: fitting twice gives the
        same ranking.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Score of each column, higher is better; NaN for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each column, 1 is best: a permutation in which NaN scores come last and ties stand
        in a seeded random order. A redundancy threshold changes it, not the scores.
    represented_by_ : ndarray of shape (n_features_in_,)
        For each column, the column that stands for it: the kept one that a near-copy resembles
        most, else itself. With a redundancy threshold only.
    classes_ : ndarray of shape (n_classes,)
        The classes of the labelled rows, where there are any.
    n_features_in_ : int
        Number of columns seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, where X has string column names.
    """

    labels_needed: ClassVar[Literal["none", "optional", "two_classes"]] = "optional"
    labels_rows: ClassVar[bool] = False  # whether fit sets transduction_ and confidence_

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [
            None,
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
        ],
        "redundancy_threshold": [None, Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | float | None = None,
        redundancy_threshold: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.redundancy_threshold = redundancy_threshold
        self.random_state = random_state

    # _fit_context also tears the callbacks down, as sklearn.callback.with_callbacks does.
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Score and rank the columns of `X`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All rows, labelled and unlabelled.
        y : array-like of shape (n_samples,), default=None
            Labels; -1, None and NaN mark unlabelled rows.

        Returns
        -------
        self : object
            The fitted ranker.
        """
        return self._fit(X, y, self._build_problem(X, y))

    def _fit(self, X: Any, y: Any, problem: Problem) -> Self:
        self._count_to_select(problem.n_features)
        self._check_labels(problem)
        task = self._init_callback_context(max_subtasks=self._n_tasks(problem))
        task.call_on_fit_task_begin(estimator=self, X=X, y=y)
        self._set_ranking(problem, self._score(problem))
        task.call_on_fit_task_end(estimator=self, X=X, y=y, reconstruction_attributes={})
        return self

    def _set_ranking(self, problem: Problem, scores: NDArray[np.floating]) -> None:
        """Set what every ranker has after a fit, from the scores of the columns."""
        self.scores_ = np.array(scores, dtype=np.float64)
        self.scores_[problem.constant] = np.nan
        self.ranking_ = rank(self.scores_, problem.seed, self._tie_key(problem))
        self._put_copies_last(problem)
        if problem.labels.n_classes:
            self.classes_ = problem.labels.classes
        else:
            self.__dict__.pop("classes_", None)  # of an earlier fit

    @abstractmethod
    def _score(self, problem: Problem) -> NDArray[np.floating]:
        """Return one score for each column, higher is better; all randomness from its seed."""

    def _tie_key(self, problem: Problem) -> NDArray[np.floating] | None:
        """Return what orders columns of equal score, higher first; None leaves it to chance."""
        return None

    def _put_copies_last(self, problem: Problem) -> None:
        """Let the redundancy rule change the ranking."""
        self.__dict__.pop("represented_by_", None)  # of an earlier fit
        threshold = getattr(self, "redundancy_threshold", None)
        if threshold is not None:
            asked = self.n_features_to_select is not None
            self.ranking_, self.represented_by_ = put_copies_last(
                problem.X,
                self.ranking_,
                ~np.isnan(self.scores_),
                threshold,
                self._count_to_select(problem.n_features) if asked else 0,
            )

    def _n_tasks(self, problem: Problem) -> int | None:
        """Return how many items `_score` will pass through `_progress`; None if unknown."""
        return 0

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

    def _build_problem(self, X: Any, y: Any, **pairs: Any) -> Problem:
        _refuse_lost_on_conversion(X)
        has_pairs = any(part is not None for part in pairs.values())
        X = validate_data(
            self,
            X,
            # y is only checked for presence: scikit-learn refuses missing labels.
            y=None if y is None and not has_pairs else "no_validation",
            accept_sparse=["csc", "csr"],
            dtype=None,
            ensure_all_finite=False,
        )
        return Problem.build(
            X,
            None if self.labels_needed == "none" else y,
            seed=_seed(self.random_state),
            feature_names=getattr(self, "feature_names_in_", None),
            **pairs,
        )

    def _check_labels(self, problem: Problem) -> None:
        labels = problem.labels
        if problem.given_pairs:
            return  # they say what the labels would
        if self.labels_needed == "two_classes" and labels.n_classes < 2:
            raise ValueError(
                f"{type(self).__name__} needs labelled rows of at least two classes; "
                f"{_describe(labels)}."
            )
        if len(labels.labelled) and not len(labels.unlabelled):
            warn(
                "y has no unlabelled row (-1, None or NaN): "
                f"{type(self).__name__} works from the labelled rows alone.",
                NothingUnlabelledWarning,
            )

    def _count_to_select(self, n_features: int) -> int:
        wanted = self.n_features_to_select
        if wanted is None:
            return max(1, n_features // 2)
        if not isinstance(wanted, Integral):
            # 0.29 * 100 is a little less than 29 in floating point.
            return max(1, int(wanted * n_features + 1e-9))
        if wanted > n_features:
            raise ValueError(
                f"n_features_to_select must be at most the number of features of X: "
                f"got n_features_to_select={wanted} and n_features={n_features}."
            )
        return int(wanted)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return np.asarray(self.ranking_ <= self._count_to_select(self.n_features_in_))

    def plot_scores(
        self, ax: "Axes | None" = None, *, top: int | None = None, n_names: int = 8
    ) -> "Axes":
        """Draw the scores against the ranks, with the number selected marked.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure with pyplot.
        top : int, default=None
            Draw this many of the best columns only.
        n_names : int, default=8
            Name at most this many columns, as far as there is room.

        Returns
        -------
        matplotlib.axes.Axes
        """
        check_is_fitted(self)
        report = _report()
        n_selected = int(self.get_support().sum())
        axes: Axes = report.plot_scores(
            report.ranking_of(self), n_selected=n_selected, ax=ax, top=top, n_names=n_names
        )
        return axes

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        y: Any = None,
        *,
        title: str | None = None,
    ) -> Path:
        """Write a report: one HTML file with the ranking, pictures and what the score means.

        Parameters
        ----------
        path : str or path
            File to write; replaced if it exists.
        X, y : array-like, default=None
            The rows and labels of the fit, for the pictures of rows. The ranker does not keep them.
        title : str, default=None
            Title of the page.

        Returns
        -------
        pathlib.Path
            The file.
        """
        check_is_fitted(self)
        report = _report()
        report.write_report(path, report.ranking_of(self), ranker=self, X=X, y=y, title=title)
        return Path(path)

    def _html_repr(self) -> str:
        diagram: str = estimator_html_repr(self)
        return diagram + _report().notebook(self) if hasattr(self, "ranking_") else diagram

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.labels_needed == "two_classes"
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = False
        return tags


class PairRanker(FeatureRanker):
    """Base class of the rankers that also learn from pairs of rows instead of labels."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, must_link: Any = None, cannot_link: Any = None) -> Self:
        """Score and rank the columns of `X`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All rows, labelled and unlabelled.
        y : array-like of shape (n_samples,), default=None
            Labels; -1, None and NaN mark unlabelled rows.
        must_link, cannot_link : array-like of shape (n_pairs, 2), default=None
            Pairs of row numbers that belong, or do not belong, to the same class, besides those
            that follow from `y`. Not for cross-validation, which does not slice them.

        Returns
        -------
        self : object
            The fitted ranker.
        """
        problem = self._build_problem(X, y, must_link=must_link, cannot_link=cannot_link)
        return self._fit(X, y, problem)


def _report() -> Any:
    # By name: the report stands above the rankers, and its libraries load when it is asked for.
    return importlib.import_module("semisift.report")


def rank(
    scores: NDArray[np.floating], seed: int, tie_key: NDArray[np.floating] | None = None
) -> NDArray[np.int64]:
    """Rank scores from 1, the highest, with NaN last and ties in a random order.

    Parameters
    ----------
    scores : array of shape (p,)
    seed : int
        Decides the order of ties.
    tie_key : array of shape (p,), optional
        Decides it first, higher before lower.

    Returns
    -------
    ranking : int array of shape (p,)
        A permutation of 1, ..., p.

    Examples
    --------
    >>> import numpy as np
    >>> rank(np.array([0.2, np.nan, 0.7]), seed=0)
    array([2, 3, 1])
    """
    tie_order = np.random.default_rng([seed, TIE_STREAM]).permutation(len(scores))
    ranking = np.empty(len(scores), dtype=np.int64)
    keys = (tie_order, -scores) if tie_key is None else (tie_order, -tie_key, -scores)
    ranking[np.lexsort(keys)] = np.arange(1, len(scores) + 1)
    return ranking


def _refuse_lost_on_conversion(X: Any) -> None:
    """Refuse what numpy would turn into numbers in silence: masked values and dates."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError(
            f"X must not have masked values: {int(np.ma.count_masked(X))} found. Fill them first, "
            "for example with X.filled(...)."
        )
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        dates = [
            str(name)
            for name, dtype in zip(X.columns, X.dtypes, strict=True)
            if getattr(dtype, "kind", "") in ("M", "m")
            or getattr(dtype, "is_temporal", lambda: False)()
        ]
        if dates:
            raise ValueError(
                f"X must hold numbers: the columns {dates[:5]} hold dates or times. Leave them out "
                "or convert them first."
            )


def _seed(random_state: int | np.random.RandomState | None) -> int:
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, np.iinfo(np.int64).max, dtype=np.int64))
    return int(random_state)


def _describe(labels: Labels) -> str:
    """Say what labels there are where there are fewer than two classes."""
    n_labelled, n_unlabelled = len(labels.labelled), len(labels.unlabelled)
    if not n_labelled:
        return f"y has no labelled row: all {n_unlabelled} are unlabelled (-1, None or NaN)"
    label = labels.classes[0]
    return (
        f"y has {n_labelled} labelled row{'s' if n_labelled > 1 else ''}, all of one class "
        f"({getattr(label, 'item', lambda: label)()!r}), and {n_unlabelled} unlabelled "
        f"row{'' if n_unlabelled == 1 else 's'} (-1, None or NaN)"
    )
