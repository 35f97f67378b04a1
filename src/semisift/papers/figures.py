"""Our figures beside published ones: cells, and the papers' tests with our numbers."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semisift._compare import Results
from semisift._words import count
from semisift.evaluation import pairwise, statistics
from semisift.evaluation.scores import Scores
from semisift.evaluation.wins import sign_test, win_tie_loss
from semisift.papers.targets import PAPERS, Form, Target
from semisift.report.comparison.published import stand

ENSCLS = PAPERS["enscls"]
ENSCLS_ALPHA = ENSCLS["alpha"]


@dataclass(frozen=True)
class OurFigure:
    """One figure of ours beside the published one.

    Attributes
    ----------
    published : float or None
    mean, error : float
        Mean of the runs and its standard error; NaN where there is none.
    why_not : str
        Why there is no mean.
    """

    published: float | None
    mean: float = math.nan
    error: float = math.nan
    why_not: str = ""

    @property
    def word(self) -> str:
        """Where our mean lies: above, within two standard errors of the published one, or below.

        Examples
        --------
        >>> OurFigure(0.60, 0.65, 0.02).word, OurFigure(None, 0.63, 0.02).word
        ('above', '')
        """
        if self.published is None or math.isnan(self.mean + self.error):
            return ""
        return stand(self.mean, self.error, self.published)


def cell(
    results: Results, scores: Scores, dataset: str, method: str | None, published: float | None
) -> OurFigure:
    """Return what a method reached on a data set, beside what is published.

    Parameters
    ----------
    results : Results
    scores : Scores
        Of `results`, under one judge.
    dataset : str
    method : str or None
        None where no method stands for the published one.
    published : float or None

    Returns
    -------
    OurFigure
    """
    if method is None or method not in results.methods:
        return OurFigure(published, why_not="" if method is None else "not run")
    if (dataset, method) in results.too_slow:
        return OurFigure(published, why_not=f"left out: {results.too_slow[dataset, method]:.0f} s")
    i, j = results.datasets.index(dataset), results.methods.index(method)
    if math.isnan(scores.means[i, j]):
        return OurFigure(published, why_not="failed")
    return OurFigure(published, float(scores.means[i, j]), float(scores.errors[i, j]))


def count_ahead(target: Target, results: Results, form: Form) -> tuple[int, int]:
    """Count the cells of a table in which the method of the paper's claim is ahead.

    Parameters
    ----------
    target : Target
        With a claim.
    results : Results
    form : {"printed", "default"}
        Which form stands for a method that has both.

    Returns
    -------
    ahead, total : int
        Data sets and judges where its mean is above those of all others named in the claim, and
        where there are figures for all of them.
    """
    columns = {column.name: column for column in target.columns}
    ahead = total = 0
    for judge in results.protocol.judges:
        scores = results.scores(judge=judge)
        for dataset in results.datasets:
            ours, *theirs = (
                cell(results, scores, dataset, columns[name].nearest(form, judge), None).mean
                for name in target.claim or ()
            )
            if not np.isnan([ours, *theirs]).any():
                total += 1
                ahead += ours > max(theirs)
    return ahead, total


def paper_scores(target: Target, results: Results, form: Form) -> Scores:
    """Return the scores of the paper's methods, under the names that they have there.

    Parameters
    ----------
    target : Target
    results : Results
    form : {"printed", "default"}
        Which form stands for a method that has both.

    Returns
    -------
    Scores
        Of the first judge, on the data sets on which all these methods are complete.
    """
    scores = results.scores()
    specs = {
        column.name: column.nearest(form, results.protocol.judges[0]) for column in target.columns
    }
    there = {name: spec for name, spec in specs.items() if spec in scores.methods}
    places = [scores.methods.index(spec) for spec in there.values() if spec is not None]
    found = Scores(scores.datasets, list(there), scores.values[:, :, places]).complete()
    if problem := results.unpaired(found.datasets):
        raise ValueError(problem)
    return found


@dataclass(frozen=True, eq=False)
class Wins:
    """Wins, ties and losses of methods against each other.

    Attributes
    ----------
    methods : list of str
    counts : int array of shape (n_methods, n_methods, 3)
    """

    methods: list[str]
    counts: NDArray[np.int64]

    @property
    def is_better(self) -> NDArray[np.bool_]:
        """Where the sign test says that the method of the row is better."""
        return sign_test(self.counts, ENSCLS_ALPHA)


def published_wins(counts: dict[str, dict[str, list[int]]]) -> Wins:
    """Return the published counts; a method ties with itself on all data sets."""
    methods = list(counts)
    n_sets = sum(next(iter(counts[methods[0]].values())))
    rows = [[counts[first].get(second, [0, n_sets, 0]) for second in methods] for first in methods]
    return Wins(methods, np.array(rows))


def wins(scores: Scores, test_shares: list[float] | None = None) -> Wins:
    """Count on how many data sets a method is better than another, as in Table 3 of EnsCLS.

    Parameters
    ----------
    scores : Scores
        Complete, of at least two runs.
    test_shares : list of float, optional
        Of each data set, for `win_tie_loss`: allow for splits that share rows, as the paper does
        not.

    Returns
    -------
    Wins
    """
    return Wins(scores.methods, win_tie_loss(scores.values, ENSCLS_ALPHA, test_shares))


def mean_ranks(means: ArrayLike, methods: list[str]) -> list[str]:
    """Say what the tests of Friedman and Nemenyi find, as in Figure 2 of the EnsCLS paper.

    Parameters
    ----------
    means : array of shape (n_sets, n_methods)
        At least two of both.
    methods : list of str

    Returns
    -------
    list of str
        Lines.
    """
    test = statistics.friedman(means)
    nemenyi = statistics.nemenyi(means, ENSCLS_ALPHA)
    order = np.argsort(test.mean_ranks, kind="stable")
    ranks = ", ".join(f"{methods[j]} {test.mean_ranks[j]:.4f}" for j in order)
    bars = [" = ".join(methods[j] for j in group) for group in nemenyi.groups]
    return [
        f"Mean ranks on {count(test.n_sets, 'data set')}: {ranks}.",
        f"Friedman: chi2 = {test.chi2:.3f}, p = {test.p_chi2:.2g}.",
        f"Critical difference at {ENSCLS_ALPHA}: {nemenyi.critical_difference:.4f}. Not different: "
        f"{'; '.join(bars) or 'none'}.",
    ]


def signed_ranks(means: ArrayLike, methods: list[str]) -> list[str]:
    """Say how the first method compares with each other one, by signed ranks over data sets."""
    table = np.asarray(means, dtype=np.float64)
    tests = [pairwise.wilcoxon(table[:, 0], table[:, j]) for j in range(1, len(methods))]
    return [
        f"{methods[0]} against {method} on {count(len(table), 'data set')}: W+ = {test.w_plus:g}, "
        f"W- = {test.w_minus:g}, p = {test.p:.4f}."
        for method, test in zip(methods[1:], tests, strict=True)
    ]
