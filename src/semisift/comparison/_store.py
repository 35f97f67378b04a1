"""The store: one file for each record, so that a comparison survives whatever stops it.

    DIR/comparison.json     what is compared and how
    DIR/records/*/*.json    one record for each data set, method, level and run

A record is written to a draft that takes its name when it is whole, so a reader never sees half of
one, and two processes that make the same record write the same numbers.

A store may come from elsewhere, and a file of it may be damaged in a way that is valid JSON. It is
checked by store.toml when it is read, so that whatever else reads records can rely on that.
"""

import hashlib
import json
import math
import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote as quote_url

from semisift.comparison._protocol import Protocol
from semisift.comparison._run import Record, RunKey, key_of
from semisift.comparison._sweeps import Sweep
from semisift.utils._files import DRAFT, FileLock, drafts, remove_left_overs, write_atomically
from semisift.utils._metadata import plain
from semisift.utils._text import printable_name, quote, shorten

# Of the files of a store. A change that an older semisift could misread raises it.
FORMAT = 1

COMMITTEES = "committees"

# measure -> what tables and pictures call it
MEASURES = {
    "accuracy": "accuracy of the committee",
    "member_accuracy": "mean accuracy of its members",
    "diversity": "diversity of its members",
}

# moment -> what tables and pictures call it
MOMENTS = {"begin": "at the beginning", "end": "at the end"}

# Small files must not ask for much memory or time.
MAX_DEPTH = 50
MAX_RECORDS = 1_000_000
MAX_NUMBER = 1e300

# The parts of the files and their kinds; the file explains itself.
SCHEMA: dict[str, Any] = tomllib.loads(
    files("semisift.comparison").joinpath("store.toml").read_text(encoding="utf-8")
)

# kind -> what it is called, and the types and the least value that it allows
KINDS: dict[str, tuple[str, tuple[type, ...], float]] = {
    "text": ("a text", (str,), 0),
    "flag": ("true or false", (bool,), 0),
    "number": ("a number", (int, float), -math.inf),
    "index": ("a whole number from 0", (int,), 0),
    "count": ("a whole number from 1", (int,), 1),
}


def _check(value: Any, kind: Any, where: str = "") -> None:
    """Raise a ValueError that names the place where a value of JSON is not of a kind."""
    if isinstance(kind, dict):
        _check_parts(value, kind, where)
    elif isinstance(kind, list):  # the kind of all items, and their number if it is fixed
        each, length = (*kind, None)[:2]
        if not isinstance(value, list) or length not in (None, len(value)):
            raise _must(where, "a list" if length is None else f"a list of {length}", value)
        for place, item in enumerate(value):
            _check(item, each, f"{where}[{place}]")
    elif kind == "option":
        if isinstance(value, dict | list):
            _check(value, ["text"], where)
    elif kind.endswith("?"):
        if value is not None:
            _check(value, kind[:-1], where)
    elif kind in KINDS:
        words, types, least = KINDS[kind]
        if type(value) not in types or (types == (int,) and not least <= value < 2**63):
            raise _must(where, words, value)
    elif kind != "anything" and value not in kind.split("|"):
        raise _must(where, f"one of {', '.join(map(repr, kind.split('|')))}", value)


def _check_parts(value: Any, parts: dict[str, Any], where: str) -> None:
    _check_each(value, [name for name in parts if name[-1] not in "?*"], "anything", where)
    for part, kind in parts.items():
        name = part.rstrip("?")
        for own in value if name == "*" else {name} & value.keys():
            # two question marks: the part may be absent, or null
            if value[own] is not None or not part.endswith("??"):
                _check(value[own], kind, f"{where}.{printable_name(own)}" if where else own)


def _check_each(value: Any, names: Iterable[str], kind: Any, where: str) -> None:
    """Check that a mapping has all of some parts, and that these are of a kind."""
    if not isinstance(value, dict):
        raise _must(where or "its content", "a mapping", value)
    if missing := sorted(set(names) - value.keys()):
        raise ValueError(f"there is no {', '.join(missing)}{f' in {where}' if where else ''}")
    for name in names:
        _check(value[name], kind, f"{where}.{printable_name(name)}")


def _must(where: str, what: str, value: Any) -> ValueError:
    if isinstance(value, dict | list):
        shown = f"a {'mapping' if isinstance(value, dict) else 'list'} of {len(value)}"
    else:
        shown = "null" if value is None else shorten(quote(value), 80)
    return ValueError(f"{where} must be {what}: got {shown}")


def check_about(about: Any) -> None:
    """Raise a ValueError where the content of comparison.json does not describe a comparison."""
    _check_nesting(about)
    _check(about, SCHEMA["about"])
    if about["sweep"] is not None:
        _check(about["sweep"], SCHEMA["sweep"], "sweep")
    for part in ("datasets", "methods"):
        if not about[part]:
            raise ValueError(f"{part} must be a mapping that is not empty")
    sweep, n_series = about["sweep"], len(about["methods"])
    try:
        protocol = Protocol.from_dict(about["protocol"])
        if sweep is not None:
            n_series *= len(Sweep(sweep["kind"], tuple(sweep["levels"])).levels)
    except ValueError as error:
        raise ValueError(f"protocol or sweep: {str(error).rstrip('.')}") from error
    if about.get("kind") == COMMITTEES:
        if sweep is not None:
            raise _must("sweep", "null", sweep)
        _check(about["methods"], SCHEMA["committees"], "methods")
        n_series = sum(len(method["levels"]) for method in about["methods"].values())
        for name, dataset in about["datasets"].items():
            share = dataset.get("overrides", {}).get("labelled_share", protocol.labelled_share)
            _check(share, "number", f"labelled_share of {printable_name(name)}")
    if (n_records := len(about["datasets"]) * n_series * protocol.n_runs) > MAX_RECORDS:
        raise ValueError(f"there may be {MAX_RECORDS:,} records at most: got {n_records:,}")


