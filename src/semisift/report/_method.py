"""What is known of the method, what the fit reported, and what to be careful about."""

import inspect
from typing import Any

import numpy as np

from semisift.base._ranker import FeatureRanker
from semisift.registry import METHODS, Method
from semisift.report._page import paragraph, sentences
from semisift.report._rows import RowLabels, find_constant
from semisift.selection import RankingResult
from semisift.transduction._soft_labels import doubt_of
from semisift.utils._text import format_value, printable_name

MIN_LABELS = 10
MIN_DRAWS = 30


def summarize(outcome: RankingResult, rows: RowLabels | None, X: Any) -> dict[str, Any]:
    """Return what the page tells of the method of a ranking.

    Parameters
    ----------
    outcome : RankingResult
    rows : RowLabels or None
    X : array-like, frame, sparse matrix or None

    Returns
    -------
    dict
    """
    ranker = outcome.ranker
    return {
        **describe(ranker),
        "parts": parts_of(ranker),
        "kind": kind_of(ranker),
        "cautions": cautions(outcome, rows),
        "facts": facts_of_fit(outcome, rows),
        "missing_scores": missing_scores(outcome, X),
    }


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


def describe(ranker: FeatureRanker) -> dict[str, Any]:
    """Return name and entry of a method, what its score means, and its parameters."""
    method, cls = find_method(ranker), type(ranker)
    meaning = "Its class has no description."
    if method is not None:
        meaning = method.meaning
    elif cls.__dict__.get("__doc__"):
        meaning = printable_name(inspect.cleandoc(cls.__doc__ or "").splitlines()[0])
    known = inspect.signature(cls).parameters
    defaults: dict[str, Any] = {name: format_value(each.default) for name, each in known.items()}
    values = {name: format_value(value) for name, value in ranker.get_params(deep=False).items()}
    values.pop("n_jobs", None)  # changes nothing, and the page should not differ by it
    parameters = [(name, text, text == defaults.get(name)) for name, text in values.items()]
    return {
        "name": cls.__name__,
        "method": method,
        "meaning": meaning,
        "parameters": parameters,
    }


def parts_of(ranker: FeatureRanker) -> list[dict[str, Any]]:
    """Return the rankers of a fitted consensus with their weights; nothing for other rankers."""
    if not hasattr(ranker, "part_rankings_"):
        return []
    pairs = zip(ranker.rankers_, ranker.weights_, strict=True)
    return [
        {**describe(part), "called": printable_name(name), "weight": f"{weight:.3g}"}
        for (name, part), weight in pairs
    ]


def kind_of(ranker: FeatureRanker) -> str:
    """Return what a consensus took the data for, in words; nothing for other rankers."""
    if not hasattr(ranker, "data_kind_"):
        return ""
    return paragraph("kind", ranker, ranker.get_params(deep=False).get("rankers") is None)


def facts_of_fit(outcome: RankingResult, rows: RowLabels | None) -> list[tuple[str, str]]:
    """Return the figures of the fit that help to judge it."""
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


def cautions(outcome: RankingResult, rows: RowLabels | None) -> list[str]:
    """Return what in this fit makes the ranking less certain."""
    scarce = draws = empty = None
    if rows is not None:
        is_given = np.arange(rows.labels.n_classes) != rows.labels.rest
        classes, counts = rows.labels.classes[is_given], rows.labels.counts[is_given]
        if len(counts) and counts.min() < MIN_LABELS:
            scarce = printable_name(classes[counts.argmin()]), int(counts.min())
        if (given := rows.given_counts) is not None and given.sum():
            empty = [f"“{rows.names[code]}”" for code in np.flatnonzero(given == 0)]
    if outcome.draws is not None and len(outcome) and np.median(outcome.draws) < MIN_DRAWS:
        draws = float(np.median(outcome.draws))
    return sentences("cautions", scarce, draws, doubt_of(outcome.ranker) or "", empty)


def missing_scores(outcome: RankingResult, X: Any = None) -> list[str]:
    """Return which features have no score, and why.

    Without X they count as columns of a single value, which the base class leaves without one,
    unless no member drew them. Those that were left out are told with the features.
    """
    missing = np.isnan(outcome.scores)
    undrawn = missing & (outcome.draws == 0) if outcome.draws is not None else missing & False
    constant = missing & ~undrawn
    if X is not None:
        constant = np.zeros_like(missing)
        constant[missing] = find_constant(X, outcome.columns[missing])
    if outcome.excluded is not None:
        missing, constant = missing & ~outcome.excluded, constant & ~outcome.excluded
    facts = {
        "constant": int(constant.sum()),
        "undrawn": int((missing & undrawn & ~constant).sum()),
        "others": int((missing & ~undrawn & ~constant).sum()),
    }
    return sentences("missing_scores", facts)
