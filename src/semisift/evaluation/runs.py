"""One run of one entrant: split, rank, judge, and a record of all of it.

No test row reaches an entrant: it is given the training rows alone, and those labels that the
protocol shows.
"""

import platform
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift import __version__
from semisift._labels import UNLABELLED
from semisift._threads import one_blas_thread, one_openmp_thread
from semisift.evaluation.datasets import ComparisonData
from semisift.evaluation.entrants import Entrant
from semisift.evaluation.judges import judge
from semisift.evaluation.protocol import Protocol
from semisift.evaluation.splits import Split, draw_split
from semisift.evaluation.sweeps import Sweep, disturb
from semisift.evaluation.warned import collected_warnings

Record = dict[str, Any]

# Best features that a record keeps at least, for stability and similarity at other sizes.
FEWEST_KEPT = 50

LONGEST_ERROR = 2000

# What differs from one machine and time to another.
MEASURED = ("seconds", "judge_seconds", "peak_mb")

# Streams of the draws of a run: nothing that one of them draws changes another.
SPLIT_STREAM, SWEEP_STREAM, METHOD_STREAM = range(3)


@dataclass(frozen=True)
class Key:
    """What tells records apart.

    Attributes
    ----------
    dataset, method : str
    run : int
        From 0.
    level : float or None
        Of a sweep.
    """

    dataset: str
    method: str
    run: int
    level: float | None = None


def key_of(record: Record) -> Key:
    """Return the key of a record."""
    return Key(record["dataset"], record["method"], record["run"], record["level"])


def run_once(
    data: ComparisonData,
    entrant: Entrant,
    protocol: Protocol,
    run: int,
    sweep: Sweep | None = None,
    level: float | None = None,
    judges: Mapping[str, Any] | None = None,
) -> Record:
    """Let an entrant rank the features of one split, judge the ranking, and record it.

    An entrant that fails leaves a record that says so. In one process one run is made at a time.

    Parameters
    ----------
    data : ComparisonData
    entrant : Entrant
    protocol : Protocol
    run : int
        Number of the split; every entrant has the same one.
    sweep : Sweep, optional
    level : float, optional
        Of the sweep.
    judges : mapping of str to object, optional
        Those of the protocol, made where their classes can be found.

    Returns
    -------
    dict
        What `results` stores. All but ``measured`` is the same wherever it is made.
    """
    split = split_of(data, protocol, run, sweep, level)
    task = disturb(split, data.y, sweep, level, stream(protocol, run, SWEEP_STREAM))
    seed = int(stream(protocol, run, METHOD_STREAM).integers(2**31))
    X, y = data.X[task.rows], data.y[task.rows] if entrant.sees_all_labels else task.y
    key = Key(data.name, entrant.label, run, level)
    record = new_record(key, data, split, y, seed, entrant.parameters)
    measured = record["measured"]
    with recording(record):
        with measuring(measured, "seconds"), measuring_memory(measured):
            order = entrant.order(X, y, seed, protocol.n_top)
        record["top"] = order[: most_kept(protocol)].tolist()
        with measuring(measured, "judge_seconds"):
            whole = entrant.keeps_all_features
            record["curves"] = judge(order, data.X, data.y, split, protocol, seed, whole, judges)
    return record


def new_record(
    key: Key,
    data: ComparisonData,
    split: Split,
    y: NDArray[np.int64],
    seed: int,
    parameters: dict[str, Any],
) -> Record:
    """Return the record of a run that is about to begin, in which `y` is what a method sees."""
    return {
        "dataset": key.dataset,
        "method": key.method,
        "run": key.run,
        "level": key.level,
        "status": "done",
        "error": None,
        "warnings": [],
        "parameters": parameters,
        "random_state": seed,
        "n_features": int(data.X.shape[1]),
        "n_train": len(split.train),
        "n_given": len(y),
        "n_labelled": int((y != UNLABELLED).sum()),
        "n_test": len(split.test),
        "split": split.checksum,
        "top": [],
        "curves": {},
        "versions": versions(),
        "measured": dict.fromkeys(MEASURED),
    }


@contextmanager
def recording(record: Record) -> Iterator[None]:
    """Let a run take place on one thread, and record what went wrong in it and when it ended."""
    with collected_warnings() as caught, one_blas_thread(), one_openmp_thread():
        try:
            yield
        except (Exception, SystemExit) as error:  # some libraries call exit()
            message = "".join(traceback.format_exception_only(error)).strip()
            record |= {"status": "failed", "error": message[:LONGEST_ERROR]}
    record["warnings"] = sorted(message[:LONGEST_ERROR] for message in caught)
    record["measured"]["finished"] = datetime.now(UTC).isoformat(timespec="seconds")


def most_kept(protocol: Protocol) -> int:
    """Return how many of the best features a record keeps."""
    return max(FEWEST_KEPT, protocol.n_top)


def check_splits(data: ComparisonData, protocol: Protocol, sweep: Sweep | None = None) -> None:
    """Refuse a data set that cannot be split as the protocol asks, before anything is run.

    Whether it can does not depend on what is drawn, so one split of each level tells.
    """
    for level in [None] if sweep is None else sweep.levels:
        split_of(data, protocol, 0, sweep, level)


def versions() -> dict[str, str]:
    """Return what the numbers depend on."""
    return {"semisift": __version__, "python": platform.python_version(), **_versions_of_others()}


@cache  # reading them takes 8 ms, a third of a short run
def _versions_of_others() -> dict[str, str]:
    return {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}


def split_of(
    data: ComparisonData,
    protocol: Protocol,
    run: int,
    sweep: Sweep | None = None,
    level: float | None = None,
) -> Split:
    """Draw the split of a run, the same for whoever takes part."""
    here = data.protocol(protocol)
    if sweep is not None and level is not None:
        here = sweep.protocol(here, level)
    try:
        return draw_split(data.y, here, stream(protocol, run, SPLIT_STREAM), data.groups)
    except ValueError as error:
        raise ValueError(f"data set {data.name!r}: {error}") from error


def stream(protocol: Protocol, run: int, number: int) -> np.random.Generator:
    """Return what one part of a run draws from."""
    return np.random.default_rng([protocol.seed, run, number])


@contextmanager
def measuring(measured: dict[str, Any], name: str) -> Iterator[None]:
    """Measure the seconds that the block takes, and keep them by a name."""
    start = time.perf_counter()
    try:
        yield
    finally:
        measured[name] = round(time.perf_counter() - start, 6)


@contextmanager
def measuring_memory(measured: dict[str, Any]) -> Iterator[None]:
    """Measure the peak memory of this process while the block runs, where the system tells it.

    It includes what was there before. Linux alone can forget an earlier peak.
    """
    try:
        Path("/proc/self/clear_refs").write_text("5")
        status = Path("/proc/self/status")
    except OSError:
        status = None
    yield
    if status is None:
        return
    for line in status.read_text().splitlines():
        if line.startswith("VmHWM:"):
            measured["peak_mb"] = round(int(line.split()[1]) / 1024, 1)
