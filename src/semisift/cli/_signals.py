"""Being told to end: as an exception, so that nothing half-written stays behind."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Terminated(BaseException):
    """SIGTERM came. No `Exception`: a run that fails is recorded, and this is no failure."""


# what stops a command from outside -> what is said, exit code as a shell shows it
STOPS: dict[type[BaseException], tuple[str, int]] = {
    KeyboardInterrupt: ("Interrupted.", 128 + signal.SIGINT),
    Terminated: ("Terminated.", 128 + signal.SIGTERM),
}


@contextmanager
def terminable() -> Iterator[None]:
    """Raise `Terminated` in the block where SIGTERM comes."""
    if threading.current_thread() is not threading.main_thread():  # no other can be signalled
        yield
        return
    before = signal.signal(signal.SIGTERM, _raise)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _raise(number: int, frame: FrameType | None) -> None:
    raise Terminated
