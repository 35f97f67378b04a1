"""The store: one file for each record, so that a comparison survives whatever stops it.

    DIR/comparison.json     what is compared and how
    DIR/records/*/*.json    one record for each data set, method, level and run

A record is written to a draft that takes its name when it is whole, so a reader never sees half of
one, and two processes that make the same record write the same numbers.

A store may come from elsewhere, and a file of it may be damaged in a way that is valid JSON. It is
checked by the types below when it is read, so that whatever else reads records can rely on them.
What they do not name may be anything.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, TypedDict, Union, get_args, get_origin
from urllib.parse import quote as quote_url

from semisift.comparison._protocol import Protocol
from semisift.comparison._run import Record, RunKey, key_of
from semisift.comparison._sweeps import Sweep
from semisift.utils._files import DRAFT, drafts, remove_left_overs, write_whole
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

# --- what the files hold, in format 1 -------------------------------------------------------------

# Annotated is the least number, or the length of a list.
Index, Count = Annotated[int, 0], Annotated[int, 1]
Texts, Mapping = dict[str, str], dict[str, Any]
Moments = Annotated[list[float | None], len(MOMENTS)]


class DatasetFacts(TypedDict):
    n_features: Count
    n_rows: NotRequired[Count]
    n_classes: NotRequired[Count]
    sparse: NotRequired[bool]
    checksum: NotRequired[str]
    overrides: NotRequired[dict[str, float | None]]


class CommitteeFacts(TypedDict):
    varied: Literal["members", "partition"]
    levels: list[Index]
    parameters: Mapping


class Published(TypedDict, total=False):
    source: str | None
    sentences: list[str] | None


class Notes(TypedDict, total=False):
    command: str | None
    target: str | None
    options: dict[str, str | float | bool | list[str] | None]
    files: Texts
    published: Published | None
    missing: dict[str, list[str]] | None
    moments: dict[str, dict[str, Moments]]


class About(TypedDict):
    kind: NotRequired[Literal["committees"] | None]
    protocol: Protocol
    sweep: Sweep | None
    datasets: dict[str, DatasetFacts]
    methods: dict[str, Mapping]
    max_seconds: NotRequired[float | None]
    versions: NotRequired[Texts]
    notes: Notes


class Measured(TypedDict):
    seconds: float | None
    judge_seconds: float | None
    peak_mb: float | None
    finished: NotRequired[str]


class StoredRecord(TypedDict):
    dataset: str
    method: str
    run: Index
    level: float | None
    status: Literal["done", "failed"]
    error: str | None
    warnings: list[str]
    parameters: Mapping
    random_state: Index
    n_labelled: Index
    split: Index
    n_features: Count
    n_train: Count
    n_given: Count
    n_test: Count
    top: list[Index]
    curves: Mapping
    versions: Texts
    measured: Measured


WORDS = {
    NoneType: "null",
    str: "a text",
    bool: "true or false",
    float: "a number",
    int: "a whole number",
    list: "a list",
    dict: "a mapping",
}


def _check(value: Any, kind: Any, where: str = "") -> None:
    """Raise a ValueError that names the place where a value of JSON is not of a type."""
    if get_origin(kind) is NotRequired:
        (kind,) = get_args(kind)
    bound = None
    if get_origin(kind) is Annotated:
        kind, bound = get_args(kind)
    base, parts = get_origin(kind) or kind, get_args(kind)
    if base is Any:
        return
    if base in (Union, UnionType):
        _check_one_of(value, parts, where)
    elif base is Literal:
        if value not in parts:
            raise _must(where, f"one of {', '.join(map(repr, parts))}", value)
    elif isinstance(kind, dict) or hasattr(kind, "__annotations__"):
        _check_parts(value, kind, where)
    elif base in (list, tuple):
        words = WORDS[list] if bound is None else f"a list of {bound}"
        if not isinstance(value, list) or bound not in (None, len(value)):
            raise _must(where, words, value)
        for place, item in enumerate(value):
            _check(item, parts[0], f"{where}[{place}]")
    elif base is dict:
        if not isinstance(value, dict):
            raise _must(where, WORDS[dict], value)
        for name, item in value.items():
            _check(item, parts[1], f"{where}.{printable_name(name)}")
    else:
        allowed = (int, float) if base is float else (base,)
        least = -(2**63) if bound is None else bound
        if type(value) not in allowed or (base is int and not least <= value < 2**63):
            words = WORDS[base] + ("" if bound is None else f" from {bound}")
            raise _must(where, words, value)


def _check_one_of(value: Any, kinds: tuple[Any, ...], where: str) -> None:
    errors = []
    for kind in kinds:
        try:
            return _check(value, kind, where)
        except ValueError as error:
            errors.append(error)
    raise errors[0]


def _check_parts(value: Any, kind: Any, where: str) -> None:
    """Check a mapping by a class of types, or by a mapping of names to types."""
    if not isinstance(value, dict):
        raise _must(where or "its content", WORDS[dict], value)
    parts = kind if isinstance(kind, dict) else kind.__annotations__
    if missing := sorted(getattr(kind, "__required_keys__", parts.keys()) - value.keys()):
        raise ValueError(f"there is no {', '.join(missing)}{f' in {where}' if where else ''}")
    for name in parts.keys() & value.keys():
        _check(value[name], parts[name], f"{where}.{name}" if where else name)


def _must(where: str, what: str, value: Any) -> ValueError:
    if isinstance(value, dict | list):
        shown = f"{WORDS[type(value)]} of {len(value)}"
    else:
        shown = "null" if value is None else shorten(quote(value), 80)
    return ValueError(f"{where} must be {what}: got {shown}")


def check_about(about: Any) -> None:
    """Raise a ValueError where the content of comparison.json does not describe a comparison."""
    _check_nesting(about)
    _check(about, About)
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
        _check(sweep, NoneType, "sweep")
        _check(about["methods"], dict[str, CommitteeFacts], "methods")
        n_series = sum(len(method["levels"]) for method in about["methods"].values())
        for name, dataset in about["datasets"].items():
            share = dataset.get("overrides", {}).get("labelled_share", protocol.labelled_share)
            _check(share, float, f"labelled_share of {printable_name(name)}")
    if (n_records := len(about["datasets"]) * n_series * protocol.n_runs) > MAX_RECORDS:
        raise ValueError(f"there may be {MAX_RECORDS:,} records at most: got {n_records:,}")


def check_record(record: Any, about: dict[str, Any]) -> None:
    """Raise a ValueError where the content of a file is no record of a comparison."""
    _check_nesting(record)
    _check(record, StoredRecord)
    is_done, protocol = record["status"] == "done", about["protocol"]
    if not is_done:
        _check(record["error"], str, "error")
    if is_done or record["curves"]:
        curve = Annotated[list[float | None], len(protocol["sizes"])]
        curves = dict.fromkeys(protocol["judges"], dict.fromkeys(protocol["metrics"], curve))
        of_committees = dict.fromkeys(MEASURES, Moments)
        kind = of_committees if about.get("kind") == COMMITTEES else curves
        _check(record["curves"], kind, "curves")
    n_features, top = record["n_features"], record["top"]
    known = about["datasets"].get(record["dataset"], record)["n_features"]
    _check(n_features, Literal[known], "n_features")
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
        write_whole(path, _to_json(record))

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
