"""How sure a ranking is, in words for readers who have never tested a hypothesis."""

import math
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semisift.base._decisions import WORDS, find_significant
from semisift.selection._refit import ALPHA, ERROR, SIGNIFICANT
from semisift.utils._text import plural
from semisift.utils._typing import Bools

if TYPE_CHECKING:
    from semisift.selection._assessment import Assessment
    from semisift.selection._permutation import PermutationPlan
    from semisift.selection._result import RankingResult

# From these stabilities on, the best features are partly, and much, the same (Nogueira 2018).
PARTLY, MUCH = 0.4, 0.75

# By so much more the stability of families must be to be told.
NOTABLE = 0.05

# What the scores are compared with.
NULLS = {"permuted_labels": "shuffled labels", "permuted_features": "permuted features"}

# What tests found and what the decisions mean, by the rule or by what was compared.
SENTENCES: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("summary.toml").read_text(encoding="utf-8")
)


@dataclass(frozen=True)
class DecisionCount:
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
        What can be said, in a sentence that stands first: how many features are significant; empty
        where nothing was decided.
    test : str
        What the test of the labels found; empty where there was none.
    passed : bool
        Whether the labels tell something.
    counted : list of DecisionCount
        The same, a line for each decision and one for correlated features.
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
    counted: list[DecisionCount]
    error: str
    stability: str
    notes: list[str]


def summarize(result: "RankingResult") -> Trust | None:
    """Return how sure a result is; None where the ranker has no rule and was not assessed."""
    found, decided = result.assessment, bool(result.counts)
    texts = ["", ""] if found is None else [format_test(found), _reconcile(result, found)]
    test, stable = " ".join(filter(None, texts)), "" if found is None else format_stability(found)
    if not (decided or test or stable):
        return None
    texts = [_format_decisions(result) if decided else "", "" if found is None else _caution(found)]
    return Trust(
        summary=" ".join(filter(None, texts)),
        test=test,
        passed=found is not None and found.passed,
        counted=_count(result) if decided else [],
        error=_format_error(result) if decided else "",
        stability=stable,
        notes=_format_assumptions(result),
    )


# The ranking as a whole ---------------------------------------------------------------------------


def format_test(found: "Assessment") -> str:
    """Return what the permutation test found; nothing where there was none."""
    p, n = found.p_value, found.n_permutations
    if math.isnan(p):
        return ""
    advice = f"Label {'rows of more groups' if found.has_groups else 'more rows'} before you build"
    if not found.passed and found.least_p_value > SIGNIFICANT:
        assert found.plan is not None
        return f"{format_too_few(found.plan, found.least_p_value)} {advice} on it."
    # with permuted features the better of two scores counts, at half the level
    n_as_high = round(p * (n + 1) / (1 if found.null == "permuted_labels" else 2)) - 1
    sentences = SENTENCES["test"][found.null]
    if not found.passed and n_as_high > 0:
        return f"{sentences['failed'].format(p=p)} {advice} on it."
    as_high = f"only {n_as_high:,}" if n_as_high > 0 else "none"
    trials = plural(n, "ranking" if found.null == "permuted_labels" else "trial")
    text: str = sentences["passed" if found.passed else "too_few"]
    return text.format(n=n, p=p, as_high=as_high, trials=trials)


def format_too_few(plan: "PermutationPlan", least: float) -> str:
    """Return that labels can be permuted in too few ways to confirm anything."""
    unit = "group" if plan.has_groups else "labelled row"
    ways = plural(round(math.exp(plan.log_ways)), "way")
    return (
        f"Too few {unit}s to tell: the labels of {plural(plan.n_units, unit)} can be exchanged in "
        f"no more than {ways}, so that no p-value is below {least:.2g}, whatever the features are."
    )


