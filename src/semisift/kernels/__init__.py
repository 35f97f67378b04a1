"""Compiled functions on plain arrays; absent where no C compiler was found at install time."""

try:
    import semisift.kernels.columns
    import semisift.kernels.edges
    import semisift.kernels.grow
    import semisift.kernels.importance
    import semisift.kernels.neighbours
    import semisift.kernels.plan
    import semisift.kernels.votes  # noqa: F401

    AVAILABLE = True
    MISSING_BECAUSE = ""
except ModuleNotFoundError:
    AVAILABLE = False
    MISSING_BECAUSE = "they were not built when it was installed"
except ImportError as error:
    AVAILABLE = False
    MISSING_BECAUSE = f"they do not load: {error}"
