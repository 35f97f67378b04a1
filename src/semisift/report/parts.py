"""What a consensus stands on: its rankers with their weights and sources, and the kind of data."""

from dataclasses import dataclass

from semisift._base import FeatureRanker
from semisift._words import visible
from semisift.registry import Method
from semisift.report.about import find_method


@dataclass(frozen=True)
class Part:
    """A ranker of a consensus: its name there, its class, how much it counts, and its entry."""

    name: str
    cls: str
    weight: str
    method: Method | None


def parts_of(ranker: FeatureRanker) -> list[Part]:
    """List the rankers that a fitted consensus asked; nothing for other rankers."""
    if not hasattr(ranker, "part_rankings_"):
        return []
    pairs = zip(ranker.rankers_, ranker.weights_, strict=True)
    return [
        Part(visible(name), type(part).__name__, f"{weight:.3g}", find_method(part))
        for (name, part), weight in pairs
    ]


def say_kind(ranker: FeatureRanker) -> str:
    """Say what a consensus took the data for, and what followed; nothing for other rankers."""
    kind = getattr(ranker, "data_kind_", None)
    if kind is None:
        return ""
    own_rankers = ranker.get_params(deep=False).get("rankers") is None
    if kind == "counts":
        why = "no value is negative and at least half of them are zero"
        what = "The values were left as they are. " if own_rankers else ""
    else:
        why = "some are negative, or most are not zero"
        what = "They were scaled to [0, 1] where distances are computed. " if own_rankers else ""
    copies = "Near-copies of better features were put last."
    if not hasattr(ranker, "represented_by_"):
        copies = "Near-copies stay where they rank."
    return f"The values were taken for {kind}, as {why}. {what}{copies}"
