"""Let semisift work for hours on random tables, and look whether anything gives way.

    python tools/soak.py --hours 1 [--seed 0] [--log soak.jsonl]
    python tools/soak.py --turn 1234          # one turn again, with its traceback

A turn draws a table and labels from its number (odd shapes, orders, dtypes, sparse forms, missing
values, copies, extreme values) and does one of these:

- fit: a ranker twice, and again with other threads and in another form, sparse ones among them: the
  ranking is one, and scores are equal to the bit.
- use: what a fitted ranker is asked for: how sure it is, rows to label next, markers, pages.
- learn: a classifier; its labels are of the classes, and the same again.
- command: `rank`, `select`, `label` or `next` on a file of a random format, with random options: it
  ends well or with a message, what it wrote is whole, and no draft stays.
- stop: such a command or `compare`, killed or terminated at a random moment: nothing is half
  written, and `compare --resume` then has the records of a run that was not stopped.

What a table cannot be used for has to be refused with ValueError or TypeError (Python) or exit
status 1 or 2 and a message (command line). Every turn adds a line to the log: its number, what it
did, seconds, resident memory, and what was wrong. At the end: turns by kind, failures, and the
growth of memory over the second half. Exit status 1 if a turn failed or memory grew.
"""

import argparse
import collections
import gc
import inspect
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.naive_bayes import GaussianNB

from semisift import CLASSIFIERS, METHODS

MAX_GROWTH = 64  # MB over the second half
CHECK_EVERY = 10  # turns between two looks at the memory
AT_MOST = 300  # seconds of a command
MIN_MEMBERS = 20
RUNS = 20  # of each of two methods, in a comparison that is stopped

FORMATS = ("csv", "tsv", "parquet", "npz", "csv.gz")
OUTPUTS = ("csv", "tsv", "parquet", "json")
COMMANDS = ("rank", "select", "label", "next")
SEARCHES = {"sffs", "fw-semifs", "en-semifs"}  # take minutes where they are asked many times
STOPS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


class WrongError(Exception):
    """Something that must hold does not."""


def check(holds, what):
    """Fail the turn where something does not hold."""
    if not holds:
        raise WrongError(what)


# --- what is drawn --------------------------------------------------------------------------------


