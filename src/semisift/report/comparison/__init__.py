"""The report of a comparison: pictures, tables, one HTML file, and pages for documents.

Names are imported when they are first used, as in `semisift.report`.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semisift.report.comparison.curves import plot_boxes, plot_curves, plot_sweep
    from semisift.report.comparison.diagram import plot_cd
    from semisift.report.comparison.files import write_figures, write_summary
    from semisift.report.comparison.html import render_comparison, write_comparison
    from semisift.report.comparison.measures import plot_similarity, plot_stability, plot_time
    from semisift.report.comparison.tables import to_latex, to_markdown

__all__ = [
    "plot_boxes",
    "plot_cd",
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
    "curves": ("plot_boxes", "plot_curves", "plot_sweep"),
    "diagram": ("plot_cd",),
    "files": ("write_figures", "write_summary"),
    "html": ("render_comparison", "write_comparison"),
    "measures": ("plot_similarity", "plot_stability", "plot_time"),
    "tables": ("to_latex", "to_markdown"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
