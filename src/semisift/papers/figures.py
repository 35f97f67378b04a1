"""Our figures beside published ones: cells, the papers' tests, and what ``reproduce`` prints."""

import io
import math
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from semisift.comparison import _statistical_tests
from semisift.comparison._results import Results, Scores
from semisift.comparison._statistical_tests import sign_test, win_tie_loss
from semisift.papers.targets import FORMS, PAPERS, WHOLE_FORMS, Form, Target
from semisift.report.comparison._page import failures, too_slow
from semisift.report.comparison._published import describe_evaluation, stand
from semisift.utils._text import join, plural

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
    n_runs : int
        Runs of ours.
    n_published : int or None
        Runs of the published one; None where that is not known.
    """

    published: float | None
    mean: float = math.nan
    error: float = math.nan
    why_not: str = ""
    n_runs: int = 0
    n_published: int | None = None

    @property
    def word(self) -> str:
        """Where our mean lies: above, within the error of the published one, or below.

        Examples
        --------
        >>> OurFigure(0.60, 0.65, 0.02, n_runs=10).word, OurFigure(None, 0.63, 0.02).word
        ('above', '')
        """
        if self.published is None or math.isnan(self.mean + self.error):
            return ""
        return stand(self.mean, self.error, self.published, self.n_runs, self.n_published)


def cell(
    results: Results,
    scores: Scores,
    dataset: str,
    method: str | None,
    published: float | None,
    n_published: int | None = None,
) -> OurFigure:
    """Return what a method reached on a data set, beside what is published.

    Parameters
    ----------
    results : Results
    scores : Scores
        Of `results`, under one judge.
    dataset : str
    method : str or None
        None where no method represents the published one.
    published : float or None
    n_published : int or None
        Runs that it is a mean of, where that is known.

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
    return OurFigure(
        published,
        float(scores.means[i, j]),
        float(scores.errors[i, j]),
        n_runs=int(np.isfinite(scores.values[i, :, j]).sum()),
        n_published=n_published,
    )


