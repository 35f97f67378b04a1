"""Rankers that ask a committee of many small learners."""

from typing import TYPE_CHECKING

from semisift._lazy import lazy_names

if TYPE_CHECKING:
    from semisift.ensembles.bagging_constraint import BaggingConstraintScore
    from semisift.ensembles.enscls import EnsCLS
    from semisift.ensembles.forest import ForestImportance
    from semisift.ensembles.pct_forest import PCTForestImportance
    from semisift.ensembles.sefr import SEFR
    from semisift.ensembles.ssfi import SSFI

__all__ = [
    "SEFR",
    "SSFI",
    "BaggingConstraintScore",
    "EnsCLS",
    "ForestImportance",
    "PCTForestImportance",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "BaggingConstraintScore": "bagging_constraint",
        "EnsCLS": "enscls",
        "ForestImportance": "forest",
        "PCTForestImportance": "pct_forest",
        "SEFR": "sefr",
        "SSFI": "ssfi",
    },
)
