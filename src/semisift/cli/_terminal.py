"""The terminal: what is printed shows text of files and names of files, and never obeys it."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from semisift._words import for_terminal


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
