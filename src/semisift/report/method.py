"""What is known of the method, what the fit reported, and what to be careful about."""

import inspect
from dataclasses import dataclass

import numpy as np

from semisift._base import FeatureRanker
from semisift._words import count, figure, listed, setting, visible
from semisift.registry import METHODS, Method
from semisift.report.ranking import Ranking
from semisift.report.rows import Rows

FEW_LABELS = 10
FEW_DRAWS = 30


@dataclass(frozen=True)
class Parameter:
    """A parameter of the method, its value, and whether that is the default."""

    name: str
    value: str
    is_default: bool


@dataclass(frozen=True)
class About:
    """The method: its name, what its score means, where it comes from, and its parameters."""

    name: str
    method: Method | None
    meaning: str
    parameters: list[Parameter]


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


def about_method(ranker: FeatureRanker) -> About:
    """Describe the method of a ranker."""
    method = find_method(ranker)
    name = type(ranker).__name__
    meaning = method.meaning if method else _first_line(type(ranker))
    signature = inspect.signature(type(ranker)).parameters
    parameters = []
    for key, value in ranker.get_params(deep=False).items():
        if key == "n_jobs":  # changes nothing, and the page should not differ by it
            continue
        default = signature[key].default if key in signature else inspect.Parameter.empty
        text = setting(value)
        parameters.append(Parameter(key, text, text == setting(default)))
    return About(name, method, meaning, parameters)


def _first_line(cls: type) -> str:
    if not cls.__dict__.get("__doc__"):
        return "Its class has no description."
    return visible(inspect.cleandoc(cls.__doc__ or "").splitlines()[0])


def what_fit_reports(
    ranker: FeatureRanker, ranking: Ranking, rows: Rows | None
) -> list[tuple[str, str]]:
    """List the figures of the fit that help to judge it."""
    facts = []
    if (n_iter := getattr(ranker, "n_iter_", None)) is not None:
        facts.append(("Rounds", f"{n_iter:,}"))
    if ranking.draws is not None and len(ranking):
        low, middle, high = np.percentile(ranking.draws, [0, 50, 100])
        spread = f"{low:,.0f} to {high:,.0f}, in the middle {middle:,.0f}"
        facts.append(("Members that drew a feature", spread))
    agreement = getattr(ranker, "oob_agreement_", np.nan)
    if np.isfinite(agreement):
        facts.append(("Agreement of the members with their vote", f"{agreement:.0%}"))
    confidence = getattr(ranker, "confidence_", None)
    if confidence is not None and rows is not None and len(rows.labels.unlabelled):
        sure = np.asarray(confidence)[rows.labels.unlabelled]
        facts.append(
            (
                "Confidence in the labels given to rows",
                f"{sure.min():.0%} to {sure.max():.0%}, in the middle {np.median(sure):.0%}",
            )
        )
    return facts


def cautions(ranker: FeatureRanker, ranking: Ranking, rows: Rows | None) -> list[str]:
    """Say what in this fit makes the ranking less certain."""
    said = []
    counts = rows.labels.counts if rows is not None else np.zeros(0)
    if rows is not None and len(counts) and counts.min() < FEW_LABELS:
        scarce = visible(rows.labels.classes[counts.argmin()])
        said.append(
            f"Few labels: only {count(int(counts.min()), 'row')} of the class “{scarce}” "
            f"{'carries' if counts.min() == 1 else 'carry'} one. Other labelled rows could give "
            "another order; trust the top of the list as a whole more than single ranks."
        )
    if ranking.draws is not None and len(ranking) and np.median(ranking.draws) < FEW_DRAWS:
        said.append(
            f"Few draws: half of the features were drawn by {figure(np.median(ranking.draws))} "
            "members or fewer. Raise n_members for steadier scores."
        )
    if rows is not None and (given := rows.given_counts) is not None and given.sum():
        empty = [visible(rows.labels.classes[code]) for code in np.flatnonzero(given == 0)]
        said.append(
            "The labels given to unlabelled rows are guesses of the method. High confidence means "
            "that its members agree, not that they are right."
        )
        if empty:
            said.append(
                f"No unlabelled row was given the label {listed([f'“{name}”' for name in empty])}: "
                "check whether that is plausible."
            )
    return said
