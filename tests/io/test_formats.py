"""Every format reads what other programs write, and writes back what it has read."""

import gzip

import numpy as np
import polars as pl
import pytest
import scipy.io
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array, issparse, save_npz
from sklearn.datasets import load_svmlight_file

from semisift.exceptions import TableError
from semisift.io._formats import h5ad, matlab, mtx, npz, parquet, svmlight, tenx
from semisift.io._formats.matlab import write_hdf5
from semisift.io._formats.npz import write_arrays
from semisift.io._options import TableOptions

PLAIN = TableOptions()
TRANSPOSED = TableOptions(transpose=True)
NIGHTLY = pytest.mark.nightly


def same(left, right):
    """Whether two matrices, dense or sparse, hold the same numbers."""
    if isinstance(left, pl.DataFrame):
        return left.equals(right)
    different = left != right
    return left.shape == right.shape and not (
        different.nnz if issparse(different) else different.any()
    )


def round_trip(module, path, options=PLAIN, named=True, every=3):
    """Read, write every third column, read again; return what was read first."""
    table = module.read(path, options)
    fewer = table.take_columns(np.arange(0, len(table.names), every))
    target = path.with_name("written" + "".join(path.suffixes))
    module.write(fewer, target)
    again = module.read(target, options)
    assert same(again.values, fewer.values)
    assert not named or again.names == fewer.names
    assert again.rows.equals(table.rows)
    assert (again.row_names, again.label) == (table.row_names, table.label)
    assert again.transposed == table.transposed
    assert not issparse(table.values) or isinstance(table.values, csr_array)
    return table


# --- Parquet -------------------------------------------------------------------------------------


def test_parquet_keeps_types(tmp_path):
    frame = pl.DataFrame({"id": ["a", "b", None], "n": [1, 2, 3], "x": [0.5, None, 2.5]})
    frame.write_parquet(tmp_path / "t.parquet")
    table = round_trip(parquet, tmp_path / "t.parquet", every=2)
    assert table.values.equals(frame)
    assert pl.read_parquet(tmp_path / "written.parquet").schema == {
        "id": pl.String,
        "x": pl.Float64,
    }


def test_parquet_transposed(load_dataset, tmp_path):
    X, _ = load_dataset("colon_alon")
    samples = [f"s{i}" for i in range(len(X))]
    frame = pl.DataFrame({"gene": [f"g{j}" for j in range(X.shape[1])]})
    pl.concat([frame, pl.DataFrame(X.T, schema=samples)], how="horizontal").write_parquet(
        tmp_path / "t.parquet"
    )
    table = round_trip(parquet, tmp_path / "t.parquet", TRANSPOSED)
    assert (table.names[:2], table.row_names) == (["g0", "g1"], samples)
    assert np.array_equal(table.values.to_numpy(), X)
    assert pl.read_parquet(tmp_path / "written.parquet").columns == ["gene", *samples]


# --- NumPy ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "german",
        "basehock",
        *(pytest.param(n, marks=NIGHTLY) for n in ("colon_alon", "sc_mixology_5cl", "optdigits")),
    ],
)
def test_npz_of_real_data(load_dataset, data_dir, tmp_path, name):
    X, y = load_dataset(name)
    path = tmp_path / "t.npz"
    path.write_bytes((data_dir / f"{name}.npz").read_bytes())
    table = round_trip(npz, path)
    assert same(table.values, X)
    with np.load(path) as file:
        assert table.rows["y"].to_list() == file["class_names"][y].tolist()
        if "categorical" in file:
            marked = file["feature_names"][file["categorical"]]
            assert table.categorical == frozenset(marked.tolist())
        with np.load(tmp_path / "written.npz") as written:
            assert np.array_equal(written["y"], file["y"])
            assert written["y"].dtype == file["y"].dtype


@pytest.mark.parametrize("name", ["madelon", pytest.param("dexter", marks=NIGHTLY)])
def test_npz_appends_unlabelled_rows(load_dataset, data_dir, tmp_path, name):
    X, y = load_dataset(name)
    path = tmp_path / "t.npz"
    path.write_bytes((data_dir / f"{name}.npz").read_bytes())
    table = round_trip(npz, path, TableOptions(append_unlabelled=True))
    assert table.n_rows > len(y)
    assert table.rows["y"].null_count() == table.n_rows - len(y)
    assert same(table.values[: len(y)], X)
    assert len(np.load(tmp_path / "written.npz")["y"]) == len(y)


def test_npz_keeps_unlabelled_rows_of_other_columns_as_they_are(tmp_path):
    other = np.ones((2, 3))
    np.savez(tmp_path / "t.npz", X=np.arange(24.0).reshape(4, 6), u_X=other)
    round_trip(npz, tmp_path / "t.npz", named=False)
    assert same(np.load(tmp_path / "written.npz")["u_X"], other)


