"""Options of the command line: fields of what a command is asked for, each spelled once."""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any

import click

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

# Options of reading: those that make sense for several labelled tables at once, those of one table,
# and those of a table for what does not learn from pairs.
OF_TABLES = [each.name for each in fields(TableOptions)]
PAIR_FILES = ("must_link", "cannot_link")
FIRST = ("label", "labels", *PAIR_FILES)
OF_READING = dict.fromkeys([*FIRST, *(each.name for each in fields(Reading))])
OF_ONE_TABLE = [name for name in OF_READING if name not in ("group", "seed")]
WITHOUT_PAIRS = [name for name in OF_ONE_TABLE if name not in PAIR_FILES]

# --- values that click has no type for ------------------------------------------------------------

AT_LEAST_1 = click.IntRange(min=1)
A_SEED = click.IntRange(min=0, max=2**32 - 1)

# What --redundancy says to rank by score alone.
OFF = "off"


class Top(click.ParamType):
    """A number of features, or the name of a rule that finds it."""

    name = "top"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | str:
        """Return the number or the rule."""
        # Loads scikit-learn, which --help need not wait for.
        from semisift.outcome.mixin import RULES

        text = str(value).strip().lower()
        if text in RULES:
            return text
        if not text.isdecimal() or int(text) < 1:
            self.fail(
                f"must be a number of at least 1, or a rule ({', '.join(RULES)}): got {value!r}.",
                param,
                ctx,
            )
        return int(text)


class Redundancy(click.ParamType):
    """A correlation between 0 and 1, or `OFF`."""

    name = "redundancy"

    def convert(self, value: Any, param: Any, ctx: Any) -> float | str:
        """Return the correlation, or `OFF`."""
        text = str(value).strip().lower()
        if text in (OFF, "none"):
            return OFF
        try:
            threshold = float(text)
        except ValueError:
            threshold = float("nan")
        if not 0 < threshold < 1:
            self.fail(f"must be between 0 and 1, or {OFF}: got {value!r}.", param, ctx)
        return threshold


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
    default, flags = each.default, each.metadata.get("flags")
    is_shown = isinstance(default, str | int) and not isinstance(default, bool)
    settings: dict[str, Any] = {"default": default, "show_default": is_shown}
    if default is MISSING:
        settings = {"required": True}
    if isinstance(default, tuple):
        settings["multiple"] = True
    if default is False:
        settings["is_flag"] = True
    settings |= each.metadata.get("settings") or _settings_of_reading(each)
    if not flags:
        flag = each.name.replace("_", "-")
        is_switch = default is None and "bool" in str(each.type)
        flags = (f"--{flag}/--no-{flag}" if is_switch else f"--{flag}",)
    return click.option(*flags, each.name, **settings)


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


def with_options(request: type, **sections: Iterable[str]) -> Callable[[Command], Command]:
    """Add options to a command, in the order in which the help shows them.

    Parameters
    ----------
    request : type
        Dataclass whose fields they are.
    **sections
        Names of fields, by the title of their section.
    """
    known = {each.name: each for each in fields(request)}

    def add(command: Command) -> Command:
        for title, names in reversed(sections.items()):
            for name in reversed([*names]):
                command = _click_option(known[name])(command)
                command.__click_params__[-1].section = title  # type: ignore[attr-defined]
        return command

    return add


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
        "Threads, -1 for all cores. The result does not depend on it.", type=int
    )
    spreadsheet_safe: bool = option(
        "Put ' before text that a spreadsheet program would run as a formula, in the csv and tsv "
        "files of rankings and labels.",
        default=False,
    )

    @property
    def is_told(self) -> bool:
        """Whether to say what is done."""
        return not self.quiet

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
