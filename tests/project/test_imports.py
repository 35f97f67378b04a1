import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import semisift


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.parametrize(
    "use", ["", "semisift.METHODS; dir(semisift); semisift.__version__", "semisift.tl, semisift.pl"]
)
def test_import_is_light(use):
    code = f"import sys, semisift; {use}\nprint({{'numpy', 'scipy', 'sklearn'}} & set(sys.modules))"
    assert run(code) == "set()"


def test_tools_for_cells_load_no_library_of_cells():
    code = "import sys, semisift; semisift.tl.rank_markers, semisift.pl.ranking"
    assert run(f"{code}\nprint({{'anndata', 'scanpy'}} & set(sys.modules))") == "set()"


def test_tools_for_cells_say_what_they_need():
    code = """
import sys, semisift
sys.modules["anndata"] = None
try:
    semisift.tl.rank_markers(None, "cell_type")
except ValueError as error:
    print(error)
"""
    assert run(code) == 'this needs the library anndata: pip install "semisift[anndata]"'


def test_public_names_are_listed_and_importable():
    assert set(semisift.__all__) <= set(dir(semisift))
    for name in semisift.__all__:
        assert getattr(semisift, name) is not None


def test_nothing_but_public_names_is_listed():
    assert dir(semisift) == sorted(semisift.__all__)


def test_families_export_their_classes():
    for entry in (*semisift.METHODS.values(), *semisift.CLASSIFIERS.values()):
        family = importlib.import_module(".".join(entry.path.split(".")[:2]))
        name = entry.cls.__name__
        assert getattr(family, name) is getattr(semisift, name) is entry.cls
        assert name in family.__all__
        assert dir(family) == sorted(family.__all__)
        with pytest.raises(AttributeError, match="no attribute 'unknown'"):
            family.unknown  # noqa: B018


def test_star_import():
    assert run("from semisift import *\nprint(LabelledOnly.__name__)") == "LabelledOnly"


def test_unknown_name():
    with pytest.raises(AttributeError, match="module 'semisift' has no attribute 'unknown'"):
        semisift.unknown  # noqa: B018


def private_names_of_sklearn(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.startswith("sklearn")]
        else:
            continue
        yield from (name for name in names if "._" in name)


def test_private_names_of_sklearn_have_one_door():
    package = Path(semisift.__file__).parent
    found = {path.name for path in package.rglob("*.py") if [*private_names_of_sklearn(path)]}
    assert found == {"_sklearn_compat.py"}
