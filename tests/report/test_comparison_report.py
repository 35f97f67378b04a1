"""What the report of a comparison says and draws."""

import io
import re
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np
import polars
import pytest
from numpy.testing import assert_array_equal
from rich.console import Console

from semisift import Protocol
from semisift.cli.compare import remarks, standings
from semisift.report._style import PLAIN
from semisift.report.comparison import (
    render_comparison,
    to_latex,
    to_markdown,
    write_comparison,
    write_figures,
    write_summary,
)
from semisift.report.comparison._page import summarize
from semisift.report.comparison._published import published_beside
from semisift.report.comparison._view import view_of
from tests import pages
from tests.comparisons import changed
from tests.report.test_report_download import unpack
from tests.shown_comparisons import EVIL_SET, made_up, made_up_sweep, random_figures


@pytest.fixture(scope="module")
def page(comparison):
    return render_comparison(comparison, title="My comparison")


def text_of(page):
    """Return all words of a page, with single blanks."""
    parts = [text for texts in pages.check(page).text.values() for text in texts]
    return re.sub(r"\s+", " ", " ".join(parts))


# --- the page ---


def test_the_page_says_what_was_done(page):
    words = text_of(page)
    for expected in [
        "My comparison",
        "6 methods on 2 data sets, 6 runs each.",
        "In a run two thirds of the rows of each class train and the others test.",
        "3 rows of each class show their labels.",
        "Fastest: ",
        "a decision tree and nearest neighbours (n_neighbors=3)",
        "best 1 to 5 of them",
        "hidden from the methods (train_on = all).",
        "Friedman's chi-squared is",
        "Iman and Davenport",
        "Nemenyi's test at the level 0.05",
        "The sign test: ties count half for each side",
        "adjusted for their number by Holm's method",
        "all-labels is shown all training labels",
        "Without any figure, and so without ranks: Stubborn.",
        "Stubborn failed on breast cancer in 6 runs",
        "scikit-learn",
        "--runs 6",
        "The paper does not name its kernel.",
    ]:
        assert expected in words, expected
    assert "nan" not in re.findall(r"[a-z]+", words)


def test_who_trained_the_judges_is_always_said(tmp_path):
    protocol = Protocol(n_runs=2, sizes=(1,), train_on="labelled")
    results = made_up(random_figures(2, 2, 2), protocol=protocol)
    sentence = "Judges trained on the labelled training rows alone (train_on = labelled)."
    assert text_of(render_comparison(results)).count(sentence) == 2
    assert sentence.replace("_", r"\_") in write_summary(results, tmp_path).read_text()


def test_the_main_table_holds_the_means(comparison):
    lines = to_markdown(comparison).splitlines()
    means, errors = comparison.scores().means, comparison.scores().errors
    for i, line in enumerate(lines[2 : 2 + len(comparison.datasets)]):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[2:-1]]
        for j, cell in enumerate(cells):
            if np.isnan(means[i, j]):
                assert cell == "none"
            else:
                assert cell.replace("*", "") == f"{means[i, j]:.3f} ± {errors[i, j]:.3f}"
        rivals = [j for j, name in enumerate(comparison.methods) if name != "all-labels"]
        best = max(rivals, key=lambda j: np.nan_to_num(means[i, j]))
        assert cells[best].startswith("**")
        assert sum("**" in cell for cell in cells) == 1
    ranks = comparison.mean_ranks()
    assert lines[-1].split("|")[2].strip().strip("*") == f"{ranks['fisher']:.2f}"


def test_choice_of_judge_and_metric(comparison):
    one, other = (
        to_markdown(comparison, judge="knn:n_neighbors=3", metric=metric)
        for metric in comparison.protocol.metrics
    )
    assert one != other
    assert to_markdown(comparison, size=2) != to_markdown(comparison)
    with pytest.raises(ValueError, match="judge must be one of tree"):
        to_markdown(comparison, judge="svm")


