"""The report: one HTML file without a network, and the same pictures in Python.

Names are imported when they are first used, so that ``import semisift.report`` loads neither
matplotlib nor jinja2.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semisift.report.html import notebook, render, write_report
    from semisift.report.plots import plot_scores
    from semisift.report.ranking import Ranking, ranking_of, ranking_of_variables

__all__ = [
    "Ranking",
    "notebook",
    "plot_scores",
    "ranking_of",
    "ranking_of_variables",
    "render",
    "write_report",
]

_HOMES = {
    "Ranking": "semisift.report.ranking",
    "notebook": "semisift.report.html",
    "plot_scores": "semisift.report.plots",
    "ranking_of": "semisift.report.ranking",
    "ranking_of_variables": "semisift.report.ranking",
    "render": "semisift.report.html",
    "write_report": "semisift.report.html",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
