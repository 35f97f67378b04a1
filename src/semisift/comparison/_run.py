"""One run of one method: split, rank, evaluate, and a record of all of it.

No test row reaches a method: it is given the training rows alone, and those labels that the
protocol shows.
"""

import math
import threading
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift.comparison._datasets import ComparisonData
from semisift.comparison._evaluators import evaluate
from semisift.comparison._methods import ComparedMethod
from semisift.comparison._protocol import Protocol
from semisift.comparison._splits import RowSplit, draw_split
from semisift.comparison._sweeps import Sweep, disturb
from semisift.parallel import one_blas_thread, one_openmp_thread
from semisift.utils._labels import UNLABELLED
from semisift.utils._metadata import versions
from semisift.utils._text import join, plural, printable_name, shorten

Record = dict[str, Any]

# Best features that a record keeps at least, for stability and similarity at other sizes.
MIN_KEPT = 50

MAX_ERROR = 2000
MAX_NAME = 40

# With fewer test rows one of them is more than ten points of accuracy: that judges nothing.
MIN_TEST_ROWS = 10

# With fewer, the standard error of an accuracy of 50 % in one run is more than nine points.
SMALL_TEST_ROWS = 30

# What differs from one machine and time to another.
MEASURED = ("seconds", "judge_seconds", "peak_mb")

# Streams of the draws of a run: nothing that one of them draws changes another.
SPLIT_STREAM, SWEEP_STREAM, METHOD_STREAM = range(3)


@dataclass(frozen=True)
class RunKey:
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

    @property
    def cell(self) -> tuple[str, str]:
        """What is left out as a whole where one run is too slow."""
        return self.dataset, self.method


def key_of(record: Record) -> RunKey:
    """Return the key of a record."""
    return RunKey(record["dataset"], record["method"], record["run"], record["level"])


def is_slow(record: Record, max_seconds: float | None) -> bool:
    """Tell whether a ranking took longer than it may."""
    seconds = record["measured"]["seconds"]
    return max_seconds is not None and seconds is not None and seconds > max_seconds


def keys_of(about: Mapping[str, Any]) -> list[RunKey]:
    """Return the keys of all records that there will be, in the order in which they are made.

    Parameters
    ----------
    about : mapping
        What is compared and how, as a store keeps it. Rankings have the levels of the sweep;
        of all else each method has levels of its own.
    """
    runs = range(about["protocol"]["n_runs"])
    if about.get("kind") is not None:
        return [
            RunKey(dataset, method, run, float(level))
            for dataset in about["datasets"]
            for run in runs
            for method, facts in about["methods"].items()
            for level in facts["levels"]
        ]
    levels = [None] if about["sweep"] is None else map(float, about["sweep"]["levels"])
    order = product(about["datasets"], levels, runs, about["methods"])
    return [RunKey(dataset, method, run, level) for dataset, level, run, method in order]


def run_once(
    data: ComparisonData,
    method: ComparedMethod,
    protocol: Protocol,
    run: int,
    sweep: Sweep | None = None,
    level: float | None = None,
    evaluators: Mapping[str, Any] | None = None,
) -> Record:
    """Let a method rank the features of one split, evaluate the ranking, and record it.

    A method that fails leaves a record that says so. In one process one run is made at a time.

    Parameters
    ----------
    data : ComparisonData
    method : ComparedMethod
    protocol : Protocol
    run : int
        Number of the split; every method has the same one.
    sweep : Sweep, optional
    level : float, optional
        Of the sweep.
    evaluators : mapping of str to object, optional
        Those of the protocol, made where their classes can be found.

    Returns
    -------
    dict
        What `results` stores. All but ``measured`` is the same wherever it is made.
    """
    split = split_of(data, protocol, run, sweep, level)
    task = disturb(split, data.y, sweep, level, stream(protocol, run, SWEEP_STREAM))
    seed = int(stream(protocol, run, METHOD_STREAM).integers(2**31))
    X, y = data.X[task.rows], data.y[task.rows] if method.sees_all_labels else task.y
    key = RunKey(data.name, method.label, run, level)
    record = new_record(key, data, split, y, seed, method.parameters)
    measured = record["measured"]
    with recording(record):
        with measuring(measured, "seconds"), measuring_memory(measured):
            order = method.order(X, y, seed, protocol.n_top)
        record["top"] = order[: most_kept(protocol)].tolist()
        with measuring(measured, "judge_seconds"):
            record["curves"] = evaluate(
                *(order, data.X, data.y, split, protocol, seed),
                all_features=method.keeps_all_features,
                evaluators=evaluators,
            )
    return record


