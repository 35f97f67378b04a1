"""The page: one file that needs no network, and a short form for notebooks."""

import os
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from semisift._words import figure, same_decimals, visible
from semisift.math.tails import LONG_TAIL, has_long_tails
from semisift.outcome import Outcome
from semisift.outcome.decisions import CELLS, HEADING, WORDS
from semisift.outcome.markers import Markers
from semisift.outcome.next_rows import NextRows
from semisift.outcome.words import say_copies, say_known, say_marks, say_selection
from semisift.report import method
from semisift.report.download import ranking_file
from semisift.report.heatmap import heatmap
from semisift.report.intervals import picture_of_intervals
from semisift.report.markers import markers_by_class
from semisift.report.next_rows import asked_rows
from semisift.report.page import environment, fill, write_page
from semisift.report.palette import MARKS
from semisift.report.row_map import picture_of_rows
from semisift.report.rows import MOST_CLASSES, pictures_of_features, read_rows
from semisift.report.sampled import draw_some
from semisift.report.scores import follow, scores_figure
from semisift.transduction.one_class import say_rest

MOST_PRINTED_ROWS = 50
N_IN_NOTEBOOK = 10
MOST_TABLE_ROWS = 1000
MOST_MEMBERS = 30


def write_report(
    path: str | os.PathLike[str],
    outcome: Outcome,
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
) -> None:
    """Write the report to a file, whole or not at all.

    Parameters
    ----------
    path : str or path
    outcome : Outcome
        As `outcome_of` makes it of a fitted ranker.
    X : array-like, frame, sparse matrix or StoredRows, optional
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
    """
    page = render(
        outcome,
        X=X,
        y=y,
        title=title,
        source=source,
        notes=notes,
        row_names=row_names,
        markers=markers,
        next_rows=next_rows,
        facts=facts,
        spreadsheet_safe=spreadsheet_safe,
    )
    write_page(Path(path), page)


def render(
    outcome: Outcome,
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
) -> str:
    """Return the page as text; the parameters are those of `write_report`.

    Returns
    -------
    str
        The same for the same input.
    """
    ranker, source = outcome.ranker, source or {}
    X = X if X is None or hasattr(X, "shape") else np.asarray(X)
    rows = read_rows(ranker, X, y, row_names)
    shown = draw_some(ranker, X, rows)
    about, curve = method.about_method(ranker), follow(outcome)
    start = f"{source['file']}: features" if "file" in source else "Features"
    return fill(
        "report.html",
        **_shared(outcome, MOST_TABLE_ROWS),
        title=visible(title or f"{start} ranked by {about.name}"),
        selection=say_selection(outcome),
        X=None if shown.sentence else shown.X,
        rows=rows,
        sampled=shown.sentence,
        most_classes=MOST_CLASSES,
        redundancy=say_copies(outcome),
        known=say_known(outcome),
        chance=curve.chance,
        scores=scores_figure(
            curve, "scores", (760, 350), 8, scores_figure(curve, "scores", (340, 300), 5)
        ),
        moves=picture_of_intervals(outcome),
        has_rows=rows is not None and X is not None,
        markers=markers_by_class(markers),
        heat=heatmap(outcome, shown.rows, shown.X),
        asked=asked_rows(next_rows, str if rows is None else rows.name),
        rest=rows and say_rest(ranker, len(rows.labels.labelled), len(rows.labels.unlabelled)),
        advice=[LONG_TAIL] if shown.X is not None and has_long_tails(shown.X) else [],
        download=ranking_file(outcome, source, facts, safe=spreadsheet_safe),
        boxes=pictures_of_features(outcome, shown.rows, shown.X),
        map=picture_of_rows(outcome, shown.rows, shown.X),
        about=about,
        method=method,
        source=source,
        notes=[*notes],
        n_printed=MOST_PRINTED_ROWS,
        most_members=MOST_MEMBERS,
    )


def notebook(outcome: Outcome) -> str:
    """Return the best features and the picture of the scores, to stand below a diagram."""
    curve = follow(outcome)
    # A notebook may hold several of these, also of one ranker: no two share an id.
    scores = scores_figure(curve, f"semisift-{uuid.uuid4().hex[:12]}", (420, 240), 0)
    scores = replace(scores, tips=())  # which need the script of the page
    page = environment().get_template("notebook.html")
    return page.render(**_shared(outcome, N_IN_NOTEBOOK), chance=curve.chance, scores=scores)


def _shared(outcome: Outcome, most: int) -> dict[str, Any]:
    """Return what all templates of a ranking know."""
    return {
        "outcome": outcome,
        "trust": outcome.trust,
        "table": table_rows(outcome, most),
        "marks": MARKS,
        "words": WORDS,
        "cells": CELLS,
        "heading": HEADING,
        "as_rank": as_rank,
    }


def table_rows(outcome: Outcome, most: int) -> list[dict[str, Any]]:
    """Return the best features with their scores, as numbers and as bars."""
    scores = outcome.scores[:most]
    form = same_decimals(scores)
    best = float(scores[np.isfinite(scores)].max(initial=0.0))
    return [
        {
            "feature": visible(feature),
            "score": _score(score, form),
            "bar": _bar(score, best),
            "family": _family(outcome, place, form),
            "marks": ", ".join(say_marks(outcome, place)),
        }
        for place, (feature, score) in enumerate(
            zip(outcome.features[:most], scores.tolist(), strict=True)
        )
    ]


def _family(outcome: Outcome, place: int, form: str) -> dict[str, Any] | None:
    """Return the near-copies that a feature stands for; None where there are none."""
    members = outcome.copies.get(place)
    if members is None:
        return None
    return {
        "n": len(members),
        "named": [visible(outcome.features[member]) for member in outcome.families.named[place]],
        "members": [
            {
                "feature": visible(outcome.features[member]),
                "score": _score(float(outcome.scores[member]), form),
                "correlation": f"{outcome.correlation[member]:+.2f}",  # type: ignore[index]
                "rank": int(outcome.score_rank[member]),  # type: ignore[index]
            }
            for member in members[:MOST_MEMBERS]
        ],
    }


def _score(score: float, form: str) -> str:
    return format(score, form) if np.isfinite(score) else figure(score)


def _bar(score: float, best: float) -> float:
    """Return the length of the bar of a score, in percent of the best one.

    Examples
    --------
    >>> _bar(0.5, 2.0), _bar(-1.0, 2.0), _bar(float("inf"), 2.0), _bar(float("nan"), 2.0)
    (25.0, 0.0, 100.0, 0.0)
    """
    if score == np.inf:
        return 100.0
    return round(100 * max(0.0, score / best), 1) if np.isfinite(score) and best > 0 else 0.0


def as_rank(value: float) -> str:
    """Write a rank; equal scores share a mean rank.

    Examples
    --------
    >>> as_rank(1234.0), as_rank(2.5)
    ('1,234', '2.5')
    """
    return f"{value:,.1f}".removesuffix(".0")
