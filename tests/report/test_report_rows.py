"""Rows on the page: the heatmap, names of rows, those to label next, and long tails."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from semisift import SSFI, FisherScore, VarianceScore
from semisift.report._rows import read_rows
from semisift.report.charts import heatmap
from semisift.selection import ranking_result
from semisift.utils._columns import LONG_TAIL
from semisift.utils._text import format_number
from tests.conftest import make_data
from tests.pages import Given, check, fit_example, page_of


@pytest.fixture(scope="module")
def fitted():
    return fit_example()


def cells_of(found):
    """Return the levels of the cells as the paths draw them; -1 where nothing is drawn."""
    levels = np.full((len(found["names"]), len(found["columns"])), -1)
    for level, path in found["paths"]:
        for start, line, length in re.findall(r"M(\d+) (\d+)\.5h(\d+)", path):
            run = levels[int(line), int(start) : int(start) + int(length)]
            assert (run == -1).all()
            run[:] = level
    return levels


def heat(ranker, X, y, **more):
    return heatmap.figure(ranking_result(ranker), read_rows(ranker, X, y, **more), X)


# --- the heatmap ----------------------------------------------------------------------------------


def test_rows_stand_by_class_and_confidence(fitted):
    ranker, X, y = fitted
    cells = heatmap.order_rows(read_rows(ranker, X, y), X.to_numpy())
    rows = np.concatenate(cells.rows)
    assert sorted(rows) == list(range(60))
    own = np.array([label is not None for label in y[rows]])
    blocks = [(group.name, group.kind) for group in cells.groups]
    assert list(dict.fromkeys(blocks)) == [
        (name, kind) for name in ("ham", "spam") for kind in ("labelled", "given")
    ]
    assert own.tolist() == [kind == "labelled" for _, kind in blocks]
    assert ranker.transduction_[rows].tolist() == [name for name, _ in blocks]
    for name in ("ham", "spam"):
        given = rows[~own & (ranker.transduction_[rows] == name)]
        assert (np.diff(ranker.confidence_[given]) <= 0).all()


def test_cells_are_the_standardised_values(fitted):
    ranker, X, y = fitted
    found = heat(ranker, X, y)
    outcome = ranking_result(ranker)
    assert found["names"] == outcome.features.tolist()
    rows = [int(re.match(r"row (\d+),", column)[1]) - 1 for column in found["columns"]]
    values = X.to_numpy()[:, outcome.columns]
    expected = ((values - values.mean(axis=0)) / values.std(axis=0))[rows].T
    assert cells_of(found).tolist() == (np.clip(np.round(2 * expected), -5, 5) + 5).tolist()
    numbers = np.array([line.split() for line in found["lines"]], dtype=float)
    assert numbers[:, 2:] == pytest.approx(values[rows].T, rel=1e-3)
    assert numbers[:, 0] == pytest.approx(values.mean(axis=0), rel=1e-3)
    assert numbers[:, 1] == pytest.approx(values.std(axis=0), rel=1e-3)
    assert "To keep the picture small" not in found["words"]
    assert re.search(r"Highest: column \d in spam \(\+0\.\d on average\)", found["words"])
    assert (found["blocks"][0].name, found["blocks"][0].start) == ("ham", 0)
    assert (found["blocks"][1].name, found["blocks"][1].end) == ("spam", 60)
    assert [length for _, length in found["labelled"]] == [6, 6]


def test_many_rows_are_put_together_and_the_page_says_so():
    data = make_data(n_rows=3000, per_class=5)
    ranker = SSFI(n_members=10, random_state=0).fit(data.X, data.y)
    found = heat(ranker, data.X, data.y)
    assert heatmap.MAX_OTHERS <= len(found["columns"]) - 10 <= heatmap.MAX_OTHERS + 2
    assert (
        "the mean of up to 15 neighbouring rows. Labelled rows represent themselves."
        in (found["words"])
    )
    assert sum("mean of " in column for column in found["columns"]) == len(found["columns"]) - 10
    assert max(len(line.split()) for line in found["lines"]) == len(found["columns"]) + 2
    assert sum(len(path) for _, path in found["paths"]) < 60_000
    all_labelled = heat(ranker, data.X, data.y_true)
    assert heatmap.MAX_LABELLED <= len(all_labelled["columns"]) <= heatmap.MAX_LABELLED + 2
    assert "of up to 30 neighbouring rows. Highest" in all_labelled["words"]


def test_a_mean_of_rows_is_their_mean():
    data = make_data(n_rows=3000, per_class=5)
    ranker = FisherScore().fit(data.X, data.y)
    rows = read_rows(ranker, data.X, data.y)
    found, outcome = heatmap.figure(ranking_result(ranker), rows, data.X), ranking_result(ranker)
    values = data.X[:, outcome.columns]
    cells = heatmap.order_rows(rows, values)
    numbers = np.array([line.split()[2:] for line in found["lines"]], dtype=float)
    assert numbers[:, -1] == pytest.approx(values[cells.rows[-1]].mean(axis=0), rel=1e-3)
    assert len(cells.rows[-1]) > 1


def test_without_labels_of_the_method_unlabelled_rows_are_last():
    data = make_data()
    ranker = FisherScore().fit(data.X, data.y)
    found = heat(ranker, data.X, data.y)
    assert [(block.name, block.place) for block in found["blocks"]] == [
        ("0", 0),
        ("1", 1),
        ("unlabelled", None),
    ]
    assert found["labelled"] == [(0, 12)]
    assert all(column.endswith("unlabelled") for column in found["columns"][12:])
    assert "then unlabelled rows, along the direction" in found["words"]
    check(page_of(ranker, data.X, data.y))


def test_rows_without_any_label_and_sparse_rows():
    data = make_data()
    ranker = Given(scores=np.arange(8)).fit(data.X)
    found = heat(ranker, sparse.csr_array(data.X), None)
    assert [block.name for block in found["blocks"]] == ["unlabelled"]
    assert found["labelled"] == []
    assert cells_of(found).tolist() == cells_of(heat(ranker, data.X, None)).tolist()
    assert "Highest" not in found["words"]


def test_missing_values_and_constant_columns_have_no_cells():
    data = make_data()
    ranker = Given(scores=np.arange(8)).fit(data.X)
    X = data.X.copy()
    X[:, 7] = 3.0
    X[4, 6] = np.nan
    X[5, 5] = np.inf
    found = heat(ranker, X, data.y, row_names=[f"r{i}" for i in range(60)])
    assert found["names"] == ["x6", "x5", "x4", "x3", "x2", "x1", "x0"]
    levels = cells_of(found)
    empty = {
        (found["names"][line], found["columns"][at].split(",")[0])
        for line, at in zip(*np.where(levels < 0), strict=True)
    }
    assert empty == {("x6", "r4"), ("x5", "r5")}
    assert heat(ranker, np.ones_like(X), data.y) is None
    check(page_of(ranker, X, data.y))
    assert 'id="heat"' not in page_of(ranker, np.ones_like(X), data.y)
    assert 'id="heat"' not in page_of(ranker)


def test_of_many_classes_the_largest_are_shown():
    data = make_data(n_rows=240, n_classes=12, per_class=3)
    ranker = SSFI(n_members=20, random_state=0).fit(data.X, data.y)
    found = heat(ranker, data.X, data.y)
    assert len(found["blocks"]) == 8
    assert len(found["columns"]) < 240
    assert {block.room for block in found["blocks"]} <= {"name", "mark", ""}
    page = page_of(ranker, data.X, data.y)
    assert page.count("The 8 largest of 12 classes are drawn.") == 3


# --- names of rows, and rows to label next --------------------------------------------------------


def test_names_of_rows(fitted):
    ranker, X, y = fitted
    frame = X.set_axis([f"patient {i}" for i in range(60)])
    assert read_rows(ranker, X, y).name(0) == "row 1"
    assert read_rows(ranker, X.to_numpy(), y).name(59) == "row 60"
    assert read_rows(ranker, frame, y).name(0) == "patient 0"
    assert read_rows(ranker, frame, y, range(100, 160)).name(0) == "100"
    assert read_rows(ranker, pd.DataFrame(X.to_numpy(), index=range(5, 65)), y).name(0) == "5"
    evil = ["</pre><script>\n", *map(str, range(59))]
    page = page_of(ranker, X, y, row_names=evil)
    check(page)
    tips = re.search(r'<pre id="map-tips" hidden>(.*?)</pre>', page, re.S)[1].split("\n")
    assert len(tips) == 60
    assert "&lt;/pre&gt;&lt;script&gt;␊: ham, labelled" in tips
    with pytest.raises(ValueError, match="row_names must have a name for each of 60 rows: 3"):
        page_of(ranker, X, y, row_names="abc")


def test_a_row_tells_its_label(fitted):
    ranker, X, y = fitted
    rows = read_rows(ranker, X, y)
    first = int(np.flatnonzero(y == None)[0])  # noqa: E711
    sure = f"{ranker.confidence_[first]:.0%}"
    assert rows.class_of(0) == f"{y[0]}, labelled"
    expected = f"given the label {ranker.transduction_[first]}, confidence {sure}"
    assert rows.class_of(first) == expected
    data = make_data()
    fisher = FisherScore().fit(data.X, data.y)
    assert read_rows(fisher, data.X, data.y).class_of(59) == "unlabelled"


def test_the_rows_to_label_next(fitted, tmp_path):
    ranker, X, y = fitted
    found = ranker.query(X, y)
    page = page_of(ranker, X.set_axis([f"p{i}" for i in range(60)]), y, next_rows=found)
    check(page)
    section = re.search(r'<section id="next-rows".*?</section>', page, re.S)[0]
    assert re.findall(r'<th scope="row"><bdi>(.*?)</bdi>', section) == [f"p{i}" for i in found.rows]
    assert "Of 48 rows without a label, the labels of these 10 would take away" in section
    for reason in found.reasons:
        assert reason in section
    assert '<a href="#next-rows">' in page
    by_itself = ranker.report(tmp_path / "r.html", X, y).read_text()
    assert found.reasons[0] in by_itself
    assert 'id="next-rows"' not in page_of(ranker, X, y)


def test_who_names_no_rows_to_label_next(tmp_path):
    data = make_data()
    ranker = FisherScore().fit(data.X, data.y)
    assert 'id="next-rows"' in ranker.report(tmp_path / "r.html", data.X, data.y).read_text()
    assert 'id="next-rows"' not in ranker.report(tmp_path / "r.html").read_text()
    batch = np.arange(60) % 2
    ranker.fit(data.X, data.y, batch=batch)
    page = ranker.report(tmp_path / "r.html", data.X, data.y).read_text()
    assert 'id="next-rows"' not in page  # chosen from values that the fit did not see
    page = ranker.report(tmp_path / "r.html", data.X, data.y, batch=batch).read_text()
    assert 'id="next-rows"' in page


def test_rows_and_labels_of_another_fit_are_refused(tmp_path):
    data = make_data()
    for cls in (FisherScore, VarianceScore):
        ranker = cls().fit(data.X, data.y)
        with pytest.raises(ValueError, match="X had 60 rows: got 9"):
            ranker.report(tmp_path / "r.html", data.X[:9], data.y[:9])
    ranker.report(tmp_path / "r.html", data.X, data.y_true)  # which variances do not ask for
    with pytest.raises(ValueError, match=r"report must be given what fit was given.*y differs"):
        FisherScore().fit(data.X, data.y).report(tmp_path / "r.html", data.X, data.y_true)


# --- tips, and long tails -------------------------------------------------------------------------


def test_points_tell_features_and_rows(fitted):
    ranker, X, y = fitted
    page, outcome = page_of(ranker, X, y), ranking_result(ranker)
    tips = {
        name: texts.split("\n")
        for name, texts in re.findall(r'<pre id="([\w-]+)-tips" hidden>(.*?)</pre>', page, re.S)
    }
    assert set(tips) == {"scores", "map", *(f"box-{rank}" for rank in range(1, 9))}
    assert tips["scores"][0].startswith(f"{outcome.features[0]}: rank 1, score ")
    assert len(tips["scores"]) == 8
    boxes = [tip for tip in tips["box-1"] if "median" in tip]
    assert [tip.split(",")[0] for tip in boxes] == [
        *("ham", "given the label ham"),
        *("spam", "given the label spam"),
    ]
    value = float(X[outcome.features[0]].iloc[0])
    assert f"row 1: {format_number(value)} (ham, labelled)" in tips["box-1"]
    places = re.findall(r'data-tips="scores-tips"[^>]* data-at="([^"]*)"', page)
    assert [len(each.split()) for each in places] == [16, 16]  # wide and narrow
    assert all(0 <= float(number) <= 100 for each in places for number in each.split())


def test_long_tails_are_told():
    data = make_data(n_features=12)
    ranker = FisherScore().fit(data.X, data.y)
    assert LONG_TAIL in page_of(ranker, np.exp(data.X), data.y)
    assert LONG_TAIL not in page_of(ranker, data.X, data.y)
    assert LONG_TAIL not in page_of(ranker)
