"""Parameters of which a few run every day, and the others at night."""

import pytest


def nightly(value):
    """Return a parameter, or a tuple of parameters, that runs at night."""
    values = value if isinstance(value, tuple) else (value,)
    return pytest.param(*values, marks=pytest.mark.nightly)


def daily_are(daily, values):
    """Return all values; those that are not among the daily ones run at night."""
    return [value if value in daily else nightly(value) for value in values]
