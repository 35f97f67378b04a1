"""Labels of cells, and markers by class without a ranking."""

import numpy as np
import pandas as pd
import pytest
import scanpy as sc

import semisift
from tests.nightly import few_daily
from tests.tl.cells import MARKERS, make_cells


def test_labels_and_probabilities():
    adata = make_cells()
    before = adata.var.copy()
    assert semisift.tl.predict_labels(adata, "cell_type") is None
    shares = adata.obsm["semisift_cells_probabilities"]
    assert shares.columns.tolist() == ["T", "B", "NK"]
    assert shares.index.equals(adata.obs_names)
    assert (shares.idxmax(axis=1) == adata.obs["semisift_cells_label"].astype(str)).all()
    np.testing.assert_allclose(shares.max(axis=1), adata.obs["semisift_cells_confidence"])
    assert (adata.obs["semisift_cells_label"] == adata.obs["truth"]).mean() > 0.95
    kept = adata.uns["semisift_cells"]
    assert kept["recovered"].tolist()[1] == 24
    assert kept["values"].startswith("adata.X holds counts")
    pd.testing.assert_frame_equal(adata.var, before)


def test_who_is_uncertain():
    adata = make_cells(per_class=1)
    semisift.tl.predict_labels(adata, "cell_type")
    shares = np.sort(adata.obsm["semisift_cells_probabilities"].to_numpy(), axis=1)
    near = shares[:, -1] - shares[:, -2] < 0.2
    assert near.any()
    assert adata.obs["semisift_cells_uncertain"].tolist() == near.tolist()


def test_labels_are_those_of_the_ranking():
    adata = make_cells()
    semisift.tl.rank_markers(adata, "cell_type", n_members=40)
    semisift.tl.predict_labels(adata, "cell_type")
    assert adata.obs["semisift_cells_label"].equals(adata.obs["semisift_label"])
    assert adata.obs["semisift_cells_confidence"].equals(adata.obs["semisift_confidence"])


def test_plates_are_taken_out():
    adata = make_cells()
    adata.X = adata.X.toarray()
    adata.X[adata.obs["plate"] == "p1", 20:35] += 6.0
    semisift.tl.predict_labels(adata, "cell_type", batch_key="plate", normalize=True)
    assert (adata.obs["semisift_cells_label"] == adata.obs["truth"]).mean() > 0.9


def test_a_copy_of_labelled_cells():
    adata = make_cells()
    changed = semisift.tl.predict_labels(adata, "cell_type", copy=True)
    assert "semisift_cells_label" in changed.obs
    assert "semisift_cells_label" not in adata.obs
    assert not adata.obsm


# --- one key for each call ------------------------------------------------------------------------


def other_labels(adata):
    adata.obs["half"] = np.where(np.arange(adata.n_obs) < 9, np.arange(adata.n_obs) % 2, None)
    return "half"


def test_labels_of_another_kind_stand_beside_a_ranking():
    adata = make_cells()
    semisift.tl.rank_markers(adata, "cell_type", method="transductive")
    before = adata.copy()
    semisift.tl.predict_labels(adata, other_labels(adata))
    assert adata.obs["semisift_label"].equals(before.obs["semisift_label"])
    assert adata.obs["semisift_cells_label"].cat.categories.tolist() == ["0", "1"]


def test_a_ranking_forgets_the_labels_of_the_same_key():
    adata = make_cells()
    semisift.tl.predict_labels(adata, "cell_type", key_added="semisift")
    assert "recovered" in adata.uns["semisift"]
    semisift.tl.rank_markers(adata, other_labels(adata), method="fisher")
    assert not adata.obsm
    assert [name for name in adata.obs if name.startswith("semisift")] == ["semisift_given"]
    assert "recovered" not in adata.uns["semisift"]


@pytest.mark.parametrize("call", [semisift.tl.markers, semisift.tl.predict_labels])
def test_a_ranking_is_forgotten_by_what_takes_its_key(call):
    adata = make_cells()
    semisift.tl.rank_markers(adata, "cell_type", method="transductive")
    semisift.tl.assess(adata, n_resamples=2, n_permutations=3)
    call(adata, "cell_type", key_added="semisift")
    assert adata.var.columns.empty
    assert "assessment" not in adata.uns["semisift"]
    with pytest.raises(ValueError, match="names no ranking"):
        semisift.tl.assess(adata)


# --- markers --------------------------------------------------------------------------------------


def test_markers_leave_genes_as_they_are():
    adata = make_cells()
    before = adata.var.copy()
    assert semisift.tl.markers(adata, "cell_type", n_genes=3) is None
    pd.testing.assert_frame_equal(adata.var, before)
    for group, genes in MARKERS.items():
        found = sc.get.rank_genes_groups_df(adata, group, key="semisift_markers")
        assert set(found["names"]) == set(genes)
    assert adata.uns["semisift_markers"]["params"]["groupby"] == "semisift_markers_label"
    assert "semisift_markers_label" in adata.obs


def test_markers_are_those_of_the_ranking():
    adata = make_cells()
    semisift.tl.markers(adata, "cell_type", key_added="rank_genes_groups")
    semisift.tl.rank_markers(adata, "cell_type", method="transductive")
    own, its = adata.uns["rank_genes_groups"], adata.uns["semisift"]
    assert own["names"].tolist() == its["names"].tolist()
    assert own["scores"].tolist() == its["scores"].tolist()
    # which scanpy finds by itself
    assert len(sc.get.rank_genes_groups_df(adata, "T")) == adata.n_vars


def test_unlabelled_cells_help():
    few = make_cells(per_class=2)
    semisift.tl.markers(few, "cell_type")
    semisift.tl.markers(few, "cell_type", method="fisher", key_added="labelled")
    right = {
        key: sum(
            len(set(few.uns[key]["names"][group][:3]) & set(genes))
            for group, genes in MARKERS.items()
        )
        for key in ("semisift_markers", "labelled")
    }
    assert right["semisift_markers"] == 9 > right["labelled"]


def test_one_class_has_markers_against_the_rest():
    adata = make_cells()
    adata.obs["cell_type"] = adata.obs["cell_type"].where(adata.obs["cell_type"] == "T")
    with pytest.warns(UserWarning, match="The table cannot tell the class from a batch"):
        semisift.tl.markers(adata, "cell_type", method="fisher")
    best = adata.uns["semisift_markers"]["names"]["T"][:3]
    assert set(best) == set(MARKERS["T"])


@pytest.mark.parametrize("method", ["variance", "semi-mim"])
def test_without_a_rest_there_are_no_markers(method):
    adata = make_cells()
    if method != "variance":
        adata.obs["cell_type"] = adata.obs["cell_type"].where(adata.obs["cell_type"] == "T")
    with pytest.raises(ValueError, match=f"method='{method}' finds no markers: it does not learn"):
        semisift.tl.markers(adata, "cell_type", method=method)
    semisift.tl.rank_markers(adata, "cell_type", method=method)
    assert "names" not in adata.uns["semisift"]


@pytest.mark.parametrize("n_genes", few_daily([0, 1.5, "all", True], 2))
def test_bad_numbers_of_genes(n_genes):
    with pytest.raises(ValueError, match="n_genes must be a whole number, 1 or more: got"):
        semisift.tl.markers(make_cells(), "cell_type", n_genes=n_genes)
