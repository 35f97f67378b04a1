import json
from dataclasses import fields, replace

import numpy as np
import pytest

from semisift.comparison._protocol import PROTOCOLS, Protocol, find_protocol, share_of
from tests.nightly import few_daily

PRESETS = pytest.mark.parametrize("name", PROTOCOLS)


@PRESETS
def test_preset_is_found_by_its_name(name):
    assert find_protocol(name) is PROTOCOLS[name]
    assert find_protocol(name).name == name


def test_protocol_stands_for_itself():
    protocol = Protocol(n_runs=2)
    assert find_protocol(protocol) is protocol


def test_unknown_preset():
    with pytest.raises(ValueError, match=r"one of ssfi, enscls.*or a Protocol: got 'nope'"):
        find_protocol("nope")


@PRESETS
def test_survives_json(name):
    settings = json.loads(json.dumps(PROTOCOLS[name].to_dict()))
    assert Protocol.from_dict(settings) == PROTOCOLS[name]


def test_numbers_of_numpy_survive_json():
    protocol = Protocol(
        n_runs=np.int64(3), sizes=np.arange(1, 4), train_size=np.float32(0.5), seed=np.int32(1)
    )
    assert Protocol.from_dict(json.loads(json.dumps(protocol.to_dict()))) == protocol
    assert protocol.sizes == (1, 2, 3)


def test_settings_that_are_not_known_are_left_out():
    assert Protocol.from_dict({**Protocol().to_dict(), "later": 1}) == Protocol()


def test_one_value_stands_for_several():
    protocol = Protocol(sizes=5, judges="knn:n_neighbors=3", metrics="auc")
    assert protocol.sizes == (5,)
    assert protocol.judges == ("knn:n_neighbors=3",)
    assert protocol.metrics == ("auc",)


def test_largest_size():
    assert Protocol(sizes=(3, 9, 5)).n_top == 9


BAD = {
    "n_runs": [0, -1, 1.5, None, True, "3"],
    "train_size": [0, 1, 1.5, float("nan"), None, "half"],
    "labels_per_class": [0, 2.5, True],
    "n_labelled": [0, -3],
    "labelled_share": [0, 0.0, 1.1, float("nan")],
    "n_unlabelled": [0, 1.5],
    "n_test": [0],
    "sizes": [(), (0,), (1, 1), (1.5,), None],
    "judges": [(), ("tree", "tree"), (1,)],
    "train_on": ["labeled", None],
    "scaling": ["z", True],
    "metrics": [(), ("accuracy", "accuracy"), ("f1",)],
    "seed": [-1, 0.5, None],
}


@pytest.mark.parametrize(
    ("name", "value"), few_daily([(name, bad) for name in BAD for bad in BAD[name]], 8)
)
def test_bad_value_is_named(name, value):
    with pytest.raises(ValueError, match=rf"^{name} must be .*: got .*\."):
        Protocol(**{name: value})


def test_every_setting_has_a_rule():
    assert {field.name for field in fields(Protocol)} - BAD.keys() == {"name"}


@pytest.mark.parametrize(
    ("settings", "got"),
    [
        ({"labels_per_class": None}, "got none"),
        ({"n_labelled": 6}, "got labels_per_class, n_labelled"),
        ({"labels_per_class": None, "n_labelled": 6, "labelled_share": 0.1}, "n_labelled, lab"),
    ],
)
def test_one_amount_of_labels(settings, got):
    with pytest.raises(ValueError, match=rf"exactly one of labels_per_class, .*{got}"):
        Protocol(**settings)


def test_presets_can_be_changed():
    assert replace(PROTOCOLS["enscls"], n_runs=3).scaling == "standard"


def test_presets_are_those_of_the_papers():
    ssfi, enscls, semifs = (PROTOCOLS[name] for name in ("ssfi", "enscls", "fw-semifs"))
    assert (ssfi.n_runs, ssfi.labels_per_class, ssfi.n_top, ssfi.train_on) == (10, 3, 10, "all")
    assert (enscls.n_runs, enscls.labels_per_class, enscls.n_top) == (10, 3, 20)
    assert (semifs.n_labelled, semifs.n_unlabelled, semifs.train_on) == (6, 100, "labelled")
    assert semifs.sizes == tuple(range(5, 21))


@pytest.mark.parametrize(
    ("n_rows", "share", "expected"), [(30, 1 - 2 / 3, 10), (10, 1 - 0.9, 1), (62, 1 / 3, 20)]
)
def test_share_is_rounded_down_but_not_by_rounding_errors(n_rows, share, expected):
    assert share_of(n_rows, share) == expected
