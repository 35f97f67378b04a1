"""How long a person waits for the page of `semisift explore`, from the command on.

    python benchmarks/explore.py cells.h5ad --label label      # a file of your own, or
    python benchmarks/explore.py --rows 2000 --columns 5000    # a table made on the spot
    python benchmarks/million.py make cells.h5ad --rows 50000 --density 0.05

The command runs in a process of its own and is asked over HTTP what the page asks for; labels are
given to rows of the queue, one after the other, and all times are seconds on the clock. Opening:
from the command to the page, to the first ranking, to the map and to the queue. Then, after each
label: until it is on the disk, until the ranking is of the new labels, until the queue is. The
answers go to a file of their own in a folder that is deleted.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

AT_MOST = 300.0  # seconds that anything may take
A_MOMENT = 0.01

OPENING = ("page", "ranking", "map", "queue")
AFTER_A_LABEL = ("on the disk", "ranking", "queue")


class Explorer:
    """A server in a process of its own, asked as its page asks it."""

    def __init__(self, table, label, folder):
        command = [sys.executable, "-m", "semisift", "explore", str(table), "--label", label]
        command += ["--no-browser", "--quiet", "--answers", str(Path(folder) / "answers.csv")]
        self.began = time.perf_counter()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if "http" not in line:
            raise SystemExit(f"the command did not open a page: {line}")
        address = urlsplit(line[line.index("http") :].strip())
        self._root = f"{address.scheme}://{address.netloc}"
        self._token = address.query.removeprefix("token=")

    def ask(self, path, body=None):
        """Return an answer: of JSON, or the page."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"X-Semisift-Token": self._token, "Content-Type": "application/json"}
        request = urllib.request.Request(self._root + path, data, headers)
        with urllib.request.urlopen(request, timeout=AT_MOST) as answer:
            text = answer.read()
        return json.loads(text) if path.startswith("/api") else text

    def open_page(self):
        """Load what the browser loads at first."""
        return self.ask(f"/?token={self._token}")

    def wait(self, holds):
        """Return the first state of which something holds."""
        until = time.perf_counter() + AT_MOST
        while time.perf_counter() < until:
            state = self.ask("/api/state")
            if holds(state):
                return state
            time.sleep(A_MOMENT)
        raise SystemExit(f"waited {AT_MOST:.0f} s for it")

    def end(self):
        """End the server."""
        self.process.kill()
        self.process.wait()


def is_new(part, version):
    """Return the test whether a part of the page is made from some version of the labels."""

    def holds(state):
        return state[part] is not None and state[part]["labels_version"] >= version

    return holds


def opening(explorer):
    """Return the seconds from the command until each part of the page is there."""
    seconds = {}

    def mark(what):
        seconds[what] = time.perf_counter() - explorer.began

    explorer.open_page()
    mark("page")
    explorer.wait(is_new("ranking", 0))
    mark("ranking")
    explorer.ask("/api/map")
    mark("map")
    explorer.wait(lambda state: state["queue"] is not None and state["queue"]["rows"])
    mark("queue")
    return seconds


def label_one(explorer):
    """Give the first row of the queue the class that is guessed; return the seconds it takes."""
    state = explorer.wait(lambda state: state["queue"] is not None and state["queue"]["rows"])
    first = state["queue"]["rows"][0]
    name = state["classes"][max(first["guess"], 0)]["name"]
    body = {"row": first["row"], "label": name, "version": state["labels_version"]}
    began, seconds = time.perf_counter(), {}
    version = explorer.ask("/api/label", body)["labels_version"]
    seconds["on the disk"] = time.perf_counter() - began
    for part in ("ranking", "queue"):
        explorer.wait(is_new(part, version))
        seconds[part] = time.perf_counter() - began
    return seconds


def make(path, rows, columns):
    """Write a table of two classes, five labels each, of which 20 columns tell."""
    rng = np.random.default_rng(0)
    truth = np.arange(rows) % 2
    X = rng.normal(size=(rows, columns)).astype(np.float32)
    X[:, :20] += truth[:, None]
    label = np.where(np.arange(rows) < 10, np.array(["a", "b"])[truth], "")
    with path.open("w") as file:
        file.write("label," + ",".join(f"v{j}" for j in range(columns)) + "\n")
        for name, row in zip(label, X, strict=True):
            file.write(f"{name}," + ",".join(f"{value:.4g}" for value in row) + "\n")


def main():
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("table", nargs="?")
    parser.add_argument("--label", default="label")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--columns", type=int, default=5000)
    parser.add_argument("--answers", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = Path(options.table or Path(folder) / "table.csv")
        if options.table is None:
            make(table, options.rows, options.columns)
        explorer = Explorer(table, options.label, folder)
        try:
            opened = opening(explorer)
            about = explorer.ask("/api/state")["table"]
            print(f"{about['file']}: {about['rows']:,} x {about['features']:,}")
            for what in OPENING:
                print(f"  opening, {what}: {opened[what]:.2f} s")
            given = [label_one(explorer) for _ in range(options.answers)]
            for what in AFTER_A_LABEL:
                taken = [each[what] for each in given]
                print(f"  a label, {what}: {np.median(taken):.2f} s, at most {max(taken):.2f} s")
        finally:
            explorer.end()


if __name__ == "__main__":
    main()
