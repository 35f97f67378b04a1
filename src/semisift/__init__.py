"""Semi-supervised feature selection in the manner of scikit-learn.

Names are imported when they are first used, so that ``import semisift`` loads neither numpy nor
scikit-learn.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semisift._base import FeatureRanker
    from semisift.ensembles.forest import ForestImportance
    from semisift.ensembles.sefr import SEFR
    from semisift.ensembles.ssfi import SSFI
    from semisift.exceptions import KernelsMissingWarning, NothingUnlabelledWarning, TableError
    from semisift.learners.labelled_only import LabelledOnly
    from semisift.registry import METHODS
    from semisift.tables import read_table

    __version__: str

__all__ = [
    "METHODS",
    "SEFR",
    "SSFI",
    "FeatureRanker",
    "ForestImportance",
    "KernelsMissingWarning",
    "LabelledOnly",
    "NothingUnlabelledWarning",
    "TableError",
    "__version__",
    "read_table",
]

_HOMES = {
    "METHODS": "semisift.registry",
    "SEFR": "semisift.ensembles.sefr",
    "SSFI": "semisift.ensembles.ssfi",
    "FeatureRanker": "semisift._base",
    "ForestImportance": "semisift.ensembles.forest",
    "KernelsMissingWarning": "semisift.exceptions",
    "LabelledOnly": "semisift.learners.labelled_only",
    "NothingUnlabelledWarning": "semisift.exceptions",
    "TableError": "semisift.exceptions",
    "read_table": "semisift.tables",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = _version()
    elif name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("semisift")
    except PackageNotFoundError:  # a source tree that is not installed
        return "0+unknown"
