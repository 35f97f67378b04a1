"""From a file to a page on which it is labelled: what ``explore`` does."""

import threading
import webbrowser
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from semisift._words import count
from semisift.cli import STOPS
from semisift.cli._reading import read_dataset
from semisift.cli._result import check_outputs
from semisift.cli._run import DEFAULT_METHOD, find_method, rank_dataset
from semisift.cli._takes import check_reading_is_taken
from semisift.cli._terminal import Steps, Terminal
from semisift.cli.explore import RESULTS, ExploreRequest
from semisift.exceptions import TableError
from semisift.explore.answers import Answers
from semisift.explore.labels_file import LabelsFile
from semisift.explore.server import ExploreServer
from semisift.explore.session import Session
from semisift.explore.views import Page
from semisift.io import Dataset, find_format, load
from semisift.io.dataset import find_row_names
from semisift.io.on_disk import OF_ALL_VALUES
from semisift.io.options import STORED, Reading
from semisift.io.table import FileTable, find_column
from semisift.registry import METHODS

# Heading of the labels where the table has no column of them.
NO_COLUMN = "label"

# Of formats whose rows may stay in the file: what needs more, with the copies that a ranking makes,
# is not read as a whole before the page opens.
AT_ONCE = "512MB"


def run(request: ExploreRequest) -> None:
    """Read, serve the page until the user ends it, and write the results."""
    method = find_method(DEFAULT_METHOD)
    check_reading_is_taken(request, method, METHODS)
    path = _labels_path(request)
    _make_folder(request)
    dataset = read_dataset(_opened(request), Steps(request.quiet), method.name, needs_labels=False)
    _check_image(request, dataset)
    column = _label_column(request, dataset.table)
    with _labels_file(request, dataset.table, path, column).held() as file:
        answers = Answers(dataset.y, dataset.rows, file, request.unlabelled)
        write = None if request.folder is None else partial(_write, request, path, dataset)
        session = Session(dataset, answers, seed=request.seed, n_jobs=request.n_jobs, write=write)
        name = Path(request.table).name
        page = Page(
            session,
            file=name,
            label_column=column,
            labels_file=path.name,
            image=request.image,
        )
        server = _server(request, page, name)
        with session.at_work():
            _serve(request, server)
        _end(request, session, path)


def _server(request: ExploreRequest, page: Page, name: str) -> ExploreServer:
    try:
        return ExploreServer(page, name, request.port)
    except OSError as error:
        raise click.BadParameter(
            f"{request.port} cannot be used: {error.strerror or error}. 0 takes a free one.",
            param_hint="--port",
        ) from error


def _serve(request: ExploreRequest, server: ExploreServer) -> None:
    """Answer the page until a signal comes."""
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    try:
        thread.start()
        Terminal().print(f"The page: {server.address}", soft_wrap=True)
        if not request.quiet:
            Terminal().print("It is for this machine only. Ctrl-C ends it.")
        if request.browser:
            webbrowser.open(server.address)
        while thread.is_alive():
            thread.join(1)
    except tuple(STOPS):
        pass
    finally:
        if thread.is_alive():
            server.shutdown()
        server.server_close()


def _end(request: ExploreRequest, session: Session, path: Path) -> None:
    """Write the results, and say where everything is."""
    console, known = Terminal(), session.known
    if known.given and not request.quiet:
        console.print(f"{count(len(known.given), 'label')} given here: {path}")
    if request.folder is None:
        return
    if not known.classes:
        console.print("No row is labelled, so there is nothing to rank by: nothing was written.")
        return
    files = [*check_outputs(_results(request)).values()]
    if session.finished_version != known.version:
        files = _write(request, path, session.dataset, known.y, Steps(request.quiet))
    for file in files if not request.quiet else ():
        console.print(f"Written: {file}")


def _write(
    request: ExploreRequest,
    path: Path,
    dataset: Dataset,
    y: NDArray[Any],
    steps: Steps | None = None,
) -> list[Path]:
    """Rank all rows as ``semisift rank`` does, and write what it writes."""
    results = _results(request)
    outputs = check_outputs(results)
    steps = steps or Steps(quiet=True)
    if dataset.table.is_stored:  # what the page was made from is not all
        labels = np.full(dataset.table.n_rows, None, dtype=object)
        labels[dataset.rows] = y
        with steps.step(f"Reading {Path(request.table).name}"):
            reading = {each.name: getattr(request, each.name) for each in fields(Reading)}
            dataset = load(request.table, Reading(**reading))
        y = labels[dataset.rows]
    if path.exists():  # for the provenance
        results = replace(results, labels=str(path))
    rank_dataset(results, find_method(DEFAULT_METHOD), replace(dataset, y=y), outputs, steps)
    return [*outputs.values()]


def _results(request: ExploreRequest) -> ExploreRequest:
    """Return the request to rank that writes the results."""
    assert request.folder is not None
    folder = Path(request.folder)
    files: dict[str, Any] = {name: str(folder / file) for name, file in RESULTS.items()}
    return replace(request, quiet=True, **files)


def _make_folder(request: ExploreRequest) -> None:
    """Make the folder of the results, and see whether they can be written."""
    if request.folder is None:
        return
    try:
        Path(request.folder).mkdir(exist_ok=True)
    except OSError as error:
        raise click.BadParameter(
            f"{request.folder}: the folder cannot be made: {error.strerror or error}.",
            param_hint="--out",
        ) from error
    check_outputs(_results(request))


def _opened(request: ExploreRequest) -> ExploreRequest:
    """Return the request to read the table for the page, which needs some of its rows only."""
    path, usual = Path(request.table), Reading()
    needs_all = any(getattr(request, name) != getattr(usual, name) for name in OF_ALL_VALUES)
    if request.max_memory is not None or needs_all or not path.exists():
        return request
    form = request.format or find_format(path)
    return replace(request, max_memory=AT_ONCE) if form in STORED else request


def _labels_path(request: ExploreRequest) -> Path:
    """Return the file of the labels that are given on the page."""
    table = Path(request.table)
    table = table if table.name else table.resolve()  # as of "."
    path = table.with_name(f"{table.name}.labels.csv")
    if request.answers is not None:
        path = Path(request.answers)
    read = [table, *map(Path, request.files_beside.values())]
    if path.resolve() in {each.resolve() for each in read}:
        raise click.BadParameter(
            f"{path}: is a file that is read. Give the labels of the page another name.",
            param_hint="--answers",
        )
    if path.suffix.lower() != ".csv" or not path.parent.is_dir():
        raise click.BadParameter(
            f"{path}: must be a csv file in a folder that exists.", param_hint="--answers"
        )
    return path


def _labels_file(request: ExploreRequest, table: FileTable, path: Path, column: str) -> LabelsFile:
    names, columns = find_row_names(table, request.id)
    if names is not None and len({*names}) < len(names):
        names = None
    return LabelsFile(path, column, names, table.n_rows, *columns)


def _label_column(request: ExploreRequest, table: FileTable) -> str:
    if request.labels is not None:
        return request.label or NO_COLUMN
    if request.label is not None:
        return find_column(table, request.label, "label")
    return table.label or NO_COLUMN


def _check_image(request: ExploreRequest, dataset: Dataset) -> None:
    if request.image is None:
        return
    height, width = request.image
    n_columns = dataset.X.shape[1]
    if height * width != n_columns:
        raise TableError(
            f"--image {height}x{width}: pictures of {height * width:,} pixels, and the table has "
            f"{count(n_columns, 'feature')}."
        )
