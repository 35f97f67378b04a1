"""From a file to a ranking and its outputs: what ``rank`` and ``select`` have in common."""

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from semisift._base import FeatureRanker
from semisift._words import count
from semisift.cli._by_class import check_by_class, check_labels
from semisift.cli._known import KnownFeatures, read_known
from semisift.cli._options import find_named, parse_parameters
from semisift.cli._reading import check_classes, read_dataset, tell_notes
from semisift.cli._result import CUT_SHORT, Result, check_outputs, show, write_outputs
from semisift.cli._takes import check_reading_is_taken, check_takes, names_of_takers, takes
from semisift.cli._terminal import Steps
from semisift.cli.rank import OFF, RankRequest
from semisift.exceptions import SampledRowsWarning, TableError
from semisift.io import Dataset
from semisift.outcome import Outcome, outcome_of
from semisift.outcome.markers import Markers
from semisift.outcome.next_rows import NextRows
from semisift.registry import METHODS, Method

DEFAULT_METHOD = "consensus"
DEFAULT_TOP = 20

# Rows to label next that the page names.
N_ASKED = 10

# Of an assessment: about five times the cost of a consensus, and what is enough to publish.
LIGHT = {"n_resamples": 20, "n_permutations": 39, "light": True}
THOROUGH = {"n_resamples": 50, "n_permutations": 99, "light": False}


def run(request: RankRequest) -> None:
    """Read, rank, assess, write and show."""
    method = find_method(request.method or DEFAULT_METHOD)
    outputs = check_outputs(request)
    _check_wishes(request, method)
    parse_parameters(request.param, method.cls)
    steps = Steps(request.quiet)
    needs_labels = method.cls.labels_needed == "two_classes" and not request.has_pairs
    dataset = read_dataset(request, steps, method.name, needs_labels)
    if not request.has_pairs:  # they say what the labels would
        takes_one = takes(method.cls, "one labelled class")
        check_classes(dataset, method.name, method.cls.labels_needed, takes_one)
    rank_dataset(request, method, dataset, outputs, steps)


def rank_dataset(
    request: RankRequest, method: Method, dataset: Dataset, outputs: dict[str, Path], steps: Steps
) -> None:
    """Rank a table that was read, and write and show what was asked for.

    Parameters
    ----------
    request : RankRequest
    method : Method
    dataset : Dataset
    outputs : dict of name to Path
        As `check_outputs` returns them.
    steps : Steps
    """
    parameters = parse_parameters(request.param, method.cls)
    check_labels(request, dataset)
    known = read_known(request, dataset)
    if request.is_told:
        tell_notes(known.notes)
    n_wanted = _count(request.number, known)
    ranker = method.cls(
        n_features_to_select=_to_select(request, method, n_wanted),
        random_state=request.seed,
        **_common_parameters(request, method),
        **known.parameters,
        **parameters,
    )
    rows, known_of_rows = _to_fit(dataset)
    words = f"Ranking {len(dataset.variables):,} features by {method.name}"
    with steps.step(words) as step, step.following(ranker, dataset.X):
        _fit(ranker, *rows, **known_of_rows)
    is_complete = not request.is_assessed or _assess(request, dataset, ranker, steps)
    outcome = _outcome(request, dataset, ranker, n_wanted)
    markers = _find_markers(dataset, ranker, steps) if request.wants_markers else None
    asked = _ask(dataset, ranker, steps) if "report" in outputs else None
    result = Result(request, method, dataset, outcome, not is_complete, known.notes, markers, asked)
    with steps.step("Writing the results") as step, step.watching(dataset.X):
        write_outputs(result, outputs)
    if request.is_told:
        show(result)
    if not is_complete:
        click.echo(CUT_SHORT, err=True)
        raise KeyboardInterrupt
    if "reduced" in outputs and not result.selected:
        raise TableError(
            f"{request.reduced} was not written: none of the "
            f"{count(len(outcome), 'feature')} is confirmed, so there is nothing to select. "
            "Say with --top how many to select all the same."
        )


def find_method(name: str, option: str = "--method", others: Iterable[str] = ()) -> Method:
    """Return the method of that name in letters of any size, or say which there are."""
    known = name.lower() if name.lower() in METHODS else name
    return find_named(METHODS, known, "method", option, others)


