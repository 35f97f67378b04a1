"""Rankings of rows that stay on disk: the bits of rankings in memory, for any store and chunks."""

import os
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix, issparse
from sklearn.base import clone

from semisift import (
    S3VMFS,
    SSFI,
    Consensus,
    ConstraintScore,
    FisherScore,
    LaplacianScore,
    OutOfCoreError,
    OutOfCoreMatrix,
    PCTForestImportance,
    SemiMIM,
    SubsamplingWarning,
    TransductiveClassifier,
    TransductiveScore,
    UnlabelledTextWarning,
    VarianceScore,
)
from semisift.base import _estimator, _ranker, _training_data
from semisift.out_of_core import _matrix as stored_rows
from tests.conftest import in_numpy
from tests.nightly import daily_are, nightly

N_ROWS, N_COLUMNS = 1200, 40
LITTLE = 400_000  # bytes: holds some 300 rows

ONE_PASS = [VarianceScore(), FisherScore(), ConstraintScore(), SemiMIM()]
SAMPLED = [
    TransductiveScore(max_unlabelled=150, random_state=1),
    SSFI(max_unlabelled=150, n_members=80, random_state=1),
    S3VMFS(max_unlabelled=60, random_state=1),
    PCTForestImportance(max_unlabelled=60, n_members=8, random_state=1),
]


def by_name(ranker):
    return type(ranker).__name__


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(stored_rows, "BLOCK_VALUES", 1 << 12)
    monkeypatch.setattr(stored_rows, "READ_BYTES", 1 << 14)


def case(kind="measurements"):
    rng = np.random.default_rng(3)
    truth = np.arange(N_ROWS) % 3
    if kind == "counts":
        X = rng.poisson(0.4 + 2.0 * (truth[:, None] == np.arange(N_COLUMNS) % 6))
        X = X.astype(float)
    else:
        X = rng.normal(size=(N_ROWS, N_COLUMNS)) + 3.0
        X[:, :4] += truth[:, None]
    X[:, 7] = 2.0  # constant
    X[:, 8] = rng.integers(0, 3, N_ROWS)  # few values
    y = np.full(N_ROWS, -1)
    for code in range(3):
        y[np.flatnonzero(truth == code)[::37][:6]] = code
    return X, y, truth


def as_memmap(X, folder, n_chunk):
    file = folder / "X.npy"
    np.save(file, X)
    return np.load(file, mmap_mode="r")


def as_h5py(X, folder, n_chunk):
    h5py = pytest.importorskip("h5py")
    file = h5py.File(folder / "X.h5", "w")
    return file.create_dataset("X", data=X, chunks=(n_chunk, X.shape[1]))


def as_zarr(X, folder, n_chunk):
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(
        folder / "X.zarr", shape=X.shape, dtype=X.dtype, chunks=(n_chunk, X.shape[1])
    )
    array[:] = X
    return array


def as_dask(X, folder, n_chunk):
    dask = pytest.importorskip("dask.array")
    return dask.from_array(X, chunks=(n_chunk, 11))  # columns in chunks as well


def as_sparse_dask(X, folder, n_chunk):
    dask = pytest.importorskip("dask.array")
    whole = dask.from_array(X, chunks=(n_chunk, -1))
    return whole.map_blocks(csr_matrix, dtype=X.dtype, meta=csr_matrix((0, 0)))


def as_backed(X, folder, n_chunk):
    anndata = pytest.importorskip("anndata")
    anndata.AnnData(csr_matrix(X)).write_h5ad(folder / "X.h5ad")
    return anndata.read_h5ad(folder / "X.h5ad", backed="r").X


def as_lazy(X, folder, n_chunk):
    anndata = pytest.importorskip("anndata")
    pytest.importorskip("xarray", reason="anndata reads lazily with xarray")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # on the version of the format
        anndata.AnnData(csr_matrix(X)).write_zarr(folder / "X.zarr")
    return anndata.experimental.read_lazy(folder / "X.zarr").X


DENSE = [as_memmap, as_h5py, as_zarr, as_dask]
SPARSE = [as_sparse_dask, as_backed, as_lazy]


def same(stored, plain):
    assert_array_equal(stored.scores_, plain.scores_)
    assert_array_equal(stored.ranking_, plain.ranking_)
    if plain.is_transductive:
        assert_array_equal(stored.transduction_, plain.transduction_)
        assert_array_equal(stored.confidence_, plain.confidence_)
        assert len(stored.confidence_) == N_ROWS


