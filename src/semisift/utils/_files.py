"""Writing files that are whole or not there at all.

What is being written lies in a hidden draft beside its target, whose name tells the process that
writes it. Drafts that a signal left behind, where it came between two steps of a clean-up, are
removed when the process ends. One that was killed leaves its drafts, and the next process to write
there removes them. Those of a process that lives are never removed, whatever the clock says.

A lock on a file that a process holds while it lives: the system takes it back at its end.
"""

import atexit
import errno
import hashlib
import os
import platform
import re
import shutil
import stat
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path

PREFIX = ".semisift-"
DRAFT = ".draft"

# The name of a process: its machine, its number, and when it began.
PROCESS = r"([0-9a-f]{12})-(\d+)-(\d+)"

# How the system says that a file does not fit: onto its disk, or into a limit on disks or files.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

# How libraries word the error number of the system: polars, and h5py, shutil and anndata.
WORDED = re.compile(r"\(os error (\d+)\)$|\[Errno (\d+)\]", re.MULTILINE)

# Drafts of processes that nothing is known of, as those of another machine, are removed after this
# many seconds.
STALE_AFTER = 24 * 3600

# The drafts of this process, or of the one that it is a fork of.
_own: set[Path] = set()


@contextmanager
def drafts(targets: Sequence[Path]) -> Iterator[list[Path]]:
    """Give a path to write to for each target; at the end they take its place, one after another.

    A draft has the name of its target and lies in a hidden folder beside it. If anything goes wrong
    before the end, no target is touched. A file that is replaced hands on its permissions.

    Parameters
    ----------
    targets : sequence of Path
        Files that may exist, or folders that must not.

    Yields
    ------
    list of Path

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with drafts([folder / "a.txt"]) as (draft,):
    ...     _ = draft.write_text("whole")
    >>> (folder / "a.txt").read_text(), len(list(folder.iterdir()))
    ('whole', 1)
    """
    with ExitStack() as stack:
        paths = [
            stack.enter_context(private_folder(path.parent, PREFIX)) / path.name for path in targets
        ]
        with _file_named(paths, targets):
            yield paths
            for path, target in zip(paths, targets, strict=True):
                _take_mode(path, target)
                _to_disk(path)
        for path, target in zip(paths, targets, strict=True):
            os.replace(path, target)


@contextmanager
def _file_named(paths: Sequence[Path], targets: Sequence[Path]) -> Iterator[None]:
    """Name the file that found no room, where the system names none, or a draft."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            target_of = dict(zip(map(str, paths), map(str, targets), strict=True))
            match = error.filename
            if match is None:  # they are written one after another: the last that was begun
                match = next(
                    (draft for draft in reversed(target_of) if os.path.exists(draft)), None
                )
            error.filename = target_of.get(match, match)
        raise


def no_room(error: BaseException | None) -> OSError | None:
    """Return the system's error where a file did not fit onto its disk, whoever tells of it.

    Its number is read from the message of an `OSError` without one, as h5py, shutil and anndata
    raise it, and of errors of polars. Other messages may quote what a file says.
    """
    while error is not None:
        number = getattr(error, "errno", None)
        if number in NO_ROOM and isinstance(error, OSError):
            return error
        is_of_system = isinstance(error, OSError) or type(error).__module__.startswith("polars")
        if number is None and is_of_system and (match := WORDED.search(str(error))):
            number = int(match[1] or match[2])
            if number in NO_ROOM:
                return OSError(number, os.strerror(number))
        error = error.__cause__ or error.__context__
    return None


def can_write(folder: Path) -> bool:
    """Tell whether drafts can be made in a folder."""
    try:
        with private_folder(folder, PREFIX):
            return True
    except OSError:
        return False


@contextmanager
def private_folder(beside: Path, prefix: str) -> Iterator[Path]:
    """Make a folder that other users cannot read, having cleared away those of dead processes."""
    remove_drafts(beside, prefix, "")
    # not by mkdtemp: a signal could come before it has told the name of what it made
    folder = beside / f"{prefix}{process_name()}-{uuid.uuid4().hex[:8]}"
    _own.add(folder)
    try:
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        _clear(folder)


def write_atomically(path: Path, text: str) -> None:
    """Write a text, whole or not at all; its draft has no folder, for files that are many."""
    draft = path.parent / f".{process_name()}-{uuid.uuid4().hex[:8]}{DRAFT}"
    _own.add(draft)
    try:
        with _file_named([draft], [path]), draft.open("x", encoding="utf-8") as file:
            _take_mode(draft, path)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    finally:
        _clear(draft)


def remove_drafts(folder: Path, prefix: str = ".", suffix: str = DRAFT) -> None:
    """Remove what dead processes left in a folder of the user's: nothing but names made here."""
    name = re.compile(f"{re.escape(prefix)}{PROCESS}-[0-9a-z]+{re.escape(suffix)}")
    with suppress(OSError):  # a folder that can be written to, and not listed
        remove_left_overs(path for path in folder.iterdir() if name.fullmatch(path.name))


