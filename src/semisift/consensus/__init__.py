"""Rankers that stand on several others."""

from typing import TYPE_CHECKING

from semisift._lazy import lazy_names

if TYPE_CHECKING:
    from semisift.consensus.consensus import Consensus

__all__ = ["Consensus"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {"Consensus": "consensus"},
)
