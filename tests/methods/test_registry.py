import inspect
import re

import pytest

import semisift
from semisift import LEARNERS, METHODS, FeatureRanker


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


@pytest.mark.parametrize("name", LEARNERS)
def test_learner(name):
    learner = LEARNERS[name]
    assert learner.name == name
    assert re.fullmatch(r"[a-z0-9-]+", name)
    assert learner.path.startswith("semisift.learners.")
    assert learner.source in {"formula", "reading"}
    assert re.search(r"\((19|20)\d\d\)", learner.citation)
    assert learner.cost
    assert 2 <= len(re.findall(r"\.( |$)", learner.meaning)) <= 4
    assert getattr(semisift, learner.cls.__name__) is learner.cls
    assert set(inspect.signature(learner.cls).parameters) == set(learner.cls._parameter_constraints)


def test_learners_are_the_classifiers_that_there_are():
    committees = {"co-forest", "co-bc", "tri-training", "ss-forest"}
    subspaces = {"self-training", "co-training", "rasco", "rel-rasco", "prob-mrmr"}
    assert set(LEARNERS) == {"labelled-only", *subspaces, *committees}
    assert not set(LEARNERS) & set(METHODS)


@pytest.mark.parametrize("entry", [*METHODS.values(), *LEARNERS.values()], ids=lambda e: e.name)
def test_docstrings_have_no_open_slot(entry):
    doc = entry.cls.__doc__
    assert not re.search(r"\{[a-z_]+( \([a-z ,]+\))?\}", doc)
    assert "<default>" not in doc
    documented = re.findall(r"^    (\w+(?:, \w+)*) : ", doc.partition("    Attributes\n")[0], re.M)
    named = {name for names in documented for name in names.split(", ")}
    if "    Parameters\n" in doc:  # others are as the class they name
        assert set(inspect.signature(entry.cls).parameters) <= named
