"""How fast SSFI and SEFR are: races against scikit-learn in one process and one thread.

    python benchmarks/ssfi.py [--part race] [--part growth] ... [--sets colon,madelon]

Parts, all by default: race (CPU seconds and ratios), threads, memory, growth, start-up, sefr,
self-training (what SEFR takes more than SSFI), text, no-kernels, missing values.
The opponents of the race (SSFI and b: the least of three runs; the others: one run):
  a  the scikit-learn version of SSFI that permutes only the features a tree splits on
     (tests/reference; some members, scaled to the committee)
  b  one RandomForestClassifier(N).fit on the labelled rows
  c  b and permutation_importance (some features, scaled to all)
  d  SelfTrainingClassifier around a forest (some trees, scaled to N)
"""

import argparse
import ctypes
import subprocess
import sys
import time
import warnings
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from protocol import EIGHT_SETS, load, split
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import permutation_importance
from sklearn.semi_supervised import SelfTrainingClassifier
from threadpoolctl import threadpool_limits

from semisift import SEFR, SSFI, CompiledKernelsMissingWarning, _kernels
from semisift.parallel import committee_size

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.reference.sklearn_ssfi import sklearn_sefr, sklearn_ssfi

SOME_MEMBERS = 100
SOME_FEATURES = 20
SOME_TREES = 100


def seconds(function, repeats=1, clock=time.process_time):
    """Return the least time of several calls."""
    times = []
    for _ in range(repeats):
        start = clock()
        function()
        times.append(clock() - start)
    return min(times)


def training_part(name):
    X, y = load(name)
    train, _, given = split(y, seed=0)
    return X[train], given


class OnSomeFeatures(ClassifierMixin, BaseEstimator):
    """A fitted classifier as one of a few columns, the others staying as they are."""

    def __init__(self, model, X, features):
        self.model, self.X, self.features = model, X, features

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    @property
    def classes_(self):
        return self.model.classes_

    def predict(self, X):
        full = self.X.copy()
        full[:, self.features] = X
        return self.model.predict(full)


def geometric_mean(values):
    return float(np.exp(np.mean(np.log(values))))


def race(sets):
    print("\nCPU seconds, one thread; ratios are opponent / SSFI(variant='paper')")
    print(f"{'':18}{'N':>6}{'paper':>8}{'default':>8}" + "".join(f"{c:>9}{'x':>8}" for c in "abcd"))
    ratios = []
    for name in sets:
        X, given = training_part(name)
        n_members = committee_size(X.shape[1])
        ours = seconds(lambda X=X, y=given: SSFI(variant="paper").fit(X, y), repeats=3)
        default = seconds(lambda X=X, y=given: SSFI().fit(X, y), repeats=3)
        times = opponents(X, given, n_members)
        ratios.append(times / ours)
        cells = "".join(f"{t:9.2f}{t / ours:8.1f}" for t in times)
        print(f"{name:18}{n_members:6}{ours:8.3f}{default:8.3f}{cells}", flush=True)
    means = [geometric_mean(column) for column in np.transpose(ratios)]
    worst = np.min(ratios, axis=0)
    print(f"{'geometric mean':40}" + "".join(f"{'':9}{mean:8.1f}" for mean in means))
    print(f"{'smallest':40}" + "".join(f"{'':9}{low:8.1f}" for low in worst))


def opponents(X, given, n_members):
    labelled = given >= 0
    X_labelled, y_labelled = X[labelled], given[labelled]
    some = min(SOME_MEMBERS, n_members)
    a = seconds(lambda: sklearn_ssfi(X, given, n_members=some)) * n_members / some
    forest = RandomForestClassifier(n_members, random_state=0)
    b = seconds(lambda: forest.fit(X_labelled, y_labelled), repeats=3)
    dense = X_labelled.toarray() if sparse.issparse(X) else X_labelled
    few = np.arange(min(SOME_FEATURES, X.shape[1]))
    on_few = OnSomeFeatures(forest, dense, few)
    permuted = seconds(
        lambda: permutation_importance(on_few, dense[:, few], y_labelled, n_repeats=1)
    )
    small_forest = RandomForestClassifier(SOME_TREES, random_state=0)
    self_training = SelfTrainingClassifier(small_forest, max_iter=10)
    d = seconds(lambda: self_training.fit(X, given)) * n_members / SOME_TREES
    return np.array([a, b, b + permuted * X.shape[1] / len(few), d])


def threads(sets):
    print("\nwall seconds of SSFI(variant='paper'): one thread, two threads, ratio")
    for name in sets:
        X, given = training_part(name)
        times = [
            seconds(
                lambda X=X, y=given, n=n: SSFI(variant="paper", n_jobs=n).fit(X, y),
                repeats=5,
                clock=time.perf_counter,
            )
            for n in (1, 2)
        ]
        print(f"{name:18}{times[0]:8.3f}{times[1]:8.3f}{times[0] / times[1]:7.2f}", flush=True)


