"""Writing tables whose own form is not written: as text or as Parquet.

Tables as text, after remarks that say where they come from.
"""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
from polars import selectors

from semisift.io._formats import parquet, text
from semisift.io._options import FORMATS
from semisift.io._table import FileTable
from semisift.utils._metadata import plain


def write_plain(table: FileTable, path: Path) -> None:
    """Write a table as csv, tsv or Parquet.

    Parameters
    ----------
    table : FileTable
        With a frame. What is said of the rows stands before the features, and row names before
        both.
    path : Path
        Whose ending tells the form.
    """
    name = path.name.lower()
    beside = table.rows.get_columns()
    values = table.values.drop(table.rows.columns, strict=False)
    is_parquet = name.endswith(FORMATS["parquet"].endings)
    if is_parquet and table.row_names is not None and not table.transposed:
        first = pl.Series(text.ROW_NAME, table.row_names)
        while first.name in (*values.columns, *table.rows.columns):
            first = first.alias(f"{first.name} ")
        beside = [first, *beside]
    values = pl.DataFrame([*beside, *values.get_columns()])
    details = {"has_header": True, "heading": "", **table.details}
    details["separator"] = "\t" if name.endswith(FORMATS["tsv"].endings) else ","
    if table.row_names is None:
        details["heading"] = None
    table = replace(table, values=values, names=values.columns, details=details)
    (parquet if is_parquet else text).write(table, path)


# --- written --------------------------------------------------------------------------------------


Facts = dict[str, Any]

# What makes a formula of a cell, at its start.
FORMULA = "[=+@\t\r-]"


def as_text(
    frame: pl.DataFrame, facts: Facts | None = None, separator: str = ",", *, safe: bool
) -> str:
    """Return a table as text, after lines of ``# key: json`` that say where it comes from."""
    lines = (f"# {name}: {as_json(value)}\n" for name, value in (facts or {}).items())
    remarks = "".join(lines)
    if safe:  # the same for JSON
        start = f"(?<={separator}){FORMULA}"
        remarks = re.sub(start, lambda found: f"\\u{ord(found[0]):04x}", remarks)
        frame = frame.with_columns(selectors.string().str.replace(f"^({FORMULA})", "'$1"))
    # names between quotation marks: one that starts with # is no remark
    return remarks + str(frame.write_csv(separator=separator, quote_style="non_numeric"))


def as_json(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON; what JSON cannot hold is text."""
    return json.dumps(plain(value, repr), indent=indent, ensure_ascii=False, allow_nan=False)
