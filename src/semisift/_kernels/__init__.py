"""Functions on plain arrays: compiled, or in numpy where no C compiler was found at install time.

This is the one place that decides. ``_kernels.dual`` is the compiled module or the one in
`fallback`, so a caller need not ask. Trees that are grown, vote and are permuted (`grow`, `votes`,
`importance`), and the members of EnsCLS (`neighbours`), are compiled only: where another method
takes their place, `are_compiled` tells.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

from semisift.exceptions import CompiledKernelsMissingWarning
from semisift.utils._warnings import warn

WITH_FALLBACK = ("columns", "dual", "edges", "heaps", "nnge", "passes", "pct", "plan", "tables")

# Measured: benchmarks/enscls.py 5 to 12 times, benchmarks/ssfi.py --part no-kernels 40 to 200,
# benchmarks/modern.py --part no-kernels 8 for S3VMRFE, 11 to 34 for trees, 30 and 104 for NNge.
TIMES_SLOWER = (
    "EnsCLS about 10 times, S3VMRFE about 10, PCTForestImportance about 20, committees of trees "
    "such as SSFI about 100, NNge 30 to 100"
)

try:
    import semisift._kernels.columns
    import semisift._kernels.dual
    import semisift._kernels.edges
    import semisift._kernels.grow
    import semisift._kernels.heaps
    import semisift._kernels.importance
    import semisift._kernels.neighbours
    import semisift._kernels.nnge
    import semisift._kernels.passes
    import semisift._kernels.pct
    import semisift._kernels.plan
    import semisift._kernels.tables
    import semisift._kernels.votes  # noqa: F401

    _missing_because = ""
except ModuleNotFoundError:
    _missing_because = "they were not built when it was installed"
except ImportError as error:
    _missing_because = f"they do not load: {error}"


def are_compiled() -> bool:
    """Return whether the compiled functions serve."""
    return not _missing_because


@contextmanager
def numpy_only(because: str = "they were put aside") -> Iterator[None]:
    """Let numpy serve as where the kernels are missing, to test and to measure that."""
    global _missing_because
    before = _missing_because
    _missing_because = before or because
    warn_if_missing.cache_clear()
    compiled = _put_aside()
    try:
        yield
    finally:
        _missing_because = before
        if not before:
            globals().update(compiled)
        warn_if_missing.cache_clear()


@cache  # one warning a process, whatever the filters
def warn_if_missing() -> None:
    """Say that the kernels are missing, what that costs, and how to get them."""
    if _missing_because:
        warn(
            f"The compiled kernels of semisift are missing ({_missing_because}), and numpy and "
            f"scikit-learn serve instead, which is slower: {TIMES_SLOWER}. To get the kernels, "
            "install a C compiler and then semisift again: "
            "pip install --force-reinstall --no-deps --no-binary semisift semisift",
            CompiledKernelsMissingWarning,
        )


def _put_aside() -> dict[str, Any]:
    """Return the compiled modules that have a fallback, which `__getattr__` finds from now on."""
    return {name: globals().pop(name) for name in WITH_FALLBACK if name in globals()}


def __getattr__(name: str) -> Any:
    if name not in WITH_FALLBACK:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # on first use: the fallbacks stand on modules that stand on this one
    globals()[name] = import_module(f"semisift._kernels.fallback.{name}")
    return globals()[name]


if _missing_because:
    _put_aside()  # those that did load
