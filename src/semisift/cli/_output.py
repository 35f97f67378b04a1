"""Tables that a command writes, where they come from, and whether they can be written."""

import errno
import sys
from collections import Counter
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import polars as pl

from semisift.base._feature_constraints import PARAMETERS as KNOWN
from semisift.cli._options import FileRequest
from semisift.io import Dataset, checksum
from semisift.io._formats.parquet import write_frame
from semisift.io._write import Facts, as_json, as_text
from semisift.registry import Entry
from semisift.transduction._positive_unlabelled import say_rest
from semisift.utils._files import can_write
from semisift.utils._metadata import PACKAGES, versions
from semisift.utils._text import plural

SEPARATORS = {".csv": ",", ".tsv": "\t"}
TABLE_ENDINGS = (*SEPARATORS, ".parquet", ".json")

# What is said of a file that was read.
OF_FILE = ("file", "sha256", "bytes", "modified")


class Targets:
    """The files that a command writes, each checked against what it reads and the others.

    Parameters
    ----------
    inputs : collection of str
        Files that are read.
    """

    def __init__(self, inputs: Collection[str] = ()) -> None:
        self._inputs = {Path(name).resolve() for name in inputs}
        self._read = {found for path in self._inputs if (found := _identity(path)) is not None}
        self._options: dict[Path, str] = {}

    def add(self, given: str, option: str, endings: tuple[str, ...] = ()) -> Path:
        """Return the path of a file that can be written.

        Parameters
        ----------
        given : str
        option : str
            That named it, for messages.
        endings : tuple of str
            That its name may have; none allows all.

        Raises
        ------
        click.BadParameter
        """
        path = Path(given)
        if problem := self._problem(path, endings):
            raise click.BadParameter(f"{given}: {problem}", param_hint=option)
        self._options[path.resolve()] = option
        return path

    def _problem(self, path: Path, endings: tuple[str, ...]) -> str | None:
        try:
            path.stat()
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                return f"cannot be written to: {error.strerror}. Give another name."
        whole = path.resolve()
        if whole in self._inputs or _identity(whole) in self._read:
            return "is a file that is read. Give the result another name."
        if not self._inputs.isdisjoint(whole.parents):
            return "lies in a folder that is read. Write the result to another place."
        if whole in self._options:
            return f"is also given for {self._options[whole]}. Give them different names."
        if not whole.parent.is_dir():
            return f"the folder {path.parent} does not exist. Create it first."
        if not can_write(whole.parent):
            return f"the folder {path.parent} cannot be written to. Choose another."
        if path.is_dir():
            return "is a folder that exists already. Give another name, or remove it."
        if endings and not path.name.lower().endswith(endings):
            return f"the name must end in {' or '.join(endings)}."
        if path.exists() and not path.is_file():
            return "is there already and no regular file. Give another name."
        return None


