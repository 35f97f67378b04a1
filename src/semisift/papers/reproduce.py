"""reproduce: a table or figure of a paper, made again and shown beside the published numbers."""

import warnings
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console

from semisift._compare import Results, compare
from semisift.exceptions import FewTestRowsWarning
from semisift.papers import cotraining, cotraining_report, views
from semisift.papers.reproductions import Reproduction, prepare
from semisift.papers.targets import Target

REPORT, SUMMARY = "report.html", "summary"


class ProgressSteps(Protocol):
    """What tells of the parts of the work."""

    def step(self, words: str, /) -> AbstractContextManager[Any]:
        """Tell of one part; what it yields hears of each record."""


def reproduce(
    target: Target,
    console: Console,
    steps: ProgressSteps,
    *,
    data: Path,
    out: Path,
    methods: str | None,
    runs: int | None,
    command: str,
    **options: Any,
) -> None:
    """Make the records of a target, its report and summary, and print what came out.

    Parameters
    ----------
    target : Target
    console : rich.console.Console
    steps : ProgressSteps
    data, out : Path
        Folders with the data sets, and for all that is made.
    methods, runs
        As for `prepare`.
    command : str
        That makes it again, for the notes.
    **options
        Of `compare`.
    """
    is_of_committees = target.view == "committees"
    with steps.step("Reading the data sets"):
        plan = prepare(target, data, methods, runs)
    console.print(plan.target.title)
    for line in plan.missing_in_words():
        console.print(line)
    options |= {"out": out, "notes": {**plan.notes, "command": command}}
    verb = "Running classifiers" if is_of_committees else "Comparing"
    with steps.step(f"{verb} on {len(plan.sets)} data sets") as step, warnings.catch_warnings():
        # the protocol is the paper's, and the report says it
        warnings.simplefilter("ignore", FewTestRowsWarning)
        make = _run_committees if is_of_committees else _compare
        results = make(plan, on_record=step.hear, **options)
    summary = out / SUMMARY
    if isinstance(results, cotraining.CommitteeRecords):
        with steps.step("Writing the summary"):
            cotraining_report.write_committee_summary(results, summary)
        cotraining_report.show(console, results)
        console.print(f"Written: {summary}.")
        return
    with steps.step("Writing the report"):
        results.report(out / REPORT, title=plan.target.title)
        results.write_summary(summary)
    views.show(console, plan.target, results)
    console.print(f"Written: {out / REPORT}, with {SUMMARY}/ beside it.")


def _compare(plan: Reproduction, **options: Any) -> Results:
    return compare(plan.methods, plan.sets, plan.target.protocol, **options)


def _run_committees(plan: Reproduction, **options: Any) -> cotraining.CommitteeRecords:
    options["notes"]["moments"] = cotraining.published_moments(plan.target)
    sets = {data.name: data for data in plan.sets}
    committees = cotraining.CommitteePlan(sets, dict(plan.methods), plan.target.protocol)
    return cotraining.run_committees(committees, **options)