def test_published_numbers(comparison):
    beside = published_beside(view_of(comparison))
    words = {comparison.methods[pair.method]: pair.word for pair in beside["pairs"]}
    assert words["fisher"] == "above"
    assert words["random"] == "below"
    assert len(beside["pairs"]) == 3
    assert "taken as exact" in beside["sentences"][1]
    assert beside["sentences"][2] == ("Published, but not part of this comparison, methods: sefr.")


@pytest.mark.parametrize(
    ("published", "word"),
    [
        (0.5, "above"),
        (0.78, "within the error"),
        (0.95, "below"),
    ],
)
def test_how_ours_stands_to_a_published_number(published, word):
    values = np.array([0.85, 0.75, 0.95, 0.85, 0.9, 0.8])[None, :, None]
    content = {"source": "a paper", "table": {"set 0": {"method 0": published}}}
    protocol = Protocol(n_runs=6, sizes=(1,))
    results = made_up(values - 0.01, protocol=protocol, notes={"published": content})
    (pair,) = published_beside(view_of(results))["pairs"]
    assert np.isclose(pair.ours, 0.85)
    assert np.isclose(pair.error, 0.0288675)
    assert pair.word == word


def test_published_numbers_of_each_judge_with_spreads():
    protocol = Protocol(judges=("nb", "knn"), sizes=(1, 2, 3), n_runs=2)
    content = {
        "source": "a paper",
        "tables": {"nb": {"set 0": {"method 0": 0.5}}, "knn": {"set 0": {"method 1": 0.4}}},
        "spreads": {"knn": {"set 0": {"method 1": 0.02}}},
        "sentences": ["All is well."],
    }
    results = made_up(random_figures(2, 2, 2), protocol=protocol, notes={"published": content})
    first, second = (published_beside(view_of(results, judge=name)) for name in protocol.judges)
    assert [(pair.method, pair.published) for pair in first["pairs"]] == [(0, 0.5)]
    assert first["pairs"][0].spreads is None
    assert "All is well." in first["sentences"]
    assert [(pair.method, pair.published) for pair in second["pairs"]] == [(1, 0.4)]
    curve = view_of(results, judge="knn").curves[0, :, 1].mean(axis=0)
    assert second["pairs"][0].spreads == (0.02, pytest.approx(curve.std(ddof=1)))
    assert "All is well." not in second["sentences"]
    assert any("Spread is" in sentence for sentence in second["sentences"])


@pytest.mark.parametrize("notes", [{}, {"published": None}, {"published": {"table": 3}}])
def test_no_published_numbers(notes):
    assert published_beside(view_of(made_up(random_figures(2, 2, 2), notes=notes))) is None


def test_the_numbers_are_those_of_the_records(comparison, page):
    name, text = unpack(page)
    assert name == "comparison.csv"
    found = polars.read_csv(io.StringIO(text))
    expected = comparison.to_polars().with_columns(polars.col("value").round(6))
    assert found.columns == expected.columns
    for column in ("dataset", "method", "run", "judge", "metric", "size", "value"):
        assert found[column].to_list() == expected[column].to_list()


def test_names_that_would_be_scripts_are_text(page):
    checker = pages.check(page)
    assert len(checker.text["script"]) == 1
    assert "<img" not in page
    assert page.count("</script>") == 1
    assert "var(--class-1)" in page


def test_all_odd_names():
    names = [name or "x" for name in pages.EVIL]
    n = len(names)
    results = made_up(random_figures(4, 2, n), methods=names, datasets=names[::3])
    checker = pages.check(render_comparison(results, title=pages.EVIL[0]))
    assert len(checker.text["script"]) == 1
    assert "\\begin{tabular}" in to_latex(results)
    assert len(to_markdown(results).splitlines()) == 2 + 4 + 2


def test_the_same_records_give_the_same_bytes(tmp_path):
    results = made_up(random_figures(2, 2, 3))
    page = render_comparison(results)
    assert write_comparison(results, tmp_path / "a.html").read_text() == page
    with matplotlib.rc_context({"font.size": 30, "text.usetex": True, "axes.grid": True}):
        assert render_comparison(results) == page
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


