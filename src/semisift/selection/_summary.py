"""How sure an outcome is, in words for readers who have never tested a hypothesis."""

import math
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from semisift.base._decisions import WORDS, find_confirmed
from semisift.selection._refit import ALPHA, ERROR, SIGNIFICANT
from semisift.utils._text import plural

if TYPE_CHECKING:
    from semisift.selection._assessment import Assessment
    from semisift.selection._permutation import PermutationPlan
    from semisift.selection._result import Outcome

# From these stabilities on, the best features are partly, and much, the same (Nogueira 2018).
PARTLY, MUCH = 0.4, 0.75

# By so much more the stability of families must be to be told.
NOTABLE = 0.05

# What stands for labels that tell nothing.
AGAINST = {"labels": "shuffled labels", "twins": "twins"}

# What the decisions mean, by the rule or by what was compared with the above.
_FILE = Path(__file__).with_name("summary.toml")
MEANINGS: dict[str, dict[str, str]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Counted:
    """How many features were decided on in one way, what readers call that, and what it means."""

    decision: str
    n: int
    word: str
    clause: str


@dataclass(frozen=True)
class Trust:
    """What is said on how sure a ranking is.

    Attributes
    ----------
    summary : str
        What can be said, in a sentence that stands first: how many features are confirmed; empty
        where nothing was decided.
    test : str
        What the test of the labels found; empty where there was none.
    passed : bool
        Whether the labels tell something.
    counted : list of Counted
        The same, a line for each decision and one for near-copies.
    error : str
        Which error of the decisions is bounded.
    stability : str
        How alike the best features of different rows are.
    notes : list of str
        What the figures assume.
    """

    summary: str
    test: str
    passed: bool
    counted: list[Counted]
    error: str
    stability: str
    notes: list[str]


def judge(outcome: "Outcome") -> Trust | None:
    """Say how sure an outcome is; None where the ranker has no rule and was not assessed."""
    found, decided = outcome.assessment, bool(outcome.counts)
    test = "" if found is None else " ".join(filter(None, [say_test(found), _reconcile(outcome)]))
    stable = "" if found is None else say_stability(found)
    if not (decided or test or stable):
        return None
    summary = _say_decisions(outcome) if decided else ""
    if found is not None and (caution := say_one_class(found)):
        summary = f"{summary} {caution}".strip()
    return Trust(
        summary=summary,
        test=test,
        passed=found is not None and found.passed,
        counted=_count(outcome) if decided else [],
        error=_say_error(outcome) if decided else "",
        stability=stable,
        notes=_say_assumptions(outcome),
    )


def say_test(found: "Assessment") -> str:
    """Say what the test of the labels found; nothing where there was none."""
    p, n = found.p_value, found.n_permutations
    if math.isnan(p):
        return ""
    if not found.passed and found.least_p_value > SIGNIFICANT:
        why = say_too_few(found.exchange, found.least_p_value)  # type: ignore[arg-type]
        return f"{why} {_advise(found)}"
    if found.against == "twins":
        return _say_twins(found, n)
    n_as_high = round(p * (n + 1)) - 1
    if found.passed:
        as_high = f"only {n_as_high:,}" if n_as_high else "none"
        return (
            f"The labels tell something: of {n:,} rankings from shuffled labels {as_high} had best "
            f"features scoring as high as these (p = {p:.2g})."
        )
    if not n_as_high:
        return (
            f"Too few shuffled labels to tell: none of {plural(n, 'ranking')} from them scores as "
            f"high as this one, but so few cannot show more than p = {p:.2g}. At least 19 are "
            "needed."
        )
    return (
        f"Rankings from shuffled labels score as high as this one (p = {p:.2g}): with these labels "
        f"the table cannot say which features matter. {_advise(found)}"
    )


def _advise(found: "Assessment") -> str:
    has_groups = found.exchange is not None and found.exchange.has_groups
    return f"Label {'rows of more groups' if has_groups else 'more rows'} before you build on it."


def say_too_few(exchange: "PermutationPlan", least: float) -> str:
    """Say that labels can be exchanged in too few ways to confirm anything."""
    unit = "group" if exchange.has_groups else "labelled row"
    ways = plural(round(math.exp(exchange.log_ways)), "way")
    return (
        f"Too few {unit}s to tell: the labels of {plural(exchange.n_units, unit)} can be exchanged "
        f"in no more than {ways}, so that no p-value is below {least:.2g}, whatever the features "
        "are."
    )


def say_exchange(found: "Assessment") -> str:
    """Say between which groups and batches labels were exchanged; nothing if none were given."""
    exchange = found.exchange
    if exchange is None or math.isnan(found.p_value):
        return ""
    if exchange.differences:
        return _say_apart(exchange)
    if not exchange.is_known:
        return ""
    what = "Labels" if found.against == "labels" else "Rows of the twins"
    if exchange.how == "all":
        if not exchange.has_groups:
            return ""
        return (
            f"{what} were exchanged between all groups, labelled or not. This assumes that the "
            f"{plural(exchange.n_units, 'group')} with labelled rows are a random sample of all "
            "groups, and the labelled rows one of theirs."
        )
    if not exchange.has_groups:
        within = "within batches"
        if exchange.how != "batches":
            within = "whatever the batches, as there are too few ways within them"
        return f"{what} were exchanged {within}."
    where = []
    if exchange.n_between:
        where.append(f"between {plural(exchange.n_between, 'group')}")
    if exchange.n_within:
        classes = "of several classes" if exchange.n_between else ""
        where.append(
            " ".join(filter(None, [f"within {plural(exchange.n_within, 'group')}", classes]))
        )
    batches = ", and of the same batches" if exchange.how == "batches" else ""
    return f"{what} were exchanged {' and '.join(where)}{batches}."


def _say_apart(exchange: "PermutationPlan") -> str:
    """Say in what the labelled rows differ from the others, and what follows from it."""
    among = "within groups and between groups of labelled samples"
    return (
        "The labelled samples are no random sample of all samples: they differ from the unlabelled "
        f"ones in the {' and the '.join(exchange.differences)}. Labels were therefore permuted "
        f"{among if exchange.has_groups else 'among the labelled samples'} only."
    )


def say_one_class(found: "Assessment") -> str:
    """Say what a result from labels of one class rests on; nothing where there are several."""
    exchange = found.exchange
    if exchange is None or not exchange.is_one_class or math.isnan(found.p_value):
        return ""
    others = "the other samples of their batch" if exchange.has_batches else "the other samples"
    return (
        "One class is labelled, and the table cannot tell it from a batch: the result holds only "
        f"if the labelled samples were not chosen or measured apart from {others}."
    )


def _say_twins(found: "Assessment", n: int) -> str:
    p = found.p_value
    n_as_high = round(p * (n + 1) / 2) - 1  # the better of two scores counts, at half the level
    if found.passed:
        as_high = f"in only {n_as_high:,} of them" if n_as_high else "in none of them"
        return (
            "The labels go with the data: twins of the features, the same columns with their rows "
            f"exchanged, were tried {n:,} times, and {as_high} did one score as high as the best "
            f"feature (p = {p:.2g})."
        )
    if n_as_high <= 0:
        return (
            f"Too few twins to tell: in {plural(n, 'trial')} none scores as high as the best "
            f"feature, but so few cannot show more than p = {p:.2g}. At least 39 are needed."
        )
    return (
        "Twins of the features, the same columns with their rows exchanged, score as high as the "
        f"features themselves (p = {p:.2g}): with these labels the table cannot say which features "
        f"matter. {_advise(found)}"
    )


def say_stability(found: "Assessment") -> str:
    """Say how alike the best features on different halves of the rows are."""
    stable = found.stability
    if stable is None or math.isnan(stable.value):
        return ""
    alike = "mostly others"
    if stable.value >= PARTLY:
        alike = "much the same" if stable.value >= MUCH else "partly the same"
    n_best = found.n_best - found.n_kept
    besides = " besides those that are kept" if found.n_kept else ""
    best, their = f"best {n_best:,} features{besides} are", "their"
    if n_best == 1:
        best, their = f"best feature{besides} is", "its"
        alike = alike.replace("others", "another one")
    text = (
        f"From one half of the rows to another the {best} {alike}: {their} stability is "
        f"{stable.value:.2f} (95% interval {stable.low:.2f} to {stable.high:.2f}), where 1 is "
        "always the same and 0 as alike as random picks."
    )
    family = found.family_stability
    if family is not None and family.value >= stable.value + NOTABLE:
        text += (
            " Near-copies take each other's place: counted as one feature, their stability is "
            f"{family.value:.2f}."
        )
    return text


def say_selection(outcome: "Outcome") -> str:
    """Say how the number of selected features came about."""
    cutoff = outcome.cutoff
    by = AGAINST[_against(outcome)] if cutoff is None else f"the {cutoff.rule} rule"
    n_kept = 0 if outcome.kept is None else int(outcome.kept.sum())
    besides = f", and {n_kept:,} that {'was' if n_kept == 1 else 'were'} to stay" if n_kept else ""
    return {
        "number": "the best by rank",
        "half": "half of all, as no number was asked for",
        "decisions": f"as many as {by} confirmed{besides}",
        "changed": "none, as n_features_to_select was changed after the fit",
    }[outcome.selected_by]


def say_known(outcome: "Outcome") -> list[str]:
    """Say what was known of features beforehand, and what that does to the ranking."""
    said = []
    left_out = np.zeros(len(outcome), dtype=bool) if outcome.excluded is None else outcome.excluded
    if outcome.kept is not None:
        said.append(
            f"{_features(outcome.kept)} kept: first in the ranking and selected, whatever "
            "the score."
        )
    if outcome.excluded is not None:
        said.append(
            f"{_features(outcome.excluded)} left out: nothing was learnt from "
            f"{'it' if outcome.excluded.sum() == 1 else 'them'}."
        )
    if outcome.n_columns is not None:
        n_groups = int((outcome.n_columns > 1).sum())
        said.append(
            f"{plural(n_groups, 'feature')} {'is a group' if n_groups == 1 else 'are groups'} of "
            "columns, ranked by the best of them. Large groups have more chances of a good column; "
            "p-values account for that, ranks do not."
        )
    if outcome.prior is not None:
        said.append(
            f"{_features((outcome.prior != 1) & ~left_out)} expected to matter more or less than "
            "others, which moves places and leaves scores and decisions as they are."
        )
    return said


def _features(which: NDArray[np.bool_]) -> str:
    n = int(which.sum())
    return f"{plural(n, 'feature')} {'was' if n == 1 else 'were'}"


def say_marks(outcome: "Outcome", place: int) -> list[str]:
    """Say in a few words what was known of one feature beforehand."""
    marks = []
    if outcome.kept is not None and outcome.kept[place]:
        marks.append("kept")
    if outcome.excluded is not None and outcome.excluded[place]:
        marks.append("left out")
    if outcome.n_columns is not None and outcome.n_columns[place] > 1:
        marks.append(f"{outcome.n_columns[place]:,} columns")
    if outcome.prior is not None and outcome.prior[place] != 1:
        marks.append(f"weight {outcome.prior[place]:g}")
    return marks


def say_copies(outcome: "Outcome") -> str:
    """Say what was done about near-copies; nothing where nothing was."""
    threshold = getattr(outcome.ranker, "redundancy_threshold_", None)
    if outcome.representative is None or threshold is None:
        return ""
    n_copies = int(outcome.is_copy.sum())
    only_kept = getattr(outcome.ranker, "_copies_of_kept_only", False)
    if not n_copies:
        other = "kept one" if only_kept else "better one"
        return f"No feature correlates with a {other} by more than {threshold:g}."
    rank = "near-copy ranks" if n_copies == 1 else "near-copies rank"
    other = "kept feature" if only_kept else "better feature"
    return (
        f"{n_copies:,} {rank} behind the others: correlated with a {other} by more than "
        f"{threshold:g}, in absolute value and over all rows."
    )


def _say_decisions(outcome: "Outcome") -> str:
    counts, n_features = outcome.counts, plural(len(outcome), "feature")
    found = outcome.assessment
    if not counts["confirmed"]:
        tell = "The labels tell something, but " if found is not None and found.passed else ""
        by_itself = " by itself" if tell else ""
        none = f"none of the {n_features} can be told from chance{by_itself}"
        n_labels = 0 if found is None else found.n_labelled
        having = f"with {'this' if n_labels == 1 else 'these'} {plural(n_labels, 'label')} "
        if n_labels and found is not None and found.exchange and found.exchange.has_groups:
            having += f"of {plural(found.exchange.n_units, 'group')} "
        text = f"{tell}{having if n_labels else ''}{none}: the list below is where to look first."
        return text[0].upper() + text[1:]
    text = f"Confirmed: {counts['confirmed']:,} of {n_features}"
    if counts["tentative"]:
        text += f"; tentative: {counts['tentative']:,}"
    if counts["near_copies"]:
        text += "; near-copies are not counted"
    return f"{text}."


def _reconcile(outcome: "Outcome") -> str:
    """Say why the test of the whole ranking and the decisions on features seem to disagree."""
    found, cutoff, counts = outcome.assessment, outcome.cutoff, outcome.counts
    if found is None or math.isnan(found.p_value) or not counts:
        return ""
    if found.passed and not counts["confirmed"]:
        about = "the best features taken together"
        asked = f"do better than the best of all {len(outcome):,} in almost all of these rankings"
        if found.against == "twins":
            about = "the best feature of each time, whichever it was"
            asked = f"do better than the best of all {len(outcome):,} twins almost every time"
        if cutoff is not None:
            asked = f"pass the {cutoff.rule} rule"
        return f"This is about {about}; to be confirmed, a feature must by itself {asked}."
    if not found.passed and counts["confirmed"] and cutoff is not None:
        why = "which bounds another error"
        if cutoff.error == ERROR:
            why = "with other draws or larger committees"
        return f"What is confirmed passed the {cutoff.rule} rule, {why}."
    return ""


def _count(outcome: "Outcome") -> list[Counted]:
    counts, clauses = outcome.counts, _clauses(outcome)
    lines = [
        Counted(decision, counts[decision], word, clause)
        for (decision, word), clause in zip(WORDS.items(), clauses, strict=True)
    ]
    n_copies = counts["near_copies"]
    if n_copies:
        clause = "correlate with a better feature, which stands for them, and are not counted above"
        n_as_good = int(sum(outcome.decisions[outcome.is_copy] == "confirmed"))  # type: ignore[index]
        clause += f"; {n_as_good:,} of them passed the same test" if n_as_good else ""
        lines.append(Counted("near_copies", n_copies, "near-copies", clause))
    return lines


def _clauses(outcome: "Outcome") -> list[str]:
    """Return what the decisions mean, from "confirmed" to "unconfirmed"."""
    cutoff, by_labels = outcome.cutoff, MEANINGS[_compared(outcome)]
    meanings = by_labels if cutoff is None else MEANINGS[cutoff.rule]
    clauses = [meanings[decision] for decision in WORDS]
    if cutoff is not None and cutoff.error == ERROR:
        clauses[0] += f"; and {by_labels['confirmed']}"
    if cutoff is not None and cutoff.rule == "stability":
        best = f"among the best {cutoff.n_best:,}" if cutoff.n_best > 1 else "the best feature"
        clauses = [text.format(best=best, threshold=cutoff.threshold) for text in clauses]
    return clauses


def _against(outcome: "Outcome") -> str:
    """Return what stands for labels that tell nothing."""
    if outcome.assessment is not None:
        return outcome.assessment.against
    # those of the fit: the parameter may have been changed since
    rankers = [ranker for _, ranker in getattr(outcome.ranker, "rankers_", ())] or [outcome.ranker]
    return "labels" if all(ranker._labeller() is None for ranker in rankers) else "twins"


def _compared(outcome: "Outcome") -> str:
    """Return what was compared with what labels that tell nothing give."""
    if _against(outcome) == "twins":
        return "twins"
    if outcome.parts is not None:
        return "parts"
    return "first step" if outcome.ranker.scores_are_places else "scores"


def _say_error(outcome: "Outcome") -> str:
    cutoff = outcome.cutoff
    if cutoff is None:
        return f"What the test with {AGAINST[_against(outcome)]} bounds: {ERROR}."
    return f"What the {cutoff.rule} rule bounds: {cutoff.error}."


def _say_assumptions(outcome: "Outcome") -> list[str]:
    notes = []
    found, cutoff = outcome.assessment, outcome.cutoff
    by_labels = cutoff is None or cutoff.error == ERROR
    orders = MEANINGS[_compared(outcome)].get("orders")
    if by_labels and orders and not outcome.confirmed_are_first:
        notes.append(f"{orders}: a feature may be confirmed while one that ranks higher is not.")
    if found is None:
        return notes
    if cutoff is not None and found.decisions is not None:
        notes.extend(_say_other_decisions(outcome, found.decisions[outcome.columns]))
    if exchanged := say_exchange(found):
        notes.append(exchanged)
    if found.passed and found.least_p_value > ALPHA:
        notes.append(say_too_few(found.exchange, found.least_p_value))  # type: ignore[arg-type]
    has_groups = found.exchange is not None and found.exchange.has_groups
    is_one_class = found.exchange is not None and found.exchange.is_one_class
    if not (math.isnan(found.p_value) or found.exchanged or has_groups or is_one_class):
        others = "rows of the twins were exchanged among all rows"
        if found.against == "labels":
            others = "shuffled labels went to rows drawn from all rows"
        notes.append(
            f"The labelled rows are too few to exchange labels among them, so the {others}. This "
            "assumes that the labelled rows are a random sample of all rows."
        )
    has_committee = "n_members" in outcome.ranker.get_params(deep=False)
    if found.light and has_committee:
        notes.append(
            "To save time, the repetitions used smaller committees than the ranking itself."
        )
    return notes


def _say_other_decisions(outcome: "Outcome", by_labels: NDArray[np.str_]) -> Iterator[str]:
    """Say why the rule and the test of the labels confirm different features."""
    cutoff = outcome.cutoff
    others = find_confirmed(by_labels, outcome.is_copy)
    own = find_confirmed(outcome.decisions, outcome.is_copy)  # type: ignore[arg-type]
    if (others == own).all():
        return
    why = "which bounds another error"
    if cutoff.error == ERROR:
        why = "which asks that features score higher than shuffled copies as well"
    alone = AGAINST[_against(outcome)].capitalize()
    yield (
        f"{alone} alone would confirm {plural(int(others.sum()), 'feature')}, "
        f"{int((others & own).sum()):,} of them among those confirmed here: the decisions are by "
        f"the {cutoff.rule} rule, {why}."
    )
