import numpy as np
import pytest

import semisift
from semisift import Consensus, normalize_counts
from tests.nightly import few_daily
from tests.tl.cells import MARKERS, make_cells, same_results

MIN = {"n_resamples": 4, "n_permutations": 39}


@pytest.fixture(scope="module")
def assessed():
    adata = make_cells()
    semisift.tl.rank_markers(adata, "cell_type", n_members=40)
    assert semisift.tl.assess(adata, **MIN) is None
    return adata


def test_it_is_the_assessment_of_the_library(assessed):
    y = assessed.obs["cell_type"].astype(object)
    X, y = normalize_counts(assessed.X), y.where(y.notna(), None).to_numpy()
    ranker = Consensus(n_members=40, random_state=0).fit(X, y)
    found = ranker.assess(X, y, fast=True, **MIN)
    assert assessed.var["semisift_decision"].tolist() == found.decisions.tolist()
    interval = assessed.var[["semisift_rank_low", "semisift_rank_high"]].to_numpy()
    np.testing.assert_array_equal(interval, found.rank_interval)
    kept = assessed.uns["semisift"]["assessment"]
    assert kept["p_value"] == found.p_value
    assert kept["decisions"]["significant"] == (found.decisions == "significant").sum()
    text = " ".join(kept["sentences"])
    assert "Significant: 9 of 40 features." in text
    assert "The labels go with the data" in text


def test_markers_are_significant(assessed):
    significant = assessed.var_names[assessed.var["semisift_decision"] == "significant"]
    assert set(significant) == {gene for genes in MARKERS.values() for gene in genes}


def test_markers_have_p_values(assessed):
    kept = assessed.uns["semisift"]
    for group, genes in MARKERS.items():
        assert set(kept["names"][group][:3]) == set(genes)
        assert (kept["pvals_adj"][group][:3] <= 0.05).all()
        assert (kept["pvals_adj"][group][3:12] > 0.05).all()  # the last ones are low in the class


def test_a_copy(assessed):
    adata = make_cells()
    semisift.tl.rank_markers(adata, "cell_type", n_members=40)
    changed = semisift.tl.assess(adata, copy=True, **MIN)
    same_results(changed, assessed)
    assert "assessment" not in adata.uns["semisift"]
    assert "semisift_decision" not in adata.var


def test_a_new_ranking_forgets_the_assessment(assessed):
    adata = assessed.copy()
    semisift.tl.rank_markers(adata, "cell_type", method="fisher")
    assert not {"semisift_decision", "semisift_rank_low"} & {*adata.var.columns}
    assert "assessment" not in adata.uns["semisift"]
    semisift.tl.assess(adata, n_resamples=0, n_permutations=39)
    assert np.isnan(
        adata.uns["semisift"]["pvals"]["T"]
    ).all()  # there are no permuted features of it
    assert "semisift_decision" in adata.var


def test_donors_are_assessed_as_groups():
    adata = make_cells()
    semisift.tl.rank_markers(adata, "cell_type", method="transductive", group_key="donor")
    semisift.tl.assess(adata, n_resamples=2, n_permutations=3)
    assert "n_groups" in str(adata.uns["semisift"]["assessment"])


# --- errors ---------------------------------------------------------------------------------------


def test_a_key_that_is_not_there(assessed):
    with pytest.raises(ValueError, match=r"key='other' names no ranking .* there: 'semisift'."):
        semisift.tl.assess(assessed, "other")
    with pytest.raises(ValueError, match=r"names no ranking .* There is none."):
        semisift.tl.assess(make_cells())


@pytest.mark.parametrize(
    ("given", "message"),
    few_daily(
        [
            ({"fast": "x"}, "fast must be True or False: got 'x'"),
            ({"copy": 1}, "copy must be True or False: got 1"),
            ({"n_resamples": "many"}, "n_resamples must be a whole number, 0 or more: got 'many'"),
            ({"n_permutations": -1}, "n_permutations must be a whole number, 0 or more: got -1"),
            ({"n_jobs": 0}, "n_jobs must be None or a whole number other than 0"),
        ],
        2,
    ),
)
def test_errors_name_the_parameter(assessed, given, message):
    with pytest.raises(ValueError, match=message):
        semisift.tl.assess(assessed, **given)


def test_markers_are_no_ranking():
    adata = make_cells()
    semisift.tl.markers(adata, "cell_type")
    with pytest.raises(ValueError, match=r"names no ranking of semisift.tl.rank_markers"):
        semisift.tl.assess(adata, "semisift_markers")


def test_cells_that_were_left_out_since(assessed):
    with pytest.raises(ValueError, match="150 cells and 40 genes were ranked, and adata has 100"):
        semisift.tl.assess(assessed[:100].copy())


@pytest.mark.parametrize("change", ["values", "labels"])
def test_what_changed_since(assessed, change):
    adata = assessed.copy()
    if change == "values":
        adata.X = adata.X[:, ::-1].copy()
    else:
        adata.obs["cell_type"] = adata.obs["cell_type"].to_numpy()[::-1]
    with pytest.raises(ValueError, match="the values or labels are no longer those"):
        semisift.tl.assess(adata)


def test_parameters_that_cannot_be_kept():
    adata = make_cells()
    own = [("one", semisift.TransductiveScore()), ("two", semisift.FisherScore())]
    semisift.tl.rank_markers(adata, "cell_type", rankers=own)
    assert "TransductiveScore()" in adata.uns["semisift"]["params"]["settings"]
    for settings in (adata.uns["semisift"]["params"]["settings"], "{[]: 1}", "[1]"):
        adata.uns["semisift"]["params"]["settings"] = settings
        with pytest.raises(ValueError, match=r"made with parameters that .uns cannot hold"):
            semisift.tl.assess(adata)
