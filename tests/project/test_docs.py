"""The site's pages: programs run, commands are known, links lead somewhere."""

import re
import shlex
import tomllib
from functools import cache
from pathlib import Path
from posixpath import normpath

import click
import matplotlib as mpl
import pytest

import semisift
from semisift import CLASSIFIERS, METHODS
from semisift.cli import main

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

# Pages that docs/build makes, and its copies of files at the root, are left out: what they are made
# of is tested.
MADE = ("_build", "_site", "api", "auto_examples", "methods")
COPIES = {"contributing.md", "conduct.md", "security.md", "changelog.md"}


def _is_written(path):
    parts = path.relative_to(DOCS).parts
    return parts[0] not in MADE and not (parts[0] == "project" and parts[-1] in COPIES)


PAGES = [
    *sorted(ROOT.glob("*.md")),
    *(path for path in sorted(DOCS.rglob("*.md")) if _is_written(path)),
]
FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```$", re.M | re.S)

pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="the sources are not there")


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def blocks(path, language):
    return [text for _, kind, text in FENCE.findall(path.read_text("utf-8")) if kind == language]


# --- programs -------------------------------------------------------------------------------------

TABLE = """
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

X, truth = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[::3].reset_index(drop=True)
truth = truth.iloc[::3].reset_index(drop=True)
y = truth.where(truth.groupby(truth).cumcount() < 12, -1).to_numpy()
few = X.assign(diagnosis=truth.where(y != -1).map({0.0: "malignant", 1.0: "benign"}))
few.to_csv("table.csv", index=False)
"""
CELLS = """
import anndata
import numpy as np
import scanpy as sc

rng = np.random.default_rng(0)
kinds = rng.integers(0, 2, size=120)
counts = rng.poisson(1 + 3.0 * (kinds[:, None] == np.arange(40) // 5)).astype(np.float32)
names = np.array(["B cell", "T cell"])[kinds].astype(object)
names[20:] = None
cells = anndata.AnnData(counts)
cells.obs["cell_type"] = names
cells.var_names = [f"gene{number}" for number in range(40)]
cells.write_h5ad("cells.h5ad")
"""

# What a reader of a page has: their own table, and what the page before has told.
GIVEN = {
    "README.md": TABLE,
    "docs/cutoffs.md": TABLE + "from semisift import SSFI\n",
    "docs/data.md": TABLE + "import os\nos.mkdir('data')\n",
    "docs/features.md": TABLE
    + """
from semisift import Consensus, FisherScore, MRMR
named = "age sex plate run_order wbc rbc platelets CRP IL6 area perimeter red green blue".split()
X.columns = [*named, *(f"other{number}" for number in range(len(X.columns) - len(named)))]
""",
    "docs/formats.md": TABLE
    + """
from semisift import FisherScore
FisherScore().fit(X, y).to_frame().write_csv("ranking.csv")
""",
    "docs/next-rows.md": TABLE + "from semisift import Consensus\n",
    "docs/report.md": TABLE + "from semisift import SSFI\n",
    "docs/scale.md": TABLE + "from semisift import SSFI\nnp.save('cells.npy', X.to_numpy())\n",
    "docs/single-cells.md": CELLS,
    "docs/start/five-minutes.md": TABLE,
    "docs/start/python.md": "",
    "docs/studies.md": TABLE
    + """
from sklearn.tree import DecisionTreeClassifier
from semisift import Consensus, LabelledOnly
donor, plate = np.arange(len(y)) // 4, np.arange(len(y)) % 2
model = LabelledOnly(DecisionTreeClassifier())
""",
}
# Pages whose blocks take seconds.
SLOW = {"docs/cutoffs.md", "docs/single-cells.md", "docs/studies.md", "docs/report.md"}


def list_pages_with_code():
    pages = [page for page in PAGES if blocks(page, "python")]
    nightly = pytest.mark.nightly
    return [pytest.param(page, marks=nightly) if name_of(page) in SLOW else page for page in pages]


# Blocks that represent something of the reader's own, or for what another test does.
NOT_RUN = ("scheduler-address", "class RangeScore", "def test_range_by_hand")


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("path", list_pages_with_code(), ids=name_of)
def test_python_blocks_run_one_after_the_other(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    with mpl.rc_context({"backend": "agg"}):
        exec(GIVEN.get(name_of(path), ""), names)
        for block in blocks(path, "python"):
            if not any(words in block for words in NOT_RUN):
                exec(compile(block, f"<{name_of(path)}>", "exec"), names)


# --- commands -------------------------------------------------------------------------------------


def commands():
    for path in PAGES:
        for block in blocks(path, "bash"):
            for line in block.replace("\\\n", " ").splitlines():
                found = re.search(r"(?:^|&& |/)semisift (.*)", line.partition(" # ")[0])
                if found:
                    yield pytest.param(found[1], id=f"{name_of(path)}: {found[1]}")


def parse(words):
    """Parse a command as click does, without touching the files that it names."""
    name, *rest = words
    command = main.get_command(click.Context(main), name)
    assert command is not None, f"no command is called {name}"
    command.make_parser(click.Context(command)).parse_args(rest)


@pytest.mark.parametrize("line", [*commands()])
def test_commands_and_their_options_are_known(line):
    parse(shlex.split(line))


def test_an_unknown_option_would_be_found():
    with pytest.raises(click.NoSuchOption):
        parse(["rank", "table.csv", "--lable", "diagnosis"])


def test_options_of_the_table_of_wishes_are_known():
    text = (DOCS / "start" / "have-or-want.md").read_text("utf-8")
    known = {
        name
        for command in ("rank", "select", "predict")
        for option in main.get_command(click.Context(main), command).params
        for name in [*option.opts, *option.secondary_opts]
    }
    rows = [line for line in text.splitlines() if line.startswith("| [")]
    assert len(rows) >= 27
    assert {*re.findall(r"--[a-z-]+", "".join(rows))} <= known | {"--n", "--out"}


# --- links ----------------------------------------------------------------------------------------

LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s#]*)(#[^)\s]*)?\)")


@cache
def anchors(path):
    """Return the anchors of a page, as they are made of its headings."""
    text = FENCE.sub("", path.read_text("utf-8"))
    found: list[str] = []
    for heading in re.findall(r"^#{1,6} (.*)$", text, re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-")
        found.append(slug if slug not in found else f"{slug}-{found.count(slug)}")
    return found


def pages_that_are_made():
    names = {f"docs/methods/{name}.md" for name in [*METHODS, *CLASSIFIERS]}
    names |= {f"docs/api/semisift.{name}.rst" for name in semisift.__all__}
    return names | {f"docs/{name}" for name in MADE_LISTS}


MADE_LISTS = ("methods/index.md", "api/index.rst", "api/array-support.md")


def broken_links(path):
    text = FENCE.sub("", path.read_text("utf-8"))
    for target, anchor in LINK.findall(re.sub(r"`[^`\n]*`", "", text)):
        place = normpath((path.parent.relative_to(ROOT) / target).as_posix()) if target else ""
        if place in pages_that_are_made():
            continue
        file = ROOT / place if target else path
        known = file.exists() and (
            not anchor or file.suffix != ".md" or anchor[1:] in anchors(file)
        )
        if not known:
            yield target + anchor


def test_links_lead_somewhere():
    found = {name_of(path): [*broken_links(path)] for path in PAGES}
    assert {name: broken for name, broken in found.items() if broken} == {}


def test_cards_lead_somewhere():
    for path in (DOCS / "index.md", DOCS / "guide" / "index.md"):
        for target in re.findall(r"^:link: (.*)$", path.read_text("utf-8"), re.M):
            made = target.partition("/")[0] in MADE
            assert made or (path.parent / f"{target}.md").is_file(), target


def test_each_wish_is_two_clicks_from_the_first_page():
    first = (DOCS / "index.md").read_text("utf-8")
    assert ":link: start/have-or-want\n" in first
    wishes = (DOCS / "start" / "have-or-want.md").read_text("utf-8")
    for line in wishes.splitlines()[6:]:
        if line.startswith("|"):
            assert line.startswith(("| [", "| you", "| ---")), line


# --- what the pages say of the code ---------------------------------------------------------------


def test_every_method_has_its_words():
    words = tomllib.loads((DOCS / "methods.toml").read_text("utf-8"))
    assert sorted(words) == sorted([*METHODS, *CLASSIFIERS])
    for name, texts in words.items():
        assert sorted(texts) == ["fails", "idea"], name
        idea = " ".join(texts["idea"].split())
        assert len(re.findall(r"[.!?](?= |$)", idea)) == 3, name


def test_every_page_of_the_guide_has_a_picture():
    text = (DOCS / "guide" / "index.md").read_text("utf-8")
    listed = text.partition("```{toctree}")[2].partition("```")[0].split()[1:]
    without = {"../growth", "../formats", "../features", "../studies"}  # tables of facts
    for page in listed:
        if page not in without:
            path = (DOCS / "guide" / f"{page}.md").resolve()
            assert "![" in path.read_text("utf-8"), page
