"""The cells of an ARFF file: from text to what their attribute declares, and back."""

from pathlib import Path
from typing import TypeVar

import polars as pl

from semisift.exceptions import TableError
from semisift.tables._arff_header import Attribute

Column = TypeVar("Column", pl.Series, pl.Expr)


def typed(path: Path, cells: pl.Series, attribute: Attribute, lines: list[int]) -> pl.Series:
    """Return a column in the type of its attribute.

    Parameters
    ----------
    path : Path
        For messages.
    cells : polars.Series
        Text, null where missing; or numbers already.
    attribute : Attribute
    lines : list of int
        In which line of the file each cell stands.

    Returns
    -------
    polars.Series
    """
    cells = cells.alias(attribute.name)
    if cells.dtype != pl.String or attribute.kind in ("string", "date"):
        return cells
    if attribute.kind == "nominal":
        wrong = cells.is_in(attribute.categories).not_()
        result = cells.cast(pl.Float64, strict=False) if attribute.is_coded else cells
        rule = f"one of {', '.join(map(repr, attribute.categories[:5]))}"
        rule += ", ..." if len(attribute.categories) > 5 else ""
    else:
        result = cells.cast(pl.Float64, strict=False)
        wrong = result.is_null() & cells.is_not_null()
        rule = "a number"
    if wrong.any():
        row = wrong.arg_max() or 0
        raise TableError(
            f"{path}: line {lines[row]}: the value of {attribute.name!r} must be {rule}, or ? "
            f"where it is missing: got {cells[row][:40]!r}. Correct it, or its @attribute line."
        )
    return result


def as_cells(series: pl.Series, attribute: Attribute) -> pl.Series:
    """Return a column as the file writes it: quoted where needed, null where missing."""
    if attribute.is_coded:
        codes = [float(category) for category in attribute.categories]
        cells = list(attribute.categories)
        return series.replace_strict(codes, cells, default=None, return_dtype=pl.String)
    if series.dtype.is_numeric():
        return as_numbers(series)
    needs_quotes = series.str.contains(r"""[\s,{}%'"\\]""") | series.is_in(["", "?"])
    escaped = series.str.replace_all(r"""(['\\])""", r"\$1").str.replace_all("\n", r"\n")
    quoted = "'" + escaped.str.replace_all("\t", r"\t").str.replace_all("\r", r"\r") + "'"
    return quoted.zip_with(needs_quotes.fill_null(False), series).alias(series.name)


def as_numbers(column: Column) -> Column:
    """Return numbers as the file writes them, null where missing."""
    return column.fill_nan(None).cast(pl.String).str.strip_suffix(".0")
