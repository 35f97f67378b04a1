"""What came out of a fit: ranking, near-copies, selection, decisions, assessment, and their words.

`ranking` holds it in one object, `words` says it. Three rules decide how many features to select:
shuffled copies (`shadow`), resampling (`stability`) and modelled copies (`knockoff`); `assessment`
tells how much a ranking depends on the rows and on the labels.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semisift.selection._result import Outcome, outcome_of

__all__ = ["Outcome", "outcome_of"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # When first used: a fit needs none of it.
    return getattr(importlib.import_module("semisift.selection._result"), name)
