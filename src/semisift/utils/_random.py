"""Counter-based random numbers in numpy: the streams of kernels/streams.pxd, bit for bit.

Word j of a stream is a hash of the stream's key and j (splitmix64), and the key a hash of the seed,
the committee member and the purpose. So a member's draws depend on nobody else's.

Sets of rows as the bit masks of the kernels: row r is bit ``r % 64`` of word ``r // 64``.
"""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from semisift.utils._typing import Bools, Floats, Ints

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Purpose(IntEnum):
    """What a stream is drawn for."""

    SUBSPACE = 0
    LABELLED_BAG = 1
    UNLABELLED_BAG = 2
    TIES = 3
    PERMUTATION = 4
    NODE_SUBSPACE = 5  # + the node's number: the last purpose


def _mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def stream_words(seed: int, member: int | Ints, purpose: int, counters: Ints) -> NDArray[np.uint64]:
    """Return the words of one stream at the given counters, or those of several members.

    Parameters
    ----------
    seed : int
    member : int or int array of shape (n_members, 1)
    purpose : int
        A `Purpose`; of nodes, `NODE_SUBSPACE` plus the number of the node.
    counters : int array

    Returns
    -------
    uint64 array of the shape of `counters`, or of shape (n_members, length of `counters`)
    """
    with np.errstate(over="ignore"):
        key = _mix(np.array([seed], dtype=np.uint64) + GOLDEN * np.asarray(member + 1, np.uint64))
        key = _mix(key + GOLDEN * np.uint64(purpose + 1))
        return _mix(key + GOLDEN * (counters.astype(np.uint64) + np.uint64(1)))


def unit_interval(words: NDArray[np.uint64]) -> Floats:
    """Return a number from [0, 1) for each word, by its highest 53 bits."""
    return np.asarray((words >> np.uint64(11)) * 2.0**-53)


def draw_below(seed: int, member: int | Ints, purpose: int, counters: Ints, n: int) -> Ints:
    """Return draws from 0, ..., n - 1; two of them share a word.

    Parameters
    ----------
    seed : int
    member : int or int array of shape (n_members, 1)
    purpose : int
        A `Purpose`; of nodes, `NODE_SUBSPACE` plus the number of the node.
    counters : int array
        The numbers of the draws.
    n : int

    Returns
    -------
    int array of the shape of `counters`, or of shape (n_members, length of `counters`)
    """
    words = stream_words(seed, member, purpose, counters >> 1)
    halves = np.where(counters & 1, words >> np.uint64(32), words & np.uint64(0xFFFFFFFF))
    return ((halves * np.uint64(n)) >> np.uint64(32)).astype(np.int64)


def draw_distinct(
    seed: int, member: int, n: int, size: int, purpose: int = Purpose.SUBSPACE
) -> NDArray[np.int32]:
    """Draw `size` distinct numbers below `n` from a stream of the member's, in random order.

    Parameters
    ----------
    seed, member : int
    n, size : int
    purpose : int

    Returns
    -------
    int32 array of shape (size,)
    """
    found: Ints = np.empty(0, dtype=np.int64)
    start = 0
    while len(found) < size:
        counters = np.arange(start, start + 2 * size)
        start += 2 * size
        drawn = draw_below(seed, member, purpose, counters, n)
        values, first = np.unique(np.concatenate([found, drawn]), return_index=True)
        found = values[np.argsort(first)]
    return found[:size].astype(np.int32)


def surest(seed: int, member: int, rows: Ints, confidence: Floats, wanted: int) -> NDArray[np.intp]:
    """Return where the most confident rows stand, equal ones in the member's own random order.

    Parameters
    ----------
    seed, member : int
    rows : int32 array of shape (k,)
    confidence : array of shape (k,)
    wanted : int

    Returns
    -------
    int array of shape (min(k, wanted),)
    """
    words = stream_words(seed, member, Purpose.TIES, rows)
    return np.lexsort((words, -confidence))[:wanted]


def draw_bag(
    seed: int, member: int, n_rows: int, labelled: Ints, strata: Ints, unlabelled: Ints
) -> NDArray[np.int32]:
    """Return how often each row is in the bag of a member.

    Parameters
    ----------
    seed, member, n_rows : int
    labelled : int32 array
        The labelled rows, those of one stratum side by side.
    strata : int32 array
        Where each stratum starts in `labelled`, with the end as last entry.
    unlabelled : int32 array

    Returns
    -------
    int32 array of shape (n_rows,)
        Each stratum, and the unlabelled rows, are drawn from by themselves.
    """
    weights = np.zeros(n_rows, dtype=np.int32)
    for first, end in zip(strata[:-1].tolist(), strata[1:].tolist(), strict=True):
        counters = np.arange(first, end)
        drawn = draw_below(seed, member, Purpose.LABELLED_BAG, counters, end - first)
        weights[labelled[first:end]] = np.bincount(drawn, minlength=end - first)
    n = len(unlabelled)
    drawn = draw_below(seed, member, Purpose.UNLABELLED_BAG, np.arange(n), n)
    weights[unlabelled] = np.bincount(drawn, minlength=n)
    return weights


# --- masks ----------------------------------------------------------------------------------------


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
