"""Writing files that are whole or not there at all."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = ".semisift-"

# Drafts of a killed process are removed by a later one after this many seconds.
STALE_AFTER = 24 * 3600


@contextmanager
def drafts(targets: Sequence[Path]) -> Iterator[list[Path]]:
    """Give a path to write to for each target; at the end they take its place, one after another.

    A draft has the name of its target and lies in a hidden folder beside it. If anything goes wrong
    before the end, no target is touched.

    Parameters
    ----------
    targets : sequence of Path
        Files that may exist, or folders that must not.

    Yields
    ------
    list of Path

    Examples
    --------
    >>> folder = Path(tempfile.mkdtemp())
    >>> with drafts([folder / "a.txt"]) as (draft,):
    ...     _ = draft.write_text("whole")
    >>> (folder / "a.txt").read_text(), len(list(folder.iterdir()))
    ('whole', 1)
    """
    folders: list[Path] = []
    try:
        paths = []
        for target in targets:
            _remove_stale(target.parent)
            folders.append(Path(tempfile.mkdtemp(prefix=PREFIX, dir=target.parent)))
            paths.append(folders[-1] / target.name)
        yield paths
        for path in paths:
            _to_disk(path)
        for path, target in zip(paths, targets, strict=True):
            os.replace(path, target)
    finally:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)


def _to_disk(path: Path) -> None:
    """Make sure that the content is on the disk before the name is."""
    for file in path.iterdir() if path.is_dir() else [path]:
        with file.open("rb") as handle:
            os.fsync(handle.fileno())


def _remove_stale(folder: Path) -> None:
    for left_over in folder.glob(f"{PREFIX}*"):
        with suppress(FileNotFoundError):  # another process has just removed its own
            if time.time() - left_over.stat().st_mtime > STALE_AFTER:
                shutil.rmtree(left_over, ignore_errors=True)
