"""What came of ranking a table: what is written of it, and what is printed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import click
import numpy as np
import polars as pl
from rich.table import Table
from rich.text import Text

from semisift._files import drafts
from semisift._words import visible
from semisift.cli import _outputs
from semisift.cli._by_class import MOST_CLASSES, facts_of_markers, table_of_markers
from semisift.cli._options import flags_of
from semisift.cli._terminal import Terminal
from semisift.cli.rank import RankRequest
from semisift.io import FORMATS, Dataset, find_format, write
from semisift.outcome import Outcome
from semisift.outcome.decisions import CELLS, HEADING
from semisift.outcome.markers import Markers
from semisift.outcome.next_rows import NextRows
from semisift.outcome.words import say_copies, say_known, say_marks
from semisift.registry import Method
from semisift.transduction.soft_labels import doubt_of

# Of the column of names, where a family has many.
FAMILY_WIDTH = 40

CUT_SHORT = "The assessment was interrupted and is left out; the ranking is complete."

# field of the request -> endings of the file (none: those of the input)
OUTPUTS: dict[str, tuple[str, ...]] = {
    "ranking": _outputs.TABLE_ENDINGS,
    "markers": _outputs.TABLE_ENDINGS,
    "labels_out": _outputs.TABLE_ENDINGS,
    "report": (".html", ".htm"),
    "reduced": (),
}


@dataclass(frozen=True, eq=False)
class Result:
    """An outcome with all that led to it; the user may have interrupted its assessment.

    `not_found` says which names of features were not in the table; `markers` are there where they
    were asked for, and `next_rows` for the page.
    """

    request: RankRequest
    method: Method
    dataset: Dataset
    outcome: Outcome
    is_cut_short: bool = False
    not_found: Sequence[str] = ()
    markers: Markers | None = None
    next_rows: NextRows | None = None

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Where the ranking comes from, and how sure it is."""
        facts = _outputs.provenance(self.request, self.method, self.dataset, self.outcome.ranker)
        facts |= {"notes": self.notes, **self.outcome.facts}
        if self.markers is not None:
            facts["markers"] = facts_of_markers(self.markers)
        return facts

    @property
    def notes(self) -> list[str]:
        """What was done to the table, from which rows it was ranked, and what was left out."""
        cut_short = [CUT_SHORT] if self.is_cut_short else []
        sampled = filter(None, [self.sampled])
        return [*self.dataset.notes, *self.not_found, *sampled, *cut_short]

    @property
    def sampled(self) -> str | None:
        """From how many unlabelled rows the ranking was made, where these are not all."""
        return _outputs.sample_sentence(self.dataset, self.outcome.ranker)

    @property
    def rest(self) -> str | None:
        """What was made of unlabelled rows, where one class is labelled."""
        return _outputs.rest_sentence(self.dataset, self.outcome.ranker)

    @property
    def doubt(self) -> str | None:
        """Whether left-out labels do not support the confidence of the predicted ones."""
        return doubt_of(self.outcome.ranker)

    @property
    def trial(self) -> str | None:
        """How the labels of the method compare with those that were hidden for a trial."""
        return _outputs.trial_sentence(
            self.dataset, getattr(self.outcome.ranker, "transduction_", None)
        )

    @property
    def selected(self) -> list[str]:
        """Names of the selected features; where these are groups, of the variables in them."""
        outcome, dataset = self.outcome, self.dataset
        if outcome.n_columns is None or outcome.place_of is None:
            return list(outcome.features[outcome.selected])
        chosen = dataset.variable_of[outcome.selected[outcome.place_of]]
        return [dataset.variables[variable] for variable in np.unique(chosen).tolist()]


# --- what is written ------------------------------------------------------------------------------


