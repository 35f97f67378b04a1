"""One thread for each member at work: the committee spreads members, not their inner loops.

A pool of inner threads that has to wait for its turn costs far more than a tiny fit. Measured on
two processors, one of them busy: a logistic regression of 14 rows took 32 ms, and 1.6 ms with one
thread of BLAS; a gradient boosting of 40 rows 22 ms, and 9.5 ms with one thread of OpenMP. And what
BLAS adds up depends on its number of threads.
"""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

_blas_lock = threading.Lock()
_blas_limit = ExitStack()
_n_blas_users = 0


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS work on one thread until the context is left.

    BLAS has one number for the whole process. Where several threads overlap, the first to come sets
    it, and the last to leave puts it back.
    """
    global _n_blas_users
    with _blas_lock:
        if not _n_blas_users:
            _blas_limit.enter_context(_controller("blas").limit(limits=1))
        _n_blas_users += 1
    try:
        yield
    finally:
        with _blas_lock:
            _n_blas_users -= 1
            if not _n_blas_users:
                _blas_limit.close()


@contextmanager
def one_openmp_thread() -> Iterator[None]:
    """Let OpenMP work on one thread until the context is left.

    OpenMP has a number for each thread that starts loops, so this is for the thread at work.
    """
    with _controller("openmp").limit(limits=1):
        yield


@cache  # finding the loaded libraries takes 10 ms
def _controller(user_api: str) -> ThreadpoolController:
    return ThreadpoolController().select(user_api=user_api)
