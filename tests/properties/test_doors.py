"""The parameters of every public function and of what is no method: taken, or refused by name."""

import inspect
import itertools
import os
import warnings

import numpy as np
import pytest
from matplotlib import pyplot as plt

import semisift
from semisift import FisherScore, OutOfCoreMatrix, Protocol, compare, normalize_counts, read_table
from semisift.io._options import Reading
from tests.commands import write_table
from tests.conftest import make_data
from tests.nightly import daily_are
from tests.properties.fits import check_refusal
from tests.properties.profiles import some
from tests.properties.test_parameters import NONSENSE

DATA = make_data(n_rows=40, n_features=6)
SETS = {"one": (DATA.X, DATA.y_true)}
SHORT = {"n_runs": 1, "sizes": (1,), "judges": ("nb",)}
LITTLE = {"n_resamples": 2, "n_permutations": 2}

VALUES = NONSENSE | {
    "None": None,
    "True": True,
    "False": False,
    "zero": 0,
    "one": 1,
    "minus two": -2,
    "two as a float": 2.0,
    "the largest": float(np.finfo(float).max),
    "a tuple": (1, 2),
    "None in a list": [None],
    "a lone surrogate": "\ud83d",
}

# What is not tried: rows and labels (test_refusals), and what stands in no message by this name.
OTHERS = {"self", "X", "y", "adata", "methods", "datasets", "of_rows", "params", "ax"}

# What goes wrong in a function of the user is theirs.
CALLED = {"on_record", "progress"}


@pytest.fixture(scope="module")
def fitted():
    return FisherScore().fit(DATA.X, DATA.y)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_table(tmp_path_factory.mktemp("doors")) / "table.csv"


def cells():
    anndata = pytest.importorskip("anndata")
    made = anndata.AnnData(np.abs(DATA.X))
    made.obs["kind"] = [None if code < 0 else "AB"[code] for code in DATA.y]
    return made


def ranked():
    made = cells()
    semisift.tl.rank_markers(made, "kind", method="fisher", normalize=False)
    return made


def call(door, fitted, table, folder, **given):
    """Go through a door with one parameter, and all else as it has to be."""
    if door == "Protocol":
        return compare("variance", SETS, Protocol(**SHORT | given))
    if door == "compare":
        return compare("variance", SETS, **{"protocol": Protocol(**SHORT)} | given)
    if door == "OutOfCoreMatrix":
        np.save(folder / "rows.npy", DATA.X)
        rows = np.load(folder / "rows.npy", mmap_mode="r")
        return FisherScore().fit(OutOfCoreMatrix(rows, **given), DATA.y)
    if door == "read_table":
        return read_table(**{"path": table, "label": "label", "id": "id"} | given)
    if door == "normalize_counts":
        return normalize_counts(np.abs(DATA.X).round(), **given)
    if door in TL:
        adata = ranked() if door == "assess cells" else cells()
        beside = LITTLE if door == "assess cells" else {"labels_key": "kind", "normalize": False}
        return TL[door](adata, **beside | given)
    beside = {"path": folder / "page.html"} if door == "report" else {}
    rows = () if door in ("to_frame", "plot_scores") else (DATA.X, DATA.y)
    beside |= LITTLE if door == "assess" else {}
    if rows:
        beside |= dict(zip(("X", "y"), rows, strict=True))
    return getattr(fitted, door)(**beside | given)


TL = {
    "rank cells": semisift.tl.rank_markers,
    "mark cells": semisift.tl.markers,
    "label cells": semisift.tl.predict_labels,
    "assess cells": semisift.tl.assess,
}
METHODS_OF_A_RANKER = (
    "assess",
    "query",
    "markers",
    "learning_curve",
    "report",
    "to_frame",
    "plot_scores",
)
DOORS = {
    "Protocol": Protocol,
    "compare": compare,
    "OutOfCoreMatrix": OutOfCoreMatrix,
    "read_table": read_table,
    "normalize_counts": normalize_counts,
    **{name: getattr(FisherScore, name) for name in METHODS_OF_A_RANKER},
    **TL,
}
PARAMETERS = [
    (door, parameter)
    for door, function in DOORS.items()
    for parameter in inspect.signature(function).parameters
    if parameter not in OTHERS
]