def is_printed(given: str, option: str) -> bool:
    """Tell whether a result is to be printed, and refuse that where nothing can be."""
    if given == "-" and sys.stdout is None:
        raise click.ClickException(
            f"{option}: - prints the result, and the standard output is closed. Name a file."
        )
    return given == "-"


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what all names of a file share; None where there is no file, or nothing tells."""
    try:
        state = path.stat()
    except OSError:
        return None
    return (state.st_dev, state.st_ino) if state.st_ino else None


def write_table(
    frame: pl.DataFrame, path: Path, name: str = "", facts: Facts | None = None, *, safe: bool
) -> None:
    """Write a table, if need be with where it comes from.

    Parameters
    ----------
    frame : polars.DataFrame
    path : Path
        Whose ending, one of `TABLE_ENDINGS`, tells the form.
    name : str
        Of the table, beside these facts in json.
    facts : dict, optional
        Where it comes from.
    safe : bool
        No cell of a text file is a formula of a spreadsheet.
    """
    ending = path.suffix.lower()
    if ending in SEPARATORS:
        text = as_text(frame, facts, SEPARATORS[ending], safe=safe)
        path.write_text(text, encoding="utf-8")
    elif ending == ".json":
        rows = frame.to_dicts()
        content = rows if facts is None else {**facts, name: rows}
        path.write_text(as_json(content, indent=1) + "\n", encoding="utf-8")
    else:
        metadata = {key: as_json(value) for key, value in (facts or {}).items()}
        write_frame(frame, path, metadata or None)


def provenance(request: FileRequest, method: Entry, dataset: Dataset, estimator: Any) -> Facts:
    """Return where a result comes from: enough to make it again."""
    parameters = estimator.get_params(deep=False)
    labelled = Counter(str(label) for label in dataset.y if label is not None)
    numbers = versions((*PACKAGES, "polars"))
    hidden = {"n_jobs", *KNOWN}  # what is known of features stands in files, or below
    names = {name: getattr(request, name, None) for name in KNOWN}
    share = getattr(estimator, "positive_share_", None)
    return {
        "semisift": numbers.pop("semisift"),
        "method": method.name,
        "parameters": {name: parameters[name] for name in sorted(parameters) if name not in hidden},
        "seed": request.seed,
        "input": {
            **(_state(request.table) if dataset.table.is_stored else _file(request.table)),
            "rows": len(dataset.y),
            "features": len(dataset.variables),
            "labelled": dict(sorted(labelled.items())),
            "log": request.log,
            "normalized_total": dataset.usual_total,
            **_known_of_rows(request, dataset),
        },
        **({"positive_share": share} if share is not None else {}),
        **{name: given for name, given in names.items() if given is not None},
        **{name: _file(file) for name, file in request.files_beside.items()},
        "versions": numbers,
        "citation": method.citation,
        "notes": dataset.notes,
    }


def _known_of_rows(request: FileRequest, dataset: Dataset) -> Facts:
    """Return which columns told of groups, batches and weights, and what became of gaps."""
    columns = {name: getattr(request, name) for name in ("group", "batch", "weight")}
    parts = {"groups": dataset.groups, "batches": dataset.batch}
    return {
        "missing": request.missing,
        **{name: column for name, column in columns.items() if column is not None},
        **{name: len(set(names)) for name, names in parts.items() if names is not None},
    }


def _file(name: str) -> Facts:
    return {"file": Path(name).name, "sha256": checksum(Path(name))}


def _state(name: str) -> Facts:
    """Return what tells a file from others without reading it, which would take long."""
    path = Path(name)
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    states = [file.stat() for file in files]
    latest = max(state.st_mtime for state in states)
    return {
        "file": path.name,
        "bytes": sum(state.st_size for state in states),
        "modified": _as_date(latest),
    }


def _as_date(seconds: float) -> str | None:
    """Return a time of a file; None for what no calendar has, as of a clock that was wrong."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return None


def sample_sentence(dataset: Dataset, ranker: Any) -> str | None:
    """Say from how many unlabelled rows a ranking was made, where these are not all.

    Parameters
    ----------
    dataset : Dataset
    ranker : fitted FeatureRanker

    Returns
    -------
    str or None
        None where it was made from all rows, which were in memory.
    """
    n_held, n_rows = getattr(ranker, "_n_held", None), len(dataset.y)
    if n_held is None:
        return None
    if ranker.uses_statistics:
        return (
            "The ranking was made from the labelled rows and from passes over all "
            f"{plural(n_rows, 'row')}."
        )
    n_unlabelled = sum(label is None for label in dataset.y)
    last = "; all rows were labelled in a last pass" if hasattr(ranker, "transduction_") else ""
    return (
        f"The ranking was made from {n_held:,} of {plural(n_unlabelled, 'unlabelled row')}, drawn "
        f"at random{last}."
    )


def rest_sentence(dataset: Dataset, estimator: Any) -> str | None:
    """Say what was made of unlabelled rows where one class is labelled; None where there are more.

    Parameters
    ----------
    dataset : Dataset
    estimator : fitted ranker or classifier

    Returns
    -------
    str or None
    """
    n_labelled = sum(label is not None for label in dataset.y)
    return say_rest(estimator, n_labelled, len(dataset.y) - n_labelled)


def trial_sentence(dataset: Dataset, labels: Iterable[Any] | None) -> str | None:
    """Say how the labels that a method gave compare with those that were hidden for a trial.

    Parameters
    ----------
    dataset : Dataset
    labels : iterable or None
        One for each row; None where the method gives none.

    Returns
    -------
    str or None
        None where nothing was hidden.
    """
    if dataset.hidden is None or labels is None:
        return None
    pairs = zip(dataset.hidden, labels, strict=True)
    found = [str(true) == str(label) for true, label in pairs if true is not None]
    if not found:
        return None
    right, n_hidden = sum(found), len(found)
    return (
        f"Of the {n_hidden} hidden labels the method found {right} ({right / n_hidden:.1%}) from "
        "the labels it was left."
    )
