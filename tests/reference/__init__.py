"""Slow, obvious versions of the committee methods, the check on the compiled kernels.

Plain loops over plain numbers, written from the specification alone: nothing here imports
semisift. ``sklearn_ssfi`` holds the scikit-learn versions that the benchmarks race against.
"""

from tests.reference.forest import forest
from tests.reference.sefr import sefr
from tests.reference.sklearn_ssfi import sklearn_sefr, sklearn_ssfi
from tests.reference.ssfi import ssfi

__all__ = ["forest", "sefr", "sklearn_sefr", "sklearn_ssfi", "ssfi"]
