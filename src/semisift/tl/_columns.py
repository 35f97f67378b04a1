"""Columns of an AnnData by their names."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from semisift._words import examples, quoted

MOST_SHOWN = 10


def column_of(frame: Any, key: Any, parameter: str, where: str) -> Any:
    """Return a column of ``.obs`` or ``.var`` as a Series of pandas, also of a lazy one."""
    check_name(key, frame.columns, parameter, f"column of adata.{where}")
    column = frame[key] if not hasattr(frame, "to_memory") else frame[[key]].to_memory()[key]
    if getattr(column, "ndim", 1) != 1:
        raise ValueError(
            f"{parameter}={quoted(key)}: several columns of adata.{where} are called so."
        )
    return column


def check_name(wanted: Any, known: Iterable[Any], parameter: str, what: str) -> None:
    """Refuse a name that is not there, and name those that are near."""
    names = [str(name) for name in known]
    if isinstance(wanted, str) and wanted in names:
        return
    near = get_close_matches(str(wanted), names, 3)
    hint = f"Did you mean {' or '.join(map(quoted, near))}?" if near else "There is none at all."
    if names and not near:
        hint = f"There are {examples(names, MOST_SHOWN)}."
    raise ValueError(f"{parameter}={quoted(wanted)} is no {what}. {hint}")
