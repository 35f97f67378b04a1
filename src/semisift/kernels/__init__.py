"""Compiled functions on plain arrays; absent where no C compiler was found at install time."""

try:
    from semisift.kernels import columns, grow, importance, plan, votes  # noqa: F401

    AVAILABLE = True
    MISSING_BECAUSE = ""
except ImportError as error:
    AVAILABLE = False
    MISSING_BECAUSE = str(error)
