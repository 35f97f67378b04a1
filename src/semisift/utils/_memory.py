"""Memory: how much is free, and how people write sizes."""

import os
import re
from contextlib import suppress
from numbers import Real
from pathlib import Path

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]

# What to do where the memory does not suffice.
FEWER = "Rank fewer features or samples, or use a larger machine."

# So many bytes are not worth a question.
ALWAYS_FITS = 1 << 24

UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")


def available_memory() -> int | None:
    """Return the free memory in bytes; None where the system does not tell."""
    free = None
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvail"))
    except (OSError, StopIteration, ValueError):
        if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
            free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    left = [] if free is None else [free]
    with suppress(OSError, ValueError):  # a container's own limit
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
        left.append(limit - int(Path("/sys/fs/cgroup/memory.current").read_text()))
    with suppress(OSError, ValueError):  # of this process, as a cluster sets it
        if (most := most_addresses()) is not None:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            left.append(most - pages * os.sysconf("SC_PAGE_SIZE"))
    return max(0, min(left)) if left else None


def most_addresses() -> int | None:
    """Return the limit of the address space of a process (``ulimit -v``); None if there is none."""
    if resource is None:
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def check_memory(n_bytes: int, what: str, cure: str) -> None:
    """Refuse work that needs more memory than is free, before it begins.

    Parameters
    ----------
    n_bytes : int
        Needed in any case.
    what : str
        What needs them: "SSFI on 16,000,000 features".
    cure : str
        What needs less, as a sentence.
    """
    if n_bytes > ALWAYS_FITS and (lack := shortage(n_bytes)) is not None:
        raise MemoryError(f"{what} {lack}. {cure}")


def shortage(n_bytes: int, share: float = 1.0) -> str | None:
    """Say how much is needed and how much is free, where a share of that is too little."""
    free = available_memory()
    if free is None or n_bytes <= share * free:
        return None
    part = f", of which {share:.0%} may be used" if n_bytes <= free else ""
    return f"needs {in_words(n_bytes)} of memory, and {in_words(free)} are free{part}"


def in_words(n_bytes: int) -> str:
    """Return a size as people say it.

    Examples
    --------
    >>> in_words(4_200_000_000)
    '4.2 GB'
    """
    size = float(n_bytes)
    for unit in UNITS[:-1]:
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} {UNITS[-1]}"


def read_size(value: int | float | str, name: str) -> int:
    """Return the bytes that a user means.

    Parameters
    ----------
    value : int or str
        Bytes, or a number with a unit of a thousand, a million, ... bytes.
    name : str
        Of the parameter, for messages.

    Returns
    -------
    int

    Examples
    --------
    >>> read_size("4GB", "max_memory"), read_size("1.5 mb", "max_memory")
    (4000000000, 1500000)
    """
    size = None
    if isinstance(value, Real) and not isinstance(value, bool):
        size = float(value)
    elif isinstance(value, str):
        told = re.fullmatch(r"\s*(\d+\.?\d*)\s*([kmgtp]?)i?(?:b|bytes)?\s*", value, re.IGNORECASE)
        if told is not None:
            size = float(told[1]) * 1000.0 ** " kmgtp".index(told[2].lower() or " ")
    if size is None or not 1 <= size < 1e18:
        raise ValueError(f"{name} must be a number of bytes, such as 4GB or 500MB: got {value!r}.")
    return int(size)
