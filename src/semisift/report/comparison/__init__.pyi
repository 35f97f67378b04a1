from semisift.report.charts.critical_difference import (
    plot_critical_difference as plot_critical_difference,
)
from semisift.report.charts.curves import plot_boxes as plot_boxes
from semisift.report.charts.curves import plot_curves as plot_curves
from semisift.report.charts.curves import plot_sweep as plot_sweep
from semisift.report.charts.tradeoffs import plot_similarity as plot_similarity
from semisift.report.charts.tradeoffs import plot_stability as plot_stability
from semisift.report.charts.tradeoffs import plot_time as plot_time
from semisift.report.comparison._page import render_comparison as render_comparison
from semisift.report.comparison._page import write_comparison as write_comparison
from semisift.report.comparison._page import write_figures as write_figures
from semisift.report.comparison._page import write_summary as write_summary
from semisift.report.comparison._tables import to_latex as to_latex
from semisift.report.comparison._tables import to_markdown as to_markdown
