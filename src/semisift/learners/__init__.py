"""Classifiers for partly labelled data, and some that other methods are built on."""

from typing import TYPE_CHECKING

from semisift._lazy import lazy_names

if TYPE_CHECKING:
    from semisift.learners.cotraining.co_bc import CoBC
    from semisift.learners.cotraining.co_forest import CoForest
    from semisift.learners.cotraining.co_training import CoTraining
    from semisift.learners.cotraining.rasco import RASCO, ProbMRMR, RelRASCO
    from semisift.learners.cotraining.self_training import SelfTraining
    from semisift.learners.cotraining.ss_forest import SemiSupervisedForest
    from semisift.learners.cotraining.tri_training import TriTraining
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

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "CoBC": "cotraining.co_bc",
        "CoForest": "cotraining.co_forest",
        "CoTraining": "cotraining.co_training",
        "LabelledOnly": "labelled_only",
        "MixedNB": "mixed_nb",
        "NNge": "nnge",
        "ProbMRMR": "cotraining.rasco",
        "RASCO": "cotraining.rasco",
        "RelRASCO": "cotraining.rasco",
        "SelfTraining": "cotraining.self_training",
        "SemiSupervisedForest": "cotraining.ss_forest",
        "TriTraining": "cotraining.tri_training",
    },
)
