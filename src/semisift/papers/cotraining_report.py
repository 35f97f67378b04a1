"""The figure of committees: what they do before and after they learnt, as tables and a picture."""

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator

from semisift.comparison._specs import parse
from semisift.papers.cotraining import MEASURES, MOMENTS, CommitteeRecords
from semisift.papers.figures import OurFigure as Beside
from semisift.report._figure import FORMS, ReportFigure
from semisift.report._page import escape_markdown
from semisift.report._style import FigureStyle, Palette, method_line
from semisift.report.charts.curves import list_methods
from semisift.report.comparison._page import (
    bullets,
    closing,
    failures,
    opening,
    too_slow,
    unfinished,
    write_document,
)
from semisift.report.comparison._published import WORDS
from semisift.report.comparison._tables import (
    ReportTable,
    TableCell,
    TableLine,
    markdown_of,
    number,
)
from semisift.utils._files import drafts
from semisift.utils._text import join, plural, printable, printable_name

if TYPE_CHECKING:
    from rich.console import Console

# Of a panel and of what lies around it, in points.
WIDTH, HEIGHT = 205.0, 150.0
GAP, LEGEND, TOP, BOTTOM = 44.0, 150.0, 46.0, 34.0

BEGINNING = (3.0, 1.6)  # dashes
SLUG = "committees"


# --- tables ---------------------------------------------------------------------------------------


def committee_tables(results: CommitteeRecords) -> list[ReportTable]:
    """Return a table for each measure and data set, and one of classifiers in two views."""
    tables = [
        _by_members(results, dataset, measure)
        for measure in MEASURES
        for dataset in results.datasets
        if _levels(results)
    ]
    in_views = [method for method in results.methods if not results.varies_members(method)]
    return [*tables, *(_in_two_views(results, method) for method in in_views)]


def _levels(results: CommitteeRecords) -> list[int]:
    with_members = filter(results.varies_members, results.methods)
    return sorted({k for method in with_members for k in results.levels_of(method)})


def _by_members(results: CommitteeRecords, dataset: str, measure: str) -> ReportTable:
    """Return means and standard errors for each number of members."""
    levels = _levels(results)
    lines = []
    for method in filter(results.varies_members, results.methods):
        means, errors = results.summary(dataset, method, measure)
        own = {k: place for place, k in enumerate(results.levels_of(method))}
        for moment, words in enumerate(MOMENTS.values()):
            cells = [
                _with_error(means[own[k], moment], errors[own[k], moment])
                if k in own
                else TableCell("")
                for k in levels
            ]
            lines.append(TableLine(f"{printable_name(method)}, {words}", cells))
    title = f"{printable_name(dataset)}: {MEASURES[measure]}"
    columns = [f"K = {k}" for k in levels]
    return ReportTable(f"{SLUG}-{measure}", title, "classifier", columns, lines)


def _with_error(mean: float, error: float) -> TableCell:
    return replace(number(mean), aside=f"± {error:.3f}" if np.isfinite(error) else "")


def _in_two_views(results: CommitteeRecords, method: str) -> ReportTable:
    """Return a classifier whose levels are partitions, beside what is published of it."""
    published = results.published.get(parse(method, "method")[0], {})
    n_theirs = (results.about["notes"].get("published") or {}).get("n_runs")
    lines = []
    for dataset in results.datasets:
        summaries = [results.summary(dataset, method, measure) for measure in MEASURES]
        for moment, words in enumerate(MOMENTS.values()):
            ours = [(means[0, moment], errors[0, moment]) for means, errors in summaries]
            value = published.get(dataset, [None, None])[moment]
            n_ours = results.protocol.n_runs
            word = Beside(value, *ours[0], n_runs=n_ours, n_published=n_theirs).word
            shown = TableCell("") if value is None else number(value)
            first, *others = (_with_error(*each) for each in ours)
            cells = [shown, first, TableCell(WORDS.get(word, word)), *others]
            lines.append(TableLine(f"{printable_name(dataset)}, {words}", cells))
    n_partitions = plural(len(results.levels_of(method)), "random partition")
    title = f"{printable_name(method)}: two members, mean over {n_partitions} of the features"
    columns = ["published", MEASURES["accuracy"], "ours is", *list(MEASURES.values())[1:]]
    return ReportTable(f"{SLUG}-views", title, "data set", columns, lines)


