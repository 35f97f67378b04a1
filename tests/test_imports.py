import subprocess
import sys

import pytest

import semisift


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.parametrize("use", ["", "semisift.METHODS; dir(semisift); semisift.__version__"])
def test_import_is_light(use):
    code = f"import sys, semisift; {use}\nprint({{'numpy', 'scipy', 'sklearn'}} & set(sys.modules))"
    assert run(code) == "set()"


def test_public_names_are_listed_and_importable():
    assert set(semisift.__all__) <= set(dir(semisift))
    for name in semisift.__all__:
        assert getattr(semisift, name) is not None


def test_star_import():
    assert run("from semisift import *\nprint(LabelledOnly.__name__)") == "LabelledOnly"


def test_unknown_name():
    with pytest.raises(AttributeError, match="module 'semisift' has no attribute 'unknown'"):
        semisift.unknown  # noqa: B018