def check_outputs(request: RankRequest) -> dict[str, Path]:
    """Return the files to write, having made sure that they can be written.

    Parameters
    ----------
    request : RankRequest

    Returns
    -------
    dict of name to Path
        Those of `OUTPUTS` that were asked for.
    """
    targets = _outputs.Targets([request.table, *request.files_beside.values()])
    outputs = {}
    flags = {each.name: " / ".join(flags_of(each)) for each in fields(request)}
    for name, endings in OUTPUTS.items():
        given, option = getattr(request, name), flags[name]
        if given is None or (name == "ranking" and _outputs.is_printed(given, option)):
            continue
        outputs[name] = targets.add(given, option, endings)
        if name == "reduced" and (problem := _form_differs(request, outputs[name])):
            raise click.BadParameter(f"{given}: {problem}", param_hint=option)
    return outputs


def _form_differs(request: RankRequest, path: Path) -> str | None:
    """Say so where the reduced table has the ending of another format than the input."""
    source = Path(request.table)
    form = request.format or (find_format(source) if source.exists() else None)
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
    request, outcome = result.request, result.outcome
    ranking, safe = outcome.to_frame(), request.spreadsheet_safe
    if not result.selected:
        outputs = {name: path for name, path in outputs.items() if name != "reduced"}
    with drafts(list(outputs.values())) as paths:
        for name, path in zip(outputs, paths, strict=True):
            if name == "ranking":
                _outputs.write_table(ranking, path, "ranking", result.facts, safe=safe)
            elif name == "markers" and result.markers is not None:
                facts = {key: fact for key, fact in result.facts.items() if key != "markers"}
                frame = result.markers.to_frame()
                _outputs.write_table(frame, path, "markers", facts, safe=safe)
            elif name == "labels_out":
                _outputs.write_table(_labels(result), path, safe=safe)
            elif name == "report":
                _write_page(result, path)
            else:
                write(result.dataset.reduced(result.selected), path)
    if request.ranking == "-":
        click.echo(_outputs.as_text(ranking, result.facts, safe=safe), nl=False)


def _labels(result: Result) -> pl.DataFrame:
    """Return the label of every row, how sure the method is, and whether it was given."""
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

    facts = result.facts
    numbers = {"semisift": facts["semisift"], **facts["versions"]}
    write_report(
        path,
        result.outcome,
        X=result.dataset.X,
        y=result.dataset.y,
        title=result.request.title,
        source={
            **{name: facts["input"][name] for name in _outputs.OF_FILE if name in facts["input"]},
            "seed": facts["seed"],
            "versions": ", ".join(f"{name} {number}" for name, number in numbers.items()),
        },
        notes=[*result.notes, *filter(None, [result.trial])],
        row_names=result.dataset.row_names or [f"row {each}" for each in result.dataset.row_ids],
        markers=result.markers,
        next_rows=result.next_rows,
        facts=facts,
        spreadsheet_safe=result.request.spreadsheet_safe,
    )


# --- what is printed ------------------------------------------------------------------------------


def show(result: Result) -> None:
    """Print the best features, how sure they are, and what was written."""
    console = Terminal()
    for line in _told_of_sureness(result.outcome):
        console.print(line)
    # Not as the title of the table, which may be narrower.
    console.print(f"{_heading(result.outcome)} by {result.method.name}{_more(result.outcome)}")
    console.print(_table(result.outcome))
    if result.markers is not None:
        console.print("What is higher in each class than in the others")
        console.print(table_of_markers(result.markers))
    for line in _told_below(result):
        console.print(line)


def _told_of_sureness(outcome: Outcome) -> Iterator[str]:
    trust = outcome.trust
    if trust is None:
        return
    careful = "" if trust.passed or not trust.test else "Caution. "
    bound = f" {trust.error}" if outcome.counts.get("confirmed") else ""
    test = careful + trust.test
    lines = [trust.summary + bound, test, trust.stability, *trust.notes]
    yield from filter(None, lines)


