"""A comparison in words: how it was made, and what the tests say."""

from collections.abc import Sequence

import numpy as np

from semisift.comparison._protocol import Protocol
from semisift.comparison._results import ComparisonResults
from semisift.comparison._statistical_tests import Nemenyi, critical_wins
from semisift.comparison._sweeps import SWEEPS
from semisift.report.comparison._tables import p_value
from semisift.report.comparison._view import LEVEL_OF_RANKS, LEVEL_OF_WINS, METRICS, View
from semisift.utils._text import format_number, join, plural, printable_name

JUDGES = {
    "tree": "a decision tree",
    "svm": "a linear support vector machine",
    "knn": "nearest neighbours",
    "nb": "naive Bayes",
}
SCALINGS = {
    None: "Judges see features as they are.",
    "standard": "Judges see features scaled to mean 0 and standard deviation 1 on training rows.",
    "minmax": "Judges see features scaled to the range from 0 to 1 on training rows.",
}
MOST_NAMED = 3


def lead(view: View) -> str:
    """Say in short what was compared and what came out."""
    results = view.results
    words = (
        f"{plural(len(results.methods), 'method')} on {plural(len(results.datasets), 'data set')}, "
        f"{plural(results.protocol.n_runs, 'run')} each."
    )
    rivals = np.isfinite(view.mean_ranks) & ~view.is_bound
    order = [j for j in np.argsort(view.mean_ranks, kind="stable") if rivals[j]]
    if len(order) > 1:
        named = [f"{view.said[j]} ({view.mean_ranks[j]:.2f})" for j in order[:MOST_NAMED]]
        words += f" Lowest mean ranks, which are best: {join(named)}."
    return words


def trained_on(protocol: Protocol) -> str:
    """Say on which rows the judges trained."""
    if protocol.train_on == "all":
        return (
            "Judges trained on all training rows with their true labels, also those that were "
            "hidden from the methods (train_on = all)."
        )
    return "Judges trained on the labelled training rows alone (train_on = labelled)."


def protocol_in_words(results: ComparisonResults) -> list[str]:
    """Say how the comparison was made."""
    protocol = results.protocol
    said = [
        f"Protocol “{printable_name(protocol.name)}”, seed {protocol.seed}: "
        f"{plural(protocol.n_runs, 'run')} on each data set, with the same splits for all methods.",
        _split(protocol),
        f"{_amount(protocol)} Methods see the features of all training rows and these labels.",
        f"A method ranks the features; {_judges(protocol.judges)} then learns from the best "
        f"{sizes_in_words(protocol.sizes)} of them and is tested.",
        trained_on(protocol),
        SCALINGS[protocol.scaling],
    ]
    if judging := sorted(set(results.n_judging.values())):
        rows = f"{judging[0]:,} to {judging[-1]:,}" if len(judging) > 1 else f"{judging[0]:,}"
        sets = ", depending on the data set" if len(judging) > 1 else ""
        said.append(f"{rows} labelled rows judge a run{sets}.")
    metric = METRICS.get(protocol.metrics[0], protocol.metrics[0])
    if len(protocol.sizes) > 1:
        said.append(f"Tables hold the mean {metric} over these sizes, with its standard error.")
    sweep = results.about["sweep"]
    if sweep is not None:
        levels = ", ".join(f"{level:g}" for level in sweep["levels"])
        kind = SWEEPS.get(sweep["kind"], printable_name(sweep["kind"]))
        said.append(
            f"One property is varied: {kind}, over {levels}. Tables and tests are those of the "
            f"first level, {sweep['levels'][0]:g}, but for the section on the sweep."
        )
    return said


def _split(protocol: Protocol) -> str:
    if protocol.n_unlabelled is not None:
        words = (
            f"In a run the labelled rows and {plural(protocol.n_unlabelled, 'unlabelled row')} "
            "train, and all others test"
        )
    else:
        share = protocol.train_size
        named = {2 / 3: "two thirds", 0.5: "half"}.get(share, f"{share:.0%}")
        words = f"In a run {named} of the rows of each class train and the others test"
    if protocol.n_test is not None:
        words += f", at most {protocol.n_test:,} of them"
    return f"{words}."


def _amount(protocol: Protocol) -> str:
    if protocol.labels_per_class is not None:
        rows = plural(protocol.labels_per_class, "row")
        show = "shows its label" if protocol.labels_per_class == 1 else "show their labels"
        return f"{rows} of each class {show}."
    if protocol.n_labelled is not None:
        rows = plural(protocol.n_labelled, "row")
        return f"{rows} in all show their labels, as evenly over the classes as can be."
    return f"{protocol.labelled_share:.0%} of the training rows of each class show their labels."


def _judges(judges: Sequence[str]) -> str:
    named = []
    for judge in judges:
        name, _, parameters = judge.partition(":")
        words = JUDGES.get(name, name)
        named.append(printable_name(f"{words} ({parameters})" if parameters else words))
    if len(named) > 1:
        return f"each judge ({join(named)})"
    return named[0]


