"""The session: a table, what is known of its rows, and what was found from it so far.

One thread ranks. What it finds is put in place as a whole, so that whoever answers the page sees
either all of it or none. A new label ends the work that is under way for the labels before it.
"""

import threading
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from semisift._words import count, printable
from semisift.explore.answers import Answers, Known, LabelRefusedError
from semisift.explore.drawn import Drawn, draw
from semisift.explore.labels_file import LabelsChangedError
from semisift.explore.queue import Asked, ask
from semisift.explore.rankings import (
    Guess,
    Ranking,
    rank_by_consensus,
    rank_by_soft_labels,
    rank_by_variance,
)
from semisift.io import Dataset

# So many seconds without an answer, and the committee is asked.
PATIENCE = 0.4

# How often the page may hear of progress, in seconds.
SELDOM = 0.3

Write = Callable[[NDArray[Any]], Sequence[Path]]


class SupersededError(Exception):
    """There are new labels: what is under way is not wanted any more."""


class OutOfDateError(Exception):
    """An answer to labels that have changed meanwhile."""


@dataclass(frozen=True, eq=False)
class Found:
    """What was found so far.

    Attributes
    ----------
    drawn : Drawn or None
        The rows that all of it is of.
    ranking, before : Ranking or None
        The present one, and the last by the same method for other labels.
    guess : Guess or None
    queue : sequence of Asked
    queue_version : int or None
        Of the labels.
    latest : dict of str to Ranking
        By method.
    """

    drawn: Drawn | None = None
    ranking: Ranking | None = None
    before: Ranking | None = None
    guess: Guess | None = None
    queue: Sequence[Asked] = ()
    queue_version: int | None = None
    latest: dict[str, Ranking] = field(default_factory=dict)

    def with_ranking(self, ranking: Ranking) -> "Found":
        """Return it with a new ranking, which is compared with the last of its kind."""
        before = self.latest.get(ranking.by)
        return replace(
            self, ranking=ranking, before=before, latest={**self.latest, ranking.by: ranking}
        )