def _told_below(result: Result) -> Iterator[str]:
    outcome = result.outcome
    n_left = outcome.n_selected - int(outcome.selected[outcome.families.shown].sum())
    if n_left > 0:
        yield f"{n_left:,} more confirmed features are not shown; --out writes all."
    is_spread = result.dataset.is_spread and outcome.n_columns is None
    if is_spread and outcome.rank_interval is not None:
        yield "Intervals and numbers of best features count columns; some features have several."
    yield from say_known(outcome)
    if outcome.is_copy.any():
        yield say_copies(outcome)
    n_classes = 0 if result.markers is None else len(result.markers.classes)
    if n_classes > MOST_CLASSES:
        yield f"{n_classes - MOST_CLASSES:,} more classes are not shown; --markers writes all."
    yield from filter(None, [result.sampled, result.rest, result.doubt, result.trial])
    for name in OUTPUTS:
        given = getattr(result.request, name)
        if given is not None and (name != "reduced" or result.selected):
            yield f"Written: {given}"


def _heading(outcome: Outcome) -> str:
    if len(outcome.listed) == 1:
        return "The best feature"
    if outcome.selected_by == "decisions" and outcome.n_selected:
        return "The best features"  # those that are confirmed need not be the first
    return f"The {len(outcome.listed)} best features"


def _more(outcome: Outcome) -> str:
    """Say why the table holds more features than the heading counts."""
    n_more = len(outcome.families.shown) - len(outcome.listed)
    return f", and {n_more:,} more of the best by score" if n_more else ""


def _table(outcome: Outcome) -> Table:
    columns, table = _columns(outcome), Table()
    names = outcome.features[outcome.families.shown]
    widest = max([FAMILY_WIDTH, *(len(visible(name)) for name in names)])
    for heading in columns:
        is_feature = heading == "feature"
        is_number = not is_feature and not heading.startswith("told")
        table.add_column(
            heading,
            justify="right" if is_number else "left",
            overflow="fold",
            no_wrap=not is_feature,
            max_width=widest if is_feature else None,
        )
    for row in zip(*columns.values(), strict=True):
        table.add_row(*row)
    return table


def _with_family(outcome: Outcome, place: int) -> Text:
    """Return the name of a feature, what was known of it, and below it its near-copies."""
    cell = Text(visible(outcome.features[place]))
    marks = say_marks(outcome, place)
    if outcome.n_columns is not None and outcome.n_columns[place] > 1:
        marks.append(f"best {visible(outcome.column_names[place])}")
    if marks:
        cell.append(f"\n{', '.join(marks)}", "dim")
    if place in outcome.copies:
        named, n_copies = outcome.families.named[place], len(outcome.copies[place])
        names = ", ".join(visible(name) for name in outcome.features[named])
        more = ", …" if n_copies > len(named) else ""
        cell.append(f"\nstands for {n_copies:,}: {names}{more}", "dim")
    return cell


def _columns(outcome: Outcome) -> dict[str, list[str | Text]]:
    """Return the cells of the table, by the heading of their column."""
    shown = outcome.families.shown
    columns: dict[str, list[str | Text]] = {
        "rank": [str(place + 1) for place in shown],
        "feature": [_with_family(outcome, place) for place in shown.tolist()],
        "score": [f"{score:.5g}" for score in outcome.scores[shown]],
    }
    if outcome.draws is not None:
        columns["draws"] = [f"{draws:,}" for draws in outcome.draws[shown]]
    if outcome.decisions is not None:
        heading = "\n".join(HEADING.rsplit(" ", 1))
        columns[heading] = [CELLS[each] for each in outcome.decisions[shown]]
    if outcome.rank_interval is not None:
        columns["rank\n5-95 %"] = [f"{low}-{high}" for low, high in outcome.rank_interval[shown]]
    if outcome.assessment is not None and outcome.selection_probability is not None:
        shares = outcome.selection_probability[shown]
        heading = f"among\nbest {outcome.assessment.n_best:,}"
        columns[heading] = [f"{share:.0%}" for share in shares]
    return columns
