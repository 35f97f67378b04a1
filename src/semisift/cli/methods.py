"""``semisift methods``: what there is, with citation and cost."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

    from semisift.registry import Entry, Method


@click.command(epilog="\b\nExamples:\n  semisift methods ssfi\n  semisift methods --learners")
@click.argument("name", required=False)
@click.option(
    "--learners", is_flag=True, help="List the learners of `semisift label`, and no rankers."
)
def methods(name: str | None, learners: bool) -> None:
    """List the methods, with citation and cost.

    First the methods that rank features, then the learners that label rows. With NAME, tell all
    about one of them: what its score means or how it comes to its labels, and its parameters.

    "best" says which values of the source's score rank first; in a ranking, high scores are always
    the best, so that low ones are shown with a minus sign.

    "formula" means that the source was followed; "reading" that what is known of the method had to
    be completed, and its documentation says where.
    """
    from semisift.cli._options import OWN_OPTIONS_OF_LEARNERS
    from semisift.cli._run import find_method
    from semisift.cli._terminal import Terminal
    from semisift.registry import LEARNERS

    console = Terminal()
    if name in LEARNERS:
        _tell(console, LEARNERS[name], LEARNERS[name].cls, "learner", OWN_OPTIONS_OF_LEARNERS)
    elif name is not None:
        _tell_of_ranker(console, find_method(name, "NAME", [*LEARNERS]))
    else:
        if not learners:
            _list_rankers(console)
        _list_learners(console)


def _tell_of_ranker(console: "Console", method: "Method") -> None:
    from semisift._base import PairRanker
    from semisift.cli._options import OWN_OPTIONS

    ranks = (
        "high values first"
        if method.direction == "high"
        else "low values first; scores are shown with a minus sign, so that high ones are best"
    )
    pairs = "yes (--must-link, --cannot-link)" if issubclass(method.cls, PairRanker) else "no"
    facts = (
        f"Direction: the source ranks {ranks}",
        f"Learns from pairs of rows: {pairs}",
    )
    _tell(console, method, method.cls, method.family, OWN_OPTIONS, facts)


def _tell(
    console: "Console",
    entry: "Entry",
    cls: type,
    kind: str,
    own_options: dict[str, str],
    facts: tuple[str, ...] = (),
) -> None:
    import inspect

    console.print(f"{entry.name}  ({kind}; {entry.source})\n")
    console.print(f"{entry.meaning}\n")
    console.print(f"Source: {entry.citation}\n")
    console.print(f"Cost: {entry.cost}")
    for fact in facts:
        console.print(fact)
    console.print("\nParameters (--param NAME=VALUE):")
    for name, parameter in sorted(inspect.signature(cls).parameters.items()):
        if name not in own_options:
            has_default = parameter.default is not inspect.Parameter.empty
            console.print(f"  {name} = {parameter.default!r}" if has_default else f"  {name}")


def _list_rankers(console: "Console") -> None:
    from rich.table import Table

    from semisift._base import PairRanker
    from semisift.registry import METHODS

    table = Table(title="Methods that rank features (rank, select)", show_lines=True)
    for heading in ("name", "family", "labels", "best", "source", "cost", "citation"):
        table.add_column(heading, overflow="fold")
    for method in METHODS.values():
        needs = method.cls.labels_needed.replace("_", " ")
        if issubclass(method.cls, PairRanker):
            needs += ", or pairs"
        facts = (method.direction, method.source, method.cost, method.citation)
        table.add_row(method.name, method.family, needs, *facts)
    console.print(table)


def _list_learners(console: "Console") -> None:
    from rich.table import Table

    from semisift.registry import LEARNERS

    table = Table(title="Learners that label rows (label)", show_lines=True)
    for heading in ("name", "source", "cost", "citation"):
        table.add_column(heading, overflow="fold")
    for learner in LEARNERS.values():
        table.add_row(learner.name, learner.source, learner.cost, learner.citation)
    console.print(table)