# --- the picture ----------------------------------------------------------------------------------


def committee_figure(results: CommitteeRecords) -> ReportFigure:
    """Return the figure: a row for each data set, a column for each measure."""
    n_rows, n_columns = len(results.datasets), len(MEASURES)
    width = n_columns * WIDTH + (n_columns - 1) * GAP
    height = n_rows * HEIGHT + (n_rows - 1) * GAP

    def draw(ax: Axes, results: CommitteeRecords, style: FigureStyle) -> None:
        ax.axis("off")
        for i, dataset in enumerate(results.datasets):
            for j, measure in enumerate(MEASURES):
                left, top = j * (WIDTH + GAP), i * (HEIGHT + GAP)
                box = (left / width, 1 - (top + HEIGHT) / height, WIDTH / width, HEIGHT / height)
                panel = ax.inset_axes(box)
                panel.patch.set_visible(False)
                _draw_panel(panel, results, dataset, measure, style)
                look: Any = {"xycoords": "axes fraction", "va": "baseline"}
                style.annotate(panel, style.write(printable_name(dataset), 24), (0, 1.04), **look)
                if i == 0:
                    look["color"] = style.palette.muted
                    style.annotate(panel, MEASURES[measure], (0, 1.2), **look)
        list_methods(ax, style, range(len(results.methods)), results.methods)

    words = (
        "Mean over runs against the number of members K. Solid lines: at the end; dashed lines "
        "with hollow marks: at the beginning. Bands are one standard error. Level lines are "
        "classifiers in two views, which have no K."
    )
    if results.published:
        words += " Dotted grey lines are published."
    margins = (46.0, LEGEND, TOP, BOTTOM)
    size = width + 46.0 + LEGEND, height + TOP + BOTTOM
    title = join(list(MEASURES.values()))
    title = title[0].upper() + title[1:]
    return ReportFigure(SLUG, title, words, draw, results, size, margins)


def _draw_panel(
    ax: Axes, results: CommitteeRecords, dataset: str, measure: str, style: FigureStyle
) -> None:
    style.clean_axes(ax, "K")
    palette = style.palette
    levels = _levels(results) or [0, 1]
    ends = [levels[0], levels[-1]]
    for place, method in enumerate(results.methods):
        means, errors = results.summary(dataset, method, measure)
        x = results.levels_of(method) if results.varies_members(method) else ends
        for moment, name in enumerate(MOMENTS):
            mean, error = (np.broadcast_to(part[:, moment], len(x)) for part in (means, errors))
            colour = palette.of_class(place)
            ax.fill_between(x, mean - error, mean + error, color=colour, alpha=0.12, lw=0)
            ax.plot(x, mean, zorder=3, **_look(place, name, palette))
    if measure == "accuracy":
        for of_sets in results.published.values():
            for value in of_sets.get(dataset, []):
                if value is not None:
                    ax.axhline(value, color=palette.muted, lw=1.0, ls=":", zorder=2)
    ax.xaxis.set_major_locator(FixedLocator(levels))
    ax.yaxis.set_major_locator(MaxNLocator(5))


def _look(place: int, moment: str, palette: Palette) -> dict[str, Any]:
    look = {**method_line(place, palette), "ms": 4.0}
    if moment == "begin":
        hollow = {"mfc": palette.paper, "mec": palette.of_class(place)}
        look |= {"ls": (0, BEGINNING), "lw": 1.1, **hollow}
    return look


# --- files ----------------------------------------------------------------------------------------


def committees_to_markdown(results: CommitteeRecords) -> str:
    """Return all tables in Markdown."""
    tables = committee_tables(results)
    return "\n".join(f"### {escape_markdown(each.title)}\n\n{markdown_of(each)}" for each in tables)


