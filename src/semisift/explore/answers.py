"""What is known of the rows: labels of the table, which stay, and those that are given here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift._labels import (
    LONGEST_LABEL,
    UNLABELLED,
    Labels,
    as_class,
    parse_labels,
    unlabelled_words,
)
from semisift._words import printable, quoted
from semisift.exceptions import TableError
from semisift.explore.labels_file import Answer, LabelsFile
from semisift.io.labels import whole_numbers
from semisift.math import Ints

CHANGE = "Change it there, or move the file away."


class LabelRefusedError(ValueError):
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
        LabelRefusedError
        LabelsChangedError
            Where another program changed the file, which is read again then.
        """
        if row in self._of_table:
            raise LabelRefusedError(
                f"The row has the label {quoted(self._of_table[row])} in the table, which is not "
                "changed here."
            )
        if label is None and row not in self.known.given:
            raise LabelRefusedError("The row has no label that could be taken back.")
        if label is not None:
            label = self._checked(label)
        return self._take([*self._answers, Answer(row, label)])

    def undo(self) -> tuple[Known, int]:
        """Take the last answer back, and return its row as well."""
        if not self._answers:
            raise LabelRefusedError("There is no answer to take back.")
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
        told = self._told(self._answers)
        try:
            if self._file.is_gone:
                self._file.write(*told)
                return self._file.path
            if self._file.is_changed:
                self.read_again()
        except ValueError:
            return self._file.write_beside(*told)
        return None

    def _take(self, answers: list[Answer]) -> Known:
        known = self._know(replay(answers), self.known.version + 1)
        self._file.write(*self._told(answers))
        self._answers, self.known = answers, known
        return known

    def _told(self, answers: list[Answer]) -> tuple[dict[int, str], list[Answer]]:
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
            labels, told = found
            given, left_out = self._given(labels)
            if answers is None:
                answers = [
                    Answer(self._place[row], each) for row, each in told if row in self._place
                ]
                answers = [answer for answer in answers if answer.row not in self._of_table]
            before = replay(answers)
            gone = [Answer(row, None) for row in before if row not in given]
            new = [Answer(row, label) for row, label in given.items() if before.get(row) != label]
            try:
                known = self._know(given, version)
            except LabelRefusedError as error:
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
                except LabelRefusedError as error:
                    raise TableError(f"{self._file.where(row)}: {error} {CHANGE}") from error
            elif self._of_table[place] != label:
                raise TableError(
                    f"{self._file.where(row)}: the label of row {row + 1} is {quoted(label)}, and "
                    f"{quoted(self._of_table[place])} in the table. Change one of them, or move "
                    "the file away."
                )
        return given, left_out

    def _checked(self, label: str) -> str:
        label = label.strip()
        if label in self._no_label:
            raise LabelRefusedError(
                f"{quoted(label)} means a row without a label: give another name."
            )
        if len(label) > LONGEST_LABEL:
            raise LabelRefusedError(
                f"The name of a class has at most {LONGEST_LABEL:,} characters: this one has "
                f"{len(label):,}."
            )
        if printable(label) != label:
            raise LabelRefusedError(f"{quoted(label)} holds characters that cannot be seen.")
        return label

    def _know(self, given: Mapping[int, str], version: int) -> Known:
        values = self._values({*given.values()})
        y, codes = self._y.copy(), self._codes.copy()
        if any(isinstance(value, str) for value in values.values()):
            y[[*self._of_table]] = [as_class(label) for label in self._of_table.values()]
        classes = [
            *dict.fromkeys([*self._classes, *(str(values[each]) for each in given.values())])
        ]
        place = {name: number for number, name in enumerate(classes)}
        for row, label in given.items():
            y[row], codes[row] = as_class(values[label]), place[str(values[label])]
        return Known(version, y, classes, codes, frozenset(given))

    def _values(self, labels: set[str]) -> dict[str, Any]:
        """Return the labels as the table has its own: whole numbers where all of them are."""
        try:
            every = sorted({*self._classes, *labels})
            numbers = None if self._is_words else whole_numbers(every)
        except ValueError as error:
            raise LabelRefusedError(str(error)) from error
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
