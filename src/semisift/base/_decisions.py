"""What can be decided on a feature, what readers call it, and which features that leaves.

`decisions_`, assessments and files hold the keys of `WORDS`.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from semisift.base._ranker import FeatureRanker

WORDS = {
    "confirmed": "confirmed",
    "tentative": "tentative",
    "unconfirmed": "not told from chance",
}

# In the lines of a table, where the heading has the room for words.
HEADING = "told from chance"
CELLS = {**WORDS, "unconfirmed": "no"}


def near_copies(ranker: "FeatureRanker") -> NDArray[np.bool_]:
    """Return which columns of a fitted ranker are near-copies of better ones."""
    columns = np.arange(ranker.n_features_in_)
    return np.asarray(getattr(ranker, "representative_", columns) != columns)


def decide(confirmed: NDArray[np.bool_], tentative: NDArray[np.bool_]) -> NDArray[np.str_]:
    """Return the decision on each feature; what is confirmed need not be tentative as well."""
    return np.select([confirmed, tentative], ["confirmed", "tentative"], "unconfirmed")


def find_confirmed(decisions: NDArray[np.str_], is_copy: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which features a decision selects: the confirmed ones that are no near-copies."""
    return np.asarray((decisions == "confirmed") & ~is_copy)


def count_decisions(decisions: NDArray[np.str_], is_copy: NDArray[np.bool_]) -> dict[str, int]:
    """Count the decisions on features that are no near-copies.

    Examples
    --------
    >>> decisions = np.array(["confirmed", "unconfirmed", "confirmed"])
    >>> count_decisions(decisions, np.array([False, False, True]))
    {'confirmed': 1, 'tentative': 0, 'unconfirmed': 1}
    """
    return {each: int(np.sum((decisions == each) & ~is_copy)) for each in WORDS}
