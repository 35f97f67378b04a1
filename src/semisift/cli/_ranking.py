"""What came of ranking a table: what is written of it, and what is printed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any

import click
import numpy as np
import polars as pl
from rich.table import Column, Table
from rich.text import Text

from semisift.active._next_rows import NextRows
from semisift.base._decisions import CELLS, HEADING
from semisift.cli import _output
from semisift.cli._terminal import Terminal
from semisift.cli.rank import CUT_SHORT, RankOptions
from semisift.io import FORMATS, Dataset, find_format, write
from semisift.registry import Method
from semisift.selection import RankingResult, ranking_result
from semisift.selection._markers import Markers
from semisift.selection._summary import (
    format_correlated_features,
    format_feature_constraints,
    format_marks,
)
from semisift.transduction._soft_labels import doubt_of
from semisift.utils._files import drafts
from semisift.utils._text import plural, printable_name

DECISION = "\n".join(HEADING.rsplit(" ", 1))

# Columns of the terminal for names, where a feature represents many.
NAMES_WIDTH = 40

# Markers of a class that are printed, and that files of the ranking have; classes that are printed.
N_MARKERS_SHOWN = 5
N_MARKERS_WRITTEN = 10
MAX_CLASSES = 30

# option -> its flag, and the endings of its file (none: those of the input)
OUTPUTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "ranking": ("--out / --ranking", _output.TABLE_ENDINGS),
    "markers": ("--markers", _output.TABLE_ENDINGS),
    "predictions": ("--predictions", _output.TABLE_ENDINGS),
    "report": ("--report", (".html", ".htm")),
    "reduced": ("--out", ()),
}


@dataclass(frozen=True, eq=False)
class Result:
    """A ranking with all that led to it; `markers` and `next_rows` where they were asked for."""

    options: RankOptions
    method: Method
    dataset: Dataset
    outcome: RankingResult
    table_notes: Sequence[str]
    is_cut_short: bool = False
    markers: Markers | None = None
    next_rows: NextRows | None = None

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Where the ranking comes from, and how sure it is."""
        facts = _output.provenance(self.options, self.method, self.dataset, self.outcome.ranker)
        facts |= {"notes": self.notes, **self.outcome.facts}
        if self.markers is not None:
            facts["markers"] = _facts_of_markers(self.markers)
        return facts

    @property
    def notes(self) -> list[str]:
        """What was done to the table, from which rows it was ranked, and what was left out."""
        cut_short = CUT_SHORT if self.is_cut_short else None
        return [*self.table_notes, *filter(None, [self.sampled, cut_short])]

    @property
    def sampled(self) -> str | None:
        """From how many unlabelled rows the ranking was made, where these are not all."""
        return _output.sample_sentence(self.dataset, self.outcome.ranker)

    @property
    def trial(self) -> str | None:
        """How the labels of the method compare with those that were hidden for a trial."""
        labels = getattr(self.outcome.ranker, "transduction_", None)
        return _output.trial_sentence(self.dataset, labels)

    @property
    def selected(self) -> list[str]:
        """Names of the selected features; where these are groups, of the variables in them."""
        outcome, dataset = self.outcome, self.dataset
        if outcome.n_columns is None or outcome.place_of is None:
            return list(outcome.features[outcome.selected])
        chosen = dataset.variable_of[outcome.selected[outcome.place_of]]
        return [dataset.variables[variable] for variable in np.unique(chosen).tolist()]


def select(options: RankOptions, dataset: Dataset, ranker: Any, n_wanted: int) -> RankingResult:
    """Return the outcome; without a number, what is significant is selected."""
    spread: dict[str, Any] = {}
    if dataset.is_spread and ranker._features is None:
        spread = {"variables": dataset.variables, "variable_of": dataset.variable_of}
    outcome = ranking_result(ranker, dataset.feature_names, seed=options.seed, **spread)
    is_decided = options.number is None and outcome.decisions is not None
    return outcome.select("significant" if is_decided else n_wanted)


# --- what is written ------------------------------------------------------------------------------


def check_outputs(options: RankOptions) -> dict[str, Path]:
    """Return the files to write by the names of their options, each checked."""
    targets = _output.Targets([options.table, *options.other_files.values()])
    outputs = {}
    for name, (flag, endings) in OUTPUTS.items():
        if name == "ranking" and options.reduced is not None:
            flag = "--ranking"
        given = getattr(options, name)
        if given is None or (name == "ranking" and _output.is_printed(given, flag)):
            continue
        outputs[name] = targets.add(given, flag, endings)
        if name == "reduced" and (problem := _form_differs(options, outputs[name])):
            raise click.BadParameter(f"{given}: {problem}", param_hint=flag)
    return outputs


