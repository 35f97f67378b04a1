"""From a file to a data set whose labels suffice: what ``rank``, ``select`` and ``label`` share."""

from collections import Counter
from pathlib import Path
from typing import Literal

from semisift._warnings import warn
from semisift.cli._progress import Steps
from semisift.cli._result import FileRequest
from semisift.cli._tables import labels_are_not_named
from semisift.exceptions import NothingUnlabelledWarning, TableError
from semisift.registry import METHODS
from semisift.tables import Dataset, prepare, read


def read_dataset(request: FileRequest, steps: Steps, who: str, needs_labels: bool) -> Dataset:
    """Read the table and the files beside it.

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
    request.check_reading()
    name = Path(request.table).name
    with steps.step(f"Reading {name}"):
        table = read(request.table, request.read_options, request.format_)
    with steps.step(f"Preparing {name}"):
        if needs_labels and not (request.labels or request.label or table.label):
            cure = ", or give them in a file of their own with --labels"
            if other := without_labels(who):
                cure += f", or{other}".removesuffix(",")
            raise labels_are_not_named(table, who, cure)
        labels_table = None
        if request.labels is not None:
            labels_table = read(request.labels, request.read_options.for_labels)
        return prepare(table, request.choices(labels_table))


def check_classes(
    dataset: Dataset, who: str, needed: Literal["none", "optional", "two_classes"]
) -> None:
    """Refuse too few classes, and say so where nothing is unlabelled."""
    labelled = Counter(label for label in dataset.y if label is not None)
    n_unlabelled = len(dataset.y) - labelled.total()
    if needed == "two_classes" and len(labelled) < 2:
        found, cure = "no row is labelled", f"each class,{without_labels(who)}"
        if labelled:
            (label, n_labelled), *_ = labelled.items()
            found = (
                f"there are {n_labelled} rows of the class {label!r} and {n_unlabelled} unlabelled"
            )
            cure = "another class,"
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
            NothingUnlabelledWarning,
        )


def without_labels(who: str) -> str:
    """Say which methods rank without labels, where `who` is one that ranks with them."""
    if who not in METHODS:
        return ""
    names = [name for name, each in METHODS.items() if each.cls.labels_needed == "none"]
    return f" rank without labels (--method {' or '.join(names)}),"
