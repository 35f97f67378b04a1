"""The markers of each class, as dots and as a heatmap."""

import warnings
from itertools import pairwise

import anndata
import dask.array
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from matplotlib.colors import to_hex

import semisift
from semisift.report._style import PLAIN
from tests.pl.cells import make_cells

TYPES = ["type 0", "type 1", "type 2"]


def draw(adata, **options):
    return semisift.pl.markers(adata, show=False, **options)


def best_of(adata, n_markers):
    names = adata.uns["semisift"]["names"]
    return [name for kind in names.dtype.names for name in names[kind][:n_markers]]


def labels_of(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def bars_of(ax):
    return [to_hex(line.get_color()) for line in ax.get_lines() if line.get_linewidth() == 4]


def dots_of(ax):
    """Areas and colours of the dots, by class and gene."""
    (dots,) = ax.collections
    shape = len(ax.get_yticks()), len(ax.get_xticks())
    return dots.get_sizes().reshape(shape), np.asarray(dots.get_array()).reshape(shape)


def log_shares(adata, genes):
    counts = adata.X.toarray()
    totals = counts.sum(axis=1, keepdims=True)
    return np.log1p(counts / totals * np.median(totals))[:, adata.var_names.get_indexer(genes)]


def test_dots_tell_how_many_cells_have_a_value_and_how_high_it_is():
    adata = make_cells()
    ax = draw(adata, n_markers=2)
    genes, classes = labels_of(ax.xaxis), labels_of(ax.yaxis)
    assert (genes, classes) == (best_of(adata, 2), TYPES)
    values, label = log_shares(adata, genes), adata.obs["semisift_label"]
    means = np.array([values[label == name].mean(axis=0) for name in classes])
    shares = np.array([(values[label == name] > 0).mean(axis=0) for name in classes])
    areas, colours = dots_of(ax)
    assert np.allclose(areas / areas.max(), shares / shares.max())
    low, high = means.min(axis=0), means.max(axis=0)
    assert np.allclose(colours, (means - low) / (high - low))
    assert bars_of(ax) == [*PLAIN.classes[:3]]
    assert [text.get_text() for text in ax.texts] == classes


def test_dots_do_not_touch_and_the_legend_has_their_sizes():
    ax = draw(make_cells())
    ax.get_figure().draw_without_rendering()
    areas, _ = dots_of(ax)
    box, dpi = ax.get_window_extent(), ax.get_figure().dpi
    room = min(box.width / 15.2, box.height / 3.2) * 72 / dpi
    legend = ax.get_legend()
    assert legend.get_title().get_text() == "cells with a value"
    sizes = [handle.get_markersize() for handle in legend.legend_handles]
    assert areas.max() ** 0.5 <= sizes[-1] < room
    assert np.allclose(np.square(sizes) / sizes[-1] ** 2, [0.25, 0.5, 0.75, 1])
    (scale,) = ax.child_axes
    assert scale.get_title(loc="left").startswith("mean")


def test_the_heatmap_has_a_line_a_gene_and_a_column_a_cell_the_surest_first():
    adata = make_cells()
    ax = draw(adata, kind="heatmap", n_markers=2)
    assert labels_of(ax.yaxis) == best_of(adata, 2)
    image = np.asarray(ax.images[0].get_array())
    assert image.shape == (6, adata.n_obs)
    assert (image.min(), image.max()) == (0, 1)
    order = np.lexsort([-adata.obs["semisift_confidence"], adata.obs["semisift_label"].cat.codes])
    values = log_shares(adata, best_of(adata, 2)).T[:, order]
    assert np.array_equal(image > 0, values > 0)
    assert bars_of(ax) == [*PLAIN.classes[:3]] * 2  # of cells, and of genes
    assert [text.get_text() for text in ax.texts] == TYPES


def test_of_many_cells_some_are_drawn_evenly(monkeypatch):
    monkeypatch.setattr("semisift.pl._markers.MAX_CELLS", 10)
    adata = make_cells(a_class=40)
    adata.obs["semisift_label"] = pd.Categorical(np.repeat(TYPES, 40))
    adata.obs["semisift_confidence"] = np.tile(np.linspace(1, 0, 40), 3)
    image = np.asarray(draw(adata, kind="heatmap", n_markers=1).images[0].get_array())
    drawn = np.concatenate([start + np.linspace(0, 39, 10).round() for start in (0, 40, 80)])
    values = log_shares(adata, best_of(adata, 1)).T[:, drawn.astype(int)]
    assert np.array_equal(image > 0, values > 0)


def test_names_of_small_classes_do_not_hide_each_other():
    adata = make_cells(12, 40, 40)
    codes = np.concatenate(
        [np.zeros(466, dtype=int), np.repeat(np.arange(12), [4] + 10 * [1] + [0])]
    )
    adata.obs["semisift_label"] = adata.obs["semisift_label"].cat.categories[codes[:480]]
    ax = draw(adata, kind="heatmap", n_markers=1)
    ax.get_figure().draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) == 11
    assert all(left.x1 <= right.x0 + 1 for left, right in pairwise(boxes))