def format_permutation(found: "Assessment") -> str:
    """Return between which groups and batches labels were permuted; nothing if none were given."""
    plan = found.plan
    if plan is None or math.isnan(found.p_value):
        return ""
    if plan.differences:
        among = "within groups and between groups of labelled samples"
        return (
            "The labelled samples are no random sample of all samples: they differ from the "
            f"unlabelled ones in the {' and the '.join(plan.differences)}. Labels were therefore "
            f"permuted {among if plan.has_groups else 'among the labelled samples'} only."
        )
    if not plan.is_known or (plan.how == "all" and not plan.has_groups):
        return ""
    if plan.how == "all":
        where = (
            "between all groups, labelled or not. This assumes that the "
            f"{plural(plan.n_units, 'group')} with labelled rows are a random sample of all "
            "groups, and the labelled rows one of theirs"
        )
    elif plan.has_groups:
        classes = " of several classes" if plan.n_between else ""
        between = [f"between {plural(plan.n_between, 'group')}"] if plan.n_between else []
        within = [f"within {plural(plan.n_within, 'group')}{classes}"] if plan.n_within else []
        batches = ", and of the same batches" if plan.how == "batches" else ""
        where = " and ".join(between + within) + batches
    else:
        where = "whatever the batches, as there are too few ways within them"
        where = "within batches" if plan.how == "batches" else where
    what = "Labels" if found.null == "permuted_labels" else "Rows of the permuted features"
    return f"{what} were exchanged {where}."


def _caution(found: "Assessment") -> str:
    """Return what a result from labels of one class rests on."""
    if found.plan is None or not found.plan.is_one_class or math.isnan(found.p_value):
        return ""
    batch = " of their batch" if found.plan.has_batches else ""
    return (
        "One class is labelled, and the table cannot tell it from a batch: the result holds only "
        f"if the labelled samples were not chosen or measured apart from the other samples{batch}."
    )


def format_stability(found: "Assessment") -> str:
    """Return how alike the best features on different halves of the rows are."""
    stable, grouped = found.stability, found.family_stability
    if stable is None or math.isnan(stable.value):
        return ""
    n_best = found.n_best - found.n_kept
    besides = " besides those that are kept" if found.n_kept else ""
    best, their = f"best {n_best:,} features{besides} are", "their"
    alike = "mostly another one" if n_best == 1 else "mostly others"
    if n_best == 1:
        best, their = f"best feature{besides} is", "its"
    if stable.value >= PARTLY:
        alike = "much the same" if stable.value >= MUCH else "partly the same"
    text = (
        f"From one half of the rows to another the {best} {alike}: {their} stability is "
        f"{stable.value:.2f} (95% interval {stable.low:.2f} to {stable.high:.2f}), where 1 is "
        "always the same and 0 as alike as random picks."
    )
    if grouped is not None and grouped.value >= stable.value + NOTABLE:
        text += " Correlated features replace each other: counted as one, their stability is "
        text += f"{grouped.value:.2f}."
    return text


# Features -----------------------------------------------------------------------------------------


def format_selection(result: "RankingResult") -> str:
    """Return how the number of selected features came about."""
    cutoff, n_kept = result.cutoff, 0 if result.kept is None else int(result.kept.sum())
    by = NULLS[result.null] if cutoff is None else f"the {cutoff.rule} rule"
    besides = f", and {n_kept:,} that {'was' if n_kept == 1 else 'were'} to stay" if n_kept else ""
    return {
        "number": "the best by rank",
        "half": "half of all, as no number was asked for",
        "decisions": f"as many as {by} significant{besides}",
        "changed": "none, as n_features_to_select was changed after the fit",
    }[result.selected_by]


