"""The constrained Laplacian score in many subspaces: kernels/neighbours.pyx in numpy.

The numbers are the same up to rounding.
"""

import numpy as np

from semisift._kernels.fallback.columns import Columns
from semisift.utils._columns import dense_columns
from semisift.utils._constrained_laplacian import Constraints, TieOptions, member_parts
from semisift.utils._typing import Floats, Ints


def cls_parts(
    X: Columns,
    exponents: Ints,
    subspaces: Ints,
    constrained: Ints,
    copies: Ints,
    unlabelled: Ints,
    pairs: Ints,
    n_must: int,
    pair_counts: Ints,
    options: TieOptions,
) -> tuple[Floats, Floats]:
    """Return the sums and totals of `semisift.utils._constrained_laplacian.Parts` for each member.

    Parameters
    ----------
    X : Columns
    exponents : int32 array of shape (p,)
        Each column is divided by 2 to the power of it.
    subspaces : int32 array of shape (n_members, m)
        The columns of each member.
    constrained : int32 array of shape (n_constrained,)
        The rows that are labelled or in pairs.
    copies : int32 array of shape (n_members, n_constrained)
        How often each of them is in a member's bag.
    unlabelled : int32 array of shape (1 or n_members, n_unlabelled)
    pairs : int32 array of shape (n_pairs, 2)
        Places in `constrained`; the first `n_must` must link.
    n_must : int
    pair_counts : int32 array of shape (n_members, n_pairs)
        How often each pair is in a member's bag; empty where rows were drawn.
    options : TieOptions

    Returns
    -------
    sums : float array of shape (n_members, 4, m)
    totals : float array of shape (n_members, 5)
    """
    constraints = Constraints(constrained, pairs[:n_must], pairs[n_must:])
    done = [
        member_parts(
            dense_columns(X.X, features),
            unlabelled[i if len(unlabelled) > 1 else 0],
            constraints,
            copies[i],
            pair_counts[i] if len(pair_counts) else None,
            options,
            np.ldexp(1.0, exponents[features]),
        )
        for i, features in enumerate(subspaces)
    ]
    return np.array([parts.sums for parts in done]), np.array([parts.totals for parts in done])