@pytest.mark.parametrize(
    "convert", [csr_array, csc_array, coo_array, lambda X: bsr_array(X, blocksize=(2, 3))]
)
def test_npz_of_scipy(tmp_path, convert):
    X = np.where(np.arange(24).reshape(4, 6) % 5, 0.0, 1.5)
    save_npz(tmp_path / "t.npz", convert(X))
    table = round_trip(npz, tmp_path / "t.npz", named=False)
    assert np.array_equal(table.values.toarray(), X)
    assert same(scipy.sparse.load_npz(tmp_path / "written.npz"), table.values[:, ::3])


def test_npz_beside_the_matrix(tmp_path):
    names = np.array(["a", "b", "c"])
    arrays = {
        "values": np.arange(12.0).reshape(4, 3),
        "X": np.zeros((2, 2)),
        "y": np.array([0, 1, -1, 0]),
        "class_names": ["good", "bad"],
        "row_names": list("pqrs"),
        "feature_names": names,
        "categorical": np.array([2]),
        "batch": np.array(["u", "v", "u", "v"]),
        "file": np.arange(2),  # a name that numpy.savez itself cannot write
    }
    write_arrays(tmp_path / "t.npz", {name: np.array(array) for name, array in arrays.items()})
    table = npz.read(tmp_path / "t.npz", TableOptions(matrix="values"))
    assert table.rows["y"].to_list() == ["good", "bad", None, "good"]
    assert table.rows["batch"].to_list() == ["u", "v", "u", "v"]
    assert (table.row_names, table.categorical) == (list("pqrs"), frozenset("c"))
    npz.write(table.take_columns(np.array([2, 0])), tmp_path / "written.npz")
    with np.load(tmp_path / "written.npz") as file:
        assert file["values"].tolist() == [[2, 0], [5, 3], [8, 6], [11, 9]]
        assert (file["feature_names"].tolist(), file["categorical"].tolist()) == (["c", "a"], [0])
        assert (file["y"].tolist(), file["file"].tolist()) == ([0, 1, -1, 0], [0, 1])


def test_npz_with_as_many_columns_as_rows_and_classes(tmp_path):
    arrays = {"class_names": list("pqr"), "row_names": list("stu"), "u_times": [1, 2, 3]}
    np.savez(tmp_path / "t.npz", X=np.eye(3), y=[2, 0, 1], **arrays)
    assert round_trip(npz, tmp_path / "t.npz", named=False).rows["y"].to_list() == list("rpq")
    with np.load(tmp_path / "written.npz") as file:
        assert {name: file[name].tolist() for name in arrays} == arrays


def test_npz_transposed(tmp_path):
    X = np.arange(6.0).reshape(2, 3)
    np.savez(tmp_path / "t.npz", X=X.T, y=[1, 2], feature_names=list("abc"))
    table = round_trip(npz, tmp_path / "t.npz", TRANSPOSED)
    assert np.array_equal(table.values, X)
    assert np.load(tmp_path / "written.npz")["X"].tolist() == [[0, 3]]


# --- MATLAB --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "name"),
    [
        ("5 packed", "basehock"),
        ("7.3", "colon_alon"),
        *(
            pytest.param(version, name, marks=NIGHTLY)
            for version in ("4", "5", "5 packed", "7.3")
            for name in ("colon_alon", "basehock")
            if (version, name) not in {("5 packed", "basehock"), ("7.3", "colon_alon")}
        ),
    ],
)
def test_mat_of_real_data(load_dataset, tmp_path, version, name):
    X, y = load_dataset(name)
    X = csc_array(X).astype(float) if issparse(X) else X.astype(float)
    path = tmp_path / "t.mat"
    names = [f"gene {j}" for j in range(X.shape[1])]
    if version == "7.3":
        write_hdf5(path, {"X": X, "Y": y[:, None].astype(float), "feature_names": names})
    elif version == "4":
        scipy.io.savemat(path, {"X": X, "Y": y[:, None]}, format="4")
    else:
        cells = np.array(names, dtype=object)
        variables = {"fea": X, "Y": y[:, None], "feature_names": cells, "info": {"a": 1}}
        scipy.io.savemat(path, variables, do_compression=version != "5")
    table = round_trip(matlab, path)
    assert same(table.values, csr_array(X) if issparse(X) else X)
    assert (table.label, table.rows["Y"].to_list()) == ("Y", y.tolist())
    assert version == "4" or table.names == names
    if version in ("5", "5 packed"):
        assert same(scipy.io.loadmat(tmp_path / "written.mat")["fea"], X[:, ::3])


