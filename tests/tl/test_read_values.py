import numpy as np
import pytest
import scanpy as sc
from scipy.sparse import csr_matrix

import semisift
from tests.nightly import few_daily
from tests.tl.cells import (
    GENES,
    MARKERS,
    N_CELLS,
    N_GENES,
    log_normalised,
    make_cells,
    same_results,
)

QUICK = {"method": "transductive"}


def ranks(adata, **given):
    changed = semisift.tl.rank_markers(adata, "cell_type", copy=True, **{**QUICK, **given})
    return changed.var["semisift_rank"].to_numpy()


# --- counts and logarithms ------------------------------------------------------------------------


@pytest.mark.parametrize("method", few_daily(["transductive", "ssfi", "consensus", "fisher"], 2))
def test_counts_and_their_logarithms_rank_alike(method):
    counts = make_cells()
    other = log_normalised(counts)
    given = {"method": method, **({"n_members": 40} if method in ("consensus", "ssfi") else {})}
    assert ranks(counts, **given).tolist() == ranks(other, **given).tolist()


def test_what_was_done_is_ranked_values():
    counts = make_cells()

    median = np.median(np.asarray(counts.X.sum(axis=1)))
    assert ranked_values(counts) == (
        "adata.X holds counts (whole numbers, mostly 0): taken as log(1 + x) of cells that were "
        f"brought to the median total of {median:.3g}."
    )
    whole = "adata.X holds counts (whole numbers, mostly 0): taken as they are."
    assert ranked_values(counts, normalize=False) == whole
    logs = "adata.X holds logarithms of counts (fractions, mostly 0): taken as they are."
    assert ranked_values(log_normalised(counts)) == logs
    assert ranked_values(log_normalised(counts), normalize=True) == logs  # and not twice
    counts.X = csr_matrix(counts.X.toarray() + 0.5)
    assert (
        "do not look like counts, and were said to be some: taken as log(1 + x)"
        in ranked_values(counts, normalize=True)
    )


def test_counts_at_one_total_become_logarithms_here_and_on_the_command_line(tmp_path):
    adata = make_cells()
    sc.pp.normalize_total(adata, target_sum=1e4)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    semisift.tl.rank_markers(adata, "cell_type", **QUICK)
    assert adata.uns["semisift"]["values"] == (
        "adata.X holds large fractions, mostly 0, as of counts that were brought to one total: "
        "taken as log(1 + x) of cells that were brought to the median total of 10,000."
    )
    table = semisift.read_table(tmp_path / "cells.h5ad", label="cell_type")
    ranker = semisift.METHODS["transductive"].cls(random_state=0).fit(table.X, table.y)
    assert adata.var["semisift_score"].tolist() == ranker.scores_.tolist()
    assert "taken as they are" in ranked_values(adata, normalize=False)


def ranked_values(adata, **given):
    changed = semisift.tl.rank_markers(adata, "cell_type", copy=True, **QUICK, **given)
    return changed.uns["semisift"]["values"]


def test_whole_numbers_that_are_mostly_filled_are_warned_of():
    adata = make_cells()
    adata.X = csr_matrix(adata.X.toarray() + 1)
    with pytest.warns(UserWarning, match="holds whole numbers of 0 or more.*say normalize=True"):
        ranks(adata)


def test_scaled_values_are_taken_as_they_are():
    adata = log_normalised(make_cells())
    adata.X = adata.X.toarray()
    sc.pp.scale(adata)
    semisift.tl.rank_markers(adata, "cell_type", **QUICK)
    kept = adata.uns["semisift"]
    assert "measurements, some of them below 0, of which there are no fold" in kept["values"]
    assert np.isnan(kept["logfoldchanges"]["T"]).all()
    assert set(kept["names"]["T"][:3]) == set(MARKERS["T"])


def test_values_below_0_are_no_counts():
    adata = make_cells()
    adata.X = adata.X.toarray()
    adata.X[5, 7] = -2
    with pytest.raises(ValueError, match=r"holds -2 \(cell 'c5', gene 'g7'\), and counts are fin"):
        ranks(adata, normalize=True)


@pytest.mark.parametrize("form", [csr_matrix, np.array])
@pytest.mark.parametrize("normalize", few_daily([None, True], 1))
def test_infinite_values_are_no_counts(form, normalize):
    adata = make_cells()
    X = adata.X.toarray()
    X[100, 30] = np.inf
    adata.X = form(X)
    with pytest.raises(ValueError, match=r"holds inf \(cell 'c100', gene 'g30'\), and counts are"):
        ranks(adata, normalize=normalize)
    with pytest.raises(ValueError, match=r"contains infinity[^$]*column 'g30'"):
        ranks(adata, normalize=False)


