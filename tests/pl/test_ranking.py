"""The best genes and their scores."""

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

import semisift
from semisift.pl._ranking import best_genes
from semisift.report._style import PLAIN
from tests.pl.cells import make_cells


def draw(adata, **options):
    return semisift.pl.ranking(adata, show=False, **options)


def names_on(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def texts_on(ax):
    return [text.get_text() for text in ax.texts]


def marks_on(ax):
    """The scores that are marked, by the colour of the edge of their mark."""
    points = [line for line in ax.get_lines() if line.get_marker() not in ("None", None, "")]
    return {to_hex(line.get_mec()): line.get_xdata().tolist() for line in points}


def test_best_genes_stand_on_top_with_their_scores():
    adata = make_cells()
    best = adata.var.sort_values("semisift_rank")
    ax = draw(adata, n_features=12)
    assert names_on(ax) == best.index[:12].tolist()
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    assert [*marks_on(ax).values()] == [best.semisift_score[:12].tolist()]
    assert ax.get_xlabel() == "score (transductive)"
    assert texts_on(ax) == ["6 selected"]
    assert ax.get_legend() is None


def test_after_an_assessment_decisions_are_marked_and_intervals_written():
    adata = make_cells(assessed=True)
    rank = adata.var["semisift_rank"]
    adata.var.loc[rank > 10, "semisift_decision"] = "suggestive"  # all three are to be seen
    adata.var.loc[rank > 15, "semisift_decision"] = "not significant"
    best = adata.var.sort_values("semisift_rank")[:20]
    ax = draw(adata)
    marks = [*marks_on(ax).items()]
    assert [colour for colour, _ in marks[:2]] == [PLAIN.accent, PLAIN.classes[1]]
    for decision, (_, scores) in zip(
        ("significant", "suggestive", "not significant"), marks, strict=True
    ):
        assert scores == best.semisift_score[best.semisift_decision == decision].tolist()
        assert scores
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "significant",
        "suggestive",
        "not significant",
    ]
    low, high = best.semisift_rank_low.astype(int), best.semisift_rank_high.astype(int)
    intervals = [f"{a} to {b}" for a, b in zip(low, high, strict=True)]
    assert texts_on(ax) == ["6 selected", "rank on halves", *intervals]


def test_near_copies_are_named_beside_their_gene_and_have_no_line():
    adata = make_cells()
    best = adata.var.sort_values("semisift_rank").index
    representatives = adata.var_names.to_series().astype(object)
    representatives[best[7:12]] = best[0]
    adata.var["semisift_family"] = representatives.astype("category")
    ax = draw(adata)
    assert not set(names_on(ax)) & set(best[7:12])
    assert texts_on(ax)[1:4] == ["represents", f"{best[7]}, {best[8]}, {best[9]} and 2 more", ""]


def test_near_copies_that_a_ranking_found():
    adata = make_cells()
    counts = adata.X.toarray()
    counts[:, 20] = counts[:, 0]
    adata.X = counts
    semisift.tl.rank_markers(adata, "kind", method="fisher", redundancy_threshold=0.7)
    first, copy = (
        ("gene20", "gene0") if adata.var["semisift_rank"]["gene0"] > 10 else ("gene0", "gene20")
    )
    ax = draw(adata, n_features=30)
    assert copy not in names_on(ax)
    assert copy in texts_on(ax)[texts_on(ax).index("represents") :]
    assert first in names_on(ax)


def test_genes_that_are_not_ranked_are_left_out():
    adata = make_cells()
    first = adata.var["semisift_rank"].idxmin()
    adata.var.loc[first, ["semisift_rank", "semisift_score"]] = np.nan
    assert first not in names_on(draw(adata))
    adata.var["semisift_rank"] = np.nan
    with pytest.raises(ValueError, match="ranks no gene"):
        draw(adata)


def test_infinite_and_missing_scores_stay_inside():
    adata = make_cells()
    order = np.argsort(adata.var["semisift_rank"].to_numpy())
    scores = adata.var["semisift_score"].to_numpy().copy()
    scores[order[0]], scores[order[-1]] = np.inf, np.nan
    adata.var["semisift_score"] = scores
    ax = draw(adata, n_features=30)
    (marks,) = marks_on(ax).values()
    assert scores[order[1]] < marks[0] < ax.get_xlim()[1]
    assert np.isnan(marks[-1])


def test_what_cannot_be_drawn_is_refused():
    adata = make_cells()
    with pytest.raises(ValueError, match="n_features must be a whole number, 1 or more: got 'a'"):
        semisift.pl.ranking(adata, n_features="a", show=False)
    with pytest.raises(ValueError, match="n_features must be a whole number, 1 or more: got 0"):
        draw(adata, n_features=0)
    del adata.var["semisift_rank"]
    with pytest.raises(ValueError, match="lacks semisift_rank"):
        draw(adata)


def test_one_long_name_costs_its_own_length():
    """In numpy's own strings each of a thousand names would take as much: 4 GB."""
    ranks = np.arange(1.0, 1_001.0)
    names = ["g" * 1_000_000, *(f"gene{j}" for j in range(999))]
    var = pd.DataFrame({"semisift_rank": ranks, "semisift_score": -ranks}, index=names)
    adata = SimpleNamespace(var=var, var_names=var.index)
    tracemalloc.start()
    try:
        best = best_genes(adata, "semisift", 3)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert best.names[1:] == ["gene0", "gene1"]
    assert len(best.names[0]) < 200
    assert peak < 50e6
