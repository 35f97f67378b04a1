"""How often features are significant in tables that have nothing to do with the labels.

    python benchmarks/error_rates.py nulls [--runs 200] [--methods transductive,fisher] [--only ...]
                                            [--check]
    python benchmarks/error_rates.py power [--runs 100]
    python benchmarks/error_rates.py markers [--runs 10]
    python benchmarks/error_rates.py confidence [--runs 50]

`nulls`: 60 x 200 tables of many kinds, whose labels are drawn at random. It prints the share of the
tables in which any feature is significant in the test of `assess`, with the repetitions of the
command line, and in which the p-value of the whole ranking is at most .05, with their standard
errors. The nominal rate is .025 where the labelled rows are a random sample of all rows, or where
labels can be permuted among them in 1,000 ways or more; at most .05 is the goal wherever the
labelled rows were chosen or measured apart from the others, as long as the table can tell. With
--check the command fails where that can be ruled out (binomial test, p < 1e-4).

`power`: the share of tables in which a single feature, complete or not, is significant, beside
values that are missing.

`markers`: how many markers of simulations.py are significant with 3 and 5 labels a class, which are
a random sample of each class, and how many without the check that they are.

`confidence`: the mean confidence of the soft labels in tables with random labels, beside the share
of the rows that are right by labels drawn likewise, and how often a warning says that the labels
may carry no information. On real sets it is measured by benchmarks/labels.py.
"""

import argparse
import warnings
from functools import partial
from unittest.mock import patch

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import binomtest
from simulations import CHOICE, SHOWN, simulate

from semisift import METHODS, TransductiveClassifier
from semisift.transduction._soft_labels import doubt_of

N_ROWS, N_COLUMNS = 60, 200

# The repetitions of `semisift rank`.
ASSESS = {"n_resamples": 0, "n_permutations": 39, "fast": True}


# Tables -------------------------------------------------------------------------------------------


def normal(rng):
    return rng.normal(size=(N_ROWS, N_COLUMNS))


def random_labels(rng, *sizes, rows=None):
    """Return labels 0, 1, ... of so many rows each, drawn at random from some; -1 elsewhere."""
    rows = rng.permutation(np.arange(N_ROWS) if rows is None else rows)
    given = np.full(N_ROWS, -1)
    given[rows[: sum(sizes)]] = np.repeat(np.arange(len(sizes)), sizes)
    return given


def labelled_apart(rng, change, sizes=(5, 5)):
    """Return normal rows, of which the labelled ones were changed, and their labels."""
    given = random_labels(rng, *sizes)
    X = normal(rng)
    X[given >= 0] = change(X[given >= 0], rng)
    return X, given, {}


def missing(rng, labelled, others, sizes=(5, 5)):
    """Return values that are missing more or less often in the labelled rows than in the others."""
    given = random_labels(rng, *sizes)
    X = normal(rng)
    share = np.where(given >= 0, labelled, others)
    X[rng.random(X.shape) < share[:, None]] = np.nan
    X[0, np.isnan(X).all(axis=0)] = 0.0
    return X, given, {}


def binary(rng, labelled, others, sizes=(5, 5)):
    given = random_labels(rng, *sizes)
    share = np.where(given >= 0, labelled, others)
    return (rng.random((N_ROWS, N_COLUMNS)) < share[:, None]).astype(float), given, {}


def deeper(rng, sizes=(5, 5)):
    """Return logarithms of counts, of which the labelled rows were sequenced ten times deeper."""
    given = random_labels(rng, *sizes)
    mean = np.where(given >= 0, 1.0, 0.1)[:, None]
    return np.log1p(rng.poisson(mean, size=(N_ROWS, N_COLUMNS)).astype(float)), given, {}


