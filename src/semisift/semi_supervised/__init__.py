"""Classifiers for partly labelled data, and some that other methods are built on."""

from semisift.utils._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
