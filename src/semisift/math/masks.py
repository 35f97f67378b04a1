"""Sets of rows as the bit masks of the kernels: row r is bit ``r % 64`` of word ``r // 64``."""

import numpy as np
from numpy.typing import NDArray

from semisift.math import Bools


def row_mask(rows: Bools) -> NDArray[np.uint64]:
    """Pack booleans, along the last axis, into bit masks.

    Parameters
    ----------
    rows : boolean array of shape (..., n_rows)

    Returns
    -------
    uint64 array of shape (..., n_words)

    Examples
    --------
    >>> import numpy as np
    >>> row_mask(np.array([True, False, True]))
    array([5], dtype=uint64)
    """
    n_rows = rows.shape[-1]
    padding = [(0, 0)] * (rows.ndim - 1) + [(0, -n_rows % 64)]
    packed = np.packbits(np.pad(rows, padding), axis=-1, bitorder="little")
    return packed.view("<u8").astype(np.uint64, copy=False)


def unmask(mask: NDArray[np.uint64], n_rows: int) -> Bools:
    """Unpack bit masks, along the last axis, into booleans.

    Parameters
    ----------
    mask : uint64 array of shape (..., n_words)
    n_rows : int

    Returns
    -------
    boolean array of shape (..., n_rows)

    Examples
    --------
    >>> import numpy as np
    >>> unmask(np.array([5], dtype=np.uint64), 3)
    array([ True, False,  True])
    """
    bytes_ = np.ascontiguousarray(mask, dtype="<u8").view(np.uint8)
    return np.unpackbits(bytes_, axis=-1, count=n_rows, bitorder="little").view(np.bool_)
