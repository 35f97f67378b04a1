"""How large whole numbers that the user gives may be."""

from numbers import Integral
from typing import Any

from sklearn.utils._param_validation import Interval

# What compiled code can count; more would overflow long after it was given.
MOST = 2**31 - 1

# A committee of so many takes days and gigabytes: a larger number is a slip of the pen.
MOST_MEMBERS = 1_000_000

# None is 1 unless a joblib context says otherwise.
JOBS: list[Any] = [None, Interval(Integral, -10_000, 10_000, closed="both")]


def at_least(low: int, most: int = MOST) -> Interval:
    """Return the constraint of a parameter that is a whole number.

    Examples
    --------
    >>> print(at_least(1))
    an int in the range [1, 2147483647]
    """
    return Interval(Integral, low, most, closed="both")
