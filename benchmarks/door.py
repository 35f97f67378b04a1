"""From a file to a report: seconds and memory of each part.

    SEMISIFT_DATA=... python benchmarks/door.py

Each line is a process of its own on one core. Reading, ranking and the report are timed inside it,
peak memory is that of the whole process, start-up included.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from protocol import load


def as_frame(X, y):
    import polars as pl

    frame = pl.DataFrame(X, schema=[f"g{j}" for j in range(X.shape[1])])
    return frame.insert_column(0, pl.Series("label", [f"c{code}" for code in y]))


def write_csv(folder):
    path = folder / "chowdary.csv"
    as_frame(*load("chowdary")).write_csv(path)
    return path


def write_small(folder):
    """Write a table of which reading is mostly the start of its reader, in three forms."""
    from scipy.io import savemat

    X, y = load("colon")
    paths = [folder / f"colon.{ending}" for ending in ("npz", "parquet", "mat")]
    np.savez_compressed(paths[0], X=X, y=y)
    as_frame(X, y).write_parquet(paths[1])
    savemat(paths[2], {"X": X, "y": y})
    return paths


def write_news(folder):
    from scipy.io import mmwrite
    from sklearn.datasets import dump_svmlight_file

    X, y = load("news20_binary")
    paths = [folder / f"news20.{ending}" for ending in ("npz", "svmlight", "mtx")]
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    np.savez_compressed(paths[0], **parts, y=y)
    dump_svmlight_file(X, y, str(paths[1]), zero_based=False)
    mmwrite(paths[2], X)
    (folder / "labels.csv").write_text("label\n" + "\n".join(map(str, y)) + "\n")
    return paths


def measure(path, label, labels, report):
    """Run in a process of its own: read, rank and report, and print the seconds of each."""
    began = time.perf_counter()
    from semisift import SSFI, read_table

    times = {"import": time.perf_counter() - began}
    began = time.perf_counter()
    data = read_table(path, label=label, labels=labels, labels_per_class=3)
    times["read"] = time.perf_counter() - began
    began = time.perf_counter()
    ranker = SSFI(n_features_to_select=20, random_state=0).fit(data.X, data.y)
    times["rank"] = time.perf_counter() - began
    if report:
        began = time.perf_counter()
        ranker.report(Path(path).with_suffix(".html"), data.X, data.y)
        times["report"] = time.perf_counter() - began
        times["page_MB"] = Path(path).with_suffix(".html").stat().st_size / 1e6
    times["peak_GB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps(times))


def in_own_process(path, *, label=None, labels=None, report=False):
    arguments = [str(path), label or "", str(labels or ""), "report" if report else ""]
    command = [sys.executable, __file__, "--measure", *arguments]
    if hasattr(os, "sched_setaffinity"):
        command = ["taskset", "-c", "0", *command]
    environment = {**os.environ, "POLARS_MAX_THREADS": "1"}
    began = time.perf_counter()
    output = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    times = json.loads(output.stdout)
    times["whole"] = time.perf_counter() - began
    print(Path(path).name, {name: round(value, 2) for name, value in times.items()}, flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--measure", nargs=4)
    given = parser.parse_args().measure
    if given:
        path, label, labels, report = given
        measure(path, label or None, labels or None, bool(report))
        return
    with tempfile.TemporaryDirectory() as folder:
        in_own_process(write_csv(Path(folder)), label="label", report=True)
        for path in write_small(Path(folder)):
            in_own_process(path, label="label" if path.suffix == ".parquet" else None)
        npz, svmlight, mtx = write_news(Path(folder))
        in_own_process(npz)
        in_own_process(svmlight)
        in_own_process(mtx, labels=Path(folder) / "labels.csv")


if __name__ == "__main__":
    main()
