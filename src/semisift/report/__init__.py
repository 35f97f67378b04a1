"""The report: one HTML file without a network, and the same pictures in Python.

Names are imported when they are first used, so that ``import semisift.report`` loads neither
matplotlib nor jinja2.
"""

from semisift.utils._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
