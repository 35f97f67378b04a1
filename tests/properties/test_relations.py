"""For every method: tables that say the same have the same answers, and answers are numbers.

What a method promises where columns, rows or names of classes change places stands in
docs/promises.toml, of which a page of the site is made.
"""

import tomllib
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal
from scipy import sparse

from semisift import METHODS, parallel
from semisift.base import _training_data
from semisift.utils import _columns, _graph, _neighbors
from tests.conftest import in_numpy, make_data
from tests.nightly import daily_are
from tests.properties.fits import MODELS, answer, make
from tests.properties.profiles import IS_LONG, REPRESENTATIVES
from tests.properties.tables import (
    GENERAL,
    Recipe,
    dense_forms,
    label_forms,
    recipes,
    sparse_forms,
    turned,
)

PROMISES = tomllib.loads(
    Path(__file__).parents[2].joinpath("docs/promises.toml").read_text("utf-8")
)
WORDS = PROMISES.pop("words")

# Of the largest score.
ROUNDING = 1e-9

every = pytest.mark.parametrize("name", MODELS)


def test_every_method_promises():
    assert sorted(PROMISES) == MODELS
    for promised in PROMISES.values():
        assert set(promised) == {"columns", "rows", "names", "engines"}
        assert set(promised.values()) <= set(WORDS)


def promised(name, what, recipe):
    """Return how alike answers have to be: bits, rounding, or in what follows from ties and draws.

    Where labels are of one class alone, soft labels of all rows say which of them are the rest.
    """
    promise = PROMISES[name][what]
    if recipe.n_classes == 1 and what == "rows" and promise in ("bits", "rounding"):
        promise = "draws" if "n_members" in make(name).get_params() else "untied"
    if promise == "untied":
        return "rounding" if recipe.values in GENERAL else "ties"
    return promise


def assert_same(found, expected, promise="bits", where=""):
    """Compare two answers as closely as is promised."""
    assert (found.refused is None) == (expected.refused is None), (where, found, expected)
    for of in ("of_columns", "of_rows"):
        for key, wanted in getattr(expected, of).items():
            assert_close(getattr(found, of)[key], wanted, promise, f"{where} {key}")


def assert_close(found, wanted, promise, key):
    if promise == "bits" or found.dtype.kind not in "fc":
        if promise in ("bits", "rounding"):
            assert_array_equal(found, wanted, err_msg=key)
        return
    if promise == "rounding":
        assert_array_equal(np.isnan(found), np.isnan(wanted), err_msg=key)
        finite = np.isfinite(wanted)
        assert_array_equal(found[~finite], wanted[~finite], err_msg=key)
        largest = np.abs(wanted[finite]).max(initial=0.0)
        assert (np.abs(found[finite] - wanted[finite]) <= ROUNDING * largest).all(), (found, wanted)


def few(forms, recipe, n=2):
    """Return a few of many forms, others for each recipe."""
    names = sorted(forms)
    rng = np.random.default_rng(recipe.seed)
    return {name: forms[name] for name in rng.permutation(names)[:n]}


# --- what holds for all, to the last bit ----------------------------------------------------------


def check_forms(name, recipe, folder):
    X, y = recipe.make()
    expected = answer(name, X, y)
    for form, given_ in few(dense_forms(X, folder), recipe).items():
        assert_same(answer(name, given_, y), expected, where=form)
    for form, given_ in few(sparse_forms(X), recipe).items():
        assert_same(answer(name, given_, y), expected, where=form)


def check_scores(name, recipe, folder):
    """Columns that vary among rows of two classes have a score, unless no member draws them."""
    recipe = replace(recipe, values=GENERAL[recipe.seed % 2], n_rows=max(recipe.n_rows, 12))
    X, y = replace(recipe, n_classes=max(2, recipe.n_classes)).make()
    found = answer(name, X, y)
    assert found.refused is None
    if name in METHODS and PROMISES[name]["columns"] != "draws":
        assert not np.isnan(found.of_columns["scores"]).any(), found


def check_labels(name, recipe, folder):
    X, y = recipe.make()
    expected = answer(name, X, y)
    for form, given_ in few(label_forms(y), recipe, 4).items():
        found = answer(name, X, given_)
        assert_same(found, expected, where=form)


def check_sparse_columns(name, recipe, folder):
    """Small sparse tables worked on as large ones are, to rounding: sums have another order."""
    X, y = recipe.make()
    expected = answer(name, X, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_columns, "MIN_VALUES", 0)
        patch.setattr(_columns, "MIN_COLUMNS", -1)
        found = answer(name, sparse.csr_array(X), y)
    assert_same(found, expected, "ties")


def check_threads_and_blocks(name, recipe, folder):
    X, y = recipe.make()
    expected = answer(name, X, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "BLOCK_SIZE", 2)
        assert_same(answer(name, X, y, n_jobs=2), expected)
        # sums of products in blocks of columns: BLAS adds in another order
        for module in (_columns, _graph, _neighbors, _training_data):
            patch.setattr(module, "BLOCK_VALUES", 30)
        promise = PROMISES[name]["columns"]
        assert_same(answer(name, X, y), expected, "ties" if promise == "draws" else "rounding")


# --- what each promises for itself ----------------------------------------------------------------


def check_columns(name, recipe, folder):
    X, y = recipe.make()
    order = np.random.default_rng(recipe.seed).permutation(X.shape[1])
    expected = answer(name, X, y).taken(columns=order)
    assert_same(answer(name, X[:, order], y), expected, promised(name, "columns", recipe))


