"""Compiled functions on plain arrays; absent where no C compiler was found at install time."""

try:
    from semisift.kernels import columns, grow, importance, plan, votes  # noqa: F401

    AVAILABLE = True
except ImportError:
    AVAILABLE = False
