"""``semisift predict``: a table in, a label for every row out."""

import inspect
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray
from rich.table import Column, Table
from rich.text import Text

from semisift.cli import _options, _reading
from semisift.cli._options import Options, section
from semisift.cli._terminal import Terminal
from semisift.registry import CLASSIFIERS, Learner
from semisift.utils._text import plural, printable_name

if TYPE_CHECKING:
    import polars as pl

    from semisift.io import Dataset

# The most accurate one on the sets of docs/results/labels.md, and its confidence can be trusted.
DEFAULT_METHOD = "transduction"

# More than this share of doubtful labels is warned of.
MAX_DOUBTFUL = 0.25


@_options.command()
@_options.TABLE
@section(
    "Results",
    click.option("--out", metavar="FILE", required=True),
    click.option("--probabilities", is_flag=True),
    _options.SPREADSHEET_SAFE,
    _options.QUIET,
)
@section(
    "Method",
    click.option("--method", metavar="NAME", default=DEFAULT_METHOD, show_default=True),
    _options.PARAM,
    _options.SEED,
    _options.N_JOBS,
)
@section("Table", *_options.reading_options(_options.IN_MEMORY))
def predict(**given: Any) -> None:
    """Predict the labels of the rows of a table that carry none.

    TABLE is a file or folder, as for `semisift rank`. A classifier for partly labelled data learns
    from all rows and labels those without a label. Given labels stay as they are.

    Parameters
    ----------
    out
        Write a label and a confidence for every row (csv, tsv, parquet or json); - prints them as
        csv.
    probabilities
        Write the probability of each class as well.
    method
        How to predict; `semisift methods --learners` lists the names. --param estimator=NAME names
        the classifier inside: tree, forest, knn:n_neighbors=3, nb, svm, or a class by path.

    Examples
    --------
      semisift predict table.csv --label diagnosis --out labels.csv
      semisift predict table.csv --label diagnosis --method rel-rasco --out labels.csv
      semisift predict digits.npz --labels-per-class 3 --method labelled-only --out labels.csv
    """
    options = Options(**given)
    learner = _options.find_named(CLASSIFIERS, options.method, "learner", "--method")
    _reading.check_input(options, learner, CLASSIFIERS)
    from semisift.cli import _output

    path = _output.result_path(options)
    classifier = _make(learner, options)
    dataset, steps = _reading.read_dataset(options, learner.name, needs_labels=True)
    _reading.check_classes(dataset, learner)
    with steps.step(f"Labelling {plural(len(dataset.y), 'row')} by {learner.name}") as step:
        try:
            with step.following(classifier):
                predictions = _predict(dataset, classifier)
        except TypeError as error:  # as classifiers refuse a sparse matrix
            problem = f"{learner.name} cannot learn from {options.table}: {error}"
            raise ValueError(problem) from error
    with steps.step("Writing the labels"):
        facts = _output.provenance(options, learner, dataset, classifier)
        frame = predictions.to_frame(options.probabilities)
        _output.write_result(frame, path, "labels", facts, options)
    if options.is_verbose:
        _show(predictions, learner.name, options.out)
    _warn_of_doubtful(predictions)


def _make(learner: Learner, options: Options) -> Any:
    """Return the classifier, with the user's parameters and seed."""
    from sklearn.ensemble import RandomForestClassifier

    from semisift.comparison._evaluators import EVALUATORS
    from semisift.comparison._specs import make, set_seeds

    known = inspect.signature(learner.cls).parameters
    own_options = _options.CLASSIFIER_OPTIONS
    parameters = _options.parse_parameters(options.param, learner.cls, own_options)
    needs_estimator = "estimator" in known and known["estimator"].default is inspect.Parameter.empty
    wanted = parameters.get("estimator")
    if wanted is None and needs_estimator:
        wanted = "forest"
    if isinstance(wanted, str):
        estimators = {**EVALUATORS, "forest": RandomForestClassifier}
        parameters["estimator"] = make(wanted, estimators, "estimator")
    if "n_jobs" in known:
        parameters["n_jobs"] = options.n_jobs
    classifier = learner.cls(**parameters)
    set_seeds(classifier, options.seed)
    if options.probabilities and not hasattr(classifier, "predict_proba"):
        raise click.BadParameter(
            f"{learner.name} with estimator={wanted} tells no probabilities.",
            param_hint="--probabilities",
        )
    return classifier


