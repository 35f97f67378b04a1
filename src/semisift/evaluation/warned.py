"""What a run warns of, also where several runs share a process."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

_lock = threading.Lock()
_listening = ExitStack()
_n_listeners = 0
_this_thread = threading.local()


@contextmanager
def collected_warnings() -> Iterator[set[str]]:
    """Collect the warnings of this thread.

    ``warnings.catch_warnings`` changes the whole process, so runs in several threads would hear
    each other's warnings, and leave filters behind. Here the first of them to come enters it, and
    the last one to go leaves it.

    Yields
    ------
    set of str
        Filled as the block runs.

    Examples
    --------
    >>> with collected_warnings() as caught:
    ...     warnings.warn("few rows", stacklevel=1)
    >>> caught
    {'few rows'}
    """
    global _n_listeners
    with _lock:
        if not _n_listeners:
            _listening.enter_context(warnings.catch_warnings())
            warnings.simplefilter("always")
            warnings.showwarning = _hear
        _n_listeners += 1
    caught = _this_thread.caught = set()
    try:
        yield caught
    finally:
        del _this_thread.caught
        with _lock:
            _n_listeners -= 1
            if not _n_listeners:
                _listening.close()


def _hear(message: Warning | str, *args: Any, **kwargs: Any) -> None:
    # threads that a method starts have no set of their own: nobody could tell whose they are
    if (caught := getattr(_this_thread, "caught", None)) is not None:
        caught.add(str(message))
