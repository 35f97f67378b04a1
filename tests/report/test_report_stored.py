"""Reports on rows that do not fit into memory: pictures of some, counts of all."""

import re

import numpy as np
import pytest

from semisift import FisherScore, OutOfCoreMatrix, TransductiveScore
from semisift.report import _rows

N_ROWS, N_LABELLED = 500, 60


@pytest.fixture
def rows(monkeypatch):
    monkeypatch.setattr("semisift.out_of_core._matrix.BLOCK_VALUES", 1 << 9)
    rng = np.random.default_rng(0)
    y = np.arange(N_ROWS) % 2
    X = rng.normal(size=(N_ROWS, 8)).astype(np.float32)
    X[:, 0] += 3 * y
    labels = np.where(np.arange(N_ROWS) < N_LABELLED, y, -1)
    return X, labels


def page(ranker, path, X, y):
    return ranker.report(path / "page.html", X, y).read_text()


def test_the_page_says_which_rows_it_draws(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(_rows, "MAX_UNLABELLED", 100)
    monkeypatch.setattr(_rows, "MAX_LABELLED", 20)
    X, y = rows
    stored = OutOfCoreMatrix(X, max_memory="40kB")
    ranker = TransductiveScore(max_unlabelled=150).fit(stored, y)
    text = page(ranker, tmp_path, stored, y)
    assert "show 120 of 500 rows, drawn at random, of which 20 carry a label." in text
    assert "<dd>500</dd>" in text
    assert "<dd>60</dd>" in text
    given = [int(n) for n in re.findall(r'<td class="number">(\d+)</td></tr>', text)[:2]]
    assert sum(given) == N_ROWS - N_LABELLED
    # rows keep their numbers: one of them is behind those that were drawn
    numbers = [int(n) for n in re.findall(r"row (\d+)", text)]
    assert max(numbers) > 120


def test_rows_that_fit_are_all_drawn(rows, tmp_path):
    X, y = rows
    ranker = FisherScore().fit(X, y)
    stored = page(ranker, tmp_path, OutOfCoreMatrix(X), y)
    assert stored == page(ranker, tmp_path, X, y)
    assert "drawn at random, of which" not in stored


def test_little_memory_draws_few_rows(rows, tmp_path):
    X, y = rows
    stored = OutOfCoreMatrix(X, max_memory="20kB")
    text = page(FisherScore().fit(stored, y), tmp_path, stored, y)
    assert re.search(r"show \d+ of 500 rows", text)
    (drawn,) = re.findall(r"show (\d+) of 500 rows", text)
    assert int(drawn) <= stored.max_sampled
