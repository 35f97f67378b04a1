"""What the tests of the report share: a strict reader of pages, and a fitted ranker."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd

from semisift import SSFI, FeatureRanker
from semisift.report import render
from semisift.selection import ranking_result
from semisift.selection._assessment import Assessment

from .conftest import make_data

VOID = {"meta", "input"}
EVIL = [
    "<script>alert(1)</script>",
    "$x^2$",
    "$\\frac{",
    "\"double\" & 'single'",
    "</style></title></svg>",
    "two\nlines\x00and\ttab",
    "漢字 עברית \u202eright to left",
    "{{ 7 * 7 }} {% raw %}",
    "§0§",
    "a" * 1000,
    "",
    "\ud800 lone",
]


class Checker(HTMLParser):
    """Collect what a page holds, and check that every element is closed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.ids, self.text, self.loaded = [], [], {}, []
        self.references = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.loaded += [attributes[key] for key in ("src", "srcset", "data") if key in attributes]
        self.references += attributes.get("aria-labelledby", "").split()
        if attributes.get("href"):
            assert attributes["href"].startswith("#")
            self.references.append(attributes["href"][1:])
        assert "style" not in attributes
        assert not any(key.startswith("on") for key in attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.setdefault(self.open[-1] if self.open else "", []).append(data)


def check(page):
    checker = Checker(page)
    assert len(checker.ids) == len(set(checker.ids))
    assert set(checker.references) <= set(checker.ids)
    assert checker.loaded == []
    return checker


class Given(FeatureRanker):
    """Scores that a test has chosen.

    And more words.
    """

    labels_needed = "none"

    def __init__(self, *, scores=None, n_features_to_select=None, random_state=None):
        super().__init__(n_features_to_select=n_features_to_select, random_state=random_state)
        self.scores = scores

    def _score(self, data):
        return np.asarray(self.scores, dtype=float)


def new_assessment(**changes):
    """Return an assessment of four features of which nothing is known but what is given."""
    known = {
        "rank_interval": None,
        "selection_probability": None,
        "stability": None,
        "n_best": 2,
        "n_resamples": 0,
        "p_value": np.nan,
        "p_values": None,
        "decisions": None,
        "null_score": np.nan,
        "n_permutations": 0,
        "permuted": True,
        "fast": False,
    }
    return Assessment(**known | changes)


def page_of(ranker, X=None, y=None, select=None, **options):
    outcome = ranking_result(ranker)
    return render(outcome if select is None else outcome.select(select), X=X, y=y, **options)


def fit_example():
    """Return a fitted ranker with its X, a frame, and its y, of strings and None."""
    data = make_data()
    X = pd.DataFrame(data.X, columns=[f"column {j}" for j in range(8)])
    y = np.array([None if code < 0 else ["ham", "spam"][code] for code in data.y], dtype=object)
    return SSFI(n_features_to_select=3, n_members=60, random_state=0).fit(X, y), X, y
