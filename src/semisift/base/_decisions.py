"""What can be decided on a feature, what readers call it, and which features that leaves.

`decisions_`, assessments and files hold the keys of `WORDS`.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from semisift.base._ranker import FeatureRanker

WORDS = {
    "significant": "significant",
    "suggestive": "suggestive",
    "not significant": "not significant",
}

# In the lines of a table, where the heading has the room for words.
HEADING = "significant"
CELLS = {**WORDS, "not significant": "no"}


def correlated_features(ranker: "FeatureRanker") -> NDArray[np.bool_]:
    """Return which columns of a fitted ranker are features correlated with better ones."""
    columns = np.arange(ranker.n_features_in_)
    return np.asarray(getattr(ranker, "representative_", columns) != columns)


def decide(significant: NDArray[np.bool_], suggestive: NDArray[np.bool_]) -> NDArray[np.str_]:
    """Return the decision on each feature; what is significant need not be suggestive as well."""
    return np.select([significant, suggestive], ["significant", "suggestive"], "not significant")


def find_significant(decisions: NDArray[np.str_], is_copy: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which features a decision selects: the significant ones that represent themselves."""
    return np.asarray((decisions == "significant") & ~is_copy)


def count_decisions(decisions: NDArray[np.str_], is_copy: NDArray[np.bool_]) -> dict[str, int]:
    """Count the decisions on features that represent themselves.

    Examples
    --------
    >>> decisions = np.array(["significant", "not significant", "significant"])
    >>> count_decisions(decisions, np.array([False, False, True]))
    {'significant': 1, 'suggestive': 0, 'not significant': 1}
    """
    return {each: int(np.sum((decisions == each) & ~is_copy)) for each in WORDS}
