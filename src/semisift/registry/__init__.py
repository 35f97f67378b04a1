"""METHODS and LEARNERS: rankers and classifiers by their short names, without importing any."""

from semisift.registry.consensus import CONSENSUS
from semisift.registry.embedded import EMBEDDED
from semisift.registry.ensembles import ENSEMBLES
from semisift.registry.entries import Entry, Learner, Method
from semisift.registry.filters import FILTERS
from semisift.registry.learners import CLASSIFIERS
from semisift.registry.wrappers import WRAPPERS

__all__ = ["LEARNERS", "METHODS", "Entry", "Learner", "Method"]

METHODS: dict[str, Method] = {
    method.name: method for method in [*CONSENSUS, *ENSEMBLES, *FILTERS, *WRAPPERS, *EMBEDDED]
}

LEARNERS: dict[str, Learner] = {learner.name: learner for learner in CLASSIFIERS}
