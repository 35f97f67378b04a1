"""The errors and warnings of semisift."""

__all__ = ["KernelsMissingWarning", "NothingUnlabelledWarning", "TableError"]


class KernelsMissingWarning(UserWarning):
    """The compiled kernels could not be built, so slower code serves."""


class NothingUnlabelledWarning(UserWarning):
    """Every row is labelled, so a semi-supervised method works as a supervised one."""


class TableError(ValueError):
    """A file cannot be read as a table, or what it holds cannot be ranked as it stands.

    The message names the file, the place, the rule and the way out.
    """
