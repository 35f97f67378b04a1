"""``semisift explore``: a page on which a person labels rows and watches the ranking follow."""

import os
import tempfile
import threading
import webbrowser
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from semisift.cli import _options, _reading
from semisift.cli._options import section
from semisift.cli._terminal import Steps, Terminal
from semisift.cli.rank import ASSESS, RankOptions, rank_dataset
from semisift.exceptions import TableError
from semisift.io._options import STORED, Reading
from semisift.registry import METHODS
from semisift.utils._files import private_folder
from semisift.utils._text import plural

if TYPE_CHECKING:
    from semisift.explore._label_store import LabelsFile
    from semisift.explore._server import ExploreServer
    from semisift.explore._session import Session
    from semisift.io import Dataset, FileTable

# Heading of the labels where the table has no column of them.
NO_COLUMN = "label"

# Formats whose rows may stay in the file: a table that needs more, with the copies that a ranking
# makes, is not read as a whole before the page opens.
MAX_AT_ONCE = "512MB"

# What --out writes into its folder, by the option of `semisift rank`.
RESULTS = {"ranking": "ranking.csv", "predictions": "labels.csv", "report": "report.html"}

# Options of ranking that the page does not have.
ABSENT = (
    *("method", "top", "redundancy", "by_class", "markers", "reduced", "must_link", "cannot_link"),
    *("include", "exclude", "feature_groups", "feature_weights", *RESULTS),
)

