"""The warnings of semisift."""

__all__ = ["NothingUnlabelledWarning"]


class NothingUnlabelledWarning(UserWarning):
    """Every row is labelled, so a semi-supervised method works as a supervised one."""
