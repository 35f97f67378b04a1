"""Which cases of a test run daily: a few, spread evenly; all others run nightly."""

import pytest


def few_daily(cases, n):
    """Return all cases, of which all but n are marked nightly."""
    cases = list(cases)
    daily = {round(place * (len(cases) - 1) / max(1, n - 1)) for place in range(n)}
    return [
        case if place in daily else pytest.param(*_values(case), marks=pytest.mark.nightly)
        for place, case in enumerate(cases)
    ]


def _values(case):
    return case if isinstance(case, tuple) else (case,)
