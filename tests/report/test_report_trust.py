"""What the report says on how sure a ranking is."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from semisift import SSFI, Consensus, FisherScore, LaplacianScore
from semisift.selection import ranking_result
from semisift.selection._summary import format_stability, format_test
from semisift.utils._agreement import Stability
from tests.conftest import make_data
from tests.pages import Given, check, new_assessment, page_of


@pytest.fixture(scope="module")
def assessed():
    """Return a ranker whose first two columns follow the class, and its rows."""
    data = make_data(n_features=30, per_class=10)
    X = pd.DataFrame(data.X, columns=[f"column {j}" for j in range(30)])
    ranker = FisherScore(n_features_to_select=2).fit(X, data.y)
    ranker.assess(X, data.y, n_resamples=12, n_permutations=39)
    return ranker, X, data.y


@pytest.fixture(scope="module")
def of_noise():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 50)), np.array([0] * 3 + [1] * 3 + [-1] * 34)
    ranker = FisherScore().fit(X, y)
    ranker.assess(X, y, n_resamples=5, n_permutations=39)
    return ranker, X, y


# --- the test with shuffled labels ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("p_value", "n", "expected"),
    [
        (0.05, 39, "of 39 rankings from shuffled labels only 1 had best features scoring as high "),
        (0.025, 39, "of 39 rankings from shuffled labels none had best features scoring as high "),
        (0.05, 39, "as these (p = 0.05)."),
        (1 / 3, 38, "Rankings from shuffled labels score as high as this one (p = 0.33): with "),
        (0.051, 999, "Label more rows before you build on it."),
        (0.1, 9, "none of 9 rankings from them scores as high as this one, but so few cannot show"),
    ],
)
def test_the_sentence_on_shuffled_labels(p_value, n, expected):
    words = format_test(new_assessment(p_value=p_value, n_permutations=n))
    assert expected in words
    assert words.startswith("The labels tell something") == (p_value <= 0.05)


@pytest.mark.parametrize(
    ("p_value", "n", "expected"),
    [
        (0.05, 79, "tried 79 times, and in only 1 of them did one score as high as the best "),
        (0.025, 79, "tried 79 times, and in none of them did one score as high as the best "),
        (0.05, 39, "tried 39 times, and in none of them did one score as high as the best "),
        (0.01, 199, "feature (p = 0.01)."),
        (0.25, 79, "score as high as the features themselves (p = 0.25): with these labels"),
        (0.075, 79, "Label more rows before you build on it."),
        (
            0.2,
            9,
            "Too few permuted features to tell: in 9 trials none scores as high as the best",
        ),
        (0.2, 9, "so few cannot show more than p = 0.2. At least 39 are needed."),
        (1.0, 0, "Too few permuted features to tell: in 0 trials none scores as high"),
    ],
)
def test_the_sentence_on_permuted_features(p_value, n, expected):
    words = format_test(new_assessment(p_value=p_value, n_permutations=n, null="permuted_features"))
    assert expected in words
    assert words.startswith("The labels go with the data: permuted features") == (p_value <= 0.05)
    assert "shuffled" not in words


def test_no_test_no_sentence():
    assert format_test(new_assessment()) == ""


def test_labels_that_tell_something(assessed):
    ranker, X, y = assessed
    page = page_of(ranker, X, y)
    check(page)
    assert '<p class="note">The labels tell something: of 39 rankings' in page
    assert "Caution" not in page
    assert "drawn from all rows" not in page
    assert "bounds: the chance to confirm any useless feature is at most .025." in page
    assert page.index('id="trust"') < page.index('id="data"')
    assert '<a href="#trust">' in page


def test_labels_that_tell_nothing(of_noise):
    page = page_of(*of_noise)
    check(page)
    assert "<strong>Caution.</strong> Rankings from shuffled labels score as high" in page
    assert "<strong>0 significant</strong>" in page
    first = "With these 6 labels none of the 50 features can be significant: the list below is"
    assert f'<p class="lead"><strong>{first} where to look first.</strong></p>' in page
    assert page.index(first) < page.index("FisherScore ranked") < page.index("<section")
    # 3 and 3 labels can be exchanged in 20 ways only
    assert "This assumes that the labelled rows are a random sample of all rows." in page


def few_rows(per_class, shift):
    """Return rows whose classes differ by so much in the first five columns."""
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 2
    X = rng.normal(size=(60, 20))
    X[:, :5] += shift * truth[:, None]
    return X, np.where(np.arange(60) < 2 * per_class, truth, -1)


def test_permuted_features_that_are_beaten():
    X, y = few_rows(8, 2)
    ranker = Consensus(random_state=0).fit(X, y)
    ranker.assess(X, y, n_resamples=3, n_permutations=39, fast=True)
    page = page_of(ranker, X, y)
    check(page)
    assert '<p class="note">The labels go with the data: permuted features' in page
    assert (
        "than the best of all permuted features: the same features with their rows exchanged"
        in page
    )
    assert "score higher than it more than three times out of four" in page
    assert (
        "What the test with permuted features bounds: the chance to confirm any useless feature is"
        in page
    )
    assert "<strong>5 significant</strong>" in page
    assert "shuffled labels" not in page
    assert "random sample" not in page
    assert "p = 0.025 by 79 permutations; 5 of 20 columns significant" in repr(ranker.assessment_)


def test_permuted_features_that_are_not_beaten():
    X, y = few_rows(3, 0)
    ranker = Consensus(random_state=0).fit(X, y)
    ranker.assess(X, y, n_resamples=3, n_permutations=39, fast=True)
    page = page_of(ranker, X, y)
    check(page)
    assert "<strong>Caution.</strong> Permuted features (the same columns with their" in page
    assert "<strong>0 significant</strong>" in page
    assert (
        "so the rows of the permuted features were exchanged among all rows. This assumes that"
        in page
    )
    assert "shuffled labels" not in page


def test_a_p_value_of_permuted_features_and_decisions_that_seem_to_disagree():
    X, y = few_rows(8, 2)
    ranker = Consensus(random_state=0).fit(X, y)
    sure = ranker.assess(X, y, n_resamples=0, n_permutations=39, fast=True)
    ranker.assessment_ = replace(sure, decisions=np.full(20, "suggestive"), p_value=0.05)
    trust = ranking_result(ranker).trust
    assert trust.summary.startswith("The labels tell something, but with these 16 labels none of")
    assert trust.test.endswith(
        "This is about the best feature of each time, whichever it was; to be significant, a "
        "feature must by itself do better than the best of all 20 permuted features almost "
        "every time."
    )
    third = np.where(ranker.ranking_ == 3, "significant", "suggestive")
    ranker.assessment_ = replace(sure, decisions=third)
    (note,) = (n for n in ranking_result(ranker).trust.notes if "while one that ranks higher" in n)
    assert note.startswith(
        "Features are significant by scores of their own, not by their places in"
    )


def test_a_ranker_without_rule_and_assessment_says_nothing(data):
    ranker = FisherScore().fit(data.X, data.y)
    assert ranking_result(ranker).trust is None
    page = page_of(ranker, data.X, data.y)
    assert 'id="trust"' not in page
    assert "#trust" not in page
    assert 'id="moves"' not in page


def test_an_assessment_without_labels(data):
    ranker = LaplacianScore(n_features_to_select=3).fit(data.X)
    ranker.assess(data.X, n_resamples=5, n_permutations=5)
    page = page_of(ranker, data.X)
    check(page)
    assert "shuffled labels" not in page
    assert "their stability is" in page
    assert ">decision</th>" not in page
    assert '<section id="moves"' in page


def test_an_assessment_of_nothing_says_nothing(data):
    ranker = FisherScore().fit(data.X, data.y)
    ranker.assess(data.X, data.y, n_resamples=0, n_permutations=0)
    page = page_of(ranker, data.X, data.y)
    check(page)
    assert 'id="trust"' not in page


def test_all_columns_are_the_best(data):
    """There is no stability then, but there are intervals."""
    ranker = FisherScore(n_features_to_select=8).fit(data.X, data.y)
    ranker.assess(data.X, data.y, n_resamples=5, n_permutations=0)
    page = page_of(ranker, data.X, data.y)
    check(page)
    assert 'id="trust"' not in page
    assert "on 5 halves of the rows" in page


# --- stability and assumptions --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.9, "much the same"), (0.75, "much the same"), (0.5, "partly the same"), (0.1, "mostly o")],
)
def test_stability_in_words(value, words):
    stable = Stability(value, value - 0.1, value + 0.05, 30)
    text = format_stability(new_assessment(stability=stable, n_best=20))
    assert f"the best 20 features are {words}" in text
    assert f"is {value:.2f} (95% interval {value - 0.1:.2f} to {value + 0.05:.2f})" in text


def test_stability_of_one_feature():
    stable = Stability(0.5, 0.4, 0.6, 30)
    assert "the best feature is" in format_stability(new_assessment(stability=stable, n_best=1))


def test_smaller_committees_are_said(data):
    ranker = SSFI(n_members=40, random_state=0).fit(data.X, data.y)
    for fast in (True, False):
        ranker.assess(data.X, data.y, n_resamples=2, n_permutations=0, fast=fast)
        assert ("smaller committees" in page_of(ranker)) == fast


# --- decisions ------------------------------------------------------------------------------------


def test_decisions_are_counted(assessed):
    ranker, X, y = assessed
    decisions = ranker.assessment_.decisions
    lines = ranking_result(ranker).trust.counted
    assert [(line.decision, line.n) for line in lines] == [
        (word, (decisions == word).sum())
        for word in ("significant", "suggestive", "not significant")
    ]
    assert [line.word for line in lines] == ["significant", "suggestive", "not significant"]
    assert lines[0].n > 0
    page = page_of(ranker, X, y)
    for line in lines:
        assert f"<strong>{line.n} {line.word}</strong>: {line.clause}." in page


def test_confirmed_near_copies_are_said():
    data = make_data(per_class=20)
    X = np.hstack([data.X, data.X[:, :1] + 1e-6])
    ranker = FisherScore(n_features_to_select="shadow", redundancy_threshold=0.9).fit(X, data.y)
    assert (ranker.decisions_[[0, 8]] == "significant").all()
    outcome = ranking_result(ranker)
    significant, *_, copies = outcome.trust.counted
    assert significant.n == outcome.n_selected == ranker.get_support().sum()
    assert (copies.n, copies.word) == (1, "correlated features")
    assert copies.clause.endswith("; 1 of them passed the same test")


RULES = {
    "shadow": "the best of copies of all features with their values shuffled",
    "stability": "among the best 2 on at least 75% of the halves of the rows",
    "knockoff": "their knockoff, a made-up double",
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.filterwarnings("ignore::semisift.NoFeatureSelectedWarning")
def test_rules(data, rule):
    ranker = FisherScore(n_features_to_select=rule).fit(data.X, data.y)
    page = page_of(ranker, data.X, data.y)
    check(page)
    assert RULES[rule] in page
    assert f"What the {rule} rule bounds: {ranker.cutoff_.error}." in page
    n_selected = ranker.get_support().sum()
    assert f"as many as the {rule} rule significant</small></dt><dd>{n_selected}</dd>" in page
    assert ">selected</th>" not in page


def test_the_rule_decides_and_the_assessment_tests():
    data = make_data(per_class=20)
    ranker = FisherScore(n_features_to_select="shadow").fit(data.X, data.y)
    ranker.assess(data.X, data.y, n_resamples=5, n_permutations=19)
    page = page_of(ranker, data.X, data.y)
    assert "What the shadow rule bounds" in page
    assert "The labels tell something: of 19 rankings" in page
    assert "best of the shuffled copies" in page
    assert "best by chance" not in page


# --- what is selected -----------------------------------------------------------------------------


def test_features_that_a_rule_selects_need_not_be_the_first():
    ranker = Given(scores=[4.0, 3.0, 2.0, 1.0], n_features_to_select="stability")
    X = np.random.default_rng(0).normal(size=(20, 4))
    ranker.fit(X)
    ranker.decisions_ = np.array(["significant", "not significant", "significant", "suggestive"])
    page = page_of(ranker, X)
    check(page)
    assert "significant</small></dt><dd>2</dd>" in page
    assert ">2 selected<" not in page  # no line between the second and the third
    rows = re.findall(r'<td class="word" data-value="(\d)">(\w+)</td>', page)
    assert rows == [("1", "significant"), ("3", "no"), ("1", "significant"), ("2", "suggestive")]
    assert [text.get_text() for text in ranker.plot_scores(_axes()).texts][:1] == ["x0"]
    assert ">1 selected<" in page_of(ranker, X, select=1)


@pytest.mark.parametrize("given", [None, 0])
def test_nothing_selected(of_noise, given):
    from semisift.exceptions import NoFeatureSelectedWarning

    _, X, y = of_noise
    with pytest.warns(NoFeatureSelectedWarning):
        ranker = FisherScore(n_features_to_select="shadow").fit(X, y)
    page = page_of(ranker, X, y, select=given)
    check(page)
    assert "<dd>0</dd>" in page
    assert "None of the 50 features can be significant: the list below is" in page
    assert ">0 selected<" not in page
    assert "semisift-fit" in ranker._repr_html_()
    ax = ranker.plot_scores(_axes())
    ax.figure.canvas.draw()
    assert not any("selected" in text.get_text() for text in ax.texts)


def test_no_number_selected_without_a_rule(data):
    ranker = FisherScore(n_features_to_select=3).fit(data.X, data.y)
    page = page_of(ranker, data.X, data.y, select=0)
    check(page)
    assert "<dd>0</dd>" in page
    assert ">selected</th>" not in page


# --- notebooks ------------------------------------------------------------------------------------


def test_the_notebook_says_what_the_test_found(assessed, of_noise, data):
    assert "The labels tell something" in assessed[0]._repr_html_()
    assert "Label more rows before you build on it" in of_noise[0]._repr_html_()
    assert "shuffled labels" not in FisherScore().fit(data.X, data.y)._repr_html_()


def _axes():
    from matplotlib.figure import Figure

    return Figure().add_subplot()


def test_the_null_is_that_of_the_assessment():
    data = make_data(n_features=12, per_class=10)
    ranker = Consensus(n_members=10, random_state=0).fit(data.X, data.y)
    ranker.assess(data.X, data.y, n_resamples=2, n_permutations=3)
    before = ranking_result(ranker).trust
    assert "permuted features" in before.error
    ranker.set_params(rankers=[("fisher", FisherScore())])
    assert ranking_result(ranker).trust == before


def test_the_null_of_a_rule_is_that_of_the_fit():
    data = make_data(n_features=12, per_class=10)
    parts = [("fisher", FisherScore())]
    ranker = Consensus(rankers=parts, n_features_to_select="shadow").fit(data.X, data.y)
    before = ranking_result(ranker).trust
    assert ranking_result(ranker.set_params(rankers=None)).trust == before
