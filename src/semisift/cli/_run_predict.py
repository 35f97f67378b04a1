"""From a file to a label for every row: what ``label`` does."""

import inspect
from collections import Counter
from dataclasses import dataclass
from typing import Any

import click
import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.table import Column, Table
from rich.text import Text
from sklearn.ensemble import RandomForestClassifier

from semisift.cli import _output
from semisift.cli._capabilities import check_reading_is_taken, takes
from semisift.cli._options import OWN_OPTIONS_OF_LEARNERS, find_named, parse_parameters
from semisift.cli._reading import check_classes, read_dataset
from semisift.cli._terminal import Step, Steps, Terminal
from semisift.cli.label import LabelRequest
from semisift.comparison._evaluators import EVALUATORS
from semisift.comparison._specs import make, set_seeds
from semisift.io import Dataset
from semisift.registry import CLASSIFIERS, Learner
from semisift.transduction._positive_unlabelled import CAUTION
from semisift.transduction._soft_labels import DOUBTFUL_MARGIN, doubt_of, doubtful
from semisift.utils._files import drafts
from semisift.utils._text import plural, printable_name

# What ``--param estimator=NAME`` may name, and what serves where one is needed and none is named.
ESTIMATORS = {**EVALUATORS, "forest": RandomForestClassifier}
DEFAULT_ESTIMATOR = "forest"

# More than this share of doubtful labels is warned of.
MANY_DOUBTFUL = 0.25


@dataclass(frozen=True, eq=False)
class Labelled:
    """A label for every row, with all that led to it.

    Attributes
    ----------
    request : LabelRequest
    learner : Learner
    dataset : Dataset
    classifier : object
        Fitted.
    is_given : bool array of shape (n_rows,)
        Which labels are the user's.
    labels : object array of shape (n_rows,)
        The given label, or else the predicted one.
    probabilities : array of shape (n_rows, n_classes), or None
        None where the classifier tells none.
    """

    request: LabelRequest
    learner: Learner
    dataset: Dataset
    classifier: Any
    is_given: NDArray[np.bool_]
    labels: NDArray[Any]
    probabilities: NDArray[np.floating] | None

    @property
    def confidence(self) -> NDArray[np.floating]:
        """The probability of each label; NaN where the classifier tells none."""
        if self.probabilities is None:
            return np.full(len(self.labels), np.nan)
        code = {label: i for i, label in enumerate(self.classifier.classes_.tolist())}
        codes = [code[label] for label in self.labels.tolist()]
        return self.probabilities[np.arange(len(codes)), codes]


def run(request: LabelRequest) -> None:
    """Read, learn, label, write and show."""
    learner = find_named(CLASSIFIERS, request.method, "learner", "--method")
    path = None
    if not _output.is_printed(request.out, "--out"):
        targets = _output.Targets([request.table, *request.files_beside.values()])
        path = targets.add(request.out, "--out", _output.TABLE_ENDINGS)
    check_reading_is_taken(request, learner, CLASSIFIERS)
    classifier = _make(learner, request)
    steps = Steps(request.quiet)
    dataset = read_dataset(request, steps, learner.name, needs_labels=True)
    takes_one = takes(learner.cls, "one labelled class")
    check_classes(dataset, learner.name, "two_classes", takes_one)
    with steps.step(f"Labelling {plural(len(dataset.y), 'row')} by {learner.name}") as step:
        labelled = _label(request, learner, dataset, classifier, step)
    frame, safe = _frame(labelled), request.spreadsheet_safe
    facts = _output.provenance(request, learner, dataset, classifier)
    if path is None:
        click.echo(_output.as_text(frame, facts, safe=safe), nl=False)
    else:
        with steps.step("Writing the labels"), drafts([path]) as (draft,):
            _output.write_table(frame, draft, "labels", facts, safe=safe)
        if not request.quiet:
            _show(labelled)
    _warn_of_doubtful(labelled)


def _make(learner: Learner, request: LabelRequest) -> Any:
    """Return the classifier, with the user's parameters and seed."""
    known = inspect.signature(learner.cls).parameters
    parameters = parse_parameters(request.param, learner.cls, OWN_OPTIONS_OF_LEARNERS)
    wanted = parameters.get("estimator")
    if "estimator" in known and known["estimator"].default is inspect.Parameter.empty:
        wanted = DEFAULT_ESTIMATOR if wanted is None else wanted
    if isinstance(wanted, str):
        parameters["estimator"] = make(wanted, ESTIMATORS, "estimator")
    if "n_jobs" in known:
        parameters["n_jobs"] = request.n_jobs
    classifier = learner.cls(**parameters)
    set_seeds(classifier, request.seed)
    if request.probabilities and not hasattr(classifier, "predict_proba"):
        raise click.BadParameter(
            f"{learner.name} with estimator={wanted} tells no probabilities.",
            param_hint="--probabilities",
        )
    return classifier


