"""What ``semisift reproduce`` prints: the published numbers beside ours."""

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Column, Table
from rich.text import Text

from semisift._compare import Results
from semisift._words import count, listed
from semisift.papers import figures
from semisift.papers.figures import ENSCLS, OurFigure, Wins
from semisift.papers.targets import FORMS, Target
from semisift.report.comparison.problems import failures, too_slow
from semisift.report.comparison.published import N_ERRORS

if TYPE_CHECKING:
    from rich.console import Console

# Of the sizes of a curve those that fit on a line.
SOME_SIZES = (1, 2, 3, 5, 7, 10, 15, 20)

TESTS = {"signed-ranks": figures.signed_ranks, "mean-ranks": figures.mean_ranks}


def show(console: "Console", target: Target, results: Results) -> None:
    """Print the published numbers and ours, and what the paper concludes."""
    views = {"table": _table, "curves": _curves, "wins": _wins, "ranks": _ranks}
    unpaired = results.unpaired(results.datasets)
    if unpaired:
        console.print(f"There are no tests: {unpaired}")
    if not unpaired or target.view in ("table", "curves"):
        views[target.view](console, replace(target, test=None) if unpaired else target, results)
    for sentence in target.sentences:
        console.print(f"The paper says: {sentence}")
    for problem in [*too_slow(results), *failures(results)]:
        console.print(f"{problem.where}: {problem.what}.")


# --- a table of accuracies ------------------------------------------------------------------------


def _table(console: "Console", target: Target, results: Results) -> None:
    for judge in results.protocol.judges:
        _accuracies(console, target, results, judge)
    console.print(
        "± is one standard error over the runs. Within: the published number is no more than "
        f"{N_ERRORS} of them away; above and below: ours is, on that side.\n"
    )
    _others(console, target, results)
    if target.test is not None:
        _tests(console, target, results, target.test)
    if target.claim is not None:
        ahead, total = figures.count_ahead(target, results, "printed")
        first, *others = target.claim
        console.print(f"{first} is ahead of {listed(others)} in {ahead} of {count(total, 'cell')}.")


def _accuracies(console: "Console", target: Target, results: Results, judge: str) -> None:
    scores = results.scores(judge=judge)
    learner = f" ({judge})" if len(target.protocol.judges) > 1 else ""
    headings = ("data set", "method", "published", *FORMS.values())
    table = Table(*headings, title=f"{target.place}: {target.what}{learner}")
    words = {form: Counter[str]() for form in FORMS}
    for dataset in results.datasets:
        for i, column in enumerate(target.columns):
            value = target.value(judge, dataset, column.name)
            texts = []
            for form in FORMS:
                each = figures.cell(results, scores, dataset, column.forms(judge).get(form), value)
                words[form][each.word] += 1
                texts.append(_text(each))
            shown = "" if value is None else f"{value:.3f}"
            last = i == len(target.columns) - 1
            table.add_row("" if i else dataset, column.name, shown, *texts, end_section=last)
    console.print(table)
    for form, counted in words.items():
        if total := counted.total() - counted[""]:
            parts = [f"{counted[word]} {word}" for word in ("above", "within", "below")]
            console.print(f"{FORMS[form].capitalize()}: of {count(total, 'cell')} {listed(parts)}.")


def _text(each: OurFigure) -> str:
    if np.isnan(each.mean):
        return each.why_not
    error = "" if np.isnan(each.error) else f"±{each.error:.3f}"
    return f"{each.mean:.3f}{error} {each.word}".rstrip()


def _others(console: "Console", target: Target, results: Results) -> None:
    """Print the methods that are not the paper's."""
    own = replace(target, protocol=results.protocol, others=()).specs
    others = [method for method in results.methods if method not in own]
    if not others:
        return
    scores = results.scores()
    title = f"Other methods on the same splits, judged by {results.protocol.judges[0]}"
    table = Table("data set", *others, title=title)
    for dataset in results.datasets:
        cells = [figures.cell(results, scores, dataset, method, None) for method in others]
        table.add_row(dataset, *map(_text, cells))
    console.print(table)


# --- the papers' tests ----------------------------------------------------------------------------


def _tests(console: "Console", target: Target, results: Results, test: str) -> None:
    """Print what a test says of the published numbers and of ours."""
    printed = target.values[results.protocol.judges[0]].values()
    cases: list[tuple[str, Any, list[str]]] = [
        ("Published", [[*row.values()] for row in printed], [each.name for each in target.columns])
    ]
    for form, name in FORMS.items():
        scores = figures.paper_scores(target, results, form)
        cases.append((f"Ours, {name}", scores.means, scores.methods))
    for heading, means, methods in cases:
        console.print(f"{heading}:")
        too_few = ["There are too few data sets and methods for the test."]
        for line in TESTS[test](means, methods) if min(np.shape(means)) > 1 else too_few:
            console.print(f"  {line}")


def _ranks(console: "Console", target: Target, results: Results) -> None:
    console.print(f"{target.place}: {target.what}")
    _tests(console, target, results, "mean-ranks")
    console.print(f"The critical difference is printed as {ENSCLS['critical_difference']}.")


def _wins(console: "Console", target: Target, results: Results) -> None:
    console.print(_wins_table("Published, on 9 data sets", figures.published_wins(ENSCLS["wins"])))
    for form, name in FORMS.items():
        scores = figures.paper_scores(target, results, form)
        n_sets = count(len(scores.datasets), "data set")
        if not scores.datasets or results.protocol.n_runs < 2:
            runs = count(results.protocol.n_runs, "run")
            console.print(f"Ours, {name}: no test with {runs} on {n_sets}.")
            continue
        shares = [results.test_share(dataset) for dataset in scores.datasets]
        for heading, used in (("", None), ("; corrected t-test", shares)):
            counted = figures.wins(scores, used)
            console.print(_wins_table(f"Ours, {name}, on {n_sets}{heading}", counted))
    console.print(
        "Wins/ties/losses of the row against the column, by a paired t-test of the runs at 0.1. "
        "Bold and *: the row is better by a sign test at 0.1. The corrected t-test allows for "
        "splits that share rows (Nadeau and Bengio), which the paper does not."
    )


def _wins_table(title: str, counted: Wins) -> Table:
    table = Table("", *counted.methods, title=title)
    is_better = counted.is_better
    for i, method in enumerate(counted.methods):
        cells = [
            Text("/".join(map(str, counts)) + "*" * bool(better), style="bold" if better else "")
            for counts, better in zip(counted.counts[i], is_better[i], strict=True)
        ]
        cells[i] = Text("-")
        table.add_row(method, *cells)
    return table


# --- curves ---------------------------------------------------------------------------------------


def _curves(console: "Console", target: Target, results: Results) -> None:
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
