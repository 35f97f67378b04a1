from contextlib import nullcontext
from importlib.metadata import version

import anndata as ad
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from scipy.sparse import csc_matrix

import semisift
from semisift import METHODS, Consensus, NoUnlabelledDataWarning, normalize_counts
from tests.nightly import few_daily
from tests.tl.cells import GENES, MARKERS, N_CELLS, N_GENES, make_cells, same_results

OF_GENES = ["semisift_rank", "semisift_score", "semisift_selected"]
OF_CELLS = ["semisift_label", "semisift_confidence", "semisift_uncertain"]


@pytest.fixture(scope="module")
def ranked():
    adata = make_cells()
    assert semisift.tl.rank_markers(adata, "cell_type", n_features=9) is None
    return adata


def test_markers_come_first(ranked):
    var = ranked.var
    best = {gene for genes in MARKERS.values() for gene in genes}
    assert set(var.index[var["semisift_rank"] <= 9]) == best
    assert set(var.index[var["semisift_selected"]]) == best
    assert var.columns.tolist() == OF_GENES
    assert sorted(var["semisift_rank"]) == list(range(1, N_GENES + 1))


def test_it_is_the_ranking_of_the_library(ranked):
    y = ranked.obs["cell_type"].astype(object)
    ranker = Consensus(n_features_to_select=9, random_state=0)
    ranker.fit(normalize_counts(ranked.X), y.where(y.notna(), None).to_numpy())
    assert np.array_equal(ranked.var["semisift_score"], ranker.scores_)
    assert np.array_equal(ranked.var["semisift_rank"], ranker.ranking_)
    assert ranked.obs["semisift_label"].tolist() == ranker.transduction_.tolist()
    assert np.array_equal(ranked.obs["semisift_confidence"], ranker.confidence_)


def test_cells_are_labelled(ranked):
    obs = ranked.obs
    assert obs.columns.tolist()[-3:] == OF_CELLS
    given = obs["cell_type"].notna()
    assert obs["semisift_label"].cat.categories.tolist() == ["T", "B", "NK"]
    assert (obs["semisift_label"] == obs["truth"]).mean() > 0.95
    assert (obs["semisift_label"][given] == obs["cell_type"][given].astype(str)).all()
    assert (obs["semisift_confidence"][given] == 1).all()
    assert not obs["semisift_uncertain"][given].any()
    assert obs["semisift_uncertain"].dtype == bool


def test_what_was_done_is_kept(ranked):
    kept = ranked.uns["semisift"]
    assert kept["params"]["groupby"] == "semisift_label"
    assert kept["params"]["reference"] == "rest"
    assert kept["params"]["labels_key"] == "cell_type"
    assert kept["params"]["method"] == "consensus"
    assert kept["labelled"]["cells"].to_dict() == {"T": 8, "B": 8, "NK": 8}
    assert kept["values"].startswith("adata.X holds counts (whole numbers, mostly 0): taken as log")
    assert kept["versions"]["anndata"] == version("anndata")
    assert kept["citation"] == METHODS["consensus"].citation
    assert 0.9 < kept["stability"] <= 1
    assert kept["weights"].keys() == {"transductive", "ssfi"}
    assert sum(kept["weights"].values()) == pytest.approx(1)


# --- scanpy ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("group", few_daily([*MARKERS], 1))
def test_scanpy_takes_the_markers_of_a_class(ranked, group):
    table = sc.get.rank_genes_groups_df(ranked, group, key="semisift")
    assert set(table["names"][:3]) == set(MARKERS[group])
    assert set(table["names"]) == set(GENES)
    assert (np.diff(table["scores"]) <= 0).all()
    assert (table["logfoldchanges"][:3] > 1).all()
    assert (table["pct_nz_group"][:3] > table["pct_nz_reference"][:3]).all()
    assert table["pvals"].isna().all()


def test_scanpy_takes_all_classes(ranked):
    table = sc.get.rank_genes_groups_df(ranked, None, key="semisift")
    assert table["group"].unique().tolist() == ["T", "B", "NK"]
    assert len(table) == 3 * N_GENES


