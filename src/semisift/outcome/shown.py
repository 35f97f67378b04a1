"""Who shows what came out of a fit: a module that stands above the rankers, registered by name."""

import importlib
from typing import Any

_RENDERERS: list[str] = []


def register_renderer(module: str) -> None:
    """Let a module show outcomes from now on; it is imported when it is first asked to.

    Its `plot_scores`, `write_report` and `notebook` take an `Outcome`, its `next_rows_table` a
    `NextRows`.
    """
    _RENDERERS.append(module)


def renderer() -> Any:
    """Return the module that shows outcomes."""
    return importlib.import_module(_RENDERERS[-1])
