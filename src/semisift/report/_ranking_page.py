"""The ranking as a file that the page itself holds, packed until somebody wants it.

The page: one file that needs no network, and a short form for notebooks.
"""

import base64
import json
import os
import re
import uuid
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from semisift.active._next_rows import NextRows
from semisift.base._decisions import CELLS, HEADING, WORDS
from semisift.io._write import as_text
from semisift.report import _method
from semisift.report._heatmap import heatmap
from semisift.report._intervals import picture_of_intervals
from semisift.report._markers import markers_by_class
from semisift.report._next_rows import asked_rows
from semisift.report._page import environment, fill, write_page
from semisift.report._rows import (
    MOST_CLASSES,
    draw_some,
    picture_of_rows,
    pictures_of_features,
    read_rows,
)
from semisift.report._scores import follow, scores_figure
from semisift.report._style import MARKS
from semisift.selection import Outcome
from semisift.selection._markers import Markers
from semisift.selection._summary import say_copies, say_known, say_marks, say_selection
from semisift.transduction._positive_unlabelled import say_rest
from semisift.utils._columns import LONG_TAIL, has_long_tails
from semisift.utils._text import format_number, plural, printable_name, same_decimals

# What the whole file may weigh, packed; above that, it has these columns and fewer digits.
MOST_PACKED = 150_000
MAIN_COLUMNS = ("feature", "rank", "score", "selected", "decision")
N_DIGITS = 4
MOST_FEATURES = 25_000


@dataclass(frozen=True)
class Download:
    """A file inside the page.

    Attributes
    ----------
    name : str
    packed : str
        Base64 of what deflate makes of JSON: ``head``, the text before the first row, and
        ``columns``, the cells as the file has them; null for a column that counts from 1. Columns
        are packed one after the other since they are smaller than rows.
    words : str
        What is not in it; empty where nothing is missing.
    """

    name: str
    packed: str
    words: str


def ranking_file(
    outcome: Outcome, source: Mapping[str, Any], facts: Mapping[str, Any] | None, *, safe: bool
) -> Download:
    """Pack the text that `semisift rank` writes, or the main columns of it where that is too much.

    Parameters
    ----------
    outcome : Outcome
    source : mapping
        Whose file gives its name to the ranking.
    facts : mapping or None
        Where the ranking comes from, for the first lines.
    safe : bool
        No cell is a formula of a spreadsheet.

    Returns
    -------
    Download
    """
    stem = PurePath(str(source["file"])).name.partition(".")[0] if "file" in source else ""
    name = f"{stem}-ranking.csv" if stem else "ranking.csv"
    frame = replace(outcome, features=_writable(outcome.features)).to_frame()
    packed = pack(frame, dict(facts or {}), safe=safe)
    if len(packed) <= MOST_PACKED:
        return Download(name, packed, "")
    main = frame.select(column for column in MAIN_COLUMNS if column in frame.columns)
    main = main.head(MOST_FEATURES).with_columns(pl.col("score").round_sig_figs(N_DIGITS))
    words = f"To keep the page small, it has the main columns, with scores of {N_DIGITS} digits"
    if len(main) < len(frame):
        words += f", of the best {plural(len(main), 'feature')}"
    return Download(name, pack(main, dict(facts or {}), safe=safe), f"{words}.")


def pack(frame: pl.DataFrame, facts: dict[str, Any], *, safe: bool) -> str:
    """Return the csv file of a frame, packed as `Download` says."""
    columns = [
        None if name == "rank" else _cells(frame.select(name), safe) for name in frame.columns
    ]
    content = {"head": as_text(frame.clear(), facts, safe=safe), "columns": columns}
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    engine = zlib.compressobj(9, zlib.DEFLATED, -15, 9)
    return base64.b64encode(engine.compress(text.encode()) + engine.flush()).decode()


def _cells(column: pl.DataFrame, safe: bool) -> list[str]:
    """Return the cells of one column as the file has them, without its heading."""
    text = as_text(column, safe=safe)
    if column.dtypes[0] == pl.String:  # a name may have several lines
        return re.findall('"(?:[^"]|"")*"', text)[1:]
    return text.splitlines()[1:]


def _writable(names: NDArray[Any]) -> NDArray[Any]:
    """Replace what no file can hold: halves of a pair of surrogates."""
    return np.array([name.encode("utf-8", "replace").decode() for name in names], dtype=object)


# --- html -----------------------------------------------------------------------------------------


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
    about, curve = _method.about_method(ranker), follow(outcome)
    start = f"{source['file']}: features" if "file" in source else "Features"
    return fill(
        "report.html",
        **_shared(outcome, MOST_TABLE_ROWS),
        title=printable_name(title or f"{start} ranked by {about.name}"),
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
        method=_method,
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
            "feature": printable_name(feature),
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
        "named": [
            printable_name(outcome.features[member]) for member in outcome.families.named[place]
        ],
        "members": [
            {
                "feature": printable_name(outcome.features[member]),
                "score": _score(float(outcome.scores[member]), form),
                "correlation": f"{outcome.correlation[member]:+.2f}",  # type: ignore[index]
                "rank": int(outcome.score_rank[member]),  # type: ignore[index]
            }
            for member in members[:MOST_MEMBERS]
        ],
    }


def _score(score: float, form: str) -> str:
    return format(score, form) if np.isfinite(score) else format_number(score)


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