def in_fresh_process(code, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent,
    )
    return done.stdout


MEMORY = """
import sys
import ssfi
X, given = ssfi.training_part(sys.argv[1]) if sys.argv[2] == "split" else ssfi.whole(sys.argv[1])
ranker = ssfi.SSFI(variant=sys.argv[3])
ssfi.SSFI(n_members=2).fit([[0, 1], [1, 0], [1, 1], [0, 2]], [0, 1, 0, -1])
ssfi.forget_peak()
before = ssfi.memory_now("VmRSS")
taken = ssfi.seconds(lambda: ranker.fit(X, given))
peak = ssfi.memory_now("VmHWM")
print(peak - before, peak, taken)
"""


def forget_peak():
    """Give free memory back and start the peak memory of this process anew (Linux)."""
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")


def memory_now(field):
    """Return a field of the memory statistics of this process in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    raise KeyError(field)


def memory(sets):
    print("\npeak memory of a fit beyond X in a fresh process, MB, and the bound for dense X")
    for name in sets:
        X, _ = training_part(name)
        beyond, _, _ = map(float, in_fresh_process(MEMORY, name, "split", "paper").split())
        bound = "" if sparse.issparse(X) else f"{2 * X.size * 4 / 2**20 + 25:8.1f}"
        print(f"{name:18}{beyond:8.1f}{bound:>8}", flush=True)


def whole(name):
    """All rows of a set, with three labels a class."""
    X, y = load(name)
    given = np.full(len(y), -1)
    rng = np.random.default_rng(0)
    for label in np.unique(y):
        given[rng.permutation(np.flatnonzero(y == label))[:3]] = label
    return X, given


def text(_):
    print("\nnews20_binary, all rows, sparse: CPU seconds and peak memory of the process, MB")
    for variant in ("paper", "default"):
        beyond, peak, taken = map(
            float, in_fresh_process(MEMORY, "news20_binary", "whole", variant).split()
        )
        print(
            f"{variant:18}{taken:8.1f} s, peak {peak:.0f} MB, {beyond:.0f} MB beyond X", flush=True
        )


def growth(_):
    """Double one thing at a time on random data of two classes."""
    rng = np.random.default_rng(0)

    def timed(n_unlabelled, p, n_members):
        X = np.asfortranarray(rng.normal(size=(n_unlabelled + 6, p)).astype(np.float32))
        y = np.full(len(X), -1)
        y[:6] = [0, 1] * 3
        X[:, :10] += (np.arange(len(X)) % 2)[:, None]
        ranker = SSFI(variant="paper", n_members=n_members)
        return seconds(lambda: ranker.fit(X, y), repeats=2)

    def row(title, sizes, measure):
        times = [measure(size) for size in sizes]
        slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
        cells = "".join(f"{size:>9}: {t:.3f}" for size, t in zip(sizes, times, strict=True))
        print(f"{title:34}{cells}   exponent {slope:.2f}", flush=True)

    print("\nCPU seconds of SSFI(variant='paper') as one thing grows, and the fitted exponent")
    row(
        "unlabelled rows (p=1000, N=1440)", [500, 2000, 8000, 32000], lambda n: timed(n, 1000, 1440)
    )
    row(
        "features (150 rows, N by formula)",
        [1000, 4000, 16000, 64000],
        lambda p: timed(144, p, "auto"),
    )
    row("members (150 rows, p=4000)", [500, 2000, 8000, 32000], lambda m: timed(144, 4000, m))


def sefr(sets):
    print("\nCPU seconds: SEFR, its scikit-learn version (scaled), ratio")
    ratios = []
    for name in sets:
        X, given = training_part(name)
        n_members = committee_size(X.shape[1])
        some = min(SOME_MEMBERS, n_members)
        ours = seconds(lambda X=X, y=given: SEFR().fit(X, y))
        theirs = seconds(lambda X=X, y=given, n=some: sklearn_sefr(X, y, n_members=n))
        theirs *= n_members / some
        ratios.append(theirs / ours)
        print(f"{name:18}{ours:8.3f}{theirs:9.2f}{ratios[-1]:7.1f}", flush=True)
    print(f"geometric mean {geometric_mean(ratios):.1f}, smallest {min(ratios):.1f}")


def self_training(_):
    """Time SEFR, whose bags grow to most of the rows, against SSFI; some members, scaled."""
    print("\nCPU seconds: rows, columns; SSFI, SEFR (scaled to the committee), ratio, ns a value")
    for n, p in ((500, 5000), (1000, 5000), (2000, 1250), (2000, 5000)):
        rng, rows = np.random.default_rng(0), np.arange(n)
        X, y = rng.normal(size=(n, p)), np.where(rows < 20, rows % 2, -1)
        X[:, :20] += rng.normal(size=(2, 20))[rows % 2]
        n_members, times = committee_size(p), []
        for method in (SSFI, SEFR):
            few, more = (
                seconds(lambda m=method, k=k, X=X, y=y: m(n_members=k, n_jobs=1).fit(X, y), 2)
                for k in (SOME_MEMBERS // 10, SOME_MEMBERS)
            )
            each = (more - few) / (SOME_MEMBERS - SOME_MEMBERS // 10)
            times.append(few + each * (n_members - SOME_MEMBERS // 10))
        # rounds, columns and rows of a bag, which is half of 1 - 1/e of the rows as a mean
        values = 11 * round(p**0.5) * 0.316 * n
        cells = f"{times[0]:8.2f}{times[1]:8.2f}{times[1] / times[0]:7.1f}"
        print(f"{n:6}{p:6}{cells}{each / values * 1e9:7.1f}", flush=True)


START_UP = "import time, sys; s = time.perf_counter(); {}; print(time.perf_counter() - s)"
FIRST_CALL = """
import time
import numpy as np
import ssfi
X, given = ssfi.training_part("colon")
for _ in range(2):
    start = time.perf_counter()
    ssfi.SSFI(variant="paper").fit(X, given)
    print(time.perf_counter() - start)
