"""Donors and batches: what is significant with and without a word on which rows belong together.

    python benchmarks/studies.py donors [--runs 40] [--methods fisher] [--rules assess] [--shift 0]
    python benchmarks/studies.py batches [--runs 40] [--methods fisher,consensus]

`donors`: 100 columns, of which half differ between donors by a standard deviation of 1, as much as
rows of a donor differ. Each donor has about 10 rows, of which about 3 are labelled. What is named
tells how the classes are dealt to the donors, always at random:

- between: 14 donors, 7 of each class.
- unequal: the same with 2 to 18 rows a donor, of which 1 to 6 are labelled.
- sample: 20 donors, of which 3 of each class are labelled.
- few: 6 donors, 3 of each class.
- within: 10 donors with 3 labelled rows of each class.
- both: 8 donors of one class each, and 4 with both.

With `--shift` the first 5 columns, which do not differ between donors otherwise, and 5 that do,
differ by so much between the classes. What is shown, without and with `groups`, is the share of
runs in which anything else is significant, which is to be at most .05, with its standard error; the
share in which the p-value of the whole is at most .05; and how many of the 10 are significant.

`batches`: 120 rows in two batches, one with a quarter and one with three quarters of the second
class, and 20 labelled rows in each, of which 5 are of the rarer class. Of 100 columns 5 tell the
classes apart, by `--shift` or 1.5, and 10 the batches, by 3; then the same without the former. What
is significant, with and without `batch`, and the mean ranks of both kinds of columns.
"""

import argparse
import time
import warnings

import numpy as np
from joblib import Parallel, delayed

from semisift import METHODS

N_COLUMNS, N_MARKERS = 100, 10
ASSESS = {"n_resamples": 0, "n_permutations": 39, "fast": True}
KINDS = ("between", "unequal", "sample", "few", "within", "both")


def draw_classes(kind, rng):
    """Return the classes of the rows of each donor, and which rows are labelled."""
    n_donors = {"few": 6, "sample": 20, "within": 10, "both": 12}.get(kind, 14)
    own = rng.permutation(np.arange(n_donors) % 2)
    is_labelled = np.arange(n_donors) < 6 if kind == "sample" else np.ones(n_donors, dtype=bool)
    if kind == "sample":
        own[:6] = rng.permutation(np.arange(6) % 2)
    classes, given = [], []
    for donor in range(n_donors):
        n_rows, n_labelled = 10, 3
        if kind == "unequal":
            n_rows, n_labelled = rng.integers(2, 19), rng.integers(1, 7)
        of_rows = np.full(n_rows, own[donor])
        if kind == "within" or (kind == "both" and donor < 4):
            of_rows, n_labelled = np.arange(n_rows) % 2, 6
        classes.append(of_rows)
        given.append((np.arange(n_rows) < n_labelled) & is_labelled[donor])
    return classes, given


def donors(kind, seed, shift=0.0):
    """Return X, the labels given, the donor of each row and which columns are markers."""
    rng = np.random.default_rng([seed, 0x646F6E, KINDS.index(kind)])
    classes, given = draw_classes(kind, rng)
    groups = np.repeat(np.arange(len(classes)), [len(each) for each in classes])
    y, is_given = np.concatenate(classes), np.concatenate(given)
    X = rng.normal(size=(len(y), N_COLUMNS))
    half = N_COLUMNS // 2
    X[:, half:] += rng.normal(size=(len(classes), half))[groups]
    markers = np.isin(np.arange(N_COLUMNS), [*range(5), *range(half, half + 5)])
    X[:, markers] += shift * y[:, None]
    return X, np.where(is_given, y, -1), groups, markers & (shift > 0)


def batches(seed, shift):
    """Return X, labels, batches, and which columns tell classes and batches apart."""
    rng = np.random.default_rng([seed, 0x626174])
    batch = np.repeat([0, 1], 60)
    y = np.where(np.arange(120) % 4 == 0, 1 - batch, batch)
    X = rng.normal(size=(120, N_COLUMNS))
    X[:, :5] += shift * y[:, None]
    X[:, 5:15] += 3 * batch[:, None]
    given = np.full(120, -1)
    for number in (0, 1):
        for label, n_labelled in ((number, 15), (1 - number, 5)):
            rows = np.flatnonzero((batch == number) & (y == label))
            given[rng.permutation(rows)[:n_labelled]] = label
    columns = np.arange(N_COLUMNS)
    return X, given, batch, columns < 5, (columns >= 5) & (columns < 15)