def test_fold_changes_are_those_of_scanpy():
    adata = make_cells()
    adata.obs["cell_type"] = adata.obs["truth"]
    adata.X = np.asarray(normalize_counts(adata.X).toarray())
    with pytest.warns(NoUnlabelledDataWarning):
        semisift.tl.rank_markers(adata, "cell_type", method="fisher")
    sc.tl.rank_genes_groups(adata, "cell_type", method="t-test", pts=True)
    own = sc.get.rank_genes_groups_df(adata, "NK", key="semisift").set_index("names")
    its = sc.get.rank_genes_groups_df(adata, "NK").set_index("names").loc[own.index]
    np.testing.assert_allclose(own["logfoldchanges"], its["logfoldchanges"], rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(own["pct_nz_group"], its["pct_nz_group"])
    np.testing.assert_allclose(own["pct_nz_reference"], its["pct_nz_reference"])
    assert own["scores"].corr(its["scores"], method="spearman") > 0.99


def test_scanpy_draws_the_markers(ranked):
    adata = ranked.copy()
    given = {"key": "semisift", "n_genes": 2, "dendrogram": False, "show": False}
    sc.pl.rank_genes_groups(adata, key="semisift", show=False)
    sc.pl.rank_genes_groups_heatmap(adata, **given)
    sc.pl.rank_genes_groups_matrixplot(adata, **given)
    axes = sc.pl.rank_genes_groups_dotplot(adata, **given)
    plt.close("all")
    names = [label.get_text() for label in axes["mainplot_ax"].get_xticklabels()]
    found = adata.uns["semisift"]["names"]
    assert names == [gene for group in MARKERS for gene in found[group][:2]]


@pytest.mark.parametrize("labels", few_daily(["numbers", "one class", "text"], 2))
def test_scanpy_groups_cells_by_the_labels_that_were_given(labels):
    adata = make_cells()
    codes = adata.obs["cell_type"].cat.codes.astype(float)
    adata.obs["l"] = {
        "text": adata.obs["cell_type"].astype(object),
        "numbers": codes.where(codes >= 0),
        "one class": adata.obs["cell_type"].where(adata.obs["cell_type"] == "T"),
    }[labels]
    caution = (
        pytest.warns(UserWarning, match="One class") if labels == "one class" else nullcontext()
    )
    with caution:
        semisift.tl.rank_markers(adata, "l", method="fisher")
    names = {"text": ["B", "NK", "T"], "numbers": ["0", "1", "2"], "one class": ["T", "other"]}
    assert adata.obs["semisift_given"].cat.categories.tolist() == names[labels]
    given = {"key": "semisift", "n_genes": 2, "dendrogram": False, "show": False}
    axes = sc.pl.rank_genes_groups_dotplot(adata, **given)["mainplot_ax"]
    assert [label.get_text() for label in axes.get_yticklabels()] == names[labels]
    sc.pl.rank_genes_groups_matrixplot(adata, **given)
    labelled = adata[adata.obs["semisift_given"].notna()].copy()
    sc.pl.rank_genes_groups_heatmap(labelled, **given)
    sc.pl.rank_genes_groups_tracksplot(labelled, **given)
    plt.close("all")


# --- in place, copies and views -------------------------------------------------------------------


def test_a_copy_leaves_the_input_as_it_is(ranked):
    adata = make_cells()
    before = adata.copy()
    changed = semisift.tl.rank_markers(adata, "cell_type", n_features=9, copy=True)
    same_results(changed, ranked)
    assert not adata.uns
    pd.testing.assert_frame_equal(adata.obs, before.obs)
    pd.testing.assert_frame_equal(adata.var, before.var)


def test_nothing_is_written_where_something_is_wrong():
    adata = make_cells()
    with pytest.raises(ValueError, match=r"n_features must be at most 40, .* got 41"):
        semisift.tl.rank_markers(adata, "cell_type", n_features=N_GENES + 1)
    assert not adata.uns
    assert adata.var.columns.empty


def test_a_view_becomes_an_anndata_of_its_own(ranked):
    whole = make_cells()
    whole.obs["keep"] = True
    view = whole[:, whole.var_names]
    assert view.is_view
    with pytest.warns(UserWarning, match="is a view of another AnnData"):
        semisift.tl.rank_markers(view, "cell_type", n_features=9)
    assert not view.is_view
    same_results(view, ranked)
    assert "semisift" not in whole.uns
    assert whole.var.columns.empty


def test_a_copy_of_a_view_needs_no_warning(ranked):
    whole = make_cells()
    view = whole[:, whole.var_names]
    same_results(semisift.tl.rank_markers(view, "cell_type", n_features=9, copy=True), ranked)
    assert view.is_view


def test_a_second_call_replaces_the_first():
    adata = make_cells()
    semisift.tl.rank_markers(adata, "cell_type", method="transductive")
    assert set(OF_CELLS) < {*adata.obs}
    semisift.tl.rank_markers(adata, "cell_type", method="fisher", n_features="shadow")
    assert not set(OF_CELLS) & {*adata.obs}
    assert "stability" not in adata.uns["semisift"]
    assert adata.var["semisift_decision"]["g2"] == "significant"
    semisift.tl.rank_markers(adata, "cell_type", method="fisher")
    assert adata.var.columns.tolist() == OF_GENES


def test_several_rankings_stand_side_by_side(ranked):
    adata = ranked.copy()
    semisift.tl.rank_markers(adata, "cell_type", method="transductive", key_added="other")
    assert "other_rank" in adata.var
    same_results(adata, ranked)


def test_the_same_seed_gives_the_same_bits(ranked):
    again = make_cells()
    again.X = csc_matrix(again.X)
    again.obs_names = ["same"] * N_CELLS
    semisift.tl.rank_markers(again, "cell_type", n_features=9, n_jobs=2)
    same_results(again, ranked)
    semisift.tl.rank_markers(again, "cell_type", n_features=9, random_state=1)
    assert again.var["semisift_score"].tolist() != ranked.var["semisift_score"].tolist()


# --- methods --------------------------------------------------------------------------------------


def test_a_method_that_labels_no_cells():
    adata = make_cells()
    semisift.tl.rank_markers(adata, "cell_type", method="fisher")
    assert [name for name in adata.obs if name.startswith("semisift")] == ["semisift_given"]
    assert adata.uns["semisift"]["params"]["groupby"] == "semisift_given"
    assert adata.obs["semisift_given"].isna().sum() == N_CELLS - 24
    table = sc.get.rank_genes_groups_df(adata, "T", key="semisift")
    assert len(set(table["names"][:3]) & set(MARKERS["T"])) >= 2


def test_a_method_without_shares_of_classes():
    adata = make_cells()
    semisift.tl.rank_markers(adata, "cell_type", method="ssfi", n_members=60)
    confidence = adata.obs["semisift_confidence"]
    assert (confidence < 0.6).any()
    assert adata.obs["semisift_uncertain"][confidence < 0.59].all()
    assert not adata.obs["semisift_uncertain"][confidence > 0.61].any()


def test_a_method_without_labels():
    adata = make_cells()
    semisift.tl.rank_markers(adata, "cell_type", method="variance")
    assert "names" not in adata.uns["semisift"]
    assert sorted(adata.var["semisift_rank"]) == list(range(1, N_GENES + 1))


def test_near_copies_name_the_gene_that_stands_for_them():
    adata = make_cells()
    adata.X = adata.X.toarray()
    adata.X[:, 1] = adata.X[:, 0]
    semisift.tl.rank_markers(adata, "cell_type", redundancy_threshold=0.99)
    representatives = adata.var["semisift_family"]
    assert representatives["g0"] == representatives["g1"]
    assert representatives["g5"] == "g5"


def test_genes_may_be_kept_and_left_out_by_name():
    adata = make_cells()
    semisift.tl.rank_markers(adata, "cell_type", include=["g20"], exclude=["g0"], n_features=5)
    assert adata.var["semisift_rank"]["g20"] == 1
    assert adata.var["semisift_rank"]["g0"] == N_GENES


def test_one_class():
    adata = make_cells()
    adata.obs["cell_type"] = adata.obs["cell_type"].where(adata.obs["cell_type"] == "T")
    with pytest.warns(UserWarning, match="The table cannot tell the class from a batch"):
        semisift.tl.rank_markers(adata, "cell_type", method="transductive")
    assert adata.obs["semisift_label"].cat.categories.tolist() == ["T", "other"]
    assert adata.uns["semisift"]["names"].dtype.names == ("T", "other")
    assert 0.1 < adata.uns["semisift"]["positive_share"] < 0.6
    assert set(adata.uns["semisift"]["names"]["T"][:3]) == set(MARKERS["T"])


def test_donors_plates_and_weights():
    adata = make_cells()
    adata.X = adata.X.toarray()
    adata.X[adata.obs["plate"] == "p1", 20:30] += 4.0
    keys = {"batch_key": "plate", "group_key": "donor", "weight_key": "weight"}
    semisift.tl.rank_markers(adata, "cell_type", method="transductive", normalize=True, **keys)
    y = adata.obs["cell_type"].astype(object).where(adata.obs["cell_type"].notna(), None)
    ranker = METHODS["transductive"].cls(random_state=0)
    known = {"batch": adata.obs["plate"], "groups": adata.obs["donor"]}
    X = normalize_counts(adata.X)
    ranker.fit(X, y.to_numpy(), **known, sample_weight=adata.obs["weight"])
    assert np.array_equal(adata.var["semisift_score"], ranker.scores_)
    assert adata.uns["semisift"]["params"]["batch_key"] == "plate"


def test_cells_that_fit_no_class():
    adata = make_cells()
    adata.obs["cell_type"] = adata.obs["cell_type"].where(adata.obs["cell_type"] != "NK")
    with pytest.warns(semisift.NovelClassWarning):
        semisift.tl.rank_markers(adata, "cell_type", method="transductive")
    found = adata.obs["semisift_fits_none"]
    assert (adata.obs["truth"][found] == "NK").mean() > 0.9


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "error", "message"),
    few_daily(
        [
            ({"method": "fisherr"}, ValueError, "method must be .consensus.*: got 'fisherr'"),
            (
                {"n_member": 3},
                TypeError,
                "consensus has no parameter 'n_member'. Did you mean n_mem",
            ),
            ({"n_features_to_select": 3}, TypeError, "Did you mean n_features?"),
            (
                {"method": "mrmr", "weight_key": "weight"},
                ValueError,
                "mrmr takes no weights. Those",
            ),
            ({"random_state": None}, ValueError, "random_state must be a whole number: got None"),
            ({"normalize": "yes"}, ValueError, "normalize must be None, True or False: got 'yes'"),
            (
                {"key_added": "a/b"},
                ValueError,
                "key_added must be a name .* without '/' .*: got 'a/b'",
            ),
            ({"n_features": 0}, ValueError, "n_features must be None, a whole number .*: got 0"),
            (
                {"n_features": "shado"},
                ValueError,
                "'shadow' or 'stability' or 'knockoff': got 'shado'",
            ),
            (
                {"max_memory": "many"},
                ValueError,
                "max_memory must be a number of bytes.* got 'many'",
            ),
            (
                {"n_jobs": 0},
                ValueError,
                "n_jobs must be None or a whole number other than 0.* got 0",
            ),
            (
                {"batch_key": "plates"},
                ValueError,
                "batch_key='plates' is no column .* mean 'plate'",
            ),
            ({"group_key": "gaps"}, ValueError, "group_key='gaps': groups must hold one name"),
            ({"layer": "counts"}, ValueError, "layer='counts' is no layer of adata. There is none"),
            ({"layer": "counts", "use_raw": True}, ValueError, "name two tables"),
            ({"use_raw": True}, ValueError, "use_raw=True: adata has no .raw"),
            (
                {"key_added": ".."},
                ValueError,
                r"key_added must be a name that files take.*got '\.\.'",
            ),
            ({"n_features": True}, ValueError, "n_features must be .* got True"),
            ({"n_features": 1.5}, ValueError, "n_features must be .* a share .* got 1.5"),
            (
                {"normalize": np.array([1, 2])},
                ValueError,
                "normalize must be None, True or False: got",
            ),
            ({"max_memory": -1}, ValueError, "max_memory must be a number of bytes.* got -1"),
            ({"use_raw": "yes"}, ValueError, "use_raw must be True or False: got 'yes'"),
            ({"copy": "yes"}, ValueError, "copy must be True or False: got 'yes'"),
            ({"n_jobs": 1.5}, ValueError, "n_jobs must be None or a whole number .* got 1.5"),
        ],
        11,
    ),
)
def test_errors_name_the_parameter(given, error, message):
    adata = make_cells()
    adata.obs["gaps"] = adata.obs["cell_type"]
    with pytest.raises(error, match=message):
        semisift.tl.rank_markers(adata, "cell_type", **given)


def test_what_is_no_anndata():
    with pytest.raises(TypeError, match="adata must be an AnnData: got ndarray"):
        semisift.tl.rank_markers(np.eye(3), "cell_type")


def test_a_ranking_does_not_start_from_its_own_labels(ranked):
    with pytest.raises(ValueError, match="labels_key='semisift_label' is written by this key"):
        semisift.tl.rank_markers(ranked, "semisift_label")


def test_genes_need_names_of_their_own():
    adata = make_cells()
    adata.var_names = ["g0", *GENES[:-1]]
    with pytest.raises(ValueError, match="several genes called 'g0'"):
        semisift.tl.rank_markers(adata, "cell_type")


def test_no_values():
    adata = ad.AnnData(obs=make_cells().obs, var=pd.DataFrame(index=GENES))
    with pytest.raises(ValueError, match=r"adata.X is empty. Put values into it"):
        semisift.tl.rank_markers(adata, "cell_type")
