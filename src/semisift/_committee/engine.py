"""The committee engine: N members in blocks, spread over threads or a joblib backend.

Member i owns the random streams (seed, i), and results are put together in member order, so the
answer is the same for any number of threads, processes or machines and any block size.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from numbers import Integral
from typing import Any, Self

import joblib
from joblib.parallel import get_active_backend

from semisift._threads import one_blas_thread

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


class Committee:
    """Runs one task over blocks of members, here or wherever joblib's backend is.

    Blocks run on a thread pool of our own (the kernels release the interpreter's lock, and a pool
    that waits passively costs microseconds a round) unless the caller has chosen a joblib backend
    with processes or machines of its own: ``joblib.parallel_config(backend="dask")``.

    Parameters
    ----------
    n_members : int
    n_jobs : int or None
        As in scikit-learn: None is 1 unless a joblib context says otherwise, -1 all processors.
    """

    def __init__(self, n_members: int, n_jobs: int | None) -> None:
        self.n_members = n_members
        self.n_jobs = joblib.effective_n_jobs(n_jobs)
        backend, _ = get_active_backend(prefer="threads")
        self.is_remote = not getattr(backend, "uses_threads", False) and self.n_jobs > 1
        self._pool: Any = None
        self._stack = ExitStack()

    def ranges(self) -> list[tuple[int, int]]:
        """Return the first member of each block and the first one after it."""
        size = min(BLOCK_SIZE, math.ceil(self.n_members / (BLOCKS_PER_JOB * self.n_jobs)))
        return [
            (start, min(start + size, self.n_members)) for start in range(0, self.n_members, size)
        ]

    def __enter__(self) -> Self:
        if self.is_remote:
            self._pool = self._stack.enter_context(joblib.Parallel(n_jobs=self.n_jobs))
        elif self.n_jobs > 1:
            self._pool = ThreadPoolExecutor(self.n_jobs, thread_name_prefix="semisift")
            self._stack.callback(self._pool.shutdown, wait=True, cancel_futures=True)
        return self

    def limit_threads(self) -> None:
        """Let BLAS work on one thread until the committee is left."""
        self._stack.enter_context(one_blas_thread())

    def __exit__(self, *error: Any) -> None:
        self._pool = None
        self._stack.__exit__(*error)

    def map_here(
        self, task: Callable[..., Any], blocks: Sequence[Any], *shared: Any
    ) -> Iterator[Any]:
        """Yield the same as `map`, in this process: what is shared is used once."""
        if self._pool is None or self.is_remote:
            yield from (task(block, *shared) for block in blocks)
        else:
            yield from self._pool.map(lambda block: task(block, *shared), blocks)

    def map(self, task: Callable[..., Any], blocks: Sequence[Any], *shared: Any) -> Iterator[Any]:
        """Yield ``task(block, *shared)`` of every block, in member order.

        Parameters
        ----------
        task : callable
            A function of a module, so that it can travel.
        blocks : sequence
        *shared : objects
            What every call is given besides its block.

        Yields
        ------
        object
        """
        if self._pool is not None and self.is_remote:
            yield from self._pool(joblib.delayed(task)(block, *shared) for block in blocks)
        else:
            yield from self.map_here(task, blocks, *shared)
