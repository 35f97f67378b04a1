"""The terminal: what is printed shows text of files and names of files, and never obeys it.

What a command is doing is shown once a step has taken two seconds.
"""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.segment import Segment
from rich.table import Column
from rich.text import Text

from semisift._words import for_terminal, visible

PATIENCE = 2.0  # seconds without a word
NARROW = 80  # columns of a terminal that the bar and its words fit into


class Terminal(Console):
    """A console that prints text as it stands: neither markup nor control characters count."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

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
            step.hide()


class Step:
    """One step; as a callback of scikit-learn it hears how far a ranker is."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.total: int | None = None
        self.done = 0
        self._lock = threading.Lock()
        self._is_over = False
        self._bar: Progress | None = None

    def show(self) -> None:
        """Start to draw, unless the step is over or there is no terminal to draw on."""
        with self._lock:
            console = Terminal(stderr=True)
            if self._is_over or not console.is_terminal:
                return
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
                console=console,
                transient=True,
            )
            self._bar.add_task(self.text, total=self.total, completed=self.done)
            self._bar.start()

    def hide(self) -> None:
        """Take the bar away."""
        with self._lock:
            self._is_over = True
            if self._bar is not None:
                self._bar.stop()

    def hear(self, record: dict[str, Any], n_left: int) -> None:
        """Hear that a comparison has one more record, and how many are left."""
        self.done += 1
        self.total = self.done + n_left
        self.text = f"Record {self.done:,} of {self.total:,}: {visible(record['dataset'])}"
        self._update()

    def _update(self) -> None:
        with self._lock:
            if self._bar is not None:
                self._bar.update(
                    self._bar.task_ids[0],
                    description=self.text,
                    total=self.total,
                    completed=self.done,
                )

    # what scikit-learn asks of a callback

    def setup(self, estimator: Any, context: Any) -> None:
        """Hear that a fit begins."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Hear that a fit is over."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Hear how many parts there will be."""
        if context.parent is None:
            self.total = context.max_subtasks or None
            self._update()

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Hear that a part is done."""
        if context.parent is not None and context.parent.parent is None:
            self.done += 1
            self._update()
