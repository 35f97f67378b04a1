"""The examples run as they stand, without a warning, show a picture and leave nothing behind."""

import ast
import runpy
import tempfile
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(FOLDER.rglob("*.py"))
TUTORIALS = {"plot_single_cells"}
CLUSTERS = {"plot_dask"}
MAX_LINES = 90  # of a short example

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the sources are not there")


def name_of(path):
    return path.relative_to(FOLDER).with_suffix("").as_posix()


def marked(path):
    return pytest.param(path, marks=pytest.mark.cluster) if path.stem in CLUSTERS else path


# The site, a step of the gate, runs them as well.
@pytest.mark.nightly
@pytest.mark.parametrize("path", [*map(marked, EXAMPLES)], ids=name_of)
def test_it_runs_without_a_warning(path, tmp_path, monkeypatch):
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    here.mkdir()
    temporary.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr(plt, "show", lambda: None)
    plt.close("all")
    with matplotlib.rc_context():
        plt.switch_backend("agg")
        try:
            runpy.run_path(str(path), run_name="__main__")
            for number in plt.get_fignums():
                plt.figure(number).canvas.draw()  # where layouts that do not work out warn
            assert plt.get_fignums()
        finally:
            plt.close("all")
    assert not list(here.iterdir())


@pytest.mark.parametrize("path", EXAMPLES, ids=name_of)
def test_the_gallery_can_show_it(path):
    assert path.name.startswith("plot_")
    text = path.read_text("utf-8")
    title, line, blank, *words = ast.get_docstring(ast.parse(text)).splitlines()
    assert line == "=" * len(title)
    assert not blank
    assert words
    assert "\n# %%\n" in text
    assert path.stem in TUTORIALS or len(text.splitlines()) <= MAX_LINES


def test_there_are_examples_in_every_part_of_the_gallery():
    parts = {path.parent for path in EXAMPLES}
    assert len(parts) > 1
    assert all((part / "GALLERY_HEADER.rst").exists() for part in parts)
    assert len(EXAMPLES) >= 20
    assert len({path.stem for path in EXAMPLES}) == len(EXAMPLES)
