"""METHODS and LEARNERS: rankers and classifiers by their short names, without importing any."""

from semisift.registry.entries import Entry, Learner, Method, read_entries

__all__ = ["LEARNERS", "METHODS", "Entry", "Learner", "Method"]

METHODS: dict[str, Method] = read_entries(Method, "methods.toml")
LEARNERS: dict[str, Learner] = read_entries(Learner, "learners.toml")
