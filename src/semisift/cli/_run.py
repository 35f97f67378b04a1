"""From a file to a ranking and its outputs: what ``rank`` and ``select`` have in common."""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from semisift._files import drafts
from semisift._words import count
from semisift.cli import _outputs
from semisift.cli._options import parse_parameters
from semisift.cli._progress import Steps
from semisift.cli._reading import check_classes, read_dataset
from semisift.cli._result import Request, Result
from semisift.exceptions import NothingUnlabelledWarning, TableError
from semisift.registry import METHODS, Method
from semisift.tables import Dataset, write

if TYPE_CHECKING:
    from semisift._base import FeatureRanker
    from semisift.report import Ranking

DEFAULT_TOP = 20


def run(request: Request) -> None:
    """Read, rank, write and show."""
    method = find_method(request.method)
    outputs = _outputs.check(request)
    _check_takes_pairs(request, method)
    parameters = parse_parameters(request.param, method.cls)
    if request.labels_out and not method.cls.labels_rows:
        raise click.BadParameter(
            f"{method.name} gives no labels to rows. Methods that do: {_labelling_methods()}.",
            param_hint="--labels-out",
        )
    steps = Steps(request.quiet)
    needs_labels = method.cls.labels_needed == "two_classes" and not request.has_pairs
    dataset = read_dataset(request, steps, method.name, needs_labels)
    if not request.has_pairs:  # they say what the labels would
        check_classes(dataset, method.name, method.cls.labels_needed)
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


def find_method(name: str, hint: str = "--method", others: Sequence[str] = ()) -> Method:
    """Return the method of that name, or say which there are, and which `others`."""
    if name not in METHODS:
        raise click.BadParameter(
            f"there is no method {name!r}. There are {', '.join([*METHODS, *others])}.",
            param_hint=hint,
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
        click.echo(_outputs.told_as_text(result.ranking.to_polars(), result.facts), nl=False)