def _form_differs(options: RankOptions, path: Path) -> str | None:
    """Return the problem where the reduced table has another format than the input."""
    source = Path(options.table)
    form = options.format or (find_format(source) if source.exists() else None)
    if form is None or form == "10x":
        return None
    try:
        target = find_format(path)
    except ValueError:
        target = ""
    written = FORMATS[form].written
    if target in (written or (form,)):
        return None
    if not written:
        return f"the reduced table has the form of the input, which is {form}."
    endings = [FORMATS[each].endings[0] for each in written]
    return f"{form} files are read, not written: the name must end in {' or '.join(endings)}."


def write_outputs(result: Result, outputs: dict[str, Path]) -> None:
    """Write what was asked for, all or nothing; a table that selects nothing is not written."""
    options, outcome, facts = result.options, result.outcome, result.facts
    ranking, safe = outcome.to_frame(), options.spreadsheet_safe
    if not result.selected:
        outputs = {name: path for name, path in outputs.items() if name != "reduced"}
    with drafts(list(outputs.values())) as paths:
        for name, path in zip(outputs, paths, strict=True):
            if name == "ranking":
                _output.write_table(ranking, path, "ranking", facts, safe=safe)
            elif name == "markers" and result.markers is not None:
                others = {key: fact for key, fact in facts.items() if key != "markers"}
                _output.write_table(result.markers.to_frame(), path, "markers", others, safe=safe)
            elif name == "predictions":
                _output.write_table(_predictions(result), path, safe=safe)
            elif name == "report":
                _write_page(result, path)
            else:
                write(result.dataset.reduced(result.selected), path)
    if options.ranking == "-":
        click.echo(_output.as_text(ranking, facts, safe=safe), nl=False)


def _predictions(result: Result) -> pl.DataFrame:
    """Return the label of every row, its confidence, and whether it was given."""
    dataset, ranker = result.dataset, result.outcome.ranker
    return pl.DataFrame(
        {
            "row": dataset.row_ids,
            "label": [str(label) for label in ranker.transduction_],
            "confidence": np.asarray(ranker.confidence_, dtype=np.float64),
            "given": [label is not None for label in dataset.y],
        }
    )


def _write_page(result: Result, path: Path) -> None:
    from semisift.report import write_report

    facts, dataset = result.facts, result.dataset
    numbers = {"semisift": facts["semisift"], **facts["versions"]}
    write_report(
        path,
        result.outcome,
        X=dataset.X,
        y=dataset.y,
        title=result.options.title,
        source={
            **{name: facts["input"][name] for name in _output.OF_FILE if name in facts["input"]},
            "seed": facts["seed"],
            "versions": ", ".join(f"{name} {number}" for name, number in numbers.items()),
        },
        notes=[*result.notes, *filter(None, [result.trial])],
        row_names=dataset.row_names or [f"row {each}" for each in dataset.row_ids],
        markers=result.markers,
        next_rows=result.next_rows,
        facts=facts,
        spreadsheet_safe=result.options.spreadsheet_safe,
    )


def _facts_of_markers(markers: Markers) -> list[dict[str, Any]]:
    """Return the best of each class for the files of a ranking."""
    lines = markers.to_frame(N_MARKERS_WRITTEN).drop("class").to_dicts()
    n_each = len(lines) // len(markers.classes)
    starts = range(0, len(lines), n_each)
    return [
        {"class": str(name), "rows": round(float(size), 1), "best": lines[start : start + n_each]}
        for name, size, start in zip(markers.classes, markers.sizes, starts, strict=True)
    ]


# --- what is printed ------------------------------------------------------------------------------


def show(result: Result) -> None:
    """Print the best features, how sure they are, and what was written."""
    console, outcome, trust = Terminal(), result.outcome, result.outcome.trust
    if trust is not None:
        careful = "" if trust.passed or not trust.test else "Caution. "
        bound = f" {trust.error}" if outcome.counts.get("significant") else ""
        lines = [trust.summary + bound, careful + trust.test, trust.stability, *trust.notes]
        for line in filter(None, lines):
            console.print(line)
    # not as the title of the table, which may be narrower
    console.print(f"{_heading(outcome)} by {result.method.name}{_more(outcome)}")
    console.print(_table(outcome))
    if result.markers is not None:
        console.print("What is higher in each class than in the others")
        console.print(_table_of_markers(result.markers))
    for line in _remarks(result):
        console.print(line)


def _heading(outcome: RankingResult) -> str:
    if len(outcome.listed) == 1:
        return "The best feature"
    if outcome.selected_by == "decisions" and outcome.n_selected:
        return "The best features"  # those that are significant need not be the first
    return f"The {len(outcome.listed)} best features"


def _more(outcome: RankingResult) -> str:
    """Return why the table holds more features than the heading counts."""
    n_more = len(outcome.correlated_groups.shown) - len(outcome.listed)
    return f", and {n_more:,} more of the best by score" if n_more else ""