OTHER_FORMS = ("dense", "zarr", "lazy", "dask")
NIGHTLY = [pytest.param(form, marks=pytest.mark.nightly) for form in OTHER_FORMS]


@pytest.mark.parametrize("form", ["raw", "layer", "csc", "h5ad", *NIGHTLY])
def test_values_are_taken_from_where_the_results_are_from(form, tmp_path):
    adata = make_cells()
    expected = drawn_values(draw(adata))
    options = {}
    if form == "raw":
        adata.raw = adata.copy()
        adata.X = adata.X * 0
        options["use_raw"] = True
    elif form == "layer":
        adata.layers["counts"] = adata.X.copy()
        adata.X = adata.X * 0
        options["layer"] = "counts"
    elif form == "dense":
        adata.X = adata.X.toarray()
    elif form == "csc":
        adata.X = adata.X.tocsc()
    elif form == "h5ad":
        adata.write_h5ad(tmp_path / "cells.h5ad")
        adata = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    elif form == "zarr":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # on what AnnData plans for zarr
            adata.write_zarr(tmp_path / "cells.zarr")
            adata = anndata.read_zarr(tmp_path / "cells.zarr")
    elif form == "lazy":
        adata.write_h5ad(tmp_path / "cells.h5ad")
        adata = anndata.experimental.read_lazy(tmp_path / "cells.h5ad")
    elif form == "dask":
        adata.X = dask.array.from_array(adata.X.toarray(), chunks=(50, adata.n_vars))
    if options:
        semisift.tl.rank_markers(adata, "kind", method="transductive", **options)
    assert np.allclose(drawn_values(draw(adata)), expected)


def test_cells_without_a_value_do_not_count():
    adata = make_cells()
    X = adata.X.toarray()
    X[[1, 42], :] = np.nan  # labelled cells of two classes
    adata.X = X
    semisift.tl.rank_markers(adata, "kind", method="fisher", normalize=False)
    areas, _ = dots_of(draw(adata, n_markers=2))
    values = X[:, adata.var_names.get_indexer(best_of(adata, 2))]
    known = [values[(adata.obs["kind"] == name) & ~np.isnan(X[:, 0])] for name in TYPES]
    assert [len(its) for its in known] == [4, 4, 5]
    shares = np.array([(its != 0).mean(axis=0) for its in known])
    assert np.allclose(areas / areas.max(), shares / shares.max())


def drawn_values(ax):
    return np.asarray((ax.images or ax.collections)[0].get_array())


def test_logarithms_are_taken_as_they_are_and_a_layer_by_name():
    adata = make_cells()
    adata.layers["log"] = np.log1p(adata.X.toarray() * 0.7)
    genes = best_of(adata, 1)
    ax = draw(adata, n_markers=1, layer="log")
    values = adata.layers["log"][:, adata.var_names.get_indexer(genes)]
    label = adata.obs["semisift_label"]
    means = np.array([values[label == name].mean(axis=0) for name in label.cat.categories])
    low, high = means.min(axis=0), means.max(axis=0)
    assert np.allclose(dots_of(ax)[1], (means - low) / (high - low))
    with pytest.raises(ValueError, match=r"layer='lok' is no layer of adata. Did you mean 'log'"):
        draw(adata, layer="lok")


