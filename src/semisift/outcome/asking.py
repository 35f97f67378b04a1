"""AskingMixin: which rows to label next."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from semisift._checks import check_whole
from semisift._given import GivenToFit, given_to_fit
from semisift._named import check_names
from semisift._problem import Problem
from semisift.exceptions import SampledRowsWarning

if TYPE_CHECKING:
    from semisift.outcome.next_rows import NextRows

# Of more unlabelled rows so many, drawn at random, are looked at.
MOST_ROWS = 5000
N_TOLD = 10


class AskingMixin:
    """The part of a ranker that tells which labels would help it most."""

    if TYPE_CHECKING:
        _given_to_fit: GivenToFit

    def query(self: Any, X: Any, y: Any = None, n: int = N_TOLD, **of_rows: Any) -> "NextRows":
        """Tell which rows to label next, and why.

        Rows are chosen whose labels would take away the most doubt about all rows: such as stand
        for many that no label is near to, and such as the parts that label rows disagree about. No
        two of them are alike. It goes from no label at all, from one class, and from more, whether
        the ranker is fitted or not. Where it is fitted to these labels, its own labels of rows and
        its ranking have a say in the reasons. See `semisift.transduction.next_rows` for the rule.

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

    def _query(self: Any, X: Any, y: Any, n: int, **of_rows: Any) -> tuple["NextRows", GivenToFit]:
        """Return the rows to label next, and what a fit to X and y would keep of them."""
        check_whole(n, "n")
        from semisift.outcome.next_rows import find_next_rows

        self._check_taken(of_rows)
        with warnings.catch_warnings():  # it speaks of rankings
            warnings.simplefilter("ignore", SampledRowsWarning)
            problem: Problem = clone(self)._build_problem(
                X, y, is_repeated=True, any_labels=True, **of_rows
            )
        problem = problem.limited(MOST_ROWS)
        votes: list[Any] = []
        order = None
        given = given_to_fit(problem)
        if problem.n_features == getattr(self, "n_features_in_", None) and self._knows(X, given):
            order = np.argsort(self.ranking_)
            for _, part in getattr(self, "rankers_", [("", self)]):
                # those that label by soft labels are asked in any case
                if part.labels_rows and part._labeller() is None:
                    rows = slice(None) if problem.whole is None else problem.whole.held
                    votes.append(np.asarray(part.transduction_)[rows])
        return find_next_rows(problem, int(n), votes=votes, order=order), given

    def _next_of_fit(self: Any, X: Any, y: Any, **of_rows: Any) -> "NextRows | None":
        """Tell the rows to label next; None where the fit was given what is lacking here."""
        needed = ("batch", "sample_weight")
        if any(getattr(self._given_to_fit, name) and name not in of_rows for name in needed):
            return None
        next_rows: NextRows
        next_rows, given = self._query(X, y, N_TOLD, **of_rows)
        known: GivenToFit = self._given_to_fit
        if not known.classes:  # y may tell what fit did not know
            known = known._replace(y=given.y, classes=given.classes)
        if different := known.difference(given):
            raise ValueError(
                "report must be given what fit was given, or its pictures would be those of other "
                f"rows: {different}."
            )
        return next_rows

    def _knows(self: Any, X: Any, given: GivenToFit) -> bool:
        """Tell whether the ranker was fitted to these rows and labels, of as many columns."""
        check_names(self, X)
        return self._given_to_fit.difference(given) is None