def _remarks(result: Result) -> Iterator[str]:
    """Yield the sentences below the table."""
    outcome, dataset = result.outcome, result.dataset
    n_left = outcome.n_selected - int(outcome.selected[outcome.correlated_groups.shown].sum())
    if n_left > 0:
        yield f"{n_left:,} more significant features are not shown; --out writes all."
    is_spread = dataset.is_spread and outcome.n_columns is None
    if is_spread and outcome.rank_interval is not None:
        yield "Intervals and numbers of best features count columns; some features have several."
    yield from format_feature_constraints(outcome)
    if outcome.is_copy.any():
        yield format_correlated_features(outcome)
    n_classes = 0 if result.markers is None else len(result.markers.classes)
    if n_classes > MAX_CLASSES:
        yield f"{n_classes - MAX_CLASSES:,} more classes are not shown; --markers writes all."
    rest = _output.rest_sentence(dataset, outcome.ranker)
    yield from filter(None, [result.sampled, rest, doubt_of(outcome.ranker), result.trial])
    for name in OUTPUTS:
        given = getattr(result.options, name)
        if given is not None and (name != "reduced" or result.selected):
            yield f"Written: {given}"


def _table(outcome: RankingResult) -> Table:
    columns, table = _columns(outcome), Table()
    texts = "feature", DECISION
    names = outcome.features[outcome.correlated_groups.shown]
    widest = max([NAMES_WIDTH, *(len(printable_name(name)) for name in names)])
    for heading in columns:
        is_feature = heading == "feature"
        table.add_column(
            heading,
            justify="left" if heading in texts else "right",
            overflow="fold",
            no_wrap=not is_feature,
            max_width=widest if is_feature else None,
        )
    for row in zip(*columns.values(), strict=True):
        table.add_row(*row)
    return table


def _columns(outcome: RankingResult) -> dict[str, list[str | Text]]:
    """Return the cells of the table, by the heading of their column."""
    shown = outcome.correlated_groups.shown
    columns: dict[str, list[str | Text]] = {
        "rank": [str(place + 1) for place in shown],
        "feature": [_feature(outcome, place) for place in shown.tolist()],
        "score": [f"{score:.5g}" for score in outcome.scores[shown]],
    }
    if outcome.draws is not None:
        columns["draws"] = [f"{draws:,}" for draws in outcome.draws[shown]]
    if outcome.decisions is not None:
        columns[DECISION] = [CELLS[each] for each in outcome.decisions[shown]]
    if outcome.rank_interval is not None:
        columns["rank\n5-95 %"] = [f"{low}-{high}" for low, high in outcome.rank_interval[shown]]
    if outcome.assessment is not None and outcome.selection_probability is not None:
        shares = outcome.selection_probability[shown]
        heading = f"among\nbest {outcome.assessment.n_best:,}"
        columns[heading] = [f"{share:.0%}" for share in shares]
    return columns


def _feature(outcome: RankingResult, place: int) -> Text:
    """Return the name of a feature, its constraints, and below it the features it represents."""
    cell = Text(printable_name(outcome.features[place]))
    marks = format_marks(outcome, place)
    if outcome.n_columns is not None and outcome.n_columns[place] > 1:
        marks.append(f"best {printable_name(outcome.column_names[place])}")
    if marks:
        cell.append(f"\n{', '.join(marks)}", "dim")
    if place in outcome.copies:
        named, n_copies = outcome.correlated_groups.named[place], len(outcome.copies[place])
        names = ", ".join(printable_name(name) for name in outcome.features[named])
        more = ", …" if n_copies > len(named) else ""
        cell.append(f"\nstands for {n_copies:,}: {names}{more}", "dim")
    return cell


def _table_of_markers(markers: Markers) -> Table:
    """Return the best of each class for the terminal."""
    found: dict[str, tuple[Any, str]] = {
        "score": (markers.scores, ".4g"),
        "log2 fold\nchange": (markers.fold_changes, "+.2f"),
        "with a\nvalue": (markers.shares, ".0%"),
        "in the\nrest": (markers.rest_shares, ".0%"),
        "p": (markers.p_values, ".3g"),
    }
    known = {heading: own for heading, own in found.items() if own[0] is not None}
    names = [Column(heading, overflow="fold") for heading in ("class", "feature")]
    table = Table(*names, *(Column(heading, justify="right", no_wrap=True) for heading in known))
    for number, name in enumerate(markers.classes[:MAX_CLASSES]):
        size = plural(round(float(markers.sizes[number])), "row")
        heads = [Text(printable_name(name)), Text(size, "dim")]
        rows = [
            [
                Text(printable_name(markers.features[column])),
                *(format(values[number, column], form) for values, form in known.values()),
            ]
            for column in markers.best(number, N_MARKERS_SHOWN).tolist()
        ]
        for head, row in zip_longest(heads, rows):
            table.add_row(head or "", *(row or ()))
        table.add_section()
    return table
