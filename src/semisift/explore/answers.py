"""What is known of the rows: labels of the table, which stay, and those that are given here."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
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
        self._answers, self.known = self._read(0)

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
        """Take the labels from the file, as another program left it."""
        self._answers, self.known = self._read(self.known.version + 1)
        return self.known

    def _take(self, answers: list[Answer]) -> Known:
        given = replay(answers)
        known = self._know(given, self.known.version + 1)
        texts = {int(self._rows[row]): label for row, label in {**self._of_table, **given}.items()}
        moved = [Answer(int(self._rows[row]), label) for row, label in answers]
        self._file.write(texts, moved)
        self._answers, self.known = answers, known
        return known

    def _read(self, version: int) -> tuple[list[Answer], Known]:
        labels, told = self._file.read()
        given = {}
        for row, label in labels.items():
            place = self._place.get(row)  # rows that were left out of the table have none
            if place is None:
                continue
            if place not in self._of_table:
                with self._blaming(row):
                    given[place] = self._checked(label)
            elif self._of_table[place] != label:
                raise TableError(
                    f"{self._file.path}: the label of row {row + 1} is {quoted(label)}, and "
                    f"{quoted(self._of_table[place])} in the table. Change one of them, or name "
                    "another file with --answers."
                )
        answers = [Answer(self._place[row], label) for row, label in told if row in self._place]
        answers = [answer for answer in answers if answer.row not in self._of_table]
        if replay(answers) != given:  # somebody wrote to the file
            answers = [Answer(row, label) for row, label in given.items()]
        return answers, self._know(given, version)

    @contextmanager
    def _blaming(self, row: int) -> Iterator[None]:
        """Say where in the file a label is that cannot be used."""
        try:
            yield
        except LabelRefusedError as error:
            raise TableError(f"{self._file.path}, row {row + 1} of the table: {error}") from error

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
