"""Classifiers for partly labelled data, and some that other methods are built on."""

from semisift.learners.cotraining import (
    RASCO,
    CoBC,
    CoForest,
    CoTraining,
    ProbMRMR,
    RelRASCO,
    SelfTraining,
    SemiSupervisedForest,
    TriTraining,
)
from semisift.learners.labelled_only import LabelledOnly
from semisift.learners.mixed_nb import MixedNB
from semisift.learners.nnge import NNge

__all__ = [
    "RASCO",
    "CoBC",
    "CoForest",
    "CoTraining",
    "LabelledOnly",
    "MixedNB",
    "NNge",
    "ProbMRMR",
    "RelRASCO",
    "SelfTraining",
    "SemiSupervisedForest",
    "TriTraining",
]
