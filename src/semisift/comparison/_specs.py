"""Names with parameters, as ``knn:n_neighbors=3`` and ``package.module.Class:depth=2``."""

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from semisift.utils._text import python_value, quote


def parse(spec: str, what: str) -> tuple[str, dict[str, Any]]:
    """Split a name from its parameters.

    Parameters
    ----------
    spec : str
    what : str
        What it names, for messages.

    Returns
    -------
    name : str
    parameters : dict
        Values as Python reads them; what is no Python value is a string.

    Examples
    --------
    >>> parse("ssfi:variant=paper:n_members=50", "method")
    ('ssfi', {'variant': 'paper', 'n_members': 50})
    """
    name, *parts = spec.split(":")
    try:
        return name.strip(), parse_settings(parts)
    except ValueError as error:
        raise ValueError(f"{what} {spec!r}: {error}") from error


def parse_settings(parts: Iterable[str]) -> dict[str, Any]:
    """Read ``NAME=VALUE`` of parameters, each of them once.

    Examples
    --------
    >>> parse_settings(["variant=paper", "n_members = 50"])
    {'variant': 'paper', 'n_members': 50}
    """
    settings: dict[str, Any] = {}
    for part in parts:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name:
            raise ValueError(f"{part!r} must be NAME=VALUE, as in variant=paper.")
        if name in settings:
            raise ValueError(f"{name} is given twice.")
        settings[name] = python_value(value)
    return settings


def make(
    spec: str,
    known: Mapping[str, Callable[..., Any]],
    what: str,
    names: Iterable[str] | None = None,
) -> Any:
    """Make what a name with parameters represents.

    Parameters
    ----------
    spec : str
        A key of `known` or the dotted path of a class with ``fit``, with parameters.
    known : mapping of str to callable
    what : str
        What it names, for messages.
    names : iterable of str, optional
        All names that there are, for messages; None is those of `known`.

    Returns
    -------
    object
    """
    name, parameters = parse(spec, what)
    maker = known[name] if name in known else import_class(name, what, names or known)
    try:
        return maker(**parameters)
    except TypeError as error:
        raise ValueError(f"{what} {spec!r}: {error}.{_accepted(maker)}") from error


def _accepted(maker: Callable[..., Any]) -> str:
    try:
        return f" Parameters are {', '.join(inspect.signature(maker).parameters)}."
    except (TypeError, ValueError):  # no function, or one that does not tell
        return ""


def import_class(name: str, what: str, known: Iterable[str] = ()) -> type[Any]:
    """Import a class of the user's own; nothing but a class with ``fit`` will do.

    Whoever calls it makes sure that the name is the user's: one that was read from a file is not.

    Parameters
    ----------
    name : str
        Dotted path.
    what : str
        What it names, for messages.
    known : iterable of str
        All names that need no import, for messages.
    """
    module, _, attribute = name.rpartition(".")
    if not module:
        raise ValueError(
            f"there is no {what} {name!r}. There are {', '.join(known)}; for one of your own, give "
            "the path of its class: package.module.Class."
        )
    try:
        found: type[Any] = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"{what} {name!r} cannot be imported: {error}.") from error
    if not inspect.isclass(found) or not callable(getattr(found, "fit", None)):
        raise ValueError(f"{what} {name!r} must be a class with fit(X, y): got {quote(found)}.")
    return found


def set_seeds(estimator: Any, seed: int) -> None:
    """Set the random states of an estimator, also nested ones."""
    settings = estimator.get_params() if hasattr(estimator, "get_params") else {}
    names = [name for name in settings if name.rpartition("__")[2] == "random_state"]
    if names:
        estimator.set_params(**dict.fromkeys(names, seed))
