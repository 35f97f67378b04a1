"""The page: one file that needs no network, and a short form for notebooks."""

import os
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from semisift._files import drafts
from semisift._words import count, figure, same_decimals, visible
from semisift.outcome import Outcome
from semisift.outcome.decisions import CELLS, HEADING, WORDS
from semisift.outcome.words import say_copies, say_selection
from semisift.report import method
from semisift.report.curve import follow, missing_scores
from semisift.report.intervals import picture_of_intervals
from semisift.report.page import environment, fill
from semisift.report.palette import MARKS
from semisift.report.plots import scores_figure
from semisift.report.row_plots import picture_of_rows, pictures_of_features
from semisift.report.rows import MOST_CLASSES, RowLabels, read_rows

MOST_PRINTED_ROWS = 50
N_IN_NOTEBOOK = 10
MOST_TABLE_ROWS = 1000
MOST_COPIES = 20


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
    about, curve = method.about_method(ranker), follow(outcome)
    start = f"{source['file']}: features" if "file" in source else "Features"
    return fill(
        "report.html",
        "style.css",
        "script.js",
        **_shared(outcome, MOST_TABLE_ROWS),
        title=visible(title or f"{start} ranked by {about.name}"),
        lead=_lead(about.name, len(outcome), rows),
        selection=say_selection(outcome),
        rows=rows,
        most_classes=MOST_CLASSES,
        parts=method.parts_of(ranker),
        kind_of_data=method.say_kind(ranker),
        redundancy=say_copies(outcome),
        chance=curve.chance,
        scores=scores_figure(
            curve, "scores", (760, 350), 8, scores_figure(curve, "scores", (340, 300), 5)
        ),
        no_score=missing_scores(outcome, X),
        moves=picture_of_intervals(outcome),
        has_rows=rows is not None and X is not None,
        boxes=pictures_of_features(outcome, rows, X),
        map=picture_of_rows(outcome, rows, X),
        about=about,
        fit_facts=method.what_fit_reports(outcome, rows),
        cautions=method.cautions(outcome, rows),
        source=source,
        notes=[*notes],
        n_printed=MOST_PRINTED_ROWS,
    )


def notebook(outcome: Outcome) -> str:
    """Return the best features and the picture of the scores, to stand below a diagram."""
    curve = follow(outcome)
    # A notebook may hold several of these, also of one ranker: no two share an id.
    scores = scores_figure(curve, f"semisift-{uuid.uuid4().hex[:12]}", (420, 240), 0)
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


def _lead(name: str, n_features: int, rows: RowLabels | None) -> str:
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


@dataclass(frozen=True)
class TableRow:
    """One line of the table; `bar` is the score in percent of the best one.

    `column` is the column that stands for the feature if it has several, `copy_of` the feature that
    stands for this one, `copies` those that this one stands for (the first of them) and `n_copies`
    how many.
    """

    rank: int
    feature: str
    column: str
    score: str
    bar: float
    copy_of: str
    copies: list[str]
    n_copies: int


def table_rows(outcome: Outcome, most: int) -> list[TableRow]:
    """Return the lines of the table: the best features."""
    names = [visible(name) for name in outcome.features[:most]]
    scores = outcome.scores[:most]
    form = same_decimals(scores)
    best = float(scores[np.isfinite(scores)].max(initial=0.0))
    rows = []
    for place, (feature, score) in enumerate(zip(names, scores.tolist(), strict=True)):
        column, copies = visible(outcome.column_names[place]), outcome.copies.get(place, [])
        stands = place if outcome.represented_by is None else int(outcome.represented_by[place])
        rows.append(
            TableRow(
                rank=place + 1,
                feature=feature,
                column="" if column == feature else column,
                score=format(score, form) if np.isfinite(score) else figure(score),
                bar=_bar(score, best),
                copy_of="" if stands == place else visible(outcome.features[stands]),
                copies=[visible(outcome.features[i]) for i in copies[:MOST_COPIES]],
                n_copies=len(copies),
            )
        )
    return rows


def _bar(score: float, best: float) -> float:
    """Return the length of the bar of a score.

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
