"""From a file to a page on which it is labelled: what ``explore`` does."""

import os
import tempfile
import threading
import webbrowser
from contextlib import ExitStack, suppress
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from semisift.cli._capabilities import check_reading_is_taken
from semisift.cli._reading import read_dataset
from semisift.cli._run_rank import DEFAULT_METHOD, check_outputs, find_method, rank_dataset
from semisift.cli._terminal import Steps, Terminal
from semisift.cli.explore import RESULTS, ExploreRequest
from semisift.exceptions import TableError
from semisift.explore._label_store import Answers, LabelsFile, can_join
from semisift.explore._server import ExploreServer
from semisift.explore._session import Session
from semisift.explore._views import Page
from semisift.io import Dataset, find_format, load
from semisift.io._dataset import find_row_names
from semisift.io._on_disk import OF_ALL_VALUES
from semisift.io._options import STORED, Reading
from semisift.io._table import FileTable, find_column
from semisift.registry import METHODS
from semisift.utils._files import private_folder
from semisift.utils._text import plural

# Heading of the labels where the table has no column of them.
NO_COLUMN = "label"

# Of formats whose rows may stay in the file: what needs more, with the copies that a ranking makes,
# is not read as a whole before the page opens.
AT_ONCE = "512MB"

# What a browser is given, and the start of the name of the folder that it lies in.
PAGE_FOLDER = "semisift-page-"
LEADS_TO = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>semisift explore</title>
<meta http-equiv="refresh" content="0; url={address}"></head>
<body><a href="{address}">The page of semisift explore</a></body></html>
"""


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
        try:
            with session.at_work():
                _serve(request, server)
        finally:
            path = _keep(session, path)
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
    """Answer the page until Ctrl-C; SIGTERM ends the command."""
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    try:
        thread.start()
        Terminal().print(f"The page: {server.address}", soft_wrap=True)
        if not request.quiet:
            Terminal().print("It is for this machine only. Ctrl-C ends it.")
        with ExitStack() as stack:
            if request.browser:
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
    """Open the page in a browser; what that needs goes when the stack is closed."""
    # Every user of the machine can read the command line of a browser. So it is given a file that
    # leads to the address, and that others cannot read; of a token that serves once, they could
    # make use first. Browsers that are packed as snaps read neither /tmp nor hidden folders.
    for place in (os.path.expanduser("~"), tempfile.gettempdir()):
        with suppress(OSError):
            folder = stack.enter_context(private_folder(Path(place).absolute(), PAGE_FOLDER))
            file = folder / "page.html"
            file.touch(mode=0o600)
            file.write_text(LEADS_TO.format(address=address), encoding="utf-8")
            webbrowser.open(file.as_uri())
            return


def _keep(session: Session, path: Path) -> Path:
    """Return the file that holds the labels, whatever another program did to theirs."""
    kept = session.keep()
    if kept is None:
        return path
    is_own = os.path.realpath(kept) == os.path.realpath(path)
    said = (
        f"{path} had vanished, and was written again with all labels given here."
        if is_own
        else f"{path} was changed by another program and cannot be read: the labels given here are "
        f"in {kept}. Mend the one, or go on with --answers {kept}."
    )
    Terminal().print(said, soft_wrap=True)
    return path if is_own else kept


def _end(request: ExploreRequest, session: Session, path: Path) -> None:
    """Write the results, and say where everything is."""
    console, known = Terminal(), session.known
    if known.given and not request.quiet:
        console.print(f"{plural(len(known.given), 'label')} given here: {path}")
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
    # not Path.resolve, which fails where links go round in circles
    target = Path(os.path.realpath(path))
    if target in {Path(os.path.realpath(each)) for each in read}:
        raise click.BadParameter(
            f"{path}: is a file that is read. Give the labels of the page another name.",
            param_hint="--answers",
        )
    if path.suffix.lower() != ".csv" or not target.parent.is_dir():
        raise click.BadParameter(
            f"{path}: must be a csv file in a folder that exists.", param_hint="--answers"
        )
    return path


def _labels_file(request: ExploreRequest, table: FileTable, path: Path, column: str) -> LabelsFile:
    names, columns = find_row_names(table, request.id)
    if names is not None and not can_join(names):
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
            f"{plural(n_columns, 'feature')}."
        )