@pytest.mark.parametrize("ranker", [*ONE_PASS, SAMPLED[0], *map(nightly, SAMPLED[1:])], ids=by_name)
@pytest.mark.parametrize("store", DENSE)
@pytest.mark.filterwarnings("ignore:.*few edges")
def test_dense_stores_give_the_bits_of_memory(ranker, store, tmp_path):
    X, y, _ = case()
    plain = ranker.fit(X, y)
    wanted = {name: value for name, value in vars(plain).items() if name.endswith("_")}
    rows = OutOfCoreMatrix(store(X, tmp_path, 130), max_memory=LITTLE)
    assert not rows.fits()
    stored = type(ranker)(**ranker.get_params()).fit(rows, y)
    assert_array_equal(stored.scores_, wanted["scores_"])
    same(stored, plain)


@pytest.mark.parametrize("ranker", [*ONE_PASS, *map(nightly, SAMPLED[:2])], ids=by_name)
@pytest.mark.parametrize("store", SPARSE)
def test_sparse_stores_give_the_bits_of_memory(ranker, store, tmp_path, stay_sparse):
    X, y, _ = case("counts")
    plain = type(ranker)(**ranker.get_params()).fit(csr_array(X), y)
    rows = OutOfCoreMatrix(store(X, tmp_path, 130), max_memory=LITTLE)
    assert rows.is_sparse
    assert not rows.fits()
    same(type(ranker)(**ranker.get_params()).fit(rows, y), plain)


@pytest.mark.parametrize("ranker", ONE_PASS[:1] + SAMPLED[:2], ids=by_name)
@pytest.mark.parametrize("n_chunk", [23, nightly(64), 999, nightly(N_ROWS)])
def test_chunks_do_not_matter(ranker, n_chunk, tmp_path):
    X, y, _ = case()
    plain = type(ranker)(**ranker.get_params()).fit(X, y)
    rows = OutOfCoreMatrix(as_dask(X, tmp_path, n_chunk), max_memory=3 * LITTLE)
    assert not rows.fits()
    same(type(ranker)(**ranker.get_params()).fit(rows, y), plain)


@pytest.mark.parametrize("n_bytes", [1 << 10, 1 << 16])
@pytest.mark.parametrize("ranker", SAMPLED[:2], ids=by_name)
def test_how_much_is_read_at_once_does_not_matter(ranker, n_bytes, tmp_path, monkeypatch):
    X, y, _ = case()
    plain = type(ranker)(**ranker.get_params()).fit(X, y)
    monkeypatch.setattr(stored_rows, "READ_BYTES", n_bytes)
    rows = OutOfCoreMatrix(as_memmap(X, tmp_path, 0), max_memory=LITTLE)
    same(type(ranker)(**ranker.get_params()).fit(rows, y), plain)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_do_not_matter(n_jobs, tmp_path):
    X, y, _ = case()
    plain = SSFI(**SAMPLED[1].get_params()).fit(X, y)
    rows = OutOfCoreMatrix(as_memmap(X, tmp_path, 0), max_memory=LITTLE)
    same(SSFI(**{**SAMPLED[1].get_params(), "n_jobs": n_jobs}).fit(rows, y), plain)


def test_numpy_gives_the_bits_of_the_kernels(tmp_path):
    X, y, _ = case("counts")
    for form in (np.asarray, csr_array):
        rows = form(X)
        compiled = [
            ranker.fit(OutOfCoreMatrix(rows, max_memory=LITTLE), y).scores_ for ranker in ONE_PASS
        ]
        with in_numpy():
            plain = [
                ranker.fit(OutOfCoreMatrix(rows, max_memory=LITTLE), y).scores_
                for ranker in ONE_PASS
            ]
        for one, other in zip(compiled, plain, strict=True):
            assert_array_equal(one, other)


def test_the_consensus_from_disk(tmp_path):
    X, y, truth = case()
    params = {"n_members": 80, "random_state": 0}
    plain = Consensus(**params).fit(X, y)
    rows = OutOfCoreMatrix(as_memmap(X, tmp_path, 0), max_memory=3 * LITTLE)
    with pytest.warns(SubsamplingWarning, match="hold .* unlabelled rows"):
        stored = Consensus(**params).fit(rows, y)
    assert (
        set(np.argsort(stored.ranking_)[:4]) == set(np.argsort(plain.ranking_)[:4]) == {0, 1, 2, 3}
    )
    assert np.mean(stored.transduction_ == truth) > 0.7
    assert len(stored.label_distributions_) == N_ROWS
    sure = stored.assess(rows, y, n_resamples=5, n_permutations=39)
    assert sure.p_value < 0.1


