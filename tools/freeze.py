"""Write what semisift computes into a folder, and compare two such folders bit for bit.

    python tools/freeze.py write FOLDER [--only numbers|commands]
    python tools/freeze.py compare OLD NEW

For work on the structure of the code, which must not change a number. `write` fits every ranker and
classifier on six data sets in four forms (dense, sparse, with missing values, on disk), runs the
parts of an assessment, every command on small tables, and the functions for AnnData. `compare` asks
for equal bits of all numbers, and prints how texts (terminal, files, pages) differ.

Names of parameters and attributes that were changed since are looked up in `NAMES`.
"""

import argparse
import difflib
import importlib
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.naive_bayes import GaussianNB

# What an attribute or a parameter was called before, and is called now.
NAMES = {
    "StoredRows": "OutOfCoreMatrix",
    "family_correlation_": "representative_correlation_",
    "label": "predict",
    "represented_by_": "representative_",
    "strangers_": "novel_rows_",
}

# What a value was called before, and is called now.
VALUES = {
    "confirmed": "significant",
    "tentative": "suggestive",
    "unconfirmed": "not significant",
}

FORMS = ("dense", "sparse", "missing", "disk")

# Attributes of fitted rankers and classifiers.
ATTRIBUTES = (
    "scores_",
    "ranking_",
    "score_ranking_",
    "transduction_",
    "confidence_",
    "label_distributions_",
    "represented_by_",
    "family_correlation_",
    "part_rankings_",
    "weights_",
    "stability_",
    "class_scores_",
    "strangers_",
    "decisions_",
)


# Data ---------------------------------------------------------------------------------------------


def few_labels(y, per_class, seed):
    """Return labels of so many rows of each class, -1 elsewhere."""
    rng = np.random.default_rng(seed)
    given = np.full(len(y), -1)
    for label in np.unique(y):
        given[rng.permutation(np.flatnonzero(y == label))[:per_class]] = label
    return given


def data_sets():
    """Return X, y with -1 for unlabelled rows, and the classes of all rows, by name."""
    from sklearn.datasets import load_breast_cancer, load_digits, load_wine

    rng = np.random.default_rng(0)
    sets = {}
    X, y = load_wine(return_X_y=True)
    sets["wine"] = X, y
    X, y = load_breast_cancer(return_X_y=True)
    sets["cancer"] = X[:150], y[:150]
    X, y = load_digits(n_class=3, return_X_y=True)
    sets["digits"] = X[:120], y[:120]
    y = np.arange(120) % 3
    sets["cells"] = rng.poisson(0.4 + 1.5 * (np.arange(90) % 9 == y[:, None])).astype(float), y
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 150)) + np.where(np.arange(150) < 12, 1.5, 0.0) * y[:, None]
    sets["normal"] = X, y
    X = X + rng.normal(size=(80, 3)) @ rng.normal(size=(3, 150))
    sets["factors"] = X, y
    return {name: (X, few_labels(y, 5, 1), y) for name, (X, y) in sets.items()}


def in_form(X, form, folder):
    """Return a table in one of the forms."""
    if form == "sparse":
        return csr_array(X)
    if form == "missing":
        X = X.copy()
        X[np.random.default_rng(2).random(X.shape) < 0.1] = np.nan
        return X
    if form == "disk":
        path = Path(folder) / f"{len(list(Path(folder).iterdir()))}.npy"
        np.save(path, X)
        semisift = importlib.import_module("semisift")
        stored = getattr(semisift, "StoredRows", None) or getattr(semisift, NAMES["StoredRows"])
        return stored(np.load(path, mmap_mode="r"))
    return X


# Numbers ------------------------------------------------------------------------------------------

FAST = {"n_members": 20, "n_bags": 20, "n_subspaces": 6, "n_trees": 20, "n_estimators": 10}


def make(cls, form):
    """Return an estimator that is fitted in a moment; from disk it takes a part of the rows."""
    given = {"estimator": GaussianNB()} if cls.__name__ == "LabelledOnly" else {}
    known = cls(**given).get_params(deep=False)
    chosen = {name: value for name, value in FAST.items() if name in known}
    if "n_features_to_select" in known:
        chosen["n_features_to_select"] = 3
    if "random_state" in known:
        chosen["random_state"] = 0
    if "max_unlabelled" in known and form == "disk":
        chosen["max_unlabelled"] = 40
    return cls(**given, **chosen)


def keep(found, key, estimator):
    """Keep what a fitted estimator found."""
    for name in ATTRIBUTES:
        value = getattr(estimator, name, getattr(estimator, NAMES.get(name, name), None))
        if value is not None:
            found[f"{key}/{name}"] = np.asarray(value)


def try_to(found, key, function, *given):
    """Call a function; where it refuses, keep the kind of the error."""
    try:
        return function(*given)
    except (ValueError, TypeError) as error:
        found[f"{key}/error"] = np.asarray(type(error).__name__)
        return None


