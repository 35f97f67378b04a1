"""What parameters must be: the errors name them, the rule and the value."""

from numbers import Integral, Real
from typing import Any

import numpy as np

from semisift._memory import read_size
from semisift._words import quoted
from semisift.outcome.mixin import RULES


def check_flag(value: Any, name: str, *, or_none: bool = False) -> None:
    """Refuse what is neither True nor False."""
    if isinstance(value, bool | np.bool_) or (or_none and value is None):
        return
    rule = "None, True or False" if or_none else "True or False"
    raise ValueError(f"{name} must be {rule}: got {quoted(value)}.")


def check_whole(value: Any, name: str, least: int = 1) -> None:
    """Refuse what is no whole number, or too low."""
    if not _is_whole(value) or value < least:
        raise ValueError(f"{name} must be a whole number, {least} or more: got {quoted(value)}.")


def check_seed(value: Any) -> None:
    """Refuse what is no whole number: results must come out the same again."""
    if not _is_whole(value):
        raise ValueError(f"random_state must be a whole number: got {quoted(value)}.")


def check_jobs(value: Any) -> None:
    """Refuse numbers of threads that joblib does not take."""
    if value is not None and (not _is_whole(value) or value == 0):
        raise ValueError(
            f"n_jobs must be None or a whole number other than 0, -1 for all processors: got "
            f"{quoted(value)}."
        )


def check_memory(value: Any) -> None:
    """Refuse what is no number of bytes."""
    if value is not None:
        read_size(value, "max_memory")


def check_number_of_genes(value: Any) -> None:
    """Refuse what says neither how many genes to select, nor which share, nor by which rule."""
    if value is None or (_is_whole(value) and value >= 1):
        return
    if isinstance(value, Real) and not isinstance(value, Integral) and 0 < float(value) <= 1:
        return
    if isinstance(value, str) and value in RULES:
        return
    rules = " or ".join(map(quoted, RULES))
    raise ValueError(
        "n_features must be None, a whole number of 1 or more, a share above 0 and up to 1, or "
        f"{rules}: got {quoted(value)}."
    )


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