def test_what_fits_is_loaded_whole(tmp_path):
    X, y, _ = case()
    plain = LaplacianScore().fit(X)
    stored = LaplacianScore().fit(as_memmap(X, tmp_path, 0))
    assert_array_equal(plain.scores_, stored.scores_)
    named = OutOfCoreMatrix(X, feature_names=[f"f{j}" for j in range(N_COLUMNS)])
    assert FisherScore().fit(named, y).feature_names_in_[3] == "f3"


def test_methods_that_hold_their_rows_say_so(tmp_path, monkeypatch):
    X, _, _ = case()
    rows = OutOfCoreMatrix(as_memmap(X, tmp_path, 0), max_memory=LITTLE)
    with pytest.warns(SubsamplingWarning, match="hold 312 unlabelled rows of X, where 1,200 would"):
        LaplacianScore().fit(rows)
    monkeypatch.setattr(_training_data, "MAX_SAMPLED", 200)
    monkeypatch.setattr(_estimator, "MAX_SAMPLED", 200)
    monkeypatch.setattr(_ranker, "MAX_SAMPLED", 200)
    with pytest.warns(SubsamplingWarning, match="LaplacianScore holds .* 200 of 1,200 unlabelled"):
        ranker = LaplacianScore().fit(rows)
    assert_allclose(len(ranker.ranking_), N_COLUMNS)


def test_learners_refuse_what_does_not_fit(tmp_path):
    X, y, _ = case()
    rows = OutOfCoreMatrix(as_memmap(X, tmp_path, 0), max_memory=LITTLE)
    with pytest.raises(OutOfCoreError, match="TransductiveClassifier holds all rows in memory"):
        TransductiveClassifier().fit(rows, y)


def test_labelled_rows_that_do_not_fit_are_refused(tmp_path):
    X, _, truth = case()
    rows = OutOfCoreMatrix(as_memmap(X, tmp_path, 0), max_memory=LITTLE)
    with pytest.raises(OutOfCoreError, match=r"holds the labelled rows in memory: 1,200 of them"):
        SSFI().fit(rows, truth)


@pytest.mark.parametrize("kind", ["measurements", "counts"])
@pytest.mark.parametrize("ranker", ONE_PASS, ids=by_name)
def test_many_labelled_rows_need_no_room(ranker, kind, tmp_path):
    X, _, truth = case(kind)
    y = np.where(np.arange(N_ROWS) % 5 == 0, -1, truth)
    plain = type(ranker)().fit(X, y)
    for form in (np.asarray, csr_array):
        rows = OutOfCoreMatrix(form(X), max_memory=LITTLE)
        assert len(rows) > 2 * rows.max_sampled
        same(type(ranker)().fit(rows, y), plain)


def test_pairs_of_stored_rows(tmp_path):
    X, _, _ = case()
    pairs = {"must_link": [(0, 1100), (5, 7)], "cannot_link": [(3, 900), (1199, 2)]}
    plain = ConstraintScore().fit(X, **pairs)
    rows = OutOfCoreMatrix(as_memmap(X, tmp_path, 0), max_memory=LITTLE)
    assert_array_equal(ConstraintScore().fit(rows, **pairs).scores_, plain.scores_)


@pytest.mark.parametrize("store", [as_memmap, as_sparse_dask])
def test_transform_takes_the_columns_in_one_pass(store, tmp_path):
    X, y, _ = case("counts")
    rows = OutOfCoreMatrix(store(X, tmp_path, 100), max_memory=LITTLE)
    ranker = FisherScore(n_features_to_select=3).fit(rows, y)
    reduced = ranker.transform(rows)
    assert issparse(reduced) == rows.is_sparse
    dense = reduced.toarray() if issparse(reduced) else reduced
    assert_array_equal(dense, X[:, ranker.get_support()])
    with pytest.raises(ValueError, match="X has 39 features, but FisherScore is expecting 40"):
        ranker.transform(OutOfCoreMatrix(X[:, 1:]))
    names = [f"c{j}" for j in range(X.shape[1])]
    ranker.fit(pd.DataFrame(X, columns=names), y)
    with pytest.raises(ValueError, match="feature names should match"):
        ranker.transform(OutOfCoreMatrix(X, feature_names=names[::-1]))


