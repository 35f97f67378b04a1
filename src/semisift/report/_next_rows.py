"""The rows to label next: on the page, and as a table in notebooks."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from semisift.active._next_rows import NextRows
from semisift.report._page import environment
from semisift.utils._text import printable_name


class AskedRow(NamedTuple):
    """A row to label, why, and what its label is taken to be; empty where nothing is known."""

    name: str
    reason: str
    guess: str
    confidence: str


def asked_rows(found: NextRows | None, name: Callable[[int], str]) -> list[AskedRow]:
    """Return the rows as they are shown; none where none were sought.

    Parameters
    ----------
    found : NextRows or None
    name : callable
        What a row is called, by its number.

    Returns
    -------
    list of AskedRow
    """
    if found is None:
        return []
    return [
        AskedRow(
            name(row),
            reason,
            "" if guess is None else printable_name(guess),
            "" if np.isnan(sure) else f"{sure:.1%}",
        )
        for row, reason, guess, sure in zip(
            found.rows.tolist(), found.reasons, found.guesses, found.confidence, strict=True
        )
    ]


def next_rows_table(found: NextRows) -> str:
    """Return a table of the rows for a notebook."""
    page = environment().get_template("next_notebook.html")
    return page.render(asked=asked_rows(found, str), n_unlabelled=found.n_unlabelled)