def _label(
    request: LabelRequest, learner: Learner, dataset: Dataset, classifier: Any, step: Step
) -> Labelled:
    try:
        with step.following(classifier):
            classifier.fit(dataset.X, dataset.y, **dataset.of_rows)
            labels = classifier.predict(dataset.X).astype(object)
            has_probabilities = hasattr(classifier, "predict_proba")
            probabilities = classifier.predict_proba(dataset.X) if has_probabilities else None
    except TypeError as error:  # as classifiers refuse a sparse matrix
        raise ValueError(f"{learner.name} cannot learn from {request.table}: {error}") from error
    is_given = np.array([label is not None for label in dataset.y], dtype=bool)
    labels[is_given] = dataset.y[is_given]
    return Labelled(request, learner, dataset, classifier, is_given, labels, probabilities)


# --- what is written ------------------------------------------------------------------------------


def _frame(labelled: Labelled) -> pl.DataFrame:
    dataset = labelled.dataset
    columns: dict[str, Any] = {
        "row": dataset.row_ids,
        "given_label": [None if label is None else str(label) for label in dataset.y],
        "label": [str(label) for label in labelled.labels],
        "confidence": [None if np.isnan(value) else value for value in labelled.confidence],
    }
    if labelled.request.probabilities and labelled.probabilities is not None:
        names = [f"p_{label}" for label in labelled.classifier.classes_]
        columns |= zip(names, labelled.probabilities.T, strict=True)
    types = {"given_label": pl.String, "confidence": pl.Float64}
    return pl.DataFrame(columns, schema_overrides=types)


# --- what is shown --------------------------------------------------------------------------------


def _show(labelled: Labelled) -> None:
    """Print how many rows have which label, and how sure the classifier is."""
    console = Terminal()
    is_given, confidence = labelled.is_given, labelled.confidence
    console.print(f"The labels of all rows by {labelled.learner.name}")
    numbers = [Column(name, justify="right") for name in ("given", "predicted", "mean confidence")]
    table = Table(Column("label", overflow="fold"), *numbers)
    given = Counter(labelled.labels[is_given].tolist())
    predicted = Counter(labelled.labels[~is_given].tolist())
    for label in labelled.classifier.classes_.tolist():
        here = _mean(confidence[~is_given & (labelled.labels == label)])
        table.add_row(
            Text(printable_name(label)), f"{given[label]:,}", f"{predicted[label]:,}", here
        )
    table.add_section()
    everywhere = _mean(confidence[~is_given])
    table.add_row("all", f"{given.total():,}", f"{predicted.total():,}", everywhere)
    console.print(table)
    dataset = labelled.dataset
    for sentence in (
        _output.rest_sentence(dataset, labelled.classifier),
        CAUTION if hasattr(labelled.classifier, "positive_share_") else None,
        doubt_of(labelled.classifier),
        _output.trial_sentence(dataset, labelled.labels),
    ):
        if sentence is not None:
            console.print(sentence)
    console.print(f"Written: {labelled.request.out}")


def _mean(values: NDArray[np.floating]) -> str:
    return f"{values.mean():.3f}" if len(values) and not np.isnan(values).any() else ""


def _warn_of_doubtful(labelled: Labelled) -> None:
    """Say so where the classifier can hardly decide on many rows."""
    if labelled.probabilities is None or labelled.is_given.all():
        return
    in_doubt = doubtful(labelled.probabilities[~labelled.is_given])
    n_doubtful = int(np.count_nonzero(in_doubt))
    if n_doubtful > MANY_DOUBTFUL * len(in_doubt):
        click.echo(
            f"Warning: the classifier is in doubt about {n_doubtful:,} of "
            f"{plural(len(in_doubt), 'predicted label')} ({n_doubtful / len(in_doubt):.0%}): the "
            f"probability of a second class is less than {DOUBTFUL_MARGIN:g} below that of the "
            "label. Label more rows, or try another method.",
            err=True,
        )
