"""Which rows to label next: what ten chosen labels bring, against random ones and other rules.

    SEMISIFT_DATA=... python benchmarks/next_rows.py run RECORDS [--sets ...] [--kinds ...]
        [--starts two,none] [--ways ...] [--method transductive] [--runs 5]
    python benchmarks/next_rows.py tables RECORDS [--method transductive]
    SEMISIFT_DATA=... python benchmarks/next_rows.py time

`run` starts from two labels a class, or from none, lets each way choose ten rows, reveals their
labels and ranks the columns; it adds to a file of records, one line each, and leaves out what it
holds. `tables` prints what the records say. The rule was chosen on the sets and simulations of
`CHOICE`; what is said of `SHOWN` had no part in it.

The ways: `query` chooses ten rows at once, `query in turn` one after another, each with the labels
before it; `random` and `random 20` are means of three draws. Margin, typicality, coreset and
density (margin times the mean likeness to all rows) are those of scikit-activeml, in 20 principal
components; margins are those of our own soft labels, so that all ways have the same classifier.

A ranking is measured in three ways: the accuracy of evaluation classifiers on a third of the rows
(as in benchmarks/consensus.py), on real data; the share of the true columns among the best, on
simulations; and on both the worth of the best 20 columns: their scores with all labels, as a share
of the best that 20 columns can have. The predicted labels of the other rows are evaluated as well.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import simulations
from consensus import CHOICE, SHOWN, add_record, evaluate, load_some, read_records
from protocol import split
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from semisift import METHODS, TransductiveScore
from semisift.active._next_rows import find_next_rows
from semisift.transduction._components import components
from semisift.transduction._soft_labels import find_soft_labels
from semisift.utils._labels import parse_labels

N_CHOSEN = 10
N_DRAWS = 3
N_COMPONENTS = 20
N_BEST = 20

# The splits of other benchmarks are others.
FIRST_RUN = 1300

SIMULATED = {"choice": simulations.CHOICE, "shown": simulations.SHOWN}
HALVES = {
    "choice": [*CHOICE, *(f"sim:{kind}" for kind in SIMULATED["choice"])],
    "shown": [*SHOWN, *(f"sim:{kind}" for kind in SIMULATED["shown"])],
}
ALL = [name for names in HALVES.values() for name in names]
MEASURES = {
    "judged": "accuracy of evaluation classifiers",
    "found": "share of true columns",
    "worth": "worth of the best 20 columns",
    "labels": "accuracy of labels",
}


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("run", "tables"):
        command = commands.add_parser(name)
        command.add_argument("records", type=Path)
        command.add_argument("--sets", default=",".join(ALL))
        command.add_argument("--starts", default="two,none")
        command.add_argument("--ways", default=",".join(WAYS))
        command.add_argument("--method", default="transductive")
        command.add_argument("--runs", type=int, default=5)
    commands.add_parser("time")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    {"run": run, "tables": show_tables, "time": show_times}[options.command](options)


# Ways ---------------------------------------------------------------------------------------------


class Table:
    """The rows to choose from, with their true labels and those that were given."""

    def __init__(self, X, y, given, seed):
        self.y, self.given, self.seed = y, given, seed
        self.data = TransductiveScore(random_state=seed)._build_data(X, np.full(len(y), -1))
        self.T = components(self.data)[:, :N_COMPONENTS]

    def labelled(self, given):
        return self.data.with_labels(parse_labels(given, len(given)), None, self.data.seed)

    def missing(self):
        """Return the labels as scikit-activeml takes them."""
        return np.where(self.given < 0, np.nan, self.given)


def choose_none(table, n, rng):
    return np.empty(0, dtype=int)


def choose_random(table, n, rng):
    return rng.permutation(np.flatnonzero(table.given < 0))[:n]


def choose_query(table, n, rng):
    return find_next_rows(table.labelled(table.given), n).rows


def in_turn(choose):
    def choose_in_turn(table, n, rng):
        given, rows = table.given, []
        try:
            for _ in range(n):
                rows.append(int(choose(table, 1, rng)[0]))
                table.given = table.given.copy()
                table.given[rows[-1]] = table.y[rows[-1]]
        finally:
            table.given = given
        return np.array(rows)

    return choose_in_turn


def choose_margin(table, n, rng, weight=None):
    from skactiveml.pool import UncertaintySampling

    data = table.labelled(table.given)
    if data.labels.n_classes < 2:
        return choose_random(table, n, rng)
    shares = find_soft_labels(data).shares
    strategy = UncertaintySampling(method="margin_sampling", random_state=rng.integers(1 << 30))
    return strategy.query(
        np.arange(len(shares))[:, None],
        np.where(data.labels.codes < 0, np.nan, data.labels.codes),
        known_shares(shares),
        fit_clf=False,
        utility_weight=weight,
        batch_size=n,
    )


def known_shares(shares):
    """Return a classifier of scikit-activeml that knows the shares of rows by their numbers."""
    from skactiveml.base import SkactivemlClassifier

    class Known(SkactivemlClassifier):
        def fit(self, X, y, sample_weight=None):
            return self

        def predict_proba(self, X):
            return shares[np.asarray(X)[:, 0].astype(int)]

    classifier = Known(classes=list(range(shares.shape[1])))
    classifier.classes_ = np.arange(shares.shape[1])
    return classifier


def choose_dense(table, n, rng):
    unit = np.square(table.T).sum(axis=1).mean()
    return choose_margin(table, n, rng, rbf_kernel(table.T, gamma=1 / unit).mean(axis=1))


def choose_typical(table, n, rng):
    from skactiveml.pool import TypiClust

    strategy = TypiClust(random_state=int(rng.integers(1 << 30)))
    return strategy.query(table.T, table.missing(), batch_size=n)


def choose_coreset(table, n, rng):
    from skactiveml.pool import CoreSet

    strategy = CoreSet(random_state=int(rng.integers(1 << 30)))
    return strategy.query(table.T, table.missing(), batch_size=n)


# name -> how to choose, how many, how often
WAYS = {
    "start": (choose_none, 0, 1),
    "random": (choose_random, N_CHOSEN, N_DRAWS),
    "random 20": (choose_random, 2 * N_CHOSEN, N_DRAWS),
    "query": (choose_query, N_CHOSEN, 1),
    "query in turn": (in_turn(choose_query), N_CHOSEN, 1),
    "margin": (choose_margin, N_CHOSEN, 1),
    "margin in turn": (in_turn(choose_margin), N_CHOSEN, 1),
    "density": (choose_dense, N_CHOSEN, 1),
    "typicality": (choose_typical, N_CHOSEN, 1),
    "coreset": (choose_coreset, N_CHOSEN, 1),
}


# Records ------------------------------------------------------------------------------------------


def key_of(record):
    return tuple(record[name] for name in ("set", "start", "run", "way", "method"))


def run(options):
    done = {key_of(record) for record in read_records(options.records)}
    ways, starts = options.ways.split(","), options.starts.split(",")
    for name in options.sets.split(","):
        for number in range(options.runs):
            keys = [(name, start, number, way, options.method) for start in starts for way in ways]
            wanted = [key for key in keys if key not in done]
            if not wanted:
                continue
            case = Case(name, number, options.method)
            for _, start, _, way, _ in wanted:
                if start == "none" and way == "start":
                    continue
                record = {"set": name, "start": start, "run": number, "way": way}
                record |= {"method": options.method, **case.measure(start, way)}
                add_record(options.records, record)


class Case:
    """One set or simulation, one split of it."""

    def __init__(self, name, number, method):
        self.number, self.method = number, method
        self.is_marker = None
        if name.startswith("sim:"):
            simulated = simulations.simulate(name[4:], 0, FIRST_RUN + number)
            self.X, self.y, _, self.is_marker = simulated
            self.train = np.arange(len(self.y))
        else:
            self.X, self.y = load_some(name)
            self.train, self.test, _ = split(self.y, FIRST_RUN + number)
        self.table = Table(self.X[self.train], self.y[self.train], None, number)
        known = self.table.labelled(self.table.y)
        every = TransductiveScore()
        self.worth = np.nan_to_num(every._score(known))

    def measure(self, start, way):
        table = self.table
        rng = np.random.default_rng([self.number, 0x6E657874])
        table.given = np.full(len(table.y), -1)
        if start == "two":
            for label in np.unique(table.y):
                table.given[rng.permutation(np.flatnonzero(table.y == label))[:2]] = label
        choose, n, repeats = WAYS[way]
        found = []
        for _ in range(repeats):
            begun = time.process_time()
            rows = choose(table, n, rng)
            seconds = time.process_time() - begun
            assert len(np.unique(rows)) == min(n, np.sum(table.given < 0))
            given = table.given.copy()
            given[rows] = table.y[rows]
            found.append(self.evaluate(given) | {"seconds": seconds})
        return {name: float(np.mean([each[name] for each in found])) for name in found[0]}

    def evaluate(self, given):
        ranker = METHODS[self.method].cls(random_state=self.number)
        ranker.fit(self.X[self.train], given)
        best = np.argsort(ranker.ranking_)
        if sparse.issparse(self.X) or self.is_marker is not None:
            worth = self.worth[best[:N_BEST]].sum()
        else:  # features correlated with the best are put last by some methods
            worth = self.worth[np.argsort(ranker.score_ranking_)[:N_BEST]].sum()
        hidden, y = given < 0, self.table.y
        transduction = getattr(ranker, "transduction_", None)
        measures = {"worth": worth / np.sort(self.worth)[::-1][:N_BEST].sum()}
        if transduction is not None:
            measures["labels"] = float(np.mean(transduction[hidden] == y[hidden]))
        if self.is_marker is not None:
            n_markers = self.is_marker.sum()
            return measures | {"found": float(self.is_marker[best[:n_markers]].mean())}
        accuracies = evaluate(ranker, self.X, self.y, self.train, self.test)
        return measures | {"judged": float(np.mean(accuracies))}


# Tables -------------------------------------------------------------------------------------------


def show_tables(options):
    records = [each for each in read_records(options.records) if each["method"] == options.method]
    ways = [way for way in options.ways.split(",") if any(r["way"] == way for r in records)]
    for start in options.starts.split(","):
        own = [record for record in records if record["start"] == start]
        for half, names in (HALVES | {"all": ALL}).items():
            show_means(own, half, names, ways, start)
        show_sets(own, ways, start)


def show_means(records, half, names, ways, start):
    """Print the means over the sets that have all ways."""
    ways = [way for way in ways if start != "none" or way != "start"]
    print(f"\nFrom {start}, {half}: means over sets (less random, standard error of that)\n")
    show_row(["", "sets", *ways])
    for measure, words in MEASURES.items():
        values = [
            each for each in by_set(records, names, measure).values() if each.keys() >= {*ways}
        ]
        if len(values) < 2:
            continue
        cells = []
        for way in ways:
            differences = [each[way].mean() - each["random"].mean() for each in values]
            error = np.std(differences, ddof=1) / len(differences) ** 0.5
            mean = np.mean([each[way].mean() for each in values])
            cells.append(f"{mean:.3f} ({np.mean(differences):+.3f}, {error:.3f})")
        show_row([words, len(values), *cells])


def show_sets(records, ways, start):
    """Print each set; differences from random that are beyond two standard errors have a mark."""
    for measure, words in MEASURES.items():
        values = by_set(records, ALL, measure)
        if not values:
            continue
        print(f"\nFrom {start}: {words}; * above, ! below random by two standard errors\n")
        show_row(["set", *ways])
        for name, each in values.items():
            show_row([name, *(cell(each, way) for way in ways)])


def cell(each, way):
    if way not in each:
        return ""
    n = min(len(each[way]), len(each["random"]))
    differences = each[way][:n] - each["random"][:n]
    mark = ""
    if n > 2 and way != "random":
        error = np.std(differences, ddof=1) / n**0.5
        mark = (
            "*"
            if differences.mean() > 2 * error
            else "!"
            if differences.mean() < -2 * error
            else ""
        )
    return f"{each[way].mean():.3f}{mark}"


def by_set(records, names, measure):
    """Return the values of each set by way, in the order of the runs."""
    found = {}
    for name in names:
        own = sorted(
            (each for each in records if each["set"] == name and measure in each),
            key=lambda each: each["run"],
        )
        ways = dict.fromkeys(each["way"] for each in own)
        if own:
            found[name] = {
                way: np.array([each[measure] for each in own if each["way"] == way]) for way in ways
            }
    return found


def show_row(cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def show_times(options):
    """Print what a query costs, and what of it is left where components are there already."""
    print("| rows x columns | query, s | again with other labels, s |")
    for n_rows, n_columns in ((500, 2000), (2000, 5000), (20000, 2000)):
        rng = np.random.default_rng(0)
        y = np.arange(n_rows) % 2
        X = rng.normal(size=(n_rows, n_columns)) + 0.5 * y[:, None] * (np.arange(n_columns) < 20)
        given = np.where(np.arange(n_rows) < 10, y, -1)
        begun = time.perf_counter()
        METHODS["consensus"].cls().query(X, given)
        total_seconds = time.perf_counter() - begun
        table = Table(X, y, given, 0)
        begun = time.perf_counter()
        find_next_rows(table.labelled(given), N_CHOSEN)
        again = time.perf_counter() - begun
        print(f"| {n_rows:,} x {n_columns:,} | {total_seconds:.2f} | {again:.2f} |", flush=True)


if __name__ == "__main__":
    main()
