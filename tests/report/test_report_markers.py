"""Markers by class on the page: tables and dots, of many classes, with names of any kind."""

import re

import numpy as np
import pytest

from semisift import FisherScore, TransductiveScore, VarianceScore, normalize_counts
from semisift.report import render
from semisift.report.charts import dots as charts
from semisift.selection import ranking_result
from semisift.selection._markers import Markers
from tests.pages import EVIL, check, fit_example


def made(n_classes, n_features=80, *, logs=True, p_values=False, names=None):
    """Return markers whose class c is marked by the columns c and c + 1."""
    rng = np.random.default_rng(0)
    scores = rng.uniform(-5, -1, size=(n_classes, n_features))
    for c in range(n_classes):
        scores[c, [c, c + 1]] = 20, 15
    shares = np.where(scores > 0, 0.9, 0.2)
    names = [f"g{j}" for j in range(n_features)] if names is None else names
    return Markers(
        classes=np.array([f"class {c}" for c in range(n_classes)], dtype=object),
        features=np.array(names, dtype=object),
        scores=scores,
        differences=scores / 10,
        fold_changes=scores / 5 if logs else None,
        shares=shares,
        rest_shares=np.full_like(shares, 0.21),
        sizes=np.full(n_classes, 30.4),
        p_values=np.full_like(shares, 0.025) if p_values else None,
    )


@pytest.fixture(scope="module")
def outcome():
    return ranking_result(fit_example()[0])


@pytest.mark.parametrize(("n_classes", "known"), [(2, False), (7, True), (50, True)])
def test_the_page_is_valid_for_many_classes(outcome, n_classes, known):
    markers = made(n_classes, logs=known, p_values=known)
    page = render(outcome, markers=markers)
    checker = check(page)
    assert "markers" in checker.ids
    section = page[page.index('<section id="markers"') : page.index('<section id="by-class"')]
    assert section.count("<details") == n_classes
    assert section.count('<details class="marked" open') == (n_classes if n_classes < 4 else 1)
    assert section.count('<tr><th scope="row">') == 2 * n_classes  # those that are higher alone
    assert ("log2 fold change</th>" in section) is known
    assert ('class="number">p</th>' in section) is known
    assert "30 rows" in section
    assert "g0 marks class 0 (90% of its rows have a value, 21% of the others)" in section
    assert ("in logarithms" if known else "in standard deviations") in section


def test_the_section_is_there_where_it_was_asked_for(outcome):
    page = render(outcome)
    assert 'href="#markers"' not in page
    assert 'id="markers"' not in page


def test_dots_are_as_large_as_shares_and_coloured_by_means():
    dots = charts.figure(made(3))
    assert dots["names"] == ["g0", "g1", "g2", "g3"]  # of two classes each is there once
    assert dots["columns"] == ["class 0", "class 1", "class 2"]
    assert dots["lines"][0].split()[:2] == ["90", "1.33"]  # two thirds of rows pull the mean
    of_share = {0.9: 18.0, 0.2: 8.5}
    assert {wide for wide, _ in dots["rims"]} == set(of_share.values())
    places = {wide: re.findall(r"M([\d.]+) ([\d.]+)h0", path) for wide, path in dots["rims"]}
    assert len(places[18.0]) == 6
    assert ("13", "10.8") in places[18.0]  # the first class and feature
    highest = max(level for level, _, _ in dots["paths"])
    assert "M13 10.8h0" in "".join(path for level, _, path in dots["paths"] if level == highest)
    assert all(level <= 5 for level, wide, _ in dots["paths"] if wide < 10)


def test_few_features_of_each_of_many_classes_are_drawn():
    assert len(charts.figure(made(50))["names"]) <= charts.MAX_FEATURES
    assert len(charts.figure(made(20, 400))["names"]) <= charts.MAX_FEATURES


def test_names_are_text(outcome):
    names = [*EVIL, *(f"g{j}" for j in range(80 - len(EVIL)))]
    markers = made(len(EVIL), names=names)
    markers = Markers(**{**vars(markers), "classes": np.array(EVIL, dtype=object)})
    page = render(outcome, markers=markers)
    check(page)
    page.encode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_classes_that_nothing_marks_are_said_so(outcome):
    markers = made(3)
    markers.scores[1] = -1
    page = render(outcome, markers=markers)
    check(page)
    assert "nothing is higher here" in page
    markers.scores[:] = 0
    page = render(outcome, markers=markers)
    check(page)
    assert 'class="dots"' not in page


def counts(n_rows=150):
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 3, n_rows)
    rates = np.full((3, 20), 0.3)
    rates[np.arange(3), np.arange(3)] = 4
    y = np.array(["abc"[code] for code in kind], dtype=object)
    y[30:] = None
    return normalize_counts(rng.poisson(rates[kind])), y


def test_a_ranker_writes_the_section_if_asked(tmp_path):
    X, y = counts()
    ranker = TransductiveScore(random_state=0).fit(X, y)
    path = ranker.report(tmp_path / "r.html", X, y, by_class=True)
    page = path.read_text()
    check(page)
    assert '<h2 id="markers-title">Markers by class</h2>' in page
    assert "with the labels that TransductiveScore gave them" in " ".join(page.split())
    for name, feature in zip("abc", ("x0", "x1", "x2"), strict=True):
        assert f"{feature} marks {name}" in page
    labelled = FisherScore().fit(X, y).report(tmp_path / "r.html", X, y, by_class=True)
    assert "of the labelled rows alone" in labelled.read_text()


def test_what_the_section_needs(tmp_path):
    X, y = counts()
    ranker = FisherScore().fit(X, y)
    with pytest.raises(ValueError, match="by_class=True needs the rows and the labels of the fit"):
        ranker.report(tmp_path / "r.html", by_class=True)
    with pytest.raises(TypeError, match="report takes groups beside X and y alone"):
        ranker.report(tmp_path / "r.html", groups=y)
    with pytest.raises(ValueError, match="needs labelled rows of two classes"):
        VarianceScore().fit(X).report(tmp_path / "r.html", X, y, by_class=True)
    assert not (tmp_path / "r.html").exists()
