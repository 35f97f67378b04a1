"""What a command writes and prints."""

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from semisift._words import count, visible
from semisift.cli._result import Request, Result, agreement_with_hidden, provenance
from semisift.cli._targets import Targets
from semisift.tables import find_format

if TYPE_CHECKING:
    import polars as pl


TABLE_ENDINGS = (".csv", ".parquet", ".json")

# field of the request -> option, endings of the file (None: those of the input)
OUTPUTS = {
    "ranking": ("--ranking", TABLE_ENDINGS),
    "labels_out": ("--labels-out", TABLE_ENDINGS),
    "report": ("--report", (".html", ".htm")),
    "reduced": ("--out", None),
}


def check(request: Request) -> dict[str, Path]:
    """Return the files to write, having made sure that they can be written.

    Parameters
    ----------
    request : Request

    Returns
    -------
    dict of name to Path
        Those of `OUTPUTS` that were asked for.
    """
    read = (request.table, request.labels, request.must_link, request.cannot_link)
    targets = Targets([name for name in read if name])
    outputs = {}
    for name, (option, endings) in OUTPUTS.items():
        given = getattr(request, name)
        if given is None or (name == "ranking" and given == "-"):
            continue
        outputs[name] = targets.add(given, option, endings or ())
        if endings is None and (problem := _form_differs(request, outputs[name])):
            raise click.BadParameter(f"{given}: {problem}", param_hint=option)
    return outputs


def _form_differs(request: Request, path: Path) -> str | None:
    """Say so where the reduced table has the ending of another format than the input."""
    source = Path(request.table)
    form = request.format_ or (find_format(source) if source.exists() else None)
    if form is None or form == "10x":
        return None
    try:
        target = find_format(path)
    except ValueError:
        target = ""
    return (
        None if target == form else f"the reduced table has the form of the input, which is {form}."
    )


def write_ranking(result: Result, path: Path) -> None:
    """Write the whole ranking as csv, parquet or json."""
    frame = result.ranking.to_polars()
    if path.suffix.lower() == ".csv":
        path.write_text(ranking_as_csv(result), encoding="utf-8")
    elif path.suffix.lower() == ".json":
        _write_json({**provenance(result), "ranking": frame.to_dicts()}, path)
    else:
        facts = {name: _json(value) for name, value in provenance(result).items()}
        frame.write_parquet(path, metadata=facts)


def ranking_as_csv(result: Result) -> str:
    """Return the ranking as csv, after lines of ``# key: json`` that say where it comes from."""
    remarks = [f"# {name}: {_json(value)}\n" for name, value in provenance(result).items()]
    # names between quotation marks: one that starts with # is no remark
    table = result.ranking.to_polars().write_csv(quote_style="non_numeric")
    return "".join(remarks) + str(table)


def write_labels(result: Result, path: Path) -> None:
    """Write the label of every row, how sure the method is, and whether it was given."""
    import polars as pl

    dataset, ranker = result.dataset, result.ranker
    names = dataset.row_names or [str(row + 1) for row in dataset.rows]
    frame = pl.DataFrame(
        {
            "row": names,
            "label": [str(label) for label in ranker.transduction_],
            "confidence": np.asarray(ranker.confidence_, dtype=np.float64),
            "given": [label is not None for label in dataset.y],
        }
    )
    _write_frame(frame, path)


def _write_frame(frame: "pl.DataFrame", path: Path) -> None:
    if path.suffix.lower() == ".csv":
        frame.write_csv(path, quote_style="non_numeric")
    elif path.suffix.lower() == ".json":
        _write_json(frame.to_dicts(), path)
    else:
        frame.write_parquet(path)


def write_page(result: Result, path: Path) -> None:
    """Write the report."""
    from semisift.report import write_report

    facts = provenance(result)
    source = {
        "file": facts["input"]["file"],
        "sha256": facts["input"]["sha256"],
        "seed": facts["seed"],
        "versions": ", ".join(
            f"{name} {number}"
            for name, number in {"semisift": facts["semisift"], **facts["versions"]}.items()
        ),
    }
    notes = list(result.dataset.notes)
    if (trial := trial_sentence(result)) is not None:
        notes.append(trial)
    write_report(
        path,
        result.ranking,
        ranker=result.ranker,
        X=result.dataset.X,
        y=result.dataset.y,
        n_selected=result.n_selected,
        title=result.request.title,
        source=source,
        notes=notes,
    )


def trial_sentence(result: Result) -> str | None:
    """Say how the labels of the method compare with those that were hidden for a trial."""
    counted = agreement_with_hidden(result)
    if counted is None or not counted[1]:
        return None
    right, n_hidden = counted
    return (
        f"Of the {n_hidden} hidden labels the method found {right} ({right / n_hidden:.1%}) from "
        "the labels it was left."
    )


def show(result: Result) -> None:
    """Print the best features and what was written."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, markup=False)
    dataset, ranking = result.dataset, result.ranking
    labelled = Counter(str(label) for label in dataset.y if label is not None)
    of_each = ", ".join(f"{n} {visible(label)}" for label, n in sorted(labelled.items())[:10])
    console.print(
        f"{Path(result.request.table).name}: {count(len(dataset.y), 'row')}, of which "
        f"{labelled.total():,} carry a label ({of_each or 'none'}"
        f"{', ...' if len(labelled) > 10 else ''}); {count(len(dataset.variables), 'feature')}."
    )
    for note in dataset.notes:
        console.print(f"Note: {note}")
    heading = "The best feature"
    if result.n_selected > 1:
        heading = f"The {result.n_selected} best features"
    table = Table(title=f"{heading} by {result.method.name}")
    table.add_column("rank", justify="right")
    table.add_column("feature", overflow="fold")
    table.add_column("score", justify="right")
    if ranking.draws is not None:
        table.add_column("draws", justify="right")
    for i in range(result.n_selected):
        row: list[str | Text] = [
            str(i + 1),
            Text(visible(ranking.features[i])),
            f"{ranking.scores[i]:.6g}",
        ]
        if ranking.draws is not None:
            row.append(f"{ranking.draws[i]:,}")
        table.add_row(*row)
    console.print(table)
    if (n_copies := int(ranking.is_copy.sum())) == 1:
        console.print("1 near-copy of a better feature ranks last.")
    elif n_copies:
        console.print(f"{n_copies:,} near-copies of better features rank last.")
    if (trial := trial_sentence(result)) is not None:
        console.print(trial)
    for name in OUTPUTS:
        if getattr(result.request, name) is not None:
            console.print(f"Written: {getattr(result.request, name)}")


def _write_json(value: Any, path: Path) -> None:
    path.write_text(_json(value, indent=1) + "\n", encoding="utf-8")


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
