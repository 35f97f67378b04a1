"""Options that several commands share, and what they mean."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import Field, fields
from typing import Any

import click

from semisift.cli._values import Redundancy, Top
from semisift.evaluation.specs import parse_settings
from semisift.io.options import Reading, TableOptions

Command = Callable[..., Any]

# Parameters of rankers that have an option of their own.
OWN_OPTIONS = {
    "n_features_to_select": "--top",
    "redundancy_threshold": "--redundancy",
    "random_state": "--seed",
    "n_jobs": "--n-jobs",
}

# The same for learners.
OWN_OPTIONS_OF_LEARNERS = {name: OWN_OPTIONS[name] for name in ("random_state", "n_jobs")}


def _click_option(each: Field[Any]) -> Callable[[Command], Command]:
    """Make the option of the command line for an option of reading."""
    about, default = each.metadata["about"], each.default
    flag = f"--{each.name.replace('_', '-')}"
    settings: dict[str, Any] = {"metavar": each.metadata["kind"] or None, "default": default}
    if isinstance(default, tuple):
        settings |= {"multiple": True}
        about += " May be repeated."
    elif each.metadata["choices"]:
        settings |= {"type": click.Choice(each.metadata["choices"])}
    elif each.metadata["kind"] == "K":
        settings |= {"type": click.IntRange(min=1)}
    elif "bool" in str(each.type):
        settings |= {"is_flag": True}
        flag += "" if default is False else f"/--no-{each.name}"
    is_shown = isinstance(default, str)
    return click.option(flag, each.name, help=about, show_default=is_shown, **settings)


READING = {each.name: _click_option(each) for each in fields(Reading) if each.name != "seed"}

PAIR_FILES = ("must_link", "cannot_link")
FIRST = ("label", "labels", *PAIR_FILES)

TABLE_OPTIONS = [READING[name] for name in dict.fromkeys((*FIRST, *READING)) if name != "group"]

# For what does not learn from pairs.
LABELLED_TABLE_OPTIONS = [
    option for option in TABLE_OPTIONS if option not in [READING[name] for name in PAIR_FILES]
]

# Those that make sense for several labelled tables at once.
DATASET_OPTIONS = [READING[each.name] for each in fields(TableOptions)]

SPREADSHEET_SAFE = click.option(
    "--spreadsheet-safe",
    is_flag=True,
    help="Put ' before text that a spreadsheet program would run as a formula, in the csv and tsv "
    "files of rankings and labels.",
)

QUIET = click.option("--quiet", "-q", is_flag=True, help="Print errors and warnings only.")

PARAM = click.option(
    "--param",
    multiple=True,
    metavar="NAME=VALUE",
    help="Parameter of the method, as in Python: n_members=500, variant=paper. May be repeated.",
)

SEED = click.option(
    "--seed",
    default=0,
    show_default=True,
    type=click.IntRange(min=0, max=2**32 - 1),
    metavar="N",
    help="Seed of every random choice. The same seed gives the same result everywhere.",
)

N_JOBS = click.option(
    "--n-jobs",
    default=None,
    type=int,
    help="Threads, -1 for all cores. The result does not depend on it.",
)

METHOD_OPTIONS = [
    click.option(
        "--method",
        metavar="NAME",
        help="How to rank; `semisift methods` lists the names.  [default: consensus, the mean "
        "place with four methods]",
    ),
    PARAM,
    click.option(
        "--redundancy",
        type=Redundancy(),
        metavar="R",
        help="Put near-copies last: features whose correlation with a better one exceeds R, in "
        "absolute value and over all rows; off ranks by score alone.  [default: 0.7 with "
        "consensus, unless the table holds counts; off with other methods]",
    ),
    SEED,
    N_JOBS,
    click.option(
        "--top",
        type=Top(),
        metavar="N|RULE",
        help="How many features to select and show: a number, or a rule that confirms features "
        "(shadow, stability, knockoff).  [default: those that are confirmed; 20 if nothing was "
        "asked to confirm any]",
    ),
    click.option(
        "--assess/--no-assess",
        default=None,
        help="Tell how sure the ranking is, from shuffled labels (which also confirm features) and "
        "from halves of the rows; takes about five times as long as the ranking.  [default: yes "
        "for rank without --method and without a rule, else no]",
    ),
    click.option(
        "--thorough",
        is_flag=True,
        help="Confirm features by the rule shadow, unless --top says otherwise, and assess the "
        "ranking with more repetitions and whole committees. Takes some hundred times as long as "
        "the ranking.",
    ),
]

OUTPUT_OPTIONS = [
    click.option(
        "--labels-out",
        metavar="FILE",
        help="Write the label and the confidence that the method gives to every row (csv, tsv, "
        "parquet or json).",
    ),
    SPREADSHEET_SAFE,
    click.option("--report", metavar="FILE", help="Write a page to show: one HTML file."),
    click.option("--title", metavar="TEXT", help="Title of the report."),
    QUIET,
]


class InSections(click.Command):
    """A command whose help lists its options in the sections that `with_options` gave them."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one list of options for each section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx)
            if record and hasattr(option, "section"):
                sections.setdefault(option.section, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def with_options(**sections: Sequence[Callable[[Any], Any]]) -> Callable[[Command], Command]:
    """Add sections of options to a command, in the order in which the help shows them."""

    def add(command: Command) -> Command:
        for title, options in reversed(sections.items()):
            for option in reversed(options):
                command = option(command)
                command.__click_params__[-1].section = title  # type: ignore[attr-defined]
        return command

    return add


def parse_parameters(
    given: tuple[str, ...], cls: type, own_options: dict[str, str] = OWN_OPTIONS
) -> dict[str, Any]:
    """Read ``name=value`` for the parameters of a class.

    Parameters
    ----------
    given : tuple of str
    cls : type
    own_options : dict of str to str
        Parameters that have an option of their own, and the option.

    Returns
    -------
    dict
        Values as Python reads them; what is no Python value is a string.

    Raises
    ------
    click.BadParameter
        Where there is no such parameter, or it has an option of its own.
    """
    known = [name for name in inspect.signature(cls).parameters if name not in own_options]
    try:
        parameters = parse_settings(given)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--param") from error
    for name in parameters:
        if name in own_options:
            raise click.BadParameter(
                f"{name} has an option of its own: {own_options[name]}.", param_hint="--param"
            )
        if name not in known:
            raise click.BadParameter(
                f"{cls.__name__} has no parameter {name!r}. It has {', '.join(known)}.",
                param_hint="--param",
            )
    return parameters
