"""``semisift methods``: what there is, with citation and cost."""

import click


@click.command(epilog="\b\nExample:\n  semisift methods ssfi")
@click.argument("name", required=False)
def methods(name: str | None) -> None:
    """List the methods, with citation and cost.

    With NAME, tell all about one of them: what its score means, and its parameters.

    "best" says which values of the source's score rank first; in a ranking, high scores are always
    the best, so that low ones are shown with a minus sign.

    "formula" means that the source was followed; "reading" that what is known of the method had to
    be completed, and its documentation says where.
    """
    from rich.console import Console
    from rich.table import Table

    from semisift._base import PairRanker
    from semisift.cli._options import OWN_OPTIONS
    from semisift.cli._run import find_method
    from semisift.registry import METHODS

    console = Console(highlight=False, markup=False)
    if name is not None:
        method = find_method(name, "NAME")
        console.print(f"{method.name}  ({method.family}; {method.source})\n")
        console.print(f"{method.meaning}\n")
        console.print(f"Source: {method.citation}\n")
        console.print(f"Cost: {method.cost}")
        ranks = (
            "high values first"
            if method.direction == "high"
            else (
                "low values first; scores are shown with a minus sign, so that high ones are best"
            )
        )
        console.print(f"Direction: the source ranks {ranks}")
        pairs = "yes (--must-link, --cannot-link)" if issubclass(method.cls, PairRanker) else "no"
        console.print(f"Learns from pairs of rows: {pairs}\n")
        console.print("Parameters (--param NAME=VALUE):")
        for parameter, default in sorted(method.cls().get_params(deep=False).items()):
            if parameter in OWN_OPTIONS:
                continue
            console.print(f"  {parameter} = {default!r}")
        return
    table = Table(show_lines=True)
    for heading in ("name", "family", "labels", "best", "source", "cost", "citation"):
        table.add_column(heading, overflow="fold")
    for method in METHODS.values():
        needs = method.cls.labels_needed.replace("_", " ")
        if issubclass(method.cls, PairRanker):
            needs += ", or pairs"
        facts = (method.direction, method.source, method.cost, method.citation)
        table.add_row(method.name, method.family, needs, *facts)
    console.print(table)
