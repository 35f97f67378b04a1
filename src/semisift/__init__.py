"""Semi-supervised feature selection in the manner of scikit-learn.

Names are imported when they are first used, so that ``import semisift`` loads neither numpy nor
scikit-learn.
"""

from semisift._lazy import lazy_names
from semisift.outcome.shown import register_renderer

_find, _, _names = lazy_names(__name__, __file__)

__all__ = [*_names, "__version__"]

# Rankers stand below the report that shows what came out of them.
register_renderer("semisift.report")


def __getattr__(name: str) -> object:
    if name == "__version__":
        from semisift._provenance import version_of

        return version_of()
    return _find(name)


def __dir__() -> list[str]:
    return sorted(__all__)
