"""The page of a comparison, a shorter one in Markdown, and pictures, from the records alone."""

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import indent
from typing import Any

import polars as pl

from semisift.comparison._protocol import Protocol
from semisift.comparison._results import Results, one_of
from semisift.comparison._run import Record, doubt
from semisift.comparison._statistical_tests import critical_wins
from semisift.comparison._sweeps import SWEEPS
from semisift.report import _style
from semisift.report._download import pack
from semisift.report._figure import FORMS, ReportFigure
from semisift.report._page import escape_markdown, fill, paragraph, plain, sentences, write_page
from semisift.report.charts import critical_difference, curves, tradeoffs
from semisift.report.comparison import _tables
from semisift.report.comparison._published import published_beside
from semisift.report.comparison._view import (
    LEVEL_OF_RANKS,
    LEVEL_OF_WINS,
    MAX_NAME,
    METRICS,
    View,
    sweep_of,
    view_of,
    views_of,
)
from semisift.utils._files import drafts
from semisift.utils._text import format_number, join, plural, printable, printable_name, shorten

WIDE, NARROW = 860.0, 340.0
SUMMARY = "README.md"


def write_comparison(
    results: Results, path: str | os.PathLike[str], *, title: str | None = None
) -> Path:
    """Write the report of a comparison to a file, whole or not at all.

    Parameters
    ----------
    results : Results
    path : str or path
    title : str, optional

    Returns
    -------
    Path
    """
    return write_page(Path(path), render_comparison(results, title=title))


def render_comparison(results: Results, *, title: str | None = None) -> str:
    """Return the page as text: the same for the same records.

    Parameters
    ----------
    results : Results
    title : str, optional

    Returns
    -------
    str
    """
    return fill("comparison/page.html", **summarize(results, title))


def summarize(results: Results, title: str | None = None) -> dict[str, Any]:
    """Return all that the page shows."""
    views, protocol = views_of(results), results.protocol
    return {
        "title": printable_name(title or f"Comparison: {protocol.name}"),
        "results": results,
        "view": views[0],
        "lead": f"{lead(views[0])} {paragraph('trained_on', protocol)}",
        "protocol": protocol_in_words(results),
        "panels": [_panel(view, number) for number, view in enumerate(views)],
        "measures": _tables.measure_tables(views[0]),
        "similarity": _tables.similarity_table(views[0]),
        "metrics": [METRICS.get(metric, printable_name(metric)) for metric in protocol.metrics],
        "shows_bands": len(results.methods) <= curves.MAX_BANDS,
        "styles": _style,
        "unfinished": unfinished(results),
        "failures": failures(results),
        "too_slow": too_slow(results),
        "warnings": warnings(results),
        "doubt": doubt(results.n_judging),
        "command": command_of(results),
        "versions": versions(results),
        # values have six decimals
        "numbers": pack(results.to_polars().with_columns(pl.col("value").round(6)), {}, safe=False),
    }


def _panel(view: View, number: int) -> dict[str, Any]:
    """Return what the page shows of one judge and one metric; `number` tells them apart."""
    start, sets = f"v{number}", range(len(view.datasets))
    is_published = view.metric == view.results.protocol.metrics[0]
    sweep, ranks = sweep_of(view), critical_difference.summarize(view)

    def large(make: Callable[..., ReportFigure], of: Any, name: str) -> ReportFigure:
        wide, narrow = (make(of, f"{start}-{name}", width) for width in (WIDE, NARROW))
        return replace(wide, small=narrow)

    return {
        "number": number,
        "view": view,
        "name": f"{view.metric_name} of the judge {printable_name(view.evaluator)}",
        "glance": _tables.glance_table(view),
        "main": _tables.main_table(view),
        "bounds": bounds_in_words(view),
        "published": published_beside(view) if is_published else None,
        "curves": [curves.figure(view, i, f"{start}-curve-{i}", listed=False) for i in sets],
        "boxes": [curves.runs_figure(view, i, f"{start}-box-{i}") for i in sets],
        "tests": tests_in_words(view),
        "diagram": ranks and large(critical_difference.figure, ranks, "ranks"),
        "wins_words": wins_in_words(view),
        "wins": [_tables.wins_table(view, corrected=corrected) for corrected in (True, False)],
        "wilcoxon_words": wilcoxon_in_words(view),
        "wilcoxon": _tables.wilcoxon_table(view),
        "stability": large(tradeoffs.stability_figure, view, "stable"),
        "time": large(tradeoffs.time_figure, view, "time"),
        "sweep_table": sweep and _tables.sweep_table(sweep),
        "sweep": curves.sweep_figures(view, f"{start}-", listed=False),
        "sweeps_of_sets": sweep
        and [
            curves.sweep_figure(sweep, "figure", i, f"{start}-sweep-of-{i}", listed=False)
            for i in sets
        ],
    }


# --- in words -------------------------------------------------------------------------------------


def lead(view: View) -> str:
    """Return in short what was compared and what came out."""
    return paragraph("lead", view.results, view)