def with_missing():
    values = random_figures(3, 2, 3)
    values[0, 1, 2] = np.nan
    return values


def nothing():
    return np.full((2, 2, 2), np.nan)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (random_figures(1, 3, 3), "it takes at least two on which every method has all its runs"),
        (random_figures(3, 3, 1), "One method alone has figures"),
        (random_figures(4, 1, 3), "need at least two runs"),
        (random_figures(1, 1, 1), "One method alone has figures"),
        (np.full((3, 3, 3), 0.5), "No two methods are."),
        (
            with_missing(),
            "set 0 does not count for ranks and tests, as runs of method 2 are missing",
        ),
        (nothing(), "There are no figures yet"),
        (
            np.array([[[0.5, np.nan], [0.5, np.nan]], [[np.nan, 0.5], [np.nan, 0.5]]]),
            "there is none",
        ),
    ],
)
def test_a_sentence_where_there_is_no_test(values, sentence, tmp_path):
    results = made_up(values)
    summary = summarize(results)
    (panel,) = summary["panels"]
    words = [*panel["tests"], *panel["wins_words"], *panel["view"].left_out]
    assert sentence in " ".join(words)
    if not np.isfinite(values).all():  # where something is missing, everything can be drawn
        text_of(render_comparison(results))
        write_summary(results, tmp_path)
        assert len(write_figures(results, tmp_path / "figures")) >= 2
        to_latex(results)


def test_an_unfinished_comparison_says_so():
    sentence = "1 record of 18 are still to be made."
    assert sentence in summarize(made_up(with_missing()))["unfinished"]


def test_methods_that_were_too_slow():
    results = made_up(random_figures(2, 2, 2), seconds=3.5, max_seconds=1.0)
    words = text_of(render_comparison(results))
    assert "Left out because of their time" in words
    assert "method 0 on set 1" in words
    assert "left out after a run of 3.50 seconds; the limit was 1" in words


def test_a_sweep_on_the_page():
    words = text_of(render_comparison(made_up_sweep()))
    assert "One property is varied: labelled rows of each class, over 1, 2, 5." in words
    assert "agreement with level 1, mean over data sets" in words
    assert "Mean accuracy by labelled rows of each class" in words


# --- files ---


def test_figures_for_a_paper(tmp_path):
    results = made_up(random_figures(2, 2, 3), datasets=["a/b", "a b"])
    for form in ("svg", "pdf"):
        paths = write_figures(results, tmp_path / form, form)
        assert len(paths) == len(set(paths)) == 1 + 2 * 2 + 3
        assert sorted(paths) == sorted((tmp_path / form).iterdir())
    assert paths[0].read_bytes().startswith(b"%PDF")
    assert paths[1].name == "curves-1-a-b.pdf"
    again = results.write_figures(tmp_path / "again")
    assert again[1].read_text() == (tmp_path / "svg" / again[1].name).read_text()


def test_the_summary(comparison, tmp_path):
    path = comparison.write_summary(tmp_path / "docs")
    text = path.read_text()
    assert path.name == "README.md"
    for words in [
        "    semisift compare",
        "train\\_on = all",
        "| mean rank |",
        "| breast cancer | fisher | 0.200 |",
        "| above |",
        "| below |",
        "Friedman's chi-squared",
        "Of 3 published numbers, ours are: 1 above",
    ]:
        assert words in text, words
    assert "<script" not in text.replace("    semisift compare '</script><script>", "")
    pictures = re.findall(r"\]\((\S+\.svg)\)", text)
    assert pictures == ["ranks.svg", "stability.svg", "time.svg"]
    for name in pictures:
        svg = (tmp_path / "docs" / name).read_text()
        assert len(svg) < 60_000
        assert "var(--" not in svg
        root = ElementTree.fromstring(svg)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert root.attrib["width"]
        assert PLAIN.muted in svg
        assert PLAIN.paper in svg


