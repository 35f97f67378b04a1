"""Semi-supervised feature selection in the manner of scikit-learn.

Names are imported when they are first used, so that ``import semisift`` loads neither numpy nor
scikit-learn.
"""

from semisift.utils._lazy import lazy_names

_find, _, _names = lazy_names(__name__, __file__)

__all__ = [*_names, "__version__"]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from semisift.utils._metadata import version_of

        return version_of()
    return _find(name)


def __dir__() -> list[str]:
    return sorted(__all__)
