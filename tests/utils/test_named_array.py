"""Names of columns on their way from a file to a ranking, and what is no matrix."""

import copy
import pickle
import re

import joblib
import numpy as np
import pytest
from scipy.sparse import csr_array, issparse, save_npz
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from semisift import (
    SSFI,
    ConstraintScore,
    FisherScore,
    TransductiveScore,
    normalize_counts,
    read_table,
)
from semisift.utils._named_array import knows_logarithms, names_of

NAMES = [f"gene_{letter}" for letter in "abcdefgh"]


@pytest.fixture(params=["dense", "sparse"])
def read(request, tmp_path):
    """A table of a file, with named features of which the third and fourth tell the classes."""
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, (40, 8)).astype(float)
    y = np.arange(40) % 2
    X[:, 2:4] += 6.0 * y[:, None]
    labels = np.where(np.arange(40) < 16, np.array(["no", "yes"])[y], "")
    if request.param == "dense":
        path = tmp_path / "table.csv"
        rows = [",".join([*map(str, row), label]) for row, label in zip(X, labels, strict=True)]
        path.write_text("\n".join([",".join([*NAMES, "outcome"]), *rows]))
        return read_table(path, label="outcome")
    path = tmp_path / "table.npz"
    save_npz(path, csr_array(X))
    np.savez(path, **np.load(path), feature_names=np.array(NAMES), y=labels)
    return read_table(path)


def test_names_reach_the_ranker_and_its_page(read, tmp_path):
    ranker = SSFI(n_features_to_select=2).fit(read.X, read.y)
    assert ranker.feature_names_in_.tolist() == NAMES
    assert sorted(ranker.get_feature_names_out()) == ["gene_c", "gene_d"]
    page = ranker.report(tmp_path / "page.html", read.X, read.y).read_text(encoding="utf-8")
    assert re.search(r"Best: <?.*gene_[cd]", page)
    assert "x2" not in re.findall(r"\bx\d\b", page)
    assert "gene_c" in ranker._repr_html_()


def test_a_fitted_ranker_takes_the_same_names(read):
    ranker = SSFI(n_features_to_select=2).fit(read.X, read.y)
    picked = ranker.transform(read.X)
    assert picked.shape == (40, 2)
    assert issparse(picked) == issparse(read.X)
    assert ranker.transform(read.X[:5]).shape == (5, 2)
    assert ranker.assess(read.X, read.y, n_resamples=2, n_permutations=2).p_value <= 1
    assert clone(ranker).fit(read.X, read.y).feature_names_in_.tolist() == NAMES


def test_transform_refuses_other_names_and_other_widths(read):
    ranker = FisherScore().fit(read.X, read.y)
    other = read.X[:]
    other.feature_names = np.array([*NAMES[:-1], "other"], dtype=object)
    with pytest.raises(ValueError, match="unseen at fit time:\n- other"):
        ranker.transform(other)
    unnamed = FisherScore().fit(read.X + 0 * read.X, read.y)
    assert not hasattr(unnamed, "feature_names_in_")
    assert unnamed.transform(read.X).shape == (40, 4)
    with pytest.raises(ValueError, match="8 features"):
        unnamed.transform(read.X[:, :3])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        ranker.transform(read.X[:, :8])


def test_names_go_with_rows_and_with_nothing_else(read):
    train, _, y, _ = train_test_split(read.X, read.y, random_state=0)
    assert FisherScore().fit(train, y).feature_names_in_.tolist() == NAMES
    for other in (read.X[:, ::-1], read.X.T, 2 * read.X, abs(read.X)):
        assert getattr(other, "feature_names", None) is None
    assert read.X[0].ndim == 1 or getattr(read.X[0], "feature_names", None) is None