@pytest.mark.parametrize("shape", [(N_CELLS, 0), (0, N_GENES)])
def test_no_cells_and_no_genes(shape):
    adata = make_cells()[: shape[0], : shape[1]].copy()
    with pytest.raises(ValueError, match=r"must have cells and genes|has no labelled row|0 rows"):
        ranks(adata)


# --- cells without a value ------------------------------------------------------------------------


@pytest.mark.parametrize("form", few_daily([csr_matrix, np.array], 1))
@pytest.mark.parametrize("call", [semisift.tl.rank_markers, semisift.tl.predict_labels])
def test_cells_without_a_value_are_uncertain(call, form):
    adata = make_cells()
    X = adata.X.toarray()
    X[[3, 40, 41]] = 0
    adata.X = form(X)
    with pytest.warns(
        UserWarning, match="3 cells of 150 without any value but 0 .*, 1 of them lab"
    ):
        call(adata, "cell_type", key_added="k")
    assert adata.obs["k_uncertain"].iloc[[3, 40, 41]].tolist() == [False, True, True]


# --- layers and raw -------------------------------------------------------------------------------


def test_layers():
    adata = make_cells()
    expected = ranks(adata)
    adata.layers["counts"] = adata.X.copy()
    adata.X = csr_matrix(np.random.default_rng(0).random((N_CELLS, N_GENES)))
    assert ranks(adata, layer="counts").tolist() == expected.tolist()
    with pytest.raises(ValueError, match=r"layer='count' is no layer of adata. Did you mean 'cou"):
        ranks(adata, layer="count")


def test_raw():
    adata = make_cells()
    whole = semisift.tl.rank_markers(adata, "cell_type", copy=True, **QUICK)
    adata.raw = adata.copy()
    small = adata[:, GENES[5:15]].copy()
    semisift.tl.rank_markers(small, "cell_type", use_raw=True, **QUICK)
    assert small.var["semisift_rank"].tolist() == whole.var["semisift_rank"][5:15].tolist()
    own, its = small.uns["semisift"], whole.uns["semisift"]
    assert own["names"].tolist() == its["names"].tolist()
    assert own["values"].startswith("adata.raw.X holds counts")
    table = sc.get.rank_genes_groups_df(small, "T", key="semisift")
    assert len(table) == N_GENES
    semisift.tl.assess(small, n_resamples=2, n_permutations=0)
    assert small.var["semisift_rank_low"].notna().all()


# --- masks ----------------------------------------------------------------------------------------


def masked():
    adata = make_cells()
    adata.var["chosen"] = np.arange(N_GENES) < 12
    return adata


def test_a_mask_by_name_and_as_an_array():
    adata = masked()
    mask = adata.var["chosen"]
    semisift.tl.rank_markers(adata, "cell_type", mask_var="chosen", **QUICK)
    rank = adata.var["semisift_rank"]
    assert sorted(rank[mask]) == list(range(1, 13))
    assert rank[~mask].isna().all()
    assert not adata.var["semisift_selected"][~mask].any()
    assert set(adata.uns["semisift"]["names"]["T"]) == set(GENES[:12])
    for given in (mask.to_numpy(), mask, mask.tolist()):
        again = masked()
        semisift.tl.rank_markers(again, "cell_type", mask_var=given, **QUICK)
        same_results(again, adata)


def test_counts_are_shares_of_all_genes_whatever_the_mask():
    adata = masked()
    semisift.tl.rank_markers(adata, "cell_type", mask_var="chosen", **QUICK)
    other = log_normalised(masked())[:, GENES[:12]].copy()
    semisift.tl.rank_markers(other, "cell_type", **QUICK)
    assert adata.var["semisift_rank"][:12].tolist() == other.var["semisift_rank"].tolist()


@pytest.mark.parametrize(
    ("mask", "message"),
    few_daily(
        [
            ("chose", "mask_var='chose' is no column of adata.var. Did you mean 'chosen'?"),
            ("name", "mask_var='name' must say True or False of each of 40 genes .* type object"),
            (np.ones(3, dtype=bool), r"mask_var must say True or False .* shape \(3,\)"),
            (np.zeros(N_GENES, dtype=bool), "mask_var must leave a gene to rank"),
        ],
        2,
    ),
)
def test_bad_masks(mask, message):
    adata = masked()
    adata.var["name"] = GENES
    with pytest.raises(ValueError, match=message):
        ranks(adata, mask_var=mask)


def test_a_mask_of_other_genes():
    adata = masked()
    with pytest.raises(ValueError, match=r"mask_var must have the genes of adata.var for an index"):
        ranks(adata, mask_var=adata.var["chosen"][::-1])
