"""Reading and writing tables, for Python and for the command line.

Loaded when used: the command line lists its options without numpy.
"""

from semisift.utils._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
