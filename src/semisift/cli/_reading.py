"""From a file to a data set whose labels suffice, and what methods take of it."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from semisift.cli._options import Options, find_named
from semisift.cli._terminal import Steps, Terminal
from semisift.exceptions import NoUnlabelledDataWarning, TableError
from semisift.io._options import TableOptions, format_option
from semisift.registry import CLASSIFIERS, METHODS, Entry, Method
from semisift.utils._text import examples, plural, printable_name, quote

if TYPE_CHECKING:
    from semisift.io import Dataset, FileTable

# What methods take besides values and labels: the word for it in the registry, and the option.
CAPABILITIES = {
    "missing values": ("allow_nan", "--missing keep"),
    "weights": ("sample_weight", "--weight"),
    "groups": ("groups", "--group"),
    "batches": ("batch", "--batch"),
    "pairs of rows": ("must_link", "--must-link, --cannot-link"),
    "one labelled class": ("supports_positive_unlabelled", ""),
}

DEFAULT_METHOD = "consensus"

# Options that name a column of the table.
COLUMN_OPTIONS = ("label", "id", "group", "batch", "weight", "drop", "category")

# Bytes of a text table whose columns are looked up before it is read.
MAX_BYTES_SEARCHED = 1 << 24
MAX_COMPARED = 10_000


# --- what methods take ----------------------------------------------------------------------------


def names_of_takers(what: str, entries: Mapping[str, Any]) -> list[str]:
    """Return the names of the methods that take one of `CAPABILITIES`."""
    return [name for name, entry in entries.items() if entry.takes(CAPABILITIES[what][0])]


def check_takes(entry: Entry, what: str, entries: Mapping[str, Any], option: str) -> None:
    """Raise an error that names an option which the method does not take, and those that do."""
    if not entry.takes(CAPABILITIES[what][0]):
        able = ", ".join(names_of_takers(what, entries))
        raise click.BadParameter(
            f"{entry.name} does not take {what}. Those that do: {able}.", param_hint=option
        )


# --- before libraries are loaded ------------------------------------------------------------------


def check_exists(files: Iterable[str]) -> None:
    """Check that files or folders are there."""
    for name in files:
        if not Path(name).exists():
            Path.cwd()  # which names the problem where it is gone itself
            raise TableError(f"{name}: there is no such file or folder.")


def check_input(options: Options, entry: Entry, entries: Mapping[str, Any]) -> None:
    """Check what can be checked before scikit-learn and polars are loaded.

    Parameters
    ----------
    options : Options
    entry : Entry
        The method, which must take what the options say of rows and values.
    entries : mapping of str to Entry
        METHODS or CLASSIFIERS.
    """
    if options.missing == "keep":
        check_takes(entry, "missing values", entries, "--missing")
    for option, what in (("group", "groups"), ("batch", "batches"), ("weight", "weights")):
        if getattr(options, option, None) is not None:
            check_takes(entry, what, entries, f"--{option}")
    check_reading(options.reading)
    check_exists([options.table, *options.other_files.values()])
    _check_columns(options)


def _check_columns(options: Options) -> None:
    """Check that a small text table has the columns that options name."""
    text = _plain_text(options)
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    header = next(lines, "")
    if not re.search(r"[^\W\d]", header):  # reading tells more
        return
    for option in COLUMN_OPTIONS:
        value = getattr(options, option, None)
        for wanted in value if isinstance(value, tuple) else filter(None, [value]):
            # no text has a column of a name that does not occur in it, whatever separates the cells
            if (
                wanted not in text
                and '"' not in wanted
                and not re.fullmatch(r"\s*[-+]?\d+", wanted)
            ):
                names = [name.strip(' "') for name in re.split("[,;\t]", header)]
                near = get_close_matches(wanted, names[:MAX_COMPARED], n=3) or names[:3]
                raise TableError(
                    f"{format_option(option, wanted)}: {options.table} has no column of this "
                    f"name. It has, for example, {', '.join(map(quote, near))}."
                )


def _plain_text(options: Options) -> str:
    """Return the content of a small text table whose first line holds the names; "" of others."""
    path, usual = Path(options.table), TableOptions()
    changes_names = ("header", "transpose", "duplicates", "encoding")
    is_other = any(getattr(options, name) != getattr(usual, name) for name in changes_names)
    is_text = path.suffix.lower() in (".csv", ".tsv") and options.format in (None, "csv", "tsv")
    if is_other or not is_text or options.labels or path.stat().st_size > MAX_BYTES_SEARCHED:
        return ""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):  # which reading explains
        return ""


# --- the data set ---------------------------------------------------------------------------------


def read_dataset(options: Options, who: str, needs_labels: bool) -> tuple["Dataset", Steps]:
    """Read the table and the files beside it, and print how they were read.

    Parameters
    ----------
    options : Options
    who : str
        The method that learns from it, for messages.
    needs_labels : bool

    Returns
    -------
    Dataset
    Steps
        Those of the command, quiet if it is.
    """
    from semisift.io import load

    def check(table: "FileTable") -> None:
        if needs_labels and not (options.labels or options.label or table.label):
            cure = ", or give them in a file of their own with --labels"
            if other := _without_labels(who):
                cure += f", or{other}".removesuffix(",")
            raise unnamed_labels(table, who, cure)

    steps = Steps(options.quiet)
    with steps.step(f"Reading {Path(options.table).name}"):
        dataset = load(options.table, options.reading, check)
    if options.is_verbose:
        print_notes([_summary(options.table, dataset)], "")
        print_notes([*dataset.notes, *_advice(dataset)])
    return dataset, steps


def _summary(file: str, dataset: "Dataset") -> str:
    """Return how many rows, labels and features a table has."""
    labelled = Counter(str(label) for label in dataset.y if label is not None)
    of_each = [f"{n} {printable_name(label)}" for label, n in sorted(labelled.items())[:10]]
    more = ", ..." if len(labelled) > 10 else ""
    groups = batches = ""
    if dataset.groups is not None:
        groups = f" of {plural(len(set(dataset.groups)), 'group')}"
    if dataset.batch is not None:
        batches = f" in {plural(len(set(dataset.batch)), 'batch', 'batches')}"
    return (
        f"{Path(file).name}: {plural(len(dataset.y), 'row')}{groups}{batches}, of which "
        f"{labelled.total():,} carry a label ({', '.join(of_each) or 'none'}{more}); "
        f"{plural(len(dataset.variables), 'feature')}."
    )


def _advice(dataset: "Dataset") -> list[str]:
    """Return the advice for columns with long tails; sparse tables are not looked at."""
    from semisift.io._on_disk import few_rows
    from semisift.utils._columns import LONG_TAIL, has_long_tails

    is_dense = not getattr(dataset.X, "is_sparse", False)
    return [LONG_TAIL] if is_dense and has_long_tails(few_rows(dataset.X)) else []


def print_notes(notes: Iterable[str], head: str = "Note: ") -> None:
    """Print what was done to a table, or not found in it."""
    console = Terminal()
    for note in notes:
        console.print(f"{head}{note}")


def check_classes(dataset: "Dataset", entry: Entry, needed: str = "two_classes") -> None:
    """Check that the classes are enough for a method, and warn where no row is unlabelled.

    Parameters
    ----------
    dataset : Dataset
    entry : Entry
    needed : {"two_classes", "optional", "none"}
    """
    labelled = Counter(label for label in dataset.y if label is not None)
    n_unlabelled = len(dataset.y) - labelled.total()
    takes_one = entry.takes("supports_positive_unlabelled")  # the rest is sought among the others
    is_enough = len(labelled) > 1 or (takes_one and len(labelled) == 1 and n_unlabelled > 1)
    if needed == "two_classes" and not is_enough:
        found, cure = "no row is labelled", f"each class,{_without_labels(entry.name)}"
        for label, n_labelled in labelled.items():
            found = (
                f"there are {n_labelled} rows of the class {label!r} and {n_unlabelled} unlabelled"
            )
            cure = "another class,"
            if entry.name in CLASSIFIERS and not takes_one:
                able = " or ".join(names_of_takers("one labelled class", CLASSIFIERS))
                cure += f" take a method that finds the rest by itself (--method {able}),"
        raise TableError(
            f"{dataset.table.path}: {entry.name} needs labelled rows of at least two classes, and "
            f"{found}. Label a few rows of {cure} or look whether --label and "
            "--unlabelled are right."
        )
    if labelled and not n_unlabelled and needed != "none":
        from semisift.utils._warnings import warn

        warn(
            f"every row of {dataset.table.path} is labelled, so there is nothing to learn from "
            "unlabelled rows. Pass --unlabelled with the value that marks them, if there are such "
            "rows.",
            NoUnlabelledDataWarning,
        )


def _without_labels(who: str) -> str:
    """Return which methods rank without labels, where `who` is a method that ranks with them."""
    if who not in METHODS:
        return ""
    names = [name for name, each in METHODS.items() if each.labels_needed == "none"]
    return f" rank without labels (--method {' or '.join(names)}),"


def check_reading(options: TableOptions) -> None:
    """Check the options of reading; what contradicts itself is wrong usage."""
    try:
        options.check()
    except TableError as error:
        raise click.UsageError(str(error)) from error


def unnamed_labels(table: "FileTable", who: str, cure: str = "") -> TableError:
    """Return the error that asks for the labels of a table; `cure` ends its sentence."""
    columns = [*table.rows.columns, *table.names]
    return TableError(
        f"{table.path}: {who} needs labels. Pass --label with the column that holds them (the "
        f"columns are {examples(columns)}){cure}."
    )


def find_method(name: str, option: str = "--method", others: Iterable[str] = ()) -> Method:
    """Return the method of that name in letters of any size, or say which there are."""
    known = name.lower() if name.lower() in METHODS else name
    return find_named(METHODS, known, "method", option, others)
