"""Classifiers that label rows for themselves or for one another."""

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

__all__ = [
    "RASCO",
    "CoBC",
    "CoForest",
    "CoTraining",
    "ProbMRMR",
    "RelRASCO",
    "SelfTraining",
    "SemiSupervisedForest",
    "TriTraining",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "CoBC": "co_bc",
        "CoForest": "co_forest",
        "CoTraining": "co_training",
        "ProbMRMR": "rasco",
        "RASCO": "rasco",
        "RelRASCO": "rasco",
        "SelfTraining": "self_training",
        "SemiSupervisedForest": "ss_forest",
        "TriTraining": "tri_training",
    },
)
