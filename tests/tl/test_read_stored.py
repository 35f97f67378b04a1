"""AnnData whose cells stay in a file or in arrays of dask."""

import anndata as ad
import numpy as np
import pytest
from scipy.sparse import csr_matrix

import semisift
from semisift import OutOfCoreError, OutOfCoreMatrix
from semisift.out_of_core import _matrix
from semisift.out_of_core._matrix import COPIES
from tests.nightly import few_daily
from tests.tl.cells import log_normalised, make_cells, same_results


@pytest.fixture(autouse=True)
def low_blocks(monkeypatch):
    """Let blocks be as low as they can: 64 rows."""
    monkeypatch.setattr(_matrix, "BLOCK_VALUES", 1 << 9)


def too_little(adata):
    """Return memory for blocks of rows that is too little for all with what a ranking needs."""
    return int(0.7 * COPIES * OutOfCoreMatrix(adata.X).n_bytes)


def as_dask(adata):
    dask_array = pytest.importorskip("dask.array")
    other = adata.copy()
    other.X = dask_array.from_array(adata.X, chunks=(50, -1), asarray=False)
    return other


@pytest.fixture(params=few_daily(["backed", "lazy", "dask"], 2))
def stored(request, tmp_path):
    """Return a function that makes an AnnData of another whose rows stay where they are."""

    def store(adata):
        if request.param == "dask":
            return as_dask(adata)
        path = tmp_path / "cells.h5ad"
        adata.write_h5ad(path)
        if request.param == "backed":
            return ad.read_h5ad(path, backed="r")
        return ad.experimental.read_lazy(path)

    return store


@pytest.mark.parametrize("memory", few_daily([too_little, lambda adata: None], 1))
@pytest.mark.parametrize("make", few_daily([make_cells, lambda: log_normalised(make_cells())], 1))
def test_the_same_bits_from_memory_and_from_a_file(stored, make, memory):
    adata = make()
    adata.var["chosen"] = np.arange(adata.n_vars) % 4 != 3
    other = stored(adata)
    given = {"method": "transductive", "mask_var": "chosen", "max_unlabelled": 25}
    semisift.tl.rank_markers(adata, "cell_type", **given)
    semisift.tl.rank_markers(other, "cell_type", **given, max_memory=memory(other))
    if hasattr(other.obs, "to_memory"):  # a lazy one
        assert type(other.X).__module__.startswith("dask")
        other.obs, other.var = other.obs.to_memory(), other.var.to_memory()
    same_results(other, adata)


def test_labels_from_a_file(stored):
    adata = make_cells()
    other = stored(adata)
    semisift.tl.predict_labels(adata, "cell_type")
    for _ in range(2):  # a second call writes anew what the first has left
        semisift.tl.predict_labels(other, "cell_type")
    own, its = (np.asarray(each.obs["semisift_cells_label"]).tolist() for each in (adata, other))
    assert own == its
    shares = other.obsm["semisift_cells_probabilities"]
    np.testing.assert_array_equal(np.asarray(shares), adata.obsm["semisift_cells_probabilities"])


def test_cells_without_a_value_in_a_file(stored):
    adata = make_cells()
    X = adata.X.toarray()
    X[[40, 149]] = 0
    adata.X = csr_matrix(X)
    adata = stored(adata)
    with pytest.warns(
        UserWarning, match="2 cells of 150 without any value but 0 in the genes that are ranked: n"
    ):
        semisift.tl.predict_labels(adata, "cell_type")
    assert np.asarray(adata.obs["semisift_cells_uncertain"])[[40, 149]].all()


def test_infinite_values_in_a_file(stored):
    adata = make_cells()
    adata.X.data[7] = np.inf
    adata = stored(adata)
    with pytest.raises(OutOfCoreError, match="infinity"):
        semisift.tl.predict_labels(adata, "cell_type", max_memory=too_little(adata))


def test_batches_need_the_rows_in_memory(stored):
    adata = stored(make_cells())
    with pytest.raises(OutOfCoreError, match="batch needs the rows in memory"):
        semisift.tl.rank_markers(
            adata, "cell_type", batch_key="plate", max_memory=too_little(adata)
        )


def test_a_backed_one_is_not_copied(tmp_path):
    make_cells().write_h5ad(tmp_path / "cells.h5ad")
    adata = ad.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    with pytest.raises(ValueError, match=r"copy=True of an AnnData that is backed.*to_memory\(\)"):
        semisift.tl.rank_markers(adata, "cell_type", method="fisher", copy=True)
    with pytest.raises(ValueError, match=r"a view of an AnnData that is backed.*to_memory\(\)"):
        semisift.tl.rank_markers(adata[:100], "cell_type", method="fisher")
