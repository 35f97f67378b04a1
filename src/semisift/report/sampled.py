"""Rows that the pictures show of a table that does not fit into memory."""

from typing import Any, NamedTuple

import numpy as np

from semisift._base import FeatureRanker
from semisift._problem import draw_rows
from semisift._words import count
from semisift.report.rows import RowLabels
from semisift.stored.rows import as_stored

# Rows of either kind: more would make boxes no clearer.
MOST_LABELLED = 2000
MOST_UNLABELLED = 3000


class DrawnRows(NamedTuple):
    """What the pictures are drawn from.

    Attributes
    ----------
    X : array, frame, sparse matrix or None
    rows : RowLabels or None
    sentence : str
        Says which rows these are; empty where they are all.
    """

    X: Any
    rows: RowLabels | None
    sentence: str


def draw_some(ranker: FeatureRanker, X: Any, rows: RowLabels | None) -> DrawnRows:
    """Return the rows for the pictures: all of them, or some of those that stay in their file.

    Parameters
    ----------
    ranker : fitted FeatureRanker
        Of the unlabelled rows that it was fitted to, with the same seed, some are drawn.
    X : array, frame, sparse matrix, StoredRows, what `fit` makes one of, or None
    rows : RowLabels or None
        Of all rows.

    Returns
    -------
    DrawnRows
    """
    stored = as_stored(X)
    if stored is None or rows is None:
        return DrawnRows(None if stored is not None else X, rows, "")
    if stored.fits():
        return DrawnRows(stored.load(), rows, "")
    labels, seed = rows.labels, ranker.random_state
    most = max(2, min(MOST_LABELLED + MOST_UNLABELLED, stored.most_held))
    n_labelled = min(len(labels.labelled), MOST_LABELLED, most // 2)
    kept = draw_rows(
        labels, min(MOST_UNLABELLED, most - n_labelled), seed if isinstance(seed, int) else 0
    )
    is_labelled = labels.codes[kept] >= 0
    own = kept[is_labelled]
    if len(own) > n_labelled:
        own = np.random.default_rng(0).choice(own, n_labelled, replace=False)
    drawn = np.sort(np.concatenate([own, kept[~is_labelled]]))
    sentence = (
        f"The rows stay in their file: this picture and those below show {len(drawn):,} of "
        f"{count(len(stored), 'row')}, drawn at random, of which {len(own):,} carry a label."
    )
    return DrawnRows(stored.take(drawn, "pictures"), rows.part(drawn), sentence)
