import inspect
import re

import pytest

import semisift
from semisift import CLASSIFIERS, METHODS, FeatureRanker
from semisift.registry import Learner, Method, PluginMethod, accepted_by, read_entries

OWN = {name: each for name, each in METHODS.items() if not isinstance(each, PluginMethod)}


def test_entries():
    for name, entry in (OWN | CLASSIFIERS).items():
        assert entry.name == name
        assert re.fullmatch(r"[a-z0-9-]+", name)
        assert entry.source in {"formula", "reading"}, name
        assert re.search(r"\((19|20)\d\d\)", entry.citation), name
        assert entry.cost, name
        assert len(entry.summary) <= 64, name
        assert 2 <= len(re.findall(r"\.( |$)", entry.meaning)) <= 4, name
    for name, method in OWN.items():
        assert method.path.startswith(f"semisift.{method.family}."), name
        assert method.direction in {"high", "low"}, name
    assert all(e.path.startswith("semisift.semi_supervised.") for e in CLASSIFIERS.values())


def test_the_table_says_what_the_classes_say():
    for name, entry in (OWN | CLASSIFIERS).items():
        cls = entry.cls
        assert getattr(semisift, entry.class_name) is cls, name
        assert sorted(entry.accepts) == sorted(accepted_by(cls)), name
    for name, method in OWN.items():
        assert issubclass(method.cls, FeatureRanker), name
        assert method.labels_needed == method.cls.labels_needed, name
        assert method.is_transductive == method.cls.is_transductive, name


def test_constructors():
    for name, entry in (OWN | CLASSIFIERS).items():
        parameters = inspect.signature(entry.cls).parameters
        assert set(parameters) == set(entry.cls._parameter_constraints), name
        if name in OWN:
            needed = {"n_features_to_select", "redundancy_threshold", "random_state"}
            assert needed <= set(parameters), name
            assert all(each.kind is each.KEYWORD_ONLY for each in parameters.values()), name


def test_learners_are_the_classifiers_that_there_are():
    committees = {"co-forest", "co-bc", "tri-training", "ss-forest"}
    subspaces = {"self-training", "co-training", "rasco", "rel-rasco", "prob-mrmr"}
    assert set(CLASSIFIERS) == {"labelled-only", "transduction", *subspaces, *committees}
    assert not set(CLASSIFIERS) & set(METHODS)


def test_docstrings_have_no_open_slot():
    for entry in (OWN | CLASSIFIERS).values():
        doc = entry.cls.__doc__
        assert not re.search(r"\{[a-z_]+( \([a-z ,]+\))?\}", doc), entry.name
        assert "<default>" not in doc
        parameters = doc.partition("    Attributes\n")[0]
        documented = re.findall(r"^    (\w+(?:, \w+)*) : ", parameters, re.M)
        named = {name for names in documented for name in names.split(", ")}
        if "    Parameters\n" in doc:  # others are as the class they name
            assert set(inspect.signature(entry.cls).parameters) <= named, entry.name


# --- the files that hold the entries --------------------------------------------------------------

ENTRY = {
    "path": "semisift.filters.variance:VarianceScore",
    "accepts": ["groups"],
    "summary": "A score.",
    "citation": "Nobody (2000).\nA paper.",
    "cost": "rows",
    "source": "formula",
    "meaning": "It means\nnothing. Nor that.",
}
METHOD = {**ENTRY, "labels_needed": "none", "is_transductive": False}


def read(tmp_path, fields, cls=Method):
    shown = {True: "true", False: "false"}
    lines = [
        f"{key} = {value}" if isinstance(value, list) else f'{key} = """{value}"""'
        for key, value in fields.items()
        if not isinstance(value, bool)
    ]
    lines += [f"{k} = {shown[v]}" for k, v in fields.items() if isinstance(v, bool)]
    (tmp_path / "entries.toml").write_text("\n".join(["[mine]", *lines]), encoding="utf-8")
    return read_entries(cls, tmp_path / "entries.toml")


def test_an_entry_is_read_with_its_lines_joined(tmp_path):
    entry = read(tmp_path, METHOD)["mine"]
    assert (entry.name, entry.family, entry.direction) == ("mine", "filters", "high")
    assert entry.meaning == "It means nothing. Nor that."
    assert entry.takes("groups")
    assert not entry.takes("allow_nan")
    assert read(tmp_path, {**METHOD, "direction": "low"})["mine"].direction == "low"


def test_an_entry_that_lacks_a_field_or_has_another_is_named(tmp_path):
    for field in METHOD:
        fields = {key: value for key, value in METHOD.items() if key != field}
        with pytest.raises(ValueError, match=rf"entries\.toml: \[mine\]: .*'{field}'"):
            read(tmp_path, fields)
    for cls, fields, other in ((Method, METHOD, "price"), (Learner, ENTRY, "direction")):
        with pytest.raises(ValueError, match=rf"\[mine\]: .*'{other}'"):
            read(tmp_path, {**fields, other: "low"}, cls)
