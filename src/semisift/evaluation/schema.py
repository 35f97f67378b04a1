"""What the files of a store hold, in format 1: the one description by which they are checked.

A store may come from elsewhere, and a file of it may be damaged in a way that is valid JSON. It is
checked when it is read, so that whatever else reads records can rely on what stands here. What is
not described here may be anything.
"""

from collections.abc import Callable, Collection
from dataclasses import fields
from typing import Any

from semisift._words import quoted, shorten, visible
from semisift.evaluation.protocol import Protocol
from semisift.evaluation.runs import MEASURED, Record
from semisift.evaluation.sweeps import Sweep

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

# Refuses a value, naming where it stands.
Rule = Callable[[Any, str], None]


# --- kinds of values ---


def _must(where: str, what: str, value: Any) -> ValueError:
    if isinstance(value, dict | list):
        shown = f"a {'mapping' if isinstance(value, dict) else 'list'} of {len(value)}"
    else:
        shown = "null" if value is None else shorten(quoted(value), 80)
    return ValueError(f"{where} must be {what}: got {shown}")


def _is(what: str, holds: Callable[[Any], bool]) -> Rule:
    def rule(value: Any, where: str) -> None:
        if not holds(value):
            raise _must(where, what, value)

    return rule


def _whole(least: int) -> Rule:
    return _is(
        f"a whole number from {least}",
        lambda value: type(value) is int and least <= value < 2**63,
    )


def _one_of(*values: Any) -> Rule:
    return _is(f"one of {', '.join(map(repr, values))}", lambda value: value in values)


def _or_null(rule: Rule) -> Rule:
    return lambda value, where: None if value is None else rule(value, where)


def _list_of(rule: Rule, length: int | None = None) -> Rule:
    what = "a list" if length is None else f"a list of {length}"

    def check(value: Any, where: str) -> None:
        if not isinstance(value, list) or length not in (None, len(value)):
            raise _must(where, what, value)
        for place, item in enumerate(value):
            rule(item, f"{where}[{place}]")

    return check


def _mapping_of(rule: Rule, least: int = 0) -> Rule:
    def check(value: Any, where: str) -> None:
        if not isinstance(value, dict) or len(value) < least:
            raise _must(where, "a mapping" if not least else "a mapping that is not empty", value)
        for name, item in value.items():
            rule(item, f"{where}.{visible(name)}" if where else name)

    return check


