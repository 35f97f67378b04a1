"""What came out of a fit: the ranking, correlated features, the selection and how sure all is.

`_result` holds it in one object, `_summary` writes its sentences. Three rules decide how many
features to select: permuted copies (`_shadow`), resampling (`_stability`) and modelled copies
(`_knockoff`); `_assessment` tells how much a ranking depends on the rows and on the labels.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semisift.selection._result import RankingResult, ranking_result
    from semisift.selection._result import RankingResult as Outcome
    from semisift.selection._result import ranking_result as outcome_of

__all__ = ["Outcome", "RankingResult", "outcome_of", "ranking_result"]

# The earlier names, until all rooms have the new ones.
_EARLIER = {"Outcome": "RankingResult", "outcome_of": "ranking_result"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # When first used: a fit needs none of it.
    module = importlib.import_module("semisift.selection._result")
    return getattr(module, _EARLIER.get(name, name))