@pytest.mark.parametrize("hdf5", [False, True])
def test_mat_with_text_labels_transposed(tmp_path, hdf5):
    X, labels = np.arange(6.0).reshape(2, 3), ["sick", "über", ""]
    if hdf5:
        write_hdf5(tmp_path / "t.mat", {"data": X, "class": labels, "names": ["a", "b"]})
    else:
        cells = np.array(labels, dtype=object)
        variables = {"data": X, "class": cells, "names": np.array(["a", "b"])}
        scipy.io.savemat(tmp_path / "t.mat", variables)
    table = round_trip(matlab, tmp_path / "t.mat", TRANSPOSED)
    assert (table.names, table.rows["class"].to_list()) == (["a", "b"], labels)
    assert np.array_equal(table.values, X.T)


def test_mat_lists_its_variables(tmp_path):
    scipy.io.savemat(tmp_path / "t.mat", {"A": np.eye(2), "B": np.eye(3), "s": {"q": 1}})
    with pytest.raises(
        TableError, match=r"A \(2 x 2, double\), B \(3 x 3, double\), s \(1 x 1, st"
    ):
        matlab.read(tmp_path / "t.mat", PLAIN)
    assert matlab.read(tmp_path / "t.mat", TableOptions(matrix="B")).values.shape == (3, 3)
    with pytest.raises(TableError, match="matrix='C'"):
        matlab.read(tmp_path / "t.mat", TableOptions(matrix="C"))


# --- svmlight ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suffix", "zero_based"),
    [
        (".svmlight.gz", True),
        pytest.param(".svmlight.gz", False, marks=NIGHTLY),
        pytest.param(".svmlight", False, marks=NIGHTLY),
    ],
)
def test_svmlight_of_real_data(load_dataset, tmp_path, zero_based, suffix):
    X, y = load_dataset("basehock")
    path, base = tmp_path / f"t{suffix}", 0 if zero_based else 1
    with (gzip.open if "gz" in suffix else open)(path, "wt") as file:
        for i, label in enumerate(y):
            row = slice(X.indptr[i], X.indptr[i + 1])
            pairs = zip(X.indices[row] + base, X.data[row], strict=True)
            file.write(" ".join([str(label), *(f"{j}:{value}" for j, value in pairs)]) + "\n")
    table = round_trip(svmlight, path, named=False)
    assert same(table.values, X)
    assert table.rows["y"].to_list() == y.tolist()
    assert table.names[0] == f"feature_{base}"
    written, y_written = load_svmlight_file(str(tmp_path / f"written{suffix}"))
    assert same(csr_array(written), csr_array(table.values[:, ::3].astype(float)))
    assert np.array_equal(y_written, y)


def test_svmlight_by_hand(tmp_path):
    text = "# remark\n-1 qid:3 2:0.5 4:1e3 # why\n\n+1\t1:-2\n-1\n"
    (tmp_path / "t.svm").write_text(text)
    table = svmlight.read(tmp_path / "t.svm", PLAIN)
    assert table.values.toarray().tolist() == [[0, 0.5, 0, 1000], [-2, 0, 0, 0], [0, 0, 0, 0]]
    assert table.rows.to_dict(as_series=False) == {"y": [-1, 1, -1], "qid": [3, None, None]}


@pytest.mark.parametrize("base", [0, 1])
def test_svmlight_keeps_empty_columns(tmp_path, base):
    """Neither the base nor the width may change because the outer columns hold zeros only."""
    (tmp_path / "t.svm").write_text(f"1 {base}:1 {base + 1}:2 {base + 3}:3\n2.5 {base}:7\n")
    table = svmlight.read(tmp_path / "t.svm", PLAIN)
    svmlight.write(table.take_columns(np.array([2, 1])), tmp_path / "a.svm")
    svmlight.write(table.take_columns(np.array([1, 2])), tmp_path / "b.svm")
    for name, expected in (("a", [[0, 2], [0, 0]]), ("b", [[2, 0], [0, 0]])):
        again = svmlight.read(tmp_path / f"{name}.svm", PLAIN)
        assert again.values.toarray().tolist() == expected
        assert again.rows["y"].to_list() == [1.0, 2.5]
        assert again.names[0] == f"feature_{base}"


# --- Matrix Market and 10x -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suffix", "options"),
    [(".mtx", TRANSPOSED), pytest.param(".mtx.gz", PLAIN, marks=NIGHTLY)],
)
def test_mtx_of_real_data(load_dataset, tmp_path, suffix, options):
    X, _ = load_dataset("basehock")
    path = tmp_path / f"t{suffix}"
    with (gzip.open if "gz" in suffix else open)(path, "wb") as file:
        scipy.io.mmwrite(file, coo_array(X.T if options.transpose else X))
    table = round_trip(mtx, path, options, named=False)
    assert same(table.values, X)