def test_logarithms_are_not_taken_twice():
    adata = make_cells()
    semisift.tl.rank_markers(adata, "kind", method="transductive", normalize=True)
    expected = drawn_values(draw(adata))
    sc.pp.normalize_total(adata)
    sc.pp.log1p(adata)
    assert np.allclose(drawn_values(draw(adata)), expected)


def test_markers_of_some_classes_by_the_cells_of_all():
    adata = make_cells()
    ax = draw(adata, groups=["type 2"], n_markers=3)
    assert labels_of(ax.xaxis) == adata.uns["semisift"]["names"]["type 2"][:3].tolist()
    assert len(ax.get_yticks()) == 3
    assert bars_of(draw(adata, groups="type 1")) == [PLAIN.classes[1]]
    with pytest.raises(ValueError, match=r"groups: 'type 7' not among the classes 'type 0'"):
        draw(adata, groups=["type 7"])


def test_genes_that_are_lower_in_a_class_are_no_markers():
    adata = make_cells()
    scores = adata.uns["semisift"]["scores"]
    scores["type 0"][2:] = -1
    scores["type 1"][:] = np.nan
    ax = draw(adata)
    assert len(ax.get_xticks()) == 2 + 5
    assert bars_of(ax) == [PLAIN.classes[0], PLAIN.classes[2]]
    for name in scores.dtype.names:
        scores[name][:] = -1
    with pytest.raises(ValueError, match="no gene is higher"):
        draw(adata)


def test_cells_without_a_class_are_not_drawn():
    adata = make_cells()
    semisift.tl.rank_markers(adata, "kind", method="fisher")
    image = np.asarray(draw(adata, kind="heatmap").images[0].get_array())
    assert image.shape[1] == 15


def test_labels_that_are_numbers_and_methods_of_the_user():
    adata = make_cells()
    adata.obs["kind"] = adata.obs["kind"].cat.codes.replace(-1, np.nan)
    semisift.tl.rank_markers(adata, "kind", method="fisher")
    ax = draw(adata, kind="heatmap")
    assert [text.get_text() for text in ax.texts] == ["0", "1", "2"]
    assert np.asarray(ax.images[0].get_array()).shape[1] == 15
    own = [("one", semisift.TransductiveScore()), ("two", semisift.FisherScore())]
    semisift.tl.rank_markers(adata, "kind", rankers=own)
    assert labels_of(draw(adata).yaxis) == ["0", "1", "2"]
    rings = semisift.pl.confidence(adata, show=False).collections[-1]
    assert len(rings.get_offsets()) == 15


def test_cells_of_other_classes_are_refused():
    adata = make_cells()
    adata.obs["semisift_label"] = "another"
    with pytest.raises(
        ValueError, match=r"'semisift_label'\] has no cell of the classes .*'type 0'"
    ):
        draw(adata)


def test_markers_and_labels_without_a_ranking_are_found():
    adata = make_cells()
    for name in ("markers", "predict_labels"):
        getattr(semisift.tl, name)(adata, "kind")
    del adata.uns["semisift"]
    genes = adata.uns["semisift_markers"]["names"]["type 0"][:1].tolist()
    assert labels_of(draw(adata, n_markers=1, groups="type 0").xaxis) == genes
    assert semisift.pl.confidence(adata, show=False).has_data()


def test_what_cannot_be_drawn_is_refused():
    adata = make_cells()
    with pytest.raises(ValueError, match="kind must be 'dotplot' or 'heatmap': got 'violin'"):
        draw(adata, kind="violin")
    for wrong in (0, 2.5, "a", True):
        with pytest.raises(ValueError, match="n_markers must be a whole number, 1 or more: got"):
            draw(adata, n_markers=wrong)
    for groups in (5, []):
        with pytest.raises(ValueError, match="groups must be None or name a class or more: got"):
            draw(adata, groups=groups)
    with pytest.raises(ValueError, match=r"genes that adata has no more: 'gene1'"):
        draw(adata[:, adata.var_names != "gene1"])
    del adata.obs["semisift_label"]
    with pytest.raises(ValueError, match=r"groupby='semisift_label' is no column of adata.obs"):
        draw(adata)
    del adata.uns["semisift"]["names"]
    with pytest.raises(ValueError, match=r"no markers by class.*semisift.tl.markers"):
        draw(adata)
