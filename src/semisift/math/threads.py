"""One thread for each member at work: the committee spreads members, not their inner loops.

A pool of inner threads that has to wait for its turn costs far more than a tiny fit. Measured on
two processors, one of them busy: a logistic regression of 14 rows took 32 ms, and 1.6 ms with one
thread of BLAS; a gradient boosting of 40 rows 22 ms, and 9.5 ms with one thread of OpenMP. And what
BLAS adds up depends on its number of threads.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS work on one thread until the context is left.

    BLAS has one number for the whole process, so this is for the thread that starts the others.
    """
    with _controller("blas").limit(limits=1):
        yield


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