def test_mtx_array_of_real_data(load_dataset, tmp_path):
    X, _ = load_dataset("colon_alon")
    scipy.io.mmwrite(tmp_path / "t.mtx", X.astype(float))
    assert same(round_trip(mtx, tmp_path / "t.mtx", named=False).values, X.astype(float))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("coordinate pattern general\n% remark\n2 3 2\n1 1\n2 3\n", [[1, 0, 0], [0, 0, 1]]),
        ("coordinate integer symmetric\n2 2 2\n1 1 5\n2 1 -7", [[5, -7], [-7, 0]]),
        ("coordinate real skew-symmetric\n2 2 1\n\n 2\t1   0.5 \r\n", [[0, -0.5], [0.5, 0]]),
        ("array real general\n2 2\n1\n2\n3\n4\n", [[1, 3], [2, 4]]),
        ("array real symmetric\n2 2\n1\n2\n3\n", [[1, 2], [2, 3]]),
        ("array integer skew-symmetric\n2 2\n2\n", [[0, -2], [2, 0]]),
        ("coordinate real general\n2 2 0\n", [[0, 0], [0, 0]]),
    ],
)
def test_mtx_by_hand(tmp_path, text, expected):
    (tmp_path / "t.mtx").write_text("%%MatrixMarket matrix " + text)
    values = mtx.read(tmp_path / "t.mtx", PLAIN).values
    assert (values.toarray() if issparse(values) else values).tolist() == expected


@pytest.mark.parametrize(
    ("ending", "features"),
    [(".gz", "features.tsv"), pytest.param("", "genes.tsv", marks=NIGHTLY)],
)
def test_tenx_of_real_data(load_dataset, tmp_path, ending, features):
    X, _ = load_dataset("sc_mixology_5cl")
    X = X[:100]
    folder = tmp_path / "run"
    folder.mkdir()
    opener = gzip.open if ending else open
    with opener(folder / f"matrix.mtx{ending}", "wb") as file:
        scipy.io.mmwrite(file, coo_array(X.T))
    genes = [f"ENSG{j}\t{'TWICE' if j in (0, 3) else f'G{j}'}\tGene\n" for j in range(X.shape[1])]
    with opener(folder / f"{features}{ending}", "wt") as file:
        file.writelines(genes)
    with opener(folder / f"barcodes.tsv{ending}", "wt") as file:
        file.writelines(f"AAAC-{i}\n" for i in range(len(X.indptr) - 1))
    table = round_trip(tenx, folder)
    assert same(table.values, X)
    assert table.names[:4] == ["TWICE (ENSG0)", "G1", "G2", "TWICE (ENSG3)"]
    assert (table.row_names[0], table.transposed) == ("AAAC-0", False)
    written = sorted(file.name for file in (tmp_path / "written").iterdir())
    assert written == sorted(f"{name}{ending}" for name in ("matrix.mtx", features, "barcodes.tsv"))


# --- AnnData -------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Variable names are not unique")  # when the test looks
def test_h5ad_of_real_data(load_dataset, tmp_path):
    anndata, pd = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    X, y = load_dataset("sc_mixology_5cl")
    X, y = X[:100], y[:100]
    kinds = pd.Categorical.from_codes(np.where(np.arange(len(y)) % 2, y, -1), list("abcde"))
    obs = pd.DataFrame({"kind": kinds, "n": y}, index=[f"cell {i}" for i in range(len(y))])
    symbols = ["TWICE" if j in (0, 3) else f"G{j}" for j in range(X.shape[1])]
    var = pd.DataFrame({"gene_ids": [f"ENSG{j}" for j in range(X.shape[1])]}, index=symbols)
    data = anndata.AnnData(X.astype(np.float32), layers={"half": X * 0.5})
    data.obs, data.var = obs, var
    data.write_h5ad(tmp_path / "t.h5ad")
    table = round_trip(h5ad, tmp_path / "t.h5ad")
    assert same(table.values, X.astype(np.float32))
    assert table.rows["kind"].to_list()[:2] == [None, "abcde"[y[1]]]
    assert table.names[:4] == ["TWICE (ENSG0)", "G1", "G2", "TWICE (ENSG3)"]
    assert same(h5ad.read(tmp_path / "t.h5ad", TableOptions(matrix="half")).values, X * 0.5)
    written = anndata.read_h5ad(tmp_path / "written.h5ad")
    assert same(csr_array(written.layers["half"]), csr_array(X * 0.5)[:, ::3])
    with pytest.raises(TableError, match=r"no layer 'quarter'\. Its layers: 'half'"):
        h5ad.read(tmp_path / "t.h5ad", TableOptions(matrix="quarter"))
