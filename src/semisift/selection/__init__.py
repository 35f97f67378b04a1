"""What came out of a fit: the ranking, correlated features, the selection and how sure all is.

`_result` holds it in one object, `_summary` writes its sentences. Three rules decide how many
features to select: permuted copies (`_shadow`), resampling (`_stability`) and modelled copies
(`_knockoff`); `_assessment` tells how much a ranking depends on the rows and on the labels.
"""

from semisift.utils._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
