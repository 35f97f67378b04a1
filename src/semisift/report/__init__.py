"""The report: one HTML file without a network, and the same pictures in Python.

Names are imported when they are first used, so that ``import semisift.report`` loads neither
matplotlib nor jinja2.
"""

from typing import TYPE_CHECKING

from semisift._lazy import lazy_names

if TYPE_CHECKING:
    from semisift.report.html import notebook, render, write_report
    from semisift.report.scores import plot_scores

__all__ = ["notebook", "plot_scores", "render", "write_report"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {"notebook": "html", "plot_scores": "scores", "render": "html", "write_report": "html"},
)
