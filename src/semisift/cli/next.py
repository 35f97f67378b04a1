"""``semisift next``: a table in, the rows to label next out."""

from typing import TYPE_CHECKING, Any

import click
from rich.table import Column, Table
from rich.text import Text

from semisift.cli import _options, _reading
from semisift.cli._options import Options, section
from semisift.cli._terminal import Terminal
from semisift.registry import METHODS
from semisift.utils._text import plural, printable_name

if TYPE_CHECKING:
    from semisift.active._next_rows import NextRows


@_options.command()
@_options.TABLE
@section(
    "Results",
    click.option(
        *("--n", "-n", "n"), metavar="N", default=10, show_default=True, type=_options.AT_LEAST_1
    ),
    click.option("--out", metavar="FILE"),
    click.option("--expect/--no-expect", default=True),
    _options.SPREADSHEET_SAFE,
    _options.QUIET,
)
@section("Method", _options.SEED, _options.N_JOBS)
@section("Table", *_options.reading_options(_options.WITHOUT_PAIRS))
def next(**given: Any) -> None:
    """Tell which rows to label next, and why.

    TABLE is a file or folder, as for `semisift rank`. Rows are chosen whose labels would take away
    the most doubt about all rows; no two of them are alike. It goes from no label at all (leave out
    --label), from one class, and from more.

    Parameters
    ----------
    n
        How many rows.
    out
        Write the rows, the most useful first, with the reason, the most likely label and how sure
        it is (csv, tsv, parquet or json); - prints them as csv.
    expect
        Tell how much more stable the best features would be with N more labels, by leaving out some
        of those at hand; takes a few times as long as a ranking. [default: yes]

    Examples
    --------
      semisift next table.csv --label diagnosis --n 10 --out next.csv
      semisift next table.csv                      (nothing is labelled yet)
      semisift next cells.h5ad --label cell_type --group donor
    """
    options = Options(**given)
    method = _reading.find_method(_reading.DEFAULT_METHOD)
    _reading.check_input(options, method, METHODS)
    from semisift.cli import _output

    path = _output.result_path(options)
    dataset, steps = _reading.read_dataset(options, method.name, needs_labels=False)
    X, y, of_rows = dataset.X, dataset.y, dataset.of_rows
    ranker = method.cls(random_state=options.seed, n_jobs=options.n_jobs)
    with steps.step(f"Choosing among {plural(len(y), 'row')}") as step, step.watching(X):
        found = ranker.query(X, y, options.n, **of_rows)
    frame = found.to_frame(row_names=dataset.row_ids)
    facts = _output.provenance(options, method, dataset, ranker)
    _output.write_result(frame, path, "rows", facts, options)
    if not options.is_verbose:
        return
    console = Terminal()
    _show(console, found, dataset.row_ids)
    n_classes = len({label for label in y if label is not None})
    if options.expect and len(found) and n_classes > 1:
        words = f"Leaving out labels, to tell what {options.n} more would bring"
        with steps.step(words) as step, step.following(ranker, X):
            ranker.fit(X, y, **of_rows)
            curve = ranker.learning_curve(X, y, options.n, **of_rows)
        console.print(curve.words)
    if path is not None:
        console.print(f"Written: {options.out}")


def _show(console: Terminal, found: "NextRows", row_ids: list[str]) -> None:
    """Print the rows and why each of them."""
    if not len(found):
        console.print("No row is without a label: there is nothing to ask.")
        return
    headings: list[str | Column] = [Column("row", overflow="fold"), "why"]
    has_guess = found.guesses[0] is not None
    if has_guess:
        sure = Column("how sure", justify="right")
        headings[1:1] = [Column("most likely", overflow="fold"), sure]
    table = Table(*headings)
    for row, label, share, reason in zip(
        found.rows.tolist(), found.guesses, found.confidence, found.reasons, strict=True
    ):
        guess = [printable_name(label), f"{share:.0%}"] if has_guess else []
        table.add_row(*map(Text, [printable_name(row_ids[row]), *guess, reason]))
    console.print(f"The {plural(len(found), 'row')} to label next")
    console.print(table)
