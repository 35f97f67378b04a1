"""Pictures and tables of how sure ranks are: decisions, chance, intervals, parts of a consensus."""

import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal

from semisift import C4, Consensus, FisherScore
from semisift.report import render
from semisift.report._method import kind_of, parts_of
from semisift.report.charts import rank_intervals, scores
from semisift.selection import RankingResult, ranking_result
from semisift.selection._result import Chance, chance_of
from tests.conftest import make_data
from tests.pages import EVIL, check, page_of


def consensus(**changes):
    parts = [("fisher", FisherScore()), ("c4", C4())]
    return Consensus(rankers=parts, random_state=0, **changes)


@pytest.fixture(scope="module")
def assessed():
    data = make_data(n_features=30, per_class=10)
    X = pd.DataFrame(data.X, columns=[f"column {j}" for j in range(30)])
    ranker = consensus().fit(X, data.y)
    ranker.assess(X, data.y, n_resamples=8, n_permutations=39)
    return ranker, X, data.y


def new_outcome(decisions, values=None, **changes):
    n = len(decisions)
    names = np.array([f"f{j}" for j in range(n)], dtype=object)
    values = np.linspace(1.0, 0.0, n) if values is None else np.asarray(values)
    nothing = np.zeros(n, dtype=bool)
    known = {"decisions": np.asarray(decisions), **changes}
    return RankingResult(None, names, values, np.arange(n), names, nothing, "number", **known)


# --- the ranking ----------------------------------------------------------------------------------


def test_a_ranking_holds_what_is_known(assessed):
    ranker, _, _ = assessed
    ranking = ranking_result(ranker)
    order = np.argsort(ranker.ranking_)
    assert_array_equal(ranking.decisions, ranker.assessment_.decisions[order])
    assert_array_equal(ranking.rank_interval, ranker.rank_interval_[order])
    assert_array_equal(ranking.selection_probability, ranker.selection_probability_[order])
    assert list(ranking.parts) == ["fisher", "c4"]
    assert_array_equal(ranking.parts["c4"], ranker.part_rankings_[1, order])
    frame = ranking.to_frame()
    assert frame.columns[3:] == [
        "selected",
        "score_rank",
        "representative",
        "correlation",
        "decision",
        "rank_low",
        "rank_high",
        "selection_probability",
        "family_probability",
        "rank_by_fisher",
        "rank_by_c4",
    ]
    assert_array_equal(frame["rank_high"], ranker.rank_interval_[order, 1])
    assert_array_equal(frame["rank_by_fisher"], ranker.part_rankings_[0, order])
    assert frame["decision"].to_list() == ranker.assessment_.decisions[order].tolist()


def test_the_decisions_of_the_rule_come_first():
    data = make_data(n_rows=80, per_class=20)
    ranker = FisherScore(n_features_to_select="shadow").fit(data.X, data.y)
    ranker.assess(data.X, data.y, n_resamples=0, n_permutations=3)
    assert (ranker.assessment_.decisions != ranker.decisions_).any()
    decisions = ranking_result(ranker).decisions
    assert_array_equal(decisions, ranker.decisions_[np.argsort(ranker.ranking_)])
    assert chance_of(ranker) == Chance(ranker.cutoff_.null_score, "best of the shuffled copies")


def test_a_plain_ranking_holds_nothing_of_it(data):
    ranking = ranking_result(FisherScore().fit(data.X, data.y))
    assert ranking.decisions is ranking.rank_interval is ranking.parts is ranking.chance is None
    assert ranking.counts == {}
    assert ranking.to_frame().columns == ["feature", "rank", "score", "selected"]


