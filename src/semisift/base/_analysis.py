"""RankingAnalysisMixin: what a ranker tells besides its ranking.

How sure the ranking is, which columns mark a class, what more labels would bring, which rows to
label next, and pages. Each method builds the data of the fit again and hands it to the package that
does the work, which is imported when it is needed: a fit loads none of them.
"""

import inspect
import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from semisift.base._training_data import FitFingerprint, TrainingData
from semisift.exceptions import SubsamplingWarning
from semisift.utils._columns import check_structure
from semisift.utils._named_array import check_names
from semisift.utils._sklearn_compat import fit_context
from semisift.utils._text import quote
from semisift.utils._validation import (
    LARGEST_SEED,
    check_flag,
    check_integer,
    check_path,
    check_text,
    is_integer,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from semisift.active._next_rows import NextRows
    from semisift.selection import RankingResult
    from semisift.selection._assessment import Assessment
    from semisift.selection._knockoff import KnockoffCutoff
    from semisift.selection._learning_curve import LearningCurve
    from semisift.selection._markers import Markers
    from semisift.selection._shadow import ShadowCutoff
    from semisift.selection._stability import StabilityCutoff

# Of more unlabelled rows so many, drawn at random, are looked at as rows to label next.
MAX_ROWS_COMPARED = 5000
N_NEXT_ROWS = 10


class RankingAnalysisMixin:
    """Mixin of rankers: assessment, markers, learning curve, rows to label next, and pages."""

    if TYPE_CHECKING:
        _given_to_fit: FitFingerprint
        ranking_: NDArray[np.int64]
        decisions_: NDArray[np.str_]
        cutoff_: ShadowCutoff | StabilityCutoff | KnockoffCutoff

    # fit_context tears the callbacks down.
    @fit_context(prefer_skip_nested_validation=True)
    def assess(
        self: Any,
        X: Any,
        y: Any = None,
        *,
        n_best: int | None = None,
        n_resamples: int = 50,
        n_permutations: int = 99,
        fast: bool = False,
        random_state: int | None = None,
        **of_rows: Any,
    ) -> "Assessment":
        """Tell how sure the ranking is: how it varies with the rows, and whether labels matter.

        Each of `n_resamples` times half of the rows are ranked: half of the labelled rows of each
        class, or, of a class with fewer than four, one less than there are, drawn with repetition;
        and half of the unlabelled rows. Halves vary about the ranking of all rows as that does
        about the ranking on the whole population, but share rows, so that they agree with each
        other in what is luck (see docs/cutoffs.md). In each half correlated features are put last
        anew.

        The p-values compare the scores with those of `n_permutations` fits to labels that tell
        nothing. The labels are permuted among the labelled rows where there are at least 1,000
        ways to do so, else given to rows drawn from all, which assumes that the labelled rows are a
        random sample of all rows. Of rankers that label all rows by the shape of the data, which
        any labels would find, such labels are replaced by permuted features: the columns with
        their rows permuted, twice for each permutation.

        With `groups`, halves are of whole groups, and labels are permuted between groups of one
        class and within groups of several; with `batch`, within batches where there are enough
        ways. So few groups as 3 against 3 cannot confirm anything (see docs/studies.md).

        Parameters
        ----------
        X, y : array-like
            The rows and labels of the fit. The ranker does not keep them.
        n_best : int, default=None
            How many columns are the best ones; None is as many as the ranker selects, or, if it was
            not told how many, as many as the permutations confirm. Where that is none, 20, but no
            more than half of those that represent themselves.
        n_resamples : int, default=50
            Rankings of half of the rows; 0 leaves them out.
        n_permutations : int, default=99
            Rankings from labels that tell nothing; 0 leaves them out. At least 39 are needed to
            confirm a column.
        fast : bool, default=False
            Repeat the ranking with smaller committees: a tenth of the members of `SSFI`, and a
            twentieth of those of other methods.
        random_state : int, default=None
            Seed of the draws; None is that of the ranker.
        **of_rows : array-like
            `groups`, `batch`, `sample_weight`, `must_link` and `cannot_link` of the fit, where the
            method takes them.

        Returns
        -------
        Assessment
            Also kept as ``assessment_``, with its ``rank_interval_`` and
            ``selection_probability_``.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from semisift import FisherScore
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> few_labels = y.where(y.groupby(y).cumcount() < 8, -1)
        >>> ranker = FisherScore(n_features_to_select=3).fit(X, few_labels)
        >>> sure = ranker.assess(X, few_labels)
        >>> sure.p_value
        0.01
        >>> ranker.rank_interval_[X.columns.get_loc("proline")].tolist()
        [1, 6]
        """
        check_is_fitted(self)
        check_integer(n_resamples, "n_resamples", least=0)
        check_integer(n_permutations, "n_permutations", least=0)
        check_flag(fast, "fast")
        given = (of_rows, n_best, random_state)
        data = self._build_to_repeat(X, y, "assess", "p-values", *given)
        from semisift.selection._assessment import assess_ranking

        n_steps = n_permutations + n_resamples
        with self._watched(X, y, n_steps, "assess"):
            self.assessment_ = assess_ranking(
                self,
                data,
                self._progress(range(n_steps), "repetition"),
                n_best=n_best,
                n_resamples=n_resamples,
                n_permutations=n_permutations,
                seed=data.seed if random_state is None else random_state,
                fast=fast,
            )
        self.rank_interval_ = self.assessment_.rank_interval
        self.selection_probability_ = self.assessment_.selection_probability
        return self.assessment_

    def markers(self: Any, X: Any, y: Any, **of_rows: Any) -> "Markers":
        """Tell what is high or low in each class against the rest.

        All rows count with the labels that the fit gave them, softly where it did; with methods
        that label no rows, the labelled ones alone. Which columns mark a class is then a matter of
        size: Welch's t, were the labels certain.

        Parameters
        ----------
        X, y : array-like
            The rows and labels of the fit. The ranker does not keep them.
        **of_rows : array-like
            `groups`, `batch` and `sample_weight` of the fit, where the method takes them.

        Returns
        -------
        Markers
            With `to_frame`, and p-values by class where permuted features were tried.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from semisift import Consensus
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> few_labels = y.where(y.groupby(y).cumcount() < 5, -1)
        >>> ranker = Consensus().fit(X, few_labels)
        >>> ranker.markers(X, few_labels).to_frame(1, "pandas")[["class", "feature", "score"]]
           class          feature      score
        0      0          proline  14.895657
        1      1              hue   4.934609
        2      2  color_intensity   8.124509
        """
        check_is_fitted(self)
        data = self._build_again(X, y, "markers", "markers", of_rows)
        if not self.is_transductive:
            data = self._find_rest(data)
        if len(getattr(self, "classes_", ())) < 2:
            raise ValueError(
                "markers compares each class with the rest, and needs labelled rows of two classes."
            )
        as_given = None
        if data.design.batches is not None:
            others = {name: each for name, each in of_rows.items() if name != "batch"}
            as_given = clone(self)._build_data(X, y, is_repeated=True, **others)
        from semisift.selection._markers import find_markers

        return find_markers(self, data, as_given)

    # fit_context tears the callbacks down.
    @fit_context(prefer_skip_nested_validation=True)
    def learning_curve(
        self: Any,
        X: Any,
        y: Any = None,
        n_more: int = 10,
        *,
        n_best: int | None = None,
        fast: bool = True,
        random_state: int | None = None,
        **of_rows: Any,
    ) -> "LearningCurve":
        """Tell how much more stable the best features would be with more labels.

        The labels at hand are dealt out into hands that share none of them, at several sizes up to
        half of the labels, and all rows are ranked with the labels of each hand alone. How alike
        the best features of two hands are is what other labels of that size would bring. A curve
        through these leads to the present number of labels, and to `n_more` further ones of the
        classes and, with `groups`, of groups such as those at hand. The interval is to hold the
        stability in 80 % of cases; docs/results/learning-curve.md tells what it does hold, and
        that the rise is mostly overrated where labels tell little.

        This is about the labels: the rows stay the same. The stability of `assess` is another one,
        between halves of all rows that have labels in common.

        Parameters
        ----------
        X, y : array-like
            The rows and labels of the fit. The ranker does not keep them.
        n_more : int, default=10
            How many more labels.
        n_best : int, default=None
            How many columns are the best ones; None is as many as in the assessment or, where there
            is none, as the ranker selects. If it was not told how many, 20, but no more than half
            of those that represent themselves.
        fast : bool, default=True
            Rank with smaller committees: a tenth of the members of `SSFI`, and a twentieth of those
            of other methods. Smaller committees agree less than those of the fit.
        random_state : int, default=None
            Seed of the draws; None is that of the ranker.
        **of_rows : array-like
            `groups`, `batch`, `sample_weight`, `must_link` and `cannot_link` of the fit, where the
            method takes them. Given pairs count in every ranking.

        Returns
        -------
        LearningCurve
            Without a stability, but with words that say why, where a class has fewer than four
            labelled rows, or groups with such.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from semisift import FisherScore
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> few_labels = y.where(y.groupby(y).cumcount() < 8, -1)
        >>> ranker = FisherScore(n_features_to_select=3).fit(X, few_labels)
        >>> curve = ranker.learning_curve(X, few_labels)
        >>> curve.sizes.tolist()
        [12.0, 6.0, 3.0]
        >>> curve.now < curve.then
        True
        """
        check_is_fitted(self)
        check_integer(n_more, "n_more")
        check_flag(fast, "fast")
        given = (of_rows, n_best, random_state)
        data = self._build_to_repeat(X, y, "learning_curve", "curve", *given)
        from semisift.selection._learning_curve import draw_curve, split_labels

        seed = data.seed if random_state is None else random_state
        splits = split_labels(data, seed) if self.labels_needed != "none" else []
        n_steps = sum(map(len, splits))
        with self._watched(X, y, n_steps, "learning_curve"):
            return draw_curve(
                self,
                data,
                splits,
                self._progress(range(n_steps), "repetition"),
                n_more=int(n_more),
                n_best=n_best,
                seed=seed,
                fast=fast,
            )

    def query(self: Any, X: Any, y: Any = None, n: int = N_NEXT_ROWS, **of_rows: Any) -> "NextRows":
        """Tell which rows to label next, and why.

        Rows are chosen whose labels would take away the most doubt about all rows: such as stand
        for many that no label is near to, and such as the parts that label rows disagree about. No
        two of them are alike. It goes from no label at all, from one class, and from more, whether
        the ranker is fitted or not. Where it is fitted to these labels, its own labels of rows and
        its ranking have a say in the reasons. See `semisift.active._design` for the rule.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Labelled and unlabelled rows.
        y : array-like of shape (n_samples,), default=None
            Labels; -1, None and NaN, also as text, mark unlabelled rows
            (`UnlabelledTextWarning`). None where nothing is labelled.
        n : int, default=10
            How many rows; fewer where fewer are unlabelled. They are chosen among 5,000 of them,
            drawn at random, where there are more.
        **of_rows : array-like
            `groups`, `batch` and `sample_weight`, where the method takes them. Rows are taken from
            as many groups as possible, and none of weight 0.

        Returns
        -------
        NextRows
            With `rows`, `reasons` and `to_frame`; notebooks show it as a table.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from semisift import Consensus
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> few_labels = y.where(y.groupby(y).cumcount() < 2, -1)
        >>> found = Consensus().query(X, few_labels, n=3)
        >>> found.to_frame("pandas")[["row", "guess", "stands_for"]]
           row guess  stands_for
        0  125     1          40
        1  148     2          35
        2   91     1          19
        """
        return self._query(X, y, n, **of_rows)[0]

    def _query(
        self: Any, X: Any, y: Any, n: int, **of_rows: Any
    ) -> tuple["NextRows", FitFingerprint]:
        """Return the rows to label next, and what a fit to X and y would keep of them."""
        check_integer(n, "n")
        from semisift.active._next_rows import find_next_rows

        data = self._build_as_given(X, y, of_rows, any_labels=True)
        data = data.limited(MAX_ROWS_COMPARED)
        given = FitFingerprint.of(data)
        votes, order = [], None
        if data.n_features == getattr(self, "n_features_in_", None):
            check_names(self, X)
            if self._given_to_fit.difference(given) is None:
                order = np.argsort(self.ranking_)
                rows = slice(None) if data.full is None else data.full.sampled
                # parts that label by soft labels are asked in any case
                votes = [
                    np.asarray(part.transduction_)[rows]
                    for _, part in getattr(self, "rankers_", [("", self)])
                    if part.is_transductive and part._labeller() is None
                ]
        return find_next_rows(data, int(n), votes=votes, order=order), given

    def _next_of_fit(self: Any, X: Any, y: Any, **of_rows: Any) -> "NextRows | None":
        """Return the rows to label next; None where the fit was given what is lacking here."""
        known: FitFingerprint = self._given_to_fit
        if any(known.has(name) and name not in of_rows for name in ("batch", "sample_weight")):
            return None
        next_rows, given = self._query(X, y, N_NEXT_ROWS, **of_rows)
        if different := known.difference(given, knows_labels=bool(known.classes)):
            raise ValueError(
                "report must be given what fit was given, or its pictures would be those of other "
                f"rows: {different}."
            )
        found: NextRows = next_rows
        return found

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
        check_integer(top, "top", or_none=True)
        check_integer(n_names, "n_names", least=0)
        from semisift import report

        axes: Axes = report.plot_scores(self._outcome(), ax=ax, top=top, n_names=n_names)
        return axes

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        y: Any = None,
        *,
        title: str | None = None,
        by_class: bool = False,
        **of_rows: Any,
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
        by_class : bool, default=False
            Tell also what marks each class, as `markers` does; needs `X` and `y`.
        **of_rows : array-like
            `groups`, `batch` and `sample_weight` of the fit, for `by_class` and for the rows to
            label next; needs `X` and `y`.

        Returns
        -------
        pathlib.Path
            The file.
        """
        check_path(path, "path")
        check_text(title, "title", or_none=True)
        check_flag(by_class, "by_class")
        check_structure(X)
        if by_class and (X is None or y is None):
            raise ValueError(
                "by_class=True needs the rows and the labels of the fit: give X and y."
            )
        if of_rows and (X is None or y is None):
            given = " and ".join(of_rows)
            raise TypeError(f"report takes {given} beside X and y alone.")
        found: dict[str, Any] = {
            "markers": self.markers(X, y, **of_rows) if by_class else None,
            "next_rows": None if X is None or y is None else self._next_of_fit(X, y, **of_rows),
        }
        outcome = self._outcome()
        from semisift import report

        report.write_report(path, outcome, X=X, y=y, title=title, **found)
        return Path(path)

    def _outcome(self: Any) -> "RankingResult":
        check_is_fitted(self)
        from semisift.selection import ranking_result

        return ranking_result(self)

    def _html_repr(self) -> str:
        diagram: str = estimator_html_repr(self)
        if not hasattr(self, "ranking_"):
            return diagram
        from semisift import report

        return diagram + report.notebook(self._outcome())

    _repr_html_inner = _html_repr  # its name before scikit-learn 1.7

    # --- the data of the fit again ---

    def _build_as_given(
        self: Any, X: Any, y: Any, of_rows: dict[str, Any], **options: Any
    ) -> TrainingData:
        """Build the training data of X and y without what a fit would warn of again."""
        taken = [*inspect.signature(self.fit).parameters][2:]
        if unknown := [name for name in of_rows if name not in taken]:
            raise TypeError(
                f"{type(self).__name__} takes no {' and no '.join(unknown)}: what it takes besides "
                f"X and y is {', '.join(taken)}."
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SubsamplingWarning)
            new = clone(self)
            data: TrainingData = new._build_data(X, y, is_repeated=True, **of_rows, **options)
            return data if options else self._limit(data)

    def _build_again(
        self: Any, X: Any, y: Any, method: str, wanted: str, of_rows: dict[str, Any]
    ) -> TrainingData:
        """Build the training data of the fit again, and refuse other data."""
        check_names(self, X)
        data = self._build_as_given(X, y, of_rows)
        if data.n_features != self.n_features_in_:
            raise ValueError(
                f"X must be the rows of the fit, with {self.n_features_in_} columns: got "
                f"{data.n_features}."
            )
        if data.labels.n_classes < 2:
            self._check_labels(data)
        if different := self._given_to_fit.difference(FitFingerprint.of(data)):
            raise ValueError(
                f"{method} must be given what fit was given, or its {wanted} would be those of "
                f"other rows: {different}."
            )
        return data

    def _build_to_repeat(
        self: Any,
        X: Any,
        y: Any,
        method: str,
        wanted: str,
        of_rows: dict[str, Any],
        n_best: Any,
        random_state: Any,
    ) -> TrainingData:
        """Check n_best and random_state, and build the rows that were ranked again."""
        if random_state is not None:
            check_integer(random_state, "random_state", 0, LARGEST_SEED)
        p = self.n_features_in_
        if n_best is not None and not (is_integer(n_best) and 1 <= n_best <= p):
            raise ValueError(f"n_best must be from 1 to the {p} columns of X: got {quote(n_best)}.")
        data: TrainingData = self._build_again(X, y, method, wanted, of_rows)
        return data if data.full is None else replace(data, full=None)
