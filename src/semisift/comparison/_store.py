"""What the files of a store hold, in format 1: the one description by which they are checked.

A store may come from elsewhere, and a file of it may be damaged in a way that is valid JSON. It is
checked when it is read, so that whatever else reads records can rely on what stands here. What is
not described here may be anything.

The store: one file for each record, so that a comparison survives whatever stops it.

    DIR/comparison.json     what is compared and how
    DIR/records/*/*.json    one record for each data set, method, level and run

`schema` tells what they hold.

A record is written to a draft that takes its name when it is whole, so a reader never sees half of
one, and two processes that make the same record write the same numbers.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any
from urllib.parse import quote as quote_url

from semisift.comparison._protocol import Protocol
from semisift.comparison._run import MEASURED, Record, RunKey, key_of
from semisift.comparison._sweeps import Sweep
from semisift.utils._files import DRAFT, FileLock, drafts, remove_left_overs, write_whole
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
DEEPEST = 50
MOST_RECORDS = 1_000_000
LARGEST = 1e300

# What a value must be: a function that refuses it, naming where it stands; a list with the rule of
# all items, and their number if it is fixed; or a mapping of names to rules.
Rule = Callable[[Any, str], None] | list[Any] | dict[str, Any]


# --- kinds of values ---


class Maybe(str):
    """The name of a part that may be absent."""


def _check(value: Any, rule: Rule, where: str = "") -> None:
    """Refuse a value that is not as it must be."""
    if isinstance(rule, dict):
        _check_parts(value, rule, where)
    elif isinstance(rule, list):
        each, length = (*rule, None)[:2]
        if not isinstance(value, list) or length not in (None, len(value)):
            raise _must(where, "a list" if length is None else f"a list of {length}", value)
        for place, item in enumerate(value):
            _check(item, each, f"{where}[{place}]")
    else:
        rule(value, where)


def _check_parts(value: Any, rules: dict[str, Rule], where: str) -> None:
    if not isinstance(value, dict):
        raise _must(where or "its content", "a mapping", value)
    if missing := sorted({name for name in rules if not isinstance(name, Maybe)} - value.keys()):
        raise ValueError(f"there is no {', '.join(missing)}{f' in {where}' if where else ''}")
    for name, rule in rules.items():
        if name in value:
            _check(value[name], rule, f"{where}.{name}" if where else name)


def _must(where: str, what: str, value: Any) -> ValueError:
    if isinstance(value, dict | list):
        shown = f"a {'mapping' if isinstance(value, dict) else 'list'} of {len(value)}"
    else:
        shown = "null" if value is None else shorten(quote(value), 80)
    return ValueError(f"{where} must be {what}: got {shown}")


def _is(what: str, holds: Callable[[Any], bool]) -> Rule:
    def rule(value: Any, where: str) -> None:
        if not holds(value):
            raise _must(where, what, value)

    return rule


def _whole(least: int) -> Rule:
    what = f"a whole number from {least}"
    return _is(what, lambda value: type(value) is int and least <= value < 2**63)


def _one_of(*values: Any) -> Rule:
    return _is(f"one of {', '.join(map(repr, values))}", lambda value: value in values)


def _or_null(rule: Rule) -> Rule:
    return lambda value, where: None if value is None else _check(value, rule, where)


def _mapping_of(rule: Rule, least: int = 0) -> Rule:
    def check(value: Any, where: str) -> None:
        if not isinstance(value, dict) or len(value) < least:
            raise _must(where, "a mapping" if not least else "a mapping that is not empty", value)
        for name, item in value.items():
            _check(item, rule, f"{where}.{printable_name(name)}" if where else name)

    return check


def _option(value: Any, where: str) -> None:
    if isinstance(value, list):
        _check(value, [TEXT], where)
    elif isinstance(value, dict):
        raise _must(where, "a value or a list of texts", value)


ANYTHING: Rule = lambda value, where: None  # noqa: E731
TEXT = _is("a text", lambda value: isinstance(value, str))
FLAG = _is("true or false", lambda value: isinstance(value, bool))
NUMBER = _is("a number", lambda value: type(value) in (int, float))
INDEX, COUNT = _whole(0), _whole(1)
NUMBER_OR_NULL, TEXT_OR_NULL, COUNT_OR_NULL = map(_or_null, (NUMBER, TEXT, COUNT))
ANY_MAPPING = _mapping_of(ANYTHING)
MOMENT = [NUMBER_OR_NULL, len(MOMENTS)]


# --- comparison.json ---

COUNTED = ("labels_per_class", "n_labelled", "n_unlabelled", "n_test")

PROTOCOL: Rule = {
    **{field.name: ANYTHING for field in fields(Protocol)},
    "name": TEXT,
    "n_runs": COUNT,
    "train_size": NUMBER,
    "sizes": [COUNT],
    "judges": [TEXT],
    "metrics": [TEXT],
    "seed": INDEX,
    "scaling": TEXT_OR_NULL,
    "labelled_share": NUMBER_OR_NULL,
    **dict.fromkeys(COUNTED, COUNT_OR_NULL),
}

DATASET: Rule = {
    "n_features": COUNT,
    Maybe("n_rows"): COUNT,
    Maybe("n_classes"): COUNT,
    Maybe("sparse"): FLAG,
    Maybe("checksum"): TEXT,
    Maybe("overrides"): _mapping_of(NUMBER_OR_NULL),
}

COMMITTEE: Rule = {
    "varied": _one_of("members", "partition"),
    "levels": [INDEX],
    "parameters": ANY_MAPPING,
}

NOTES: Rule = {
    Maybe("command"): TEXT_OR_NULL,
    Maybe("target"): TEXT_OR_NULL,
    Maybe("options"): _mapping_of(_option),
    Maybe("files"): _mapping_of(TEXT),
    Maybe("published"): _or_null(
        {Maybe("source"): TEXT_OR_NULL, Maybe("sentences"): _or_null([TEXT])}
    ),
    Maybe("missing"): _or_null(_mapping_of([TEXT])),
    Maybe("moments"): _mapping_of(_mapping_of(MOMENT)),
}

ABOUT: Rule = {
    Maybe("kind"): _one_of(None, COMMITTEES),
    "protocol": PROTOCOL,
    "sweep": _or_null({"kind": TEXT, "levels": [NUMBER]}),
    "datasets": _mapping_of(DATASET, least=1),
    "methods": _mapping_of(ANY_MAPPING, least=1),
    Maybe("max_seconds"): NUMBER_OR_NULL,
    Maybe("versions"): _mapping_of(TEXT),
    "notes": NOTES,
}


def check_about(about: Any) -> None:
    """Refuse what does not describe a comparison.

    Parameters
    ----------
    about : object
        Content of comparison.json.

    Raises
    ------
    ValueError
        Saying which part must be what.
    """
    _check_nesting(about)
    _check(about, ABOUT)
    is_of_committees = about.get("kind") == COMMITTEES
    sweep, n_series = about["sweep"], len(about["methods"])
    try:
        protocol = Protocol.from_dict(about["protocol"])
        if sweep is not None:
            n_series *= len(Sweep(sweep["kind"], tuple(sweep["levels"])).levels)
    except (TypeError, ValueError) as error:
        raise ValueError(f"protocol or sweep: {str(error).rstrip('.')}") from error
    if is_of_committees:
        _check(sweep, _one_of(None), "sweep")
        _check(about["methods"], _mapping_of(COMMITTEE), "methods")
        n_series = sum(len(method["levels"]) for method in about["methods"].values())
        for name, dataset in about["datasets"].items():
            share = dataset.get("overrides", {}).get("labelled_share", protocol.labelled_share)
            _check(share, NUMBER, f"labelled_share of {printable_name(name)}")
    if (n_records := len(about["datasets"]) * n_series * protocol.n_runs) > MOST_RECORDS:
        raise ValueError(f"there may be {MOST_RECORDS:,} records at most: got {n_records:,}")


# --- records ---

RECORD: Rule = {
    "dataset": TEXT,
    "method": TEXT,
    "run": INDEX,
    "level": NUMBER_OR_NULL,
    "status": _one_of("done", "failed"),
    "error": TEXT_OR_NULL,
    "warnings": [TEXT],
    "parameters": ANY_MAPPING,
    **dict.fromkeys(("random_state", "n_labelled", "split"), INDEX),
    **dict.fromkeys(("n_features", "n_train", "n_given", "n_test"), COUNT),
    "top": [INDEX],
    "curves": ANY_MAPPING,
    "versions": _mapping_of(TEXT),
    "measured": {**dict.fromkeys(MEASURED, NUMBER_OR_NULL), Maybe("finished"): TEXT},
}


def check_record(record: Any, about: dict[str, Any]) -> None:
    """Refuse what is no record of a comparison.

    Parameters
    ----------
    record : object
        Content of its file.
    about : dict
        What is compared, checked.

    Raises
    ------
    ValueError
        Saying which part must be what.
    """
    _check_nesting(record)
    _check(record, RECORD)
    if record["status"] == "failed":
        _check(record["error"], TEXT, "error")
    if record["status"] == "done" or record["curves"]:
        _check(record["curves"], _curves_of(about), "curves")
    _check_top(record, about)


def _curves_of(about: dict[str, Any]) -> Rule:
    if about.get("kind") == COMMITTEES:
        return dict.fromkeys(MEASURES, MOMENT)
    protocol = about["protocol"]
    curve = [NUMBER_OR_NULL, len(protocol["sizes"])]
    return dict.fromkeys(protocol["judges"], dict.fromkeys(protocol["metrics"], curve))


def _check_top(record: Record, about: dict[str, Any]) -> None:
    n_features, top = record["n_features"], record["top"]
    known = about["datasets"].get(record["dataset"], record)["n_features"]
    _check(n_features, _one_of(known), "n_features")
    if len(set(top)) < len(top) or max(top, default=0) >= n_features:
        raise ValueError(f"top must be different numbers below {n_features}")
    if record["status"] == "done" and about.get("kind") is None:
        least = min(n_features, max(about["protocol"]["sizes"]))
        if len(top) < least:
            raise ValueError(f"top must be {least} numbers at least: got {len(top)}")


def _check_nesting(content: Any) -> None:
    """Refuse what is nested too deeply or too large to reckon with, without recursion."""
    layer = [content]
    for _ in range(DEEPEST):
        below: list[Any] = []
        for value in layer:
            if isinstance(value, dict | list):
                below += value.values() if isinstance(value, dict) else value
            elif type(value) in (int, float) and not -LARGEST <= value <= LARGEST:
                raise ValueError("a number in it is too large or no number")
        if not below:
            return
        layer = below
    raise ValueError(f"it is nested more than {DEEPEST} deep")


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
        with drafts([self.folder / ABOUT_RUNS]) as (draft,):
            draft.write_text(_to_json({"format": FORMAT, **about}, indent=1), encoding="utf-8")

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
    return f"{quote_url(name, safe='', errors='replace')[:60]}-{digest}"