def test_latex(comparison):
    text = to_latex(comparison)
    assert text.count("&") == (1 + 2 + 2) * len(comparison.methods) + EVIL_SET.count("&")
    assert r"\textless{}script\textgreater{}" in text
    assert r"\textbf{" in text
    assert r"\$x\textasciicircum{}2\$" in text
    assert r"$\pm$" in text


def test_every_template_is_in_the_package():
    root = Path(__file__).parents[2]
    settings = tomllib.loads((root / "pyproject.toml").read_text())
    patterns = settings["tool"]["setuptools"]["package-data"]["semisift.report"]
    folder = root / "src/semisift/report"
    listed = {path for pattern in patterns for path in folder.glob(pattern)}
    assert {path for path in (folder / "templates").rglob("*") if path.is_file()} <= listed


def test_the_page_makes_no_tests_of_figures_that_are_no_pairs(tmp_path):
    results = changed(
        made_up(random_figures(3, 4, 3)),
        lambda record: {"split": 9} if (record["run"], record["method"]) == (3, "method 1") else {},
    )
    page = text_of(render_comparison(results))
    sentence = "data set 'set 0', run 3: methods were given different splits"
    for text in (page, write_summary(results, tmp_path).read_text(), standings_of(results)):
        assert sentence in text
        assert "chi-squared" not in text
        assert "signed-rank test" not in text
        assert "lowest mean ranks" not in text.lower()
    assert "A method wins on a data set" not in page
    assert "| mean rank | none | none | none |" in to_markdown(results)
    assert "mean rank & none & none & none" in to_latex(results)
    with pytest.raises(ValueError, match="different splits"):
        results.plot_critical_difference()


def test_the_page_says_what_results_say():
    results = made_up(random_figures(4, 5, 3))
    view = view_of(results)
    assert_array_equal(view.mean_ranks, list(results.mean_ranks().values()))
    assert view.test("friedman").chi2 == results.friedman().chi2
    assert view.test("nemenyi").critical_difference == results.nemenyi().critical_difference
    assert_array_equal(view.wins(corrected=True), results.win_tie_loss())
    assert_array_equal(
        view.test("pairwise_wilcoxon")[0][0, 1], results.wilcoxon("method 0", "method 1").p
    )


def standings_of(results):
    """Return what the terminal shows, with single blanks."""
    console = Console(width=200, file=io.StringIO())
    console.print(standings(results))
    for line in remarks(results):
        console.print(line)
    return " ".join(console.file.getvalue().split())


def test_bold_is_the_best_alone():
    values = np.array([[0.8, 0.7, 0.9, 0.6], [0.5, 0.9, 0.9, 0.6], [0.5, 0.5, 0.5, 0.5]])
    names = ["a", "b", "all-labels", "c"]
    lines = to_markdown(made_up(np.repeat(values[:, None], 2, axis=1), methods=names)).splitlines()
    bold = [[j for j, cell in enumerate(line.split("|")[2:-1]) if "**" in cell] for line in lines]
    assert bold[2:] == [[0], [1], [], [1], [1]]  # three data sets, the mean and the mean rank
    rules = re.findall(r"tfoot td[^{]*{[^}]*}", render_comparison(made_up(random_figures(1, 2, 2))))
    assert rules
    assert not any("font-weight" in rule for rule in rules)


def test_results_tell_what_they_are():
    values = random_figures(2, 3, 2)
    values[0] = [0.8, 0.6]
    values[1] = [np.nan, 0.5]
    assert repr(made_up(values)).splitlines() == [
        "Results: 2 methods on 2 data sets, 3 runs each",
        "Mean accuracy of the judge tree:",
        "  method 0  0.8267 (on 1 of 2)",
        "  method 1  0.5767",
        "3 records missing",
    ]
    assert "No figures" not in repr(made_up(np.full((1, 1, 1), np.nan)))
