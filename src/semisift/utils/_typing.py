"""Pure functions on arrays that more than one method uses."""

import numpy as np
from numpy.typing import NDArray

# The arrays of signatures; docstrings say which shape they have.
Floats = NDArray[np.float64]
Ints = NDArray[np.integer]
Bools = NDArray[np.bool_]
