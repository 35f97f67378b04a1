"""From a file to a ranking and its outputs: what ``rank`` and ``select`` have in common."""

import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from semisift._files import drafts
from semisift._warnings import warn
from semisift._words import count
from semisift.cli import _outputs
from semisift.cli._options import parse_parameters
from semisift.cli._progress import Steps
from semisift.cli._result import Request, Result
from semisift.cli._tables import labels_are_not_named
from semisift.exceptions import NothingUnlabelledWarning, TableError
from semisift.registry import METHODS, Method
from semisift.tables import Dataset, Table, prepare, read, write

if TYPE_CHECKING:
    from semisift._base import FeatureRanker
    from semisift.report import Ranking

DEFAULT_TOP = 20


def run(request: Request) -> None:
    """Read, rank, write and show."""
    method = find_method(request.method)
    outputs = _outputs.check(request)
    _check_takes_pairs(request, method)
    request.check_reading()
    steps = Steps(request.quiet)
    with steps.step(f"Reading {Path(request.table).name}"):
        table = read(request.table, request.read_options, request.format_)
    parameters = parse_parameters(request.param, method.cls)
    if request.labels_out and not method.cls.labels_rows:
        raise click.BadParameter(
            f"{method.name} gives no labels to rows. Methods that do: {_labelling_methods()}.",
            param_hint="--labels-out",
        )
    with steps.step(f"Preparing {Path(request.table).name}"):
        _check_labels_are_named(request, table, method)
        options = request.read_options.for_labels
        labels_table = None if request.labels is None else read(request.labels, options)
        dataset = prepare(table, request.choices(labels_table))
    _check_classes(dataset, method)
    n_selected = _count(request.top, len(dataset.variables))
    with steps.step(f"Ranking {len(dataset.variables):,} features by {method.name}") as step:
        ranker = _fit(request, method, parameters, dataset, n_selected, step)
    result = Result(
        request, method, dataset, ranker, _ranking(request, dataset, ranker), n_selected
    )
    with steps.step("Writing the results"):
        _write(result, outputs)
    if not request.quiet and request.ranking != "-":
        _outputs.show(result)


def find_method(name: str, hint: str = "--method") -> Method:
    """Return the method of that name, or say which there are."""
    if name not in METHODS:
        raise click.BadParameter(
            f"there is no method {name!r}. There are {', '.join(METHODS)}.", param_hint=hint
        )
    return METHODS[name]


def _check_takes_pairs(request: Request, method: Method) -> None:
    """Refuse pairs for a method that does not learn from them."""
    from semisift._base import PairRanker

    for option, given in (
        ("--must-link", request.must_link),
        ("--cannot-link", request.cannot_link),
    ):
        if given is not None and not issubclass(method.cls, PairRanker):
            able = [name for name, each in METHODS.items() if issubclass(each.cls, PairRanker)]
            raise click.BadParameter(
                f"{method.name} does not learn from pairs; {', '.join(able)} do.",
                param_hint=option,
            )


def _labelling_methods() -> str:
    return ", ".join(name for name, method in METHODS.items() if method.cls.labels_rows)


def _check_labels_are_named(request: Request, table: Table, method: Method) -> None:
    if method.cls.labels_needed != "two_classes" or request.labels or request.label or table.label:
        return
    if request.has_pairs:
        return
    raise labels_are_not_named(
        table, method.name, ", or give them in a file of their own with --labels"
    )


def _check_classes(dataset: Dataset, method: Method) -> None:
    """Refuse too few classes, and say so where nothing is unlabelled."""
    if dataset.must_link is not None or dataset.cannot_link is not None:
        return  # they say what the labels would
    labelled = Counter(label for label in dataset.y if label is not None)
    n_unlabelled = len(dataset.y) - labelled.total()
    if method.cls.labels_needed == "two_classes" and len(labelled) < 2:
        found = "no row is labelled"
        if labelled:
            (label, n_labelled), *_ = labelled.items()
            found = (
                f"there are {n_labelled} rows of the class {label!r} and {n_unlabelled} unlabelled"
            )
        raise TableError(
            f"{dataset.table.path}: {method.name} needs labelled rows of at least two classes, and "
            f"{found}. Label a few rows of another class, or look whether --label and "
            "--unlabelled are right."
        )
    if labelled and not n_unlabelled and method.cls.labels_needed != "none":
        warn(
            f"every row of {dataset.table.path} is labelled, so there is nothing to learn from "
            "unlabelled rows. Say --unlabelled with the value that marks them, if there are such "
            "rows.",
            NothingUnlabelledWarning,
        )


def _count(top: int | None, n_features: int) -> int:
    if top is None:
        return min(DEFAULT_TOP, n_features)
    if top > n_features:
        raise TableError(f"--top {top}: the table has {count(n_features, 'feature')} only.")
    return top


def _fit(
    request: Request,
    method: Method,
    parameters: dict[str, Any],
    dataset: Dataset,
    n_selected: int,
    callback: Any,
) -> "FeatureRanker":
    if "n_jobs" in method.cls().get_params(deep=False):
        parameters = {**parameters, "n_jobs": request.n_jobs}
    ranker = method.cls(
        n_features_to_select=n_selected,
        redundancy_threshold=request.redundancy,
        random_state=request.seed,
        **parameters,
    ).set_callbacks(callback)
    pairs = {"must_link": dataset.must_link, "cannot_link": dataset.cannot_link}
    pairs = {name: given for name, given in pairs.items() if given is not None}
    labelled = any(label is not None for label in dataset.y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingUnlabelledWarning)  # said in the table's own words
        ranker.fit(dataset.X, dataset.y if labelled else None, **pairs)
    return ranker.set_callbacks()


def _ranking(request: Request, dataset: Dataset, ranker: "FeatureRanker") -> "Ranking":
    from semisift.report import ranking_of, ranking_of_variables

    if not dataset.is_spread:
        return ranking_of(ranker, dataset.feature_names)
    return ranking_of_variables(
        ranker, dataset.feature_names, dataset.variable_of, dataset.variables, request.seed
    )


def _write(result: Result, outputs: dict[str, Path]) -> None:
    writers: dict[str, Callable[[Path], None]] = {
        "ranking": lambda path: _outputs.write_ranking(result, path),
        "labels_out": lambda path: _outputs.write_labels(result, path),
        "report": lambda path: _outputs.write_page(result, path),
        "reduced": lambda path: write(result.dataset.reduced(result.selected), path),
    }
    with drafts(list(outputs.values())) as paths:
        for name, path in zip(outputs, paths, strict=True):
            writers[name](path)
    if result.request.ranking == "-":
        click.echo(_outputs.ranking_as_csv(result), nl=False)
