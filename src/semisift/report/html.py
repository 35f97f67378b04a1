"""The page: one file that needs no network, and a short form for notebooks."""

import base64
import hashlib
import os
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from semisift._base import FeatureRanker
from semisift._files import drafts
from semisift._words import shorten
from semisift.report.pictures import (
    picture_of_scores,
    pictures_of_rows,
    small_picture_of_scores,
)
from semisift.report.ranking import Ranking, ranking_of
from semisift.report.rows import read_rows
from semisift.report.summarise import MOST_PRINTED_ROWS, count_selected, summarise
from semisift.report.table import table_rows

# Marks of the legend in a square of 12 units, in the order of `palette.MARKERS`.
SHAPES = (
    "M6 1.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9z",
    "M2 2h8v8h-8z",
    "M6 1.2 11 10.5H1z",
    "M6 .8 11.2 6 6 11.2.8 6z",
    "M6 10.8 1 1.5h10z",
    "M4.2 1h3.6v3.2H11v3.6H7.8V11H4.2V7.8H1V4.2h3.2z",
    "M3.4 1 6 3.6 8.6 1 11 3.4 8.4 6 11 8.6 8.6 11 6 8.4 3.4 11 1 8.6 3.6 6 1 3.4z",
    "M6 .6 7.4 4.4 11.4 4.5 8.3 7 9.4 10.9 6 8.7 2.6 10.9 3.7 7 .6 4.5 4.6 4.4z",
)
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
    environment = _environment()
    css = _minimal(environment.get_template("style.css").render(n_printed=MOST_PRINTED_ROWS))
    js = environment.get_template("script.js").render()
    return environment.get_template("report.html").render(
        summary=summary,
        scores=picture_of_scores(summary.curve),
        of_rows=of_rows,
        shapes=SHAPES,
        n_printed=MOST_PRINTED_ROWS,
        css=Markup(css),
        js=Markup(js),
        css_hash=_hash(css),
        js_hash=_hash(js),
    )


def notebook(ranker: FeatureRanker) -> str:
    """Return the best features and the picture of the scores, to stand below a diagram."""
    ranking = ranking_of(ranker)
    n_selected = count_selected(ranker, len(ranking))
    slug = f"semisift-{zlib.crc32(ranking.scores.tobytes()):08x}"
    summary = summarise(ranking, ranker, n_selected=n_selected)
    return (
        _environment()
        .get_template("notebook.html")
        .render(
            summary=summary,
            table=table_rows(ranking, n_selected)[:N_IN_NOTEBOOK],
            scores=small_picture_of_scores(summary.curve, slug),
        )
    )


def _as_array(X: Any) -> Any:
    import numpy as np

    return np.asarray(X)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("semisift.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["shorten"] = shorten
    return environment


def _minimal(css: str) -> str:
    """Take the indentation out."""
    return "\n".join(line.strip() for line in css.splitlines() if line.strip())


def _hash(text: str) -> str:
    """Return the hash by which the content policy of the page knows its own style and script."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
