"""``semisift methods``: what there is, a line each, and all about one of them."""

import inspect
from itertools import groupby
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from semisift.registry import Entry, Learner, Method

FOLLOWED = {
    "formula": "the source was followed",
    "reading": "a reading: what is known of it had to be completed, as its documentation says",
}


@click.command(epilog="\b\nExamples:\n  semisift methods ssfi\n  semisift methods --learners")
@click.argument("name", required=False)
@click.option(
    "--learners", is_flag=True, help="List the learners of `semisift label`, and no rankers."
)
def methods(name: str | None, learners: bool) -> None:
    """List the methods, a line each, or tell all about one.

    First the methods that rank features, by families, then the learners that label rows. With NAME:
    what its score means or how it comes to its labels, its paper, its cost and its parameters.
    """
    from semisift.cli._run_rank import find_method
    from semisift.cli._terminal import Terminal
    from semisift.registry import CLASSIFIERS, METHODS

    console = Terminal()
    if name is not None:
        _tell(console, CLASSIFIERS.get(name.lower()) or find_method(name, "NAME", CLASSIFIERS))
        return
    if not learners:
        for family, members in groupby(METHODS.values(), lambda method: method.family):
            _list(console, f"{family.capitalize()} (rank, select)", members)
        _list_takers(console)
    _list(console, "Learners (label)", CLASSIFIERS.values())
    console.print("semisift methods NAME tells the rest: paper, cost, parameters.")


def _tell(console: "Console", entry: "Method | Learner") -> None:
    from semisift.cli._options import OWN_OPTIONS, OWN_OPTIONS_OF_LEARNERS
    from semisift.registry import Method

    kind, own_options, facts = "learner", OWN_OPTIONS_OF_LEARNERS, []
    if isinstance(entry, Method):
        kind, own_options, facts = entry.family, OWN_OPTIONS, _facts(entry)
    facts.append(f"Takes: {_takes(entry)}")
    console.print(f"{entry.name}  ({kind})\n{entry.summary}\n")
    console.print(f"{entry.meaning}\n")
    console.print(f"Source: {entry.citation}\n({FOLLOWED[entry.source]})\n")
    console.print(f"Cost: {entry.cost}")
    for fact in facts:
        console.print(fact)
    console.print("\nParameters (--param NAME=VALUE):")
    for name, parameter in sorted(inspect.signature(entry.cls).parameters.items()):
        if name not in own_options:
            has_default = parameter.default is not inspect.Parameter.empty
            console.print(f"  {name} = {parameter.default!r}" if has_default else f"  {name}")


def _facts(method: "Method") -> list[str]:
    ranks = (
        "high values first"
        if method.direction == "high"
        else "low values first; scores are shown with a minus sign, so that high ones are best"
    )
    return [
        f"Labels needed: {method.cls.labels_needed.replace('_', ' ')}",
        f"Direction: the source ranks {ranks}",
    ]


def _takes(entry: "Method | Learner") -> str:
    """Say what a method takes besides values and labels, and by which options."""
    from semisift.cli._capabilities import TAKEN, takes

    taken = [
        f"{what} ({option})" if option else what
        for what, (option, _) in TAKEN.items()
        if takes(entry.cls, what)
    ]
    return ", ".join(taken) or "values and labels alone"


def _list_takers(console: "Console") -> None:
    """List the methods that take what not all of them take."""
    from semisift.cli._capabilities import TAKEN, names_of_takers
    from semisift.registry import METHODS

    for what, (option, _) in TAKEN.items():
        names = names_of_takers(what, METHODS)
        if len(names) < len(METHODS):
            console.print(f"Take {what} ({option.split(',')[0]}): {', '.join(names)}.")
    console.print()


def _list(console: "Console", heading: str, entries: "Iterable[Entry]") -> None:
    console.print(f"{heading}:")
    for entry in entries:
        console.print(f"  {entry.name:<13} {entry.summary}", soft_wrap=True)
    console.print()
