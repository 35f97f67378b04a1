"""Pictures of what `semisift.tl` wrote into an AnnData."""

from semisift.utils._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
