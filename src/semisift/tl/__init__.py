"""Rankings, markers and labels of cells, from an AnnData and into it, as scanpy's tools do."""

from semisift.utils._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
