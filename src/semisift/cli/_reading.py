"""From a file to a data set whose labels suffice."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import click

from semisift.cli._capabilities import names_of_takers
from semisift.cli._options import FileRequest
from semisift.cli._terminal import Steps, Terminal
from semisift.exceptions import NoUnlabelledDataWarning, TableError
from semisift.io import Dataset, FileTable, TableOptions, load
from semisift.io._on_disk import few_rows
from semisift.registry import CLASSIFIERS, METHODS
from semisift.utils._columns import LONG_TAIL, has_long_tails
from semisift.utils._text import examples, plural, printable_name
from semisift.utils._warnings import warn


def read_dataset(request: FileRequest, steps: Steps, who: str, needs_labels: bool) -> Dataset:
    """Read the table and the files beside it, and say how they were read.

    Parameters
    ----------
    request : FileRequest
    steps : Steps
    who : str
        What is going to learn from it, for messages.
    needs_labels : bool

    Returns
    -------
    Dataset
    """
    check_reading(request)

    def check(table: FileTable) -> None:
        if needs_labels and not (request.labels or request.label or table.label):
            cure = ", or give them in a file of their own with --labels"
            if other := without_labels(who):
                cure += f", or{other}".removesuffix(",")
            raise labels_are_not_named(table, who, cure)

    with steps.step(f"Reading {Path(request.table).name}"):
        dataset = load(request.table, request, check)
    if request.is_told:
        _tell(request.table, dataset)
    return dataset


def _tell(file: str, dataset: Dataset) -> None:
    """Say what was read, and what was done to it."""
    labelled = Counter(str(label) for label in dataset.y if label is not None)
    of_each = ", ".join(
        f"{n} {printable_name(label)}" for label, n in sorted(labelled.items())[:10]
    )
    console = Terminal()
    console.print(
        f"{Path(file).name}: {plural(len(dataset.y), 'row')}{_in_parts(dataset)}, of which "
        f"{labelled.total():,} carry a label ({of_each or 'none'}"
        f"{', ...' if len(labelled) > 10 else ''}); {plural(len(dataset.variables), 'feature')}."
    )
    is_dense = not getattr(dataset.X, "is_sparse", False)  # others are not judged
    advice = [LONG_TAIL] if is_dense and has_long_tails(few_rows(dataset.X)) else []
    tell_notes([*dataset.notes, *advice])


def _in_parts(dataset: Dataset) -> str:
    """Say how many groups and batches the rows are of."""
    parts = [(" of", dataset.groups, "group", None), (" in", dataset.batch, "batch", "batches")]
    return "".join(
        f"{word} {plural(len(set(names)), noun, nouns)}"
        for word, names, noun, nouns in parts
        if names is not None
    )


def tell_notes(notes: Iterable[str]) -> None:
    """Print what was done to a table, or not found in it."""
    console = Terminal()
    for note in notes:
        console.print(f"Note: {note}")


def check_classes(
    dataset: Dataset,
    who: str,
    needed: Literal["none", "optional", "two_classes"],
    supports_positive_unlabelled: bool,
) -> None:
    """Refuse too few classes, and say so where nothing is unlabelled."""
    labelled = Counter(label for label in dataset.y if label is not None)
    n_unlabelled = len(dataset.y) - labelled.total()
    is_enough = len(labelled) > 1
    if supports_positive_unlabelled and len(labelled) == 1:  # the rest is sought among the others
        is_enough = n_unlabelled > 1
    if needed == "two_classes" and not is_enough:
        found, cure = "no row is labelled", f"each class,{without_labels(who)}"
        if labelled:
            (label, n_labelled), *_ = labelled.items()
            found = (
                f"there are {n_labelled} rows of the class {label!r} and {n_unlabelled} unlabelled"
            )
            cure = "another class,"
            if who in CLASSIFIERS and not supports_positive_unlabelled:
                able = " or ".join(names_of_takers("one labelled class", CLASSIFIERS))
                cure += f" take a method that finds the rest by itself (--method {able}),"
        raise TableError(
            f"{dataset.table.path}: {who} needs labelled rows of at least two classes, and "
            f"{found}. Label a few rows of {cure} or look whether --label and "
            "--unlabelled are right."
        )
    if labelled and not n_unlabelled and needed != "none":
        warn(
            f"every row of {dataset.table.path} is labelled, so there is nothing to learn from "
            "unlabelled rows. Say --unlabelled with the value that marks them, if there are such "
            "rows.",
            NoUnlabelledDataWarning,
        )


def without_labels(who: str) -> str:
    """Say which methods rank without labels, where `who` is one that ranks with them."""
    if who not in METHODS:
        return ""
    names = [name for name, each in METHODS.items() if each.cls.labels_needed == "none"]
    return f" rank without labels (--method {' or '.join(names)}),"


def check_reading(options: TableOptions) -> None:
    """Refuse what no table can be read with, as wrong usage."""
    try:
        options.check()
    except TableError as error:
        raise click.UsageError(str(error)) from error


def labels_are_not_named(table: FileTable, who: str, cure: str = "") -> TableError:
    """Return the error that asks for the labels of a table that names none itself.

    Parameters
    ----------
    table : FileTable
    who : str
        What needs them.
    cure : str
        What else could be done, as the end of a sentence.
    """
    columns = [*table.rows.columns, *table.names]
    return TableError(
        f"{table.path}: {who} needs labels. Say with --label which column holds them (the columns "
        f"are {examples(columns)}){cure}."
    )
