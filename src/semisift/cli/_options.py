"""Options that commands share; those of reading follow from the fields of `semisift.io`."""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import Field, fields
from types import SimpleNamespace
from typing import Any, TypeVar

import click

from semisift.comparison._specs import parse_settings
from semisift.io._options import FLAGS, Reading, TableOptions
from semisift.utils._text import quote

Command = Callable[..., Any]
Named = TypeVar("Named")

# Parameters of rankers and of classifiers that have an option of their own.
OWN_OPTIONS = {
    "n_features_to_select": "--top",
    "redundancy_threshold": "--redundancy",
    "random_state": "--seed",
    "n_jobs": "--n-jobs",
    "include": "--include",
    "exclude": "--exclude",
    "feature_groups": "--feature-groups",
    "feature_weights": "--feature-weights",
}
CLASSIFIER_OPTIONS = {name: OWN_OPTIONS[name] for name in ("random_state", "n_jobs")}

# Fields of reading: those that make sense for several labelled tables at once, those of one table,
# and those of methods that hold all rows in memory and learn neither from pairs nor within batches.
OF_TABLES = [each.name for each in fields(TableOptions)]
PAIR_FILES = ("must_link", "cannot_link")
FILES = ("labels", *PAIR_FILES)
FIRST = ("label", "labels", *PAIR_FILES, "id", "group", "batch", "weight")
OF_READING = dict.fromkeys([*FIRST, *(each.name for each in fields(Reading))])
OF_ONE_TABLE = [name for name in OF_READING if name != "seed"]
WITHOUT_PAIRS = [name for name in OF_ONE_TABLE if name not in PAIR_FILES]
IN_MEMORY = [name for name in WITHOUT_PAIRS if name not in ("max_memory", "cache_dir", "batch")]


class InMemory(Reading):
    """How a table is read whose rows are all held in memory."""

    supports_out_of_core = False


class Options(SimpleNamespace):
    """The options of a command, by their names.

    Attributes
    ----------
    param
        Parameter of the method, as in Python: n_members=500, variant=paper. May be repeated.
    seed
        Seed of every random choice. The same seed gives the same result everywhere.
    n_jobs
        Threads, -1 for all cores. The result does not depend on it.
    spreadsheet_safe
        Put ' before text that a spreadsheet program would run as a formula, in the csv and tsv
        files of rankings, markers and labels.
    quiet
        Print errors and warnings only.
    """

    @property
    def reading(self) -> Reading:
        """Those that say how the table is read."""
        names = OF_READING.keys() & vars(self).keys()
        cls = Reading if "max_memory" in names else InMemory
        return cls(**{name: getattr(self, name) for name in names})

    @property
    def is_verbose(self) -> bool:
        """Whether to print what is done; not where the result itself is printed."""
        shown = "-" not in (getattr(self, "out", None), getattr(self, "ranking", None))
        return shown and not self.quiet

    @property
    def other_files(self) -> dict[str, str]:
        """The files that are read besides the table, by the names of their options."""
        return {name: file for name in FILES if (file := getattr(self, name, None)) is not None}


# A name in a section of a docstring, and the indented lines below it.
DESCRIPTION = re.compile(r"^(\w+).*\n((?:[ ]+.*\n?)+)", re.MULTILINE)


# --- commands and their options -------------------------------------------------------------------