def batches(rng, shift=1.0):
    batch = np.repeat([0, 1], N_ROWS // 2)
    X = normal(rng)
    X[batch == 1] += shift * rng.normal(size=N_COLUMNS)
    return X, batch


def one_class(rng, known=False):
    """Return rows of two batches, and labels of one class in one of them."""
    X, batch = batches(rng)
    given = random_labels(rng, 8, rows=np.flatnonzero(batch == 0))
    return X, given, {"batch": batch} if known else {}


def outlying(rng, by="distance"):
    """Return rows of which those are labelled that lie farthest from the others."""
    X = normal(rng)
    far = np.square(X - X.mean(axis=0)).sum(axis=1)
    if by == "direction":
        first = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[0][:, 0]
        far = np.abs(first)
    elif by == "scale":
        X *= rng.gamma(4.0, 0.25, N_ROWS)[:, None]
        far = np.square(X - X.mean(axis=0)).sum(axis=1)
    return X, random_labels(rng, 5, 5, rows=np.argsort(-far)[:10]), {}


def twice(rng, noise=0.0):
    """Return samples that were measured twice, and have the same label both times."""
    X, given = normal(rng)[: N_ROWS // 2], random_labels(rng, 5, 5, rows=np.arange(N_ROWS // 2))
    X, given = np.repeat(X, 2, axis=0), np.repeat(given[: N_ROWS // 2], 2)
    return X + noise * rng.normal(size=X.shape), given, {}


def of_rows(make, *sizes):
    """Return a maker of tables whose labelled rows are a random sample."""

    def made(rng):
        return make(rng), random_labels(rng, *sizes), {}

    return made


def clusters(rng, n=2, shift=2.0):
    own = np.arange(N_COLUMNS) % n
    X = normal(rng)
    X[:, :100] += shift * (rng.integers(0, n, N_ROWS)[:, None] == own[:100])
    return X


def unequal_clusters(rng):
    X = normal(rng)
    X[:6, :100] += 3.0
    return X


def factors(rng):
    return normal(rng) + 0.7 * rng.normal(size=(N_ROWS, 3)) @ rng.normal(size=(3, N_COLUMNS))


def heavy_tails(rng):
    return rng.standard_t(2, size=(N_ROWS, N_COLUMNS))


def uneven_rows(rng):
    return normal(rng) * rng.gamma(2.0, 0.5, N_ROWS)[:, None]


def log_normal(rng):
    return np.exp(normal(rng))


def trend(rng):
    return normal(rng) + np.linspace(-1, 1, N_ROWS)[:, None] * rng.normal(size=N_COLUMNS)


def walks(rng):
    return np.cumsum(normal(rng), axis=0)


def walks_of_columns(rng):
    return np.cumsum(normal(rng), axis=1)


def counts(rng):
    return rng.poisson(rng.gamma(1.0, 1.0, N_COLUMNS), size=(N_ROWS, N_COLUMNS)).astype(float)


def cells(rng):
    depth = rng.gamma(4.0, 0.25, N_ROWS)
    return rng.poisson(depth[:, None] * rng.gamma(0.5, 1.0, N_COLUMNS)).astype(float)


def zero_inflated(rng):
    return normal(rng) * (rng.random((N_ROWS, N_COLUMNS)) < 0.3)


def discrete(rng):
    return rng.integers(0, 3, size=(N_ROWS, N_COLUMNS)).astype(float)


def rare(rng):
    return (rng.random((N_ROWS, N_COLUMNS)) < 0.05).astype(float)


def missing_evenly(rng):
    X = normal(rng)
    X[rng.random(X.shape) < 0.3] = np.nan
    return X


def missing_by_column(rng):
    X = normal(rng)
    X[rng.random(X.shape) < np.linspace(0, 0.8, N_COLUMNS)] = np.nan
    X[0, np.isnan(X).all(axis=0)] = 0.0
    return X


def donors(rng, per_class):
    """Return rows of donors that differ, with the groups given; whole donors are labelled."""
    donor = np.repeat(np.arange(N_ROWS // 4), 4)
    X = normal(rng) + rng.normal(size=(N_ROWS // 4, N_COLUMNS))[donor]
    drawn = rng.permutation(N_ROWS // 4)[: 2 * per_class]
    given = np.full(N_ROWS, -1)
    for code, some in enumerate((drawn[:per_class], drawn[per_class:])):
        given[np.isin(donor, some)] = code
    return X, given, {"groups": donor}


def both_batches(rng, *sizes, rows=None):
    X, batch = batches(rng)
    rows = None if rows is None else np.flatnonzero(batch == rows)
    return X, random_labels(rng, *sizes, rows=rows), {"batch": batch}


def labels_in_one_batch(rng, *sizes):
    X, batch = batches(rng)
    return X, random_labels(rng, *sizes, rows=np.flatnonzero(batch == 0)), {}


# The labelled rows are no random sample of all rows, or not independent.
APART = {
    "missing .5 / 0": partial(missing, labelled=0.5, others=0.0),
    "missing .3 / .1": partial(missing, labelled=0.3, others=0.1),
    "missing .2 / 0": partial(missing, labelled=0.2, others=0.0),
    "missing .1 / 0": partial(missing, labelled=0.1, others=0.0),
    "0/1 columns .5 / .03": partial(binary, labelled=0.5, others=0.03),
    "0/1 columns .3 / .1": partial(binary, labelled=0.3, others=0.1),
    "ten times deeper": deeper,
    "outlying, distance": outlying,
    "outlying, direction": partial(outlying, by="direction"),
    "outlying, uneven rows": partial(outlying, by="scale"),
    "three times noisier": partial(labelled_apart, change=lambda rows, _: 3 * rows),
    "five times quieter": partial(labelled_apart, change=lambda rows, _: rows / 5),
    "another level": partial(
        labelled_apart, change=lambda rows, rng: rows + rng.normal(size=rows.shape[1])
    ),
    "each sample twice": twice,
    "each sample twice, nearly": partial(twice, noise=0.05),
    "one class, one batch, given": partial(one_class, known=True),
}

# With one class the table cannot tell a batch from it: no rate is promised, and the result says so.
UNDECIDED = {"one class, one batch, not given": one_class}

# The labelled rows are a random sample, or what is not random about them is given.
SAMPLED = {
    **{f"normal {n} + {n}": of_rows(normal, n, n) for n in (3, 5, 6, 7)},
    "normal 4 + 12": of_rows(normal, 4, 12),
    "normal 3 x 3": of_rows(normal, 3, 3, 3),
    "one class of 8": of_rows(normal, 8),
    "clusters": of_rows(clusters, 5, 5),
    "three clusters": of_rows(partial(clusters, n=3), 5, 5),
    "a small cluster": of_rows(unequal_clusters, 5, 5),
    "factors": of_rows(factors, 5, 5),
    "heavy tails": of_rows(heavy_tails, 5, 5),
    "uneven rows": of_rows(uneven_rows, 5, 5),
    "log-normal": of_rows(log_normal, 5, 5),
    "trend": of_rows(trend, 5, 5),
    "walks over rows": of_rows(walks, 5, 5),
    "walks over columns": of_rows(walks_of_columns, 5, 5),
    "counts": of_rows(counts, 5, 5),
    "cells": of_rows(cells, 5, 5),
    "zero-inflated": of_rows(zero_inflated, 5, 5),
    "discrete": of_rows(discrete, 5, 5),
    "rare": of_rows(rare, 5, 5),
    "missing .3": of_rows(missing_evenly, 5, 5),
    "missing 0 to .8 by column": of_rows(missing_by_column, 5, 5),
    "donors 5 + 5": partial(donors, per_class=5),
    "batches 5 + 5": lambda rng: both_batches(rng, 5, 5),
    "one batch 10 + 10": lambda rng: labels_in_one_batch(rng, 10, 10),
    "one batch 5 + 5, given": lambda rng: both_batches(rng, 5, 5, rows=0),
}

TABLES = {**APART, **UNDECIDED, **SAMPLED}


def try_table(name, method, seed):
    """Return how many features are significant, the p-value, and whether labels stayed among their
    rows."""
    X, given, kept = TABLES[name](np.random.default_rng([seed, 10]))
    significant, sure, _ = confirm(X, given, method, seed, **kept)
    return int(significant.sum()), sure.p_value, sure.permuted


def confirm(X, given, method, seed, **kept):
    """Return which features are significant, and the assessment."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker = METHODS[method].cls(random_state=seed).fit(X, given, **kept)
        sure = ranker.assess(X, given, **ASSESS, **kept)
    return sure.decisions == "significant", sure, ranker


def share(hits):
    """Return a share of tables with its standard error."""
    return f"{np.mean(hits):.3f} ({np.std(hits) / np.sqrt(len(hits)):.3f})"


def nulls(options):
    too_often = []
    print(
        f"{'table':33}{'method':14}{'significant any':>15}{'features':>9}{'p <= .05':>15}  labelled"
    )
    for name in TABLES:
        if options.only not in name:
            continue
        for method in options.methods:
            if (
                name.startswith("one class")
                and METHODS[method].cls.supports_positive_unlabelled is False
            ):
                continue
            jobs = [delayed(try_table)(name, method, seed) for seed in range(options.runs)]
            counts, p_values, among = np.array(Parallel(options.jobs)(jobs)).T
            print(
                f"{name:33}{method:14}{share(counts > 0):>15}{counts.mean():9.2f}"
                f"{share(p_values <= 0.05 + 1e-12):>15}{among.mean():10.2f}",
                flush=True,
            )
            is_above = binomtest(int(np.sum(counts > 0)), len(counts), 0.05, "greater")
            if name not in UNDECIDED and is_above.pvalue < 1e-4:
                too_often.append(f"{name}, {method}")
    if options.check and too_often:
        raise SystemExit(f"more than .05: {'; '.join(too_often)}")


# Power --------------------------------------------------------------------------------------------


def one_feature(rng, shift, gone, own_gone, sizes):
    """Return noise of which a share is missing, and a first column that tells the classes."""
    given = random_labels(rng, *sizes)
    side = rng.integers(0, 2, N_ROWS)
    side[given >= 0] = given[given >= 0]
    X = normal(rng)
    X[rng.random(X.shape) < gone] = np.nan
    X[:, 0] = rng.normal(size=N_ROWS) + shift * side
    X[rng.random(N_ROWS) < own_gone, 0] = np.nan
    X[0, np.isnan(X).all(axis=0)] = 0.0
    return X, given


def try_power(shift, gone, own_gone, sizes, method, seed):
    X, given = one_feature(np.random.default_rng([seed, 11]), shift, gone, own_gone, sizes)
    significant, _, ranker = confirm(X, given, method, seed)
    return significant[0], ranker.ranking_[0] == 1


POWER = {
    "8 sd, complete among complete": (8.0, 0.0, 0.0, (5, 5)),
    "8 sd, complete among .6 missing": (8.0, 0.6, 0.0, (5, 5)),
    "8 sd, .3 missing among .6": (8.0, 0.6, 0.3, (5, 5)),
    "8 sd, .3 missing, 10 + 10": (8.0, 0.3, 0.3, (10, 10)),
    "3 sd, complete, 10 + 10": (3.0, 0.0, 0.0, (10, 10)),
    "3 sd, complete among .3, 10 + 10": (3.0, 0.3, 0.0, (10, 10)),
}


def power(options):
    print(f"{'feature':33}{'method':14}{'significant':>15}{'ranks first':>15}")
    for name, setting in POWER.items():
        if options.only not in name:
            continue
        for method in options.methods:
            jobs = [delayed(try_power)(*setting, method, seed) for seed in range(options.runs)]
            significant, first = np.array(Parallel(options.jobs)(jobs)).T
            print(f"{name:33}{method:14}{share(significant):>15}{share(first):>15}", flush=True)


# Markers ------------------------------------------------------------------------------------------

# Others than those of the choice of the consensus.
FIRST_SEED = 1000


def try_markers(kind, per_class, method, seed):
    """Return how many markers are significant, with the check and without it, and what it said."""
    X, _, given, is_marker = simulate(kind, per_class, FIRST_SEED + seed)
    significant, sure, _ = confirm(X, given, method, seed)
    if not sure.permuted:
        return significant[is_marker].sum(), significant[is_marker].sum(), False
    with patch("semisift.selection._permutation.differences_of_labelled", return_value=()):
        before, _, _ = confirm(X, given, method, seed)
    return significant[is_marker].sum(), before[is_marker].sum(), True


def markers(options):
    print(
        f"{'simulation':18}{'labels':>7} {'method':14}{'markers':>14}{'unchecked':>14}{'differ':>8}"
    )
    total = np.zeros(2)
    for kind in CHOICE + SHOWN:
        for per_class in (3, 5):
            for method in options.methods:
                jobs = [
                    delayed(try_markers)(kind, per_class, method, seed)
                    for seed in range(options.runs)
                ]
                found = np.array(Parallel(options.jobs)(jobs), dtype=float)
                total += found[:, :2].sum(axis=0)
                errors = found.std(axis=0, ddof=1) / np.sqrt(len(found))
                means = [
                    f"{m:.1f} ({e:.2f})" for m, e in zip(found.mean(axis=0), errors, strict=True)
                ]
                print(
                    f"{kind:18}{per_class:7} {method:14}{means[0]:>14}{means[1]:>14}"
                    f"{found[:, 2].mean():8.2f}",
                    flush=True,
                )
    print(f"all: {total[0]:.0f} of {total[1]:.0f} markers stay ({total[0] / total[1]:.3f})")


# Confidence ---------------------------------------------------------------------------------------


def weighted(rng):
    """Return weights of which few rows have most."""
    return {"sample_weight": rng.gamma(0.3, 1.0, N_ROWS) + 0.01}


CONFIDENCE = {
    **{
        f"{make.__name__.replace('_', ' ')} {' + '.join(map(str, sizes))}": (make, sizes, None)
        for make in (normal, clusters, factors, heavy_tails, trend, walks, counts, cells, discrete)
        for sizes in ((3, 3), (5, 5), (10, 10), (3, 9), (3, 3, 3))
    },
    "normal 5 + 5, skewed weights": (normal, (5, 5), weighted),
    "normal 10 + 10, skewed weights": (normal, (10, 10), weighted),
}


def try_confidence(name, seed):
    """Return the mean confidence of unlabelled rows, the share that is right, and what is said."""
    make, sizes, of_rows = CONFIDENCE[name]
    rng = np.random.default_rng([seed, 12])
    X, given = make(rng), random_labels(rng, *sizes)
    truth = rng.choice(len(sizes), N_ROWS, p=np.array(sizes) / sum(sizes))
    model = TransductiveClassifier().fit(X, given, **({} if of_rows is None else of_rows(rng)))
    hidden = given < 0
    is_right = model.transduction_[hidden] == truth[hidden]
    is_doubted = doubt_of(model) is not None
    return model.label_distributions_[hidden].max(axis=1).mean(), is_right.mean(), is_doubted


def confidence(options):
    print(f"{'table':33}{'confidence':>15}{'right':>15}{'difference':>15}{'warning':>15}")
    too_high = []
    for name in CONFIDENCE:
        if options.only not in name:
            continue
        jobs = [delayed(try_confidence)(name, seed) for seed in range(options.runs)]
        sure, right, is_doubted = np.array(Parallel(options.jobs)(jobs)).T
        print(
            f"{name:33}{share(sure):>15}{share(right):>15}{share(sure - right):>15}"
            f"{share(is_doubted):>15}",
            flush=True,
        )
        error = (sure - right).std() / np.sqrt(len(sure))
        if (sure - right).mean() > 0.1 + 3 * error:
            too_high.append(name)
    if options.check and too_high:
        raise SystemExit(f"more than .10 above what is right: {'; '.join(too_high)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["nulls", "power", "markers", "confidence"])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--methods", type=lambda text: text.split(","), default=["transductive"])
    parser.add_argument("--only", default="", help="tables whose name holds this text")
    parser.add_argument("--check", action="store_true", help="fail where rates are above .05")
    parser.add_argument("--jobs", type=int, default=1)
    chosen = parser.parse_args()
    globals()[chosen.part](chosen)