def remove_left_overs(found: Iterable[Path]) -> None:
    """Remove drafts whose process is certainly gone, and very old ones that nobody is known of."""
    for path in found:
        # another process has just removed its own, or it is another user's
        with suppress(OSError):
            lives = process_lives(path.name)
            if lives is False or (lives is None and time.time() - _last_change(path) > STALE_AFTER):
                _clear(path)


def _last_change(path: Path) -> float:
    """Return when a draft was written to; a folder does not change with the files in it."""
    inside = path.rglob("*") if path.is_dir() and not path.is_symlink() else ()
    return max(each.lstat().st_mtime for each in (path, *inside))


def _clear(path: Path) -> None:
    """Remove a draft, if it is there."""
    with suppress(FileNotFoundError, NotADirectoryError):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
    _own.discard(path)


@atexit.register
def _clear_own() -> None:
    for path in list(_own):
        if process_name() in path.name:
            _clear(path)


def _take_mode(draft: Path, target: Path) -> None:
    with suppress(FileNotFoundError):
        mode = stat.S_IMODE(target.stat().st_mode)
        if mode != stat.S_IMODE(draft.stat().st_mode):
            draft.chmod(mode)


def _to_disk(path: Path) -> None:
    """Make sure that the content is on the disk before the name is."""
    for file in path.rglob("*") if path.is_dir() else [path]:
        if not file.is_dir():
            with file.open("rb") as handle:
                os.fsync(handle.fileno())


# --- whose drafts they are ---


def process_name() -> str:
    """Return a name of this process that no other has had since the machine was started."""
    return f"{_place()}-{os.getpid()}-{_begun(os.getpid()) or 0}"


def process_lives(name: str) -> bool | None:
    """Tell whether the process that a name tells of is there; None where that is not known."""
    match = re.search(f"{PROCESS}(?:-|$)", name)
    # on Windows, os.kill would end the process
    if match is None or match[1] != _place() or os.name == "nt":
        return None
    pid = int(match[2])
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # it is another user's
        pass
    # its number may have gone to another process
    return int(match[3]) == 0 or (_begun(pid) or match[3]) == match[3]


@cache
def _place() -> str:
    """Return what the numbers of processes belong to: a machine since it was started.

    Machines may share a folder, and containers may share a machine.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        started = f"{boot}\n{os.readlink('/proc/self/ns/pid')}"
    except OSError:  # not on Linux
        started = str(uuid.getnode())
    return hashlib.sha256(f"{platform.node()}\n{started}".encode()).hexdigest()[:12]


def _begun(pid: int) -> str | None:
    """Return when a process began, where the system tells it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None


# --- lock -----------------------------------------------------------------------------------------


try:
    import fcntl
except ImportError:  # on Windows
    import msvcrt

# What the systems say of a lock that another process holds.
LOCK_ERRNOS = (errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)

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
        # a link leads to a file that is not ours to write to
        if os.name == "nt" and self.path.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(self.path))
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        while self._handle is None:
            handle = os.open(self.path, flags, 0o600)
            try:
                _lock(handle)
                # who held it may have removed the file in the meantime
                if os.fstat(handle).st_ino == self.path.stat().st_ino:
                    self._handle = handle
            except FileNotFoundError:
                continue
            except OSError as error:
                if error.errno not in LOCK_ERRNOS:
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