@dataclass(frozen=True, eq=False)
class Predictions:
    """A label for every row; `probabilities` is None where the classifier gives none."""

    dataset: "Dataset"
    classifier: Any
    is_given: NDArray[np.bool_]
    labels: NDArray[Any]
    probabilities: NDArray[np.floating] | None

    @property
    def confidence(self) -> NDArray[np.floating]:
        """The probability of each label; NaN where the classifier gives none."""
        if self.probabilities is None:
            return np.full(len(self.labels), np.nan)
        code = {label: i for i, label in enumerate(self.classifier.classes_.tolist())}
        codes = [code[label] for label in self.labels.tolist()]
        return self.probabilities[np.arange(len(codes)), codes]

    def to_frame(self, with_probabilities: bool) -> "pl.DataFrame":
        """Return a line for each row."""
        import polars as pl

        columns: dict[str, Any] = {
            "row": self.dataset.row_ids,
            "given_label": [None if label is None else str(label) for label in self.dataset.y],
            "label": [str(label) for label in self.labels],
            "confidence": [None if np.isnan(value) else value for value in self.confidence],
        }
        if with_probabilities and self.probabilities is not None:
            names = [f"p_{label}" for label in self.classifier.classes_]
            columns |= zip(names, self.probabilities.T, strict=True)
        types = {"given_label": pl.String, "confidence": pl.Float64}
        return pl.DataFrame(columns, schema_overrides=types)


def _predict(dataset: "Dataset", classifier: Any) -> Predictions:
    """Fit the classifier and predict the rows; given labels stay."""
    classifier.fit(dataset.X, dataset.y, **dataset.of_rows)
    labels = classifier.predict(dataset.X).astype(object)
    has_probabilities = hasattr(classifier, "predict_proba")
    probabilities = classifier.predict_proba(dataset.X) if has_probabilities else None
    is_given = np.array([label is not None for label in dataset.y], dtype=bool)
    labels[is_given] = dataset.y[is_given]
    return Predictions(dataset, classifier, is_given, labels, probabilities)


def _show(predictions: Predictions, method: str, out: str) -> None:
    """Print how many rows have which label, and the mean confidence."""
    from semisift.cli import _output
    from semisift.transduction._positive_unlabelled import CAUTION
    from semisift.transduction._soft_labels import doubt_of

    console, classifier, dataset = Terminal(), predictions.classifier, predictions.dataset
    is_given, labels, confidence = predictions.is_given, predictions.labels, predictions.confidence
    console.print(f"The labels of all rows by {method}")
    numbers = [Column(name, justify="right") for name in ("given", "predicted", "mean confidence")]
    table = Table(Column("label", overflow="fold"), *numbers)
    given, predicted = Counter(labels[is_given].tolist()), Counter(labels[~is_given].tolist())
    for label in classifier.classes_.tolist():
        mean = _mean(confidence[~is_given & (labels == label)])
        name = Text(printable_name(label))
        table.add_row(name, f"{given[label]:,}", f"{predicted[label]:,}", mean)
    table.add_section()
    totals = f"{given.total():,}", f"{predicted.total():,}"
    table.add_row("all", *totals, _mean(confidence[~is_given]))
    console.print(table)
    sentences = (
        _output.rest_sentence(dataset, classifier),
        CAUTION if hasattr(classifier, "positive_share_") else None,
        doubt_of(classifier),
        _output.trial_sentence(dataset, labels),
        f"Written: {out}",
    )
    for sentence in filter(None, sentences):
        console.print(sentence)


def _mean(values: NDArray[np.floating]) -> str:
    return f"{values.mean():.3f}" if len(values) and not np.isnan(values).any() else ""


def _warn_of_doubtful(predictions: Predictions) -> None:
    """Warn where the classifier can hardly decide on many rows."""
    from semisift.transduction._soft_labels import DOUBTFUL_MARGIN, doubtful

    if predictions.probabilities is None or predictions.is_given.all():
        return
    in_doubt = doubtful(predictions.probabilities[~predictions.is_given])
    n_doubtful = int(np.count_nonzero(in_doubt))
    if n_doubtful > MAX_DOUBTFUL * len(in_doubt):
        click.echo(
            f"Warning: the classifier is in doubt about {n_doubtful:,} of "
            f"{plural(len(in_doubt), 'predicted label')} ({n_doubtful / len(in_doubt):.0%}): the "
            f"probability of a second class is less than {DOUBTFUL_MARGIN:g} below that of the "
            "label. Label more rows, or try another method.",
            err=True,
        )
