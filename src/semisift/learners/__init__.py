"""Classifiers for partly labelled data."""

from semisift.learners.labelled_only import LabelledOnly

__all__ = ["LabelledOnly"]
