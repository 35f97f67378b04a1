"""The cells on an embedding."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

import semisift
from semisift.report._style import PLAIN
from tests.pl.cells import make_cells


def draw(adata, **options):
    return semisift.pl.confidence(adata, show=False, **options)


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_cells_have_the_colour_of_their_label_and_fade_with_doubt():
    adata = make_cells()
    cells = draw(adata).collections[0]
    sure = np.sort(adata.obs["semisift_confidence"])
    assert np.allclose(cells.get_facecolors()[:, 3], 0.1 + 0.9 * sure)
    order = np.argsort(adata.obs["semisift_confidence"], kind="stable")
    assert np.array_equal(cells.get_offsets(), adata.obsm["X_umap"][order])
    found = [to_hex(colour) for colour in cells.get_facecolors()]
    codes = adata.obs["semisift_label"].cat.codes.iloc[order]
    assert found == [PLAIN.classes[code] for code in codes]


def test_given_labels_and_uncertain_cells_are_marked():
    adata = make_cells()
    adata.obs["semisift_uncertain"] = np.arange(adata.n_obs) % 9 == 0
    ax = draw(adata)
    _, crosses, rings = ax.collections
    assert len(crosses.get_offsets()) == adata.obs["semisift_uncertain"].sum()
    assert len(rings.get_offsets()) == adata.obs["kind"].notna().sum() == 15
    assert legend_of(ax)[3:] == ["faint: less sure", "label given", "uncertain"]
    adata.obs["semisift_uncertain"] = False
    assert legend_of(draw(adata))[3:] == ["faint: less sure", "label given"]


def test_an_unlabelled_category_is_no_label():
    adata = make_cells()
    given = adata.obs["kind"].cat.add_categories("unknown").fillna("unknown")
    adata.obs["kind"] = given
    semisift.tl.rank_markers(adata, "kind", "unknown", method="transductive")
    assert len(draw(adata).collections[-1].get_offsets()) == 15


def test_cells_that_fit_no_class_are_grey():
    adata = make_cells()
    adata.obs["semisift_fits_none"] = np.arange(adata.n_obs) < 4
    ax = draw(adata)
    found = [to_hex(colour) for colour in ax.collections[0].get_facecolors()]
    assert found.count(PLAIN.muted) == 4
    assert legend_of(ax)[-1] == "fits no class"


def test_colours_of_scanpy_are_kept_where_they_fit():
    adata = make_cells()
    adata.uns["kind_colors"] = np.array(["red", "#00ff00", "#0000ff"])
    handles = draw(adata).get_legend().legend_handles
    assert [to_hex(handle.get_color()) for handle in handles[:3]] == [
        "#ff0000",
        "#00ff00",
        "#0000ff",
    ]
    for unfit in (["red", "blue"], ["red", "blue", "no colour"]):
        adata.uns["kind_colors"] = np.array(unfit)
        handles = draw(adata).get_legend().legend_handles
        assert [to_hex(handle.get_color()) for handle in handles[:3]] == [*PLAIN.classes[:3]]


def test_many_classes_have_numbers_in_picture_and_legend():
    ax = draw(make_cells(9))
    assert [text.get_text() for text in ax.texts] == [*"123456789"]
    assert legend_of(ax)[:2] == ["1  type 0", "2  type 1"]


def test_an_embedding_is_found_by_its_name():
    adata = make_cells()
    adata.obsm["X_pca"] = -np.ones((adata.n_obs, 5))
    adata.obsm["spatial"] = np.full((adata.n_obs, 2), 7.0)
    assert draw(adata).get_xlabel() == "umap 1"
    assert draw(adata, basis="pca").get_xlabel() == "pca 1"
    assert draw(adata, basis="X_pca").collections[0].get_offsets().max() == -1
    assert draw(adata, basis="spatial").get_ylabel() == "spatial 2"
    del adata.obsm["X_umap"]
    assert draw(adata).get_xlabel() == "pca 1"
    with pytest.raises(ValueError, match=r"basis='tsne': .*obsm holds 'X_pca', 'spatial'.*sc.tl.u"):
        draw(adata, basis="tsne")
    adata.obsm["line"] = np.zeros((adata.n_obs, 1))
    with pytest.raises(ValueError, match=r"basis='line': an embedding needs two columns"):
        draw(adata, basis="line")
    adata.obsm.clear()
    with pytest.raises(
        ValueError, match=r"basis=None: no embedding is there. adata.obsm holds noth"
    ):
        draw(adata)


@pytest.mark.parametrize("size", [0, "large"])
def test_bad_sizes_are_refused(size):
    with pytest.raises(ValueError, match="size must be a number above 0: got"):
        draw(make_cells(), size=size)


def test_a_method_that_labels_no_cells_is_named():
    adata = make_cells()
    semisift.tl.rank_markers(adata, "kind", method="fisher")
    with pytest.raises(ValueError, match="the method 'fisher' labels no cells"):
        draw(adata)


def test_results_of_label_cells_are_drawn():
    adata = make_cells()
    adata.obs["kind"] = pd.Series(adata.obs["kind"].astype(object), index=adata.obs_names)
    del adata.uns["semisift"]
    semisift.tl.predict_labels(adata, "kind")
    assert legend_of(draw(adata))[:3] == ["type 0", "type 1", "type 2"]