def write_committee_figure(
    results: CommitteeRecords, folder: str | os.PathLike[str], form: str = "svg"
) -> Path:
    """Save the figure in a folder, as svg or pdf."""
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}: got {form!r}.")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{SLUG}.{form}"
    with drafts([path]) as (draft,):
        committee_figure(results).to_file(draft, form)
    return path


def write_committee_summary(results: CommitteeRecords, folder: str | os.PathLike[str]) -> Path:
    """Write a page in Markdown, ``README.md``, with the tables and the figure beside it.

    Parameters
    ----------
    results : CommitteeRecords
    folder : str or path
        Made where it does not exist.

    Returns
    -------
    Path
        Of the page.
    """
    picture = write_committee_figure(results, folder)
    return write_document(_page(results, picture.name), Path(folder))


def _page(results: CommitteeRecords, picture: str) -> str:
    notes = results.about["notes"]
    published = notes.get("published") or {}
    shown = committee_figure(results)
    parts = opening(results, published.get("source", "Committees of classifiers"))
    parts += ["## Protocol", bullets(protocol_of_committees(results))]
    parts += [f"![{escape_markdown(shown.title)}]({picture})", escape_markdown(shown.words)]
    parts += ["## Figures", committees_to_markdown(results).rstrip()]
    if sentences := published.get("sentences"):
        parts += ["## What the paper says", bullets([printable(each) for each in sentences])]
    absent = (notes.get("missing") or {}).get("datasets")
    lacking = f"There were no data for {printable(join(absent))}." if absent else ""
    return "\n\n".join([*parts, *closing(results, lacking)]) + "\n"


def protocol_of_committees(results: CommitteeRecords) -> list[str]:
    """Say how the figures were made."""
    protocol = results.protocol
    shares = {
        dataset: about.get("overrides", {}).get("labelled_share", protocol.labelled_share)
        for dataset, about in results.about["datasets"].items()
    }
    labelled = join([f"{share:.0%} on {printable_name(name)}" for name, share in shares.items()])
    settings = [
        f"Run: {printable_name(method)} with "
        + ", ".join(f"{name}={value}" for name, value in about["parameters"].items())
        for method, about in results.about["methods"].items()
    ]
    return [
        f"Protocol “{printable_name(protocol.name)}”, seed {protocol.seed}: "
        f"{plural(protocol.n_runs, 'run')} on each data set, the same splits for all classifiers.",
        f"In a run {protocol.train_size:.0%} of the rows of each class train and the others test; "
        f"of the training rows a share is labelled: {labelled}.",
        "At the beginning the members know the labelled rows alone, at the end also the rows that "
        "they labelled themselves. All figures are of test rows.",
        "Diversity is the entropy measure: 0 where all members are right or all are wrong on each "
        "row, 1 where each row divides them evenly.",
        *settings,
        "± is one standard error over runs. Partitions of the features are averaged in each run.",
    ]


# --- on a terminal --------------------------------------------------------------------------------


def show(console: "Console", results: CommitteeRecords) -> None:
    """Print all tables, and what went wrong."""
    from rich.table import Column, Table
    from rich.text import Text

    for each in committee_tables(results):
        kinds = zip(each.columns, each.kinds, strict=True)
        columns = [
            Column(name, justify="right" if kind == "number" else "left") for name, kind in kinds
        ]
        table = Table(each.corner, *columns, title=Text(each.title))
        for line in each.lines:
            texts = [f"{cell.text} {cell.aside}".rstrip() for cell in line.cells]
            table.add_row(Text(line.name), *texts)
        console.print(table)
    for problem in [*failures(results), *too_slow(results)]:
        console.print(f"{problem.where}: {problem.what}.")
    if results.n_missing:
        console.print(unfinished(results))
    for sentence in (results.about["notes"].get("published") or {}).get("sentences", []):
        console.print(sentence)
