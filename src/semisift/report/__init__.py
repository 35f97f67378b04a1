"""The report: one HTML file without a network, and the same pictures in Python.

Names are imported when they are first used, so that ``import semisift.report`` loads neither
matplotlib nor jinja2.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semisift.report._next_rows import next_rows_table
    from semisift.report._ranking_page import notebook, render, write_report
    from semisift.report._scores import plot_scores

__all__ = ["next_rows_table", "notebook", "plot_scores", "render", "write_report"]

_HOMES = {
    "next_rows_table": "_next_rows",
    "notebook": "_ranking_page",
    "plot_scores": "_scores",
    "render": "_ranking_page",
    "write_report": "_ranking_page",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
