"""What all pictures do: axes, files, screens, and results that are not there."""

import subprocess
import sys
from functools import partial

import matplotlib
import pytest
from matplotlib import pyplot

import semisift.pl
from tests.pl.cells import make_cells

DRAW = {
    "ranking": semisift.pl.ranking,
    "dots": partial(semisift.pl.markers, n_markers=2),
    "heatmap": partial(semisift.pl.markers, n_markers=2, kind="heatmap"),
    "confidence": semisift.pl.confidence,
}
EACH = pytest.mark.parametrize("draw", DRAW.values(), ids=DRAW)


@EACH
def test_axes_are_returned_and_those_of_the_user_are_used(draw):
    adata = make_cells()
    assert isinstance(draw(adata, show=False), matplotlib.axes.Axes)
    _, axes = pyplot.subplots(1, 2)
    n_figures = len(pyplot.get_fignums())
    assert draw(adata, ax=axes[1]) is axes[1]
    assert len(pyplot.get_fignums()) == n_figures
    assert not axes[0].has_data()
    assert axes[1].has_data()


@pytest.mark.parametrize(
    ("name", "backend", "show", "is_shown"),
    [
        ("ranking", "agg", None, False),
        ("dots", "module://x", None, True),
        ("heatmap", "svg", True, True),
        ("confidence", "qtagg", False, False),
    ],
)
def test_it_is_shown_where_there_is_a_screen_or_the_user_says_so(
    name, backend, show, is_shown, monkeypatch
):
    shown = []
    monkeypatch.setattr(matplotlib, "get_backend", lambda: backend)
    monkeypatch.setattr(pyplot, "show", lambda: shown.append(True))
    ax = DRAW[name](make_cells(), show=show)
    assert bool(shown) == (ax is None) == is_shown


@pytest.mark.parametrize(
    ("name", "ending", "start"),
    [
        ("ranking", "pdf", b"%PDF-"),
        ("dots", "svg", b"<?xml"),
        ("heatmap", "png", b"\x89PNG\r"),
        ("confidence", "svg", b"<?xml"),
    ],
)
def test_it_is_saved_in_the_form_of_the_ending(name, ending, start, tmp_path):
    DRAW[name](make_cells(), save=tmp_path / f"picture.{ending}", show=False)
    assert (tmp_path / f"picture.{ending}").read_bytes()[:5] == start


@EACH
def test_results_that_are_not_there_are_named(draw):
    adata = make_cells()
    adata.uns["first"] = adata.uns.pop("semisift")
    adata.uns["neighbors"] = {"params": {}}
    with pytest.raises(ValueError, match=r"key='semisift': .* There are 'first'\. Make some"):
        draw(adata)
    del adata.uns["first"]
    with pytest.raises(ValueError, match="none under another"):
        draw(adata)
    with pytest.raises(TypeError, match="adata must be an AnnData: got list"):
        draw([])


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore:One class is labelled")
@EACH
def test_many_classes_with_long_names_and_one_class(draw):
    names = [f"${number}% of a very long name, too long for any picture" for number in range(50)]
    for adata in (make_cells(50, 8, 120, names=names), make_cells(1)):
        ax = draw(adata, show=False)
        ax.get_figure().draw_without_rendering()


def test_the_pictures_need_no_scanpy_and_pyplot_comes_late():
    code = "import sys, semisift.pl as pl; pl.ranking, pl.markers, pl.confidence\n"
    code += "print({'scanpy', 'anndata', 'matplotlib.pyplot'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