class Session:
    """A table that a person labels.

    Parameters
    ----------
    dataset : Dataset
    answers : Answers
    seed : int
    n_jobs : int or None
        Threads of the committee.
    write : callable or None
        Writes results from the labels of all rows, and returns their files.
    """

    def __init__(
        self,
        dataset: Dataset,
        answers: Answers,
        *,
        seed: int = 0,
        n_jobs: int | None = None,
        write: Write | None = None,
    ) -> None:
        self.dataset, self.seed = dataset, seed
        self.found = Found()
        self.progress: tuple[str | None, float | None] = (None, None)
        self.finished: dict[str, Any] | None = None
        self.finished_version: int | None = None
        self.version = 1
        self.problems: list[str] = []
        self._answers, self._n_jobs, self._write = answers, n_jobs, write
        self._changed = threading.Condition()
        self._answering = threading.Lock()
        self._stopped = self._wants_files = False
        self._told = 0.0
        self._thread = threading.Thread(target=self._work, name="ranking", daemon=True)

    # --- what the server asks for -----------------------------------------------------------------

    @property
    def known(self) -> Known:
        """What is known of the rows."""
        return self._answers.known

    @property
    def can_undo(self) -> bool:
        """Whether there is an answer to take back."""
        return self._answers.can_undo

    @property
    def can_write(self) -> bool:
        """Whether there is a place for results."""
        return self._write is not None

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def stop(self) -> None:
        """End the work, and wait for its end."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join()

    def wait(self, since: int, seconds: float) -> bool:
        """Wait until there is another version than `since`; tell whether there is."""
        with self._changed:
            return self._changed.wait_for(
                lambda: self.version != since or self._stopped, timeout=seconds
            )

    def label(self, row: int, label: str | None, version: int) -> Known:
        """Take an answer, which is on the disk when this returns.

        Parameters
        ----------
        row : int
        label : str or None
            None takes the label back.
        version : int
            Of the labels that the person has seen.

        Returns
        -------
        Known

        Raises
        ------
        LabelRefusedError, OutOfDateError
        """
        return self._answer(version, lambda: self._answers.give(row, label))

    def undo(self, version: int) -> tuple[Known, int]:
        """Take the last answer back, and return its row as well."""
        row = -1

        def take_back() -> Known:
            nonlocal row
            known, row = self._answers.undo()
            return known

        return self._answer(version, take_back), row

    def finish(self) -> None:
        """Let the results be written."""
        if self._write is None:
            raise LabelRefusedError("There is no place for results: start with --out FOLDER.")
        if not self.known.classes:
            raise LabelRefusedError("No row is labelled yet, so there is nothing to rank by.")
        with self._changed:
            self._wants_files, self.finished = True, None
            self._tell_all()

    def _answer(self, version: int, take: Callable[[], Known]) -> Known:
        with self._answering:
            if version != self.known.version:
                raise OutOfDateError(
                    "The labels have changed meanwhile, perhaps in another tab: look at the row "
                    "again."
                )
            try:
                known = take()
            except LabelsChangedError as error:
                self._answers.read_again()
                with self._changed:
                    self._tell_all()
                raise OutOfDateError(str(error)) from error
            with self._changed:
                self._tell_all()
            return known

    # --- the thread that works --------------------------------------------------------------------

    def _work(self) -> None:
        done = None
        while not self._stopped:
            known = self.known
            if known is not done:
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        self._follow(known)
                except SupersededError:
                    continue
                except Exception as error:  # the page goes on; the labels are safe
                    self._say_problem(error)
                done = known
            if self._wants_files:
                self._write_files()
            self._publish(progress=(None, None))
            with self._changed:
                self._changed.wait_for(
                    lambda: self._stopped or self._wants_files or self.known is not done  # noqa: B023
                )

    def _follow(self, known: Known) -> None:
        """Find all that follows from the labels, the quick things first."""
        self.problems.clear()
        drawn = self._draw(known)
        problem = drawn.problem
        labels, places = known.labels_of(drawn.rows)
        is_ready = labels.n_classes > 1 or (labels.n_classes and len(labels.unlabelled) > 1)
        if not is_ready:
            self._publish(progress=("ranking by variance", None))
            ranking = rank_by_variance(problem)
            self._publish(found=Found(drawn, ranking, latest=self.found.latest))
        else:
            self._publish(progress=("labelling the rows", None))
            ranking, guess = rank_by_soft_labels(
                problem, labels, places, known.classes, known.version
            )
            self._publish(found=replace(self.found.with_ranking(ranking), guess=guess))
        self._check(known)
        queue = ask(problem, labels, self.found.guess)
        self._publish(found=replace(self.found, queue=queue, queue_version=known.version))
        if not is_ready:
            return
        with self._changed:  # a person who answers quickly need not hear of the committee
            self._changed.wait_for(lambda: self._is_old(known), timeout=PATIENCE)
        self._check(known)
        ranking = rank_by_consensus(
            problem, labels, known.version, self._n_jobs, lambda share: self._hear(known, share)
        )
        self._publish(found=self.found.with_ranking(ranking))

    def _draw(self, known: Known) -> Drawn:
        drawn = self.found.drawn
        if drawn is None or not known.given - drawn.uncounted <= drawn.place_of.keys():
            self._publish(progress=("looking at the rows", None))
            drawn = draw(self.dataset, known.given, self.seed)
            self._check(known)
            self._publish(progress=("finding the directions in which they differ", None))
            _ = drawn.positions
            self._publish(found=Found(drawn, self.found.ranking, latest=self.found.latest))
        return drawn

    def _write_files(self) -> None:
        assert self._write is not None
        self._wants_files, known = False, self.known
        self._publish(progress=("writing the ranking of all rows, the labels and the report", None))
        try:
            files = self._write(known.y)
            self.finished = {"files": [path.name for path in files]}
            self.finished_version = known.version
        except Exception as error:
            self.finished = {"error": printable(error)}

    def _hear(self, known: Known, share: float | None) -> None:
        self._check(known)
        if time.monotonic() - self._told > SELDOM:
            self._publish(progress=("the committee ranks", share))

    def _is_old(self, known: Known) -> bool:
        return self._stopped or self.known is not known

    def _check(self, known: Known) -> None:
        if self._is_old(known):
            raise SupersededError

    def _say_problem(self, error: Exception) -> None:
        self.problems.append(f"The ranking failed: {printable(error)}")

    def _publish(self, **changes: Any) -> None:
        with self._changed:
            for name, value in changes.items():
                setattr(self, name, value)
            self._told = time.monotonic()
            self._tell_all()

    def _tell_all(self) -> None:
        self.version += 1
        self._changed.notify_all()

    @property
    def notes(self) -> list[str]:
        """Sentences for the page: what was done to the table, and what is not as it could be."""
        notes = [*self.dataset.notes, *self.problems]
        n_rows, drawn = len(self.dataset.y), self.found.drawn
        if drawn is not None and len(drawn.rows) < n_rows:
            notes.append(
                f"{len(drawn.rows):,} of {count(n_rows, 'row')}, drawn at random beside all "
                "that are labelled here, stand for all on this page; the results that are written "
                "at the end are made from all."
            )
        return notes
