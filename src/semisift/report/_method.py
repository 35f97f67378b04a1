"""What is known of the method, what the fit reported, and what to be careful about."""

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from semisift.base._ranker import FeatureRanker
from semisift.registry import METHODS, Method
from semisift.report._rows import RowLabels, find_constant
from semisift.selection import Outcome
from semisift.transduction._soft_labels import doubt_of
from semisift.utils._text import format_number, format_value, join, plural, printable_name

FEW_LABELS = 10
FEW_DRAWS = 30


@dataclass(frozen=True)
class About:
    """A method, or one of the methods that a consensus asks.

    Attributes
    ----------
    name : str
        Of the class.
    method : Method or None
        None for a class of the user's own.
    meaning : str
        What its score means.
    parameters : list of (str, str, bool)
        Name, value, and whether that is the default.
    called : str
        Its name in a consensus.
    weight : str
        How much it counts there.
    """

    name: str
    method: Method | None
    meaning: str
    parameters: list[tuple[str, str, bool]]
    called: str = ""
    weight: str = ""


def find_method(ranker: FeatureRanker) -> Method | None:
    """Return the entry of the ranker's class in `METHODS`; None for a class of the user's own.

    Examples
    --------
    >>> from semisift import SSFI
    >>> find_method(SSFI()).name
    'ssfi'
    """
    path = f"{type(ranker).__module__}:{type(ranker).__qualname__}"
    return next((method for method in METHODS.values() if method.path == path), None)


def about_method(ranker: FeatureRanker, **part: str) -> About:
    """Describe the method of a ranker; `part` is what a consensus knows of it."""
    method, cls = find_method(ranker), type(ranker)
    meaning = "Its class has no description."
    if method is not None:
        meaning = method.meaning
    elif cls.__dict__.get("__doc__"):
        meaning = printable_name(inspect.cleandoc(cls.__doc__ or "").splitlines()[0])
    defaults: dict[str, Any] = {
        name: format_value(known.default)
        for name, known in inspect.signature(cls).parameters.items()
    }
    values = {name: format_value(value) for name, value in ranker.get_params(deep=False).items()}
    values.pop("n_jobs", None)  # changes nothing, and the page should not differ by it
    parameters = [(name, text, text == defaults.get(name)) for name, text in values.items()]
    return About(cls.__name__, method, meaning, parameters, **part)


def parts_of(ranker: FeatureRanker) -> list[About]:
    """Describe the rankers that a fitted consensus asked; nothing for other rankers."""
    if not hasattr(ranker, "part_rankings_"):
        return []
    pairs = zip(ranker.rankers_, ranker.weights_, strict=True)
    return [
        about_method(part, called=printable_name(name), weight=f"{weight:.3g}")
        for (name, part), weight in pairs
    ]


def say_kind(ranker: FeatureRanker) -> str:
    """Say what a consensus took the data for, and what followed; nothing for other rankers."""
    kind = getattr(ranker, "data_kind_", None)
    if kind is None:
        return ""
    if kind == "counts":
        why = "no value is negative and at least half of them are zero"
        what = "Rows were brought to equal totals and logarithms taken where rows are labelled. "
    else:
        why = "some are negative, or most are not zero"
        what = "They were standardised where rows are labelled. "
    if ranker.get_params(deep=False).get("rankers") is not None:
        what = ""
    copies = "Near-copies of better features were put last."
    if hasattr(ranker, "representative_") and ranker._copies_of_kept_only:
        copies = "Near-copies of kept features were put last."
    elif not hasattr(ranker, "representative_"):
        copies = "Near-copies stay where they rank."
    return f"The values were taken for {kind}, as {why}. {what}{copies}"


def what_fit_reports(outcome: Outcome, rows: RowLabels | None) -> list[tuple[str, str]]:
    """List the figures of the fit that help to judge it."""
    ranker, facts = outcome.ranker, []
    if (n_iter := getattr(ranker, "n_iter_", None)) is not None:
        facts.append(("Rounds", f"{n_iter:,}"))
    if outcome.draws is not None and len(outcome):
        low, middle, high = np.percentile(outcome.draws, [0, 50, 100])
        spread = f"{low:,.0f} to {high:,.0f}, in the middle {middle:,.0f}"
        facts.append(("Members that drew a feature", spread))
    agreement = getattr(ranker, "oob_agreement_", np.nan)
    if np.isfinite(agreement):
        facts.append(("Agreement of the members with their vote", f"{agreement:.0%}"))
    confidence = getattr(ranker, "confidence_", None)
    if confidence is not None and rows is not None and len(rows.labels.unlabelled):
        sure = np.asarray(confidence)[rows.labels.unlabelled]
        spread = f"{sure.min():.0%} to {sure.max():.0%}, in the middle {np.median(sure):.0%}"
        facts.append(("Confidence in the labels given to rows", spread))
    return facts


def cautions(outcome: Outcome, rows: RowLabels | None) -> list[str]:
    """Say what in this fit makes the ranking less certain."""
    said = []
    classes, counts = np.zeros(0), np.zeros(0)
    if rows is not None:
        is_given = np.arange(rows.labels.n_classes) != rows.labels.rest
        classes, counts = rows.labels.classes[is_given], rows.labels.counts[is_given]
    if len(counts) and counts.min() < FEW_LABELS:
        scarce = printable_name(classes[counts.argmin()])
        said.append(
            f"Few labels: only {plural(int(counts.min()), 'row')} of the class “{scarce}” "
            f"{'carries' if counts.min() == 1 else 'carry'} one. Other labelled rows could give "
            "another order; trust the top of the list as a whole more than single ranks."
        )
    if outcome.draws is not None and len(outcome) and np.median(outcome.draws) < FEW_DRAWS:
        said.append(
            f"Few draws: half of the features were drawn by "
            f"{format_number(np.median(outcome.draws))} "
            "members or fewer. Raise n_members for steadier scores."
        )
    if doubt := doubt_of(outcome.ranker):
        said.append(doubt)
    if rows is not None and (given := rows.given_counts) is not None and given.sum():
        empty = [printable_name(rows.labels.classes[code]) for code in np.flatnonzero(given == 0)]
        said.append(
            "The labels given to unlabelled rows are guesses of the method. High confidence means "
            "that its members agree, not that they are right."
        )
        if empty:
            said.append(
                f"No unlabelled row was given the label {join([f'“{name}”' for name in empty])}: "
                "check whether that is plausible."
            )
    return said


def missing_scores(outcome: Outcome, X: Any = None) -> list[str]:
    """Say which features have no score, and why.

    Without X they count as columns of a single value, which the base class leaves without one,
    unless no member drew them.
    """
    missing = np.isnan(outcome.scores)
    undrawn = missing & (outcome.draws == 0) if outcome.draws is not None else missing & False
    if X is None:
        constant = missing & ~undrawn
    else:
        constant = np.zeros_like(missing)
        constant[missing] = find_constant(X, outcome.columns[missing])
    if outcome.excluded is not None:  # which is said with the features
        missing, constant = missing & ~outcome.excluded, constant & ~outcome.excluded
    reasons = [
        (constant, "a single value and no score"),
        (missing & undrawn & ~constant, "no score, as no member of the committee drew them"),
        (missing & ~undrawn & ~constant, "no score"),
    ]
    return [
        f"{plural(int(which.sum()), 'feature')} {'has' if which.sum() == 1 else 'have'} {what}."
        for which, what in reasons
        if which.any()
    ]
