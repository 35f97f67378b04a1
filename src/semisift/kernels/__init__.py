"""Compiled functions on plain arrays; absent where no C compiler was found at install time."""

try:
    import semisift.kernels.columns
    import semisift.kernels.dual
    import semisift.kernels.edges
    import semisift.kernels.grow
    import semisift.kernels.heaps
    import semisift.kernels.importance
    import semisift.kernels.neighbours
    import semisift.kernels.nnge
    import semisift.kernels.pct
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


def describe_missing(instead: str, times_slower: int) -> str:
    """Say that the kernels are missing, what serves instead, and how to get them."""
    return (
        f"The compiled kernels of semisift are missing ({MISSING_BECAUSE}), and {instead} "
        f"instead: about {times_slower} times slower. To get the kernels, install a C compiler and "
        "then semisift again: "
        "pip install --force-reinstall --no-deps --no-binary semisift semisift"
    )
