"""Where numbers come from, as files keep it: versions, and values that JSON holds."""

import math
import platform
from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from semisift.utils._text import format_value

PACKAGES = ("numpy", "scipy", "scikit-learn")


@cache  # reading one takes 2 ms
def version_of(package: str = "semisift") -> str:
    """Return the version of an installed package."""
    try:
        return version(package)
    except PackageNotFoundError:  # a source tree that is not installed
        return "0+unknown"


def versions(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """Return what numbers depend on: semisift, Python and these packages."""
    own = {"semisift": version_of(), "python": platform.python_version()}
    return own | {name: version_of(name) for name in packages}


def plain(value: Any, as_text: Callable[[Any], str] = format_value) -> Any:
    """Return a value as reading it back from JSON would give it; what JSON cannot hold as text.

    Examples
    --------
    >>> plain({"sizes": (1, 2), "value": float("nan"), "most": float("inf"), "class": dict})
    {'sizes': [1, 2], 'value': None, 'most': 'inf', 'class': "<class 'dict'>"}
    """
    if isinstance(value, dict):
        return {str(name): plain(part, as_text) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part, as_text) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(float(value))
    if isinstance(value, str | int | float | None):
        return float(value) if isinstance(value, float) else value  # numpy's are Python's, too
    return plain(value.tolist(), as_text) if hasattr(value, "tolist") else as_text(value)
