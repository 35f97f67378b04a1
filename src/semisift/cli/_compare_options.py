"""The options of ``semisift compare``: those of a store, and the user's own classes.

Only classes that the user names are imported; nothing that a store names is.
"""

import copyreg
import os
import re
import shlex
import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from semisift.cli._options import find_named, option_errors
from semisift.cli.compare import CompareOptions, compare, each_name
from semisift.comparison._evaluators import EVALUATORS, find_evaluators
from semisift.comparison._methods import BASELINES
from semisift.comparison._protocol import PROTOCOLS, Protocol
from semisift.comparison._specs import import_class, parse
from semisift.comparison._store import ABOUT_RUNS, Store, damage_named
from semisift.io import FORMATS
from semisift.registry import METHODS
from semisift.utils._text import printable, quote

# Options of one call alone, which a resumed comparison does not take over. A store is data, which
# may come from elsewhere: nothing is written to a path in it, and no machine called.
NOT_KEPT = ("out", "files", "resume", "retry_failed", "quiet", "report", "backend", "scheduler")

# Options that the numbers do not depend on.
CHANGE_NOTHING = (*NOT_KEPT, "n_jobs", "no_report")

# Options that change what the preset of the same protocol says, and what it calls some of them.
RENAMED = {"runs": "n_runs", "judge": "judges", "metric": "metrics"}
SETTINGS = (*RENAMED, "labels_per_class", "train_size", "train_on", "seed")


def dataset_name(path: Path) -> str:
    """Return the name of a file without the ending that tells its format.

    Examples
    --------
    >>> dataset_name(Path("data/wine.csv.gz")), dataset_name(Path("cells.v2.h5ad"))
    ('wine', 'cells.v2')
    """
    name = path.resolve().name
    endings = [ending for form in FORMATS.values() for ending in form.endings]
    for ending in sorted(endings, key=len, reverse=True):
        if name.lower().endswith(ending) and len(name) > len(ending):
            return name[: -len(ending)]
    return name if path.is_dir() else path.stem


def by_name(files: tuple[str, ...]) -> dict[str, str]:
    """Return files by the names of their data sets, which must differ."""
    found: dict[str, str] = {}
    for path in files:
        name = dataset_name(Path(path))
        if name in found and Path(found[name]).resolve() != Path(path).resolve():
            raise click.BadParameter(
                f"{found[name]} and {path} would both be called {quote(name)}. Rename one of "
                "them: data sets go by the names of their files without the ending.",
                param_hint="FILES",
            )
        found[name] = path
    return found


def find_options(options: dict[str, Any], given: set[str]) -> CompareOptions:
    """Return what is asked for; a resumed comparison knows what is not said again.

    Parameters
    ----------
    options : dict
        Of the command, by name.
    given : set of str
        Those that the user gave.
    """
    store = Store(Path(options["out"]))
    files = by_name(options["files"])
    if not options["resume"] or not store.exists:
        return CompareOptions(**{**options, "files": files})
    kept = store.about()["notes"]
    with damage_named(store.folder / ABOUT_RUNS):
        before = _kept_options(kept.get("options", {}))
        _check_own_classes(before, options)
    if "report" in given:
        before["no_report"] = False
    now = {name: value for name, value in options.items() if name in given or name not in before}
    merged = {**before, **now, "files": {**kept.get("files", {}), **files}}
    kept_methods = before.get("methods", ())
    new = [name for name in each_name(options["methods"]) if name not in each_name(kept_methods)]
    merged["methods"] = (*kept_methods, *new)
    return CompareOptions(**merged)


def _kept_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that a store keeps, if they are what the command line could have given."""
    ctx, found = click.Context(compare), {}
    for option in compare.params:
        name = str(option.name)
        if name in NOT_KEPT or name not in options:
            continue
        kept = options[name]
        value = found[name] = tuple(kept) if isinstance(kept, list) else kept
        try:
            is_right = isinstance(value, tuple) == option.multiple
            is_right = is_right and option.type_cast_value(ctx, value) == value
        except click.BadParameter:
            is_right = False
        if not is_right:
            raise ValueError(
                f"notes.options.{name} must be as {option.opts[0]} takes it: got {value!r}"
            )
    return found


def _check_own_classes(before: dict[str, Any], options: dict[str, Any]) -> None:
    """Refuse to import what a store names: that is for the user to say, in each call."""
    chosen = each_name(options["methods"])
    methods = [name for name in each_name(before.get("methods", ())) if name not in chosen]
    evaluators = () if options["judge"] else before.get("judge", ())
    if again := _own_classes_again(methods, evaluators):
        raise click.UsageError(
            f"{options['out']} names what is no method or judge of semisift. Nothing that a folder "
            "names is imported: if they are classes of your own, name them again: "
            f"{printable(again)}"
        )


def _own_classes_again(methods: Iterable[str], evaluators: Collection[str]) -> str:
    """Return the options that name classes of the user's own, empty where there are none."""
    words = [f"--methods {shlex.quote(name)}" for name in own_names(methods, "method")]
    if own_names(evaluators, "judge"):  # one that is named replaces all
        words += [f"--judge {shlex.quote(name)}" for name in evaluators]
    return " ".join(words)


