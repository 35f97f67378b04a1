import anndata as ad
import numpy as np
import pandas as pd
import pytest

import semisift
from semisift import UnlabelledTextWarning
from semisift.tl._read import read_labels
from tests.nightly import few_daily
from tests.tl.cells import make_cells

T, B = "T", "B"


def labels_of(values, **given):
    adata = ad.AnnData(obs=pd.DataFrame({"l": values}, index=[f"c{i}" for i in range(len(values))]))
    y, order = read_labels(adata, "l", **given)
    return y.tolist(), [*order]


@pytest.mark.parametrize(
    "values",
    few_daily(
        [
            pd.Categorical([T, B, None], categories=[B, "unused", T]),
            np.array([T, B, None], dtype=object),
            np.array([T, B, np.nan], dtype=object),
            np.array([T, B, ""], dtype=object),
            np.array([T, B, "  "], dtype=object),
            pd.Categorical([T, B, ""]),
            pd.array([T, B, pd.NA], dtype="string"),
        ],
        3,
    ),
)
def test_what_is_missing_or_empty_is_unlabelled(values):
    assert labels_of(values)[0] == [T, B, None]


def test_the_order_is_that_of_the_categories():
    assert labels_of(pd.Categorical([T, B], categories=[T, "x", B]))[1] == [T, "x", B]
    assert labels_of([T, B])[1] == []


@pytest.mark.parametrize(
    ("values", "category", "expected"),
    few_daily(
        [
            ([T, B, "Unknown"], "Unknown", [T, B, None]),
            ([T, "", "Unknown"], "Unknown", [T, None, None]),
            (pd.Categorical([T, B, None], categories=[T, B, "Unknown"]), "Unknown", [T, B, None]),
            ([1, 2, 0], 0, [1, 2, None]),
            ([1, 2, 0], np.int64(0), [1, 2, None]),
            ([1, 2, -1], -1, [1, 2, None]),
            ([1, 2, -1], None, [1, 2, None]),
            ([T, "-1", T], "-1", [T, None, T]),
            ([T, "-1", "x"], "x", [T, "-1", None]),
            ([T, "nan", "x"], "x", [T, None, None]),
            ([T, "nan", B], "nan", [T, None, B]),
            ([1.0, 2.0, np.nan], None, [1, 2, None]),
            ([True, False, True], None, [True, False, True]),
            ([True, False, True], False, [True, None, True]),
            (pd.array([True, None], dtype="boolean"), None, [True, None]),
            ([T, B, None], np.nan, [T, B, None]),
            ([T, B, None], pd.NA, [T, B, None]),
            (pd.array([3, None], dtype="Int64"), None, [3, None]),
        ],
        6,
    ),
)
def test_a_category_that_means_none(values, category, expected):
    assert labels_of(values, unlabeled_category=category)[0] == expected


@pytest.mark.parametrize(
    ("values", "category", "message"),
    few_daily(
        [
            (
                [T, B, ""],
                "Unknown",
                r"'Unknown' is no value of adata.obs\['l'\]. Its values are 'B', 'T'",
            ),
            ([1, -1, 2], "-1", "unlabeled_category='-1' is no value .* are -1, 1, 2"),
            ([1, 2, 3], "1", "unlabeled_category='1' is no value .* are 1, 2, 3"),
            ([T, B, ""], ["T"], r"unlabeled_category must be one label: got \['T'\]"),
            ([T, B, ""], np.array(["T", "B"]), "unlabeled_category must be one label: got array"),
            ([1, 0, 1], True, "unlabeled_category=True is no value"),
            ([T, B, ""], 0, "unlabeled_category=0 is no value"),
            ([1, -1, 1], None, "holds -1, which may be a class .* unlabeled_category=-1"),
            ([T, "-1", T], None, "holds '-1', which may be a class .* unlabeled_category='-1'"),
            (["drug", "None", ""], None, "holds 'None', which may be a class"),
        ],
        4,
    ),
)
def test_bad_categories(values, category, message):
    with pytest.raises(ValueError, match=message):
        labels_of(values, unlabeled_category=category)


