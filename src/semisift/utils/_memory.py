"""Memory: how much is free, and how people write sizes."""

import os
import re
from contextlib import suppress
from numbers import Real
from pathlib import Path, PurePosixPath

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]

# What to do where the memory does not suffice.
FEWER = "Rank fewer features or samples, or use a larger machine."

# So many bytes are not worth a question.
ALWAYS_FITS = 1 << 24

# A limit of a control group, version 1, and what is used of it.
V1_FILES = "memory.limit_in_bytes", "memory.usage_in_bytes"

UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")


def available_memory() -> int | None:
    """Return the free memory in bytes, within the limits of this process; None if unknown."""
    found = [free_on_machine(), left_in_cgroups(), _left_of_addresses()]
    left = [n_bytes for n_bytes in found if n_bytes is not None]
    return max(0, min(left)) if left else None


def free_on_machine(meminfo: Path = Path("/proc/meminfo")) -> int | None:
    """Return what the whole machine has left; half of its memory where it says no more."""
    with suppress(OSError, StopIteration, ValueError):  # psutil would read the same
        lines = meminfo.read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvail"))
    with suppress(ImportError, OSError, RuntimeError):
        import psutil

        return int(psutil.virtual_memory().available)
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return None  # Windows, without psutil
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def left_in_cgroups(process: Path = Path("/proc/self")) -> int | None:
    """Return what the control groups of a process, as of a job or container, leave to it.

    A limit of a group holds for those inside it, so that the tightest of all above counts. Pages of
    files that were read and are not in use count as free.
    """
    left = []
    with suppress(OSError, ValueError):  # not on Linux
        lines = (process / "cgroup").read_text().splitlines()
        own = {
            name: path
            for _, names, path in (line.split(":", 2) for line in lines)
            for name in names.split(",")
        }
        for line in (process / "mountinfo").read_text().splitlines():
            place, _, kind = line.partition(" - ")
            if kind.startswith("cgroup2 "):
                group, files = own.get(""), ("memory.max", "memory.current")
            elif kind.startswith("cgroup ") and "memory" in kind.split()[-1].split(","):
                group, files = own.get("memory"), V1_FILES
            else:
                continue
            root, mount = place.split()[3:5]
            inside = PurePosixPath(group or root)
            # seen from inside of a container, its own group is the root
            parts = inside.relative_to(root).parts if inside.is_relative_to(root) else ()
            for depth in range(len(parts) + 1):
                left.append(_left_in(Path(mount, *parts[:depth]), *files))
    return min((n_bytes for n_bytes in left if n_bytes is not None), default=None)


def _left_in(group: Path, limit: str, used: str) -> int | None:
    with suppress(OSError, ValueError):  # "max" is no limit
        left = int((group / limit).read_text()) - int((group / used).read_text())
        lines = (group / "memory.stat").read_text().splitlines()
        statistics = dict(line.split() for line in lines)
        return left + int(statistics.get("total_inactive_file", statistics.get("inactive_file", 0)))
    return None


def _left_of_addresses() -> int | None:
    with suppress(OSError, ValueError):
        if (most := most_addresses()) is not None:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            return most - pages * os.sysconf("SC_PAGE_SIZE")
    return None


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
        match = re.fullmatch(r"\s*(\d+\.?\d*)\s*([kmgtp]?)i?(?:b|bytes)?\s*", value, re.IGNORECASE)
        if match is not None:
            size = float(match[1]) * 1000.0 ** " kmgtp".index(match[2].lower() or " ")
    if size is None or not 1 <= size < 1e18:
        raise ValueError(f"{name} must be a number of bytes, such as 4GB or 500MB: got {value!r}.")
    return int(size)
