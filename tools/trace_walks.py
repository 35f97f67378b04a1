"""Print how many functions of semisift five common calls go through, and in how many files.

``python tools/trace_walks.py`` runs each call once unseen, so that imports do not count, and once
traced in this thread. A change of room is a call from a function of one package to one of another.
"""

import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData
from click.testing import CliRunner

import semisift
from semisift import SSFI, FisherScore, cli

HOUSE = str(Path(semisift.__file__).parent) + os.sep


class Walk:
    """The calls of a function, as `sys.setprofile` tells them."""

    def __init__(self) -> None:
        self.functions: set[CodeType] = set()
        self.files: set[str] = set()
        self.n_changes = 0
        self._last = ""

    def see(self, frame: FrameType, event: str, _: Any) -> None:
        """Count a call of a function of the package; comprehensions and class bodies are none."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(HOUSE):
            return
        if code.co_name.startswith("<") or "__qualname__" in code.co_names:
            return
        room = code.co_filename[len(HOUSE) :].split(os.sep)[0]
        self.functions.add(code)
        self.files.add(code.co_filename)
        self.n_changes += bool(self._last) and room != self._last
        self._last = room


def trace(call: Callable[[], object]) -> Walk:
    """Return the walk of a call that was made before."""
    call()
    walk = Walk()
    sys.setprofile(walk.see)
    call()
    sys.setprofile(None)
    return walk


def run_command(*words: str) -> None:
    """Run ``semisift`` in this process, its output unseen."""
    found = CliRunner().invoke(cli.main, words)
    if found.exit_code:
        raise RuntimeError(found.output) from found.exception


def walks(folder: Path) -> dict[str, Callable[[], object]]:
    """Return the five calls by their names."""
    truth = np.arange(60) % 3
    X = np.random.default_rng(0).normal(size=(60, 30))
    X[:, :4] += 2 * truth[:, None]
    y = np.where(np.arange(60) < 24, truth, -1)
    words = np.array(["B", "NK", "T", ""])[y]
    table = pd.DataFrame(X, columns=[f"gene{j}" for j in range(X.shape[1])]).assign(label=words)
    table.to_csv(folder / "table.csv", index=False)
    table.assign(label=truth).to_csv(folder / "whole.csv", index=False)
    whole, given = (
        [str(folder / f"{name}.csv"), "--label", "label"] for name in ("whole", "table")
    )
    counts = np.random.default_rng(0).poisson(np.exp(np.clip(X, -2, 3))).astype(np.float32)

    def rank_markers() -> None:
        cells = AnnData(counts.copy())
        cells.obs["label"] = pd.Categorical(words)
        semisift.tl.rank_markers(cells, "label")

    options = "--methods fisher,laplacian --runs 2 --labels-per-class 4 --sizes 1,5 --n-jobs 1"

    def compare() -> None:
        with tempfile.TemporaryDirectory(dir=folder) as store:
            here = ("--backend", "threading", "--out", f"{store}/results")
            run_command("compare", *whole, *options.split(), *here)

    return {
        "FisherScore().fit": lambda: FisherScore().fit(X, y),
        "SSFI().fit": lambda: SSFI().fit(X, y),
        "tl.rank_markers": rank_markers,
        "semisift compare, two methods": compare,
        "semisift rank --report": lambda: run_command(
            "rank", *given, "--report", f"{folder}/page.html"
        ),
    }


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    os.environ.setdefault("MPLBACKEND", "Agg")
    print("| call | functions | files | changes of room |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name, call in walks(Path(folder)).items():
            walk = trace(call)
            counts = (len(walk.functions), len(walk.files), walk.n_changes)
            print(f"| {name} | {' | '.join(f'{n:,}' for n in counts)} |", flush=True)


if __name__ == "__main__":
    main()
