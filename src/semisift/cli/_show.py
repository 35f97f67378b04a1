"""What ``rank`` and ``select`` print: how sure the ranking is, and its best features."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from semisift._words import visible
from semisift.cli._outputs import OUTPUTS
from semisift.cli._result import Result

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from semisift.outcome import Outcome


def show(result: Result) -> None:
    """Print the best features, how sure they are, and what was written."""
    from semisift.cli._terminal import Terminal

    console = Terminal()
    for line in _told_of_sureness(result.outcome):
        console.print(line)
    # Not as the title of the table, which may be narrower.
    console.print(f"{_heading(result.outcome)} by {result.method.name}")
    console.print(_table(result.outcome))
    for line in _told_below(result):
        console.print(line)


def _told_of_sureness(outcome: "Outcome") -> Iterator[str]:
    trust = outcome.trust
    if trust is None:
        return
    careful = "" if trust.passed or not trust.test else "Caution. "
    bound = f" {trust.error}" if outcome.counts.get("confirmed") else ""
    lines = [careful + trust.test, trust.summary + bound, trust.stability, *trust.notes]
    yield from filter(None, lines)


def _told_below(result: Result) -> Iterator[str]:
    from semisift.outcome.words import say_copies

    outcome = result.outcome
    n_left = outcome.n_selected - len(outcome.listed)
    if n_left > 0:
        yield f"{n_left:,} more confirmed features are not shown; --out writes all."
    if result.dataset.is_spread and outcome.rank_interval is not None:
        yield "Intervals and numbers of best features count columns; some features have several."
    if outcome.is_copy.any():
        yield say_copies(outcome)
    if result.trial is not None:
        yield result.trial
    for name in OUTPUTS:
        given = getattr(result.request, name)
        if given is not None and (name != "reduced" or result.selected):
            yield f"Written: {given}"


def _heading(outcome: "Outcome") -> str:
    if len(outcome.listed) == 1:
        return "The best feature"
    if outcome.selected_by == "decisions" and outcome.n_selected:
        return "The best features"  # those that are confirmed need not be the first
    return f"The {len(outcome.listed)} best features"


def _table(outcome: "Outcome") -> "Table":
    from rich.table import Table

    columns, table = _columns(outcome), Table()
    for heading in columns:
        is_number = heading != "feature" and not heading.startswith("told")
        table.add_column(
            heading,
            justify="right" if is_number else "left",
            overflow="fold",
            no_wrap=heading != "feature",
        )
    for row in zip(*columns.values(), strict=True):
        table.add_row(*row)
    return table


def _columns(outcome: "Outcome") -> "dict[str, list[str | Text]]":
    """Return the cells of the table, by the heading of their column."""
    from rich.text import Text

    from semisift.outcome.decisions import CELLS, HEADING

    shown = outcome.listed
    columns: dict[str, list[str | Text]] = {
        "rank": [str(place + 1) for place in shown],
        "feature": [Text(visible(name)) for name in outcome.features[shown]],
        "score": [f"{score:.5g}" for score in outcome.scores[shown]],
    }
    if outcome.draws is not None:
        columns["draws"] = [f"{draws:,}" for draws in outcome.draws[shown]]
    if outcome.decisions is not None:
        heading = "\n".join(HEADING.rsplit(" ", 1))
        columns[heading] = [CELLS[each] for each in outcome.decisions[shown]]
    if outcome.rank_interval is not None:
        columns["rank\n5-95 %"] = [f"{low}-{high}" for low, high in outcome.rank_interval[shown]]
    if outcome.assessment is not None and outcome.selection_probability is not None:
        shares = outcome.selection_probability[shown]
        heading = f"among\nbest {outcome.assessment.n_best:,}"
        columns[heading] = [f"{share:.0%}" for share in shares]
    return columns
