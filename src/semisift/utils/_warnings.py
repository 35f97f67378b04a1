"""Warnings that point at the line of the user, however deep they come from."""

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Packages whose frames are not the user's: this one, what calls it in a pipeline or a search, and
# the contexts around its functions.
NOT_THE_USER = frozenset({"semisift", "sklearn", "joblib", "contextlib"})


_lock = threading.Lock()
_n_quiet = 0
_caught: Any = None


@contextmanager
def quiet() -> Iterator[None]:
    """Leave warnings out until the context is left.

    There is one list of filters for the whole process. Where several threads overlap, the first to
    come changes it, and the last to leave puts it back.
    """
    global _n_quiet, _caught
    with _lock:
        if not _n_quiet:
            _caught = warnings.catch_warnings()
            _caught.__enter__()
            warnings.simplefilter("ignore")
        _n_quiet += 1
    try:
        yield
    finally:
        with _lock:
            _n_quiet -= 1
            if not _n_quiet:
                _caught.__exit__(None, None, None)


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
