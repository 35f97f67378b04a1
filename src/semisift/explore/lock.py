"""A lock on a file that a process holds while it lives: the system takes it back at its end."""

import errno
import os
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # on Windows
    import msvcrt

# What the systems say of a lock that another process holds.
HELD = (errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)

# Where Windows locks a byte, behind all that is written: what is locked cannot be read there.
FAR = 1 << 30


class FileLock:
    """A lock that is a hidden file with the number of its process.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None

    def acquire(self) -> None:
        """Take the lock.

        Raises
        ------
        BlockingIOError
            With the number of the process that holds it as its second argument, or "".
        """
        while self._handle is None:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                _lock(handle)
                # who held it may have removed the file in the meantime
                if os.fstat(handle).st_ino == self.path.stat().st_ino:
                    self._handle = handle
            except FileNotFoundError:
                continue
            except OSError as error:
                if error.errno not in HELD:
                    raise
                raise BlockingIOError(error.errno, _holder(handle)) from error
            finally:
                if self._handle != handle:
                    os.close(handle)
        os.ftruncate(self._handle, 0)
        os.write(self._handle, str(os.getpid()).encode())

    def release(self) -> None:
        """Give it back, and remove its file."""
        if self._handle is None:
            return
        with suppress(OSError):  # Windows removes no open file
            self.path.unlink()
        os.close(self._handle)
        self._handle = None


def _lock(handle: int) -> None:
    if os.name == "nt":
        os.lseek(handle, FAR, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        os.lseek(handle, 0, os.SEEK_SET)
    else:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _holder(handle: int) -> str:
    """Return what the file says of who holds the lock."""
    os.lseek(handle, 0, os.SEEK_SET)
    text = os.read(handle, 20).decode(errors="replace")
    return text if text.isdecimal() else ""
