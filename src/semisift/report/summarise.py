"""All that the page says, as plain values: counts and sentences."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from semisift._base import FeatureRanker
from semisift._words import count, visible
from semisift.report.about import About, about_method, cautions, what_fit_reports
from semisift.report.curve import Curve, follow, missing_scores
from semisift.report.parts import Part, parts_of, say_kind
from semisift.report.ranking import Ranking
from semisift.report.rows import Rows
from semisift.report.selection import select
from semisift.report.table import Columns, TableRow, columns_of, table_rows
from semisift.report.trust import Trust, judge
from semisift.report.whiskers import Moves, follow_ranks

MOST_PRINTED_ROWS = 50
MOST_NAMED = 3


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
    columns: Columns
    redundancy: str
    curve: Curve
    no_score: list[str]
    about: About
    fit_facts: list[tuple[str, str]]
    cautions: list[str]
    source: list[tuple[str, str]]
    notes: list[str]
    trust: Trust | None
    moves: Moves | None
    parts: list[Part]
    kind_of_data: str


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
    selection = select(ranker, ranking, n_selected)
    table = table_rows(ranking, selection.mask)
    return Summary(
        title=visible(title) if title else f"Features ranked by {about.name}",
        lead=_lead(about.name, len(ranking), rows),
        best=[row.feature for row in table[:MOST_NAMED]],
        n_features=len(ranking),
        n_selected=selection.n,
        selection=selection.words,
        n_rows=None if rows is None else rows.n_rows,
        n_labelled=None if rows is None else len(rows.labels.labelled),
        classes=[] if rows is None else count_classes(rows),
        class_names=[visible(name) for name in getattr(ranker, "classes_", [])],
        table=table,
        columns=columns_of(ranking, selection, _n_best(ranker)),
        redundancy=_redundancy(ranker, ranking),
        curve=follow(ranking, selection.n_first),
        no_score=missing_scores(ranking, X),
        about=about,
        fit_facts=what_fit_reports(ranker, ranking, rows),
        cautions=cautions(ranker, ranking, rows),
        source=[(visible(key), visible(value)) for key, value in (source or {}).items()],
        notes=[visible(note) for note in notes],
        trust=judge(ranker, ranking),
        moves=follow_ranks(ranking, ranker),
        parts=parts_of(ranker),
        kind_of_data=say_kind(ranker),
    )


def _n_best(ranker: FeatureRanker) -> int:
    return getattr(getattr(ranker, "assessment_", None), "n_best", 0)


def _redundancy(ranker: FeatureRanker, ranking: Ranking) -> str:
    """Say what was done about near-copies."""
    if ranking.represented_by is None:
        return ""
    threshold = f"{_threshold(ranker):g}"
    n_copies = int(ranking.is_copy.sum())
    if not n_copies:
        return f"No feature correlates with a better one by more than {threshold}."
    subject, verb = count(n_copies, "feature"), "correlates" if n_copies == 1 else "correlate"
    return (
        f"{subject} {verb} with a better one by more than {threshold}, in absolute value and over "
        "all rows, and therefore rank behind the others: near-copies, listed with the feature that "
        "stands for them."
    )


def _threshold(ranker: FeatureRanker) -> float:
    threshold = ranker.redundancy_threshold
    if isinstance(threshold, str):  # "auto", of a consensus
        from semisift.consensus.consensus import REDUNDANCY

        return REDUNDANCY
    return float(threshold or 0.0)


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
