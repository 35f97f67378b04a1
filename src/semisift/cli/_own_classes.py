"""Classes of the user's own: the only names that are imported, and named by the user alone."""

import copyreg
import os
import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from semisift.comparison._evaluators import EVALUATORS
from semisift.comparison._methods import BASELINES
from semisift.comparison._specs import import_class, parse
from semisift.registry import METHODS

# kind of what is named -> names that are no classes of the user's own
KNOWN: dict[str, Collection[str]] = {"method": {**METHODS, **BASELINES}, "judge": EVALUATORS}


def own_names(specs: Iterable[str], what: str) -> list[str]:
    """Return the names, with parameters, that stand for classes of the user's own.

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