def numbers(folder):
    """Return all numbers by name."""
    import semisift

    found = {}
    classifiers = getattr(semisift, "CLASSIFIERS", None) or semisift.LEARNERS
    for data, (X, given, _) in data_sets().items():
        for form in FORMS:
            table = in_form(X, form, folder)
            for name, entry in semisift.METHODS.items():
                key = f"{data}/{form}/{name}"
                fitted = try_to(found, key, make(entry.cls, form).fit, table, given)
                if fitted is not None:
                    keep(found, key, fitted)
            if form == "disk":
                continue
            for name, entry in classifiers.items():
                key = f"{data}/{form}/{name}"
                fitted = try_to(found, key, make(entry.cls, form).fit, table, given)
                if fitted is None:
                    continue
                keep(found, key, fitted)
                rows = table[:40]
                found[f"{key}/predict"] = np.asarray(fitted.predict(rows))
                if hasattr(fitted, "predict_proba"):
                    found[f"{key}/predict_proba"] = fitted.predict_proba(rows)
            print(data, form, len(found), flush=True)
        if data in ("wine", "cells", "normal"):
            assessments(found, data, X, given)
    return found


def assessments(found, data, X, given):
    """Keep what rules, assessments, markers, queries and curves say."""
    from semisift import SSFI, Consensus, FisherScore, SSelect

    batch, groups = np.arange(len(X)) % 2, np.arange(len(X)) // 2
    weights = 1.0 + (np.arange(len(X)) % 3)
    for name, ranker in {
        "consensus": Consensus(n_members=20, random_state=0),
        "fisher": FisherScore(random_state=0, redundancy_threshold=0.7),
        "sselect": SSelect(random_state=0),
    }.items():
        for case, kept in {
            "": {},
            "batch": {"batch": batch},
            "groups": {"groups": groups},
            "weights": {"sample_weight": weights},
        }.items():
            key = f"{data}/assess/{name}/{case}"
            takes = "sample_weight" not in kept or name != "sselect"
            if not takes:
                continue
            fitted = ranker.fit(X, given, **kept)
            keep(found, key, fitted)
            sure = fitted.assess(X, given, n_resamples=6, n_permutations=19, **kept)
            for part in ("rank_interval", "selection_probability", "p_values", "decisions"):
                found[f"{key}/{part}"] = np.asarray(getattr(sure, part))
            found[f"{key}/p_value"] = np.asarray(sure.p_value)
            found[f"{key}/stability"] = np.asarray(sure.stability.value)
            marks = fitted.markers(X, given, **kept)
            found[f"{key}/markers"] = marks.scores
            found[f"{key}/differences"] = marks.differences
        fitted = ranker.fit(X, given)
        found[f"{data}/query/{name}"] = np.asarray(fitted.query(X, given, n=4).rows)
        curve = fitted.learning_curve(X, given, n_more=5)
        found[f"{data}/curve/{name}"] = np.array([curve.now, curve.then], dtype=float)
    for rule in ("shadow", "stability", "knockoff"):
        fitted = FisherScore(n_features_to_select=rule, random_state=0).fit(X, given)
        keep(found, f"{data}/rule/{rule}", fitted)
    fitted = SSFI(n_members=20, variant="paper", random_state=0).fit(X, given)
    keep(found, f"{data}/paper/ssfi", fitted)
    one = np.where(given == 0, 0, -1)
    keep(found, f"{data}/one/consensus", Consensus(n_members=20, random_state=0).fit(X, one))


# Commands -----------------------------------------------------------------------------------------


def write_tables(folder):
    """Write the tables of the commands."""
    sets = data_sets()
    for name in ("wine", "normal", "cells"):
        X, given, y = sets[name]
        heads = [f"feature {j}" for j in range(X.shape[1])]
        for ending, labels in (("", given), ("_true", y)):
            with open(folder / f"{name}{ending}.csv", "w") as file:
                file.write(",".join(["sample", *heads, "class", "batch"]) + "\n")
                for i, row in enumerate(X):
                    label = "" if labels[i] < 0 else f"type {labels[i]}"
                    values = ",".join(f"{value:.10g}" for value in row)
                    file.write(f"s{i},{values},{label},{'ab'[i % 2]}\n")


LABEL = ["--label", "class", "--id", "sample", "--drop", "batch"]

COMMANDS = {
    "help": ["--help"],
    "methods": ["methods"],
    "method": ["methods", "ssfi"],
    "rank": ["rank", "wine.csv", *LABEL, "--out", "rank.csv", "--report", "rank.html"],
    "rank_json": ["rank", "normal.csv", *LABEL, "--out", "rank.json", "--method", "fisher"],
    "rank_batch": ["rank", "wine.csv", "--label", "class", "--id", "sample", "--batch", "batch"],
    "rank_cells": ["rank", "cells.csv", *LABEL, "--top", "5"],
    "select": ["select", "normal.csv", *LABEL, "--top", "4", "--out", "select.csv"],
    "label": ["label", "wine.csv", *LABEL, "--out", "label.csv"],
    "next": ["next", "wine.csv", *LABEL, "-n", "3"],
    "compare": [
        "compare", "wine_true.csv", "normal_true.csv", *LABEL, "--methods", "fisher,laplacian,ssfi",
        "--labels-per-class", "3", "--runs", "3", "--out", "store", "--seed", "1",
    ],
    "report": ["report", "store", "--out", "compare.html", "--markdown", "compare.md"],
    "demo": ["demo"],
    "no_file": ["rank", "nothing.csv", "--label", "class"],
    "no_column": ["rank", "wine.csv", "--label", "clas"],
    "bad_method": ["rank", "wine.csv", *LABEL, "--method", "fischer"],
}  # fmt: skip