def new_record(
    key: RunKey,
    data: ComparisonData,
    split: RowSplit,
    y: NDArray[np.int64],
    seed: int,
    parameters: dict[str, Any],
) -> Record:
    """Return the record of a run that is about to begin, in which `y` is what a method sees."""
    return {
        **asdict(key),
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
            record |= {"status": "failed", "error": message[:MAX_ERROR]}
    record["warnings"] = sorted(message[:MAX_ERROR] for message in caught)
    record["measured"]["finished"] = datetime.now(UTC).isoformat(timespec="seconds")


# Of all threads that make runs in this process.
_lock = threading.Lock()
_listening = ExitStack()
_n_listeners = 0
_this_thread = threading.local()


@contextmanager
def collected_warnings() -> Iterator[set[str]]:
    """Collect the warnings of this thread.

    ``warnings.catch_warnings`` changes the whole process, so runs in several threads would hear
    each other's warnings, and leave filters behind. Here the first of them to come enters it, and
    the last one to go leaves it.

    Yields
    ------
    set of str
        Filled as the block runs.

    Examples
    --------
    >>> with collected_warnings() as caught:
    ...     warnings.warn("few rows", stacklevel=1)
    >>> caught
    {'few rows'}
    """
    global _n_listeners
    with _lock:
        if not _n_listeners:
            _listening.enter_context(warnings.catch_warnings())
            warnings.simplefilter("always")
            warnings.showwarning = _record_warning
        _n_listeners += 1
    caught = _this_thread.caught = set()
    try:
        yield caught
    finally:
        del _this_thread.caught
        with _lock:
            _n_listeners -= 1
            if not _n_listeners:
                _listening.close()


def _record_warning(message: Warning | str, *args: Any, **kwargs: Any) -> None:
    # threads that a method starts have no set of their own: nobody could tell whose they are
    if (caught := getattr(_this_thread, "caught", None)) is not None:
        caught.add(str(message))


def most_kept(protocol: Protocol) -> int:
    """Return how many of the best features a record keeps."""
    return max(MIN_KEPT, protocol.n_top)


def check_splits(data: ComparisonData, protocol: Protocol, sweep: Sweep | None = None) -> int:
    """Refuse a data set that cannot be split and judged as the protocol asks.

    Whether it can be split does not depend on what is drawn, so one split of each level tells;
    how many rows test does where groups are kept together.

    Returns
    -------
    int
        How many labelled rows judge a run, the fewest of all.
    """
    runs = range(1 if data.groups is None else protocol.n_runs)
    levels = [None] if sweep is None else sweep.levels
    splits = (split_of(data, protocol, run, sweep, at) for at, run in product(levels, runs))
    n_test = min(len(split.test) for split in splits)
    if n_test < MIN_TEST_ROWS:
        n_known = int((data.y != UNLABELLED).sum())
        raise ValueError(
            f"data set {data.name!r}: {plural(n_test, 'labelled row')} would judge the methods "
            f"in a run, and a comparison takes at least {MIN_TEST_ROWS}: of {len(data.y):,} rows "
            f"{n_known:,} are labelled. Label more rows, or let a smaller share of them train "
            "(train_size, or --train-size on the command line)."
        )
    return n_test


def doubt(n_test: Mapping[str, int]) -> str:
    """Say on which data sets few labelled rows judge; empty if on none.

    Examples
    --------
    >>> doubt({"wine": 60, "colon": 20}).partition(":")[0], doubt({"wine": 60})
    ('Few labelled rows judge a run on colon (20)', '')
    """
    few = {name: n for name, n in n_test.items() if n < SMALL_TEST_ROWS}
    if not few:
        return ""
    named = join([f"{shorten(printable_name(name), MAX_NAME)} ({n})" for name, n in few.items()])
    error = 100 * math.sqrt(0.25 / min(few.values()))
    return (
        f"Few labelled rows judge a run on {named}: an accuracy has a standard error of up to "
        f"{error:.0f} points there, so that small differences between methods mean little."
    )


def split_of(
    data: ComparisonData,
    protocol: Protocol,
    run: int,
    sweep: Sweep | None = None,
    level: float | None = None,
) -> RowSplit:
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
    except OSError:
        yield
        return
    yield
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            measured["peak_mb"] = round(int(line.split()[1]) / 1024, 1)
