"""Mutated tables: a result or a clear error, never a traceback, never a half-written file."""

import gzip
import io

import h5py
import numpy as np
import openpyxl
import polars as pl
import pytest
from click.testing import CliRunner
from scipy.io import mmwrite, savemat
from scipy.sparse import csr_array
from sklearn.datasets import dump_svmlight_file

from semisift.cli import main
from semisift.io import read
from tests.conftest import make_data

# Of each format; the first ones differ, so that every kind of mutation is tried each day.
N_MUTATIONS = 30

DATA = make_data(n_rows=30, n_features=5, per_class=4)
NAMES = [f"x{j}" for j in range(5)]
LABELS = ["" if code < 0 else "AB"[code] for code in DATA.y]


# --- a sound file of each format ------------------------------------------------------------------


def as_csv():
    lines = [",".join([*NAMES, "label"])]
    lines += [
        ",".join([*map(repr, map(float, row)), label])
        for row, label in zip(DATA.X, LABELS, strict=True)
    ]
    return ("\n".join(lines) + "\n").encode()


def as_packed_tsv():
    return gzip.compress(as_csv().replace(b",", b"\t"))


def as_parquet():
    frame = pl.DataFrame(DATA.X, schema=NAMES).with_columns(pl.Series("label", LABELS))
    target = io.BytesIO()
    frame.write_parquet(target)
    return target.getvalue()


def as_npz():
    target = io.BytesIO()
    np.savez(target, X=DATA.X, y=DATA.y, feature_names=np.array(NAMES))
    return target.getvalue()


def as_sparse_npz():
    X = csr_array(np.where(DATA.X > 0, DATA.X, 0))
    parts = {"data": X.data, "indices": X.indices.astype(np.uint16), "indptr": X.indptr}
    target = io.BytesIO()
    np.savez_compressed(target, **parts, shape=X.shape, y=DATA.y)
    return target.getvalue()


def as_mat():
    target = io.BytesIO()
    savemat(target, {"X": DATA.X, "Y": DATA.y_true[:, None] + 1}, do_compression=True)
    return target.getvalue()


def as_arff():
    header = ["@relation r", *(f"@attribute {name} numeric" for name in NAMES)]
    header += ["@attribute class {A,B}", "@data"]
    rows = [
        ",".join([*map(repr, map(float, row)), label or "?"])
        for row, label in zip(DATA.X, LABELS, strict=True)
    ]
    return "\n".join([*header, *rows, ""]).encode()


def as_svmlight():
    target = io.BytesIO()
    dump_svmlight_file(DATA.X, DATA.y_true + 1, target, zero_based=False)
    return target.getvalue()


def as_mtx():
    target = io.BytesIO()
    mmwrite(target, csr_array(np.column_stack([DATA.y_true + 1, DATA.X])))
    return target.getvalue()


def as_xlsx():
    made = openpyxl.Workbook()
    made.active.append([*NAMES, "label"])
    for row, label in zip(DATA.X.tolist(), LABELS, strict=True):
        made.active.append([*row, label])
    target = io.BytesIO()
    made.save(target)
    return target.getvalue()


def lines_of_features(first, labels):
    rows = [[name, *DATA.X[:, j].tolist()] for j, name in enumerate(NAMES)]
    lines = [*first, [labels[0], *(f"{labels[1]}{label}" for label in LABELS)]]
    return ["\t".join(map(str, line)) for line in lines], ["\t".join(map(str, row)) for row in rows]


def as_geo():
    samples = [f"GSM{i}" for i in range(30)]
    first, rows = lines_of_features(
        [["!Sample_geo_accession", *samples]], ("!Sample_characteristics_ch1", "label: ")
    )
    begin = ["!series_matrix_table_begin", "\t".join(["ID_REF", *samples])]
    return "\n".join([*first, *begin, *rows, "!series_matrix_table_end", ""]).encode()


def as_gct():
    samples = [f"s{i}" for i in range(30)]
    head = [["#1.3"], [5, 30, 0, 1], ["id", *samples]]
    first, rows = lines_of_features(head, ("label", ""))
    return "\n".join([*first, *rows, ""]).encode()


def as_tenx_h5():
    X = csr_array(np.column_stack([DATA.y_true + 1, np.where(DATA.X > 0, DATA.X, 0)]))
    target = io.BytesIO()
    with h5py.File(target, "w") as file:
        for name in ("data", "indices", "indptr"):
            file[f"matrix/{name}"] = getattr(X, name)
        file["matrix/shape"] = X.shape[::-1]
        file["matrix/barcodes"] = [f"c{i}" for i in range(30)]
        for name in ("id", "name"):
            file[f"matrix/features/{name}"] = np.array(["label", *NAMES], dtype="S")
    return target.getvalue()


