"""How long the property tests run: SEMISIFT_PROPERTIES is "ci", "long", or a number of tables."""

import os
import zlib

from hypothesis import HealthCheck, settings

ASKED = os.environ.get("SEMISIFT_PROPERTIES", "ci")
IS_LONG = ASKED != "ci"
LONG = int(ASKED) if ASKED.isdecimal() else 200

COMMON = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
settings.register_profile("ci", max_examples=1, derandomize=True, **COMMON)
settings.register_profile("long", max_examples=LONG, print_blob=True, **COMMON)
settings.load_profile("long" if IS_LONG else "ci")

# For what takes no fit.
several = settings(max_examples=LONG if IS_LONG else 8)


# What represents all methods in the daily run: two filters, a graph, an ensemble, a wrapper, an
# embedded method, the consensus, and classifiers.
REPRESENTATIVES = {
    *("fisher", "variance", "sselect", "ssfi", "fw-semifs", "rlsr", "consensus", "transductive"),
    *("self-training", "tri-training", "transduction", "nnge"),
}


def some(values, by, n=1):
    """Return all of a list in a long run, otherwise a few that differ from test to test."""
    if IS_LONG or len(values) <= n:
        return list(values)
    return sorted(values, key=lambda value: zlib.crc32(f"{value} {by}".encode()))[:n]