def format_feature_constraints(result: "RankingResult") -> list[str]:
    """Return which constraints on the features were given, and what they do to the ranking."""
    texts, excluded = [], np.zeros(len(result), dtype=bool)
    if result.kept is not None:
        texts.append(
            f"{_features(result.kept)} kept: first in the ranking and selected, whatever the score."
        )
    if result.excluded is not None:
        excluded = result.excluded
        them = "it" if excluded.sum() == 1 else "them"
        texts.append(f"{_features(excluded)} left out: nothing was learnt from {them}.")
    if result.n_columns is not None:
        n_groups = int((result.n_columns > 1).sum())
        texts.append(
            f"{plural(n_groups, 'feature')} {'is a group' if n_groups == 1 else 'are groups'} of "
            "columns, ranked by the best of them. Large groups have more chances of a good column; "
            "p-values account for that, ranks do not."
        )
    if result.feature_weights is not None:
        texts.append(
            f"{_features((result.feature_weights != 1) & ~excluded)} expected to matter more or "
            "less than others, which moves places and leaves scores and decisions as they are."
        )
    return texts


def _features(which: Bools) -> str:
    n = int(which.sum())
    return f"{plural(n, 'feature')} {'was' if n == 1 else 'were'}"


def format_marks(result: "RankingResult", place: int) -> list[str]:
    """Return in a few words which constraints there were on one feature."""
    kept, excluded, prior = result.kept, result.excluded, result.feature_weights
    n_columns = 1 if result.n_columns is None else result.n_columns[place]
    marks = {
        "kept": kept is not None and kept[place],
        "left out": excluded is not None and excluded[place],
        f"{n_columns:,} columns": n_columns > 1,
        f"weight {1 if prior is None else prior[place]:g}": prior is not None and prior[place] != 1,
    }
    return [mark for mark, is_there in marks.items() if is_there]


def format_correlated_features(result: "RankingResult") -> str:
    """Return what was done about correlated features; nothing where nothing was."""
    threshold = getattr(result.ranker, "redundancy_threshold_", None)
    if result.representative is None or threshold is None:
        return ""
    n_copies = int(result.is_copy.sum())
    other = "kept" if getattr(result.ranker, "_copies_of_kept_only", False) else "better"
    if not n_copies:
        return f"No feature correlates with a {other} one by more than {threshold:g}."
    return (
        f"{plural(n_copies, 'correlated feature')} {'ranks' if n_copies == 1 else 'rank'} behind "
        f"the others: correlated with a {other} feature by more than {threshold:g}, in absolute "
        "value and over all rows."
    )


def _format_decisions(result: "RankingResult") -> str:
    counts, n_features = result.counts, plural(len(result), "feature")
    found = result.assessment
    if not counts["significant"]:
        passed, having = found is not None and found.passed, ""
        if found is not None and found.n_labelled:
            these = "this" if found.n_labelled == 1 else "these"
            having = f"with {these} {plural(found.n_labelled, 'label')} "
            if found.plan is not None and found.plan.has_groups:
                having += f"of {plural(found.plan.n_units, 'group')} "
        start, alone = ("The labels tell something, but ", " by itself") if passed else ("", "")
        text = f"{start}{having}none of the {n_features} can be significant{alone}: "
        return f"{text[0].upper()}{text[1:]}the list below is where to look first."
    text = f"Significant: {counts['significant']:,} of {n_features}"
    if counts["suggestive"]:
        text += f"; suggestive: {counts['suggestive']:,}"
    return (
        f"{text}{'; correlated features are not counted' if counts['correlated_features'] else ''}."
    )


def _reconcile(result: "RankingResult", found: "Assessment") -> str:
    """Return why the test of the whole ranking and the decisions on features seem to disagree."""
    cutoff, counts = result.cutoff, result.counts
    if math.isnan(found.p_value) or not counts or found.passed == bool(counts["significant"]):
        return ""
    if found.passed:
        about, best = "the best features taken together", "in almost all of these rankings"
        if found.null == "permuted_features":
            about = "the best feature of each time, whichever it was"
            best = "permuted features almost every time"
        needed = f"do better than the best of all {len(result):,} {best}"
        needed = needed if cutoff is None else f"pass the {cutoff.rule} rule"
        return f"This is about {about}; to be significant, a feature must by itself {needed}."
    if cutoff is None:
        return ""
    other = "which bounds another error"
    why = "with other draws or larger committees" if cutoff.error == ERROR else other
    return f"What is significant passed the {cutoff.rule} rule, {why}."


