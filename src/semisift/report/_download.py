"""A table as a file that the page itself holds, packed until somebody wants it."""

import base64
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import numpy as np
import polars as pl

from semisift.io._write import as_text
from semisift.selection import RankingResult
from semisift.utils._text import plural

# What the whole file in the page may weigh, packed; above that, it has these columns and fewer
# digits.
MAX_PACKED = 150_000
MAIN_COLUMNS = ("feature", "rank", "score", "selected", "decision")
N_DIGITS = 4
MAX_FEATURES = 25_000


def ranking_file(
    outcome: RankingResult,
    source: Mapping[str, Any],
    facts: Mapping[str, Any] | None,
    *,
    safe: bool,
) -> dict[str, str]:
    """Pack the text that `semisift rank` writes, or the main columns of it where that is too much.

    Parameters
    ----------
    outcome : RankingResult
    source : mapping
        Whose file gives its name to the ranking.
    facts : mapping or None
        Where the ranking comes from, for the first lines.
    safe : bool
        No cell is a formula of a spreadsheet.

    Returns
    -------
    dict
        Name, packed text, and in words what is not in it.
    """
    stem = PurePath(str(source["file"])).name.partition(".")[0] if "file" in source else ""
    # no file can hold halves of a pair of surrogates
    names = [name.encode("utf-8", "replace").decode() for name in outcome.features]
    frame = replace(outcome, features=np.array(names, dtype=object)).to_frame()
    packed, words = pack(frame, dict(facts or {}), safe=safe), ""
    if len(packed) > MAX_PACKED:
        main = frame.select(column for column in MAIN_COLUMNS if column in frame.columns)
        main = main.head(MAX_FEATURES).with_columns(pl.col("score").round_sig_figs(N_DIGITS))
        few = f", of the best {plural(len(main), 'feature')}" if len(main) < len(frame) else ""
        words = "To keep the page small, it has the main columns, with scores of "
        words += f"{N_DIGITS} digits{few}."
        packed = pack(main, dict(facts or {}), safe=safe)
    return {
        "name": f"{stem}-ranking.csv" if stem else "ranking.csv",
        "packed": packed,
        "words": words,
    }


def pack(frame: pl.DataFrame, facts: dict[str, Any], *, safe: bool) -> str:
    """Return the csv file of a frame as base64 of what deflate makes of JSON.

    That has ``head``, the text before the first row, and ``columns``, the cells as the file has
    them; null for a column that counts from 1. Columns are packed one after the other since they
    are smaller than rows.
    """
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
