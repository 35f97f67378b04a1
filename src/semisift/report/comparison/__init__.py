"""The report of a comparison: pictures, tables, one HTML file, and pages for documents."""

from semisift.utils._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
