"""All that the page says, as plain values: counts, sentences and the rows of the table."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from semisift._base import FeatureRanker
from semisift._words import count, same_decimals, visible
from semisift.report.about import About, about_method, cautions, what_fit_reports
from semisift.report.curve import Curve, follow, missing_scores
from semisift.report.ranking import Ranking
from semisift.report.rows import Rows

MOST_TABLE_ROWS = 1000
MOST_PRINTED_ROWS = 50
MOST_NAMED = 3


@dataclass(frozen=True)
class TableRow:
    """One line of the table; `bar` is the score in percent of the best one."""

    rank: int
    feature: str
    column: str
    score: str
    bar: float
    draws: str
    selected: bool


@dataclass(frozen=True)
class ClassCount:
    """How many rows carry the label of a class, and how many were given it."""

    name: str
    labelled: int
    given: int | None


@dataclass(frozen=True, eq=False)
class Summary:
    """What the page says, without the pictures."""

    title: str
    lead: str
    best: list[str]
    n_features: int
    n_selected: int
    selection: str
    n_rows: int | None
    n_labelled: int | None
    classes: list[ClassCount]
    class_names: list[str]
    table: list[TableRow]
    has_draws: bool
    shows_selected: bool
    curve: Curve
    no_score: list[str]
    about: About
    fit_facts: list[tuple[str, str]]
    cautions: list[str]
    source: list[tuple[str, str]]
    notes: list[str]


def summarise(
    ranking: Ranking,
    ranker: FeatureRanker,
    *,
    rows: Rows | None = None,
    X: Any = None,
    n_selected: int | None = None,
    title: str | None = None,
    source: Mapping[str, Any] | None = None,
    notes: Iterable[str] = (),
) -> Summary:
    """Put a ranking into words.

    Parameters
    ----------
    ranking : Ranking
    ranker : fitted FeatureRanker
    rows : Rows, optional
        As `read_rows` returns them.
    X : array-like, frame or sparse matrix, optional
        Tells whether features without a score have a single value.
    n_selected : int, optional
        Else as many as the ranker selects.
    title : str, optional
    source : mapping, optional
        Facts on the provenance, shown as they are.
    notes : iterable of str
        What was done to the data.

    Returns
    -------
    Summary
    """
    about = about_method(ranker)
    by_default = n_selected is None and ranker.n_features_to_select is None
    n_selected = count_selected(ranker, len(ranking)) if n_selected is None else n_selected
    table = table_rows(ranking, n_selected)
    return Summary(
        title=visible(title) if title else f"Features ranked by {about.name}",
        lead=_lead(about.name, len(ranking), rows),
        best=[row.feature for row in table[:MOST_NAMED]],
        n_features=len(ranking),
        n_selected=n_selected,
        selection="half of all, as no number was asked for" if by_default else "the best by rank",
        n_rows=None if rows is None else rows.n_rows,
        n_labelled=None if rows is None else len(rows.labels.labelled),
        classes=[] if rows is None else count_classes(rows),
        class_names=[visible(name) for name in getattr(ranker, "classes_", [])],
        table=table,
        has_draws=ranking.draws is not None,
        shows_selected=n_selected < len(table),
        curve=follow(ranking, n_selected),
        no_score=missing_scores(ranking, X),
        about=about,
        fit_facts=what_fit_reports(ranker, ranking, rows),
        cautions=cautions(ranker, ranking, rows),
        source=[(visible(key), visible(value)) for key, value in (source or {}).items()],
        notes=[visible(note) for note in notes],
    )


def count_selected(ranker: FeatureRanker, n_features: int) -> int:
    """Return how many of `n_features` the ranker selects."""
    try:
        return min(ranker._count_to_select(ranker.n_features_in_), n_features)
    except ValueError:  # the number was raised after the fit
        return n_features


def table_rows(ranking: Ranking, n_selected: int) -> list[TableRow]:
    """Return the lines of the table: the best thousand.

    Examples
    --------
    >>> import numpy as np
    >>> names = np.array(["a", "b"], dtype=object)
    >>> ranking = Ranking(names, np.array([2.0, 0.5]), None, np.arange(2), names)
    >>> [(row.rank, row.feature, row.score, row.bar) for row in table_rows(ranking, 1)]
    [(1, 'a', '2.0000', 100.0), (2, 'b', '0.5000', 25.0)]
    """
    scores = ranking.scores[:MOST_TABLE_ROWS]
    form = same_decimals(scores)
    finite = scores[np.isfinite(scores)]
    best = float(finite.max(initial=0.0))
    lines = []
    for place, score in enumerate(scores.tolist()):
        feature, column = visible(ranking.features[place]), visible(ranking.column_names[place])
        lines.append(
            TableRow(
                rank=place + 1,
                feature=feature,
                column="" if column == feature else column,
                score=_score(score, form),
                bar=_bar(score, best),
                draws="" if ranking.draws is None else f"{ranking.draws[place]:,}",
                selected=place < n_selected,
            )
        )
    return lines


def _score(score: float, form: str) -> str:
    if np.isnan(score):
        return "none"
    if np.isinf(score):
        return "∞" if score > 0 else "-∞"
    return format(score, form)


def _bar(score: float, best: float) -> float:
    if score == np.inf:
        return 100.0
    if not np.isfinite(score) or best <= 0:
        return 0.0
    return round(100 * max(0.0, score / best), 1)


def count_classes(rows: Rows) -> list[ClassCount]:
    """Count the labelled rows of each class, and those that the ranker put there."""
    given = rows.given_counts
    return [
        ClassCount(visible(name), int(labelled), None if given is None else int(given[code]))
        for code, (name, labelled) in enumerate(
            zip(rows.labels.classes, rows.labels.counts, strict=True)
        )
    ]


def _lead(name: str, n_features: int, rows: Rows | None) -> str:
    ranked = f"{name} ranked {count(n_features, 'feature')}"
    if rows is None:
        return f"{ranked}."
    n_labelled = len(rows.labels.labelled)
    of_rows = f"{ranked} of {count(rows.n_rows, 'row')}"
    if n_labelled == rows.n_rows:
        return f"{of_rows}, all of which carry a label."
    if not n_labelled:
        return f"{of_rows}, none of which carries a label."
    return f"{of_rows}, of which {n_labelled:,} carr{'ies' if n_labelled == 1 else 'y'} a label."
