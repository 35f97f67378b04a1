"""Names of columns on their way from a file to a ranking, and what is no matrix."""

import re

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse, save_npz
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from semisift import SSFI, ConstraintScore, FisherScore, read_table

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
