"""The terminal: what is printed shows text of files and names of files, and never obeys it.

What a command is doing is shown once a step has taken two seconds.
"""

import io
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.segment import Segment
from rich.table import Column
from rich.text import Text

from semisift.exceptions import (
    NoFeatureSelectedWarning,
    NoUnlabelledDataWarning,
    SubsamplingWarning,
)
from semisift.utils._text import for_terminal, printable_name

PATIENCE = 2.0  # seconds without a word
NARROW = 80  # columns of a terminal that the bar and its words fit into
NARROWEST = 20  # fewer columns, as of a terminal that does not tell, show nothing

# A warning that commands say in their own words.
SAMPLED = ".* holds its rows in memory"


class Terminal(Console):
    """A console that prints text as it stands: neither markup nor control characters count."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)
        if isinstance(self.file, io.TextIOWrapper):  # of which some hold no more than ASCII
            self.file.reconfigure(errors="backslashreplace")
        if self.width < NARROWEST:
            self.width = NARROW

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render text with every character shown."""
        if isinstance(renderable, str):
            renderable = for_terminal(renderable)
        elif isinstance(renderable, Text):
            renderable = renderable.copy()
            renderable.plain = for_terminal(renderable.plain)
        return super().render(renderable, options)


class Steps:
    """The steps of a command, with a bar and the time left on a terminal.

    Parameters
    ----------
    quiet : bool
        Show nothing.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet

    @contextmanager
    def step(self, text: str) -> Iterator["Step"]:
        """Show `text` while the block runs, if that takes longer than `PATIENCE`."""
        step = Step(for_terminal(text))
        timer = threading.Timer(PATIENCE, step.show)
        timer.daemon = True
        if not self.quiet:
            timer.start()
        try:
            yield step
        finally:
            timer.cancel()
            if timer.is_alive():  # or the bar might come after it was taken away
                timer.join()
            step.hide()


class Step:
    """One step; as a callback of scikit-learn it hears how far a ranker is."""

    def __init__(self, text: str) -> None:
        self._bar = Progress(
            TextColumn(
                "{task.description}",
                markup=False,
                table_column=Column(no_wrap=True, overflow="ellipsis", max_width=NARROW // 2),
            ),
            BarColumn(bar_width=NARROW // 5),
            TaskProgressColumn("{task.percentage:>3.0f}%"),
            TimeRemainingColumn(compact=True),
            TextColumn("left"),
            console=Terminal(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(text, total=None)
        self._pass = self._bar.add_task("", total=None, visible=False)
        self._begun = "", 0.0, 0  # the pass, when it was first heard of, rows that it had done

    def show(self) -> None:
        """Start to draw, if there is a terminal to draw on."""
        if self._bar.console.is_terminal:
            self._bar.start()

    def hide(self) -> None:
        """Take the bar away."""
        if self._bar.live.is_started:
            self._bar.stop()

    def on_record(self, record: dict[str, Any], n_left: int) -> None:
        """Hear that a comparison has one more record, and how many are left."""
        done = int(self._bar.tasks[0].completed) + 1
        text = f"Record {done:,} of {done + n_left:,}: {printable_name(record['dataset'])}"
        self._bar.update(self._task, description=text, total=done + n_left, completed=done)

    def on_rows(self, what: str, done: int, n_rows: int) -> None:
        """Hear how many rows a pass has gone through; it has a bar of its own until it ends."""
        now, (before, begun, first) = time.monotonic(), self._begun
        if what != before:
            begun, first = now, done
            self._begun = what, begun, first
            self._bar.reset(self._pass, total=n_rows, visible=True, description=what)
        is_over = done >= n_rows
        speed = f", {(done - first) / (now - begun):,.0f} rows/s" if now > begun else ""
        self._bar.update(
            self._pass, completed=done, description=f"{what}{speed}", visible=not is_over
        )
        if is_over:
            self._begun = "", 0.0, 0

    @contextmanager
    def watching(self, X: Any) -> Iterator[None]:
        """Hear of passes over rows that stay in their file."""
        from semisift.out_of_core._matrix import OutOfCoreMatrix  # with scikit-learn

        if not isinstance(X, OutOfCoreMatrix):
            yield
            return
        X.progress = self.on_rows
        try:
            yield
        finally:
            X.progress = None
            self._bar.update(self._pass, visible=False)

    @contextmanager
    def following(self, estimator: Any, X: Any = None) -> Iterator[None]:
        """Hear how far an estimator is; what commands say in their own words is not warned of."""
        hears = hasattr(estimator, "set_callbacks")
        if hears:
            estimator.set_callbacks(self)
        try:
            with warnings.catch_warnings(), self.watching(X):
                for category in (NoUnlabelledDataWarning, NoFeatureSelectedWarning):
                    warnings.simplefilter("ignore", category)
                warnings.filterwarnings("ignore", SAMPLED, SubsamplingWarning)
                yield
        finally:
            if hears:
                estimator.set_callbacks()

    # what scikit-learn asks of a callback

    def setup(self, estimator: Any, context: Any) -> None:
        """Hear that a fit begins."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Hear that a fit is over."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Hear how many parts there will be."""
        if context.parent is None:
            self._bar.update(self._task, total=context.max_subtasks or None)

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Hear that a part is done."""
        if context.parent is not None and context.parent.parent is None:
            self._bar.advance(self._task)
