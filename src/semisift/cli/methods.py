"""``semisift methods``: what there is, a line each, and all about one of them."""

import inspect
from collections.abc import Iterable
from itertools import groupby

import click

from semisift.cli import _options
from semisift.cli._reading import CAPABILITIES, find_method, names_of_takers
from semisift.cli._terminal import Terminal
from semisift.registry import CLASSIFIERS, METHODS, Entry, Learner, Method

FOLLOWED = {
    "formula": "the source was followed",
    "reading": "a reading: what is known of it had to be completed, as its documentation says",
}
DIRECTIONS = {
    "high": "high values first",
    "low": "low values first; scores are shown with a minus sign, so that high ones are best",
}


@_options.command()
@click.argument("name", required=False)
@click.option(
    "--learners", is_flag=True, help="List the learners of `semisift predict`, and no rankers."
)
def methods(name: str | None, learners: bool) -> None:
    """List the methods, a line each, or tell all about one.

    First the methods that rank features, by families, then the learners that label rows. With NAME:
    what its score means or how it comes to its labels, its paper, its cost and its parameters.

    Examples
    --------
      semisift methods ssfi
      semisift methods --learners
    """
    console = Terminal()
    if name is not None:
        _describe(console, CLASSIFIERS.get(name.lower()) or find_method(name, "NAME", CLASSIFIERS))
        return
    if not learners:
        for family, members in groupby(METHODS.values(), lambda method: method.family):
            _list(console, f"{family.capitalize()} (rank, select)", members)
        for what, (_, option) in CAPABILITIES.items():
            names = names_of_takers(what, METHODS)
            if len(names) < len(METHODS):
                console.print(f"Take {what} ({option.split(',')[0]}): {', '.join(names)}.")
        console.print()
    _list(console, "Learners (predict)", CLASSIFIERS.values())
    console.print("semisift methods NAME tells the rest: paper, cost, parameters.")


def _list(console: Terminal, heading: str, entries: Iterable[Entry]) -> None:
    console.print(f"{heading}:")
    for entry in entries:
        console.print(f"  {entry.name:<13} {entry.summary}", soft_wrap=True)
    console.print()


def _describe(console: Terminal, entry: Method | Learner) -> None:
    """Print all about a method; its parameters and labels are those of its class."""
    kind, own_options, facts = "learner", _options.CLASSIFIER_OPTIONS, []
    if isinstance(entry, Method):
        kind, own_options = entry.family, _options.OWN_OPTIONS
        facts = [
            f"Labels needed: {entry.labels_needed.replace('_', ' ')}",
            f"Direction: the source ranks {DIRECTIONS[entry.direction]}",
        ]
    taken = [
        f"{what} ({option})" if option else what
        for what, (mark, option) in CAPABILITIES.items()
        if entry.takes(mark)
    ]
    for line in (
        f"{entry.name}  ({kind})\n{entry.summary}\n",
        f"{entry.meaning}\n",
        f"Source: {entry.citation}\n({FOLLOWED[entry.source]})\n",
        f"Cost: {entry.cost}",
        *facts,
        f"Takes: {', '.join(taken) or 'values and labels alone'}",
        "\nParameters (--param NAME=VALUE):",
    ):
        console.print(line)
    for name, parameter in sorted(inspect.signature(entry.cls).parameters.items()):
        if name not in own_options:
            has_default = parameter.default is not inspect.Parameter.empty
            console.print(f"  {name} = {parameter.default!r}" if has_default else f"  {name}")
