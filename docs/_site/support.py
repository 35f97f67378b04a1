"""The array-support table: what each method takes, tried on a small table at build time."""

import inspect
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.tree import DecisionTreeClassifier

from _site.files import table, write
from semisift import CLASSIFIERS, METHODS

N_ROWS, N_COLUMNS = 40, 6
NEEDED = {"labelled-only": {"estimator": DecisionTreeClassifier()}}  # what has no default

COLUMNS = {
    "dense": "a numpy array",
    "sparse": "a scipy sparse matrix",
    "frame": "a pandas or polars frame",
    "NaN": "missing values, as they are",
    "memmap": "a memory map",
    "dask": "a dask array",
    "groups": "rows that belong together",
    "batches": "batches of rows",
    "weights": "rows that count more or less",
    "pairs": "pairs of rows instead of labels",
    "one class": "labels of one class alone",
    "no labels": "no label at all",
}


def make(docs: Path) -> None:
    """Write the table."""
    write(docs / "api" / "array-support.md", _page())


def _page() -> str:
    found = tried()
    head = ["method", *COLUMNS]
    sections = []
    for title, entries in (("Rankers", METHODS), ("Classifiers", CLASSIFIERS)):
        rows = [
            [f"[{name}](../methods/{name}.md)", *(found[name][column] for column in COLUMNS)]
            for name in entries
        ]
        sections.append(f"## {title}\n\n:::{{div}} support\n\n{table(head, rows)}\n\n:::")
    legend = table(
        ["column", "what it is"], [[f"**{name}**", words] for name, words in COLUMNS.items()]
    )
    return (
        "# What each method accepts\n\n"
        "Every cell was tried while this page was built: ✓ means that a fit went "
        "through, a dot that the "
        "method has no such parameter or refused with an error that says what to do.\n\n"
        f"{legend}\n\n"
        "[Large tables](../scale.md#what-is-exact-and-what-is-sampled) lists which methods use all "
        "rows of a table that does not fit into memory, and which a sample. "
        "[Formats](../formats.md) describes the files.\n\n" + "\n\n".join(sections)
    )


def tried() -> dict[str, dict[str, str]]:
    """Return what each method takes: a tick or a dash by method and column."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ways = dict(_ways(Path(folder)))
        found: dict[str, dict[str, str]] = {}
        for name, entry in {**METHODS, **CLASSIFIERS}.items():
            new = partial(entry.cls, **NEEDED.get(name, {}))
            takes = {way: _goes(fit, new) for way, fit in ways.items()}
            found[name] = {column: "✓" if takes[column] else "·" for column in COLUMNS}
    return found


def _goes(fit: Callable[[Any], object], new: Any) -> bool:
    try:
        fit(new)
    except (TypeError, ValueError, NotImplementedError):
        return False
    return True


def _ways(folder: Path) -> Iterator[tuple[str, Callable[[Any], object]]]:
    """Yield each column with a fit that succeeds where the method takes it."""
    import dask.array
    import polars as pl

    rng = np.random.default_rng(0)
    truth = np.arange(N_ROWS) % 2
    X = np.abs(rng.normal(size=(N_ROWS, N_COLUMNS))) + truth[:, None] * [2, 1, 0, 0, 0, 0]
    y = np.where(np.arange(N_ROWS) < 16, truth, -1)
    with_missing = X.copy()
    with_missing[3, 2] = with_missing[30, 4] = np.nan
    np.save(folder / "X.npy", X)
    stored = np.load(folder / "X.npy", mmap_mode="r")
    chunks = dask.array.from_array(X, chunks=(10, N_COLUMNS))
    numbers = np.arange(N_ROWS)
    pairs = {"must_link": [[20, 22], [21, 23]], "cannot_link": [[20, 21], [22, 23]]}
    nothing = np.full(N_ROWS, -1)

    def has(new: Any, name: str) -> bool:
        if name not in inspect.signature(new.func.fit).parameters:
            raise TypeError(name)
        return True

    yield "dense", lambda new: new().fit(X, y)
    yield "sparse", lambda new: new().fit(csr_array(X * (X > 1)), y)
    yield "frame", lambda new: new().fit(pl.DataFrame(X), y)
    yield "NaN", lambda new: new().fit(with_missing, y)
    yield "memmap", lambda new: new().fit(stored, y)
    yield "dask", lambda new: new().fit(chunks, y)
    yield "groups", lambda new: has(new, "groups") and new().fit(X, y, groups=numbers // 2 % 10)
    yield "batches", lambda new: has(new, "batch") and new().fit(X, y, batch=numbers // 2 % 2)
    yield (
        "weights",
        lambda new: has(new, "sample_weight") and new().fit(X, y, sample_weight=1.0 + numbers % 2),
    )
    yield "pairs", lambda new: has(new, "must_link") and new().fit(X, nothing, **pairs)
    yield "one class", lambda new: new().fit(X, np.where(y == 1, 1, -1))
    yield "no labels", lambda new: new().fit(X, nothing)
