"""The file of the labels that a person gives: whole after each answer, and one writer at a time.

It is a table that ``semisift rank TABLE --labels FILE`` reads: the names of the rows and their
labels, or the labels alone in the order of the rows where these have no names that `can_join`. A
remark above it holds the answers one after another, so that they can be taken back after a restart
too. Labels of the table stand in it as well: the file says all that is known.

Other programs may change it. What they wrote is read before anything is written over it, and what
cannot be read is left alone: each answer is refused until the file is mended or moved away. A file
that has vanished, or is empty, holds nothing that could be lost: the next answer, or the end of the
session, writes all labels again.

What is known of the rows: labels of the table, which stay, and those that are given here.
"""

import csv
import io
import itertools
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from semisift.exceptions import TableError
from semisift.io._labels import parse_integers
from semisift.io._table import MISSING
from semisift.io._write import as_text
from semisift.utils._files import FileLock, remove_drafts, write_atomically
from semisift.utils._labels import (
    MAX_LABEL,
    UNLABELLED,
    Labels,
    as_class,
    parse_labels,
    unlabelled_words,
)
from semisift.utils._text import plural, printable, quote
from semisift.utils._typing import Ints

# What represents a row without a label: an empty line might be lost.
NO_LABEL = "NA"
REMARK = "# answers: "

# What a name does not keep in a text table: line ends, what its reading has for itself, and spaces
# at the ends.
LOST = re.compile("[\n\r\0\x1f]|^[\\s\ufeff]|\\s\\Z")


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
    def locked(self) -> Iterator["LabelsFile"]:
        """Keep others from writing until the block is left."""
        try:
            self._lock.acquire()
        except OSError as error:
            problem = f"cannot be written: {error.strerror or error}. Write"
            if isinstance(error, BlockingIOError):
                who = f"process {error.args[1]}" if error.args[1] else "another process"
                problem = (
                    f"is being written by {who}, which explores the same table. End it first, "
                )
                problem += "or write"
            raise TableError(f"{self.path} {problem} to another file with --answers.") from error
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
        write_atomically(self.path, content)
        _sync_folder(self.path.parent)
        self._content = content.replace("\n", os.linesep).encode()

    def write_beside(self, labels: Mapping[int, str], answers: Sequence[Answer]) -> Path:
        """Write all labels and the answers to a file of a new name, which is returned."""
        names = (f"{self.path.stem}.kept{number or ''}.csv" for number in itertools.count())
        path = next(path for path in map(self.path.with_name, names) if not path.exists())
        write_atomically(path, self._as_text(labels, answers))
        return path

    def _as_text(self, labels: Mapping[int, str], answers: Sequence[Answer]) -> str:
        rows = sorted(labels) if self._names is not None else range(self._n_rows)
        columns = {self._column: [labels.get(row, NO_LABEL) for row in rows]}
        if self._names is not None:
            columns = {self._heading: [self._names[row] for row in rows], **columns}
        frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
        content = {"answers": [[answer.row + 1, answer.label] for answer in answers]}
        remarks = "".join(f"{line}\n" for line in self._remarks)  # those of others
        return remarks + as_text(frame, content, safe=False)

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
            problem = "is not UTF-8. Save the file as UTF-8, or move it away."
            raise TableError(f"{self.path}, line {line}: {problem}") from error

    def _labels(self, text: str, n_before: int) -> tuple[dict[int, str], dict[int, int]]:
        """Return the labels of the rows, and the lines that they are in."""
        width = 1 if self._names is None else 2
        reader = csv.reader(io.StringIO(text, newline=""))
        try:
            read = [(record, reader.line_num + n_before) for record in reader]
        except csv.Error as error:
            line = reader.line_num + n_before
            raise self._damaged(line, f"{error}. Mend the line") from error
        if not read:
            raise TableError(
                f"{self.path}: there is no heading. Put one in, or move the file away."
            )
        (heading, first), *records = read
        if self._names is None and len(records) != self._n_rows:
            raise TableError(
                f"{self.path} has {plural(len(records), 'label')} for "
                f"{plural(self._n_rows, 'row')}: "
                "it is not of this table. Move it away, or name another file with --answers."
            )
        number = {name: row for row, name in enumerate(self._names or ())}
        if heading[:1] != [self._heading] and not number.keys().isdisjoint(heading[:1]):
            problem = (
                f"there should be a heading, not the row {quote(heading[0])}. Put one above it"
            )
            raise self._damaged(first, problem)
        labels: dict[int, str] = {}
        lines: dict[int, int] = {}
        for place, (record, line) in enumerate(records):
            if len(record) != width:
                problem = (
                    f"there should be {plural(width, 'cell')}, not {len(record)}. Mend the line"
                )
                raise self._damaged(line, problem)
            row = place if self._names is None else number.get(record[0])
            if row is None:
                problem = f"the table has no row {quote(record[0])}. Take the line out"
                raise self._damaged(line, problem)
            label = record[-1].strip()
            if label in MISSING:
                continue
            if labels.setdefault(row, label) != label:
                problem = f"row {quote(record[0])} is {quote(label)}, and {quote(labels[row])} in "
                problem += f"line {lines[row]}. Take one of them out"
                raise self._damaged(line, problem)
            lines[row] = line
        return labels, lines

    def _damaged(self, line: int, problem: str) -> TableError:
        return TableError(f"{self.path}, line {line}: {problem}, or move the file away.")


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
    content: Any = None
    for line in remarks:
        if line.startswith(REMARK):
            with suppress(ValueError, RecursionError):
                content = json.loads(line.removeprefix(REMARK))
    found = []
    for each in content if isinstance(content, list) else []:
        match each:
            case [int(row), str() | None as label] if 1 <= row <= n_rows:
                found.append(Answer(row - 1, label))
            case _:
                return []
    return found


