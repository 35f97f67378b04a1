"""reproduce: a table or figure of a paper, made again and shown beside the published numbers."""

import warnings
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console

from semisift._compare import compare
from semisift.exceptions import FewTestRowsWarning
from semisift.papers import cotraining, cotraining_report, views
from semisift.papers.reproductions import Reproduction, prepare
from semisift.papers.targets import Target
from semisift.report.comparison import write_comparison, write_summary

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
        find = cotraining.prepare_committees if is_of_committees else prepare
        plan = find(target, data, methods, runs)
    console.print(plan.target.title)
    for line in plan.missing_in_words():
        console.print(line)
    options = {**options, "out": out, "notes": {**plan.notes, "command": command}}
    if is_of_committees:
        _run_committees(plan, console, steps, options)
    else:
        _run_comparison(plan, console, steps, options)


def _run_comparison(
    plan: Reproduction, console: Console, steps: ProgressSteps, options: dict[str, Any]
) -> None:
    out = options["out"]
    with steps.step(f"Comparing on {len(plan.sets)} data sets") as step, warnings.catch_warnings():
        # the protocol is the paper's, and the report says it
        warnings.simplefilter("ignore", FewTestRowsWarning)
        results = compare(
            plan.methods, plan.sets, plan.target.protocol, on_record=step.hear, **options
        )
    with steps.step("Writing the report"):
        write_comparison(results, out / REPORT, title=plan.target.title)
        write_summary(results, out / SUMMARY)
    views.show(console, plan.target, results)
    console.print(f"Written: {out / REPORT}, with {SUMMARY}/ beside it.")


def _run_committees(
    plan: Reproduction, console: Console, steps: ProgressSteps, options: dict[str, Any]
) -> None:
    sets = {data.name: data for data in plan.sets}
    committees = cotraining.CommitteePlan(sets, dict(plan.methods), plan.target.protocol)
    options["notes"]["moments"] = cotraining.published_moments(plan.target)
    with steps.step(f"Running classifiers on {len(plan.sets)} data sets") as step:
        results = cotraining.run_committees(committees, on_record=step.hear, **options)
    summary = options["out"] / SUMMARY
    with steps.step("Writing the summary"):
        cotraining_report.write_committee_summary(results, summary)
    cotraining_report.show(console, results)
    console.print(f"Written: {summary}.")