def test_huge_and_tiny_values(tmp_path):
    X, _, _ = case()
    X[:, 0] *= 1e200
    X[:, 1] *= 1e-200
    X[:, 2] *= 1e305
    plain = VarianceScore().fit(X)
    rows = OutOfCoreMatrix(as_memmap(X, tmp_path, 0), max_memory=LITTLE)
    assert_array_equal(VarianceScore().fit(rows).scores_, plain.scores_)


@pytest.mark.parametrize("rule", ["shadow", "stability"])
def test_rules_decide_on_the_sample(rule, tmp_path):
    X, y, _ = case()
    rows = OutOfCoreMatrix(as_memmap(X, tmp_path, 0), max_memory=LITTLE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker = FisherScore(n_features_to_select=rule).fit(rows, y)
    assert len(ranker.decisions_) == N_COLUMNS


# --- memory maps that would fit -------------------------------------------------------------------


def mapped(X, folder, order):
    file = folder / f"{order}.npy"
    np.save(file, np.asarray(X, order=order))
    return np.load(file, mmap_mode="r")


def peak_of(fit):
    """Return the largest size of what a fit allocates, in bytes; a map itself is not among it."""
    tracemalloc.start()
    try:
        fit()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "ranker", [VarianceScore(), nightly(FisherScore()), nightly(SemiMIM())], ids=by_name
)
def test_a_map_is_not_copied_whole(ranker, order, tmp_path, monkeypatch):
    monkeypatch.setattr(stored_rows, "READ_BYTES", 1 << 17)
    monkeypatch.setattr(_training_data, "BLOCK_VALUES", 1 << 14)
    X = np.random.default_rng(0).normal(size=(10_000, 50))  # 4 MB
    y = np.where(np.arange(len(X)) < 40, np.arange(len(X)) % 2, -1)
    plain = clone(ranker).fit(X, y)
    rows = mapped(X, tmp_path, order)
    stored = clone(ranker)
    stored.fit(rows[:200], y[:200])  # what is imported and made once
    if order == "C" or isinstance(ranker, VarianceScore):
        # with columns at hand the others hold the bins or the squares of all rows
        assert peak_of(lambda: stored.fit(rows, y)) < X.nbytes / 2
    assert_array_equal(stored.fit(rows, y).scores_, plain.scores_)
    assert_array_equal(stored.ranking_, plain.ranking_)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_map_that_is_held_is_copied_once_at_most(order, tmp_path):
    rows = OutOfCoreMatrix(mapped(np.ones((10_000, 50)), tmp_path, order))
    held = []
    assert peak_of(lambda: held.append(rows.load(keeps_missing=True))) < 1.3 * rows.n_bytes
    assert held[0].flags.f_contiguous
    assert_array_equal(held[0], rows.source.array)


