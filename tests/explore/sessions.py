"""Sessions of the explorer on small tables, with a server where one is asked for."""

import http.client
import json
import threading
import time
from contextlib import contextmanager

import numpy as np
import polars as pl

from semisift import read_table
from semisift.explore._label_store import Answers, LabelsFile
from semisift.explore._server import ExploreServer
from semisift.explore._session import Session
from semisift.explore._views import Page
from tests.conftest import make_data

MAX = 60.0  # seconds that a test waits


def write_cells(folder, *, per_class=2, labels=None, names=True, n_rows=60):
    """Write cells.csv: eight features, of which two tell the classes, few labels and names."""
    data = make_data(n_rows=n_rows, per_class=per_class)
    frame = pl.DataFrame(data.X, schema=[f"x{j}" for j in range(8)])
    if labels is None:
        labels = [None if code < 0 else "AB"[code] for code in data.y]
    frame = frame.with_columns(pl.Series("kind", labels, dtype=pl.String))
    if names:
        frame = frame.with_columns(pl.Series("id", [f"s{i}" for i in range(n_rows)]))
    frame.write_csv(folder / "cells.csv")
    return folder / "cells.csv"


def make_file(dataset, path, column="kind"):
    names = dataset.row_names
    return LabelsFile(path, column, names, dataset.table.n_rows, "id")


@contextmanager
def session_of(dataset, path, *, write=None, image=None, working=True):
    """Yield a session and what answers its page."""
    with make_file(dataset, path).locked() as file:
        answers = Answers(dataset.y, dataset.rows, file)
        session = Session(dataset, answers, write=write)
        page = Page(
            session, file="cells.csv", label_column="kind", labels_file=path.name, image=image
        )
        if not working:
            yield session, page
            return
        with session.at_work():
            yield session, page


def read_cells(path, **options):
    options = {"label": "kind", "id": "id", **options}
    return read_table(path, **{name: value for name, value in options.items() if value is not None})


def wait_until_idle(page, by=None):
    """Return the state once all is found that follows from the labels."""
    session, until = page.session, time.monotonic() + MAX
    while time.monotonic() < until:
        state = page.state()
        version = state["labels_version"]
        parts = [state[name] and state[name]["labels_version"] for name in ("ranking", "queue")]
        if parts == [version, version] and by in (None, state["ranking"]["by"]):
            return state
        session.wait(state["version"], 1.0)
    raise AssertionError(state)


class Client:
    """Asks a server as the page does, or as nobody should."""

    def __init__(self, server):
        self.server, self.port = server, server.port

    def ask(self, verb, path, body=None, headers=(), *, token=True, host=None, raw=None):
        """Return the status, the content and the headers of an answer."""
        sent = {"Host": host or f"127.0.0.1:{self.port}"}
        if token:
            sent["X-Semisift-Token"] = self.server.token if token is True else token
        sent.update(headers)
        data = json.dumps(body).encode() if raw is None and body is not None else raw
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=MAX)
        try:
            connection.request(verb, path, data, sent)
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        is_json = answer.getheader("Content-Type", "").startswith("application/json")
        return answer.status, json.loads(text) if is_json and text else text, answer.headers

    def get(self, path, **options):
        return self.ask("GET", path, **options)[:2]

    def post(self, path, body=None, **options):
        return self.ask("POST", path, body, **options)[:2]


@contextmanager
def served(page, **options):
    """Yield a client of a server for a page."""
    server = ExploreServer(page, "cells.csv", **options)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield Client(server)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def image_table(folder):
    rng = np.random.default_rng(0)
    np.savez(folder / "pictures.npz", X=rng.integers(0, 17, size=(40, 6)).astype(float))
    return folder / "pictures.npz"