def check_rows(name, recipe, folder):
    X, y = recipe.make()
    order, unlabelled = np.arange(len(y)), np.flatnonzero(y < 0)
    order[unlabelled] = np.random.default_rng(recipe.seed).permutation(unlabelled)
    expected = answer(name, X, y).taken(rows=order)
    assert_same(answer(name, X[order], y), expected, promised(name, "rows", recipe))


def check_names(name, recipe, folder):
    X, y = recipe.make()
    order = np.random.default_rng(recipe.seed).permutation(y.max() + 1)
    expected = answer(name, X, y).renamed(order)
    found = answer(name, X, np.where(y < 0, -1, order[y]))
    assert_same(found, expected, promised(name, "names", recipe))


def check_engines(name, recipe, folder):
    X, y = recipe.make()
    expected = answer(name, X, y)
    with in_numpy():
        found = answer(name, X, y)
    assert_same(found, expected, promised(name, "engines", recipe))


CHECKS = {
    "columns": check_columns,
    "engines": check_engines,
    "forms": check_forms,
    "labels": check_labels,
    "names": check_names,
    "rows": check_rows,
    "scores": check_scores,
    "sparse columns": check_sparse_columns,
    "threads and blocks": check_threads_and_blocks,
}


@pytest.mark.parametrize("relation", CHECKS)
@every
@given(recipe=recipes())
def test_relation(relation, name, folder, recipe):
    CHECKS[relation](name, turned(recipe, f"{relation} {name}"), folder)


# --- where ties and draws are settled otherwise: what is plain to see is found all the same -------

LOOSE = [
    (name, what)
    for name in MODELS
    for what, promise in PROMISES[name].items()
    if promise in ("draws", "ties")
]


@pytest.mark.parametrize(
    ("name", "what"), daily_are([pair for pair in LOOSE if pair[0] in REPRESENTATIVES], LOOSE)
)
def test_other_draws_find_the_same(name, what):
    """Of rankers one column, since some avoid what is redundant; of learners every view."""
    _, y, y_true = make_data(n_rows=40)
    follows = np.arange(6) == 0 if name in METHODS else np.ones(6, dtype=bool)
    X = np.random.default_rng(21).normal(size=(40, 6)) + 6.0 * y_true[:, None] * follows
    if what == "columns":
        X, follows = X[:, ::-1], follows[::-1]
    elif what == "rows":
        order = np.r_[np.flatnonzero(y >= 0), np.flatnonzero(y < 0)[::-1]]
        X, y, y_true = X[order], y[order], y_true[order]
    elif what == "names":
        y, y_true = np.where(y < 0, y, 1 - y), 1 - y_true
    with in_numpy() if what == "engines" else nullcontext():
        found = answer(name, X, y, n_members=60, n_samplings=20)
    if name in METHODS:
        assert follows[np.argmax(found.of_columns["scores"])], found
    else:
        assert_array_equal(found.of_rows["probabilities"].argmax(axis=1), y_true)


# --- what once went wrong -------------------------------------------------------------------------

MIXED = Recipe("mixed", n_rows=20, n_columns=7, n_classes=4, per_class=4, seed=543)
SPECIAL = Recipe("special", n_rows=6, n_columns=1, n_classes=5, per_class=1, seed=541)
KEPT = [
    # distances beyond the largest float, in numpy
    ("engines", "prob-mrmr", MIXED),
    ("engines", "rasco", MIXED),
    ("engines", "rel-rasco", MIXED),
    # a span beyond the largest float, in numpy
    ("engines", "rel-rasco", Recipe("special", n_rows=3, seed=4274)),
    ("engines", "self-training", MIXED),
    # a factor beyond the largest float, of sparse columns below the smallest one
    ("forms", "fs-manifold", MIXED),
    ("forms", "s3vm-fs", MIXED),
    ("forms", "s3vm-rfe", MIXED),
    # no pair, in a unit whose square is infinite
    ("forms", "bs", SPECIAL),
    ("forms", "constraint", SPECIAL),
    # nothing varies within the classes: probabilities were NaN
    ("forms", "transduction", Recipe("normal", n_rows=2, n_columns=7, n_classes=3, seed=284)),
    # values whose sum is beyond the largest float
    ("labels", "co-training", Recipe("special", n_rows=31, n_classes=5, seed=618)),
    ("sparse columns", "fw-semifs", Recipe("constant", 29, 1, n_classes=1, seed=605)),
    # a member whose rows are far smaller than the unit of their column
    ("threads and blocks", "enscls", Recipe("special", n_rows=8, seed=5737)),
    # one row, and no neighbour
    ("forms", "csfs", Recipe("counts", n_rows=1, n_columns=2, n_classes=5, seed=912)),
]


@pytest.mark.parametrize(("relation", "name", "recipe"), KEPT)
def test_what_once_went_wrong(relation, name, recipe, folder):
    CHECKS[relation](name, recipe, folder)


@pytest.mark.parametrize("name", ["fisher", "c4", "cls", "constraint", "lsdf", "semi-fisher"])
def test_a_huge_column_leaves_the_others_their_scores(name):
    """Those beside it were taken for constant ones."""
    X, y = Recipe(n_columns=6).make()
    huge = np.where(np.arange(6) == 5, X * 1e307, X)
    found, expected = (answer(name, each, y).of_columns["scores"] for each in (huge, X))
    assert np.isfinite(found).all()
    if name in ("fisher", "constraint"):  # of one column at a time
        assert_array_equal(found[:5], expected[:5])


# --- a thousand classes ---------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:The number of unique classes is greater")  # of scikit-learn
@pytest.mark.parametrize("name", MODELS if IS_LONG else ["fisher", "ssfi", "tri-training"])
def test_a_thousand_classes(name):
    answer(name, *Recipe(n_rows=1010, n_columns=2, n_classes=1000, per_class=1).make())