def protocol_in_words(results: Results) -> list[str]:
    """Return how the comparison was made."""
    metric = results.protocol.metrics[0]
    return sentences(
        "protocol",
        results,
        sizes_in_words(results.protocol),
        sorted(set(results.n_judging.values())),
        METRICS.get(metric, metric),
        SWEEPS,
    )


def sizes_in_words(protocol: Protocol) -> str:
    """Return the numbers of features, in words."""
    sizes = sorted(protocol.sizes)
    if len(sizes) > 2 and sizes == list(range(sizes[0], sizes[-1] + 1)):
        return f"{sizes[0]} to {sizes[-1]}"
    return join([str(size) for size in sizes])


def tests_in_words(view: View) -> list[str]:
    """Return what the tests of Friedman and of Nemenyi find, or why there are none."""
    found = view.test("friedman")
    if found is None:
        return [view.obstacle]
    paragraphs = sentences("friedman", found, LEVEL_OF_RANKS)
    for alpha in (LEVEL_OF_RANKS, LEVEL_OF_WINS):
        test = view.test("nemenyi", alpha)
        ranks, order = test.mean_ranks, test.mean_ranks.argsort(kind="stable").tolist()
        names = [view.shown_names[place] for place in view.places]
        worse = [
            (names[j], [names[i] for i in order if test.different[i, j] and ranks[i] > ranks[j]])
            for j in order
        ]
        worse = [pair for pair in worse if pair[1]]
        paragraphs.append(paragraph("nemenyi", alpha, test.critical_difference, worse, len(names)))
    return paragraphs


def wins_in_words(view: View) -> list[str]:
    """Return what wins, ties and losses are, and when a count is significant."""
    if view.wins(corrected=True) is None:
        if view.results.protocol.n_runs < 2:
            return ["Wins and losses need at least two runs of each method on a data set."]
        return [view.obstacle or "There is no data set on which to count."]
    n_sets = len(view.complete.datasets)
    return sentences("wins", n_sets, critical_wins(n_sets, LEVEL_OF_WINS), LEVEL_OF_WINS)