def sizes_in_words(sizes: Sequence[int]) -> str:
    """Write numbers of features.

    Examples
    --------
    >>> sizes_in_words((1, 2, 3)), sizes_in_words((25,)), sizes_in_words((5, 10, 50))
    ('1 to 3', '25', '5, 10 and 50')
    """
    ordered = sorted(sizes)
    if len(ordered) > 2 and ordered == list(range(ordered[0], ordered[-1] + 1)):
        return f"{ordered[0]} to {ordered[-1]}"
    return join([str(size) for size in ordered])


def tests_in_words(view: View) -> list[str]:
    """Say what the tests of Friedman and of Nemenyi find, or why there are none."""
    found = view.friedman
    if found is None:
        return [view.obstacle]
    k, n = found.n_methods, found.n_sets
    verdict = "is rejected" if found.p_f <= LEVEL_OF_RANKS else "cannot be rejected"
    return [
        f"That all {k} methods are equally good on these {n} data sets {verdict} at the level "
        f"{LEVEL_OF_RANKS:g}: Friedman's chi-squared is {format_number(found.chi2)} with {k - 1} "
        f"degrees "
        f"of freedom, {_equals(found.p_chi2)}; the statistic of Iman and Davenport, which is less "
        f"conservative, is F = {format_number(found.f)} with {k - 1} and {(k - 1) * (n - 1)}, "
        f"{_equals(found.p_f)}.",
        *(
            f"Nemenyi's test at the level {alpha:g}: mean ranks differ if they are more than "
            f"{test.critical_difference:.3f} apart. {_differences_in_words(view, test)}"
            for alpha in (LEVEL_OF_RANKS, LEVEL_OF_WINS)
            if (test := view.nemenyi(alpha)) is not None
        ),
    ]


def _equals(p: float) -> str:
    return f"p {p_value(p)}" if p < 0.001 else f"p = {p_value(p)}"


def _differences_in_words(view: View, test: Nemenyi) -> str:
    ranks, names = test.mean_ranks, [view.said[place] for place in view.places]
    order = np.argsort(ranks, kind="stable").tolist()
    worse = {j: [i for i in order if test.different[i, j] and ranks[i] > ranks[j]] for j in order}
    sentences = [
        f"{names[j]} is better than {join([names[other] for other in others])}."
        for j, others in worse.items()
        if others
    ]
    if not sentences:
        return "No two methods are."
    if len(sentences) <= MOST_NAMED:
        return " ".join(sentences)
    k, n_pairs = len(names), sum(map(len, worse.values()))
    return f"{n_pairs} of {k * (k - 1) // 2} pairs are. {sentences[0]}"


def wins_in_words(view: View) -> list[str]:
    """Explain wins, ties and losses, and when a count is significant."""
    if view.wins(corrected=True) is None:
        n_runs = view.results.protocol.n_runs
        if n_runs < 2:
            return ["Wins and losses need at least two runs of each method on a data set."]
        return [view.obstacle or "There is no data set on which to count."]
    n = view.n_complete
    needed = critical_wins(n, LEVEL_OF_WINS)
    level = f"the level {LEVEL_OF_WINS:g}"
    rule = "not even wins on all of them are significant"
    if needed <= n:
        rule = f"{plural(needed, 'win')} {'is' if needed == 1 else 'are'} significant"
    return [
        "A method wins on a data set if a paired t-test over the runs, with the variance corrected "
        f"for splits that share rows (Nadeau and Bengio 2003), finds it better at {level}; else "
        "it loses or ties.",
        "The sign test: ties count half for each side, and of an odd number of them one is dropped "
        f"together with its data set. With {plural(n, 'data set')}, {rule} at {level} (one-sided). "
        "Such cells are bold.",
    ]


def wilcoxon_in_words(view: View) -> list[str]:
    """Explain the signed-rank tests and say how many are significant."""
    if view.wilcoxon is None:
        return [view.obstacle]
    _, adjusted = view.wilcoxon
    k, n = len(adjusted), view.n_complete
    n_pairs = k * (k - 1) // 2
    n_found = int((adjusted[np.triu_indices(k, 1)] <= LEVEL_OF_RANKS).sum())
    said = (
        f"Wilcoxon's signed-rank test of each of {plural(n_pairs, 'pair')} over {n} data sets, "
        f"two-sided, adjusted for their number by Holm's method, finds "
        f"{plural(n_found, 'difference')} at the level {LEVEL_OF_RANKS:g}."
    )
    smallest = 2.0 ** (1 - n)
    if smallest * n_pairs > LEVEL_OF_RANKS:
        said += (
            f" With so few data sets no plain p-value can be below {p_value(smallest)}, so not all "
            "differences that are real can be seen."
        )
    return [said]


def bounds_in_words(view: View) -> str:
    """Say which methods see hidden labels; empty if none does."""
    names = [name for name, bound in zip(view.said, view.is_bound, strict=True) if bound]
    if not names:
        return ""
    verb, end = ("is", "a bound and no competitor") if len(names) == 1 else ("are", "bounds")
    return (
        f"{join(names)} {verb} shown all training labels, also the hidden ones: {end}. Never "
        "marked as the best, but part of ranks and tests."
    )
