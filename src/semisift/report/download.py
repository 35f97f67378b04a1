"""The ranking as a file that the page itself holds, packed until somebody wants it."""

import base64
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from semisift._words import count
from semisift.io.written import as_text
from semisift.outcome import Outcome

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
        words += f", of the best {count(len(main), 'feature')}"
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
