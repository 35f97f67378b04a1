"""The working tree against earlier commits: the same bits, and how much time it takes.

    python benchmarks/versions.py REVISION ... [--repeats 5] [--skip-bits] [--times ssfi ...]

The kernels of all are built with this environment (which needs Cython and setuptools). Every
ranker and classifier that two have is fitted on dense and sparse tables with few labels, and what
it found is compared bit by bit. Then some fits and the start-up are timed, all versions in turn,
each in a process of its own on one thread. The table, in Markdown for docs/results/versions.md, has
the best CPU time of the working tree and, of each earlier commit, its time as a multiple of that.
"""

import argparse
import io
import json
import os
import resource
import subprocess
import sys
import tarfile
import tempfile
import warnings
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parents[1]
FITTED = ("scores_", "ranking_", "transduction_", "labeled_iter_")
# name -> method, rows, columns, labelled rows, parameters
FITS = {
    "ssfi": ("ssfi", 200, 3000, 10, {}),
    "enscls": ("enscls", 200, 3000, 10, {}),
    "consensus": ("consensus", 200, 3000, 10, {}),
    "ssfi, many labels": ("ssfi", 25_000, 400, 24_000, {"n_members": 10}),
    "forest, many labels": ("forest", 25_000, 400, 24_000, {"n_members": 5}),
    "sefr": ("sefr", 300, 8000, 20, {}),
    "mrmr": ("mrmr", 100, 20_000, 100, {"n_features_to_select": 20}),
    "semi-jmi": ("semi-jmi", 8000, 1000, 20, {"n_features_to_select": 50}),
}
TIMED = (*FITS, "import", "help")


def tables():
    """Return dense and sparse tables with some labels."""
    from scipy import sparse
    from sklearn.datasets import load_breast_cancer, load_wine

    for name, load in (("wine", load_wine), ("cancer", load_breast_cancer)):
        X, y = load(return_X_y=True)
        shown = [np.flatnonzero(y == label)[:6] for label in np.unique(y)]
        few = np.full(len(y), -1)
        for rows in shown:
            few[rows] = y[rows]
        yield name, X[::2], few[::2]
    rng = np.random.default_rng(0)
    X = sparse.random_array((120, 90), density=0.2, rng=rng, format="csr")
    yield "sparse", X, np.where(np.arange(120) < 20, np.arange(120) % 2, -1)


def fit_all(path):
    """Fit whatever the version on the path has, and write what it found."""
    from semisift import CLASSIFIERS, METHODS

    found = {}
    for table, X, y in tables():
        for name, entry in {**METHODS, **CLASSIFIERS}.items():
            try:
                own = {"random_state": 0} if "random_state" in entry.cls().get_params() else {}
                fitted = entry.cls(**own).fit(X, y)
            except Exception as error:
                found[f"{table} {name} error"] = np.array(type(error).__name__)
                continue
            for attribute in FITTED:
                if hasattr(fitted, attribute):
                    found[f"{table} {name} {attribute}"] = np.asarray(getattr(fitted, attribute))
            if hasattr(fitted, "predict_proba") and name != "labelled-only":
                found[f"{table} {name} probabilities"] = fitted.predict_proba(X)
    np.savez(path, **found)


def time_one(what):
    """Print the CPU seconds of one thing."""
    if what == "import":
        from semisift import SSFI  # noqa: F401
    elif what == "help":
        from semisift.cli import main

        main(["--help"], standalone_mode=False)
    else:
        from semisift import METHODS

        method, n_rows, n_columns, n_labelled, options = FITS[what]
        rng, rows = np.random.default_rng(0), np.arange(n_rows)
        X, y = rng.normal(size=(n_rows, n_columns)), np.where(rows < n_labelled, rows % 2, -1)
        X[:, :20] += (rows % 2)[:, None] / 2
        # loads what it needs
        METHODS[method].cls(random_state=0).fit(
            X[:40, :50], np.where(rows[:40] < 20, rows[:40] % 2, -1)
        )
        began = cpu_seconds()
        METHODS[method].cls(random_state=0, **options).fit(X, y)
        print(cpu_seconds() - began)
        return
    print(cpu_seconds())


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def run(source, *arguments):
    """Run a part of this script on the version in a folder; return the last line it prints."""
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "--child", *map(str, arguments)],
        env={**os.environ, **one_thread, "PYTHONPATH": str(source / "src")},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return (done.stdout.splitlines() or [""])[-1]


def build(source):
    command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
    subprocess.run(command, cwd=source, check=True, capture_output=True)


def compare_bits(folder, old, new):
    before, after = (folder / f"{side}.npz" for side in ("before", "after"))
    run(old, "fit", before)
    run(new, "fit", after)
    with np.load(before) as earlier, np.load(after) as later:
        shared = earlier.keys() & later.keys()
        changed = [
            key
            for key in sorted(shared)
            if earlier[key].dtype != later[key].dtype
            or earlier[key].tobytes() != later[key].tobytes()
        ]
        print(f"{len(shared)} arrays of both: {len(changed)} differ")
        print(*changed, sep="\n")
        for side, other in ((earlier, later), (later, earlier)):
            if missing := sorted(side.keys() - other.keys()):
                print("in one only:", json.dumps(missing))


def seconds(source, what):
    """Return the CPU seconds of one thing, or infinity where a version does not have it."""
    try:
        return float(run(source, "time", what))
    except subprocess.CalledProcessError:
        return np.inf


def compare_times(sources, repeats, timed):
    """Print a table: the best time of the last version, and the ratios of the others to it."""
    *earlier, now = sources
    print("| | " + " | ".join([*earlier, "now, CPU s"]) + " |")
    print("| --- |" + " --- |" * len(sources))
    for what in timed:
        best = dict.fromkeys(sources, np.inf)
        for _ in range(repeats):
            for name, source in sources.items():
                best[name] = min(best[name], seconds(source, what))
        ratios = [best[name] / best[now] for name in earlier]
        shown = [f"{ratio:.2f}" if np.isfinite(ratio) else "-" for ratio in ratios]
        print(f"| {what} | " + " | ".join([*shown, f"{best[now]:.3f}"]) + " |", flush=True)


def unpack(revision, folder):
    packed = subprocess.run(
        ["git", "archive", revision], cwd=HERE, check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("revisions", nargs="+", metavar="REVISION")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--skip-bits", action="store_true")
    parser.add_argument("--times", action="append", choices=TIMED)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sources = {name: Path(folder) / str(n) for n, name in enumerate(options.revisions)}
        for revision, source in sources.items():
            unpack(revision, source)
        for source in (*sources.values(), HERE):
            build(source)
        if not options.skip_bits:
            for revision, source in sources.items():
                print(f"{revision}: ", end="")
                compare_bits(Path(folder), source, HERE)
        compare_times(sources | {"now": HERE}, options.repeats, options.times or TIMED)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        warnings.simplefilter("ignore")
        {"fit": fit_all, "time": time_one}[sys.argv[2]](sys.argv[3])
    else:
        main()
