"""The report of a comparison: pictures, tables, one HTML file, and pages for documents.

Names are imported when they are first used, as in `semisift.report`.
"""

from typing import TYPE_CHECKING

from semisift._lazy import lazy_names

if TYPE_CHECKING:
    from semisift.report.comparison.curves import plot_boxes, plot_curves
    from semisift.report.comparison.diagram import plot_cd
    from semisift.report.comparison.files import write_figures, write_summary
    from semisift.report.comparison.html import render_comparison, write_comparison
    from semisift.report.comparison.similarity import plot_similarity
    from semisift.report.comparison.sweep import plot_sweep
    from semisift.report.comparison.text import to_latex, to_markdown
    from semisift.report.comparison.trade_offs import plot_stability, plot_time

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

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "plot_boxes": "curves",
        "plot_cd": "diagram",
        "plot_curves": "curves",
        "plot_similarity": "similarity",
        "plot_stability": "trade_offs",
        "plot_sweep": "sweep",
        "plot_time": "trade_offs",
        "render_comparison": "html",
        "to_latex": "text",
        "to_markdown": "text",
        "write_comparison": "html",
        "write_figures": "files",
        "write_summary": "files",
    },
)
