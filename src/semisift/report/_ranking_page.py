"""The page of a ranking: one file that needs no network, and a short form for notebooks."""

import os
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from semisift.active._next_rows import NextRows
from semisift.report import _method
from semisift.report._download import ranking_file
from semisift.report._page import environment, fill, write_page
from semisift.report._rows import MAX_CLASSES, draw_some, read_rows
from semisift.report._style import MARKS
from semisift.report.charts import boxes, dots, heatmap, rank_intervals, row_map, scores
from semisift.selection import RankingResult
from semisift.selection._markers import Markers
from semisift.selection._summary import (
    format_correlated_features,
    format_feature_constraints,
    format_marks,
    format_selection,
)
from semisift.transduction._positive_unlabelled import format_reliable_negatives
from semisift.utils._columns import LONG_TAIL, has_long_tails
from semisift.utils._text import format_number, printable_name, same_decimals

# The pictures of the page: each takes the outcome, the rows and their values, as far as known.
CHARTS: dict[str, Callable[..., Any]] = {
    "scores": scores.figure,
    "moves": rank_intervals.figure,
    "boxes": boxes.figures,
    "heat": heatmap.figure,
    "map": row_map.figure,
}

N_PRINTED_ROWS = 50
N_IN_NOTEBOOK = 10
MAX_TABLE_ROWS = 1000
MAX_MEMBERS = 30


def write_report(path: str | os.PathLike[str], outcome: RankingResult, **given: Any) -> None:
    """Write the report to a file, whole or not at all; the parameters are those of `render`."""
    write_page(Path(path), render(outcome, **given))


def render(outcome: RankingResult, **given: Any) -> str:
    """Return the page as text; the parameters are those of `summarize`.

    Returns
    -------
    str
        The same for the same input.
    """
    return fill("report.html", **summarize(outcome, **given))


def summarize(
    outcome: RankingResult,
    *,
    X: Any = None,
    y: Any = None,
    title: str | None = None,
    source: Mapping[str, Any] | None = None,
    notes: Iterable[str] = (),
    row_names: Sequence[Any] | None = None,
    markers: Markers | None = None,
    next_rows: NextRows | None = None,
    facts: Mapping[str, Any] | None = None,
    spreadsheet_safe: bool = False,
) -> dict[str, Any]:
    """Return all that the page shows.

    Parameters
    ----------
    outcome : RankingResult
        As `ranking_result` makes it of a fitted ranker.
    X : array-like, frame, sparse matrix or OutOfCoreMatrix, optional
        The rows of the fit. Without them the pictures of rows are left out; of rows that do not
        fit into memory some are drawn, and the page says so.
    y : array-like, optional
        The labels of the fit; -1, None and NaN mark unlabelled rows.
    title : str, optional
        Else the method and, where `source` has a file, its name.
    source : mapping, optional
        Facts on the provenance: file, checksum, seed, versions, date.
    notes : iterable of str
        Sentences on what was done to the data.
    row_names : sequence, optional
        Names of the rows; else the index of a frame, unless it counts the rows, or numbers from 1.
    markers : Markers, optional
        As `ranker.markers(X, y)` returns them, for a section on what marks each class.
    next_rows : NextRows, optional
        As `ranker.query(X, y)` returns them, for a section on the rows to label next.
    facts : mapping, optional
        Where the ranking comes from, for the first lines of the csv file that the page holds.
    spreadsheet_safe : bool, default=False
        No cell of that file is a formula of a spreadsheet.

    Returns
    -------
    dict
    """
    ranker, source = outcome.ranker, source or {}
    X = X if X is None or hasattr(X, "shape") else np.asarray(X)
    rows = read_rows(ranker, X, y, row_names)
    drawn, rows_drawn, sampled = draw_some(ranker, X, rows)
    about = _method.summarize(outcome, rows, None if sampled else drawn)
    start = f"{source['file']}: features" if "file" in source else "Features"
    return {
        **_shared(outcome, MAX_TABLE_ROWS),
        **{name: make(outcome, rows_drawn, drawn) for name, make in CHARTS.items()},
        "title": printable_name(title or f"{start} ranked by {about['name']}"),
        "selection": format_selection(outcome),
        "rows": rows,
        "has_rows": rows is not None and X is not None,
        "sampled": sampled,
        "max_classes": MAX_CLASSES,
        "redundancy": format_correlated_features(outcome),
        "known": format_feature_constraints(outcome),
        "markers": markers,
        "dots": dots.figure(markers),
        "queries": next_rows,
        "row_name": str if rows is None else rows.name,
        "rest": rows
        and format_reliable_negatives(
            ranker, len(rows.labels.labelled), len(rows.labels.unlabelled)
        ),
        "advice": [LONG_TAIL] if drawn is not None and has_long_tails(drawn) else [],
        "download": ranking_file(outcome, source, facts, safe=spreadsheet_safe),
        "about": about,
        "source": source,
        "notes": [*notes],
        "n_printed": N_PRINTED_ROWS,
        "max_members": MAX_MEMBERS,
    }


def notebook(outcome: RankingResult) -> str:
    """Return the best features and the picture of the scores, to stand below a diagram."""
    # A notebook may hold several of these, also of one ranker: no two share an id.
    picture = scores.figure(outcome, slug=f"semisift-{uuid.uuid4().hex[:12]}", is_small=True)
    page = environment().get_template("notebook.html")
    return page.render(**_shared(outcome, N_IN_NOTEBOOK), scores=picture)


def next_rows_table(found: NextRows) -> str:
    """Return a table of the rows to label next for a notebook."""
    page = environment().get_template("next_notebook.html")
    return page.render(queries=found, row_name=str)


def format_score(score: float, form: str) -> str:
    """Write a score with as many digits as the others."""
    return format(score, form) if np.isfinite(score) else format_number(score)


def _shared(outcome: RankingResult, most: int) -> dict[str, Any]:
    """Return what all templates of a ranking know."""
    return {
        "outcome": outcome,
        "trust": outcome.trust,
        "table": table_rows(outcome, most),
        "form": same_decimals(outcome.scores[:most]),
        "format_score": format_score,
        "marks": MARKS,
    }


def table_rows(outcome: RankingResult, most: int) -> list[dict[str, Any]]:
    """Return the best features with their scores, as numbers and as bars in percent of the best."""
    shown = outcome.scores[:most]
    form = same_decimals(shown)
    best = float(shown[np.isfinite(shown)].max(initial=0.0))
    with np.errstate(over="ignore"):
        shares = shown / best if best > 0 else 1.0 * (shown > best)
    bars = 100 * np.clip(np.nan_to_num(shares), 0, 1)
    return [
        {
            "feature": printable_name(feature),
            "score": format_score(score, form),
            "bar": round(bar, 1),
            "marks": ", ".join(format_marks(outcome, place)),
        }
        for place, (feature, score, bar) in enumerate(
            zip(outcome.features[:most], shown.tolist(), bars.tolist(), strict=True)
        )
    ]
