"""Results are written to h5ad and zarr, and read back."""

import anndata as ad
import numpy as np
import pandas as pd
import pytest

import semisift
from tests.nightly import few_daily
from tests.tl.cells import make_cells, same_results


@pytest.fixture(scope="module")
def adata():
    adata = make_cells()
    adata.var["chosen"] = np.arange(adata.n_vars) < 20
    semisift.tl.rank_markers(adata, "cell_type", mask_var="chosen", n_members=40)
    semisift.tl.assess(adata, n_resamples=3, n_permutations=3)
    semisift.tl.markers(adata, "cell_type", n_genes=5)
    mask = adata.var["chosen"].to_numpy()
    semisift.tl.rank_markers(
        adata,
        "cell_type",
        method="ssfi",
        key_added="trees",
        mask_var=mask,
        n_members=40,
        redundancy_threshold=0.9,
        include=["g3"],
    )
    semisift.tl.predict_labels(adata, "cell_type")
    return adata


def read_back(adata, path):
    if path.suffix == ".h5ad":
        adata.write_h5ad(path)
        return ad.read_h5ad(path)
    before = ad.settings.zarr_write_format
    ad.settings.zarr_write_format = 3
    try:
        adata.write_zarr(path)
    finally:
        ad.settings.zarr_write_format = before
    return ad.read_zarr(path)


@pytest.mark.parametrize("name", ["cells.h5ad", "cells.zarr"])
@pytest.mark.filterwarnings("ignore:.*(zarr|Zarr|V3|StringDType).*")
def test_files_hold_the_results(adata, tmp_path, name):
    other = read_back(adata, tmp_path / name)
    for key in ("semisift", "trees"):
        same_results(other, adata, key)
        assert_same(other.uns[key], adata.uns[key])
    for key in ("semisift_cells", "semisift_markers"):
        assert_same(other.uns[key], adata.uns[key])
    pd.testing.assert_frame_equal(
        other.obsm["semisift_cells_probabilities"], adata.obsm["semisift_cells_probabilities"]
    )
    for key in ("semisift", "trees"):  # what was asked for is understood
        semisift.tl.assess(other, key, n_resamples=3, n_permutations=3)
    assert_same(other.uns["semisift"], adata.uns["semisift"])


def assert_same(own, its):
    assert own.keys() == its.keys()
    for name, value in its.items():
        if isinstance(value, dict):
            assert_same(own[name], value)
        elif isinstance(value, pd.DataFrame):
            pd.testing.assert_frame_equal(own[name], value, check_names=False)
        elif isinstance(value, np.ndarray) and value.dtype.kind == "f":
            np.testing.assert_array_equal(own[name], value)
        elif name in ("pvals", "pvals_adj"):
            np.testing.assert_equal(own[name].tolist(), value.tolist())
        elif isinstance(value, np.ndarray):
            assert own[name].tolist() == value.tolist()
        else:
            assert own[name] == value or (own[name] != own[name] and value != value)  # NaN


@pytest.mark.parametrize("file", ["cells.h5ad", "cells.zarr"])
@pytest.mark.parametrize(
    "name", few_daily(["NK/ILC", "zarr.json", "_index", ".", "..", "N" * 300], 1)
)
@pytest.mark.filterwarnings("ignore:.*(zarr|Zarr|V3|StringDType).*")
def test_classes_that_cannot_be_columns(tmp_path, name, file):
    adata = make_cells()
    adata.obs["cell_type"] = adata.obs["cell_type"].cat.rename_categories({"NK": name})
    semisift.tl.rank_markers(adata, "cell_type", method="transductive")
    semisift.tl.predict_labels(adata, "cell_type")
    other = read_back(adata, tmp_path / file)
    same_results(other, adata)
    assert "pts" not in other.uns["semisift"]
    assert other.uns["semisift"]["labelled"].index.tolist() == ["T", "B", name]
    assert other.obsm["semisift_cells_probabilities"].shape == (adata.n_obs, 3)


def test_classes_of_two_lines_are_columns(tmp_path):
    adata = make_cells()
    adata.obs["cell_type"] = adata.obs["cell_type"].cat.rename_categories({"NK": "N\nK"})
    semisift.tl.predict_labels(adata, "cell_type")
    other = read_back(adata, tmp_path / "cells.h5ad")
    assert other.obsm["semisift_cells_probabilities"].columns.tolist() == ["T", "B", "N\nK"]