def commands(folder, kept):
    """Run each command in a folder, and keep what it prints and writes."""
    write_tables(folder)
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    program = Path(sys.executable).with_name("semisift")
    is_renamed = hasattr(importlib.import_module("semisift"), "OutOfCoreMatrix")
    for name, words in COMMANDS.items():
        before = set(folder.rglob("*"))
        words = [NAMES.get(word, word) if is_renamed else word for word in words]
        done = subprocess.run(
            [program, *words], cwd=folder, env=environment, capture_output=True, text=True
        )
        text = f"exit {done.returncode}\n--- out\n{done.stdout}\n--- err\n{done.stderr}"
        (kept / f"{name}.txt").write_text(tidy(text))
        for path in sorted(set(folder.rglob("*")) - before):
            if path.is_file() and path.suffix in (".csv", ".json", ".html", ".md"):
                target = kept / f"{name}.{'.'.join(path.relative_to(folder).parts)}"
                target.write_text(tidy(path.read_text(encoding="utf-8")))
        print(name, done.returncode, flush=True)


def tidy(text):
    """Take out times, durations and versions."""
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?([+.]\S*)?", "TIME", text)
    text = re.sub(r"\d+(\.\d+)? ?s\b", "N s", text)
    text = re.sub(r'"seconds[a-z_]*": [\d.e-]+', '"seconds": N', text)
    return re.sub(r"/[\w/.-]*?/(site-packages|src)/", "PATH/", text)


def anndata_fields(found):
    """Keep the fields that the functions for AnnData write."""
    import anndata

    from semisift import tl

    X, given, _ = data_sets()["cells"]
    cells = anndata.AnnData(csr_array(X))
    cells.obs["type"] = np.where(given < 0, None, np.char.add("t", given.astype(str)))
    rank = getattr(tl, "rank_features", None) or tl.rank_markers
    rank(cells, "type", random_state=0)
    predict = getattr(tl, "label_cells", None) or tl.predict_labels
    predict(cells, "type")
    for part in ("obs", "var", "uns", "obsm"):
        found[f"anndata/{part}"] = np.asarray(sorted(map(str, getattr(cells, part).keys())))
    for frame in ("obs", "var"):
        table = getattr(cells, frame)
        for column in table.columns:
            values = np.asarray(table[column])
            found[f"anndata/{frame}/{column}"] = (
                values.astype(str) if values.dtype == object else values
            )


# Comparison ---------------------------------------------------------------------------------------


def write(folder, only):
    """Write numbers and texts into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as scratch:
        warnings.simplefilter("ignore")
        if only != "commands":
            found = numbers(scratch)
            anndata_fields(found)
            np.savez_compressed(
                folder / "numbers.npz", **{k.replace("/", "|"): v for k, v in found.items()}
            )
            print(len(found), "arrays")
    if only != "numbers":
        kept = folder / "texts"
        kept.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            commands(Path(scratch), kept)


def same(one, other):
    """Return whether two arrays are the same to the bit."""
    one, other = (each.toarray() if issparse(each) else np.asarray(each) for each in (one, other))
    if one.shape != other.shape or one.dtype.kind != other.dtype.kind:
        return False
    if one.dtype.kind == "f":
        return np.array_equal(one, other, equal_nan=True)
    if one.dtype.kind == "U":
        one = np.array([VALUES.get(value, value) for value in one.ravel().tolist()])
        other = other.ravel()
    return np.array_equal(one, other)


def compare(old, new):
    """Print what differs, and exit with 1 where numbers do."""
    one, other = (np.load(folder / "numbers.npz") for folder in (old, new))
    gone, come = set(one) - set(other), set(other) - set(one)
    different = [key for key in one if key in other and not same(one[key], other[key])]
    for title, keys in (("gone", gone), ("new", come), ("different", different)):
        if keys:
            print(f"{title}: {len(keys)}", *sorted(keys)[:40], sep="\n  ")
    for path in sorted((old / "texts").iterdir()):
        twin = new / "texts" / path.name
        if not twin.exists():
            print("no text", path.name)
            continue
        lines = [each.read_text().splitlines() for each in (path, twin)]
        diff = [*difflib.unified_diff(*lines, path.name, "new", lineterm="", n=0)]
        for line in diff[:60]:
            print(line[:300])
    print(f"{len(one.files)} arrays, {len(different)} different, {len(gone)} gone")
    sys.exit(1 if different or gone else 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["write", "compare"])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--only", choices=["numbers", "commands"])
    options = parser.parse_args()
    if options.action == "write":
        write(options.folders[0], options.only)
    else:
        compare(*options.folders)
