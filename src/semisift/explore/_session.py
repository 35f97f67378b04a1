"""The session: a table, what is known of its rows, and what was found from it so far.

One thread labels the rows, ranks by that and chooses what to ask next; another asks the committee
once the first is done. What they find is put in place as a whole, so that whoever answers the page
sees either all of it or none. A new label ends the work for the labels before it, as soon as a step
of it is over.
"""

import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift.active._next_rows import find_next_rows
from semisift.explore._label_store import Answers, InvalidAnswerError, Known, LabelsChangedError
from semisift.explore._rankings import (
    Guess,
    Ranking,
    rank_by_consensus,
    rank_by_soft_labels,
    rank_by_variance,
)
from semisift.explore._subsample import Drawn, draw
from semisift.io import Dataset
from semisift.transduction._soft_labels import format_label_doubt
from semisift.utils._text import plural, printable

# So many seconds without an answer, and the committee is asked: at least, at most, and as a share
# of what it took the last time.
PATIENCE, MAX_PATIENCE, SHARE = 0.4, 5.0, 0.3

# Rows to label next.
N_QUERIED = 10

# Seconds that the committee has to end.
AT_THE_END = 2.0

# What may be under way; the first of them is told.
RANKING, FILES, COMMITTEE = KINDS = ("ranking", "files", "committee")

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
    queue : sequence of (int, str)
        Rows to label next, by their places among the drawn ones, and why.
    queue_version : int or None
        Of the labels.
    latest : dict of str to Ranking
        By method.
    """

    drawn: Drawn | None = None
    ranking: Ranking | None = None
    before: Ranking | None = None
    guess: Guess | None = None
    queue: Sequence[tuple[int, str]] = ()
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
        self.dataset, self.answers, self.seed = dataset, answers, seed
        self.found = Found()
        self.finished: dict[str, Any] | None = None
        self.finished_version: int | None = None
        self.version = 1
        self.can_write = write is not None
        self._n_jobs, self._write = n_jobs, write
        self._changed = threading.Condition()
        self._answering = threading.Lock()
        self._stopped = self._wants_files = False
        self._problem: str | None = None
        self._ready: Known | None = None  # what the committee may be asked about
        self._patience = PATIENCE
        self._under_way: dict[str, tuple[str, float | None]] = {}
        self._reported_at = 0.0

    # --- what the server asks for -----------------------------------------------------------------

    @property
    def known(self) -> Known:
        """What is known of the rows."""
        return self.answers.known

    @property
    def progress(self) -> tuple[str | None, float | None]:
        """What is under way, and the share of it that is done, where that is known."""
        under_way = dict(self._under_way)
        return next((under_way[each] for each in KINDS if each in under_way), (None, None))

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Work until the block is left."""
        ranking, committee = threads = [
            threading.Thread(target=work, name=f"semisift-{name}", daemon=True)
            for name, work in ((RANKING, self._work), (COMMITTEE, self._run_committee))
        ]
        # what a ranking of few labels warns of would be said again and again; here, since filters
        # are those of all threads
        with warnings.catch_warnings(action="ignore"):
            for thread in threads:
                thread.start()
            try:
                yield
            finally:
                with self._changed:
                    self._stopped = True
                    self._changed.notify_all()
                ranking.join()
                committee.join(AT_THE_END)  # its step may take long, and nobody waits for it

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
        InvalidAnswerError, OutOfDateError
        """
        return self._answer(version, lambda: (self.answers.give(row, label), row))[0]

    def undo(self, version: int) -> tuple[Known, int]:
        """Take the last answer back, and return its row as well."""
        return self._answer(version, self.answers.undo)

    def finish(self) -> None:
        """Let the results be written."""
        if self._write is None:
            raise InvalidAnswerError("There is no place for results: start with --out FOLDER.")
        if not self.known.classes:
            raise InvalidAnswerError("No row is labelled yet, so there is nothing to rank by.")
        self._publish(_wants_files=True, finished=None)

    def _answer(self, version: int, take: Callable[[], tuple[Known, int]]) -> tuple[Known, int]:
        with self._answering:
            if version != self.known.version:
                raise OutOfDateError(
                    "The labels have changed meanwhile, perhaps in another tab: look at the row "
                    "again."
                )
            try:
                taken = take()
            except LabelsChangedError as error:
                try:
                    self.answers.read_again()
                except ValueError as problem:
                    message = f"{error} The answer was not taken: {problem}"
                    raise OutOfDateError(message) from error
                self._publish()
                raise OutOfDateError(f"{error} They were read again.") from error
            self._publish()
            return taken

    def keep(self) -> Path | None:
        """See that the labels are in a file; return the one they had to be written to, if any."""
        with self._answering:
            return self.answers.keep()

    # --- the threads that work --------------------------------------------------------------------

    def _work(self) -> None:
        done: Known | None = None

        def has_work() -> bool:
            return self._stopped or self._wants_files or self.known is not done

        while not self._stopped:
            if (known := self.known) is not done and self._try(self._follow, known):
                done = known
            if self._wants_files and done is self.known:
                self._write_files(done)
            with self._changed:
                self._changed.wait_for(has_work)

    def _run_committee(self) -> None:
        done: Known | None = None

        def has_work() -> bool:
            return self._stopped or self._ready is not done

        while not self._stopped:
            with self._changed:
                self._changed.wait_for(has_work)
                known = done = self._ready
                # a person who answers quickly need not hear of the committee
                if known is None or self._changed.wait_for(
                    partial(self._is_old, known), timeout=self._patience
                ):
                    continue
            start = time.monotonic()
            self._try(self._rank_by_consensus, known)
            took = time.monotonic() - start
            self._patience = min(MAX_PATIENCE, max(PATIENCE, SHARE * took))

    def _try(self, work: Callable[[Known], None], known: Known) -> bool:
        """Do work for what is known, unless it changes; tell whether it came to an end."""
        try:
            work(known)
            self._problem = None
        except SupersededError:
            return False
        except Exception as error:  # the page goes on, and the labels are safe
            self._problem = f"The ranking failed: {printable(error)}"
        finally:
            self._report_work(RANKING if work == self._follow else COMMITTEE, None)
        return True

    def _follow(self, known: Known) -> None:
        """Find what follows from the labels at once."""
        drawn = self._draw(known)
        problem = drawn.data
        labels, places = known.labels_of(drawn.rows)
        is_enough = labels.n_classes > 1 or (labels.n_classes == 1 and len(labels.unlabelled) > 1)
        guess = None
        if is_enough:
            self._report_work(RANKING, "labelling the rows")
            ranking, guess = rank_by_soft_labels(
                problem, labels, places, known.classes, known.version
            )
            self._publish(found=replace(self.found.with_ranking(ranking), guess=guess))
        else:
            self._report_work(RANKING, "ranking by variance")
            ranking = rank_by_variance(problem, known.version)
            self._publish(found=Found(drawn, ranking, latest=self.found.latest))
        self._check(known)
        soft, order = None if guess is None else guess.soft, np.argsort(ranking.ranks)
        labelled = problem.with_labels(labels, None, problem.seed)
        rows = find_next_rows(labelled, N_QUERIED, soft=soft, order=order)
        queue = [*zip(rows.rows.tolist(), rows.reasons, strict=True)]
        found = replace(self.found, queue=queue, queue_version=known.version)
        self._publish(found=found, _ready=known if is_enough else None)

    def _draw(self, known: Known) -> Drawn:
        drawn = self.found.drawn
        if drawn is None or not known.given - drawn.uncounted <= drawn.place_of.keys():
            self._report_work(RANKING, "looking at the rows")
            drawn = draw(self.dataset, known.given, self.seed)
            self._check(known)
            self._report_work(RANKING, "finding the directions in which the rows differ")
            _ = drawn.positions
            self._publish(found=Found(drawn, self.found.ranking, latest=self.found.latest))
        return drawn

    def _rank_by_consensus(self, known: Known) -> None:
        drawn = self.found.drawn
        assert drawn is not None
        labels, _ = known.labels_of(drawn.rows)

        def on_progress(share: float | None) -> None:
            self._check(known)
            if time.monotonic() - self._reported_at > SELDOM:
                self._report_work(COMMITTEE, "the committee ranks", share)

        on_progress(None)
        ranking = rank_by_consensus(drawn.data, labels, known.version, self._n_jobs, on_progress)
        with self._changed:
            self._check(known)
            self._publish(found=self.found.with_ranking(ranking))

    def _write_files(self, known: Known) -> None:
        assert self._write is not None
        self._wants_files = False
        self._report_work(FILES, "ranking all rows and writing the results")
        try:
            files = self._write(known.y)
            self.finished = {"files": [path.name for path in files]}
            self.finished_version = known.version
        except Exception as error:
            self.finished = {"error": printable(error)}
        self._report_work(FILES, None)

    def _is_old(self, known: Known) -> bool:
        return self._stopped or self.known is not known

    def _check(self, known: Known) -> None:
        if self._is_old(known):
            raise SupersededError

    def _report_work(self, kind: str, what: str | None, share: float | None = None) -> None:
        """Tell the page what is under way; None is nothing."""
        with self._changed:
            if what is None:
                self._under_way.pop(kind, None)
            else:
                self._under_way[kind] = what, share
            self._publish(_reported_at=time.monotonic())

    def _publish(self, **changes: Any) -> None:
        """Set attributes, and wake all who wait for a new version."""
        with self._changed:
            vars(self).update(changes)
            self.version += 1
            self._changed.notify_all()

    @property
    def notes(self) -> list[str]:
        """Sentences for the page: what was done to the table, and what is not as it could be."""
        notes = [*self.dataset.notes, *filter(None, [self._problem])]
        guess = self.found.guess
        if guess is not None:
            soft = guess.soft
            notes.extend(
                filter(None, [format_label_doubt(soft.trust, soft.n_recovered, soft.n_left_out)])
            )
        n_rows, drawn = len(self.dataset.y), self.found.drawn
        if drawn is not None and len(drawn.rows) < n_rows:
            notes.append(
                f"{len(drawn.rows):,} of {plural(n_rows, 'row')}, drawn at random beside all "
                "that are labelled here, represent all on this page; the results that are written "
                "at the end are made from all."
            )
        return notes
