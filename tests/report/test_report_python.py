"""The report, the picture and the notebook form as methods of a fitted ranker."""

import subprocess
import sys

import pandas as pd
import pytest
from matplotlib.figure import Figure

from semisift import SSFI
from semisift.selection import ranking_result
from tests.pages import fit_example


@pytest.fixture
def fitted():
    return fit_example()


def test_report_method(fitted, tmp_path):
    ranker, X, y = fitted
    path = ranker.report(str(tmp_path / "report.html"), X, y, title="A title")
    assert path == tmp_path / "report.html"
    assert "A title" in path.read_text(encoding="utf-8")
    assert not hasattr(ranker, "X")


def test_a_report_that_fails_leaves_no_file(fitted, tmp_path):
    ranker, X, y = fitted
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        ranker.report(tmp_path / "folder", X, y)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_plot_scores(fitted):
    ranker, _, _ = fitted
    ax = Figure().add_subplot()
    assert ranker.plot_scores(ax) is ax
    assert ax.get_xscale() == "log"
    texts = [text.get_text() for text in ax.texts]
    assert "3 selected" in texts
    assert ranking_result(ranker).features[0] in texts
    ax.figure.canvas.draw()


def test_plot_scores_makes_a_figure_where_none_is_given(fitted, monkeypatch):
    import matplotlib

    monkeypatch.setenv("MPLBACKEND", "agg")
    matplotlib.use("agg")
    from matplotlib import pyplot

    ax = fitted[0].plot_scores(top=4)
    assert ax.lines[0].get_xdata().max() == 4
    pyplot.close(ax.figure)


def test_plot_scores_of_names_that_look_like_mathematics(data):
    names = ["$x^2$", "$\\frac{", "a_b", "100%", "{", "\n", "$", "y"]
    ranker = SSFI(n_members=30, random_state=0).fit(pd.DataFrame(data.X, columns=names), data.y)
    figure = Figure()
    ranker.plot_scores(figure.add_subplot())
    figure.canvas.draw()


def test_notebook(fitted):
    from sklearn import config_context

    ranker, _, _ = fitted
    html = ranker._repr_html_()
    best = ranking_result(ranker).features[0]
    assert "sk-top-container" in html
    assert f"<bdi>{best}</bdi>" in html
    assert "<svg" in html
    assert ranker._repr_mimebundle_()["text/html"].endswith("</div>")
    assert "semisift-fit" not in SSFI()._repr_html_()
    with config_context(display="text"):
        assert not hasattr(ranker, "_repr_html_")
        assert "text/html" not in ranker._repr_mimebundle_()


def test_notebook_after_the_number_was_raised(fitted):
    assert "semisift-fit" in fitted[0].set_params(n_features_to_select=99)._repr_html_()


def test_the_report_loads_matplotlib_only_when_asked():
    code = (
        "import sys, semisift.report; from semisift import SSFI\n"
        "from semisift.selection import ranking_result\n"
        "print({'matplotlib', 'jinja2', 'polars'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


@pytest.mark.nightly
def test_a_ranker_finds_the_report_however_it_was_imported():
    code = (
        "from semisift.filters.fisher import FisherScore\n"
        "ranker = FisherScore().fit([[0, 1], [1, 1.5], [0, 0], [1, 0.2]], [0, 1, 0, 1])\n"
        "print('semisift-fit' in ranker._repr_html_())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "True"