def draw_table(rng):
    """Return rows and labels: mostly ordinary, each with some oddity."""
    n_rows = int(rng.choice([1, 2, 5, 20, 60, 150], p=[0.03, 0.03, 0.14, 0.3, 0.3, 0.2]))
    n_columns = int(rng.choice([1, 2, 7, 40, 120], p=[0.05, 0.1, 0.25, 0.35, 0.25]))
    n_classes = int(rng.choice([1, 2, 3, 8], p=[0.05, 0.55, 0.3, 0.1]))
    truth = rng.integers(0, n_classes, n_rows)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, : max(1, n_columns // 4)] += truth[:, None]
    oddity = rng.choice(["none", "counts", "constant", "copies", "scale", "tiny", "gaps", "ties"])
    if oddity == "counts":
        X = rng.poisson(np.exp(X.clip(-3, 3))).astype(float)
    elif oddity == "constant":
        X[:, rng.random(n_columns) < 0.4] = 3.0
    elif oddity == "copies":
        X = X[:, rng.integers(0, n_columns, n_columns)]
    elif oddity == "scale":
        X *= 10.0 ** rng.integers(-150, 150, n_columns)
    elif oddity == "tiny":
        X *= 5e-324 if rng.random() < 0.5 else 1e-300
    elif oddity == "gaps":
        X[rng.random(X.shape) < 0.2] = np.nan
    elif oddity == "ties":
        X = np.round(X)
    y = truth.copy()
    y[rng.random(n_rows) < rng.choice([0.0, 0.5, 0.8, 0.95])] = -1
    return X, y


def draw_form(rng, X):
    """Return the same values in another form."""
    form = rng.choice(["C", "F", "strided", "read-only", "float32", "csr", "csc", "coo"])
    if form == "F":
        return np.asfortranarray(X)
    if form == "strided":
        wide = np.full((X.shape[0] * 2, X.shape[1] * 3), np.nan)
        wide[::2, ::3] = X
        return wide[::2, ::3]
    if form == "read-only":
        X = X.copy()
        X.flags.writeable = False
        return X
    if form == "float32":
        with np.errstate(over="ignore", under="ignore"):
            narrow = X.astype(np.float32)
        return narrow if np.array_equal(X, narrow, equal_nan=True) else X
    if form in ("csr", "csc", "coo"):
        return getattr(sparse, f"{form}_array")(X)
    return X


def draw_parameters(rng, cls):
    """Return settings that keep a turn short."""
    known = inspect.signature(cls).parameters
    drawn = {"random_state": int(rng.integers(0, 1000)), "n_members": MIN_MEMBERS, "max_iter": 5}
    if "n_features_to_select" in known and rng.random() < 0.5:
        drawn["n_features_to_select"] = float(rng.uniform(0.05, 1))
    return {name: value for name, value in drawn.items() if name in known}


# --- turns ----------------------------------------------------------------------------------------


def fit_or_reject(make, X, y):
    """Return a fitted estimator, or the error that refuses the table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return make().fit(X, y), None
        except (ValueError, TypeError) as error:
            check(str(error).strip(), "an error without a word")
            return None, str(error)


def same_outcome(first, second, what):
    """Fail where two fits differ, or one was refused and the other not."""
    (one, refusal), (other, other_refusal) = first, second
    check((one is None) == (other is None), f"{what}: {refusal} | {other_refusal}")
    if one is None:
        return
    equal = np.array_equal(one.scores_, other.scores_, equal_nan=True)
    check(equal, f"{what}: other scores")


def turn_fit(rng, folder):
    """Rank with a method, and again in other ways that must not matter."""
    name = str(rng.choice(sorted(METHODS)))
    cls = METHODS[name].cls
    X, y = draw_table(rng)
    parameters = draw_parameters(rng, cls)

    def make(**more):
        return cls(**parameters, **more)

    first = fit_or_reject(make, X, y)
    ranker = first[0]
    if ranker is not None:
        ranking = np.sort(ranker.ranking_)
        check(np.array_equal(ranking, np.arange(1, X.shape[1] + 1)), "no ranking of all columns")
    same_outcome(first, fit_or_reject(make, X, y), "again")
    if "n_jobs" in inspect.signature(cls).parameters:
        same_outcome(first, fit_or_reject(lambda: make(n_jobs=2), X, y), "n_jobs=2")
    form = draw_form(rng, X)
    formed = fit_or_reject(make, form, y)
    if not (
        sparse.issparse(form) and np.isnan(X).any()
    ):  # missing values in sparse rows are refused
        same_outcome(first, formed, f"the same rows as {type(form).__name__}")
    return name if ranker is not None else f"{name}, refused: {first[1][:200]}"


def turn_use(rng, folder):
    """Ask a fitted ranker for whatever follows from a ranking."""
    name = str(rng.choice(sorted(set(METHODS) - SEARCHES)))
    X, y = draw_table(rng)
    X = draw_form(rng, X)
    cls = METHODS[name].cls
    parameters = draw_parameters(rng, cls)
    ranker, refusal = fit_or_reject(lambda: cls(**parameters), X, y)
    if ranker is None:
        return f"{name}, refused: {refusal[:200]}"
    page = folder / "page.html"
    light = bool(rng.random() < 0.5)
    uses = {
        "assess": lambda: ranker.assess(X, y, n_resamples=4, n_permutations=4, light=light),
        "query": lambda: ranker.query(X, y, n=3),
        "markers": lambda: ranker.markers(X, y),
        "learning_curve": lambda: ranker.learning_curve(X, y, n_more=3),
        "report": lambda: ranker.report(page, X, y, by_class=bool(rng.random() < 0.3)),
        "to_frame": lambda: [ranker.to_frame(output) for output in ("polars", "pandas")],
        "transform": lambda: ranker.transform(X),
    }
    chosen = str(rng.choice([*uses]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = uses[chosen]()
        except (ValueError, TypeError) as error:
            check(str(error).strip(), "an error without a word")
            return f"{name}, {chosen}, refused: {str(error)[:200]}"
    check(repr(found), "nothing to show")
    check(page.exists() == (chosen == "report"), "no page, or one that nobody asked for")
    check(not [*folder.glob(".semisift-*")], "a draft stayed")
    return f"{name}, {chosen}"


def turn_learn(rng, folder):
    """Learn with a classifier, twice."""
    name = str(rng.choice(sorted(CLASSIFIERS)))
    cls = CLASSIFIERS[name].cls
    X, y = draw_table(rng)
    parameters = draw_parameters(rng, cls)
    if name == "labelled-only":  # it has no default
        parameters["estimator"] = GaussianNB()
    first, refusal = fit_or_reject(lambda: cls(**parameters), X, y)
    second, _ = fit_or_reject(lambda: cls(**parameters), X, y)
    check((first is None) == (second is None), "refused once")
    if first is None:
        return f"{name}, refused: {refusal[:200]}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels, again = first.predict(X), second.predict(X)
    check(set(labels) <= set(first.classes_), "a label of no class")
    check(np.array_equal(labels, again), "other labels the second time")
    return name


def write_table(rng, folder, X, y):
    """Write a table in a random format; return its path."""
    ending = str(rng.choice(FORMATS))
    path = folder / f"table.{ending}"
    labels = [None if label == -1 else f"class {label}" for label in y]
    if ending == "npz":
        np.savez(path, X=X, y=np.array(["" if each is None else each for each in labels]))
        return path
    frame = pl.DataFrame({f"v{j}": X[:, j] for j in range(X.shape[1])}).fill_nan(None)
    frame = frame.with_columns(pl.Series("label", labels, dtype=pl.String))
    if ending == "parquet":
        frame.write_parquet(path)
    elif ending == "csv.gz":
        import gzip

        with gzip.open(path, "wb") as file:
            frame.write_csv(file)
    else:
        frame.write_csv(path, separator="\t" if ending == "tsv" else ",")
    return path


def draw_command(rng, folder):
    """Return a command with the file that it writes."""
    X, y = draw_table(rng)
    table = write_table(rng, folder, X, y)
    name = str(rng.choice(COMMANDS))
    ending = table.name.removeprefix("table.") if name == "select" else rng.choice(OUTPUTS)
    out = folder / f"out.{ending}"
    command = [name, str(table), "--out", str(out)]
    if table.suffix != ".npz":
        command += ["--label", "label"]
    if name in ("rank", "select") and rng.random() < 0.7:
        command += ["--method", str(rng.choice(sorted(METHODS)))]
    if name == "select":
        command += ["--top", str(int(rng.integers(1, X.shape[1] + 1)))]
    if rng.random() < 0.3:
        command += ["--seed", str(int(rng.integers(0, 100)))]
    return command, out


def start(command):
    """Start a command in a process of its own."""
    line = [sys.executable, "-m", "semisift", *command]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process):
    """Wait for a command; fail where it broke."""
    try:
        _, output = process.communicate(timeout=AT_MOST)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise WrongError(f"took longer than {AT_MOST} s") from None
    # before Python has come to the command, Ctrl-C is Python's own
    is_early = "KeyboardInterrupt" in output and "semisift" not in output
    check("Traceback" not in output or is_early, f"a traceback: {output[-2000:]}")
    return process.returncode, output


def check_whole(path):
    """Fail where a file can not be read as what its name says."""
    ending = path.suffix
    if ending == ".json":
        json.loads(path.read_text(encoding="utf-8"))
    elif ending == ".parquet":
        pl.read_parquet(path)
    elif ending == ".npz":
        with np.load(path) as arrays:
            for name in arrays:
                arrays[name]
    else:
        pl.read_csv(
            path,
            separator="\t" if ending == ".tsv" else ",",
            infer_schema=False,
            comment_prefix="#",
        )


def turn_command(rng, folder):
    """Run a command to its end."""
    command, out = draw_command(rng, folder)
    status, output = finish(start(command))
    check(status in (0, 1, 2), f"exit status {status}")
    check(out.exists() == (status == 0), f"exit status {status}, and a file: {out.exists()}")
    if status == 0:
        check_whole(out)
    else:
        check(output.strip(), "refused without a word")
    check(not [*folder.glob(".semisift-*")], "a draft stayed")
    return command[0] if status == 0 else f"{command[0]}, refused: {output.strip()[-200:]}"


def turn_stop(rng, folder):
    """Stop a command at a random moment, and look at what it left."""
    by = STOPS[rng.integers(len(STOPS))]
    if rng.random() < 0.3:
        return stop_comparison(rng, folder, by)
    command, out = draw_command(rng, folder)
    stopped(start(command), rng, by)
    if out.exists():
        check_whole(out)
    if by != signal.SIGKILL:
        check(not [*folder.glob(".semisift-*")], "a draft stayed")
    return f"{command[0]}, {by.name}"


def stopped(process, rng, by, at_work=None):
    """Send a signal after a while, or soon after a path is there, and wait for the end."""
    while at_work is not None and not at_work.exists() and process.poll() is None:
        time.sleep(0.05)
    time.sleep(float(rng.uniform(0.2, 6) if at_work is None else rng.uniform(0, 2)))
    process.send_signal(by)
    status, _ = finish(process)
    check(status in (0, 1, 2, 130, 143, -by), f"exit status {status} after {by.name}")


def stop_comparison(rng, folder, by):
    """Stop a comparison, resume it, and compare its records with those of one that ran through."""
    rows = np.random.default_rng(7).normal(size=(40, 12))
    truth = np.arange(40) % 2
    rows[:, :3] += 2 * truth[:, None]
    table = folder / "whole.csv"
    frame = pl.DataFrame({f"v{j}": rows[:, j] for j in range(12)})
    frame.with_columns(pl.Series("label", truth)).write_csv(table)

    def command(store):
        more = ["--methods", "fisher,ssfi", "--runs", str(RUNS), "--out", str(folder / store)]
        return ["compare", str(table), "--label", "label", *more]

    stopped(start(command("stopped")), rng, by, at_work=folder / "stopped")
    n_before = len(figures(folder / "stopped"))
    status, output = finish(start([*command("stopped"), "--resume"]))
    check(status == 0, f"not resumed: {output[-500:]}")
    status, output = finish(start(command("straight")))
    check(status == 0, f"not run: {output[-500:]}")
    expected = figures(folder / "straight")
    check(len(expected) == 2 * RUNS, f"{len(expected)} records")
    check(figures(folder / "stopped") == expected, "other records after a stop")
    return f"compare, {by.name} after {n_before} records"


def figures(store):
    """Return the records of a comparison by their names, without what depends on the clock."""
    found = {}
    for path in sorted((store / "records").rglob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        del record["measured"]
        found[str(path.relative_to(store))] = record
    return found


TURNS = {
    "fit": (turn_fit, 0.5),
    "use": (turn_use, 0.1),
    "learn": (turn_learn, 0.2),
    "command": (turn_command, 0.15),
    "stop": (turn_stop, 0.05),
}


def take_turn(number):
    """Do what a number represents; return what it was, and what was wrong."""
    rng = np.random.default_rng(number)
    kind = str(rng.choice([*TURNS], p=[share for _, share in TURNS.values()]))
    with tempfile.TemporaryDirectory(prefix="soak") as folder:
        try:
            return kind, TURNS[kind][0](rng, Path(folder)), None
        except Exception:  # whatever it is, it is what is looked for
            return kind, "failed", traceback.format_exc()


# --- the hours ------------------------------------------------------------------------------------


def resident():
    """Return the resident memory in MB."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:  # not Linux: the peak
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def soak(hours, seed, log):
    """Take turns until the time is over; return whether all is well."""
    began, number = time.time(), seed * 10_000_000
    kinds, failures, memory = collections.Counter(), [], []
    with log.open("a", encoding="utf-8") as file:
        while time.time() - began < hours * 3600:
            since = time.time()
            kind, what, wrong = take_turn(number)
            kinds[kind] += 1
            if wrong:
                failures.append(number)
                print(f"turn {number} failed: {wrong}", file=sys.stderr)
            if sum(kinds.values()) % CHECK_EVERY == 0:
                gc.collect()
                memory.append(resident())
            line = {"turn": number, "kind": kind, "what": what, "wrong": wrong}
            line |= {"seconds": round(time.time() - since, 2), "MB": round(resident())}
            file.write(json.dumps(line) + "\n")
            file.flush()
            number += 1
    late = memory[len(memory) // 2 :] or [resident()]
    growth = np.median(late[len(late) // 2 :]) - np.median(late[: len(late) // 2 + 1])
    done = ", ".join(f"{n:,} {kind}" for kind, n in kinds.items())
    print(f"{(time.time() - began) / 3600:.2f} hours, {sum(kinds.values()):,} turns: {done}")
    print(f"failed: {len(failures)} {failures[:20]}")
    print(f"memory: {late[-1]:.0f} MB, {growth:+.1f} MB over the second half")
    return not failures and growth < MAX_GROWTH


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", type=Path, default=Path("soak.jsonl"))
    parser.add_argument("--turn", type=int, help="do one turn again")
    options = parser.parse_args()
    if options.turn is not None:
        kind, what, wrong = take_turn(options.turn)
        print(f"{kind}: {what}\n{wrong or 'nothing wrong'}")
        sys.exit(wrong is not None)
    sys.exit(not soak(options.hours, options.seed, options.log))


if __name__ == "__main__":
    main()