def count_ahead(target: Target, results: Results, form: Form) -> tuple[int, int]:
    """Count the cells of a table in which the method of the paper's claim is ahead.

    Parameters
    ----------
    target : Target
        With a claim.
    results : Results
    form : {"printed", "default"}
        Which form represents a method that has both.

    Returns
    -------
    ahead, total : int
        Data sets and judges where its mean is above those of all others named in the claim, and
        where there are figures for all of them.
    """
    columns = {column.name: column for column in target.columns}
    ahead = total = 0
    for evaluator in results.protocol.judges:
        scores = results.scores(judge=evaluator)
        for dataset in results.datasets:
            ours, *theirs = (
                cell(results, scores, dataset, columns[name].nearest(form, evaluator), None).mean
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
        Which form represents a method that has both.

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
    test = _statistical_tests.friedman(means)
    nemenyi = _statistical_tests.nemenyi(means, ENSCLS_ALPHA)
    order = np.argsort(test.mean_ranks, kind="stable")
    ranks = ", ".join(f"{methods[j]} {test.mean_ranks[j]:.4f}" for j in order)
    bars = [" = ".join(methods[j] for j in group) for group in nemenyi.groups]
    return [
        f"Mean ranks on {plural(test.n_sets, 'data set')}: {ranks}.",
        f"Friedman: chi2 = {test.chi2:.3f}, p = {test.p_chi2:.2g}.",
        f"Critical difference at {ENSCLS_ALPHA}: {nemenyi.critical_difference:.4f}. Not different: "
        f"{'; '.join(bars) or 'none'}.",
    ]


def signed_ranks(means: ArrayLike, methods: list[str]) -> list[str]:
    """Say how the first method compares with each other one, by signed ranks over data sets."""
    table = np.asarray(means, dtype=np.float64)
    tests = [_statistical_tests.wilcoxon(table[:, 0], table[:, j]) for j in range(1, len(methods))]
    return [
        f"{methods[0]} against {method} on {plural(len(table), 'data set')}: W+ = {test.w_plus:g}, "
        f"W- = {test.w_minus:g}, p = {test.p:.4f}."
        for method, test in zip(methods[1:], tests, strict=True)
    ]


# --- what is printed ------------------------------------------------------------------------------

# Of the sizes of a curve those that fit on a line.
SOME_SIZES = (1, 2, 3, 5, 7, 10, 15, 20)

# Columns of a page with what is printed.
SHOWN_WIDTH = 100

TESTS = {"signed-ranks": signed_ranks, "mean-ranks": mean_ranks}


def show(console: Console, target: Target, results: Results) -> None:
    """Print the published numbers and ours, and what the paper concludes."""
    views = {"table": _table, "curves": _curves, "wins": _wins, "ranks": _ranks}
    unpaired = results.unpaired(results.datasets)
    if unpaired:
        console.print(f"There are no tests: {unpaired}")
    if not unpaired or target.view in ("table", "curves"):
        views[target.view](console, replace(target, test=None) if unpaired else target, results)
    for sentence in target.sentences:
        console.print(f"The paper says: {sentence}")
    for remark in target.remarks:
        console.print(remark)
    for problem in [*too_slow(results), *failures(results)]:
        console.print(f"{problem.where}: {problem.what}.")


def write_shown(target: Target, results: Results, path: Path) -> None:
    """Write what `show` prints as a page, for figures that a summary has no place for."""
    stream = io.StringIO()
    show(Console(file=stream, width=SHOWN_WIDTH, highlight=False), target, results)
    lines = "\n".join(f"    {line}".rstrip() for line in stream.getvalue().splitlines())
    runs = plural(results.protocol.n_runs, "run")
    parts = [
        f"# {target.title}",
        f"{target.what[0].upper()}{target.what[1:]}: "
        f"{plural(len(results.datasets), 'data set')}, {runs} each.",
        f"    {results.about['notes'].get('command', '')}".rstrip(),
        "What it prints, but for the warnings:",
        lines,
    ]
    path.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")


# --- a table of accuracies ------------------------------------------------------------------------


def _table(console: Console, target: Target, results: Results) -> None:
    for evaluator in results.protocol.judges:
        _accuracies(console, target, results, evaluator)
    console.print(f"± is one standard error over the runs. {describe_evaluation(target.n_runs)}\n")
    _others(console, target, results)
    if target.test is not None:
        _tests(console, target, results, target.test)
    if target.claim is not None:
        ahead, total = count_ahead(target, results, "printed")
        first, *others = target.claim
        console.print(f"{first} is ahead of {join(others)} in {ahead} of {plural(total, 'cell')}.")


def _accuracies(console: Console, target: Target, results: Results, evaluator: str) -> None:
    scores = results.scores(judge=evaluator)
    learner = f" ({evaluator})" if len(target.protocol.judges) > 1 else ""
    forms = [
        form for form in FORMS if any(form in each.forms(evaluator) for each in target.columns)
    ]
    headings = ("data set", "method", "published", *(FORMS[form] for form in forms))
    table = Table(*headings, title=f"{target.place}: {target.what}{learner}")
    words = {form: Counter[str]() for form in forms}
    for dataset in results.datasets:
        for i, column in enumerate(target.columns):
            value = target.value(evaluator, dataset, column.name)
            texts = []
            for form in forms:
                spec = column.forms(evaluator).get(form)
                each = cell(results, scores, dataset, spec, value, target.n_runs)
                words[form][each.word] += 1
                texts.append(_text(each))
            shown = "" if value is None else f"{value:.3f}"
            last = i == len(target.columns) - 1
            table.add_row("" if i else dataset, column.name, shown, *texts, end_section=last)
    console.print(table)
    for form, tally in words.items():
        if total := tally.total() - tally[""]:
            parts = [f"{tally[word]} {word}" for word in ("above", "within", "below")]
            console.print(f"{FORMS[form].capitalize()}: of {plural(total, 'cell')} {join(parts)}.")


def _text(each: OurFigure) -> str:
    if np.isnan(each.mean):
        return each.why_not
    error = "" if np.isnan(each.error) else f"±{each.error:.3f}"
    return f"{each.mean:.3f}{error} {each.word}".rstrip()


def _others(console: Console, target: Target, results: Results) -> None:
    """Print the methods that are not the paper's."""
    own = replace(target, protocol=results.protocol, others=()).specs
    others = [method for method in results.methods if method not in own]
    if not others:
        return
    scores = results.scores()
    title = f"Other methods on the same splits, judged by {results.protocol.judges[0]}"
    table = Table("data set", *others, title=title)
    for dataset in results.datasets:
        cells = [cell(results, scores, dataset, method, None) for method in others]
        table.add_row(dataset, *map(_text, cells))
    console.print(table)


# --- the papers' tests ----------------------------------------------------------------------------


def _tests(console: Console, target: Target, results: Results, test: str) -> None:
    """Print what a test says of the published numbers and of ours."""
    printed = target.values[results.protocol.judges[0]].values()
    cases: list[tuple[str, Any, list[str]]] = [
        ("Published", [[*row.values()] for row in printed], [each.name for each in target.columns])
    ]
    for form in WHOLE_FORMS:
        name, scores = FORMS[form], paper_scores(target, results, form)
        cases.append((f"Ours, {name}", scores.means, scores.methods))
    for heading, means, methods in cases:
        console.print(f"{heading}:")
        too_few = ["There are too few data sets and methods for the test."]
        for line in TESTS[test](means, methods) if min(np.shape(means)) > 1 else too_few:
            console.print(f"  {line}")


def _ranks(console: Console, target: Target, results: Results) -> None:
    console.print(f"{target.place}: {target.what}")
    _tests(console, target, results, "mean-ranks")
    console.print(f"The critical difference is printed as {ENSCLS['critical_difference']}.")


def _wins(console: Console, target: Target, results: Results) -> None:
    console.print(_wins_table("Published, on 9 data sets", published_wins(ENSCLS["wins"])))
    for form in WHOLE_FORMS:
        name, scores = FORMS[form], paper_scores(target, results, form)
        n_sets = plural(len(scores.datasets), "data set")
        if not scores.datasets or results.protocol.n_runs < 2:
            runs = plural(results.protocol.n_runs, "run")
            console.print(f"Ours, {name}: no test with {runs} on {n_sets}.")
            continue
        shares = [results.test_share(dataset) for dataset in scores.datasets]
        for heading, used in (("", None), ("; corrected t-test", shares)):
            tally = wins(scores, used)
            console.print(_wins_table(f"Ours, {name}, on {n_sets}{heading}", tally))
    console.print(
        "Wins/ties/losses of the row against the column, by a paired t-test of the runs at 0.1. "
        "Bold and *: the row is better by a sign test at 0.1. The corrected t-test allows for "
        "splits that share rows (Nadeau and Bengio), which the paper does not."
    )


def _wins_table(title: str, tally: Wins) -> Table:
    table = Table("", *tally.methods, title=title)
    is_better = tally.is_better
    for i, method in enumerate(tally.methods):
        cells = [
            Text("/".join(map(str, counts)) + "*" * bool(better), style="bold" if better else "")
            for counts, better in zip(tally.counts[i], is_better[i], strict=True)
        ]
        cells[i] = Text("-")
        table.add_row(method, *cells)
    return table


# --- curves ---------------------------------------------------------------------------------------


def _curves(console: Console, target: Target, results: Results) -> None:
    sizes = [size for size in results.protocol.sizes if size in SOME_SIZES]
    places = [results.protocol.sizes.index(size) for size in sizes]
    curves = results.curves()
    for i, dataset in enumerate(results.datasets):
        columns = [Column(str(size), justify="right") for size in sizes]
        title = f"{dataset}: accuracy with the best 1, 2, ... features"
        table = Table("method", *columns, title=title)
        for j, method in enumerate(results.methods):
            runs = curves[i, :, j][:, places]
            runs = runs[np.isfinite(runs).any(axis=1)]
            means = [f"{mean:.3f}" for mean in runs.mean(axis=0)] if len(runs) else []
            table.add_row(method, *means)
        console.print(table)
    console.print("report.html draws the whole curves. The paper's are a picture without numbers.")
