"""Warnings that point at the line of the user, however deep they come from."""

import sys
import warnings
from typing import Any

# Packages whose frames are not the user's: this one, what calls it in a pipeline or a search, and
# the contexts around its functions.
NOT_THE_USER = frozenset({"semisift", "sklearn", "joblib", "contextlib"})


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