def test_a_variable_has_what_is_known_of_its_best_column(assessed):
    ranker, X, y = assessed
    names = [f"v{j // 2}={j % 2}" for j in range(30)]
    variables = [f"v{j}" for j in range(15)]
    ranking = ranking_result(ranker, names, variables=variables, variable_of=np.arange(30) // 2)
    assert_array_equal(ranking.decisions, ranker.assessment_.decisions[ranking.columns])
    assert_array_equal(ranking.parts["fisher"], ranker.part_rankings_[0, ranking.columns])
    page = render(ranking.select(2), X=X, y=y)
    check(page)
    assert "The whiskers are ranks among columns, of which a feature may have several." in page


# --- the picture of the scores --------------------------------------------------------------------


def test_marks_of_decisions_differ_without_colour():
    ranking = new_outcome(["significant", "suggestive", "not significant", "not significant"])
    curve = scores.summarize(ranking)
    assert (
        "Marks: 1 significant (filled circles), 1 suggestive (hollow diamonds) and 2 not "
        "significant (small hollow circles)." in curve.words
    )
    ax = plot(ranking)
    looks = [
        (line.get_marker(), line.get_mfc() == line.get_mec())
        for line in ax.lines
        if line.get_ls() == "None"
    ]
    assert sorted(looks) == [("D", False), ("o", False), ("o", True)]
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["significant", "suggestive", "not significant"]


def test_without_decisions_there_is_no_legend(data):
    ranker = FisherScore().fit(data.X, data.y)
    assert ranker.plot_scores(Figure().add_subplot()).get_legend() is None
    assert '<ul class="legend">\n<li><svg class="mark"' not in page_of(ranker)


@pytest.mark.parametrize(
    ("score", "words"),
    [
        (0.5, "The dashed line is the best by chance, at 0.500: 2 features score higher."),
        (0.9, "The dashed line is the best by chance, at 0.900: 1 feature scores higher."),
        (1.4, "The dashed line is the best by chance, at 1.40: no feature scores higher."),
    ],
)
def test_the_line_of_chance(score, words):
    decisions = ["significant", "suggestive", "not significant", "not significant"]
    ranking = new_outcome(decisions, chance=Chance(score, "best by chance"))
    assert words in scores.summarize(ranking).words
    ax = plot(ranking)
    lines = [line for line in ax.lines if set(line.get_ydata()) == {score}]
    assert len(lines) == 1
    low, high = ax.get_ylim()
    assert low < score < high
    assert ax.get_legend().get_texts()[-1].get_text() == "best by chance"


def test_chance_far_away_does_not_flatten_the_curve():
    ranking = new_outcome(["not significant"] * 4, chance=Chance(1e9, "best by chance"))
    curve = scores.summarize(ranking)
    assert curve.chance is None
    assert "Far outside the picture is the best by chance, at 1.00e+09" in curve.words
    assert plot(ranking).get_ylim()[1] < 2


def test_the_line_of_chance_ends_before_names_it_would_cross():
    ranking = new_outcome(["not significant"] * 4, chance=Chance(0.7, "best by chance"))
    ax = plot(ranking)
    (line,) = [line for line in ax.lines if set(line.get_ydata()) == {0.7}]
    beside = [text for text in ax.texts if abs(text.xy[1] - 0.7) < 0.02]
    assert beside
    assert line.get_xdata()[1] <= min(text.xy[0] for text in beside)


def test_the_page_shows_line_and_legend():
    data = make_data(per_class=20)
    ranker = FisherScore(n_features_to_select=2).fit(data.X, data.y)
    ranker.assess(data.X, data.y, n_resamples=0, n_permutations=39)
    page = page_of(ranker, data.X, data.y)
    check(page)
    section = page[page.index('<section id="scores"') : page.index('<section id="table"')]
    assert "</svg> best by chance</li>" in section
    assert section.count('stroke="var(--class-4)"') == 3  # wide, narrow and legend
    assert "</svg> significant</li>" in section


def test_confirmed_features_far_down_have_a_point():
    n = 5000
    decisions = np.full(n, "not significant", dtype="U15")
    decisions[[1, 3777, 4321]] = "significant"
    decisions[4000] = "suggestive"
    curve = scores.summarize(new_outcome(decisions))
    assert len(curve.ranks) <= scores.MAX_POINTS + 3
    assert curve.ranks[curve.decisions == "significant"].tolist() == [2, 3778, 4322]
    assert curve.ranks[curve.decisions == "suggestive"].tolist() == [4001]
    assert "Those not significant are marked up to rank 60." in curve.words


def plot(ranking):
    from semisift.report import plot_scores

    ax = plot_scores(ranking, ax=Figure().add_subplot())
    ax.figure.canvas.draw()
    return ax


# --- whiskers -------------------------------------------------------------------------------------


def test_whiskers_are_of_the_best_features(assessed):
    ranker, X, y = assessed
    moves = rank_intervals.summarize(ranking_result(ranker))
    assert len(moves.names) == rank_intervals.MAX_WHISKERS
    order = np.argsort(ranker.ranking_)[: rank_intervals.MAX_WHISKERS]
    assert_array_equal(np.c_[moves.low, moves.high], ranker.rank_interval_[order])
    assert moves.names == [f"column {j}" for j in order]
    page = page_of(ranker, X, y)
    check(page)
    assert "on 8 halves of the rows" in page
    assert f"The dotted line ends the best {ranker.assessment_.n_best}." in page
    assert '<a href="#moves">Ranks</a>' in page
    assert f"On narrow screens the best {rank_intervals.MAX_NARROW_WHISKERS} are drawn." in page


def test_near_copies_have_no_whiskers(data):
    X = np.hstack([data.X, data.X[:, :3] + 1e-6])
    ranker = FisherScore(n_features_to_select=3, redundancy_threshold=0.9).fit(X, data.y)
    ranker.assess(X, data.y, n_resamples=4, n_permutations=0)
    moves = rank_intervals.summarize(ranking_result(ranker))
    assert len(moves.names) == 8
    assert moves.decisions is None
    check(page_of(ranker, X, data.y))


def test_the_narrow_picture_has_fewer_names(assessed):
    ranker, _, _ = assessed
    moves = rank_intervals.summarize(ranking_result(ranker))
    picture = rank_intervals.figure(ranking_result(ranker))
    for svg, n in (
        (picture.svg, rank_intervals.MAX_WHISKERS),
        (picture.narrow, rank_intervals.MAX_NARROW_WHISKERS),
    ):
        assert [name for name in moves.names if f">{name}<" in svg] == moves.names[:n]
        assert 'aria-labelledby="moves-words"' in svg


# --- the table ------------------------------------------------------------------------------------


def test_columns_of_the_table(assessed):
    ranker, X, y = assessed
    page = page_of(ranker, X, y)
    head = re.search(r'<table id="features".*?</thead>', page, re.DOTALL)[0]
    names = [re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<th .*?</th>", head)]
    assert names[4:] == [
        "significant",
        "ranks",
        "in the best",
        "by fisher",
        "by c4",
        "selected",
    ]
    first = re.search(r"<tr><td>.*?</tr>", page)[0]
    column = int(np.argmin(ranker.ranking_))
    low, high = ranker.rank_interval_[column]
    assert f'<td data-value="{low}">{low}\N{EN DASH}{high}</td>' in first
    share = ranker.selection_probability_[column]
    assert f'<td data-value="{share}">{share:.0%}</td>' in first
    for rank in ranker.part_rankings_[:, column]:
        assert f"<td>{rank:g}</td>" in first
    assert f"among the best {ranker.assessment_.n_best}." in page


# --- the parts of a consensus ---------------------------------------------------------------------


def test_the_method_section_names_the_parts(data):
    ranker = Consensus(n_members=10, n_features_to_select=3, random_state=0).fit(data.X, data.y)
    page = page_of(ranker, data.X, data.y)
    check(page)
    method = page[page.index('<section id="method"') :]
    for words in [
        f"<bdi>transductive</bdi>: TransductiveScore, weight {ranker.weights_[0]:.3g}",
        f"<bdi>ssfi</bdi>: SSFI, weight {ranker.weights_[1]:.3g}",
        "Breitling, Armengaud, Amtmann, Herzyk (2004)",
        "Miller, Uyar (1997)",
        "Barkia, Elghazel, Aussem (2011)",
        "taken for measurements",
        "standardised where rows are labelled",
        "Features correlated with better features were put last.",
    ]:
        assert words in method
    assert "by more than 0.7" in page


def test_counts_are_taken_as_counts():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, size=(40, 12)).astype(float)
    y = np.array([0, 1] * 5 + [-1] * 30)
    words = kind_of(Consensus(n_members=5, random_state=0).fit(X, y))
    assert "taken for counts" in words
    assert "brought to equal totals and logarithms taken" in words
    assert "Correlated features stay where they rank." in words
    assert "logarithms" not in kind_of(consensus().fit(X, y))


def test_other_rankers_have_no_parts(data):
    ranker = FisherScore().fit(data.X, data.y)
    assert parts_of(ranker) == []
    assert kind_of(ranker) == ""
    assert "What it stands on" not in page_of(ranker)


def test_weights_of_the_parts(data):
    ranker = consensus(ranker_weights=[3, 1]).fit(data.X, data.y)
    assert [part["weight"] for part in parts_of(ranker)] == ["0.75", "0.25"]


def test_names_of_parts_and_features_are_text(data):
    rankers = [(EVIL[0], FisherScore()), ('"><b>', C4()), ("a" * 200, FisherScore())]
    X = np.hstack([data.X, data.X[:, :4] + 1])
    ranker = Consensus(rankers=rankers, redundancy_threshold=None).fit(X, data.y)
    ranker.assess(X, data.y, n_resamples=3, n_permutations=3)
    page = render(ranking_result(ranker, EVIL), X=X, y=data.y)
    checker = check(page)
    assert len(checker.text["script"]) == 1
    assert "b" not in checker.text
    assert EVIL[0] in checker.text["bdi"]
    moves = page[page.index('<section id="moves"') : page.index('<section id="table"')]
    assert "$x^2$" in moves
    assert "<script>" not in moves
