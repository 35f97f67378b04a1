"""Rankers that score each column by a formula."""

from semisift.utils._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
