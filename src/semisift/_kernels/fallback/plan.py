"""What a committee member is dealt, and is handed later: kernels/plan.pyx in numpy, bit for bit."""

import numpy as np
from numpy.typing import NDArray

from semisift.utils._random import draw_bag, draw_distinct, row_mask, surest, unmask
from semisift.utils._typing import Floats, Ints


def draw_subspaces(seed: int, start: int, stop: int, n_features: int, size: int) -> Ints:
    """Draw `size` distinct features, in random order, for each of the members start..stop-1.

    Parameters
    ----------
    seed, start, stop : int
    n_features, size : int

    Returns
    -------
    int32 array of shape (stop - start, size)
    """
    members = range(start, stop)
    subspaces = [draw_distinct(seed, member, n_features, size) for member in members]
    return np.array(subspaces, dtype=np.int32).reshape(len(members), size)


def draw_bags(
    seed: int, start: int, stop: int, n_rows: int, labelled: Ints, strata: Ints, unlabelled: Ints
) -> tuple[Ints, NDArray[np.uint64]]:
    """Draw the bootstraps of the members start..stop-1.

    Parameters
    ----------
    seed, start, stop : int
    n_rows : int
    labelled : int32 array
        The labelled rows, those of one stratum side by side.
    strata : int32 array
        Where each stratum starts in `labelled`, with the end as last entry.
    unlabelled : int32 array

    Returns
    -------
    weights : int32 array of shape (stop - start, n_labelled)
        How often each labelled row was drawn.
    out_of_bag : uint64 array of shape (stop - start, n_words)
        The rows out of the bag as bit masks.
    """
    given = n_rows, labelled, strata, unlabelled
    bags = [draw_bag(seed, member, *given) for member in range(start, stop)]
    weights = np.array(bags, dtype=np.int32).reshape(stop - start, n_rows)
    in_use = np.isin(np.arange(n_rows), np.concatenate([labelled, unlabelled]))
    return weights.take(labelled, axis=1), row_mask((weights == 0) & in_use)


def pick_confident(
    seed: int,
    start: int,
    out_of_bag: NDArray[np.uint64],
    picks: Ints,
    order: Ints,
    confidence: Floats,
    class_starts: Ints,
    quotas: Ints,
) -> Ints:
    """Pick for each member, class by class, the most confident rows left in its bag.

    Parameters
    ----------
    seed, start : int
    out_of_bag : uint64 array of shape (n_members, n_words)
    picks : int32 array of shape (n_members, n_picks)
        The rows that a member was handed before (-1: none).
    order : int32 array
        The usable unlabelled rows class by class, the most confident first.
    confidence : array of shape (n_rows,)
        Equal confidences are taken in the member's own random order.
    class_starts : int32 array of shape (n_classes + 1,)
        Where each class starts in `order`.
    quotas : int32 array of shape (n_classes,)

    Returns
    -------
    int32 array of shape (n_members, sum of quotas)
        The slots of one class side by side, -1 where a class had no row left.
    """
    left = ~unmask(out_of_bag, len(confidence))
    slots = np.concatenate([[0], np.cumsum(quotas)])
    picked = np.full((len(out_of_bag), slots[-1]), -1, dtype=np.int32)
    for i in range(len(out_of_bag)):
        left[i, picks[i][picks[i] >= 0]] = False
        for k in range(len(quotas)):
            rows = order[class_starts[k] : class_starts[k + 1]]
            rows = rows[left[i, rows]]
            best = surest(seed, start + i, rows, confidence[rows], int(quotas[k]))
            picked[i, slots[k] : slots[k] + len(best)] = rows[best]
    return picked
