"""The warnings of semisift."""

__all__ = ["KernelsMissingWarning", "NothingUnlabelledWarning"]


class KernelsMissingWarning(UserWarning):
    """The compiled kernels could not be built, so slower code serves."""


class NothingUnlabelledWarning(UserWarning):
    """Every row is labelled, so a semi-supervised method works as a supervised one."""
