from semisift.report._ranking_page import next_rows_table as next_rows_table
from semisift.report._ranking_page import notebook as notebook
from semisift.report._ranking_page import render as render
from semisift.report._ranking_page import write_report as write_report
from semisift.report.charts.scores import plot_scores as plot_scores
