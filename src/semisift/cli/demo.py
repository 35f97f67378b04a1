"""``semisift demo``: real measurements hidden among shuffled copies of themselves.

The data set is scikit-learn's bundled breast-cancer table: 30 measurements of cell nuclei. Every
measurement is copied many times with its rows shuffled, so that a copy has the same values as the
original and nothing to do with the diagnosis. Right and wrong picks can then be counted. A few
rows of each class keep their label; the hidden labels serve only to judge the result.
"""

import time
from dataclasses import dataclass
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from rich.table import Column, Table
from rich.text import Text

from semisift.cli import _options
from semisift.cli._terminal import Terminal

N_COPIES = 20
N_RANDOM_CHOICES = 20
TEST_SHARE = 0.3
COUNT_AT = (10, 20)
UNLABELLED = -1


@dataclass(frozen=True)
class HiddenMeasurements:
    """A partly labelled table; `y_train` is -1 where a label is hidden from the ranker."""

    X_train: NDArray[np.float64]
    X_test: NDArray[np.float64]
    y_train: NDArray[np.int64]
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
    """Return the columns and shuffled copies of each in random order, and which are real."""
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
    y = table.target.astype(np.int64)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=TEST_SHARE, stratify=y, random_state=seed
    )
    partly = keep_labels(y_train, labels_per_class, rng)
    return HiddenMeasurements(X_train, X_test, partly, y_train, y_test, names, is_real)


def rank_columns(
    data: HiddenMeasurements, top: int, seed: int, n_jobs: int | None
) -> tuple[Any, float]:
    """Fit SSFI on the partly labelled training rows; return it with the seconds of its fit."""
    from semisift import SSFI

    ranker = SSFI(n_features_to_select=top, random_state=seed, n_jobs=n_jobs)
    start = time.perf_counter()
    ranker.fit(data.X_train, data.y_train)
    return ranker, time.perf_counter() - start


def count_real(
    is_real: NDArray[np.bool_], ranking: NDArray[np.integer], k: int
) -> tuple[int, float]:
    """Count the real columns among the best `k`, and how many chance would put there."""
    return int(is_real[ranking <= k].sum()), k * float(is_real.mean())


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
    """Return how the selection did on the test rows, better or worse, in one sentence."""
    parts = []
    for other in others:
        points = round(100 * selected.test, 1) - round(100 * other.test, 1)
        word = "better" if points > 0 else "worse"
        is_equal = abs(points) < 0.05
        how = "as well as" if is_equal else f"{abs(points):.1f} points {word} than"
        parts.append(f"{how} {other.features}")
    return f"On the test rows the selected columns do {'; '.join(parts)}."


def show_columns(console: Terminal, data: HiddenMeasurements, ranker: Any) -> None:
    """Print the best columns, and how many of them are real beside what chance would give."""
    top = int(ranker.get_support().sum())
    columns = (Column("rank", justify="right"), "column", Column("score", justify="right"))
    title = f"The {top} best columns"
    table = Table(*columns, "what it is", title=title, title_justify="left")
    real, copy = Text("real", style="green"), Text("shuffled copy", style="red")
    for column in np.argsort(ranker.ranking_)[:top]:
        rank, score = str(ranker.ranking_[column]), f"{ranker.scores_[column]:.4f}"
        name = Text(str(data.names[column]))
        table.add_row(rank, name, score, real if data.is_real[column] else copy)
    console.print(table)
    for k in sorted({*COUNT_AT, top}):
        found, expected = count_real(data.is_real, ranker.ranking_, k)
        console.print(f"Real among the best {k}: {found} (by chance {expected:.1f})")


def show_accuracies(console: Terminal, accuracies: list[Accuracy]) -> None:
    """Print the accuracies of the compared sets of columns."""
    headings = (Column(heading, justify="right") for heading in ("unlabelled rows", "test rows"))
    title = "Logistic regression trained on the labelled rows: correct predictions"
    table = Table("columns used", *headings, title=title, title_justify="left")
    for accuracy in accuracies:
        table.add_row(accuracy.features, f"{accuracy.unlabelled:.1%}", f"{accuracy.test:.1%}")
    console.print(table)
    console.print(verdict(accuracies[0], accuracies[1:3]))


@_options.command()
@click.option("--seed", default=0, show_default=True, type=_options.SEED_RANGE)
@click.option("--labels-per-class", default=5, show_default=True, type=_options.AT_LEAST_1)
@click.option("--top", default=10, show_default=True, type=click.IntRange(1, 30 * (N_COPIES + 1)))
@click.option("--n-jobs", metavar="N", type=_options.read_jobs)
def demo(seed: int, labels_per_class: int, top: int, n_jobs: int | None) -> None:
    """Find real measurements hidden among shuffled copies, from a few labels.

    The hidden labels judge the result; whatever they say is printed.

    Parameters
    ----------
    seed
        Seed of every random choice.
    labels_per_class
        Rows of each class that keep their label.
    top
        How many columns to select and show.
    n_jobs
        Threads to use; -1 for all cores.
    """
    console, busy = Terminal(), Terminal(stderr=True)
    data = build_data(labels_per_class, seed)
    n_real, n_columns, n_rows = int(data.is_real.sum()), len(data.names), len(data.y_train)
    n_labelled = int(data.labelled.sum())
    console.print(
        f"Breast-cancer data of scikit-learn: {n_real} real measurements hidden among "
        f"{n_columns - n_real} shuffled copies of themselves.\n"
        f"{n_rows} rows to learn from, of which {n_labelled} carry a label and "
        f"{n_rows - n_labelled} do not; {len(data.y_test)} test rows set aside."
    )
    with busy.status("SSFI is ranking the columns ..."):
        ranker, seconds = rank_columns(data, top, seed, n_jobs)
    with busy.status("Judging the selection by the hidden labels ..."):
        accuracies = compare_selections(data, np.flatnonzero(ranker.get_support()), seed)
    console.print(f"\nSSFI ranked {n_columns} columns in {seconds:.2f} s.\n")
    show_columns(console, data, ranker)
    console.print()
    show_accuracies(console, accuracies)
    right = (ranker.transduction_ == data.y_train_true)[~data.labelled]
    console.print(
        f"Labels that SSFI itself gave to the unlabelled rows: {right.mean():.1%} are right."
    )
