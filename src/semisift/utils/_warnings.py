"""Warnings that point at the line of the user, however deep they come from."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

# Packages whose frames are not the user's: this one, what calls it in a pipeline or a search, and
# the contexts around its functions.
NOT_THE_USER = frozenset({"semisift", "sklearn", "joblib", "contextlib"})

_is_quiet = ContextVar("_is_quiet", default=False)


class _WhereQuiet(type):
    """Every warning is of this kind where `quiet` is in force, and none elsewhere."""

    def __subclasscheck__(cls, category: type) -> bool:
        return _is_quiet.get()


class _Unwanted(Warning, metaclass=_WhereQuiet):
    """What the one filter of `quiet` leaves out."""


@contextmanager
def quiet() -> Iterator[None]:
    """Leave out the warnings of this thread until the context is left.

    There is one list of filters for all threads, so none is put back: the filter stays, and holds
    for threads that are quiet alone.
    """
    token = _is_quiet.set(True)
    try:
        if not warnings.filters or warnings.filters[0][2] is not _Unwanted:
            warnings.simplefilter("ignore", _Unwanted)
        yield
    finally:
        _is_quiet.reset(token)


def warn(message: str, category: type[Warning]) -> None:
    """Warn as if on the line that called the library.

    Parameters
    ----------
    message : str
    category : type of Warning
    """
    frame: Any = sys._getframe(1)
    level = 2
    while frame.f_back is not None and _package(frame) in NOT_THE_USER:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _package(frame: Any) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
