"""The report: one HTML file without a network, and the same pictures in Python.

Names are imported when they are first used, so that ``import semisift.report`` loads neither
matplotlib nor jinja2.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semisift.report.html import notebook, render, write_report
    from semisift.report.next_rows import next_rows_table
    from semisift.report.scores import plot_scores

__all__ = ["next_rows_table", "notebook", "plot_scores", "render", "write_report"]

_HOMES = {
    "next_rows_table": "next_rows",
    "notebook": "html",
    "plot_scores": "scores",
    "render": "html",
    "write_report": "html",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
