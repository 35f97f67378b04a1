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

from semisift.base._feature_constraints import PARAMETERS as CONSTRAINTS
from semisift.cli._options import Options
from semisift.io import Dataset, checksum
from semisift.io._formats.parquet import write_frame
from semisift.io._write import Facts, as_json, as_text
from semisift.registry import Entry
from semisift.transduction._positive_unlabelled import format_reliable_negatives
from semisift.utils._files import can_write, drafts
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
        resolved = path.resolve()
        if resolved in self._inputs or _identity(resolved) in self._read:
            return "is a file that is read. Give the result another name."
        if not self._inputs.isdisjoint(resolved.parents):
            return "lies in a folder that is read. Write the result to another place."
        if resolved in self._options:
            return f"is also given for {self._options[resolved]}. Give them different names."
        if not resolved.parent.is_dir():
            return f"the folder {path.parent} does not exist. Create it first."
        if not can_write(resolved.parent):
            return f"the folder {path.parent} cannot be written to. Choose another."
        if path.is_dir():
            return "is a folder that exists already. Give another name, or remove it."
        if endings and not path.name.lower().endswith(endings):
            return f"the name must end in {' or '.join(endings)}."
        if path.exists() and not path.is_file():
            return "is there already and no regular file. Give another name."
        return None


def is_printed(given: str | None, option: str = "--out") -> bool:
    """Return whether a result is printed, and raise an error where the output is closed."""
    if given == "-" and sys.stdout is None:
        raise click.ClickException(
            f"{option}: - prints the result, and the standard output is closed. Name a file."
        )
    return given == "-"


def result_path(options: Options) -> Path | None:
    """Return the file of ``--out``, or None where the table is printed or not asked for."""
    if options.out is None or is_printed(options.out):
        return None
    targets = Targets([options.table, *options.other_files.values()])
    return targets.add(options.out, "--out", TABLE_ENDINGS)


def write_result(
    frame: pl.DataFrame, path: Path | None, name: str, facts: Facts, options: Options
) -> None:
    """Write the table of ``--out``, or print it for ``-``."""
    if options.out == "-":
        click.echo(as_text(frame, facts, safe=options.spreadsheet_safe), nl=False)
    elif path is not None:
        with drafts([path]) as (draft,):
            write_table(frame, draft, name, facts, safe=options.spreadsheet_safe)


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


def provenance(options: Options, method: Entry, dataset: Dataset, estimator: Any) -> Facts:
    """Return where a result comes from: enough to make it again."""
    parameters = estimator.get_params(deep=False)
    labelled = Counter(str(label) for label in dataset.y if label is not None)
    numbers = versions((*PACKAGES, "polars"))
    hidden = {"n_jobs", *CONSTRAINTS}  # what is said of features stands in files, or below
    given = {name: getattr(options, name, None) for name in CONSTRAINTS}
    given["positive_share"] = getattr(estimator, "positive_share_", None)
    columns = {name: getattr(options, name, None) for name in ("group", "batch", "weight")}
    parts = {"groups": dataset.groups, "batches": dataset.batch}
    return {
        "semisift": numbers.pop("semisift"),
        "method": method.name,
        "parameters": {name: parameters[name] for name in sorted(parameters) if name not in hidden},
        "seed": options.seed,
        "input": {
            **(_state(options.table) if dataset.table.is_stored else _file(options.table)),
            "rows": len(dataset.y),
            "features": len(dataset.variables),
            "labelled": dict(sorted(labelled.items())),
            "log": options.log,
            "normalized_total": dataset.usual_total,
            "missing": options.missing,
            **{name: column for name, column in columns.items() if column is not None},
            **{name: len(set(names)) for name, names in parts.items() if names is not None},
        },
        **{name: value for name, value in given.items() if value is not None},
        **{name: _file(file) for name, file in options.other_files.items()},
        "versions": numbers,
        "citation": method.citation,
        "notes": dataset.notes,
    }


def _file(name: str) -> Facts:
    return {"file": Path(name).name, "sha256": checksum(Path(name))}


def _state(name: str) -> Facts:
    """Return the size and the time of a file, which are known without reading it."""
    path = Path(name)
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    states = [file.stat() for file in files]
    latest = max(state.st_mtime for state in states)
    n_bytes = sum(state.st_size for state in states)
    return {"file": path.name, "bytes": n_bytes, "modified": _as_date(latest)}


def _as_date(seconds: float) -> str | None:
    """Return a time of a file; None for one that no calendar has, as of a wrong clock."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return None


def sample_sentence(dataset: Dataset, ranker: Any) -> str | None:
    """Return from how many unlabelled rows a ranking was made; None where from all, in memory."""
    n_sampled, n_rows = getattr(ranker, "_n_sampled", None), len(dataset.y)
    if n_sampled is None:
        return None
    if ranker.uses_statistics:
        return (
            "The ranking was made from the labelled rows and from passes over all "
            f"{plural(n_rows, 'row')}."
        )
    n_unlabelled = sum(label is None for label in dataset.y)
    last = "; all rows were labelled in a last pass" if hasattr(ranker, "transduction_") else ""
    return (
        f"The ranking was made from {n_sampled:,} of {plural(n_unlabelled, 'unlabelled row')}, "
        f"drawn at random{last}."
    )


def rest_sentence(dataset: Dataset, estimator: Any) -> str | None:
    """Return what was made of unlabelled rows where one class is labelled, else None."""
    n_labelled = sum(label is not None for label in dataset.y)
    return format_reliable_negatives(estimator, n_labelled, len(dataset.y) - n_labelled)


def trial_sentence(dataset: Dataset, labels: Iterable[Any] | None) -> str | None:
    """Return how many labels that were hidden for a trial the method found.

    None where nothing was hidden, or the method gives no labels.
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
