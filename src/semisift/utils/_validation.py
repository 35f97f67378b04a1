"""What parameters must be: the errors name them, the rule and the value."""

import os
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift.utils._memory import read_size
from semisift.utils._text import is_writable, quote

MAX_COUNTED = 2**31 - 1
LARGEST_SEED = 2**32 - 1

NONE_OR = "None or "


def check(is_right: bool, value: Any, name: str, rule: str) -> None:
    """Refuse a value that breaks the rule of its parameter."""
    if not is_right:
        raise ValueError(f"{name} must be {rule}: got {quote(value)}.")


def check_flag(value: Any, name: str, *, or_none: bool = False) -> None:
    """Refuse what is neither True nor False."""
    is_right = isinstance(value, bool | np.bool_) or (or_none and value is None)
    check(is_right, value, name, "None, True or False" if or_none else "True or False")


def check_integer(
    value: Any, name: str, least: int = 1, most: int = MAX_COUNTED, *, or_none: bool = False
) -> None:
    """Refuse what is no whole number, too low, or beyond all that can be counted."""
    is_beyond = is_integer(value) and value > most
    rule = f"from {least} to {most:,}" if is_beyond else f"{least} or more"
    is_right = (or_none and value is None) or (is_integer(value) and least <= value <= most)
    check(is_right, value, name, f"{NONE_OR * or_none}a whole number, {rule}")


def check_above_zero(value: Any, name: str) -> None:
    """Refuse what is neither None nor a number above 0."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    check(value is None or (is_number and value > 0), value, name, "None or a number above 0")


def check_choice(value: Any, name: str, choices: Sequence[str]) -> None:
    """Refuse what is none of a few words."""
    known = f"{', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}"
    check(isinstance(value, str) and value in choices, value, name, known)


def check_text(value: Any, name: str, *, or_none: bool = False) -> None:
    """Refuse what is no text that can be written."""
    is_right = is_writable(value) or (or_none and value is None)
    check(is_right, value, name, f"{NONE_OR * or_none}a text")


def check_path(value: Any, name: str, *, or_none: bool = False) -> None:
    """Refuse what names no file or folder."""
    try:
        is_path = b"\0" not in (os.fsencode(value) or b"\0") and not isinstance(value, bytes)
    except (TypeError, UnicodeEncodeError):
        is_path = or_none and value is None
    check(is_path, value, name, f"{NONE_OR * or_none}a path")


def check_callable(value: Any, name: str) -> None:
    """Refuse what is neither None nor can be called."""
    check(value is None or callable(value), value, name, "None or a function")


def check_seed(value: Any) -> None:
    """Refuse what is no whole number: results must come out the same again."""
    check(is_integer(value), value, "random_state", "a whole number")


def check_jobs(value: Any) -> None:
    """Refuse numbers of threads that joblib does not take."""
    is_number = is_integer(value) and 0 < abs(value) <= MAX_COUNTED
    rule = "None or a whole number other than 0, -1 for all processors"
    check(value is None or is_number, value, "n_jobs", rule)


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