def wilcoxon_in_words(view: View) -> list[str]:
    """Return what the signed-rank tests are, and how many are significant."""
    if (found := view.test("pairwise_wilcoxon")) is None:
        return [view.obstacle]
    k, n = len(found[1]), len(view.complete.datasets)
    n_found = int((found[1] <= LEVEL_OF_RANKS).sum()) // 2
    smallest = 2.0 ** (1 - n)
    return [paragraph("wilcoxon", k * (k - 1) // 2, n, n_found, LEVEL_OF_RANKS, smallest)]


def bounds_in_words(view: View) -> str:
    """Return which methods see hidden labels; empty if none does."""
    names = [name for name, bound in zip(view.shown_names, view.is_bound, strict=True) if bound]
    return paragraph("bounds", names)


# --- what is missing or doubtful, and where results come from -------------------------------------


@dataclass(frozen=True)
class RunProblem:
    """What went wrong, where and how often; places are None where there are several."""

    where: str
    what: str
    dataset: int | None = None
    method: int | None = None


def failures(results: Results) -> list[RunProblem]:
    """Return errors, a line for each data set, method and message."""
    keys = ((each["dataset"], each["method"], str(each["error"])) for each in results.failures)
    return [
        _problem(results, dataset, method, f"failed on {{}} in {plural(n, 'run')}", error)
        for (dataset, method, error), n in Counter(keys).items()
    ]


def too_slow(results: Results) -> list[RunProblem]:
    """Return methods that were left out on a data set because of their time."""
    limit = results.about.get("max_seconds")
    what = "left out after a run of {} seconds; the limit was {:g}"
    return [
        _problem(results, *key, "on {}", what.format(format_number(seconds), limit))
        for key, seconds in results.too_slow.items()
    ]


def _problem(results: Results, dataset: str, method: str, where: str, what: str) -> RunProblem:
    """Return what went wrong with a method on a data set."""
    places = results.datasets.index(dataset), results.methods.index(method)
    where = f"{_short(method)} {where.replace('{}', _short(dataset))}"
    return RunProblem(where, printable(what), *places)


def warnings(results: Results) -> list[RunProblem]:
    """Return warnings, a line for each message and method."""
    found: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in results.records:
        for message in record["warnings"]:
            found[record["method"], message].append(record)
    lines = []
    for (method, message), records in found.items():
        sets = dict.fromkeys(_short(record["dataset"]) for record in records)
        where = f"{_short(method)}, {plural(len(records), 'run')} on {join(list(sets))}"
        lines.append(RunProblem(where, printable(message), method=results.methods.index(method)))
    return lines


def unfinished(results: Results) -> str:
    """Return how many records are missing, in words; empty if none is."""
    return paragraph("unfinished", results.n_missing, results.n_missing + len(results.records))


def versions(results: Results) -> list[tuple[str, str]]:
    """Return the versions with which the records were made; all of them where they differ."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for record in [*results.records, results.about]:
        for name, version in (record.get("versions") or {}).items():
            found[printable_name(name)][printable_name(version)] = None
    return [(name, " and ".join(values)) for name, values in found.items()]


def command_of(results: Results) -> str:
    """Return the command of the notes, which makes the comparison again; empty if there is none."""
    command = (results.about.get("notes") or {}).get("command") or ""
    return "\n".join(printable(line) for line in str(command).splitlines())


def _short(name: str) -> str:
    return shorten(printable_name(name), MAX_NAME)


# --- pictures in files, and a short page in Markdown ----------------------------------------------


def write_figures(
    results: Results, folder: str | os.PathLike[str], form: str = "svg"
) -> list[Path]:
    """Save every picture of a comparison, at the first judge and metric.

    Parameters
    ----------
    results : Results
    folder : str or path
        Made where it does not exist.
    form : {"svg", "pdf"}, default="svg"

    Returns
    -------
    list of Path
    """
    one_of("form", form, FORMS)
    return save_figures(_figures(view_of(results), every=True), Path(folder), form)


def _figures(view: View, *, every: bool) -> list[ReportFigure]:
    """Return the pictures of the page in Markdown, or every picture for a paper."""
    ranks = critical_difference.summarize(view)
    drawn = [] if ranks is None else [critical_difference.figure(ranks)]
    for i in range(len(view.datasets)) if every else ():
        drawn.append(curves.figure(view, i, f"curves-{i + 1}", listed=True))
        drawn.append(curves.runs_figure(view, i, f"boxes-{i + 1}"))
    drawn += [tradeoffs.stability_figure(view), tradeoffs.time_figure(view)]
    drawn += [tradeoffs.similarity_figure(view.results)] if every else []
    return [*drawn, *curves.sweep_figures(view, listed=True)]


def _file_name(picture: ReportFigure) -> str:
    """Return the name of the file of a picture: those of data sets are told by their names."""
    kind, _, number = picture.slug.rpartition("-")
    if kind not in ("curves", "boxes"):
        return picture.slug
    plain = [letter if letter.isascii() and letter.isalnum() else "-" for letter in picture.title]
    return f"{kind}-{number}-{''.join(plain)[:40].strip('-')}".rstrip("-")


def save_figures(drawn: Sequence[ReportFigure], folder: Path, form: str) -> list[Path]:
    """Draw pictures into files of a folder, all or none."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{_file_name(picture)}.{form}" for picture in drawn]
    with drafts(paths) as places:
        for picture, place in zip(drawn, places, strict=True):
            picture.to_file(place, form)
    return paths


def write_summary(results: Results, folder: str | os.PathLike[str]) -> Path:
    """Write a short page in Markdown, ``README.md``, with its pictures beside it.

    Parameters
    ----------
    results : Results
    folder : str or path
        Made where it does not exist.

    Returns
    -------
    Path
        Of the page.
    """
    folder, view = Path(folder), view_of(results)
    drawn = _figures(view, every=False)
    save_figures(drawn, folder, "svg")
    return write_document(_summary_of(view, drawn), folder)


def _summary_of(view: View, drawn: Sequence[ReportFigure]) -> str:
    """Return the text of the page, with pictures named as `write_summary` names them."""
    results = view.results
    views = [view_of(results, judge=evaluator) for evaluator in results.protocol.judges]
    values = {
        "opening": opening(results, f"Comparison: {results.protocol.name}"),
        "lead": lead(view),
        "protocol": protocol_in_words(results),
        "views": views,
        "tables": [_tables.main_table(evaluated) for evaluated in views],
        "notes": [*filter(None, [bounds_in_words(view), *view.left_out])],
        "published": [published_beside(evaluated) for evaluated in views],
        "glance": _tables.glance_table(view),
        "tests": [*tests_in_words(view), *wilcoxon_in_words(view)],
        "pictures": [(picture, _file_name(picture)) for picture in drawn],
        "closing": closing(results),
        "markdown_of": _tables.markdown_of,
        "bullets": bullets,
    }
    return plain().get_template("comparison/summary.md").render(values)


def opening(results: Results, title: str) -> list[str]:
    """Return the title of a page in Markdown and the command that makes its records again."""
    parts = [f"# {escape_markdown(printable_name(title))}"]
    if command := command_of(results):
        parts += ["## How to reproduce", indent(command, "    ")]
    return parts


def closing(results: Results, *more: str) -> list[str]:
    """Return what a page in Markdown ends with: what is missing or doubtful, and versions."""
    problems = [*failures(results), *too_slow(results)]
    paragraphs = [unfinished(results), doubt(results.n_judging)]
    paragraphs = [*paragraphs, *(f"{each.where}: {each.what}." for each in problems), *more]
    made = ", ".join(f"{name} {version}" for name, version in versions(results))
    parts = ["## What is missing or doubtful", bullets(paragraphs)] if any(paragraphs) else []
    return [*parts, f"Made with {escape_markdown(made)}."]


def write_document(text: str, folder: Path) -> Path:
    """Write a page in Markdown into a folder, whole or not at all."""
    return write_page(folder / SUMMARY, text)


def bullets(sentences: Sequence[str]) -> str:
    """Return sentences as a list in Markdown."""
    return "\n".join(f"- {escape_markdown(sentence)}" for sentence in sentences if sentence)