FILES = {
    "table.csv": (as_csv, ["--label", "label"]),
    "table.tsv.gz": (as_packed_tsv, ["--label", "label"]),
    "table.parquet": (as_parquet, ["--label", "label"]),
    "table.npz": (as_npz, []),
    "sparse.npz": (as_sparse_npz, []),
    "table.mat": (as_mat, []),
    "table.arff": (as_arff, []),
    "table.svmlight": (as_svmlight, []),
    "table.mtx": (as_mtx, ["--label", "1"]),
    "table.xlsx": (as_xlsx, ["--label", "label"]),
    "a_series_matrix.txt": (as_geo, ["--label", "label"]),
    "table.gct": (as_gct, ["--label", "label"]),
    "table.h5": (as_tenx_h5, ["--label", "label"]),
}

# Where it is not that of the file.
WRITTEN = {
    "table.xlsx": ".csv",
    "a_series_matrix.txt": ".tsv",
    "table.gct": ".csv",
    "table.h5": ".npz",
}


# --- what can go wrong with a file ----------------------------------------------------------------


def cut(data, rng):
    return data[: rng.integers(len(data))]


def flip_bytes(data, rng):
    noisy = bytearray(data)
    for position in rng.integers(len(data), size=rng.integers(1, 9)):
        noisy[position] = rng.integers(256)
    return bytes(noisy)


def flip_early_bytes(data, rng):
    """Headers stand in front, and claim sizes."""
    noisy = bytearray(data)
    for position in rng.integers(min(len(data), 200), size=3):
        noisy[position] = rng.choice([0, 57, 127, 255])
    return bytes(noisy)


def shuffle_separators(data, rng):
    separators = b",;\t |"
    return bytes(
        rng.choice(list(separators)) if byte in separators and rng.random() < 0.05 else byte
        for byte in data
    )


def put_words_for_numbers(data, rng):
    words = [b"abc", b"-", b"1e999", b"nan", b'"', b"\xc3\x28", b"{1 2}", b"99999999999999999999"]
    at = rng.integers(len(data))
    return data[:at] + words[rng.integers(len(words))] + data[at + 3 :]


def mix_encodings(data, rng):
    at = rng.integers(len(data))
    return data[:at] + "naïve,größe\n".encode("latin-1") + data[at:]


def repeat_a_part(data, rng):
    start, end = sorted(rng.integers(len(data), size=2))
    return data[:end] + data[start:end] + data[end:]


def make_digits_large(data, rng):
    """Counts and sizes that no file can hold."""
    at = data.find(b"30") if rng.random() < 0.5 else data.find(b"5", rng.integers(len(data)))
    return data[:at] + b"999999999999" + data[at + 1 :] if at >= 0 else data + b"9"


MUTATIONS = [
    cut,
    flip_bytes,
    flip_early_bytes,
    shuffle_separators,
    put_words_for_numbers,
    mix_encodings,
    repeat_a_part,
    make_digits_large,
]


def select(path, options, target):
    arguments = ["select", str(path), *options, "--out", str(target), "--top", "2", "--quiet"]
    return CliRunner().invoke(main, [*arguments, "--param", "n_members=10"])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FILES)
def test_sound_files_are_read(tmp_path, name):
    make, options = FILES[name]
    path = tmp_path / name
    path.write_bytes(make())
    target = tmp_path / f"small-{name}{WRITTEN.get(name, '')}"
    result = select(path, options, target)
    assert result.exit_code == 0, result.output
    assert read(target).n_rows == 30


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_mutations", [1, pytest.param(N_MUTATIONS, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", FILES)
def test_mutated_files_give_a_result_or_a_clear_error(tmp_path, name, n_mutations):
    make, options = FILES[name]
    sound = make()
    first = list(FILES).index(name)
    for number in range(first, first + n_mutations):
        rng = np.random.default_rng([number, len(sound)])
        mutate = MUTATIONS[number % len(MUTATIONS)]
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / name
        path.write_bytes(mutate(sound, rng))
        target = folder / f"small-{name}{WRITTEN.get(name, '')}"
        result = select(path, options, target)
        message = f"{mutate.__name__}, mutation {number}: {result.output}"
        assert result.exception is None or isinstance(result.exception, SystemExit), (
            f"{message}{result.exception!r}"
        )
        assert result.exit_code in (0, 1), message
        left = sorted(path.name for path in folder.iterdir())
        if result.exit_code == 0:
            assert left == sorted([name, target.name]), message
            read(target)  # whole
        else:
            assert left == [name], message
            assert result.stderr.startswith("Error: ") or "\nError: " in result.stderr, message
            assert len(result.stderr.split()) > 5, message
