"""Classifiers that label rows for themselves or for one another."""

from semisift._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