class SectionedCommand(click.Command):
    """A command whose help lists its options in the sections that `section` gave them."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one list of options for each section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx)
            if record and isinstance(option, click.Option):
                sections.setdefault(getattr(option, "section", "Options"), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def command(options: type[Options] = Options) -> Callable[[Command], click.Command]:
    """Make a command of a function, with the help that the docstrings of both give.

    Parameters
    ----------
    options : type
        Its docstring, and that of the function, describe the options in numpydoc form.
    """

    def make(function: Command) -> click.Command:
        text = _sections(function)
        help_of: dict[str, str] = {}
        for each in (*reversed(options.__mro__), function):
            for name in ("Attributes", "Parameters"):
                help_of |= dict(DESCRIPTION.findall(_sections(each).get(name, "")))
        examples = f"\b\nExamples:\n{text['Examples']}" if "Examples" in text else None
        made = click.command(cls=SectionedCommand, help=text[""], epilog=examples)(function)
        for option in made.params:
            if isinstance(option, click.Option) and option.help is None:
                option.help = " ".join(help_of[str(option.name)].split())
        return made

    return make


def _sections(documented: Any) -> dict[str, str]:
    """Return the sections of a docstring by their titles; what precedes them is that of ""."""
    parts = re.split(
        r"^(\w+)\n-+\n", inspect.cleandoc(documented.__doc__ or ""), flags=re.MULTILINE
    )
    return dict(zip(["", *parts[1::2]], parts[::2], strict=True))


def section(title: str, *options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Give a command a section of options."""

    def add(function: Command) -> Command:
        for option in reversed(options):
            function = option(function)
            function.__click_params__[-1].section = title  # type: ignore[attr-defined]
        return function

    return add


def reading_options(names: Iterable[str]) -> list[Callable[[Command], Command]]:
    """Return the options of some fields of `Reading`."""
    known = {each.name: each for each in fields(Reading)}
    return [_reading_option(known[name]) for name in names]


def _reading_option(each: Field[Any]) -> Callable[[Command], Command]:
    about, kind, choices = (each.metadata[key] for key in ("about", "kind", "choices"))
    settings: dict[str, Any] = {"help": about, "metavar": kind or None, "default": each.default}
    flag = "--" + FLAGS.get(each.name, each.name).replace("_", "-")
    if isinstance(each.default, tuple):
        settings |= {"help": f"{about} May be repeated.", "multiple": True}
    elif choices:
        settings["type"] = click.Choice(choices)
    elif kind == "K":
        settings["type"] = AT_LEAST_1
    elif each.default is False:
        settings["is_flag"] = True
    elif each.default is None and "bool" in str(each.type):
        flag += f"/--no-{flag[2:]}"
    settings["show_default"] = isinstance(each.default, str)
    return click.option(flag, each.name, **settings)


def read_jobs(value: Any) -> int:
    """Read a number of threads or processes."""
    from semisift.utils._validation import check_jobs  # with numpy, which --help does without

    try:
        number = int(value)
        check_jobs(number)
    except ValueError as error:
        raise click.BadParameter(
            f"must be a whole number other than 0, -1 for all processors: got {quote(value)}."
        ) from error
    return number


AT_LEAST_1 = click.IntRange(min=1)
SEED_RANGE = click.IntRange(min=0, max=2**32 - 1)

TABLE = click.argument("table")
PARAM = click.option("--param", metavar="NAME=VALUE", multiple=True)
SEED = click.option("--seed", metavar="N", default=0, show_default=True, type=SEED_RANGE)
N_JOBS = click.option("--n-jobs", metavar="N", type=read_jobs)
SPREADSHEET_SAFE = click.option("--spreadsheet-safe", is_flag=True)
QUIET = click.option("--quiet", "-q", is_flag=True)


# --- values of options ----------------------------------------------------------------------------


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
    with option_errors("--param"):
        parameters = parse_settings(given)
        for name in parameters:
            if name in own_options:
                raise ValueError(f"{name} has an option of its own: {own_options[name]}.")
            if name not in known:
                has = ", ".join(known)
                raise ValueError(f"{cls.__name__} has no parameter {name!r}. It has {has}.")
    return parameters


def find_named(
    known: Mapping[str, Named], name: str, what: str, option: str, others: Iterable[str] = ()
) -> Named:
    """Return the entry of that name, or list the names that there are and `others`."""
    with option_errors(option):
        if name not in known:
            there_are = ", ".join([*known, *others])
            raise ValueError(f"there is no {what} {name!r}. There are {there_are}.")
    return known[name]


@contextmanager
def option_errors(option: str) -> Iterator[None]:
    """Name the option in an error about its value."""
    try:
        yield
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=option) from error
