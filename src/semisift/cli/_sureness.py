"""How sure a ranking is, in words and as facts."""

from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from semisift._words import count

if TYPE_CHECKING:
    from semisift._base import FeatureRanker
    from semisift._cutoff.assessment import Assessment
    from semisift.report import Ranking

CUT_SHORT = "The assessment was interrupted and is left out; the ranking is complete."


def told_of_labels(assessment: "Assessment | None") -> str | None:
    """Say whether the labels tell anything; None where that was not tested."""
    from semisift.report.trust import passes, say_test

    if assessment is None or isnan(assessment.p_value):
        return None
    text = say_test(assessment)
    if not passes(assessment):
        text = f"Careful: {text[0].lower()}{text[1:]}"
    if not assessment.exchanged:
        text += " (This takes the labelled rows for a random sample of all rows.)"
    return text


def told_of_decisions(ranker: "FeatureRanker", ranking: "Ranking", n_shown: int) -> str | None:
    """Say how many features are confirmed; None where nothing decided on them."""
    if ranking.decisions is None:
        return None
    counts = count_decisions(ranking)
    n_features = count(len(ranking), "feature")
    if not counts["confirmed"]:
        listed = "the best one is" if n_shown == 1 else f"the best {n_shown} are"
        return (
            f"None of the {n_features} can be told from chance by itself: {listed} listed to look "
            "at, not as findings."
        )
    text = f"Confirmed: {counts['confirmed']:,} of {n_features}"
    if counts["tentative"]:
        text += f"; tentative: {counts['tentative']:,}"
    if counts["near_copies"]:
        text += "; near-copies are not counted"
    cutoff = getattr(ranker, "cutoff_", None)
    if cutoff is None:
        return f"{text}. By shuffled labels, {ranker.assessment_.error}."
    return f"{text}. By the rule {cutoff.rule}, {cutoff.error}."


def told_of_stability(assessment: "Assessment | None") -> str | None:
    """Say how alike the best features of halves of the rows are; None where that is not known."""
    from semisift.report.trust import say_stability

    return None if assessment is None else say_stability(assessment) or None


def count_decisions(ranking: "Ranking") -> dict[str, int]:
    """Count the decisions on features that are no near-copies, and the near-copies."""
    own = np.asarray(ranking.decisions)[~ranking.is_copy]
    counts = {word: int((own == word).sum()) for word in ("confirmed", "tentative", "rejected")}
    return {**counts, "near_copies": int(ranking.is_copy.sum())}


def sureness_facts(ranker: "FeatureRanker", ranking: "Ranking") -> dict[str, Any]:
    """Return what is known of how sure a ranking is, to stand beside where it comes from."""
    facts: dict[str, Any] = {}
    if ranking.parts is not None:
        facts["parts"] = dict(zip(ranking.parts, ranker.weights_.tolist(), strict=True))
    cutoff = getattr(ranker, "cutoff_", None)
    if cutoff is not None:
        facts["rule"] = {"name": cutoff.rule, "error": cutoff.error}
        if hasattr(cutoff, "repetitions"):
            facts["rule"]["repetitions"] = cutoff.repetitions
    assessment = getattr(ranker, "assessment_", None)
    if assessment is not None:
        facts["assessment"] = _assessment_facts(assessment)
    if ranking.decisions is not None:
        facts["rule" if cutoff is not None else "assessment"]["decisions"] = count_decisions(
            ranking
        )
    return facts


def _assessment_facts(assessment: "Assessment") -> dict[str, Any]:
    stability = assessment.stability
    return {
        "p_value": assessment.p_value,
        "n_permutations": assessment.n_permutations,
        "exchanged": assessment.exchanged,
        "n_resamples": assessment.n_resamples,
        "n_best": assessment.n_best,
        "stability": None
        if stability is None
        else {"value": stability.value, "low": stability.low, "high": stability.high},
        "light": assessment.light,
    }
