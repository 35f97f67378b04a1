"""What a command writes and prints."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from semisift._words import count, visible
from semisift.cli._result import RankRequest, Result
from semisift.cli._targets import Targets
from semisift.io import Dataset, find_format

if TYPE_CHECKING:
    import polars as pl


SEPARATORS = {".csv": ",", ".tsv": "\t"}

# What makes a formula of a cell, at its start.
FORMULA = "[=+@\t\r-]"
TABLE_ENDINGS = (*SEPARATORS, ".parquet", ".json")

# field of the request -> option, endings of the file (None: those of the input)
OUTPUTS = {
    "ranking": ("--ranking", TABLE_ENDINGS),
    "labels_out": ("--labels-out", TABLE_ENDINGS),
    "report": ("--report", (".html", ".htm")),
    "reduced": ("--out", None),
}


def check(request: RankRequest) -> dict[str, Path]:
    """Return the files to write, having made sure that they can be written.

    Parameters
    ----------
    request : RankRequest

    Returns
    -------
    dict of name to Path
        Those of `OUTPUTS` that were asked for.
    """
    targets = Targets([request.table, *request.files_beside.values()])
    outputs = {}
    for name, (option, endings) in OUTPUTS.items():
        given = getattr(request, name)
        if given is None or (name == "ranking" and given == "-"):
            continue
        outputs[name] = targets.add(given, option, endings or ())
        if endings is None and (problem := _form_differs(request, outputs[name])):
            raise click.BadParameter(f"{given}: {problem}", param_hint=option)
    return outputs


def _form_differs(request: RankRequest, path: Path) -> str | None:
    """Say so where the reduced table has the ending of another format than the input."""
    source = Path(request.table)
    form = request.format or (find_format(source) if source.exists() else None)
    if form is None or form == "10x":
        return None
    try:
        target = find_format(path)
    except ValueError:
        target = ""
    return (
        None if target == form else f"the reduced table has the form of the input, which is {form}."
    )


def write_table(
    frame: "pl.DataFrame",
    path: Path,
    name: str = "",
    provenance: dict[str, Any] | None = None,
    *,
    safe: bool,
) -> None:
    """Write a table, if need be with where it comes from.

    Parameters
    ----------
    frame : polars.DataFrame
    path : Path
        Whose ending, one of `TABLE_ENDINGS`, tells the form.
    name : str
        Of the table, beside its provenance in json.
    provenance : dict, optional
    safe : bool
        No cell of a text file is a formula of a spreadsheet.
    """
    ending = path.suffix.lower()
    if ending in SEPARATORS:
        text = as_text(frame, provenance, SEPARATORS[ending], safe=safe)
        path.write_text(text, encoding="utf-8")
    elif ending == ".json":
        rows = frame.to_dicts()
        content = rows if provenance is None else {**provenance, name: rows}
        path.write_text(_json(content, indent=1) + "\n", encoding="utf-8")
    else:
        metadata = {key: _json(value) for key, value in (provenance or {}).items()}
        frame.write_parquet(path, metadata=metadata or None)


def as_text(
    frame: "pl.DataFrame",
    provenance: dict[str, Any] | None = None,
    separator: str = ",",
    *,
    safe: bool,
) -> str:
    """Return a table as text, after lines of ``# key: json`` that say where it comes from."""
    lines = (f"# {name}: {_json(value)}\n" for name, value in (provenance or {}).items())
    remarks = "".join(lines)
    if safe:  # the same for JSON
        start = f"(?<={separator}){FORMULA}"
        remarks = re.sub(start, lambda found: f"\\u{ord(found[0]):04x}", remarks)
        frame = _without_formulas(frame)
    # names between quotation marks: one that starts with # is no remark
    return remarks + str(frame.write_csv(separator=separator, quote_style="non_numeric"))


def _without_formulas(frame: "pl.DataFrame") -> "pl.DataFrame":
    from polars import selectors

    return frame.with_columns(selectors.string().str.replace(f"^({FORMULA})", "'$1"))


def labels_of(result: Result) -> "pl.DataFrame":
    """Return the label of every row, how sure the method is, and whether it was given."""
    import polars as pl

    dataset, ranker = result.dataset, result.outcome.ranker
    return pl.DataFrame(
        {
            "row": dataset.row_names or [str(row + 1) for row in dataset.rows],
            "label": [str(label) for label in ranker.transduction_],
            "confidence": np.asarray(ranker.confidence_, dtype=np.float64),
            "given": [label is not None for label in dataset.y],
        }
    )


def write_page(result: Result, path: Path) -> None:
    """Write the report."""
    from semisift.report import write_report

    facts = result.facts
    source = {
        "file": facts["input"]["file"],
        "sha256": facts["input"]["sha256"],
        "seed": facts["seed"],
        "versions": ", ".join(
            f"{name} {number}"
            for name, number in {"semisift": facts["semisift"], **facts["versions"]}.items()
        ),
    }
    write_report(
        path,
        result.outcome,
        X=result.dataset.X,
        y=result.dataset.y,
        title=result.request.title,
        source=source,
        notes=[*result.notes, *([] if result.trial is None else [result.trial])],
    )


def told_of_table(file: str, dataset: Dataset) -> list[str]:
    """Say what was read, and what was done to it."""
    labelled = Counter(str(label) for label in dataset.y if label is not None)
    of_each = ", ".join(f"{n} {visible(label)}" for label, n in sorted(labelled.items())[:10])
    return [
        f"{Path(file).name}: {count(len(dataset.y), 'row')}, of which "
        f"{labelled.total():,} carry a label ({of_each or 'none'}"
        f"{', ...' if len(labelled) > 10 else ''}); {count(len(dataset.variables), 'feature')}.",
        *(f"Note: {note}" for note in dataset.notes),
    ]


def _json(value: Any, indent: int | None = None) -> str:
    return json.dumps(_plain(value), indent=indent, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it: no score is null, an infinite one is a word."""
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else str(value)
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)
