"""One thread for each member at work: the committee spreads members, not their inner loops.

A pool of inner threads that has to wait for its turn costs far more than a tiny fit. Measured on
two processors, one of them busy: a logistic regression of 14 rows took 32 ms, and 1.6 ms with one
thread of BLAS; a gradient boosting of 40 rows 22 ms, and 9.5 ms with one thread of OpenMP. And what
BLAS adds up depends on its number of threads.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_blas_lock = threading.Lock()
_n_blas_users = 0
_shared_before: list[int] = []


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS work on one thread until the context is left.

    Most builds of BLAS have one number for the whole process. Where several threads overlap, the
    first to come sets it, and the last to leave puts it back. The others have a number for each
    thread, which sets and restores its own.
    """
    global _n_blas_users, _shared_before
    shared, own = _blas_libraries()
    own_before = _set_threads(own, [1] * len(own))
    with _blas_lock:
        if not _n_blas_users:
            _shared_before = _set_threads(shared, [1] * len(shared))
        _n_blas_users += 1
    try:
        yield
    finally:
        with _blas_lock:
            _n_blas_users -= 1
            if not _n_blas_users:
                _set_threads(shared, _shared_before)
        _set_threads(own, own_before)


@contextmanager
def one_openmp_thread() -> Iterator[None]:
    """Let OpenMP work on one thread until the context is left.

    OpenMP has a number for each thread that starts loops, so this is for the thread at work.
    """
    with _controller("openmp").limit(limits=1):
        yield


def _set_threads(libraries: list[Any], numbers: list[int]) -> list[int]:
    """Set the number of threads of each library and return what they were."""
    before = [library.num_threads for library in libraries]
    for library, number in zip(libraries, numbers, strict=True):
        # From 3.8 on, threadpoolctl obeys the first thread that set a number, and no other.
        release = getattr(library, "clear_controlling_thread", lambda force: None)
        release(force=True)
        library.set_num_threads(number)
        release(force=True)
    return before


@cache
def _blas_libraries() -> tuple[list[Any], list[Any]]:
    """Return the libraries with one number for the process, and those with one for each thread."""
    shared: list[Any] = []
    own: list[Any] = []
    for library in _controller("blas").lib_controllers:
        by_openmp = getattr(library, "threading_layer", None) == "openmp"
        by_thread = library.internal_api == "mkl" or (
            library.internal_api == "openblas" and by_openmp
        )
        (own if by_thread else shared).append(library)
    return shared, own


@cache  # finding the loaded libraries takes 10 ms
def _controller(user_api: str) -> ThreadpoolController:
    return ThreadpoolController().select(user_api=user_api)