def significant(method, rule, X, y, seed, **known):
    """Return which columns are significant, the p-value of an assessment, and the ranking."""
    number = None if rule == "assess" else rule
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker = METHODS[method].cls(n_features_to_select=number, random_state=seed)
        ranker.fit(X, y, **known)
        if rule != "assess":
            return ranker.decisions_ == "significant", np.nan, ranker.ranking_
        sure = ranker.assess(X, y, **ASSESS, **known)
        return sure.decisions == "significant", sure.p_value, ranker.ranking_


def donor_trial(kind, method, rule, shift, seed):
    X, y, groups, markers = donors(kind, seed, shift)
    values = []
    for known in ({}, {"groups": groups}):
        found, p_value, _ = significant(method, rule, X, y, seed, **known)
        values.append([(found & ~markers).any(), p_value <= 0.05 + 1e-12, (found & markers).sum()])
    return values


def batch_trial(method, rule, shift, seed):
    X, y, batch, markers, of_batch = batches(seed, shift)
    useless, values = ~markers | (shift == 0), []
    for known in ({}, {"batch": batch}):
        found, p_value, ranking = significant(method, rule, X, y, seed, **known)
        counts = (found & useless).any(), p_value <= 0.05 + 1e-12, (found & ~useless).sum()
        values.append([*counts, ranking[markers].mean(), ranking[of_batch].mean()])
    return values


def share(hits):
    """Return a share of runs with its standard error."""
    return f"{np.mean(hits):.3f} ({np.std(hits) / np.sqrt(len(hits)):.3f})"


def show_donors(options):
    head = f"{'donors':10}{'method':14}{'rule':10}{'groups':8}"
    print(head + f"{'useless':>16}{'p <= .05':>16}{'markers':>9}  CPU s")
    for kind in options.kinds or KINDS:
        for method in options.methods:
            for rule in options.rules:
                start = time.process_time()
                runs = range(options.first, options.first + options.runs)
                jobs = (delayed(donor_trial)(kind, method, rule, options.shift, n) for n in runs)
                found = np.array(Parallel(options.jobs)(jobs), dtype=float)
                spent = time.process_time() - start
                for number, known in enumerate(("no", "yes")):
                    useless, low, markers = found[:, number].T
                    line = f"{kind:10}{method:14}{rule:10}{known:8}{share(useless):>16}"
                    print(f"{line}{share(low):>16}{markers.mean():9.1f}{spent:7.0f}", flush=True)


def show_batches(options):
    head = f"{'shift':7}{'method':14}{'rule':10}{'batch':8}{'useless':>16}{'p <= .05':>16}"
    print(head + f"{'markers':>9}{'their rank':>12}{'of batch':>10}")
    for shift in (options.shift or 1.5, 0.0):
        for method in options.methods:
            for rule in options.rules:
                runs = range(options.first, options.first + options.runs)
                jobs = (delayed(batch_trial)(method, rule, shift, n) for n in runs)
                found = np.array(Parallel(options.jobs)(jobs), dtype=float)
                for number, known in enumerate(("no", "yes")):
                    useless, low, markers, rank, of_batch = found[:, number].T
                    line = f"{shift:<7}{method:14}{rule:10}{known:8}{share(useless):>16}"
                    line += f"{share(low):>16}{markers.mean():9.1f}{rank.mean():12.1f}"
                    print(f"{line}{of_batch.mean():10.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["donors", "batches"])
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--shift", type=float, default=0.0)
    for name, default in [("kinds", None), ("methods", ["fisher"]), ("rules", ["assess"])]:
        parser.add_argument(f"--{name}", type=lambda text: text.split(","), default=default)
    options = parser.parse_args()
    {"donors": show_donors, "batches": show_batches}[options.what](options)


if __name__ == "__main__":
    main()
