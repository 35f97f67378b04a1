"""Tables as text, after remarks that say where they come from."""

import json
import re
from typing import Any

import polars as pl
from polars import selectors

from semisift._provenance import plain

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