def _sync_folder(folder: Path) -> None:
    """Make sure that the new name of a file is on the disk, where the system can do it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# --- answers --------------------------------------------------------------------------------------


CHANGE = "Change it there, or move the file away."


class InvalidAnswerError(ValueError):
    """An answer that cannot be taken."""


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of the rows at one moment.

    Attributes
    ----------
    version : int
        Counts the changes.
    y : object array of shape (n_rows,)
        Labels as `Dataset` holds them; None for unlabelled rows.
    classes : list of str
        Names of the classes: those of the table, then others in the order in which they came.
    codes : int array of shape (n_rows,)
        Index into `classes`, -1 for unlabelled rows.
    given : set of int
        Rows whose label was given here.
    """

    version: int
    y: NDArray[Any]
    classes: list[str]
    codes: NDArray[np.int64]
    given: frozenset[int] = field(default_factory=frozenset)

    def labels_of(self, rows: Ints) -> tuple[Labels, Ints]:
        """Return the labels of some rows, and the place of each class of theirs in `classes`."""
        labels = parse_labels(self.y[rows], len(rows))
        place = {name: number for number, name in enumerate(self.classes)}
        return labels, np.array([place[str(each)] for each in labels.classes.tolist()], dtype=int)


class Answers:
    """The answers of a person, kept in a file.

    Parameters
    ----------
    y : object array of shape (n_rows,)
        Labels of the table; None for unlabelled rows.
    rows : int array of shape (n_rows,)
        The rows of the table that they are of.
    file : LabelsFile
    no_label : sequence of str
        Words that mean an unlabelled row, besides the usual ones.
    """

    def __init__(
        self,
        y: NDArray[Any],
        rows: NDArray[np.int64],
        file: LabelsFile,
        no_label: Sequence[str] = (),
    ) -> None:
        self._y, self._rows, self._file = y, rows, file
        self._no_label = unlabelled_words(no_label)
        self._place = {int(row): place for place, row in enumerate(rows)}
        self._of_table = {place: str(label) for place, label in enumerate(y) if label is not None}
        own = sorted({label for label in y if label is not None})
        self._classes = [str(label) for label in own]
        self._is_words = any(isinstance(label, str) for label in own)
        number = {name: place for place, name in enumerate(self._classes)}
        self._codes = np.full(len(y), UNLABELLED, dtype=np.int64)
        self._codes[[*self._of_table]] = [number[name] for name in self._of_table.values()]
        self._left_out: dict[int, str] = {}  # labels of rows of the table that are not used here
        self._answers, self.known = self._read(0, None)

    @property
    def can_undo(self) -> bool:
        """Whether there is an answer to take back."""
        return bool(self._answers)

    def give(self, row: int, label: str | None) -> Known:
        """Label a row, or take its label back; it is on the disk when this returns.

        Parameters
        ----------
        row : int
        label : str or None

        Returns
        -------
        Known

        Raises
        ------
        InvalidAnswerError
        LabelsChangedError
            Where another program changed the file, which is read again then.
        """
        if row in self._of_table:
            raise InvalidAnswerError(
                f"The row has the label {quote(self._of_table[row])} in the table, which is not "
                "changed here."
            )
        if label is None and row not in self.known.given:
            raise InvalidAnswerError("The row has no label that could be taken back.")
        if label is not None:
            label = self._checked(label)
        return self._take([*self._answers, Answer(row, label)])

    def undo(self) -> tuple[Known, int]:
        """Take the last answer back, and return its row as well."""
        if not self._answers:
            raise InvalidAnswerError("There is no answer to take back.")
        row = self._answers[-1].row
        return self._take(self._answers[:-1]), row

    def read_again(self) -> Known:
        """Take the labels from the file, as another program left it.

        What it changed becomes the last answers, so that it can be taken back.
        """
        self._answers, self.known = self._read(self.known.version + 1, self._answers)
        return self.known

    def keep(self) -> Path | None:
        """See that the labels are in a file; return the one they had to be written to, if any.

        Their own where it has vanished, and another where it cannot be used.
        """
        if not self._answers:
            return None
        content = self._by_table_row(self._answers)
        try:
            if self._file.is_gone:
                self._file.write(*content)
                return self._file.path
            if self._file.is_changed:
                self.read_again()
        except ValueError:
            return self._file.write_beside(*content)
        return None

    def _take(self, answers: list[Answer]) -> Known:
        known = self._know(replay(answers), self.known.version + 1)
        self._file.write(*self._by_table_row(answers))
        self._answers, self.known = answers, known
        return known

    def _by_table_row(self, answers: list[Answer]) -> tuple[dict[int, str], list[Answer]]:
        """Return labels and answers by the rows of the table, as the file holds them."""
        labels = {**self._of_table, **replay(answers)}
        texts = {int(self._rows[place]): label for place, label in labels.items()}
        moved = [Answer(int(self._rows[place]), label) for place, label in answers]
        return {**self._left_out, **texts}, moved

    def _read(self, version: int, answers: list[Answer] | None) -> tuple[list[Answer], Known]:
        """Return the answers and what is known by the file, which may be another than theirs."""
        with self._file.reading() as found:
            if found is None:
                answers = answers or []
                return answers, self._know(replay(answers), version)
            labels, content = found
            given, left_out = self._given(labels)
            if answers is None:
                places = [(self._place.get(row, -1), label) for row, label in content]
                answers = [
                    Answer(place, label)
                    for place, label in places
                    if place >= 0 and place not in self._of_table
                ]
            before = replay(answers)
            gone = [Answer(row, None) for row in before if row not in given]
            new = [Answer(row, label) for row, label in given.items() if before.get(row) != label]
            try:
                known = self._know(given, version)
            except InvalidAnswerError as error:
                raise TableError(f"{self._file.path}: {error} {CHANGE}") from error
        self._left_out = left_out
        return [*answers, *gone, *new], known

    def _given(self, labels: Mapping[int, str]) -> tuple[dict[int, str], dict[int, str]]:
        """Return the labels of a file that are not of the table, and those of rows left out."""
        given, left_out = {}, {}
        for row, label in labels.items():
            place = self._place.get(row)
            if place is None:
                left_out[row] = label
            elif place not in self._of_table:
                try:
                    given[place] = self._checked(label)
                except InvalidAnswerError as error:
                    raise TableError(f"{self._file.where(row)}: {error} {CHANGE}") from error
            elif self._of_table[place] != label:
                problem = f"is {quote(label)}, and {quote(self._of_table[place])} in the table"
                raise TableError(
                    f"{self._file.where(row)}: the label of row {row + 1} {problem}. Change one of "
                    "them, or move the file away."
                )
        return given, left_out

    def _checked(self, label: str) -> str:
        label = label.strip()
        problem = ""
        if label in self._no_label:
            problem = f"{quote(label)} means a row without a label: give another name."
        elif len(label) > MAX_LABEL:
            most = f"The name of a class has at most {MAX_LABEL:,} characters"
            problem = f"{most}: this one has {len(label):,}."
        elif printable(label) != label:
            problem = f"{quote(label)} holds characters that cannot be seen."
        if problem:
            raise InvalidAnswerError(problem)
        return label

    def _know(self, given: Mapping[int, str], version: int) -> Known:
        values = self._values({*given.values()})
        y, codes = self._y.copy(), self._codes.copy()
        if any(isinstance(value, str) for value in values.values()):
            y[[*self._of_table]] = [as_class(label) for label in self._of_table.values()]
        place = {name: number for number, name in enumerate(self._classes)}
        for row, label in given.items():
            y[row] = as_class(values[label])
            codes[row] = place.setdefault(str(values[label]), len(place))
        return Known(version, y, [*place], codes, frozenset(given))

    def _values(self, labels: set[str]) -> dict[str, Any]:
        """Return the labels as the table has its own: whole numbers where all of them are."""
        try:
            every = sorted({*self._classes, *labels})
            numbers = None if self._is_words else parse_integers(every)
        except ValueError as error:
            raise InvalidAnswerError(str(error)) from error
        return {label: label if numbers is None else numbers[label] for label in labels}


def replay(answers: Sequence[Answer]) -> dict[int, str]:
    """Return the labels that answers lead to, in the order in which rows were first answered.

    Examples
    --------
    >>> replay([Answer(3, "a"), Answer(1, "b"), Answer(3, None), Answer(1, "c")])
    {1: 'c'}
    """
    labels: dict[int, str] = {}
    for row, label in answers:
        if label is None:
            labels.pop(row, None)
        else:
            labels[row] = label
    return labels