# The file that a browser is given, and the start of the name of its folder.
PAGE_FOLDER = "semisift-page-"
REDIRECT = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>semisift explore</title>
<meta http-equiv="refresh" content="0; url={address}"></head>
<body><a href="{address}">The page of semisift explore</a></body></html>
"""


class PageReading(Reading):
    """How the table of the page is read, which works with some of its rows."""

    totals_from_sample = True


class ExploreOptions(RankOptions):
    """The options of ``semisift explore``."""

    @property
    def reading(self) -> PageReading:
        """Those that say how the table is read."""
        return PageReading(**vars(super().reading))


def read_image(value: Any) -> tuple[int, int]:
    """Read height and width, as in 28x28."""
    parts = str(value).lower().split("x")
    if len(parts) != 2 or not all(part.isdecimal() and 0 < int(part) < 10_000 for part in parts):
        raise click.BadParameter(f"must be height and width, as in 28x28: got {value!r}.")
    height, width = map(int, parts)
    return height, width


@_options.command(RankOptions)
@_options.TABLE
@section(
    "Page",
    click.option(*("--out", "folder"), metavar="FOLDER"),
    click.option("--answers", metavar="FILE"),
    click.option("--browser/--no-browser", default=True),
    click.option(
        "--port", metavar="N", default=0, show_default=True, type=click.IntRange(0, 65535)
    ),
    click.option("--image", metavar="HxW", type=read_image),
)
@section("Method", _options.SEED, _options.N_JOBS, *ASSESS)
@section(
    "Results", click.option("--title", metavar="TEXT"), _options.SPREADSHEET_SAFE, _options.QUIET
)
@section("Table", *_options.reading_options(_options.WITHOUT_PAIRS))
def explore(**given: Any) -> None:
    """Label the rows of a table on a page, and watch the ranking follow.

    TABLE is a file or folder, as for `semisift rank`; it may hold no label yet. The page is served
    on this machine only, to who has its address. It shows the ranking, the rows on a map, and which
    rows a label tells most of.

    Each answer is on the disk before the page goes on, in a file beside the table, which itself is
    never changed. A second start goes on from there, and `semisift rank TABLE --labels FILE` takes
    the file. Ctrl-C ends the server, and writes --out.

    Parameters
    ----------
    folder
        Write ranking.csv, labels.csv and report.html into this folder at the end, or when the page
        says so, as `semisift rank` writes them.
    answers
        File of the labels that are given on the page; written whole after each answer. [default:
        TABLE.labels.csv, beside the table]
    browser
        Open the page in a browser, or print its address only.
    port
        Port of the page on this machine; 0 takes a free one.
    image
        Show rows as pictures: their features are pixels, line after line.
    title
        Title of the report.

    Examples
    --------
      semisift explore cells.csv --label type --out results/
      semisift explore samples.tsv --id sample
      semisift explore digits.npz --image 28x28
      semisift explore cells.h5ad --label cell_type --unlabelled unknown --no-browser
    """
    options = ExploreOptions(**dict.fromkeys(ABSENT), param=(), **given)
    method = _reading.find_method(_reading.DEFAULT_METHOD)
    _reading.check_input(options, method, METHODS)
    from semisift.explore._label_store import Answers
    from semisift.explore._server import ExploreServer
    from semisift.explore._session import Session
    from semisift.explore._views import Page

    path = _labels_path(options)
    _make_folder(options)
    dataset, _ = _reading.read_dataset(_sampled(options), method.name, needs_labels=False)
    _check_image(options, dataset)
    column = _label_column(options, dataset.table)
    with _labels_file(options, dataset.table, path, column).locked() as file:
        answers = Answers(dataset.y, dataset.rows, file, options.unlabelled)
        write = None if options.folder is None else partial(_write, options, path, dataset)
        session = Session(dataset, answers, seed=options.seed, n_jobs=options.n_jobs, write=write)
        names = {"file": Path(options.table).name, "label_column": column, "labels_file": path.name}
        page = Page(session, **names, image=options.image)
        try:
            server = ExploreServer(page, names["file"], options.port)
        except OSError as error:
            raise click.BadParameter(
                f"{options.port} cannot be used: {error.strerror or error}. 0 takes a free one.",
                param_hint="--port",
            ) from error
        try:
            with session.at_work():
                _serve(options, server)
        finally:
            path = _keep(session, path)
        _end(options, session, path)


def _serve(options: ExploreOptions, server: "ExploreServer") -> None:
    """Answer the page until Ctrl-C; SIGTERM ends the command."""
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    try:
        thread.start()
        Terminal().print(f"The page: {server.address}", soft_wrap=True)
        if not options.quiet:
            Terminal().print("It is for this machine only. Ctrl-C ends it.")
        with ExitStack() as stack:
            if options.browser:
                _open(server.address, stack)
            while thread.is_alive():
                thread.join(1)
                if server.was_opened:
                    stack.close()
    except KeyboardInterrupt:
        pass
    finally:
        if thread.is_alive():
            server.shutdown()
        server.server_close()


def _open(address: str, stack: ExitStack) -> None:
    """Open the page in a browser; the file for it is removed when the stack is closed."""
    # Every user of the machine can read the command line of a browser. So it is given a file that
    # leads to the address, and that others cannot read; of a token that serves once, they could
    # make use first. Browsers that are packed as snaps read neither /tmp nor hidden folders.
    for place in (os.path.expanduser("~"), tempfile.gettempdir()):
        with suppress(OSError):
            folder = stack.enter_context(private_folder(Path(place).absolute(), PAGE_FOLDER))
            file = folder / "page.html"
            file.touch(mode=0o600)
            file.write_text(REDIRECT.format(address=address), encoding="utf-8")
            webbrowser.open(file.as_uri())
            return


def _keep(session: "Session", path: Path) -> Path:
    """Return the file that holds the labels, whatever another program did to theirs."""
    kept = session.keep()
    if kept is None:
        return path
    is_own = os.path.realpath(kept) == os.path.realpath(path)
    message = (
        f"{path} had vanished, and was written again with all labels given here."
        if is_own
        else f"{path} was changed by another program and cannot be read: the labels given here are "
        f"in {kept}. Mend the one, or go on with --answers {kept}."
    )
    Terminal().print(message, soft_wrap=True)
    return path if is_own else kept


def _end(options: ExploreOptions, session: "Session", path: Path) -> None:
    """Write the results, and print where everything is."""
    console, known = Terminal(), session.known
    if known.given and not options.quiet:
        console.print(f"{plural(len(known.given), 'label')} given here: {path}")
    if options.folder is None:
        return
    if not known.classes:
        console.print("No row is labelled, so there is nothing to rank by: nothing was written.")
        return
    files = [*_outputs(options).values()]
    if session.finished_version != known.version:
        files = _write(options, path, session.dataset, known.y, Steps(options.quiet))
    for file in files if not options.quiet else ():
        console.print(f"Written: {file}")


# --- the results ----------------------------------------------------------------------------------


def _write(
    options: ExploreOptions, path: Path, dataset: "Dataset", y: Any, steps: Steps | None = None
) -> list[Path]:
    """Rank all rows as ``semisift rank`` does, and write what it writes."""
    import numpy as np

    from semisift.io import load

    outputs, steps = _outputs(options), steps or Steps(quiet=True)
    if dataset.table.is_stored:  # the page was made from some rows
        labels = np.full(dataset.table.n_rows, None, dtype=object)
        labels[dataset.rows] = y
        with steps.step(f"Reading {Path(options.table).name}"):
            dataset = load(options.table, Reading(**vars(options.reading)))
        y = labels[dataset.rows]
    results = _rank_options(options)
    if path.exists():  # for the provenance
        results.labels = str(path)
    method = _reading.find_method(_reading.DEFAULT_METHOD)
    rank_dataset(results, method, replace(dataset, y=y), outputs, steps)
    return [*outputs.values()]


def _rank_options(options: ExploreOptions) -> ExploreOptions:
    """Return the options of ranking that write the results."""
    folder = Path(options.folder)
    files = {name: str(folder / file) for name, file in RESULTS.items()}
    return ExploreOptions(**{**vars(options), **files, "quiet": True})


def _outputs(options: ExploreOptions) -> dict[str, Path]:
    from semisift.cli._ranking import check_outputs

    return check_outputs(_rank_options(options))


def _make_folder(options: ExploreOptions) -> None:
    """Make the folder of the results, and check that they can be written."""
    if options.folder is None:
        return
    try:
        Path(options.folder).mkdir(exist_ok=True)
    except OSError as error:
        raise click.BadParameter(
            f"{options.folder}: the folder cannot be made: {error.strerror or error}.",
            param_hint="--out",
        ) from error
    _outputs(options)


# --- the table and the labels ---------------------------------------------------------------------


def _sampled(options: ExploreOptions) -> ExploreOptions:
    """Return the options to read the table for the page, which needs some of its rows only."""
    from semisift.io import find_format
    from semisift.io._on_disk import OF_ALL_VALUES

    usual = Reading()
    needs_all = any(getattr(options, name) != getattr(usual, name) for name in OF_ALL_VALUES)
    form = options.format or find_format(Path(options.table))
    if options.max_memory is not None or needs_all or form not in STORED:
        return options
    return ExploreOptions(**{**vars(options), "max_memory": MAX_AT_ONCE})


def _labels_path(options: ExploreOptions) -> Path:
    """Return the file of the labels that are given on the page."""
    table = Path(options.table)
    table = table if table.name else table.resolve()  # as of "."
    path = Path(options.answers or table.with_name(f"{table.name}.labels.csv"))
    # not Path.resolve, which fails where links go round in circles
    target = Path(os.path.realpath(path))
    read = [table, *map(Path, options.other_files.values())]
    if str(target) in map(os.path.realpath, read):
        raise click.BadParameter(
            f"{path}: is a file that is read. Give the labels of the page another name.",
            param_hint="--answers",
        )
    if path.suffix.lower() != ".csv" or not target.parent.is_dir():
        raise click.BadParameter(
            f"{path}: must be a csv file in a folder that exists.", param_hint="--answers"
        )
    return path


def _labels_file(
    options: ExploreOptions, table: "FileTable", path: Path, column: str
) -> "LabelsFile":
    from semisift.explore._label_store import LabelsFile, can_join
    from semisift.io._dataset import find_row_names

    names, columns = find_row_names(table, options.id)
    if names is not None and not can_join(names):
        names = None
    return LabelsFile(path, column, names, table.n_rows, *columns)


def _label_column(options: ExploreOptions, table: "FileTable") -> str:
    from semisift.io._table import find_column

    if options.labels is not None or options.label is None:
        own = options.label if options.labels is not None else table.label
        return str(own or NO_COLUMN)
    return find_column(table, options.label, "label")


def _check_image(options: ExploreOptions, dataset: "Dataset") -> None:
    if options.image is None:
        return
    height, width = options.image
    n_columns = dataset.X.shape[1]
    if height * width != n_columns:
        raise TableError(
            f"--image {height}x{width}: pictures of {height * width:,} pixels, and the table has "
            f"{plural(n_columns, 'feature')}."
        )
