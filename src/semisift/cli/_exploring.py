"""From a file to a page on which it is labelled: what ``explore`` does."""

import threading
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

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
from semisift.io import Dataset
from semisift.io.dataset import find_row_names
from semisift.io.table import FileTable, find_column
from semisift.registry import METHODS

# Heading of the labels where the table has no column of them.
NO_COLUMN = "label"


def run(request: ExploreRequest) -> None:
    """Read, serve the page until the user ends it, and write the results."""
    method = find_method(DEFAULT_METHOD)
    check_reading_is_taken(request, method, METHODS)
    path = _labels_path(request)
    results = _request_of_results(request, path)
    steps = Steps(request.quiet)
    dataset = read_dataset(request, steps, method.name, needs_labels=False)
    _check_image(request, dataset)
    column = _label_column(request, dataset.table)
    with _labels_file(request, dataset.table, path, column).held() as file:
        answers = Answers(dataset.y, dataset.rows, file, request.unlabelled)
        write = None if results is None else _writer(results)
        session = Session(dataset, answers, seed=request.seed, n_jobs=request.n_jobs, write=write)
        name = Path(request.table).name
        page = Page(
            session,
            file=name,
            label_column=column,
            labels_file=path.name,
            image=request.image,
        )
        _serve(request, session, ExploreServer(page, name, request.port))
        _end(request, session, path, results)


def _serve(request: ExploreRequest, session: Session, server: ExploreServer) -> None:
    """Answer the page until a signal comes."""
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    try:
        session.start()
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
        session.stop()


def _end(
    request: ExploreRequest, session: Session, path: Path, results: ExploreRequest | None
) -> None:
    """Write the results, and say where everything is."""
    console, known = Terminal(), session.known
    if known.given and not request.quiet:
        console.print(f"{count(len(known.given), 'label')} given here: {path}")
    if results is None:
        return
    if not known.classes:
        console.print("No row is labelled, so there is nothing to rank by: nothing was written.")
        return
    if session.finished_version != known.version:
        files = _writer(results, Steps(request.quiet))(replace(session.dataset, y=known.y))
    else:
        files = [*check_outputs(results).values()]
    for file in files if not request.quiet else ():
        console.print(f"Written: {file}")


def _writer(
    results: ExploreRequest, steps: Steps | None = None
) -> Callable[[Dataset], Sequence[Path]]:
    """Return what ranks a data set as ``semisift rank`` does, and writes what it writes."""

    def write(dataset: Dataset) -> Sequence[Path]:
        outputs = check_outputs(results)
        method = find_method(DEFAULT_METHOD)
        rank_dataset(results, method, dataset, outputs, steps or Steps(quiet=True))
        return [*outputs.values()]

    return write


def _request_of_results(request: ExploreRequest, path: Path) -> ExploreRequest | None:
    """Return the request to rank that writes the results; None where they have no place."""
    if request.folder is None:
        return None
    folder = Path(request.folder)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise click.BadParameter(
            f"{folder}: the folder cannot be made: {error.strerror or error}.", param_hint="--out"
        ) from error
    files: dict[str, Any] = {name: str(folder / file) for name, file in RESULTS.items()}
    results = replace(request, quiet=True, **files)
    check_outputs(results)
    return replace(results, labels=str(path))


def _labels_path(request: ExploreRequest) -> Path:
    """Return the file of the labels that are given on the page."""
    table = Path(request.table)
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
