"""Which cases of a test run every day, and which ones every night only."""

import pytest


def nightly(value):
    """Return a parameter, or a tuple of parameters, that runs at night."""
    values = value if isinstance(value, tuple) else (value,)
    return pytest.param(*values, marks=pytest.mark.nightly)


def daily_are(daily, values):
    """Return all values; those that are not among the daily ones run at night."""
    return [value if value in daily else nightly(value) for value in values]


def few_daily(values, n):
    """Return all values, of which all but `n`, spread evenly, run at night."""
    values = list(values)
    places = {round(place * (len(values) - 1) / max(1, n - 1)) for place in range(n)}
    return [value if i in places else nightly(value) for i, value in enumerate(values)]
