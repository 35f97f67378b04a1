"""Turning a frame round: features in rows, as laboratories keep them, become columns."""

from dataclasses import replace
from pathlib import Path

import polars as pl

from semisift.exceptions import TableError
from semisift.tables.options import TableOptions, said
from semisift.tables.table import Table, drop_columns, settle_names


def turn(table: Table, options: TableOptions) -> Table:
    """Make a column of each row; the first column holds the names of the features.

    Parameters
    ----------
    table : Table
        A first column of feature names and a column for each sample.
    options : TableOptions
        Name the columns that hold no sample.

    Returns
    -------
    Table
        A row for each sample and a column for each feature: numbers where every column of samples
        holds numbers, else text.
    """
    frame = drop_columns(table, options.drop).values
    if frame.width < 2:
        raise TableError(
            f"{table.path}: with features in rows, the first column holds their names and the "
            f"others the samples; the file has {frame.width} column. Is "
            f"{said('transpose', True)} right for it?"
        )
    features = frame.to_series(0).cast(pl.String).fill_null("").str.strip_chars().to_list()
    features, notes = settle_names(table.path, features, "feature (row)", options)
    samples = frame.drop(frame.columns[0])
    return replace(
        table,
        values=_turn(samples, features, table.path),
        names=features,
        row_names=samples.columns,
        transposed=True,
        first_line=None,
        notes=(*table.notes, *notes),
        details={**table.details, "first_name": frame.columns[0]},
    )


def _turn(frame: pl.DataFrame, names: list[str], path: Path | None = None) -> pl.DataFrame:
    if any(dtype.is_nested() for dtype in frame.dtypes):
        raise TableError(
            f"{path}: a column of samples holds lists, and only numbers and words can be ranked. "
            f"Leave it out with {said('drop')}."
        )
    if not all(dtype.is_numeric() for dtype in frame.dtypes):
        frame = frame.cast(pl.String)
    return frame.transpose(column_names=names)


def untranspose_frame(frame: pl.DataFrame, row_names: list[str], first_name: str) -> pl.DataFrame:
    """Turn a frame back: a row for each feature, with its name in the first column."""
    return _turn(frame, row_names).insert_column(0, pl.Series(first_name, frame.columns))
