"""The page: one file that needs no network, and a short form for notebooks."""

import os
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from semisift._files import drafts
from semisift._words import count, visible
from semisift.outcome import Outcome
from semisift.outcome.decisions import CELLS, HEADING, WORDS
from semisift.outcome.words import say_copies, say_selection
from semisift.report.curve import follow, missing_scores
from semisift.report.intervals import rank_intervals
from semisift.report.marks import MARKS
from semisift.report.method import about_method, cautions, parts_of, say_kind, what_fit_reports
from semisift.report.page import environment, fill
from semisift.report.pictures import (
    picture_of_intervals,
    picture_of_scores,
    pictures_of_rows,
    small_picture_of_scores,
)
from semisift.report.rows import Rows, read_rows
from semisift.report.table import as_rank, table_rows

MOST_PRINTED_ROWS = 50
MOST_NAMED = 3
N_IN_NOTEBOOK = 10


def write_report(
    path: str | os.PathLike[str],
    outcome: Outcome,
    *,
    X: Any = None,
    y: Any = None,
    title: str | None = None,
    source: Mapping[str, Any] | None = None,
    notes: Iterable[str] = (),
) -> None:
    """Write the report to a file, whole or not at all.

    Parameters
    ----------
    path : str or path
    outcome : Outcome
        As `outcome_of` makes it of a fitted ranker.
    X : array-like, frame or sparse matrix, optional
        The rows of the fit. Without them the pictures of rows are left out.
    y : array-like, optional
        The labels of the fit; -1, None and NaN mark unlabelled rows.
    title : str, optional
        Else the method and, where `source` has a file, its name.
    source : mapping, optional
        Facts on the provenance: file, checksum, seed, versions, date.
    notes : iterable of str
        Sentences on what was done to the data.
    """
    page = render(outcome, X=X, y=y, title=title, source=source, notes=notes)
    with drafts([Path(path)]) as (draft,):
        draft.write_text(page, encoding="utf-8", newline="\n")


def render(
    outcome: Outcome,
    *,
    X: Any = None,
    y: Any = None,
    title: str | None = None,
    source: Mapping[str, Any] | None = None,
    notes: Iterable[str] = (),
) -> str:
    """Return the page as text; the parameters are those of `write_report`.

    Returns
    -------
    str
        The same for the same input.
    """
    ranker, source = outcome.ranker, source or {}
    X = X if X is None or hasattr(X, "shape") else np.asarray(X)
    rows = read_rows(ranker, X, y)
    about, table, curve = about_method(ranker), table_rows(outcome), follow(outcome)
    if not title:
        title = f"Features ranked by {about.name}"
        title = f"{source['file']}: {title.lower()[0]}{title[1:]}" if "file" in source else title
    intervals = rank_intervals(outcome)
    return fill(
        "report.html",
        "style.css",
        "script.js",
        **_shared(outcome),
        title=visible(title),
        lead=_lead(about.name, len(outcome), rows),
        best=[row.feature for row in table[:MOST_NAMED]],
        selection=say_selection(outcome),
        rows=rows,
        classes=[] if rows is None else count_classes(rows),
        class_names=[visible(name) for name in getattr(ranker, "classes_", [])],
        table=table,
        parts=parts_of(ranker),
        kind_of_data=say_kind(ranker),
        redundancy=say_copies(outcome),
        curve=curve,
        scores=picture_of_scores(curve),
        no_score=missing_scores(outcome, X),
        intervals=intervals,
        moves=None if intervals is None else picture_of_intervals(intervals),
        of_rows=pictures_of_rows(outcome, rows, X) if rows is not None and X is not None else None,
        about=about,
        fit_facts=what_fit_reports(outcome, rows),
        cautions=cautions(outcome, rows),
        source=[(visible(key), visible(value)) for key, value in source.items()],
        notes=[visible(note) for note in notes],
        n_printed=MOST_PRINTED_ROWS,
    )


def notebook(outcome: Outcome) -> str:
    """Return the best features and the picture of the scores, to stand below a diagram."""
    curve = follow(outcome)
    # A notebook may hold several of these, also of one ranker: no two share an id.
    scores = small_picture_of_scores(curve, f"semisift-{uuid.uuid4().hex[:12]}")
    table = table_rows(outcome, N_IN_NOTEBOOK)
    page = environment().get_template("notebook.html")
    return page.render(**_shared(outcome), table=table, curve=curve, scores=scores)


def _shared(outcome: Outcome) -> dict[str, Any]:
    """Return what all templates of a ranking know."""
    return {
        "outcome": outcome,
        "trust": outcome.trust,
        "marks": MARKS,
        "words": WORDS,
        "cells": CELLS,
        "heading": HEADING,
        "as_rank": as_rank,
        "visible": visible,
    }


def count_classes(rows: Rows) -> list[tuple[str, int, int | None]]:
    """Return the name of each class, its labelled rows, and how many the ranker put there."""
    labels, given = rows.labels, rows.given_counts
    return [
        (visible(name), int(labels.counts[code]), None if given is None else int(given[code]))
        for code, name in enumerate(labels.classes)
    ]


def _lead(name: str, n_features: int, rows: Rows | None) -> str:
    ranked = f"{name} ranked {count(n_features, 'feature')}"
    if rows is None:
        return f"{ranked}."
    n_labelled = len(rows.labels.labelled)
    of_rows = f"{ranked} of {count(rows.n_rows, 'row')}"
    if n_labelled == rows.n_rows:
        return f"{of_rows}, all of which carry a label."
    if not n_labelled:
        return f"{of_rows}, none of which carries a label."
    return f"{of_rows}, of which {n_labelled:,} carr{'ies' if n_labelled == 1 else 'y'} a label."