@pytest.mark.parametrize("word", few_daily(["nan", "-1", "NA", "None", "<NA>", "N/A"], 1))
def test_text_that_means_none_is_told(word):
    with pytest.warns(UnlabelledTextWarning, match=rf"obs\['l'\] holds .*'{word}' \(2 rows\)"):
        assert labels_of([T, B, word, word])[0] == [T, B, None, None]


def test_a_class_called_minus_one_is_ranked():
    adata = make_cells()
    given = adata.obs["cell_type"].astype(object).where(adata.obs["cell_type"].notna(), "unknown")
    adata.obs["l"] = given.replace("T", "-1")
    semisift.tl.rank_markers(adata, "l", "unknown", method="fisher")
    assert adata.uns["semisift"]["names"].dtype.names == ("-1", "B", "NK")


@pytest.mark.parametrize("word", few_daily(["Unknown", "na", "unlabeled", "none"], 2))
def test_words_that_may_mean_none_are_told(word):
    with pytest.warns(UserWarning, match=f"'{word}' in .* is taken for a class.*='{word}'"):
        assert labels_of([T, B, word])[0] == [T, B, word]


@pytest.mark.parametrize(
    ("values", "message"),
    few_daily(
        [
            (np.linspace(0, 1, 150), "labels_key='l': Unknown label type: continuous"),
            ([T, 1] * 75, "labels_key='l': Unknown label type: y mixes labels"),
            ([None] * 150, "y has no labelled row"),
        ],
        2,
    ),
)
def test_columns_that_hold_no_labels(values, message):
    adata = make_cells()
    adata.obs["l"] = np.array(values, dtype=object) if isinstance(values, list) else values
    with pytest.raises(ValueError, match=message):
        semisift.tl.rank_markers(adata, "l")


def test_a_column_that_is_not_there():
    with pytest.raises(ValueError, match=r"labels_key='celltype' is no column .* 'cell_type'"):
        semisift.tl.rank_markers(make_cells(), "celltype")


NUMBERS = {"T": 10, "B": 2, "NK": 3}


@pytest.mark.parametrize(
    ("as_label", "names"),
    [
        (NUMBERS.get, ("2", "3", "10")),
        (lambda label: None if label is None else label == "T", ("False", "True")),
    ],
)
def test_numbers_and_booleans_are_classes(as_label, names):
    adata = make_cells()
    given = [None if label != label else label for label in adata.obs["cell_type"].tolist()]
    adata.obs["l"] = [as_label(label) for label in given]
    semisift.tl.rank_markers(adata, "l", method="transductive", class_prior=None)
    assert adata.uns["semisift"]["names"].dtype.names == names
    assert tuple(adata.obs["semisift_label"].cat.categories) == names
    truth = adata.obs["truth"].map(as_label).astype(str)
    assert (adata.obs["semisift_label"].astype(str) == truth).mean() > 0.9


def test_the_prior_is_given_by_label():
    adata = make_cells()
    prior = {"T": 0.2, "B": 0.4, "NK": 0.4}
    semisift.tl.predict_labels(adata, "cell_type", class_prior=prior)
    ranked = semisift.tl.rank_markers(
        adata, "cell_type", method="transductive", class_prior=prior, copy=True
    )
    assert ranked.uns["semisift"]["params"]["settings"] == f"{{'class_prior': {prior}}}"
    assert ranked.obs["semisift_confidence"].equals(adata.obs["semisift_cells_confidence"])


def test_no_category_is_kept_as_none(tmp_path):
    adata = make_cells()
    semisift.tl.rank_markers(adata, "cell_type", pd.NA, method="fisher")
    adata.write_h5ad(tmp_path / "cells.h5ad")
    semisift.tl.assess(ad.read_h5ad(tmp_path / "cells.h5ad"), n_resamples=2, n_permutations=0)
