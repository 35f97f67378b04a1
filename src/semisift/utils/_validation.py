"""What parameters must be: the errors name them, the rule and the value."""

import os
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift.utils._memory import read_size
from semisift.utils._text import is_writable, quote

MOST_COUNTED = 2**31 - 1
LARGEST_SEED = 2**32 - 1


def check_flag(value: Any, name: str, *, or_none: bool = False) -> None:
    """Refuse what is neither True nor False."""
    if isinstance(value, bool | np.bool_) or (or_none and value is None):
        return
    rule = "None, True or False" if or_none else "True or False"
    raise ValueError(f"{name} must be {rule}: got {quote(value)}.")


def check_integer(
    value: Any, name: str, least: int = 1, most: int = MOST_COUNTED, *, or_none: bool = False
) -> None:
    """Refuse what is no whole number, too low, or beyond all that can be counted."""
    if (or_none and value is None) or (is_integer(value) and least <= value <= most):
        return
    is_beyond = is_integer(value) and value > most
    rule = f"from {least} to {most:,}" if is_beyond else f"{least} or more"
    rule = f"{'None or ' if or_none else ''}a whole number, {rule}"
    raise ValueError(f"{name} must be {rule}: got {quote(value)}.")


def check_above_zero(value: Any, name: str) -> None:
    """Refuse what is neither None nor a number above 0."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if value is not None and not (is_number and value > 0):
        raise ValueError(f"{name} must be None or a number above 0: got {quote(value)}.")


def check_choice(value: Any, name: str, choices: Sequence[str]) -> None:
    """Refuse what is none of a few words."""
    if not isinstance(value, str) or value not in choices:
        known = f"{', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}"
        raise ValueError(f"{name} must be {known}: got {quote(value)}.")


def check_text(value: Any, name: str, *, or_none: bool = False) -> None:
    """Refuse what is no text that can be written."""
    if not is_writable(value) and not (or_none and value is None):
        rule = "None or a text" if or_none else "a text"
        raise ValueError(f"{name} must be {rule}: got {quote(value)}.")


def check_path(value: Any, name: str, *, or_none: bool = False) -> None:
    """Refuse what names no file or folder."""
    if or_none and value is None:
        return
    try:
        is_path = b"\0" not in (os.fsencode(value) or b"\0") and not isinstance(value, bytes)
    except (TypeError, UnicodeEncodeError):
        is_path = False
    if not is_path:
        rule = "None or a path" if or_none else "a path"
        raise ValueError(f"{name} must be {rule}: got {quote(value)}.")


def check_callable(value: Any, name: str) -> None:
    """Refuse what is neither None nor can be called."""
    if value is not None and not callable(value):
        raise ValueError(f"{name} must be None or a function: got {quote(value)}.")


def check_seed(value: Any) -> None:
    """Refuse what is no whole number: results must come out the same again."""
    if not is_integer(value):
        raise ValueError(f"random_state must be a whole number: got {quote(value)}.")


def check_jobs(value: Any) -> None:
    """Refuse numbers of threads that joblib does not take."""
    is_number = is_integer(value) and 0 < abs(value) <= MOST_COUNTED
    if value is not None and not is_number:
        raise ValueError(
            f"n_jobs must be None or a whole number other than 0, -1 for all processors: got "
            f"{quote(value)}."
        )


def check_memory(value: Any) -> None:
    """Refuse what is no number of bytes."""
    if value is not None:
        read_size(value, "max_memory")


def is_integer(value: Any) -> bool:
    """Tell whether something is a whole number, and no truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def as_numbers(value: Any) -> NDArray[np.float64]:
    """Return an array of numbers; a single NaN for what holds none, for the caller to refuse."""
    try:
        array = as_array(value)
        if array.dtype.kind in "biufO":
            return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    return np.array([[np.nan]])


def as_array(value: Any) -> NDArray[Any]:
    """Return an array, for the caller to refuse.

    Lists of unlike lengths are an array of objects, masked values are None.

    Examples
    --------
    >>> as_array([[1], [2, 3]]).shape, as_array(np.ma.array([1, 2], mask=[True, False])).tolist()
    ((2,), [None, 2])
    """
    if np.ma.is_masked(value):
        masked: NDArray[Any] = np.ma.getdata(value).astype(object)
        masked[np.ma.getmaskarray(value)] = None
        return masked
    try:
        return np.asarray(value)
    except ValueError:
        return np.asarray(value, dtype=object)
