"""The file of the labels that a person gives: whole after each answer, and one writer at a time.

It is a table that ``semisift rank TABLE --labels FILE`` reads: the names of the rows and their
labels, or the labels alone in the order of the rows where these have no names of their own. A
remark above it holds the answers one after another, so that they can be taken back after a restart
too. Labels of the table stand in it as well: the file says all that is known.
"""

import csv
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from semisift._files import write_whole
from semisift._words import count, quoted
from semisift.exceptions import TableError
from semisift.explore.lock import FileLock
from semisift.io.table import MISSING
from semisift.io.written import as_text

# What stands for a row without a label: an empty line might be lost.
NO_LABEL = "NA"
REMARK = "# answers: "


class LabelsChangedError(ValueError):
    """The file was changed by something else since it was read."""


class Answer(NamedTuple):
    """What was said of a row, which is known by its number in the table, from 0."""

    row: int
    label: str | None


class LabelsFile:
    """Labels on the disk, from the moment an answer is given.

    Parameters
    ----------
    path : Path
    column : str
        Heading of the labels.
    names : sequence of str or None
        Names of all rows of the table; None where they have none, or not each its own.
    n_rows : int
        Rows of the table.
    heading : str
        Of the names.
    """

    def __init__(
        self,
        path: Path,
        column: str,
        names: Sequence[str] | None,
        n_rows: int,
        heading: str = "row",
    ) -> None:
        self.path = path
        self._column, self._names, self._n_rows = column, names, n_rows
        self._heading = heading if heading != column else f"{heading} name"
        self._text: str | None = None
        self._lock = FileLock(path.with_name(f".{path.name}.lock"))

    @contextmanager
    def held(self) -> Iterator["LabelsFile"]:
        """Keep others from writing until the block is left."""
        try:
            self._lock.acquire()
        except BlockingIOError as error:
            who = f"process {error.args[1]}" if error.args[1] else "another process"
            raise TableError(
                f"{self.path} is being written by {who}, which explores the same table. End it "
                "first, or write to another file with --answers."
            ) from error
        except OSError as error:
            raise TableError(
                f"{self.path} cannot be written: {error.strerror or error}. Write to another file "
                "with --answers."
            ) from error
        try:
            yield self
        finally:
            self._lock.release()

    def read(self) -> tuple[dict[int, str], list[Answer]]:
        """Return the labels of the file by the numbers of their rows, and the answers in order.

        Nothing where there is no file.
        """
        self._text = self._present()
        if self._text is None:
            return {}, []
        remarks, text = _split(self._text)
        return self._labels(text, len(remarks)), _answers(remarks, self._n_rows)

    def write(self, labels: Mapping[int, str], answers: Sequence[Answer]) -> None:
        """Write all labels and the answers; it is on the disk when this returns.

        Raises
        ------
        LabelsChangedError
            Where the file is not as it was last read or written.
        """
        if self._present() != self._text:
            raise LabelsChangedError(
                f"The labels in {self.path.name} were changed by another program."
            )
        rows = sorted(labels) if self._names is not None else range(self._n_rows)
        columns = {self._column: [labels.get(row, NO_LABEL) for row in rows]}
        if self._names is not None:
            columns = {self._heading: [self._names[row] for row in rows], **columns}
        frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
        told = {"answers": [[answer.row + 1, answer.label] for answer in answers]}
        text = as_text(frame, told, safe=False)
        write_whole(self.path, text)
        _settle(self.path.parent)
        self._text = text

    def _present(self) -> str | None:
        try:
            return self.path.read_bytes().decode()
        except FileNotFoundError:
            return None
        except UnicodeDecodeError as error:
            raise TableError(f"{self.path} is no file of labels: it is not UTF-8.") from error

    def _labels(self, text: str, n_before: int) -> dict[int, str]:
        width = 1 if self._names is None else 2
        records = list(csv.reader(io.StringIO(text, newline="")))[1:]
        if self._names is None and len(records) != self._n_rows:
            raise TableError(
                f"{self.path} has {count(len(records), 'label')} for {count(self._n_rows, 'row')}: "
                "it is not of this table. Move it away, or name another file with --answers."
            )
        number = {name: row for row, name in enumerate(self._names or ())}
        labels = {}
        for place, record in enumerate(records):
            where = f"{self.path}, line {place + n_before + 2}"
            if len(record) != width:
                raise TableError(f"{where}: there should be {width} cells, not {len(record)}.")
            row = place if self._names is None else number.get(record[0])
            if row is None:
                raise TableError(
                    f"{where}: the table has no row {quoted(record[0])}. Take the line out, or "
                    "name another file with --answers."
                )
            if record[-1].strip() not in MISSING:
                labels[row] = record[-1].strip()
        return labels


def _split(text: str) -> tuple[list[str], str]:
    """Return the remarks at the start of a text, and what follows."""
    remarks = []
    while text.startswith("# "):
        line, _, text = text.partition("\n")
        remarks.append(line)
    return remarks, text


def _answers(remarks: Sequence[str], n_rows: int) -> list[Answer]:
    """Return the answers that a remark tells; none where it tells something else."""
    told: Any = None
    for line in remarks:
        if line.startswith(REMARK):
            with suppress(ValueError, RecursionError):
                told = json.loads(line.removeprefix(REMARK))
    found = []
    for each in told if isinstance(told, list) else []:
        match each:
            case [int(row), str() | None as label] if 1 <= row <= n_rows:
                found.append(Answer(row - 1, label))
            case _:
                return []
    return found


def _settle(folder: Path) -> None:
    """Make sure that the new name of a file is on the disk, where the system can do it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
