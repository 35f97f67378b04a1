"""OutOfCoreMatrix by themselves: blocks, some rows, errors that name the chunk, finished passes."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csc_matrix, csr_array, csr_matrix

from semisift import SSFI, FisherScore, OutOfCoreError, OutOfCoreMatrix, TransductiveScore
from semisift.out_of_core import _matrix as stored_rows
from semisift.out_of_core._sources import CompressedSource, DerivedSource, PartsSource
from semisift.out_of_core._statistics import column_statistics
from tests.nightly import nightly

X = np.random.default_rng(0).poisson(0.7, size=(700, 30)).astype(float)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(stored_rows, "BLOCK_VALUES", 64 * 30)
    monkeypatch.setattr(stored_rows, "READ_BYTES", 30_000)


def parts(*pieces, width=30, **options):
    """Return a source of pieces, which may be errors."""

    def read(number):
        if isinstance(pieces[number], Exception):
            raise pieces[number]
        return pieces[number]

    heights = [100] * len(pieces)
    return PartsSource(heights, width, np.float64, read, name="cells", **options)


def hundreds():
    return [X[start : start + 100].copy() for start in range(0, 700, 100)]


@pytest.mark.parametrize("form", [np.asarray, csr_array, nightly(csc_matrix)])
@pytest.mark.parametrize("height", [None, 64, 100, 10_000])
def test_blocks_are_all_rows_in_order(form, height):
    rows = OutOfCoreMatrix(form(X))
    blocks = list(rows.blocks(n_rows=height))
    assert [start for start, _ in blocks] == list(range(0, 700, height or 64))
    dense = [block.toarray() if rows.is_sparse else block for _, block in blocks]
    assert_array_equal(np.concatenate(dense), X)


@pytest.mark.parametrize("wanted", [[], [3], [699], [0, 1, 2], range(0, 700, 3), range(700)])
@pytest.mark.parametrize("form", [nightly(np.asarray), csr_array])
def test_some_rows(form, wanted):
    wanted = np.array(wanted, dtype=int)
    for rows in (
        OutOfCoreMatrix(form(X)),
        OutOfCoreMatrix(parts(*map(form, hundreds()), is_sparse=form is csr_array)),
    ):
        found = rows.take(wanted)
        assert_array_equal(found if isinstance(found, np.ndarray) else found.toarray(), X[wanted])


def test_few_rows_are_looked_up_where_they_are():
    read = []

    def piece(number):
        read.append(number)
        return X[number * 100 : number * 100 + 100]

    rows = OutOfCoreMatrix(PartsSource([100] * 7, 30, np.float64, piece))
    assert_array_equal(rows.take(np.array([150, 152, 640])), X[[150, 152, 640]])
    assert read == [1, 6]


def test_columns_are_chosen_after_rows_are_read():
    chosen = np.array([4, 2, 9])
    rows = OutOfCoreMatrix(
        DerivedSource(parts(*map(csr_matrix, hundreds()), is_sparse=True), columns=chosen)
    )
    assert rows.shape == (700, 3)
    assert_array_equal(rows.take(np.arange(50)).toarray(), X[:50, chosen])


def test_short_numbers_stay_short():
    assert OutOfCoreMatrix(X.astype(np.uint16)).dtype == np.float32
    assert OutOfCoreMatrix(X.astype(np.int64)).dtype == np.float64
    with pytest.raises(ValueError, match="X must hold numbers: got an array of dtype <U1"):
        OutOfCoreMatrix(np.full((3, 2), "a"))


# --- bad input ------------------------------------------------------------------------------------


def fit(source, **options):
    y = np.where(np.arange(700) < 20, np.arange(700) % 2, -1)
    return FisherScore().fit(OutOfCoreMatrix(source, max_memory=200_000, **options), y)


def test_an_unreadable_chunk_is_named():
    pieces = hundreds()
    pieces[3] = OSError("bad block on device")
    with pytest.raises(
        OutOfCoreError,
        match=r"chunk .*3 .*rows .* of cells\) cannot be read: OSError: bad block on device",
    ):
        fit(parts(*pieces))


@pytest.mark.parametrize("shape", [(100, 29), (90, 30)])
def test_chunks_of_unlike_shape_are_named(shape):
    pieces = hundreds()
    pieces[5] = np.zeros(shape)
    message = rf"chunk 5 of cells has the shape \({shape[0]}, {shape[1]}\), where \(100, 30\)"
    with pytest.raises(OutOfCoreError, match=message):
        fit(parts(*pieces))


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_missing_values_are_named_by_chunk_row_and_column(value, word, form):
    pieces = hundreds()
    pieces[4][17, 11] = value
    names = [f"gene{j}" for j in range(30)]
    with pytest.raises(OutOfCoreError) as caught:
        fit(parts(*map(form, pieces), is_sparse=form is csr_matrix), feature_names=names)
    message = str(caught.value)
    where = "chunk 4 (row 417 of cells), column 'gene11'"
    assert message.startswith(f"Input X contains {word}.\nFound in {where}")


def test_less_memory_than_a_block_or_chunk():
    y = np.where(np.arange(700) < 20, np.arange(700) % 2, -1)
    with pytest.raises(OutOfCoreError, match=r"a block of 64 rows of X needs 61.4 kB.* is 50 kB"):
        FisherScore().fit(OutOfCoreMatrix(X, max_memory="50kB"), y)
    whole = PartsSource([700], 30, np.float64, lambda number: X, name="cells")
    with pytest.raises(OutOfCoreError, match=r"a chunk of cells has 700 rows, which take 168 kB"):
        FisherScore().fit(OutOfCoreMatrix(whole, max_memory="100kB"), y)


@pytest.mark.parametrize("size", [0, -1, "much", "4 apples", True, None])
def test_sizes_of_memory_are_checked(size):
    if size is None:
        assert OutOfCoreMatrix(X, max_memory=size).fits()
        return
    with pytest.raises(ValueError, match="max_memory must be a number of bytes, such as 4GB"):
        OutOfCoreMatrix(X, max_memory=size)


def test_a_store_that_ends_early_is_told():
    data = csr_matrix(X)
    with pytest.raises(OutOfCoreError, match=r"cells: it ends early, at row \d+ of 700"):
        CompressedSource(data.data[:-5], data.indices, data.indptr, X.shape, "cells")
    with pytest.raises(OutOfCoreError, match="its index lists 699 rows, and the shape says 700"):
        CompressedSource(data.data, data.indices, data.indptr[:-1], X.shape, "cells")
    falling = data.indptr.copy()
    falling[5] = 0
    with pytest.raises(OutOfCoreError, match="its index does not rise from 0"):
        CompressedSource(data.data, data.indices, falling, X.shape, "cells")


def test_places_outside_of_the_table_are_refused():
    data = csr_matrix(X)
    indices = data.indices.copy()
    indices[1000] = 30
    source = CompressedSource(data.data, indices, data.indptr, X.shape, "cells")
    with pytest.raises(OutOfCoreError, match="indices must be < 30"):
        fit(source)


def test_a_missing_chunk_of_zarr_is_not_read_as_zeros(tmp_path):
    zarr = pytest.importorskip("zarr")
    data = csr_matrix(X)
    group = zarr.open_group(tmp_path / "X.zarr", mode="w")
    for name in ("data", "indices", "indptr"):
        values = getattr(data, name)
        array = group.create_array(name, shape=values.shape, dtype=values.dtype, chunks=(500,))
        array[:] = values
    held = sorted((tmp_path / "X.zarr" / "data").rglob("*"))
    next(file for file in held if file.is_file() and file.name == "3").unlink()
    with pytest.raises(OutOfCoreError, match=r"1 of the \d+ chunks of values are missing"):
        CompressedSource(group["data"], group["indices"], group["indptr"], X.shape, "cells")


@pytest.mark.parametrize("chunks", [None, (100, 30)])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_file_that_was_closed(chunks, is_sparse, tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "X.h5", "w") as file:
        if is_sparse:
            data = csr_matrix(X)
            parts = [
                file.create_dataset(name, data=getattr(data, name), chunks=chunks and (100,))
                for name in ("data", "indices", "indptr")
            ]
            stored = CompressedSource(*parts, X.shape)
        else:
            stored = file.create_dataset("X", data=X, chunks=chunks)
        every, blocks = OutOfCoreMatrix(stored), OutOfCoreMatrix(stored, max_memory=200_000)
    for rows in (every, blocks):
        with pytest.raises(OutOfCoreError, match=r"cannot be read: .* or no longer there"):
            FisherScore().fit(rows, np.arange(700) % 2)
    if not is_sparse:
        with pytest.raises(OutOfCoreError, match="cells cannot be read: its file is closed"):
            OutOfCoreMatrix(stored, name="cells")


def test_what_dask_does_not_know_is_refused():
    dask = pytest.importorskip("dask.array")
    array = dask.from_array(X, chunks=100)
    with pytest.raises(ValueError, match="known number of rows"):
        FisherScore().fit(array[array[:, 0] > 0], np.zeros(700))
    with pytest.raises(ValueError, match="X must have rows and columns: got Array of 1 dimensions"):
        FisherScore().fit(array[:, 0], np.zeros(700))


# --- finished passes ------------------------------------------------------------------------------


class Counted(PartsSource):
    """Counts what is read, and may be interrupted."""

    def __init__(self, stop_after=None):
        super().__init__([100] * 7, 30, np.float64, self.piece, fingerprint=("cells", 1))
        self.n_read, self.stop_after = 0, stop_after

    def piece(self, number):
        self.n_read += 1
        if self.stop_after is not None and self.n_read > self.stop_after:
            raise KeyboardInterrupt
        return X[number * 100 : number * 100 + 100]


@pytest.mark.parametrize(
    "ranker",
    [FisherScore(), TransductiveScore(max_unlabelled=60), SSFI(max_unlabelled=60, n_members=20)],
    ids=lambda ranker: type(ranker).__name__,
)
def test_a_second_start_goes_on_from_the_last_finished_pass(ranker, tmp_path):
    y = np.where(np.arange(700) < 20, np.arange(700) % 2, -1)
    options = {"max_memory": 100_000, "cache_dir": tmp_path / "passes"}
    whole = Counted()
    wanted = ranker.fit(OutOfCoreMatrix(whole, max_memory=100_000), y).scores_.copy()
    cut = Counted(stop_after=whole.n_read - 4)  # in the last pass
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(OutOfCoreMatrix(cut, **options), y)
    kept = sorted(tmp_path.rglob("*"))
    assert [file.suffix for file in kept if file.is_file()]
    assert not [file for file in kept if ".semisift" in file.name]
    again = Counted()
    assert_array_equal(ranker.fit(OutOfCoreMatrix(again, **options), y).scores_, wanted)
    assert again.n_read < whole.n_read
    last = Counted()
    assert_array_equal(ranker.fit(OutOfCoreMatrix(last, **options), y).scores_, wanted)
    assert last.n_read == 0


def test_a_damaged_pass_is_made_again(tmp_path):
    options = {"cache_dir": tmp_path}
    wanted = column_statistics(OutOfCoreMatrix(Counted(), **options))
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-40])
    found = column_statistics(OutOfCoreMatrix(Counted(), **options))
    assert_array_equal(found.spread, wanted.spread)


def test_other_rows_do_not_take_the_passes_of_these(tmp_path):
    one, other = tmp_path / "one.npy", tmp_path / "other.npy"
    np.save(one, X)
    np.save(other, X + 1)
    for file in (one, other):
        rows = OutOfCoreMatrix(np.load(file, mmap_mode="r"), cache_dir=tmp_path / "passes")
        low = column_statistics(rows).low
        assert low.min() == (0 if file == one else 1)


def test_passes_of_what_cannot_be_told_apart_are_refused(tmp_path):
    dask = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="passes are kept for files alone"):
        OutOfCoreMatrix(dask.from_array(X, chunks=100), cache_dir=tmp_path)


def test_rows_in_memory_have_no_limit(monkeypatch):
    monkeypatch.setattr(stored_rows, "available_memory", lambda: 1)
    assert OutOfCoreMatrix(X).fits()
    assert len(list(OutOfCoreMatrix(csr_array(X)).blocks())) == 11


def test_a_memory_map_is_reduced_as_an_array_is(tmp_path):
    np.save(tmp_path / "X.npy", X.astype(np.int16))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    ranker = FisherScore(n_features_to_select=4).fit(mapped, np.arange(700) % 3 - 1)
    assert ranker.transform(mapped).dtype == np.int16


def test_stored_rows_are_not_stored_again():
    with pytest.raises(TypeError, match="X must be where rows are stored: got OutOfCoreMatrix"):
        OutOfCoreMatrix(OutOfCoreMatrix(np.zeros((3, 2))))


def test_progress_is_told():
    states = []
    rows = OutOfCoreMatrix(X, progress=lambda *state: states.append(state))
    column_statistics(rows)
    assert {what for what, *_ in states} == {"sums of the columns", "spread of the columns"}
    assert [done for what, done, _ in states if what == "sums of the columns"][-1] == 700
    assert all(total == 700 for *_, total in states)
