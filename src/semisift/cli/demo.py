"""``semisift demo``: real measurements hidden among shuffled copies of themselves.

The data set is scikit-learn's bundled breast-cancer table: 30 measurements of cell nuclei. Every
measurement is copied many times with its rows shuffled, so that a copy has the same values as the
original and nothing to do with the diagnosis. Right and wrong picks can then be counted. A few
rows of each class keep their label; the hidden labels serve only to judge the result.
"""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from semisift.cli._options import A_SEED, AT_LEAST_1, command, option, read_jobs

if TYPE_CHECKING:
    from rich.console import Console

# scikit-learn, rich and the rankers are imported inside functions: ``semisift demo --help`` and a
# mistyped option should not wait for them.

N_COPIES = 20
N_RANDOM_CHOICES = 20
TEST_SHARE = 0.3
COUNT_AT = (10, 20)
UNLABELLED = -1


@dataclass(frozen=True)
class HiddenMeasurements:
    """A partly labelled table in which the real columns are known to the judge alone."""

    X_train: NDArray[np.float64]
    X_test: NDArray[np.float64]
    y_train: NDArray[np.int64]
    """Labels of the training rows, -1 where hidden: all that the ranker sees."""
    y_train_true: NDArray[np.int64]
    y_test: NDArray[np.int64]
    names: NDArray[np.str_]
    is_real: NDArray[np.bool_]

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Which training rows carry a label."""
        return self.y_train != UNLABELLED


@dataclass(frozen=True)
class Accuracy:
    """Shares of rows classified correctly, judged by labels that training never saw."""

    features: str
    unlabelled: float
    test: float


def hide_among_copies(
    X: NDArray[np.float64], names: list[str], n_copies: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.str_], NDArray[np.bool_]]:
    """Add shuffled copies of every column and put all columns in a random order.

    Parameters
    ----------
    X : array of shape (n, p)
    names : list of p names
    n_copies : int
        Copies of each column, each with its rows shuffled on its own.
    rng : numpy.random.Generator

    Returns
    -------
    X : array of shape (n, p * (n_copies + 1))
    names : array of that many names
    is_real : boolean array, true for the original columns
    """
    copies = rng.permuted(np.tile(X, n_copies), axis=0)
    copy_names = [f"{name} (copy {i})" for i in range(1, n_copies + 1) for name in names]
    wide = np.hstack([X, copies])
    order = rng.permutation(wide.shape[1])
    return wide[:, order], np.array([*names, *copy_names])[order], order < X.shape[1]


def keep_labels(
    y: NDArray[np.int64], per_class: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return `y` with -1 everywhere except on `per_class` random rows of each class."""
    from semisift.io._labels import rows_to_keep

    for label, n_rows in zip(*np.unique(y, return_counts=True), strict=True):
        if n_rows < per_class:
            raise ValueError(f"class {label} has {n_rows} rows, {per_class} labels were asked")
    return np.where(rows_to_keep(y, per_class, rng), y, UNLABELLED)


def build_data(labels_per_class: int, seed: int, n_copies: int = N_COPIES) -> HiddenMeasurements:
    """Load the breast-cancer table, hide its columns and most of its labels, and split it."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split

    rng = np.random.default_rng(seed)
    table = load_breast_cancer()
    X, names, is_real = hide_among_copies(table.data, list(table.feature_names), n_copies, rng)
    X_train, X_test, y_train, y_test = train_test_split(
        X,
        table.target.astype(np.int64),
        test_size=TEST_SHARE,
        stratify=table.target,
        random_state=seed,
    )
    partly = keep_labels(y_train, labels_per_class, rng)
    return HiddenMeasurements(X_train, X_test, partly, y_train, y_test, names, is_real)


def count_real(
    is_real: NDArray[np.bool_], ranking: NDArray[np.integer], k: int
) -> tuple[int, float]:
    """Count the real columns among the best `k`, and how many chance would put there."""
    found = int(is_real[ranking <= k].sum())
    return found, k * float(is_real.mean())


def evaluate(data: HiddenMeasurements, columns: NDArray[np.integer], features: str) -> Accuracy:
    """Train a logistic regression on the labelled rows and judge it by the hidden labels."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from semisift import LabelledOnly

    model = make_pipeline(StandardScaler(), LabelledOnly(LogisticRegression(max_iter=1000)))
    model.fit(data.X_train[:, columns], data.y_train)
    right = model.predict(data.X_train[:, columns]) == data.y_train_true
    test = model.score(data.X_test[:, columns], data.y_test)
    return Accuracy(features, float(right[~data.labelled].mean()), float(test))


def compare_selections(
    data: HiddenMeasurements, selected: NDArray[np.integer], seed: int
) -> list[Accuracy]:
    """Judge the selected columns beside all columns, random ones and the real ones."""
    rng, n_columns, n_selected = np.random.default_rng(seed), len(data.names), len(selected)
    choices = [
        evaluate(data, rng.choice(n_columns, n_selected, replace=False), "")
        for _ in range(N_RANDOM_CHOICES)
    ]
    real = f"the {data.is_real.sum()} real ones (SSFI is not told which)"
    return [
        evaluate(data, selected, f"the {n_selected} selected by SSFI"),
        evaluate(data, np.arange(n_columns), f"all {n_columns} columns"),
        Accuracy(
            f"{n_selected} random columns, mean of {N_RANDOM_CHOICES} choices",
            unlabelled=float(np.mean([choice.unlabelled for choice in choices])),
            test=float(np.mean([choice.test for choice in choices])),
        ),
        evaluate(data, np.flatnonzero(data.is_real), real),
    ]


