"""Settings of a test of which a few run every day, and the others every night."""

import pytest


def daily(values, n):
    """Return the settings of a test; those after the first `n` are nightly.

    Settings of several parameters are tuples, as in `pytest.mark.parametrize`.
    """
    rest = [value if isinstance(value, tuple) else (value,) for value in values[n:]]
    return [*values[:n], *(pytest.param(*value, marks=pytest.mark.nightly) for value in rest)]