@pytest.mark.parametrize("is_log", [False, True])
def test_copies_know_as_much(read, is_log, tmp_path):
    X = read.X[:]
    X.is_log = is_log
    joblib.dump(X, tmp_path / "X.joblib")
    for other in (
        X.copy(),
        copy.copy(X),
        copy.deepcopy(X),
        *(pickle.loads(pickle.dumps(X, protocol)) for protocol in range(2, 6)),
        joblib.load(tmp_path / "X.joblib"),
    ):
        assert type(other) is type(X)
        assert names_of(other).tolist() == NAMES
        assert knows_logarithms(other) is is_log
        assert abs(other - X).max() == 0
    plain = pickle.loads(pickle.dumps(2 * X))
    assert names_of(plain) is None
    assert not knows_logarithms(plain)


def test_what_is_sorted_knows_nothing(read):
    if issparse(read.X):
        pytest.skip("scipy sorts no sparse matrices")
    for other in (np.sort(read.X, axis=1), np.partition(read.X, 3, axis=0)):
        assert names_of(other) is None
    assert names_of(read.X).tolist() == NAMES


def test_workers_know_as_much():
    """joblib hands arrays of more than 1 MB to its processes as maps of memory."""
    rng = np.random.default_rng(0)
    y = np.arange(700) % 2
    few = np.where(np.arange(700) < 20, y, -1)
    depth = rng.lognormal(0, 0.5, (700, 1)) * np.where(few == 1, 2, 1)[:, None]
    rates = np.repeat(0.7 * depth, 400, axis=1)
    rates[:, :10] *= 1.0 + y[:, None]
    counts = rng.poisson(rates)
    forms = [normalize_counts(counts), normalize_counts(csr_array(counts))]
    assert min(forms[0].nbytes, forms[1].data.nbytes) > 1 << 20
    wanted = [TransductiveScore().fit(X, few).scores_.tobytes() for X in forms]
    plain = TransductiveScore().fit(np.asarray(forms[0]), few)
    assert plain.scores_.tobytes() != wanted[0]  # the mark matters here
    for backend in ("loky", "threading"):
        fit = joblib.delayed(TransductiveScore().fit)
        found = joblib.Parallel(n_jobs=2, backend=backend)(fit(X, few) for X in forms)
        assert [each.scores_.tobytes() for each in found] == wanted


def test_pipelines_keep_the_names(read):
    pipeline = make_pipeline(FisherScore(n_features_to_select=2), MaxAbsScaler())
    pipeline.fit(read.X, read.y)
    assert sorted(pipeline.get_feature_names_out()) == ["gene_c", "gene_d"]
    pipeline = make_pipeline(MaxAbsScaler(), FisherScore(n_features_to_select=2))
    pipeline.fit(read.X, read.y)
    assert sorted(pipeline.get_feature_names_out(read.feature_names)) == ["gene_c", "gene_d"]


def test_frames_are_set_out_with_the_names(read):
    if issparse(read.X):
        pytest.skip("scikit-learn makes no frames of sparse matrices")
    ranker = SSFI(n_features_to_select=2).set_output(transform="polars")
    assert ranker.fit_transform(read.X, read.y).columns == ["gene_c", "gene_d"]


def test_scores_do_not_depend_on_the_names(read):
    plain = csr_array(read.X) if issparse(read.X) else np.asarray(read.X)
    named, unnamed = (ConstraintScore().fit(X, read.y) for X in (read.X, plain))
    assert named.scores_.tobytes() == unnamed.scores_.tobytes()


def test_arrays_of_dask_are_taken():
    dask = pytest.importorskip("dask.array")
    X, y = np.arange(18.0).reshape(6, 3) % 5, [0, 1, 0, 1, -1, -1]
    found = FisherScore().fit(dask.from_array(X, chunks=2), y)
    assert found.scores_.tobytes() == FisherScore().fit(X, y).scores_.tobytes()


def test_anndata_is_refused():
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(np.ones((6, 3), dtype=np.float32))
    with pytest.raises(TypeError, match=r"X must be a matrix: got anndata's AnnData.*adata\.X"):
        FisherScore().fit(cells, [0, 1, 0, 1, -1, -1])
