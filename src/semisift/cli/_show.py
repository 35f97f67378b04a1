"""What ``rank`` and ``select`` print: how sure the ranking is, and its best features."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from semisift._words import visible
from semisift.cli._outputs import OUTPUTS
from semisift.cli._result import Result
from semisift.cli._sureness import told_of_decisions, told_of_labels, told_of_stability

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text


def show(result: Result) -> None:
    """Print the best features, how sure they are, and what was written."""
    from semisift.cli._terminal import Terminal

    console = Terminal()
    for line in _told_of_sureness(result):
        console.print(line)
    console.print(_table(result))
    for line in _told_below(result):
        console.print(line)


def _told_of_sureness(result: Result) -> Iterator[str]:
    assessment = getattr(result.ranker, "assessment_", None)
    for sentence in (
        told_of_labels(assessment),
        told_of_decisions(result.ranker, result.ranking, len(result.shown)),
        told_of_stability(assessment),
    ):
        if sentence is not None:
            yield sentence


def _told_below(result: Result) -> Iterator[str]:
    n_left = len(result.places) - len(result.shown)
    if n_left > 0:
        yield f"{n_left:,} more confirmed features are not shown; --out writes all."
    if result.dataset.is_spread and result.ranking.rank_interval is not None:
        yield "Intervals and numbers of best features count columns; some features have several."
    if (n_copies := int(result.ranking.is_copy.sum())) == 1:
        yield "1 near-copy of a better feature ranks last."
    elif n_copies:
        yield f"{n_copies:,} near-copies of better features rank last."
    if result.trial is not None:
        yield result.trial
    for name in OUTPUTS:
        given = getattr(result.request, name)
        if given is not None and (name != "reduced" or result.selected):
            yield f"Written: {given}"


def _table(result: Result) -> "Table":
    from rich.table import Table

    columns = _columns(result)
    table = Table(title=f"{_heading(result)} by {result.method.name}")
    for heading in columns:
        is_text = heading in ("feature", "decision")
        table.add_column(
            heading,
            justify="left" if is_text else "right",
            overflow="fold",
            no_wrap=heading != "feature",
        )
    for row in zip(*columns.values(), strict=True):
        table.add_row(*row)
    return table


def _heading(result: Result) -> str:
    if len(result.shown) == 1:
        return "The best feature"
    if result.is_decided and len(result.places):
        return "The best features"  # those that are confirmed need not be the first
    return f"The {len(result.shown)} best features"


def _columns(result: Result) -> "dict[str, list[str | Text]]":
    """Return the cells of the table, by the heading of their column."""
    from rich.text import Text

    ranking, shown = result.ranking, result.shown
    columns: dict[str, list[str | Text]] = {
        "rank": [str(place + 1) for place in shown],
        "feature": [Text(visible(name)) for name in ranking.features[shown]],
        "score": [f"{score:.5g}" for score in ranking.scores[shown]],
    }
    if ranking.draws is not None:
        columns["draws"] = [f"{draws:,}" for draws in ranking.draws[shown]]
    if ranking.decisions is not None:
        columns["decision"] = list(ranking.decisions[shown])
    if ranking.rank_interval is not None:
        columns["rank\n5-95 %"] = [f"{low}-{high}" for low, high in ranking.rank_interval[shown]]
    if ranking.selection_probability is not None:
        n_best = result.ranker.assessment_.n_best
        shares = ranking.selection_probability[shown]
        columns[f"among\nbest {n_best:,}"] = [f"{share:.0%}" for share in shares]
    return columns
