"""Options of the command line: fields of what a command is asked for, each spelled once."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, ClassVar, TypeVar

import click

from semisift.comparison._specs import parse_settings
from semisift.io._options import FLAGS, Reading, TableOptions
from semisift.utils._text import quote

Command = Callable[..., Any]
Named = TypeVar("Named")

# Parameters of rankers that have an option of their own.
OWN_OPTIONS = {
    "n_features_to_select": "--top",
    "redundancy_threshold": "--redundancy",
    "random_state": "--seed",
    "n_jobs": "--n-jobs",
    "keep": "--keep",
    "exclude": "--exclude",
    "feature_groups": "--feature-groups",
    "prior": "--prior",
}

# The same for learners.
OWN_OPTIONS_OF_LEARNERS = {name: OWN_OPTIONS[name] for name in ("random_state", "n_jobs")}

# Options of reading: those that make sense for several labelled tables at once, those of one table,
# and those of a table for what holds all rows in memory and learns neither from pairs nor within
# batches.
OF_TABLES = [each.name for each in fields(TableOptions)]
PAIR_FILES = ("must_link", "cannot_link")
FIRST = ("label", "labels", *PAIR_FILES, "id", "group", "batch", "weight")
OF_READING = dict.fromkeys([*FIRST, *(each.name for each in fields(Reading))])
OF_ONE_TABLE = [name for name in OF_READING if name != "seed"]
OF_STORED = ("max_memory", "passes")
IN_MEMORY = [name for name in OF_ONE_TABLE if name not in (*PAIR_FILES, *OF_STORED, "batch")]

TABLE = click.argument("table")

AT_LEAST_1 = click.IntRange(min=1)
A_SEED = click.IntRange(min=0, max=2**32 - 1)


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


# --- from fields to options -----------------------------------------------------------------------


def option(
    about: str, kind: str | None = None, *flags: str, default: Any = None, **settings: Any
) -> Any:
    """Declare a field of a request that is an option of the command line.

    Parameters
    ----------
    about : str
        What the help says.
    kind : str, optional
        What stands there for its values.
    *flags : str
        How it is written, if not as the name of the field.
    default : object
        A tuple where the option may be repeated, False for one without a value, `MISSING` for one
        that must be given.
    **settings
        Of `click.option`.
    """
    settings |= {"help": about, "metavar": kind}
    return field(default=default, metadata={"flags": flags, "settings": settings})


def _click_option(each: Field[Any]) -> Callable[[Command], Command]:
    """Make the option of the command line for a field."""
    default = each.default
    is_shown = isinstance(default, str | int) and not isinstance(default, bool)
    settings: dict[str, Any] = {"default": default, "show_default": is_shown}
    if default is MISSING:
        settings = {"required": True}
    if isinstance(default, tuple):
        settings["multiple"] = True
    if default is False:
        settings["is_flag"] = True
    settings |= each.metadata.get("settings") or _settings_of_reading(each)
    return click.option(*flags_of(each), each.name, **settings)


def flags_of(each: Field[Any]) -> tuple[str, ...]:
    """Return how the option of a field is written."""
    if flags := each.metadata.get("flags"):
        return tuple(flags)
    flag = FLAGS.get(each.name, each.name).replace("_", "-")
    is_switch = each.default is None and "bool" in str(each.type)
    return (f"--{flag}/--no-{flag}" if is_switch else f"--{flag}",)


def _settings_of_reading(each: Field[Any]) -> dict[str, Any]:
    about, kind, choices = (each.metadata[key] for key in ("about", "kind", "choices"))
    settings = {"help": about, "metavar": kind or None}
    if isinstance(each.default, tuple):
        settings["help"] += " May be repeated."
    elif choices:
        settings["type"] = click.Choice(choices)
    elif kind == "K":
        settings["type"] = AT_LEAST_1
    return settings


class InSections(click.Command):
    """A command whose help lists its options in the sections that `command` gave them."""

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


def command(
    request: type,
    argument: Callable[[Command], Command] = lambda command: command,
    epilog: str | None = None,
    **sections: Iterable[str],
) -> Callable[[Command], click.Command]:
    """Make a command of a function.

    Parameters
    ----------
    request : type
        Dataclass whose fields are its options.
    argument : callable
        What `click.argument` returns.
    epilog : str, optional
        Last words of its help.
    **sections
        Names of fields in the order in which the help shows them, by the title of their section. In
        a section "Options" the help lists itself as well.
    """
    known = {each.name: each for each in fields(request)}

    def make(function: Command) -> click.Command:
        for title, names in reversed(sections.items()):
            for name in reversed([*names]):
                function = _click_option(known[name])(function)
                function.__click_params__[-1].section = title  # type: ignore[attr-defined]
        cls = click.Command if "Options" in sections else InSections
        return click.command(cls=cls, epilog=epilog)(argument(function))

    return make


# --- what commands are asked for: a field for each option, by its name ----------------------------


@dataclass(frozen=True, kw_only=True)
class Request:
    """What any command is asked for."""

    quiet: bool = option("Print errors and warnings only.", None, "--quiet", "-q", default=False)


@dataclass(frozen=True, kw_only=True)
class FileRequest(Request, Reading):
    """What the user asked to do with one table."""

    table: str
    param: tuple[str, ...] = option(
        "Parameter of the method, as in Python: n_members=500, variant=paper. May be repeated.",
        "NAME=VALUE",
        default=(),
    )
    seed: int = option(
        "Seed of every random choice. The same seed gives the same result everywhere.",
        "N",
        default=0,
        type=A_SEED,
    )
    n_jobs: int | None = option(
        "Threads, -1 for all cores. The result does not depend on it.", "N", type=read_jobs
    )
    spreadsheet_safe: bool = option(
        "Put ' before text that a spreadsheet program would run as a formula, in the csv and tsv "
        "files of rankings, markers and labels.",
        default=False,
    )

    printed: ClassVar[str]
    """The field that says with ``-`` to print the result."""

    @property
    def is_told(self) -> bool:
        """Whether to say what is done; not where the result itself is printed."""
        return not self.quiet and getattr(self, self.printed) != "-"

    @property
    def files_beside(self) -> dict[str, str]:
        """The files that are read besides the table, by what they hold."""
        files = {name: getattr(self, name) for name in ("labels", *PAIR_FILES)}
        return {name: file for name, file in files.items() if file is not None}


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
    with blaming("--param"):
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
    """Return what has that name, or say which there are, and which `others`."""
    with blaming(option):
        if name not in known:
            there_are = ", ".join([*known, *others])
            raise ValueError(f"there is no {what} {name!r}. There are {there_are}.")
    return known[name]


@contextmanager
def blaming(option: str) -> Iterator[None]:
    """Name the option that holds what cannot be used."""
    try:
        yield
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=option) from error
