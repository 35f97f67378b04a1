"""From a file to the rows to label next: what ``next`` does."""

import click
from rich.table import Column, Table
from rich.text import Text

from semisift.active._next_rows import NextRows
from semisift.base._ranker import FeatureRanker
from semisift.cli import _output
from semisift.cli._capabilities import check_reading_is_taken
from semisift.cli._reading import read_dataset
from semisift.cli._run_rank import DEFAULT_METHOD, find_method
from semisift.cli._terminal import Steps, Terminal
from semisift.cli.next import NextRequest
from semisift.io import Dataset
from semisift.registry import METHODS
from semisift.selection._learning_curve import LearningCurve
from semisift.utils._files import drafts
from semisift.utils._text import plural, printable_name


def run(request: NextRequest) -> None:
    """Read, choose, write and show."""
    method = find_method(DEFAULT_METHOD)
    path = None
    if request.out is not None and not _output.is_printed(request.out, "--out"):
        targets = _output.Targets([request.table, *request.files_beside.values()])
        path = targets.add(request.out, "--out", _output.TABLE_ENDINGS)
    check_reading_is_taken(request, method, METHODS)
    steps = Steps(request.quiet)
    dataset = read_dataset(request, steps, method.name, needs_labels=False)
    ranker = method.cls(random_state=request.seed, n_jobs=request.n_jobs)
    words = f"Choosing among {plural(len(dataset.y), 'row')}"
    with steps.step(words) as step, step.watching(dataset.X):
        found = ranker.query(dataset.X, dataset.y, request.n, **dataset.of_rows)
    frame, safe = found.to_frame(row_names=dataset.row_ids), request.spreadsheet_safe
    facts = _output.provenance(request, method, dataset, ranker)
    if request.out == "-":
        click.echo(_output.as_text(frame, facts, safe=safe), nl=False)
        return
    if path is not None:
        with drafts([path]) as (draft,):
            _output.write_table(frame, draft, "rows", facts, safe=safe)
    if request.quiet:
        return
    _show(found, dataset)
    if request.expect is not False and len(found):
        curve = _expect(request, dataset, ranker, steps)
        if curve is not None:
            Terminal().print(curve.words)
    if path is not None:
        Terminal().print(f"Written: {request.out}")


def _expect(
    request: NextRequest, dataset: Dataset, ranker: FeatureRanker, steps: Steps
) -> LearningCurve | None:
    """Tell what so many more labels would bring; None where nothing can be ranked yet."""
    if len({label for label in dataset.y if label is not None}) < 2:
        return None
    words = f"Leaving out labels, to tell what {request.n} more would bring"
    with steps.step(words) as step, step.following(ranker, dataset.X):
        ranker.fit(dataset.X, dataset.y, **dataset.of_rows)
        curve: LearningCurve = ranker.learning_curve(
            dataset.X, dataset.y, request.n, **dataset.of_rows
        )
    return curve


def _show(found: NextRows, dataset: Dataset) -> None:
    """Print the rows and why each of them."""
    console = Terminal()
    if not len(found):
        console.print("No row is without a label: there is nothing to ask.")
        return
    has_guess = found.guesses[0] is not None
    guess: list[str | Column] = [
        Column("most likely", overflow="fold"),
        Column("how sure", justify="right"),
    ]
    columns: list[str | Column] = [Column("row", overflow="fold"), *(guess if has_guess else [])]
    table = Table(*columns, "why")
    for row, label, sure, reason in zip(
        found.rows.tolist(), found.guesses, found.confidence, found.reasons, strict=True
    ):
        told: list[str | Text] = [Text(printable_name(label)), f"{sure:.0%}"] if has_guess else []
        table.add_row(Text(printable_name(dataset.row_ids[row])), *told, Text(reason))
    console.print(f"The {plural(len(found), 'row')} to label next")
    console.print(table)
