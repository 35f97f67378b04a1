"""Writing tables whose own form is not written: as text or as Parquet."""

from dataclasses import replace
from pathlib import Path

import polars as pl

from semisift.io import parquet, text
from semisift.io.options import FORMATS
from semisift.io.table import FileTable


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