def _parts(rules: dict[str, Rule], optional: Collection[str] = ()) -> Rule:
    def check(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise _must(where or "its content", "a mapping", value)
        if missing := sorted(name for name in rules if name not in value and name not in optional):
            raise ValueError(f"there is no {', '.join(missing)}{f' in {where}' if where else ''}")
        for name, rule in rules.items():
            if name in value:
                rule(value[name], f"{where}.{name}" if where else name)

    return check


def _some(rules: dict[str, Rule]) -> Rule:
    return _parts(rules, optional=rules)


ANYTHING: Rule = lambda value, where: None  # noqa: E731
TEXT = _is("a text", lambda value: isinstance(value, str))
FLAG = _is("true or false", lambda value: isinstance(value, bool))
NUMBER = _is("a number", lambda value: type(value) in (int, float))
NUMBER_OR_NULL, TEXT_OR_NULL = _or_null(NUMBER), _or_null(TEXT)
TEXTS = _list_of(TEXT)
ANY_MAPPING = _mapping_of(ANYTHING)


# --- comparison.json ---

COUNT_OR_NULL = _or_null(_whole(1))

PROTOCOL = _parts(
    {
        **{field.name: ANYTHING for field in fields(Protocol)},
        "name": TEXT,
        "n_runs": _whole(1),
        "train_size": NUMBER,
        "sizes": _list_of(_whole(1)),
        "judges": TEXTS,
        "metrics": TEXTS,
        "seed": _whole(0),
        "scaling": TEXT_OR_NULL,
        "labelled_share": NUMBER_OR_NULL,
        **dict.fromkeys(
            ("labels_per_class", "n_labelled", "n_unlabelled", "n_test"), COUNT_OR_NULL
        ),
    }
)

DATASET = _parts(
    {
        **dict.fromkeys(("n_features", "n_rows", "n_classes"), _whole(1)),
        "sparse": FLAG,
        "checksum": TEXT,
        "overrides": _mapping_of(NUMBER_OR_NULL),
    },
    optional=("n_rows", "n_classes", "sparse", "checksum", "overrides"),
)

COMMITTEE = _parts(
    {
        "varied": _one_of("members", "partition"),
        "levels": _list_of(_whole(0)),
        "parameters": ANY_MAPPING,
    }
)


def _option(value: Any, where: str) -> None:
    if isinstance(value, list):
        TEXTS(value, where)
    elif isinstance(value, dict):
        raise _must(where, "a value or a list of texts", value)


NOTES = _some(
    {
        "command": TEXT_OR_NULL,
        "target": TEXT_OR_NULL,
        "options": _mapping_of(_option),
        "files": _mapping_of(TEXT),
        "published": _or_null(_some({"source": TEXT_OR_NULL, "sentences": _or_null(TEXTS)})),
        "missing": _or_null(_mapping_of(TEXTS)),
        "moments": _mapping_of(_mapping_of(_list_of(NUMBER_OR_NULL, len(MOMENTS)))),
    }
)

ABOUT = _parts(
    {
        "kind": _one_of(None, COMMITTEES),
        "protocol": PROTOCOL,
        "sweep": _or_null(_parts({"kind": TEXT, "levels": _list_of(NUMBER)})),
        "datasets": _mapping_of(DATASET, least=1),
        "methods": _mapping_of(ANY_MAPPING, least=1),
        "max_seconds": NUMBER_OR_NULL,
        "versions": _mapping_of(TEXT),
        "notes": NOTES,
    },
    optional=("kind", "max_seconds", "versions"),
)


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
    ABOUT(about, "")
    is_of_committees = about.get("kind") == COMMITTEES
    sweep, n_series = about["sweep"], len(about["methods"])
    try:
        protocol = Protocol.from_dict(about["protocol"])
        if sweep is not None:
            n_series *= len(Sweep(sweep["kind"], tuple(sweep["levels"])).levels)
    except (TypeError, ValueError) as error:
        raise ValueError(f"protocol or sweep: {str(error).rstrip('.')}") from error
    if is_of_committees:
        _one_of(None)(sweep, "sweep")
        _mapping_of(COMMITTEE)(about["methods"], "methods")
        n_series = sum(len(method["levels"]) for method in about["methods"].values())
        for name, dataset in about["datasets"].items():
            share = dataset.get("overrides", {}).get("labelled_share", protocol.labelled_share)
            NUMBER(share, f"labelled_share of {visible(name)}")
    if (n_records := len(about["datasets"]) * n_series * protocol.n_runs) > MOST_RECORDS:
        raise ValueError(f"there may be {MOST_RECORDS:,} records at most: got {n_records:,}")


# --- records ---

RECORD = _parts(
    {
        **dict.fromkeys(("dataset", "method"), TEXT),
        "run": _whole(0),
        "level": NUMBER_OR_NULL,
        "status": _one_of("done", "failed"),
        "error": TEXT_OR_NULL,
        "warnings": TEXTS,
        "parameters": ANY_MAPPING,
        **dict.fromkeys(("random_state", "n_labelled", "split"), _whole(0)),
        **dict.fromkeys(("n_features", "n_train", "n_given", "n_test"), _whole(1)),
        "top": _list_of(_whole(0)),
        "curves": ANY_MAPPING,
        "versions": _mapping_of(TEXT),
        "measured": _parts(
            {**dict.fromkeys(MEASURED, NUMBER_OR_NULL), "finished": TEXT}, optional=("finished",)
        ),
    }
)


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
    RECORD(record, "")
    if record["status"] == "failed":
        TEXT(record["error"], "error")
    if record["status"] == "done" or record["curves"]:
        _curves_of(about)(record["curves"], "curves")
    _check_top(record, about)


def _curves_of(about: dict[str, Any]) -> Rule:
    if about.get("kind") == COMMITTEES:
        return _parts(dict.fromkeys(MEASURES, _list_of(NUMBER_OR_NULL, len(MOMENTS))))
    protocol = about["protocol"]
    curve = _list_of(NUMBER_OR_NULL, len(protocol["sizes"]))
    return _parts(
        dict.fromkeys(protocol["judges"], _parts(dict.fromkeys(protocol["metrics"], curve)))
    )


def _check_top(record: Record, about: dict[str, Any]) -> None:
    n_features, top = record["n_features"], record["top"]
    known = about["datasets"].get(record["dataset"], record)["n_features"]
    _one_of(known)(n_features, "n_features")
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
