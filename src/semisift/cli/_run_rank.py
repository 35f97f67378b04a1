"""What came of ranking a table: what is written of it, and what is printed.

From a file to a ranking and its outputs: what ``rank`` and ``select`` have in common.
"""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import click
import numpy as np
import polars as pl
from rich.table import Table
from rich.text import Text

from semisift.active._next_rows import NextRows
from semisift.base._decisions import CELLS, HEADING
from semisift.base._ranker import FeatureRanker
from semisift.cli import _output
from semisift.cli._capabilities import check_reading_is_taken, check_takes, names_of_takers, takes
from semisift.cli._feature_options import KnownFeatures, read_known
from semisift.cli._markers import (
    MOST_CLASSES,
    check_by_class,
    check_labels,
    facts_of_markers,
    table_of_markers,
)
from semisift.cli._options import find_named, flags_of, parse_parameters
from semisift.cli._reading import check_classes, read_dataset, tell_notes
from semisift.cli._terminal import Steps, Terminal
from semisift.cli.rank import OFF, RankRequest
from semisift.exceptions import SubsamplingWarning, TableError
from semisift.io import FORMATS, Dataset, find_format, write
from semisift.registry import METHODS, Method
from semisift.selection import RankingResult, ranking_result
from semisift.selection._markers import Markers
from semisift.selection._summary import say_copies, say_known, say_marks
from semisift.transduction._soft_labels import doubt_of
from semisift.utils._files import drafts
from semisift.utils._text import plural, printable_name

# Of the column of names, where a family has many.
FAMILY_WIDTH = 40

CUT_SHORT = "The assessment was interrupted and is left out; the ranking is complete."

