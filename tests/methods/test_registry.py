import inspect
import re

import pytest

import semisift
from semisift import CLASSIFIERS, METHODS, FeatureRanker
from semisift.registry import Learner, Method, read_entries


@pytest.mark.parametrize("name", METHODS)
def test_entry(name):
    method = METHODS[name]
    assert method.name == name
    assert re.fullmatch(r"[a-z0-9-]+", name)
    assert method.path.startswith(f"semisift.{method.family}.")
    assert method.source in {"formula", "reading"}
    assert re.search(r"\((19|20)\d\d\)", method.citation)
    assert method.cost
    assert method.direction in {"high", "low"}
    assert 2 <= len(re.findall(r"\.( |$)", method.meaning)) <= 4


@pytest.mark.parametrize("name", METHODS)
def test_class(name):
    cls = METHODS[name].cls
    assert issubclass(cls, FeatureRanker)
    assert cls.labels_needed in {"none", "optional", "two_classes"}
    assert getattr(semisift, cls.__name__) is cls


@pytest.mark.parametrize("name", METHODS)
def test_constructor(name):
    parameters = inspect.signature(METHODS[name].cls).parameters
    assert {"n_features_to_select", "redundancy_threshold", "random_state"} <= set(parameters)
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters.values())
    assert set(parameters) == set(METHODS[name].cls._parameter_constraints)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_learner(name):
    learner = CLASSIFIERS[name]
    assert learner.name == name
    assert re.fullmatch(r"[a-z0-9-]+", name)
    assert learner.path.startswith("semisift.semi_supervised.")
    assert learner.source in {"formula", "reading"}
    assert re.search(r"\((19|20)\d\d\)", learner.citation)
    assert learner.cost
    assert 2 <= len(re.findall(r"\.( |$)", learner.meaning)) <= 4
    assert getattr(semisift, learner.cls.__name__) is learner.cls
    assert set(inspect.signature(learner.cls).parameters) == set(learner.cls._parameter_constraints)


def test_learners_are_the_classifiers_that_there_are():
    committees = {"co-forest", "co-bc", "tri-training", "ss-forest"}
    subspaces = {"self-training", "co-training", "rasco", "rel-rasco", "prob-mrmr"}
    assert set(CLASSIFIERS) == {"labelled-only", "transduction", *subspaces, *committees}
    assert not set(CLASSIFIERS) & set(METHODS)


@pytest.mark.parametrize("entry", [*METHODS.values(), *CLASSIFIERS.values()], ids=lambda e: e.name)
def test_docstrings_have_no_open_slot(entry):
    doc = entry.cls.__doc__
    assert not re.search(r"\{[a-z_]+( \([a-z ,]+\))?\}", doc)
    assert "<default>" not in doc
    documented = re.findall(r"^    (\w+(?:, \w+)*) : ", doc.partition("    Attributes\n")[0], re.M)
    named = {name for names in documented for name in names.split(", ")}
    if "    Parameters\n" in doc:  # others are as the class they name
        assert set(inspect.signature(entry.cls).parameters) <= named


# --- the files that hold the entries --------------------------------------------------------------

ENTRY = {
    "path": "semisift.filters.variance:VarianceScore",
    "summary": "A score.",
    "citation": "Nobody (2000).\nA paper.",
    "cost": "rows",
    "source": "formula",
    "meaning": "It means\nnothing. Nor that.",
}


def read(tmp_path, fields, cls=Method):
    lines = [f'{key} = """{value}"""' for key, value in fields.items()]
    (tmp_path / "entries.toml").write_text("\n".join(["[mine]", *lines]), encoding="utf-8")
    return read_entries(cls, tmp_path / "entries.toml")


def test_an_entry_is_read_with_its_lines_joined(tmp_path):
    entry = read(tmp_path, ENTRY)["mine"]
    assert (entry.name, entry.family, entry.direction) == ("mine", "filters", "high")
    assert entry.meaning == "It means nothing. Nor that."
    assert read(tmp_path, {**ENTRY, "direction": "low"})["mine"].direction == "low"


@pytest.mark.parametrize("field", ENTRY)
def test_an_entry_that_lacks_a_field_is_named(tmp_path, field):
    fields = {key: value for key, value in ENTRY.items() if key != field}
    with pytest.raises(ValueError, match=rf"entries\.toml: mine lacks the field '{field}'\."):
        read(tmp_path, fields)


@pytest.mark.parametrize(
    ("cls", "field", "value", "message"),
    [
        (Method, "price", "low", "mine has a field 'price', which Method does not know"),
        (Method, "name", "yours", "mine has a field 'name', which Method does not know"),
        (Learner, "direction", "low", "mine has a field 'direction', which Learner does not know"),
        (Method, "direction", "up", "mine has the direction 'up', which is none of high, low"),
        (Method, "source", "", "mine has the source '', which is none of formula, reading"),
    ],
)
def test_an_entry_with_a_wrong_field_is_named(tmp_path, cls, field, value, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, {**ENTRY, field: value}, cls)


def test_an_entry_with_a_number_is_named(tmp_path):
    (tmp_path / "entries.toml").write_text("[mine]\ncost = 3", encoding="utf-8")
    with pytest.raises(ValueError, match=r"mine lacks .*; it has the cost 3, which is no text\.$"):
        read_entries(Method, tmp_path / "entries.toml")
