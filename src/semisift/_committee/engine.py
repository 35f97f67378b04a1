"""The committee engine: N members in blocks, spread over threads, processes or a cluster.

Member i owns the random streams (seed, i), and results are put together in member order, so the
answer is the same for any number of threads, processes or machines and any block size.
"""

import math
from numbers import Integral
from typing import Any

from semisift._workers import Workers

# Members in a block: enough of them for Python's share of the work to vanish.
BLOCK_SIZE = 1024
BLOCKS_PER_JOB = 4


def committee_size(n_features: int) -> int:
    """Return the number of members of the SSFI and EnsCLS papers.

    ``N = 10 ceil(log(0.01) / log(1 - 1 / sqrt(p)))``: in each tenth of a committee whose members
    draw sqrt(p) features, a given feature is missed with probability at most 0.01.

    Parameters
    ----------
    n_features : int

    Returns
    -------
    int

    Examples
    --------
    >>> committee_size(2000)
    2040
    """
    return 10 * math.ceil(math.log(0.01) / math.log(1 - 1 / math.sqrt(max(n_features, 2))))


def features_to_draw(max_features: Any, n_features: int) -> int:
    """Return how many features a member draws."""
    if max_features == "sqrt":
        return max(1, round(math.sqrt(n_features)))
    if isinstance(max_features, Integral):
        return min(int(max_features), n_features)
    return max(1, round(max_features * n_features))


class Committee(Workers):
    """Runs one task over blocks of members, here or wherever joblib's backend is.

    Parameters
    ----------
    n_members : int
    n_jobs : int or None
        As of `Workers`.
    """

    def __init__(self, n_members: int, n_jobs: int | None) -> None:
        super().__init__(n_jobs)
        self.n_members = n_members

    def ranges(self) -> list[tuple[int, int]]:
        """Return the first member of each block and the first one after it."""
        # on a cluster the votes of each block travel, and blocks stay where they are
        n_blocks = self.n_jobs * (1 if self.is_cluster else BLOCKS_PER_JOB)
        size = min(BLOCK_SIZE, math.ceil(self.n_members / n_blocks))
        return [
            (start, min(start + size, self.n_members)) for start in range(0, self.n_members, size)
        ]
