"""The page: one file that needs no network, and a short form for notebooks."""

import os
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from semisift._base import FeatureRanker
from semisift._files import drafts
from semisift.report.page import environment, fill
from semisift.report.pictures import (
    picture_of_moves,
    picture_of_scores,
    pictures_of_rows,
    small_picture_of_scores,
)
from semisift.report.ranking import Ranking, ranking_of
from semisift.report.rows import read_rows
from semisift.report.summarise import MOST_PRINTED_ROWS, summarise

N_IN_NOTEBOOK = 10


def write_report(
    path: str | os.PathLike[str],
    ranking: Ranking,
    *,
    ranker: FeatureRanker,
    X: Any = None,
    y: Any = None,
    n_selected: int | None = None,
    title: str | None = None,
    source: Mapping[str, Any] | None = None,
    notes: Iterable[str] = (),
) -> None:
    """Write the report to a file, whole or not at all.

    Parameters
    ----------
    path : str or path
    ranking : Ranking
    ranker : fitted FeatureRanker
    X : array-like, frame or sparse matrix, optional
        The rows of the fit. Without them the pictures of rows are left out.
    y : array-like, optional
        The labels of the fit; -1, None and NaN mark unlabelled rows.
    n_selected : int, optional
        Else as many as the ranker selects.
    title : str, optional
    source : mapping, optional
        Facts on the provenance: file, checksum, seed, versions, date.
    notes : iterable of str
        Sentences on what was done to the data.
    """
    page = render(
        ranking,
        ranker=ranker,
        X=X,
        y=y,
        n_selected=n_selected,
        title=title,
        source=source,
        notes=notes,
    )
    with drafts([Path(path)]) as (draft,):
        draft.write_text(page, encoding="utf-8", newline="\n")


def render(
    ranking: Ranking,
    *,
    ranker: FeatureRanker,
    X: Any = None,
    y: Any = None,
    n_selected: int | None = None,
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
    X = X if X is None or hasattr(X, "shape") else _as_array(X)
    rows = read_rows(ranker, X, y)
    summary = summarise(
        ranking,
        ranker,
        rows=rows,
        X=X,
        n_selected=n_selected,
        title=title,
        source=source,
        notes=notes,
    )
    of_rows = None
    if rows is not None and X is not None:
        of_rows = pictures_of_rows(ranking, rows, X, summary.n_selected)
    return fill(
        "report.html",
        "style.css",
        "script.js",
        summary=summary,
        scores=picture_of_scores(summary.curve),
        moves=None if summary.moves is None else picture_of_moves(summary.moves),
        of_rows=of_rows,
        n_printed=MOST_PRINTED_ROWS,
    )


def notebook(ranker: FeatureRanker) -> str:
    """Return the best features and the picture of the scores, to stand below a diagram."""
    ranking = ranking_of(ranker)
    slug = f"semisift-{zlib.crc32(ranking.scores.tobytes()):08x}"
    summary = summarise(ranking, ranker)
    return (
        environment()
        .get_template("notebook.html")
        .render(
            summary=summary,
            table=summary.table[:N_IN_NOTEBOOK],
            scores=small_picture_of_scores(summary.curve, slug),
        )
    )


def _as_array(X: Any) -> Any:
    import numpy as np

    return np.asarray(X)
