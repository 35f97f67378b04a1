"""Turning a frame round: features in rows, as laboratories keep them, become columns."""

from pathlib import Path

import polars as pl

from semisift.exceptions import TableError
from semisift.tables.table import check_unique


def transpose_frame(frame: pl.DataFrame, path: Path) -> tuple[pl.DataFrame, list[str]]:
    """Make a column of each row; the first column holds the names of the features.

    Parameters
    ----------
    frame : polars.DataFrame
        A first column of feature names and a column for each sample.
    path : Path
        For messages.

    Returns
    -------
    turned : polars.DataFrame
        A row for each sample and a column for each feature: numbers where every column of samples
        holds numbers, else text.
    row_names : list of str
        Names of the samples.
    """
    if frame.width < 2:
        raise TableError(
            f"{path}: with features in rows, the first column holds their names and the others the "
            f"samples; the file has {frame.width} column. Is --transpose right for it?"
        )
    features = frame.to_series(0).cast(pl.String).fill_null("").to_list()
    features = [name.strip() for name in features]
    check_unique(path, features, "feature (row)")
    samples = frame.drop(frame.columns[0])
    return _turn(samples, features, path), samples.columns


def _turn(frame: pl.DataFrame, names: list[str], path: Path | None = None) -> pl.DataFrame:
    if any(dtype.is_nested() for dtype in frame.dtypes):
        raise TableError(
            f"{path}: a column of samples holds lists, and only numbers and words can be ranked. "
            "Leave it out with --drop."
        )
    if not all(dtype.is_numeric() for dtype in frame.dtypes):
        frame = frame.cast(pl.String)
    return frame.transpose(column_names=names)


def untranspose_frame(frame: pl.DataFrame, row_names: list[str], first_name: str) -> pl.DataFrame:
    """Turn a frame back: a row for each feature, with its name in the first column."""
    return _turn(frame, row_names).insert_column(0, pl.Series(first_name, frame.columns))