# field of the request -> endings of the file (none: those of the input)
OUTPUTS: dict[str, tuple[str, ...]] = {
    "ranking": _output.TABLE_ENDINGS,
    "markers": _output.TABLE_ENDINGS,
    "labels_out": _output.TABLE_ENDINGS,
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
    outcome: RankingResult
    is_cut_short: bool = False
    not_found: Sequence[str] = ()
    markers: Markers | None = None
    next_rows: NextRows | None = None

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Where the ranking comes from, and how sure it is."""
        facts = _output.provenance(self.request, self.method, self.dataset, self.outcome.ranker)
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
        return _output.sample_sentence(self.dataset, self.outcome.ranker)

    @property
    def rest(self) -> str | None:
        """What was made of unlabelled rows, where one class is labelled."""
        return _output.rest_sentence(self.dataset, self.outcome.ranker)

    @property
    def doubt(self) -> str | None:
        """Whether left-out labels do not support the confidence of the predicted ones."""
        return doubt_of(self.outcome.ranker)

    @property
    def trial(self) -> str | None:
        """How the labels of the method compare with those that were hidden for a trial."""
        return _output.trial_sentence(
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
    targets = _output.Targets([request.table, *request.files_beside.values()])
    outputs = {}
    flags = {each.name: " / ".join(flags_of(each)) for each in fields(request)}
    for name, endings in OUTPUTS.items():
        given, option = getattr(request, name), flags[name]
        if given is None or (name == "ranking" and _output.is_printed(given, option)):
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
                _output.write_table(ranking, path, "ranking", result.facts, safe=safe)
            elif name == "markers" and result.markers is not None:
                facts = {key: fact for key, fact in result.facts.items() if key != "markers"}
                frame = result.markers.to_frame()
                _output.write_table(frame, path, "markers", facts, safe=safe)
            elif name == "labels_out":
                _output.write_table(_labels(result), path, safe=safe)
            elif name == "report":
                _write_page(result, path)
            else:
                write(result.dataset.reduced(result.selected), path)
    if request.ranking == "-":
        click.echo(_output.as_text(ranking, result.facts, safe=safe), nl=False)


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
            **{name: facts["input"][name] for name in _output.OF_FILE if name in facts["input"]},
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


def _told_of_sureness(outcome: RankingResult) -> Iterator[str]:
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


def _heading(outcome: RankingResult) -> str:
    if len(outcome.listed) == 1:
        return "The best feature"
    if outcome.selected_by == "decisions" and outcome.n_selected:
        return "The best features"  # those that are confirmed need not be the first
    return f"The {len(outcome.listed)} best features"


def _more(outcome: RankingResult) -> str:
    """Say why the table holds more features than the heading counts."""
    n_more = len(outcome.families.shown) - len(outcome.listed)
    return f", and {n_more:,} more of the best by score" if n_more else ""


def _table(outcome: RankingResult) -> Table:
    columns, table = _columns(outcome), Table()
    names = outcome.features[outcome.families.shown]
    widest = max([FAMILY_WIDTH, *(len(printable_name(name)) for name in names)])
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


def _with_family(outcome: RankingResult, place: int) -> Text:
    """Return the name of a feature, what was known of it, and below it its near-copies."""
    cell = Text(printable_name(outcome.features[place]))
    marks = say_marks(outcome, place)
    if outcome.n_columns is not None and outcome.n_columns[place] > 1:
        marks.append(f"best {printable_name(outcome.column_names[place])}")
    if marks:
        cell.append(f"\n{', '.join(marks)}", "dim")
    if place in outcome.copies:
        named, n_copies = outcome.families.named[place], len(outcome.copies[place])
        names = ", ".join(printable_name(name) for name in outcome.features[named])
        more = ", …" if n_copies > len(named) else ""
        cell.append(f"\nstands for {n_copies:,}: {names}{more}", "dim")
    return cell


def _columns(outcome: RankingResult) -> dict[str, list[str | Text]]:
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


# --- run ------------------------------------------------------------------------------------------


DEFAULT_METHOD = "consensus"
DEFAULT_TOP = 20

# Rows to label next that the page names.
N_ASKED = 10

# Of an assessment: about five times the cost of a consensus, and what is enough to publish.
LIGHT = {"n_resamples": 20, "n_permutations": 39, "light": True}
THOROUGH = {"n_resamples": 50, "n_permutations": 99, "light": False}


def run(request: RankRequest) -> None:
    """Read, rank, assess, write and show."""
    method = find_method(request.method or DEFAULT_METHOD)
    outputs = check_outputs(request)
    _check_wishes(request, method)
    parse_parameters(request.param, method.cls)
    steps = Steps(request.quiet)
    needs_labels = method.cls.labels_needed == "two_classes" and not request.has_pairs
    dataset = read_dataset(request, steps, method.name, needs_labels)
    if not request.has_pairs:  # they say what the labels would
        takes_one = takes(method.cls, "one labelled class")
        check_classes(dataset, method.name, method.cls.labels_needed, takes_one)
    rank_dataset(request, method, dataset, outputs, steps)


def rank_dataset(
    request: RankRequest, method: Method, dataset: Dataset, outputs: dict[str, Path], steps: Steps
) -> None:
    """Rank a table that was read, and write and show what was asked for.

    Parameters
    ----------
    request : RankRequest
    method : Method
    dataset : Dataset
    outputs : dict of name to Path
        As `check_outputs` returns them.
    steps : Steps
    """
    parameters = parse_parameters(request.param, method.cls)
    check_labels(request, dataset)
    known = read_known(request, dataset)
    if request.is_told:
        tell_notes(known.notes)
    n_wanted = _count(request.number, known)
    ranker = method.cls(
        n_features_to_select=_to_select(request, method, n_wanted),
        random_state=request.seed,
        **_common_parameters(request, method),
        **known.parameters,
        **parameters,
    )
    rows, known_of_rows = _to_fit(dataset)
    words = f"Ranking {len(dataset.variables):,} features by {method.name}"
    with steps.step(words) as step, step.following(ranker, dataset.X):
        _fit(ranker, *rows, **known_of_rows)
    is_complete = not request.is_assessed or _assess(request, dataset, ranker, steps)
    outcome = _outcome(request, dataset, ranker, n_wanted)
    markers = _find_markers(dataset, ranker, steps) if request.wants_markers else None
    asked = _ask(dataset, ranker, steps) if "report" in outputs else None
    result = Result(request, method, dataset, outcome, not is_complete, known.notes, markers, asked)
    with steps.step("Writing the results") as step, step.watching(dataset.X):
        write_outputs(result, outputs)
    if request.is_told:
        show(result)
    if not is_complete:
        click.echo(CUT_SHORT, err=True)
        raise KeyboardInterrupt
    if "reduced" in outputs and not result.selected:
        raise TableError(
            f"{request.reduced} was not written: none of the "
            f"{plural(len(outcome), 'feature')} is confirmed, so there is nothing to select. "
            "Say with --top how many to select all the same."
        )


def find_method(name: str, option: str = "--method", others: Iterable[str] = ()) -> Method:
    """Return the method of that name in letters of any size, or say which there are."""
    known = name.lower() if name.lower() in METHODS else name
    return find_named(METHODS, known, "method", option, others)


def _check_wishes(request: RankRequest, method: Method) -> None:
    """Refuse what contradicts itself, and what the method cannot do."""
    if request.thorough and request.assess is False:
        raise click.UsageError("--thorough asks for what --no-assess leaves out: give one of them.")
    if request.labels_out and not method.cls.is_transductive:
        able = [name for name, each in METHODS.items() if each.cls.is_transductive]
        raise click.BadParameter(
            f"{method.name} gives no labels to rows. Methods that do: {', '.join(able)}.",
            param_hint="--labels-out",
        )
    if request.has_pairs:
        option = "--must-link" if request.must_link is not None else "--cannot-link"
        check_takes(method, "pairs of rows", METHODS, option)
    check_by_class(request, method)
    check_reading_is_taken(request, method, METHODS)


def _count(number: int | None, known: KnownFeatures) -> int:
    if number is None:
        return max(known.n_kept, min(DEFAULT_TOP, known.n_features))
    if number > known.n_features:
        there = plural(known.n_features, "feature")
        raise TableError(f"--top {number}: the table has {there} only.")
    if number < known.n_kept:
        raise TableError(f"--top {number}: {plural(known.n_kept, 'feature')} are to stay (--keep).")
    return number


def _to_select(request: RankRequest, method: Method, n_wanted: int) -> int | str | None:
    """Return what the ranker is told to select; None leaves it to the assessment."""
    if request.rule is not None:
        return request.rule
    # What these find depends on how many features they look for.
    is_search = method.cls.scores_are_places or method.family == "embedded"
    is_left_open = request.number is None and request.is_assessed and not is_search
    return None if is_left_open else n_wanted


def _common_parameters(request: RankRequest, method: Method) -> dict[str, Any]:
    """Return the parameters that have an option of their own, where the method has them."""
    parameters: dict[str, Any] = {}
    if "n_jobs" in method.cls().get_params(deep=False):
        parameters["n_jobs"] = request.n_jobs
    if request.redundancy is not None:
        is_off = request.redundancy == OFF
        parameters["redundancy_threshold"] = None if is_off else request.redundancy
    return parameters


def _to_fit(dataset: Dataset) -> tuple[tuple[Any, Any], dict[str, Any]]:
    """Return what a ranker is given: rows with labels, and what is known of rows and pairs."""
    labelled = any(label is not None for label in dataset.y)
    pairs = {"must_link": dataset.must_link, "cannot_link": dataset.cannot_link}
    given = {name: rows for name, rows in pairs.items() if rows is not None}
    return (dataset.X, dataset.y if labelled else None), {**given, **dataset.of_rows}


def _fit(ranker: FeatureRanker, X: Any, y: Any, **known_of_rows: Any) -> None:
    try:
        ranker.fit(X, y, **known_of_rows)
    except TypeError as error:  # as a consensus refuses weights for a part that takes none
        if "sample_weight" not in known_of_rows:
            raise
        able = ", ".join(names_of_takers("weights", METHODS))
        raise click.BadParameter(
            f"{error} Methods that take weights: {able}.", param_hint="--weight"
        ) from error


def _assess(request: RankRequest, dataset: Dataset, ranker: FeatureRanker, steps: Steps) -> bool:
    """Assess the ranking; return whether that came to its end."""
    effort = THOROUGH if request.thorough else LIGHT
    words = "Checking against chance and on halves of the rows"
    rows, known_of_rows = _to_fit(dataset)
    try:
        with steps.step(words) as step, step.following(ranker, dataset.X):
            warnings.simplefilter("ignore", SubsamplingWarning)  # the ranking has told of it
            ranker.assess(*rows, **known_of_rows, **effort)
    except KeyboardInterrupt:  # the ranking is there, and may have taken long
        return False
    return True


def _find_markers(dataset: Dataset, ranker: FeatureRanker, steps: Steps) -> Markers:
    rows, known_of_rows = _to_fit(dataset)
    with steps.step("Looking for what marks each class") as step, step.watching(dataset.X):
        found: Markers = ranker.markers(*rows, **known_of_rows)
    return found


def _ask(dataset: Dataset, ranker: FeatureRanker, steps: Steps) -> NextRows:
    with steps.step("Choosing rows to label next") as step, step.watching(dataset.X):
        found: NextRows = ranker.query(dataset.X, dataset.y, N_ASKED, **dataset.of_rows)
    return found


def _outcome(
    request: RankRequest, dataset: Dataset, ranker: FeatureRanker, n_wanted: int
) -> RankingResult:
    """Put together what came out; without a number, what is confirmed is selected."""
    spread: dict[str, Any] = {}
    if dataset.is_spread and ranker._features is None:
        spread = {"variables": dataset.variables, "variable_of": dataset.variable_of}
    outcome = ranking_result(ranker, dataset.feature_names, seed=request.seed, **spread)
    is_decided = request.number is None and outcome.decisions is not None
    return outcome.select("confirmed" if is_decided else n_wanted)