# Told by what they mean: a judge, a folder and a file by its name, an amount of memory.
OTHER_WORDS = ("there is no judge", "there is no such file", "holds no comparison", "Allow more")
OTHER_WORDS += ("no row is left", "labelled row would judge", "has no column of", "holds words")


@pytest.mark.parametrize(("door", "parameter"), daily_are(PARAMETERS[::3], PARAMETERS))
def test_nonsense_is_taken_or_refused_by_name(
    door, parameter, fitted, table, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)  # what is taken for a name of a file
    is_called = parameter in CALLED
    tried = [words for words in sorted(VALUES) if not (is_called and callable(VALUES[words]))]
    for words in some(tried, f"{door} {parameter}", 4):
        refusal = refused(door, fitted, table, tmp_path, **{parameter: VALUES[words]})
        if refusal is not None:
            message = str(refusal)
            assert parameter in message or any(each in message for each in OTHER_WORDS), (
                words,
                message,
            )
    plt.close("all")


def refused(door, fitted, table, folder, **given):
    """Return the error of a door, which has to be one of ours, or None."""
    try:
        with warnings.catch_warnings(action="ignore"):
            call(door, fitted, table, folder, **given)
    except OSError:  # of a path that is none for the system
        return None
    except (ValueError, TypeError) as error:
        check_refusal(error)
        return error
    return None


# --- what once went wrong -------------------------------------------------------------------------

KEPT = [
    # errors of others, or of no use: no such attribute, not callable, ambiguous truth
    ("Protocol", "n_runs", 10**30),
    ("OutOfCoreMatrix", "feature_names", "abcdef"),
    ("OutOfCoreMatrix", "feature_names", {1, 2}),
    ("OutOfCoreMatrix", "cache_dir", 3),
    ("OutOfCoreMatrix", "progress", "bar"),
    ("assess", "n_resamples", 10**30),
    ("compare", "max_seconds", "long"),
    ("compare", "n_jobs", "many"),
    ("compare", "on_record", "print"),
    ("compare", "out", 3),
    ("compare", "sweep", 0.5),
    ("plot_scores", "n_names", -1),
    ("plot_scores", "top", 2.5),
    ("rank cells", "mask_var", [["a", ["b"]], [1]]),
    ("rank cells", "method", ["ssfi"]),
    ("read_table", "drop", 1j),
    ("read_table", "encoding", "\0"),
    ("read_table", "labels_per_class", "three"),
    # taken for True
    ("compare", "resume", "no"),
    ("learning_curve", "fast", "no"),
    ("read_table", "header", "no"),
    ("read_table", "log", "False"),
    ("read_table", "transpose", "False"),
    ("report", "by_class", "no"),
    # taken for names of columns and files
    ("read_table", "category", [None]),
    ("read_table", "label", 1.5),
    ("read_table", "must_link", 3),
    ("read_table", "seed", float("nan")),
]


@pytest.mark.parametrize(("door", "parameter", "value"), KEPT)
def test_what_once_went_wrong(door, parameter, value, fitted, table, tmp_path):
    refusal = refused(door, fitted, table, tmp_path, **{parameter: value})
    assert parameter in str(refusal)


def test_values_that_python_users_give_are_taken(table):
    """Numbers of columns, one value or several, of numpy as well."""
    given = {"label": np.int64(-1), "id": 10, "drop": np.array(["x0"]), "na": 3}
    given |= {"transpose": np.False_, "seed": np.uint8(3), "unlabelled": "unknown"}
    taken = Reading.of(**given)
    assert (taken.label, taken.id, taken.drop, taken.na) == ("-1", "10", ("x0",), ("3",))
    assert taken.unlabelled == ("unknown",)
    several = Reading.of(drop=itertools.chain("a", [2]), labels=os.fspath(table))
    assert several.drop == ("a", "2")
