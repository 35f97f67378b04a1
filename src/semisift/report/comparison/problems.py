"""Where results come from and what they lack: failures, slow methods, warnings, versions."""

from collections import Counter, defaultdict
from dataclasses import dataclass

from semisift._words import count, figure, listed, printable, shorten, visible
from semisift.evaluation.records import Records
from semisift.evaluation.runs import Record
from semisift.report.comparison.view import LONGEST_SAID


@dataclass(frozen=True)
class RunProblem:
    """What went wrong, where and how often; places are None where there are several."""

    where: str
    what: str
    dataset: int | None = None
    method: int | None = None


def failures(results: Records) -> list[RunProblem]:
    """Return errors, a line for each data set, method and message."""
    found = Counter(
        (record["dataset"], record["method"], str(record["error"])) for record in results.failures
    )
    return [
        RunProblem(
            f"{_short(method)} failed on {_short(dataset)} in {count(n, 'run')}",
            printable(error),
            results.datasets.index(dataset),
            results.methods.index(method),
        )
        for (dataset, method, error), n in found.items()
    ]


def too_slow(results: Records) -> list[RunProblem]:
    """Return methods that were left out on a data set because of their time."""
    limit = results.about.get("max_seconds")
    return [
        RunProblem(
            f"{_short(method)} on {_short(dataset)}",
            f"left out after a run of {figure(seconds)} seconds; the limit was {limit:g}",
            results.datasets.index(dataset),
            results.methods.index(method),
        )
        for (dataset, method), seconds in results.too_slow.items()
    ]


def warnings(results: Records) -> list[RunProblem]:
    """Return warnings, a line for each message and method."""
    found: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in results.records:
        for message in record["warnings"]:
            found[record["method"], message].append(record)
    lines = []
    for (method, message), records in found.items():
        sets = dict.fromkeys(_short(record["dataset"]) for record in records)
        where = f"{_short(method)}, {count(len(records), 'run')} on {listed(list(sets))}"
        lines.append(RunProblem(where, printable(message), method=results.methods.index(method)))
    return lines


def unfinished(results: Records) -> str:
    """Say how many records are missing; empty if none is."""
    if not results.n_missing:
        return ""
    n_records = len(results.records)
    return (
        f"The comparison is not finished: {count(results.n_missing, 'record')} of "
        f"{n_records + results.n_missing:,} are still to be made."
    )


def versions(results: Records) -> list[tuple[str, str]]:
    """Return the versions with which the records were made; all of them where they differ."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for record in [*results.records, results.about]:
        for name, version in (record.get("versions") or {}).items():
            found[visible(name)][visible(version)] = None
    return [(name, " and ".join(values)) for name, values in found.items()]


def command_of(results: Records) -> str:
    """Return the command of the notes, which makes the comparison again; empty if there is none."""
    command = (results.about.get("notes") or {}).get("command") or ""
    return "\n".join(printable(line) for line in str(command).splitlines())


def _short(name: str) -> str:
    return shorten(visible(name), LONGEST_SAID)
