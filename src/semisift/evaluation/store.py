"""The store: one file for each record, so that a comparison survives whatever stops it.

    DIR/comparison.json     what is compared and how
    DIR/records/*/*.json    one record for each data set, method, level and run

`schema` tells what they hold.

A record is written to a draft that takes its name when it is whole, so a reader never sees half of
one, and two processes that make the same record write the same numbers.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from semisift._files import DRAFT, drafts, remove_left_overs, write_whole
from semisift._provenance import plain
from semisift.evaluation.runs import Record, RunKey, key_of
from semisift.evaluation.schema import FORMAT, check_about, check_record

ABOUT = "comparison.json"

RESTORE = "Restore it, or name another folder"
MAKE_AGAIN = "Delete it, and resume the comparison to make it again"


class Store:
    """A folder of records.

    Parameters
    ----------
    folder : Path
        Made where it does not exist.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    @property
    def exists(self) -> bool:
        """Whether a comparison was begun here."""
        return (self.folder / ABOUT).is_file()

    def check(self, resume: bool) -> None:
        """Refuse a folder that cannot hold a new comparison, or a resumed one."""
        if self.exists and not resume:
            raise ValueError(
                f"{self.folder} holds a comparison already. Resume it (resume=True, or --resume on "
                "the command line), or name another folder."
            )
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"{self.folder} is a file. A comparison needs a folder of its own.")
        # a process that was killed may have left a hidden draft of the first file
        found = self.folder.iterdir() if self.folder.is_dir() and not self.exists else ()
        if any(not path.name.startswith(".") for path in found):
            raise ValueError(
                f"{self.folder} is not empty and holds no comparison. Name a new folder."
            )

    def begin(self, about: dict[str, Any]) -> None:
        """Write what is compared and how."""
        check_about(about)
        self.folder.mkdir(parents=True, exist_ok=True)
        remove_left_overs(self.folder.glob(f"records/*/*/.*{DRAFT}"))
        with drafts([self.folder / ABOUT]) as (draft,):
            draft.write_text(_to_json({"format": FORMAT, **about}, indent=1), encoding="utf-8")

    def about(self) -> dict[str, Any]:
        """Read what is compared and how, or say why it cannot be read."""
        path = self.folder / ABOUT
        if not path.is_file():
            raise ValueError(f"{self.folder} holds no comparison: there is no {ABOUT}.")
        return _read(path, check_about, RESTORE)

    @contextmanager
    def claimed(self) -> Iterator[bool]:
        """Tell whether no other process on this machine works on the comparison.

        The system gives the claim back when the process ends, however it ends.
        """
        # a link of that name leads out of the store, to a file that is not ours to touch
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(self.folder / ".lock", flags, 0o666), "w") as lock:
            try:
                import fcntl

                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                alone = True
            except (ImportError, OSError) as error:
                alone = isinstance(error, ImportError)  # Windows
            yield alone

    def path(self, key: RunKey) -> Path:
        """Return the file of a record."""
        level = "" if key.level is None else f"{float(key.level)!r}-"
        name = f"{level}{key.run:04d}.json"
        return self.folder / "records" / _safe(key.dataset) / _safe(key.method) / name

    def has(self, key: RunKey) -> bool:
        """Whether there is such a record."""
        return self.path(key).is_file()

    def write(self, record: Record) -> None:
        """Write a record, whole or not at all."""
        path = self.path(key_of(record))
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, _to_json({"format": FORMAT, **record}))

    def read(self, key: RunKey) -> Record:
        """Read a record."""
        return self._read_record(self.path(key), self.about())

    def records(self) -> Iterator[Record]:
        """Read all records, in the order of their names."""
        about = self.about()
        for path in sorted((self.folder / "records").glob("*/*/*.json")):
            yield self._read_record(path, about)

    def _read_record(self, path: Path, about: dict[str, Any]) -> Record:
        def check(record: Any) -> None:
            check_record(record, about)
            if (place := self.path(key_of(record))) != path:
                raise ValueError(f"its dataset, method, run and level are those of {place}")

        return _read(path, check, MAKE_AGAIN)


def check_format(content: Any, path: Path) -> None:
    """Refuse files of another version of the store, and what is no file of a store."""
    found = content.get("format") if isinstance(content, dict) else None
    if not isinstance(found, int) or isinstance(found, bool):
        raise ValueError(f"{path} is not a file of a comparison: it names no format.")
    if found == FORMAT:
        return
    age = "a newer" if found > FORMAT else "an older"
    cure = "Update semisift" if found > FORMAT else "Read it with that version"
    raise ValueError(
        f"{path} was written by {age} version of semisift, in format {found}; this one reads "
        f"format {FORMAT}. {cure}, or make the comparison anew in another folder."
    )


def _read(path: Path, check: Callable[[Any], None], cure: str) -> dict[str, Any]:
    with damage_named(path, cure):
        try:
            content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except RecursionError as error:
            raise ValueError("it is nested too deeply") from error
    check_format(content, path)
    del content["format"]
    with damage_named(path, cure):
        check(content)
    return content


@contextmanager
def damage_named(path: Path, cure: str = RESTORE) -> Iterator[None]:
    """Name the file in which something is wrong, and the cure."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}. {cure}.") from error


def _to_json(content: Any, indent: int | None = None) -> str:
    return json.dumps(plain(content), allow_nan=False, indent=indent)


def _safe(name: str) -> str:
    """Return a folder name that any system takes and that differs where names differ.

    Examples
    --------
    >>> _safe("ssfi:variant=paper")
    'ssfi%3Avariant%3Dpaper-d66f34b7'
    """
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{quote(name, safe='', errors='replace')[:60]}-{digest}"