def verdict(selected: Accuracy, others: list[Accuracy]) -> str:
    """Say in one sentence how the selection did on the test rows, better or worse."""
    parts = []
    for other in others:
        points = round(100 * selected.test, 1) - round(100 * other.test, 1)
        if abs(points) < 0.05:
            parts.append(f"as well as {other.features}")
        else:
            word = "better" if points > 0 else "worse"
            parts.append(f"{abs(points):.1f} points {word} than {other.features}")
    return f"On the test rows the selected columns do {'; '.join(parts)}."


def rank_columns(
    data: HiddenMeasurements, top: int, seed: int, n_jobs: int | None
) -> tuple[Any, float]:
    """Fit SSFI on the partly labelled training rows; return it with the seconds of its fit."""
    from semisift import SSFI

    ranker = SSFI(n_features_to_select=top, random_state=seed, n_jobs=n_jobs)
    start = time.perf_counter()
    ranker.fit(data.X_train, data.y_train)
    return ranker, time.perf_counter() - start


def describe(data: HiddenMeasurements) -> str:
    """Say what the data is, in two or three sentences."""
    n_real, n_columns = int(data.is_real.sum()), len(data.names)
    n_labelled = int(data.labelled.sum())
    return (
        f"Breast-cancer data of scikit-learn: {n_real} real measurements hidden among "
        f"{n_columns - n_real} shuffled copies of themselves.\n"
        f"{len(data.y_train)} rows to learn from, of which {n_labelled} carry a label and "
        f"{len(data.y_train) - n_labelled} do not; {len(data.y_test)} test rows set aside."
    )


def show_columns(console: "Console", data: HiddenMeasurements, ranker: Any) -> None:
    """Print the best columns, and how many of them are real beside what chance would give."""
    from rich.table import Column, Table
    from rich.text import Text

    top = int(ranker.get_support().sum())
    table = Table(
        *(Column("rank", justify="right"), "column"),
        *(Column("score", justify="right"), "what it is"),
        title=f"The {top} best columns",
        title_justify="left",
    )
    real, copy = Text("real", style="green"), Text("shuffled copy", style="red")
    for column in np.argsort(ranker.ranking_)[:top]:
        rank, score = str(ranker.ranking_[column]), f"{ranker.scores_[column]:.4f}"
        name = Text(str(data.names[column]))
        table.add_row(rank, name, score, real if data.is_real[column] else copy)
    console.print(table)
    for k in sorted({*COUNT_AT, top}):
        found, expected = count_real(data.is_real, ranker.ranking_, k)
        console.print(f"Real among the best {k}: {found} (by chance {expected:.1f})")


def show_accuracies(console: "Console", accuracies: list[Accuracy]) -> None:
    """Print the accuracies of the compared sets of columns."""
    from rich.table import Column, Table

    table = Table(
        "columns used",
        *(Column(heading, justify="right") for heading in ("unlabelled rows", "test rows")),
        title="Logistic regression trained on the labelled rows: correct predictions",
        title_justify="left",
    )
    for accuracy in accuracies:
        table.add_row(accuracy.features, f"{accuracy.unlabelled:.1%}", f"{accuracy.test:.1%}")
    console.print(table)
    console.print(verdict(accuracies[0], accuracies[1:3]))


@dataclass(frozen=True, kw_only=True)
class DemoRequest:
    """What the user asked to see."""

    seed: int = option("Seed of every random choice.", default=0, type=A_SEED)
    labels_per_class: int = option(
        "Rows of each class that keep their label.", default=5, type=AT_LEAST_1
    )
    top: int = option(
        "How many columns to select and show.",
        default=10,
        type=click.IntRange(min=1, max=30 * (N_COPIES + 1)),
    )
    n_jobs: int | None = option("Threads to use; -1 for all cores.", "N", type=read_jobs)


@command(DemoRequest, Options=("seed", "labels_per_class", "top", "n_jobs"))
def demo(**options: Any) -> None:
    """Find real measurements hidden among shuffled copies, from a few labels.

    The hidden labels judge the result; whatever they say is printed.
    """
    from semisift.cli._terminal import Terminal

    request = DemoRequest(**options)
    console, busy = Terminal(), Terminal(stderr=True)
    data = build_data(request.labels_per_class, request.seed)
    console.print(describe(data))
    with busy.status("SSFI is ranking the columns ..."):
        ranker, seconds = rank_columns(data, request.top, request.seed, request.n_jobs)
    with busy.status("Judging the selection by the hidden labels ..."):
        selected = np.flatnonzero(ranker.get_support())
        accuracies = compare_selections(data, selected, request.seed)
    console.print(f"\nSSFI ranked {len(data.names)} columns in {seconds:.2f} s.\n")
    show_columns(console, data, ranker)
    console.print()
    show_accuracies(console, accuracies)
    right = (ranker.transduction_ == data.y_train_true)[~data.labelled]
    console.print(
        f"Labels that SSFI itself gave to the unlabelled rows: {right.mean():.1%} are right."
    )
