"""The soak finds what it looks for: its checks fail where something is wrong."""

import importlib.util
import json
import signal
from pathlib import Path

import numpy as np
import pytest

from semisift import FisherScore, VarianceScore
from tests.conftest import make_data

SOURCE = Path(__file__).parents[2] / "tools" / "soak.py"


@pytest.fixture(scope="module")
def soak():
    spec = importlib.util.spec_from_file_location("soak", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_turns_have_no_failure(soak):
    """Some of each kind that is not stopped, always the same."""
    done = [soak.take_turn(number) for number in range(8)]
    assert {kind for kind, _, _ in done} == {"fit", "use", "learn", "command"}
    assert [wrong for _, _, wrong in done if wrong] == []


def test_other_scores_are_a_failure(soak):
    data = make_data()
    fitted = [(cls().fit(data.X, data.y), None) for cls in (VarianceScore, FisherScore)]
    soak.same_outcome(fitted[0], fitted[0], "again")
    with pytest.raises(soak.WrongError, match="other scores"):
        soak.same_outcome(fitted[0], fitted[1], "again")
    with pytest.raises(soak.WrongError, match="too few rows"):
        soak.same_outcome(fitted[0], (None, "too few rows"), "again")


@pytest.mark.kill
def test_a_stopped_comparison_is_resumed_and_its_records_compared(soak, tmp_path):
    rng = np.random.default_rng(0)
    assert "records" in soak.stop_comparison(rng, tmp_path, signal.SIGKILL)
    stopped, straight = (soak.figures(tmp_path / store) for store in ("stopped", "straight"))
    assert stopped == straight
    path = next((tmp_path / "stopped").rglob("0003.json"))
    record = json.loads(path.read_text())
    record["top"].reverse()
    path.write_text(json.dumps(record))
    assert soak.figures(tmp_path / "stopped") != straight