"""


def start_up(_):
    def imported(code):
        return min(float(in_fresh_process(START_UP.format(code))) for _ in range(5))

    print("\nstart-up, seconds beyond Python's own")
    print(f"import semisift                {imported('import semisift'):.3f}")
    print(f"semisift --help                {imported('from semisift.cli import main'):.3f}")
    selection = imported("import sklearn.feature_selection")
    print(f"import sklearn.feature_selection {selection:.3f}")
    print(f"from semisift import SSFI      {imported('from semisift import SSFI'):.3f}")
    first, second = map(float, in_fresh_process(FIRST_CALL).split())
    print(f"first fit on colon {first:.3f}, second {second:.3f}, difference {first - second:+.3f}")


def no_kernels(_):
    """Time the general path, which serves where the kernels could not be built."""
    print("\nCPU seconds of SSFI with 300 members: kernels, scikit-learn's trees, ratio")
    ratios = []
    for name in ("sonar", "colon", "khan_srbct", "madelon"):
        X, given = training_part(name)
        times = []
        for chosen in (nullcontext, _kernels.numpy_only):
            with chosen(), warnings.catch_warnings():
                warnings.simplefilter("ignore", CompiledKernelsMissingWarning)
                ranker = SSFI(n_members=300)
                times.append(seconds(lambda r=ranker, X=X, y=given: r.fit(X, y)))
        ratios.append(times[1] / times[0])
        print(f"{name:18}{times[0]:8.3f}{times[1]:9.2f}{ratios[-1]:7.1f}", flush=True)
    print(f"geometric mean {geometric_mean(ratios):.0f}")


def with_missing(_):
    """Time tables of which some values are missing against the same tables with all values."""
    print("\nCPU seconds of SSFI: rows, columns, labels; 0, 5, 20 % of values missing; ratios to 0")
    ratios = []
    for n, p, n_labelled, n_members in (
        (200, 3000, 10, "auto"),
        (200, 3000, 60, "auto"),
        (1000, 1000, 30, "auto"),
        (3000, 200, 2500, 20),
        (25_000, 100, 20_000, 10),
    ):
        rng, rows = np.random.default_rng(0), np.arange(n)
        X, y = rng.normal(size=(n, p)), np.where(rows < n_labelled, rows % 2, -1)
        X[:, :20] += (rows % 2)[:, None] / 2
        ranker = SSFI(n_members=n_members, n_jobs=1)
        tables = [np.where(rng.random(X.shape) < share, np.nan, X) for share in (0.0, 0.05, 0.2)]
        # in turn, as other work on the machine comes and goes
        runs = [[seconds(lambda r=ranker, Z=Z, y=y: r.fit(Z, y)) for Z in tables] for _ in range(5)]
        times = np.min(runs, axis=0)
        ratios.append(times[1:] / times[0])
        shown = "".join(f"{each:8.3f}" for each in [*times, *ratios[-1]])
        print(f"{n:6}{p:6}{n_labelled:7}{shown}", flush=True)
    print("geometric means", *(f"{geometric_mean(each):.2f}" for each in np.transpose(ratios)))


PARTS = {
    "race": race,
    "threads": threads,
    "memory": memory,
    "growth": growth,
    "start-up": start_up,
    "sefr": sefr,
    "self-training": self_training,
    "text": text,
    "no-kernels": no_kernels,
    "gaps": with_missing,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--sets", default=",".join(EIGHT_SETS))
    arguments = parser.parse_args()
    with threadpool_limits(1):
        for part in arguments.part or PARTS:
            PARTS[part](arguments.sets.split(","))


if __name__ == "__main__":
    main()