def check_record(record: Any, about: dict[str, Any]) -> None:
    """Raise a ValueError where the content of a file is no record of a comparison."""
    _check_nesting(record)
    _check(record, SCHEMA["record"])
    is_done, protocol = record["status"] == "done", about["protocol"]
    if not is_done:
        _check(record["error"], "text", "error")
    if is_done or record["curves"]:
        curves, curve = record["curves"], ["number?", len(protocol["sizes"])]
        if about.get("kind") == COMMITTEES:
            _check_each(curves, MEASURES, ["number?", len(MOMENTS)], "curves")
        else:
            _check_each(curves, protocol["judges"], {}, "curves")
            for name in protocol["judges"]:
                where = f"curves.{printable_name(name)}"
                _check_each(curves[name], protocol["metrics"], curve, where)
    n_features, top = record["n_features"], record["top"]
    known = about["datasets"].get(record["dataset"], record)["n_features"]
    if n_features != known:
        raise _must("n_features", str(known), n_features)
    if len(set(top)) < len(top) or max(top, default=0) >= n_features:
        raise ValueError(f"top must be different numbers below {n_features}")
    least = min(n_features, max(protocol["sizes"]))
    if is_done and about.get("kind") is None and len(top) < least:
        raise ValueError(f"top must be {least} numbers at least: got {len(top)}")


def _check_nesting(content: Any) -> None:
    """Refuse what is nested too deeply or too large to reckon with, without recursion."""
    layer = [content]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for value in layer:
            if isinstance(value, dict | list):
                below += value.values() if isinstance(value, dict) else value
            elif type(value) in (int, float) and not -MAX_NUMBER <= value <= MAX_NUMBER:
                raise ValueError("a number in it is too large or no number")
        if not below:
            return
        layer = below
    raise ValueError(f"it is nested more than {MAX_DEPTH} deep")


# --- store ----------------------------------------------------------------------------------------


ABOUT_RUNS = "comparison.json"

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
        return (self.folder / ABOUT_RUNS).is_file()

    def check(self, resume: bool) -> None:
        """Refuse a folder that cannot hold a new comparison, or a resumed one."""
        # a process that was killed may have left a hidden draft of the first file
        found = self.folder.iterdir() if self.folder.is_dir() else ()
        if self.exists and not resume:
            problem = "holds a comparison already. Resume it (resume=True, or --resume)"
        elif self.folder.exists() and not self.folder.is_dir():
            problem = "is a file. Remove it"
        elif not self.exists and any(not path.name.startswith(".") for path in found):
            problem = "is not empty and holds no comparison. Empty it"
        else:
            return
        raise ValueError(f"{self.folder} {problem}, or name another folder.")

    def begin(self, about: dict[str, Any]) -> None:
        """Write what is compared and how."""
        check_about(about)
        self.folder.mkdir(parents=True, exist_ok=True)
        remove_left_overs(self.folder.glob(f"records/*/*/.*{DRAFT}"))
        with drafts([self.folder / ABOUT_RUNS]) as (draft,):
            draft.write_text(_to_json(about, indent=1), encoding="utf-8")

    def about(self) -> dict[str, Any]:
        """Read what is compared and how, or say why it cannot be read."""
        path = self.folder / ABOUT_RUNS
        if not path.is_file():
            raise ValueError(f"{self.folder} holds no comparison: there is no {ABOUT_RUNS}.")
        return _read(path, check_about, RESTORE)

    @contextmanager
    def claimed(self) -> Iterator[bool]:
        """Tell whether no other process on this machine works on the comparison.

        The system gives the claim back when the process ends, however it ends.
        """
        lock = FileLock(self.folder / ".lock")
        try:
            lock.acquire()
            alone = True
        except OSError:
            if lock.path.is_symlink():  # it leads out of the store, to a file that is not ours
                raise
            alone = False
        try:
            yield alone
        finally:
            lock.release()

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
        write_atomically(path, _to_json(record))

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


def _read(path: Path, check: Callable[[Any], None], cure: str) -> dict[str, Any]:
    with damage_named(path, cure):
        try:
            content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except RecursionError as error:
            raise ValueError("it is nested too deeply") from error
    found = content.pop("format", None) if isinstance(content, dict) else None
    if type(found) is not int:
        raise ValueError(f"{path} is not a file of a comparison: it names no format.")
    if found != FORMAT:
        age = "a newer" if found > FORMAT else "an older"
        raise ValueError(
            f"{path} was written by {age} version of semisift, in format {found}; this one reads "
            f"format {FORMAT}. Read it with that version, or make the comparison anew elsewhere."
        )
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


def _to_json(content: dict[str, Any], indent: int | None = None) -> str:
    return json.dumps(plain({"format": FORMAT, **content}), allow_nan=False, indent=indent)


def _safe(name: str) -> str:
    """Return a folder name that any system takes and that differs where names differ.

    Examples
    --------
    >>> _safe("ssfi:variant=paper")
    'ssfi%3Avariant%3Dpaper-d66f34b7'
    """
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{quote_url(name, safe='', errors='replace')[:60]}-{digest}"
