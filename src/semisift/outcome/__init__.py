"""What came out of a fit: ranking, near-copies, selection, decisions, assessment, and their words.

`ranking` holds it in one object, `words` says it. Three rules decide how many features to select:
shuffled copies (`shadow`), resampling (`stability`) and modelled copies (`knockoff`); `assessment`
tells how much a ranking depends on the rows and on the labels.
"""

from typing import TYPE_CHECKING

from semisift._lazy import lazy_names

if TYPE_CHECKING:
    from semisift.outcome.ranking import Outcome, outcome_of

__all__ = ["Outcome", "outcome_of"]

# When first used: a fit needs none of it.
__getattr__, __dir__ = lazy_names(__name__, dict.fromkeys(__all__, "ranking"))
