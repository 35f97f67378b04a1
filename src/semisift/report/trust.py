"""Whether a ranking can be trusted, in words for readers who have never tested a hypothesis."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from semisift._base import FeatureRanker
from semisift._cutoff.assessment import Assessment
from semisift._cutoff.labellings import SIGNIFICANT
from semisift._words import count
from semisift.math.stability import Stability
from semisift.report.marks import MARKS, Mark
from semisift.report.ranking import Ranking

# From these stabilities on, the best features are partly, and much, the same (Nogueira 2018).
PARTLY, MUCH = 0.4, 0.75

NO_PROOF = "this does not show that they are useless"

# By what was decided; the stability rule has clauses of its own.
CLAUSES = {
    "labels": {
        "confirmed": "score higher than the best feature does in almost all rankings from shuffled "
        "labels",
        "tentative": "score higher than it in more than half of them, which luck can do as well",
        "rejected": f"score no higher than shuffled labels reach; {NO_PROOF}",
    },
    "shadow": {
        "confirmed": "score higher, almost every time, than the best of copies of all features "
        "with their values shuffled and, where labels are used, than the best feature with "
        "shuffled labels",
        "tentative": "score higher than it more often than not, which luck can do as well",
        "rejected": f"score no higher than shuffled copies; {NO_PROOF}",
    },
    "knockoff": {
        "confirmed": "score clearly higher than their knockoff, a made-up twin that knows nothing "
        "of the labels",
        "tentative": "score higher than it, but not clearly",
        "rejected": f"score no higher than their twin; {NO_PROOF}",
    },
}


@dataclass(frozen=True)
class Decided:
    """How many features were decided on in one way, and what that means."""

    decision: str
    n: int
    clause: str
    mark: Mark


@dataclass(frozen=True)
class Trust:
    """What the page says on how sure the ranking is.

    Attributes
    ----------
    test : str
        What the test with shuffled labels found; empty where there was none.
    passed : bool
        Whether the labels tell something.
    decided : list of Decided
    nothing : str
        Said where no feature is confirmed.
    error : str
        Which error of the decisions is bounded.
    stability : str
        How alike the best features of different rows are.
    notes : list of str
        What the figures assume.
    """

    test: str
    passed: bool
    decided: list[Decided]
    nothing: str
    error: str
    stability: str
    notes: list[str]


def judge(ranker: FeatureRanker, ranking: Ranking) -> Trust | None:
    """Say how sure a ranking is; None where the ranker has no rule and was not assessed."""
    found: Assessment | None = getattr(ranker, "assessment_", None)
    decided = count_decisions(ranker, ranking)
    test = "" if found is None else say_test(found)
    stable = "" if found is None else say_stability(found)
    if not (decided or test or stable):
        return None
    return Trust(
        test=test,
        passed=found is not None and passes(found),
        decided=decided,
        nothing=_say_nothing(decided),
        error=_say_error(ranker) if decided else "",
        stability=stable,
        notes=[] if found is None else _say_assumptions(found),
    )


def say_test(found: Assessment) -> str:
    """Say what the test with shuffled labels found; nothing where there was none."""
    p, n = found.p_value, found.n_permutations
    if math.isnan(p):
        return ""
    n_as_high = round(p * (n + 1)) - 1
    if passes(found):
        as_high = f"only {n_as_high:,}" if n_as_high else "none"
        return (
            f"The labels tell something: of {n:,} rankings from shuffled labels {as_high} had best "
            f"features scoring as high as these (p = {p:.2g})."
        )
    if not n_as_high:
        return (
            f"Too few shuffled labels to tell: none of {count(n, 'ranking')} from them scores as "
            f"high as this one, but so few cannot show more than p = {p:.2g}. At least 19 are "
            "needed."
        )
    return (
        f"Rankings from shuffled labels score as high as this one (p = {p:.2g}): with these labels "
        "the table cannot say which features matter. Label more rows before you build on it."
    )


def passes(found: Assessment) -> bool:
    """Return whether the ranking is told from those of shuffled labels."""
    return found.p_value <= SIGNIFICANT + 1e-12


def count_decisions(ranker: FeatureRanker, ranking: Ranking) -> list[Decided]:
    """Count the features by what was decided on them; nothing where nothing was."""
    if ranking.decisions is None:
        return []
    clauses = _clauses(getattr(ranker, "cutoff_", None))
    lines = []
    for decision, mark in MARKS.items():
        own = ranking.decisions == decision
        clause = clauses[decision]
        if decision == "confirmed" and (n_copies := int((own & ranking.is_copy).sum())):
            are = "is a near-copy" if n_copies == 1 else "are near-copies"
            clause += f" ({n_copies:,} of them {are} of better ones)"
        lines.append(Decided(decision, int(np.sum(own)), clause, mark))
    return lines


def _clauses(cutoff: Any) -> dict[str, str]:
    """Return what the decisions of a rule mean, or those of an assessment if there is no rule."""
    if cutoff is None:
        return CLAUSES["labels"]
    if cutoff.rule in CLAUSES:
        return CLAUSES[cutoff.rule]
    best = f"among the best {cutoff.n_best:,}" if cutoff.n_best > 1 else "the best feature"
    return {
        "confirmed": f"{best} on at least {cutoff.threshold:.0%} of the halves of the rows",
        "tentative": f"{best} on at least half of them",
        "rejected": f"{best} on fewer; {NO_PROOF}",
    }


def _say_nothing(decided: list[Decided]) -> str:
    if not decided or any(line.decision == "confirmed" and line.n for line in decided):
        return ""
    return "No feature is confirmed: take the list as something to look at, not as a finding."


def _say_error(ranker: FeatureRanker) -> str:
    """Say which error is bounded; the page calls columns features."""
    cutoff = getattr(ranker, "cutoff_", None)
    if cutoff is None:
        return f"What the test with shuffled labels bounds: {ranker.assessment_.error}."
    error = cutoff.error.replace("column", "feature")
    return f"What the {cutoff.rule} rule bounds: {error}."


def say_stability(found: Assessment) -> str:
    """Say how alike the best features on different halves of the rows are."""
    stable: Stability | None = found.stability
    if stable is None or math.isnan(stable.value):
        return ""
    alike = "mostly others"
    if stable.value >= PARTLY:
        alike = "much the same" if stable.value >= MUCH else "partly the same"
    best, their = f"best {found.n_best:,} features are", "their"
    if found.n_best == 1:
        best, their = "best feature is", "its"
        alike = alike.replace("others", "another one")
    return (
        f"From one half of the rows to another the {best} {alike}: {their} stability is "
        f"{stable.value:.2f} (95% interval {stable.low:.2f} to {stable.high:.2f}), where 1 is "
        "always the same and 0 as alike as random picks."
    )


def _say_assumptions(found: Assessment) -> list[str]:
    notes = []
    if not math.isnan(found.p_value) and not found.exchanged:
        notes.append(
            "The labelled rows are too few to exchange labels among them, so the shuffled labels "
            "went to rows drawn from all rows. This assumes that the labelled rows are a random "
            "sample of all rows."
        )
    if found.light:
        notes.append(
            "To save time, the repetitions used smaller committees than the ranking itself."
        )
    return notes
