"""The file of the labels that a person gives: whole after each answer, and one writer at a time.

It is a table that ``semisift rank TABLE --labels FILE`` reads: the names of the rows and their
labels, or the labels alone in the order of the rows where these have no names that `can_join`. A
remark above it holds the answers one after another, so that they can be taken back after a restart
too. Labels of the table stand in it as well: the file says all that is known.

Other programs may change it. What they wrote is read before anything is written over it, and what
cannot be read is left alone: each answer is refused until the file is mended or moved away. A file
that has vanished, or is empty, holds nothing that could be lost: the next answer, or the end of the
session, writes all labels again.
"""

import csv
import io
import itertools
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from semisift._files import remove_drafts, write_whole
from semisift._words import count, quoted
from semisift.exceptions import TableError
from semisift.explore.lock import FileLock
from semisift.io.table import MISSING
from semisift.io.written import as_text

# What stands for a row without a label: an empty line might be lost.
NO_LABEL = "NA"
REMARK = "# answers: "

# What a name does not keep in a text table: line ends, what its reading has for itself, and spaces
# at the ends.
LOST = re.compile("[\n\r\0\x1f]|^[\\s\ufeff]|\\s\\Z")

MEND = "Mend the line, or move the file away."


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
        Names of all rows of the table; None where they have none that `can_join`.
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
        # a link and its target are one file: one lock, one writer
        self.path = path = Path(os.path.realpath(path)) if path.is_symlink() else path
        self._column, self._names, self._n_rows = column, names, n_rows
        self._heading = heading if heading != column else f"{heading} name"
        self._content = b""  # as it was last read or written
        self._lines: dict[int, int] = {}
        self._remarks: list[str] = []
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
            remove_drafts(self.path.parent)
            yield self
        finally:
            self._lock.release()

    @contextmanager
    def reading(self) -> Iterator[tuple[dict[int, str], list[Answer]] | None]:
        """Give the labels by the numbers of their rows, and the answers in order.

        None where there is no file, or an empty one. It may be written over once the block has
        used what is in it.
        """
        content = self._present()
        if not content:
            yield None
            return
        remarks, text = _split(self._decoded(content))
        labels, self._lines = self._labels(text, len(remarks))
        yield labels, _answers(remarks, self._n_rows)
        self._content = content
        self._remarks = [line for line in remarks if not line.startswith(REMARK)]

    def where(self, row: int) -> str:
        """Return the file, and the line of a row in it."""
        return f"{self.path}, line {self._lines[row]}"

    @property
    def is_gone(self) -> bool:
        """Whether there is no file, or an empty one."""
        return not self._present()

    @property
    def is_changed(self) -> bool:
        """Whether the file is there, and not as it was last read or written."""
        try:
            return self._present() not in (b"", self._content)
        except TableError:
            return True

    def write(self, labels: Mapping[int, str], answers: Sequence[Answer]) -> None:
        """Write all labels and the answers; it is on the disk when this returns.

        Raises
        ------
        LabelsChangedError
            Where the file is there, and not as it was last read or written.
        """
        if self.is_changed:
            raise LabelsChangedError(
                f"The labels in {self.path.name} were changed by another program."
            )
        content = self._as_text(labels, answers)
        write_whole(self.path, content)
        _settle(self.path.parent)
        self._content = content.replace("\n", os.linesep).encode()

    def write_beside(self, labels: Mapping[int, str], answers: Sequence[Answer]) -> Path:
        """Write all labels and the answers to a file of a new name, which is returned."""
        names = (f"{self.path.stem}.kept{number or ''}.csv" for number in itertools.count())
        path = next(path for path in map(self.path.with_name, names) if not path.exists())
        write_whole(path, self._as_text(labels, answers))
        return path

    def _as_text(self, labels: Mapping[int, str], answers: Sequence[Answer]) -> str:
        rows = sorted(labels) if self._names is not None else range(self._n_rows)
        columns = {self._column: [labels.get(row, NO_LABEL) for row in rows]}
        if self._names is not None:
            columns = {self._heading: [self._names[row] for row in rows], **columns}
        frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
        told = {"answers": [[answer.row + 1, answer.label] for answer in answers]}
        remarks = "".join(f"{line}\n" for line in self._remarks)  # those of others
        return remarks + as_text(frame, told, safe=False)

    def _present(self) -> bytes:
        """Return what is in the file; nothing where there is none."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise TableError(
                f"{self.path} cannot be read: {error.strerror or error}. Let it be read, or move "
                "it away."
            ) from error
        return content if content.strip() else b""

    def _decoded(self, content: bytes) -> str:
        try:
            return content.decode("utf-8-sig")  # as editors of Windows save it
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise TableError(
                f"{self.path}, line {line}: is not UTF-8. Save the file as UTF-8, or move it away."
            ) from error

    def _labels(self, text: str, n_before: int) -> tuple[dict[int, str], dict[int, int]]:
        """Return the labels of the rows, and the lines that they are in."""
        width = 1 if self._names is None else 2
        reader = csv.reader(io.StringIO(text, newline=""))
        try:
            read = [(record, reader.line_num + n_before) for record in reader]
        except csv.Error as error:
            line = reader.line_num + n_before
            raise TableError(f"{self.path}, line {line}: {error}. {MEND}") from error
        if not read:
            raise TableError(
                f"{self.path}: there is no heading. Put one in, or move the file away."
            )
        (heading, first), *records = read
        if self._names is None and len(records) != self._n_rows:
            raise TableError(
                f"{self.path} has {count(len(records), 'label')} for {count(self._n_rows, 'row')}: "
                "it is not of this table. Move it away, or name another file with --answers."
            )
        number = {name: row for row, name in enumerate(self._names or ())}
        if heading[:1] != [self._heading] and not number.keys().isdisjoint(heading[:1]):
            raise TableError(
                f"{self.path}, line {first}: there should be a heading, not the row "
                f"{quoted(heading[0])}. Put one above it, or move the file away."
            )
        labels: dict[int, str] = {}
        lines: dict[int, int] = {}
        for place, (record, line) in enumerate(records):
            where = f"{self.path}, line {line}"
            if len(record) != width:
                raise TableError(
                    f"{where}: there should be {count(width, 'cell')}, not {len(record)}. {MEND}"
                )
            row = place if self._names is None else number.get(record[0])
            if row is None:
                raise TableError(
                    f"{where}: the table has no row {quoted(record[0])}. Take the line out, or "
                    "move the file away."
                )
            label = record[-1].strip()
            if label in MISSING:
                continue
            if labels.setdefault(row, label) != label:
                raise TableError(
                    f"{where}: row {quoted(record[0])} is {quoted(label)}, and "
                    f"{quoted(labels[row])} in line {lines[row]}. Take one of them out, or move "
                    "the file away."
                )
            lines[row] = line
        return labels, lines


def can_join(names: Sequence[str]) -> bool:
    """Tell whether rows are found again by their names once these are read from a text table.

    Examples
    --------
    >>> can_join(["a", "b"]), can_join(["a", "a"]), can_join(["two" + chr(10) + "lines"])
    (True, False, False)
    """
    return len({*names}) == len(names) and not any(map(LOST.search, names))


def _split(text: str) -> tuple[list[str], str]:
    """Return the remarks at the start of a text, and what follows."""
    remarks = []
    while text.startswith("# "):
        line, _, text = text.partition("\n")
        remarks.append(line.removesuffix("\r"))
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