def notes_of(request: CompareOptions) -> dict[str, Any]:
    """Return what the store keeps: how to do it again, and what resuming it needs to know."""
    options = {name: value for name, value in vars(request).items() if name not in NOT_KEPT}
    files = {name: os.path.abspath(path) for name, path in request.files.items()}
    return {"command": command_line(request), "options": options, "files": files}


def resume_command(request: CompareOptions) -> str:
    """Return the command that goes on."""
    words = ["semisift compare --resume --out", shlex.quote(request.out)]
    return " ".join([*words, _own_classes_again(request.method_names, request.judge)]).rstrip()


def command_line(request: CompareOptions) -> str:
    """Return the command that makes the same records, without the folders of this machine."""
    ctx = click.Context(compare)
    files = [shlex.quote(Path(path).name) for path in request.files.values()]
    lines = [" ".join(["semisift compare", *files])]
    for option in compare.params:
        value = getattr(request, str(option.name))
        if option.name in CHANGE_NOTHING or value in (None, ()) or value == option.get_default(ctx):
            continue
        for each in value if isinstance(value, tuple) else [value]:
            name = (option.secondary_opts if each is False else option.opts)[0]
            lines.append(name if isinstance(each, bool) else f"{name} {shlex.quote(str(each))}")
    return " \\\n  ".join([*lines, "--out DIR"])


def find_protocol(request: CompareOptions) -> Protocol:
    """Return the protocol with the changes that were asked for."""
    preset = find_named(PROTOCOLS, request.protocol, "protocol", "--protocol")
    given = {RENAMED.get(option, option): getattr(request, option) for option in SETTINGS}
    changes = {name: value for name, value in given.items() if value not in (None, ())}
    if request.labels_per_class is not None:
        changes |= {"n_labelled": None, "labelled_share": None}
    if request.train_size is not None:
        changes["n_unlabelled"] = None
    if request.scaling is not None:
        changes["scaling"] = None if request.scaling == "none" else request.scaling
    with option_errors("--sizes"):
        if request.sizes is not None:
            changes["sizes"] = parse_sizes(request.sizes)
            replace(preset, sizes=changes["sizes"])
    with option_errors("--judge"):
        import_own_classes(request.judge, "judge")
        find_evaluators(request.judge)
    protocol = replace(preset, **changes)
    if replace(protocol, n_runs=preset.n_runs, seed=preset.seed) != preset:
        protocol = replace(protocol, name=f"{preset.name}, changed")
    return protocol


def parse_sizes(text: str) -> tuple[int, ...]:
    """Read numbers and ranges of numbers.

    Examples
    --------
    >>> parse_sizes("1-3,10")
    (1, 2, 3, 10)
    """
    sizes: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", part)
        if match is None:
            raise ValueError(f"must be numbers and ranges, as 1-10 or 5,10,20: got {text!r}.")
        first, last = match.groups(default=match[1])
        sizes.extend(range(int(first), int(last) + 1))
    return tuple(sizes)


# --- classes of the user's own --------------------------------------------------------------------


# kind of what is named -> names that are no classes of the user's own
KNOWN: dict[str, Collection[str]] = {"method": {**METHODS, **BASELINES}, "judge": EVALUATORS}


def own_names(specs: Iterable[str], what: str) -> list[str]:
    """Return the names, with parameters, that represent classes of the user's own.

    Parameters
    ----------
    specs : iterable of str
    what : str
        Key of `KNOWN`.
    """
    return [spec for spec in specs if spec.partition(":")[0].strip() not in KNOWN[what]]


def import_own_classes(specs: Iterable[str], what: str) -> None:
    """Import the classes of the user's own, also from files of the current folder.

    Parameters
    ----------
    specs : iterable of str
        Named on the command line, with or without parameters.
    what : str
        Key of `KNOWN`.
    """
    folder = os.getcwd()
    for spec in own_names(specs, what):
        path, _ = parse(spec, what)
        with _modules_found_in(folder) as was_added:
            own = import_class(path, what, KNOWN[what])
        if was_added:  # processes at work need the folder as well

            def reduce(made: Any, path: str = path) -> tuple[Any, ...]:
                return _new, (folder, path, what), made.__getstate__()

            copyreg.pickle(own, reduce)


def _new(folder: str, path: str, what: str) -> Any:
    with _modules_found_in(folder):
        own: Any = import_class(path, what)
    return own.__new__(own)


@contextmanager
def _modules_found_in(folder: str) -> Iterator[bool]:
    """Let modules lie in a folder, as ``python -m`` does with the current one, in the block alone.

    Were it to stay on the path, any module that is missing would be looked for in it, and a file
    that is called like an optional dependency would be run.

    Yields
    ------
    bool
        Whether it was not on the path already.
    """
    if {"", folder} & set(sys.path):
        yield False
        return
    sys.path.append(folder)
    try:
        yield True
    finally:
        sys.path.remove(folder)
