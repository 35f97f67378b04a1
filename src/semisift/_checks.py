"""What parameters must be: the errors name them, the rule and the value."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift._memory import read_size
from semisift._words import quoted


def check_flag(value: Any, name: str, *, or_none: bool = False) -> None:
    """Refuse what is neither True nor False."""
    if isinstance(value, bool | np.bool_) or (or_none and value is None):
        return
    rule = "None, True or False" if or_none else "True or False"
    raise ValueError(f"{name} must be {rule}: got {quoted(value)}.")


def check_whole(value: Any, name: str, least: int = 1) -> None:
    """Refuse what is no whole number, or too low."""
    if not is_whole(value) or value < least:
        raise ValueError(f"{name} must be a whole number, {least} or more: got {quoted(value)}.")


def check_seed(value: Any) -> None:
    """Refuse what is no whole number: results must come out the same again."""
    if not is_whole(value):
        raise ValueError(f"random_state must be a whole number: got {quoted(value)}.")


def check_jobs(value: Any) -> None:
    """Refuse numbers of threads that joblib does not take."""
    if value is not None and (not is_whole(value) or value == 0):
        raise ValueError(
            f"n_jobs must be None or a whole number other than 0, -1 for all processors: got "
            f"{quoted(value)}."
        )


def check_memory(value: Any) -> None:
    """Refuse what is no number of bytes."""
    if value is not None:
        read_size(value, "max_memory")


def is_whole(value: Any) -> bool:
    """Tell whether something is a whole number, and no truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def as_numbers(value: Any) -> NDArray[np.float64]:
    """Return an array of numbers; a single NaN for what holds none, for the caller to refuse."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return np.array([[np.nan]])


def as_array(value: Any) -> NDArray[Any]:
    """Return an array; one of objects for lists of unlike lengths, for the caller to refuse."""
    try:
        return np.asarray(value)
    except ValueError:
        return np.asarray(value, dtype=object)