def _count(result: "RankingResult") -> list[DecisionCount]:
    """Return what was decided how often, and what that means."""
    counts, cutoff, by_labels = result.counts, result.cutoff, SENTENCES[_compared(result)]
    meanings = dict(by_labels if cutoff is None else SENTENCES[cutoff.rule])
    if cutoff is not None and cutoff.error == ERROR:
        meanings["significant"] += f"; and {by_labels['significant']}"
    if cutoff is not None and cutoff.rule == "stability":
        best = f"among the best {cutoff.n_best:,}" if cutoff.n_best > 1 else "the best feature"
        given = {"best": best, "threshold": cutoff.threshold}
        meanings = {name: text.format(**given) for name, text in meanings.items()}
    lines = [
        DecisionCount(each, counts[each], word, meanings[each]) for each, word in WORDS.items()
    ]
    if n_copies := counts["correlated_features"]:
        clause = "correlate with a better feature, which represents them, and are not counted above"
        n_as_good = int(np.sum((result.decisions == "significant") & result.is_copy))
        clause += f"; {n_as_good:,} of them passed the same test" if n_as_good else ""
        lines.append(DecisionCount("correlated_features", n_copies, "correlated features", clause))
    return lines


def _compared(result: "RankingResult") -> str:
    """Return what was compared with what permuted labels give."""
    if result.null == "permuted_features":
        return "permuted_features"
    if result.parts is not None:
        return "parts"
    return "first step" if result.ranker.scores_are_places else "scores"


def _format_error(result: "RankingResult") -> str:
    if result.cutoff is None:
        return f"What the test with {NULLS[result.null]} bounds: {ERROR}."
    return f"What the {result.cutoff.rule} rule bounds: {result.cutoff.error}."


def _format_assumptions(result: "RankingResult") -> list[str]:
    found, cutoff, notes = result.assessment, result.cutoff, []
    orders = SENTENCES[_compared(result)].get("orders")
    by_labels = cutoff is None or cutoff.error == ERROR
    if by_labels and orders and not result.significant_are_first:
        notes.append(f"{orders}: a feature may be significant while one that ranks higher is not.")
    if found is None:
        return notes
    notes += _format_other_decisions(result, found)
    notes += filter(None, [format_permutation(found)])
    plan = found.plan
    if found.passed and plan is not None and found.least_p_value > ALPHA:
        notes.append(format_too_few(plan, found.least_p_value))
    is_special = plan is not None and (plan.has_groups or plan.is_one_class)
    if not (math.isnan(found.p_value) or found.permuted or is_special):
        what = "shuffled labels went to rows drawn from all rows"
        if found.null == "permuted_features":
            what = "rows of the permuted features were exchanged among all rows"
        notes.append(
            f"The labelled rows are too few to permute labels among them, so the {what}. This "
            "assumes that the labelled rows are a random sample of all rows."
        )
    if found.fast and "n_members" in result.ranker.get_params(deep=False):
        notes.append("To save time, the repetitions used smaller committees than the ranking.")
    return notes


def _format_other_decisions(result: "RankingResult", found: "Assessment") -> Iterator[str]:
    """Yield why the rule and the test of the labels confirm different features, where they do."""
    cutoff = result.cutoff
    if cutoff is None or found.decisions is None or result.decisions is None:
        return
    others = find_significant(found.decisions[result.columns], result.is_copy)
    own = find_significant(result.decisions, result.is_copy)
    if (others == own).all():
        return
    alone, n_both = NULLS[result.null].capitalize(), int((others & own).sum())
    why = "which bounds another error"
    if cutoff.error == ERROR:
        why = "which asks that features score higher than shuffled copies as well"
    yield (
        f"{alone} alone would confirm {plural(int(others.sum()), 'feature')}, {n_both:,} of them "
        f"among those significant here: the decisions are by the {cutoff.rule} rule, {why}."
    )
