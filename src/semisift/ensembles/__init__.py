"""Rankers that ask a committee of many small learners."""

import importlib
from typing import TYPE_CHECKING, Any

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

_HOMES = {
    "BaggingConstraintScore": "semisift.ensembles.bagging_constraint",
    "EnsCLS": "semisift.ensembles.enscls",
    "PCTForestImportance": "semisift.ensembles.pct_forest",
    "SEFR": "semisift.ensembles.sefr",
    "SSFI": "semisift.ensembles.ssfi",
    "ForestImportance": "semisift.ensembles.forest",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
