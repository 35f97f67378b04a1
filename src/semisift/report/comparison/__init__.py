"""The report of a comparison: pictures, tables, one HTML file, and pages for documents.

Names are imported when they are first used, as in `semisift.report`.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semisift.report.comparison._curves import plot_boxes, plot_curves, plot_sweep
    from semisift.report.comparison._diagram import plot_critical_difference
    from semisift.report.comparison._export import write_figures, write_summary
    from semisift.report.comparison._measures import plot_similarity, plot_stability, plot_time
    from semisift.report.comparison._page import render_comparison, write_comparison
    from semisift.report.comparison._tables import to_latex, to_markdown

__all__ = [
    "plot_boxes",
    "plot_critical_difference",
    "plot_curves",
    "plot_similarity",
    "plot_stability",
    "plot_sweep",
    "plot_time",
    "render_comparison",
    "to_latex",
    "to_markdown",
    "write_comparison",
    "write_figures",
    "write_summary",
]

_HOMES = {
    "_curves": ("plot_boxes", "plot_curves", "plot_sweep"),
    "_diagram": ("plot_critical_difference",),
    "_export": ("write_figures", "write_summary"),
    "_page": ("render_comparison", "write_comparison"),
    "_measures": ("plot_similarity", "plot_stability", "plot_time"),
    "_tables": ("to_latex", "to_markdown"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
