"""How the time of every method grows with rows, columns, labelled rows and classes.

    python benchmarks/growth.py [--methods ssfi,sefr] [--seconds 6] [--out docs/growth.md]

From a table of 400 unlabelled rows and 400 columns with two classes and ten labels of each, one of
four things is doubled until a fit takes a third of `--seconds` or the largest size is reached: the
unlabelled rows, the columns, the labelled rows, the classes (with ten labels of each). Times are
CPU seconds of `fit` on one thread, the least of three where they are short. The exponent is the
slope of log time over the last three sizes: 1 is linear, 2 quadratic. Where a fit takes a few
hundredths of a second, much of it is not yet the method, and the exponent says little.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from semisift import METHODS

ROWS, COLUMNS, PER_CLASS, CLASSES = 400, 400, 10, 2
# What is doubled -> the largest size.
LARGEST = {"rows": 51_200, "columns": 25_600, "labelled": 25_600, "classes": 32}
START = {"rows": ROWS, "columns": COLUMNS, "labelled": PER_CLASS * CLASSES, "classes": CLASSES}
SHORT = 0.3

NOTES = {
    "rows": "unlabelled rows",
    "columns": "columns",
    "labelled": "labelled rows",
    "classes": "classes",
}


def make(rows, columns, labelled, classes):
    """Return a table whose first 20 columns tell the classes, the labelled rows first."""
    rng = np.random.default_rng(0)
    truth = np.arange(labelled + rows) % classes
    X = rng.normal(size=(len(truth), columns))
    X[:, :20] += rng.normal(size=(classes, 20))[truth]
    y = truth.copy()
    y[labelled:] = -1
    return X, y


def sizes(what, size):
    """Return rows, columns, labelled rows and classes where one of them has some size."""
    all_ = {"rows": ROWS, "columns": COLUMNS, "labelled": PER_CLASS * CLASSES, "classes": CLASSES}
    all_[what] = size
    if what == "classes":
        all_["labelled"] = PER_CLASS * size
    return all_


def seconds(name, X, y, at_most):
    """Return the CPU seconds of a fit, the least of three where they are few."""
    taken = []
    while not taken or (len(taken) < 3 and taken[0] < min(SHORT, at_most)):
        began = time.process_time()
        METHODS[name].cls().fit(X, y)
        taken.append(time.process_time() - began)
    return min(taken)


def measure(name, what, at_most):
    """Double one size until it takes long; return the exponent, the last size and its seconds."""
    size, tried, times = START[what], [], []
    while size <= LARGEST[what]:
        X, y = make(**sizes(what, size))
        tried.append(size)
        times.append(seconds(name, X, y, at_most))
        if times[-1] > at_most / 3:
            break
        size *= 2
    if len(times) < 2:
        return np.nan, tried[-1], times[-1]
    slope = np.polyfit(np.log(tried[-3:]), np.log(times[-3:]), 1)[0]
    return slope, tried[-1], times[-1]


def cell(slope, size, taken):
    power = "-" if np.isnan(slope) else f"{max(slope, 0):.1f}"
    return f"{power} ({taken:.2g} s at {size:,})"


def describe(command, at_most):
    return f"""# How the time of each method grows

`{command}` starts with {ROWS} unlabelled rows,
{COLUMNS} columns, {CLASSES} classes and {PER_CLASS} labels of each, and doubles one of them
until a fit takes longer than {at_most / 3:.2g} s. Each cell has the exponent over the last three
sizes (1: linear, 2: quadratic) and, in brackets, the CPU seconds of `fit` at the last size, on one
thread. Exponents of fits of a few hundredths of a second say little. A dash: the first size took
longer already.

"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    command = f"python benchmarks/growth.py --seconds {arguments.seconds:g} --out docs/growth.md"
    lines = [
        "| method | " + " | ".join(NOTES[what] for what in LARGEST) + " |",
        "| --- |" + " --- |" * len(LARGEST),
    ]
    print(*lines, sep="\n", flush=True)
    with threadpool_limits(1):
        METHODS["fisher"].cls().fit(*make(**sizes("rows", 50)))  # loads what all of them need
        for name in arguments.methods.split(","):
            METHODS[name].cls().fit(*make(40, 30, 20, 2))
            cells = [cell(*measure(name, what, arguments.seconds)) for what in LARGEST]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    if arguments.out:
        head = describe(command, arguments.seconds)
        notes = arguments.out.read_text().partition("\n## ")[2] if arguments.out.exists() else ""
        tail = f"\n## {notes}" if notes else ""
        arguments.out.write_text(head + "\n".join(lines) + "\n" + tail)


if __name__ == "__main__":
    main()
