"""``reproduce`` and ``report`` for committees of classifiers."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from semisift._words import for_terminal
from semisift.cli._progress import Steps
from semisift.cli._targets import Targets
from semisift.evaluation.committees import (
    CommitteePlan,
    CommitteeRecords,
    prepare_committees,
    published_moments,
    run_committees,
)
from semisift.evaluation.reproductions import Reproduction
from semisift.evaluation.targets import Target

if TYPE_CHECKING:
    from rich.console import Console

SUMMARY = "summary"


def prepare(target: Target, options: dict[str, Any]) -> Reproduction:
    """Find the data and the classifiers."""
    return prepare_committees(target, Path(options["data"]), options["methods"], options["runs"])


def run(
    plan: Reproduction, steps: Steps, options: dict[str, Any], command: str
) -> CommitteeRecords:
    """Make all records that are missing, and the summary."""
    committees = CommitteePlan(
        {data.name: data for data in plan.sets}, dict(plan.methods), plan.target.protocol
    )
    with steps.step(f"Running classifiers on {len(plan.sets)} data sets") as step:
        results = run_committees(
            committees,
            out=options["out"],
            resume=options["resume"],
            max_seconds=options["max_seconds"],
            n_jobs=options["n_jobs"],
            on_record=step.hear,
            notes={**plan.notes, "moments": published_moments(plan.target), "command": command},
        )
    with steps.step("Writing the summary"):
        from semisift.report.committees import write_committee_summary

        write_committee_summary(results, Path(options["out"]) / SUMMARY)
    return results


def show(console: "Console", results: CommitteeRecords) -> None:
    """Print all tables, and what went wrong."""
    from rich.table import Table
    from rich.text import Text

    from semisift.report.committees import committee_tables
    from semisift.report.comparison.gaps import failures, too_slow, unfinished

    for each in committee_tables(results):
        table = Table(title=Text(each.title))
        for heading, kind in zip((each.corner, *each.columns), ("word", *each.kinds), strict=True):
            table.add_column(heading, justify="right" if kind == "number" else "left")
        for line in each.lines:
            texts = [f"{cell.text} {cell.aside}".rstrip() for cell in line.cells]
            table.add_row(Text(line.name), *texts)
        console.print(table)
    for gap in [*failures(results), *too_slow(results)]:
        console.print(f"{gap.where}: {gap.what}.")
    if results.n_missing:
        console.print(unfinished(results))
    for sentence in (results.about["notes"].get("published") or {}).get("sentences", []):
        console.print(sentence)


class Outputs(NamedTuple):
    """What `report` is asked to write."""

    markdown: str | None
    figures: str | None
    figure_format: str
    summary: str | None


def report(folder: str, wanted: Outputs, refused: dict[str, str | None], quiet: bool) -> None:
    """Write the tables and the figure of committees from their records."""
    from semisift._files import drafts
    from semisift.cli._terminal import Terminal
    from semisift.report.committees import (
        committees_to_markdown,
        write_committee_figure,
        write_committee_summary,
    )

    for name, given in refused.items():
        if given is not None:
            raise click.BadParameter(
                f"{folder} holds records of committees, which have no page and no table in LaTeX: "
                "use --summary, --markdown or --figures.",
                param_hint=f"--{name}",
            )
    results = CommitteeRecords.load(folder)
    written: list[Any] = []
    if wanted.markdown is not None:
        path = Targets().add(wanted.markdown, "--markdown", (".md", ".markdown"))
        with drafts([path]) as (draft,):
            draft.write_text(committees_to_markdown(results), encoding="utf-8")
        written.append(path)
    if wanted.figures is not None:
        written.append(write_committee_figure(results, wanted.figures, wanted.figure_format))
    if wanted.summary is not None or not written:
        target = wanted.summary or Path(folder) / SUMMARY
        written.append(write_committee_summary(results, target))
    if not quiet:
        show(Terminal(), results)
        for path in written:
            click.echo(f"Written: {for_terminal(path)}")