def _check_wishes(request: RankRequest, method: Method) -> None:
    """Refuse what contradicts itself, and what the method cannot do."""
    if request.thorough and request.assess is False:
        raise click.UsageError("--thorough asks for what --no-assess leaves out: give one of them.")
    if request.labels_out and not method.cls.labels_rows:
        able = [name for name, each in METHODS.items() if each.cls.labels_rows]
        raise click.BadParameter(
            f"{method.name} gives no labels to rows. Methods that do: {', '.join(able)}.",
            param_hint="--labels-out",
        )
    if request.has_pairs:
        option = "--must-link" if request.must_link is not None else "--cannot-link"
        check_takes(method, "pairs of rows", METHODS, option)
    check_by_class(request, method)
    check_reading_is_taken(request, method, METHODS)


def _count(number: int | None, known: KnownFeatures) -> int:
    if number is None:
        return max(known.n_kept, min(DEFAULT_TOP, known.n_features))
    if number > known.n_features:
        there = count(known.n_features, "feature")
        raise TableError(f"--top {number}: the table has {there} only.")
    if number < known.n_kept:
        raise TableError(f"--top {number}: {count(known.n_kept, 'feature')} are to stay (--keep).")
    return number


def _to_select(request: RankRequest, method: Method, n_wanted: int) -> int | str | None:
    """Return what the ranker is told to select; None leaves it to the assessment."""
    if request.rule is not None:
        return request.rule
    # What these find depends on how many features they look for.
    is_search = method.cls.scores_are_places or method.family == "embedded"
    is_left_open = request.number is None and request.is_assessed and not is_search
    return None if is_left_open else n_wanted


def _common_parameters(request: RankRequest, method: Method) -> dict[str, Any]:
    """Return the parameters that have an option of their own, where the method has them."""
    parameters: dict[str, Any] = {}
    if "n_jobs" in method.cls().get_params(deep=False):
        parameters["n_jobs"] = request.n_jobs
    if request.redundancy is not None:
        is_off = request.redundancy == OFF
        parameters["redundancy_threshold"] = None if is_off else request.redundancy
    return parameters


def _to_fit(dataset: Dataset) -> tuple[tuple[Any, Any], dict[str, Any]]:
    """Return what a ranker is given: rows with labels, and what is known of rows and pairs."""
    labelled = any(label is not None for label in dataset.y)
    pairs = {"must_link": dataset.must_link, "cannot_link": dataset.cannot_link}
    given = {name: rows for name, rows in pairs.items() if rows is not None}
    return (dataset.X, dataset.y if labelled else None), {**given, **dataset.of_rows}


def _fit(ranker: FeatureRanker, X: Any, y: Any, **known_of_rows: Any) -> None:
    try:
        ranker.fit(X, y, **known_of_rows)
    except TypeError as error:  # as a consensus refuses weights for a part that takes none
        if "sample_weight" not in known_of_rows:
            raise
        able = ", ".join(names_of_takers("weights", METHODS))
        raise click.BadParameter(
            f"{error} Methods that take weights: {able}.", param_hint="--weight"
        ) from error


def _assess(request: RankRequest, dataset: Dataset, ranker: FeatureRanker, steps: Steps) -> bool:
    """Assess the ranking; return whether that came to its end."""
    effort = THOROUGH if request.thorough else LIGHT
    words = "Checking against chance and on halves of the rows"
    rows, known_of_rows = _to_fit(dataset)
    try:
        with steps.step(words) as step, step.following(ranker, dataset.X):
            warnings.simplefilter("ignore", SampledRowsWarning)  # the ranking has told of it
            ranker.assess(*rows, **known_of_rows, **effort)
    except KeyboardInterrupt:  # the ranking is there, and may have taken long
        return False
    return True


def _find_markers(dataset: Dataset, ranker: FeatureRanker, steps: Steps) -> Markers:
    rows, known_of_rows = _to_fit(dataset)
    with steps.step("Looking for what marks each class") as step, step.watching(dataset.X):
        found: Markers = ranker.markers(*rows, **known_of_rows)
    return found


def _ask(dataset: Dataset, ranker: FeatureRanker, steps: Steps) -> NextRows:
    with steps.step("Choosing rows to label next") as step, step.watching(dataset.X):
        found: NextRows = ranker.query(dataset.X, dataset.y, N_ASKED, **dataset.of_rows)
    return found


def _outcome(
    request: RankRequest, dataset: Dataset, ranker: FeatureRanker, n_wanted: int
) -> Outcome:
    """Put together what came out; without a number, what is confirmed is selected."""
    spread: dict[str, Any] = {}
    if dataset.is_spread and ranker._features is None:
        spread = {"variables": dataset.variables, "variable_of": dataset.variable_of}
    outcome = outcome_of(ranker, dataset.feature_names, seed=request.seed, **spread)
    is_decided = request.number is None and outcome.decisions is not None
    return outcome.select("confirmed" if is_decided else n_wanted)
