"""Classifiers for partly labelled data, and one that other methods are built on."""

from semisift.learners.labelled_only import LabelledOnly
from semisift.learners.mixed_nb import MixedNB
from semisift.learners.nnge import NNge

__all__ = ["LabelledOnly", "MixedNB", "NNge"]