KINDS = ["gaps", "weights", "batches", "one class", "groups", "labels of many"]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", daily_are(["gaps", "weights", "groups"], KINDS))
def test_maps_give_the_bits_of_memory(order, kind, tmp_path, monkeypatch):
    monkeypatch.setattr(_ranker, "MAX_SAMPLED", 300)
    monkeypatch.setattr(_estimator, "MAX_SAMPLED", 300)
    X, y, truth = case()
    given = {}
    if kind == "gaps":
        X[5, 3] = X[800, 2] = np.nan
    elif kind == "weights":
        given["sample_weight"] = 1.0 + np.arange(N_ROWS) % 2
    elif kind == "batches":
        given["batch"] = np.arange(N_ROWS) // 400
    elif kind == "groups":
        given["groups"] = np.arange(N_ROWS) // 2
    elif kind == "one class":
        y = np.where(y == 1, 1, -1)
    else:
        y = truth
    for ranker in (FisherScore(), SAMPLED[0], SAMPLED[1]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain = clone(ranker).fit(X, y, **given)
            same(clone(ranker).fit(mapped(X, tmp_path, order), y, **given), plain)


def between_bytes(X, folder):
    """Return a map by columns of numbers that begin at no multiple of their size."""
    (folder / "X.raw").write_bytes(b"." + X.tobytes(order="F"))
    return np.memmap(folder / "X.raw", X.dtype, "r", 1, X.shape, "F")


@pytest.mark.parametrize("kind", ["int16", ">f8", "float16", "unaligned"])
def test_maps_of_other_numbers_give_the_bits_of_memory(kind, tmp_path):
    X, y, _ = case("counts")
    if kind == "unaligned":
        stored = between_bytes(X, tmp_path)
        assert not stored.flags.aligned
    else:
        stored = mapped(X.astype(kind), tmp_path, "F")
    rows = OutOfCoreMatrix(stored)
    held = rows.load(keeps_missing=True)
    assert held.dtype == rows.dtype
    assert held.flags.aligned
    assert_array_equal(held, X)
    for ranker in (VarianceScore(), FisherScore(), LaplacianScore()):
        same(clone(ranker).fit(stored, y), clone(ranker).fit(np.array(stored), y))


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_map_with_blank_columns_is_held_with_zeros_there(order, tmp_path):
    X, _, _ = case()
    blank = np.arange(N_COLUMNS) % 3 == 0
    X[5, 0] = X[6, 1] = np.nan
    rows = OutOfCoreMatrix(mapped(X, tmp_path, order))
    assert_array_equal(rows.blanked(blank).load(keeps_missing=True), np.where(blank, 0.0, X))
    assert_array_equal(rows.load(keeps_missing=True), X)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_map_with_missing_values_is_held_only_where_they_may_stay(order, tmp_path):
    X, _, _ = case()
    X[5, 3] = np.nan
    rows = OutOfCoreMatrix(mapped(X, tmp_path, order))
    with pytest.raises(OutOfCoreError, match=r"contains NaN.\nFound in .*row 5 of X.*, column 3"):
        rows.load()
    assert_array_equal(rows.load(keeps_missing=True), X)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("ranker", [ConstraintScore(), FisherScore()], ids=by_name)
def test_what_is_asked_of_a_map_beside_a_fit_is_that_of_memory(
    ranker, order, tmp_path, monkeypatch
):
    for module in (_ranker, _training_data, _estimator):
        monkeypatch.setattr(module, "MAX_SAMPLED", 300)
    X, y, _ = case()
    given = {}
    if isinstance(ranker, ConstraintScore):
        given = {"must_link": [(0, 1100), (5, 7)], "cannot_link": [(3, 900), (1199, 2)]}
    rows, found = mapped(X, tmp_path, order), []
    for each in (X, rows):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = clone(ranker).fit(each, y, **given)
            found.append((fitted, fitted.assess(each, y, n_resamples=5, n_permutations=19)))
    (plain, sure), (stored, sure_of_stored) = found
    same(stored, plain)
    assert sure_of_stored.p_value == sure.p_value
    assert_array_equal(sure_of_stored.rank_interval, sure.rank_interval)


def test_parts_of_a_map_are_other_rows(tmp_path):
    """Passes that are kept are those of the very rows."""
    X, _, _ = case()
    rows = mapped(X, tmp_path, "C")
    parts = [rows[:600], rows[600:], rows[::2], rows[:600, ::-1], rows[:600]]
    known = {OutOfCoreMatrix(part).source.fingerprint for part in parts}
    assert len(known) == 4
    for part in parts:
        stored = OutOfCoreMatrix(part, max_memory=LITTLE, cache_dir=tmp_path / "passes")
        assert_array_equal(
            VarianceScore().fit(stored).scores_, VarianceScore().fit(np.array(part)).scores_
        )


def test_a_file_that_changed_at_the_same_time_is_another(tmp_path):
    """Where a clock is set back, or a copy keeps the time: size and time are those of before."""
    for X in (case()[0], case()[0][::-1]):
        np.save(tmp_path / "X.npy", X * np.linspace(1, 2, N_ROWS)[:, None])
        os.utime(tmp_path / "X.npy", (10**9, 10**9))
        mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
        rows = OutOfCoreMatrix(mapped, max_memory=LITTLE, cache_dir=tmp_path / "passes")
        found = VarianceScore().fit(rows).scores_
        assert_array_equal(found, VarianceScore().fit(np.array(mapped)).scores_)


@pytest.mark.parametrize("max_memory", [LITTLE, None])
def test_labels_as_text_are_told_once(tmp_path, max_memory):
    X, y, _ = case()
    rows = OutOfCoreMatrix(as_memmap(X, tmp_path, 100), max_memory=max_memory)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ranker = FisherScore().fit(rows, y.astype(str))
    assert [each.category for each in caught] == [UnlabelledTextWarning]
    assert_array_equal(ranker.scores_, FisherScore().fit(rows, y).scores_)
