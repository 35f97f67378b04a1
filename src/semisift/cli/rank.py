"""``semisift rank``: a table in, a ranking out."""

import inspect
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from semisift.cli import _options, _reading
from semisift.cli._options import Options, section
from semisift.cli._terminal import Steps
from semisift.exceptions import SubsamplingWarning, TableError
from semisift.registry import METHODS, Method
from semisift.utils._text import plural

if TYPE_CHECKING:
    from semisift.cli._feature_options import FeatureConstraints
    from semisift.io import Dataset

OFF = "off"  # the value of --redundancy that ranks by score alone
DEFAULT_TOP = 20
N_QUERIED = 10  # rows to label next that the page names

# Options of `assess`: about five times the cost of a consensus, and what is enough to publish.
EFFORTS = {
    "fast": {"n_resamples": 20, "n_permutations": 39, "fast": True},
    "full": {"n_resamples": 50, "n_permutations": 99, "fast": False},
}

CONSTRAINTS = ("include", "exclude", "feature_groups", "feature_weights")

CUT_SHORT = "The assessment was interrupted and is left out; the ranking is complete."


class RankOptions(Options):
    """The options of ``semisift rank``, ``select`` and ``explore``.

    Attributes
    ----------
    by_class
        Tell also what marks each class: features that are higher there than in all others, on the
        terminal, the page and in the file of the ranking.
    markers
        Write all features of each class, the best first (csv, tsv, parquet or json), as --by-class
        tells them.
    predictions
        Write the label and the confidence that the method gives to every row (csv, tsv, parquet or
        json).
    report
        Write a page to show: one HTML file.
    title
        Title of the report.
    assess
        Tell how sure the ranking is, from permuted features or permuted labels (which also confirm
        features) and from random halves of the rows. fast takes a few times as long as the ranking;
        full takes some hundred times as long, with more repetitions and whole committees, and
        confirms features by the rule shadow, unless --top says otherwise. [default: fast for rank
        without --method and without a rule, else none]
    no_assess
        As --assess none.
    method
        How to rank; `semisift methods` lists the names. [default: consensus, the mean place with
        two methods]
    redundancy
        Put correlated features last: features whose correlation with a better one exceeds R, in
        absolute value and over all rows; off ranks by score alone. [default: 0.7 with consensus,
        unless the table holds counts; off with other methods]
    top
        How many features to select and show: a number, or a rule that confirms features (shadow,
        stability, knockoff). [default: those that are significant; 20 if nothing was asked to
        confirm any]
    keep
        Features that stay: first in the ranking and selected in any case; what follows must add to
        them. A file with a name in each line or in its first column, or names between commas.
    exclude
        Features that nothing is learnt from: they have no score and are never selected. In the same
        form.
    feature_groups
        Features that are ranked and selected together, where the best of them stands: a table with
        the columns feature and group, or a gmt file.
    prior
        How much is expected of features, 1 of those not named: a table with the columns feature and
        weight. Place r becomes r / weight; scores and decisions stay.
    ranking
        Write the whole ranking (csv, tsv, parquet or json); - prints it as csv.
    """

    @property
    def number(self) -> int | None:
        """How many features were asked for, by a number."""
        return None if isinstance(self.top, str) else self.top

    @property
    def rule(self) -> str | None:
        """The rule that confirms features."""
        if isinstance(self.top, str):
            return self.top
        return "shadow" if self.assess == "full" and self.top is None else None

    @property
    def effort(self) -> str:
        """How the ranking is assessed; by itself where neither a method nor a rule is given."""
        if self.no_assess:
            return "none"
        by_itself = self.method is None and self.rule is None and self.reduced is None
        return str(self.assess or ("fast" if by_itself else "none"))

    @property
    def wants_markers(self) -> bool:
        """Whether to find the markers of each class."""
        return self.by_class or self.markers is not None

    @property
    def other_files(self) -> dict[str, str]:
        """The files that are read besides the table, by the names of their options."""
        given = {name: getattr(self, name) for name in CONSTRAINTS}
        files = {name: file for name, file in given.items() if file and Path(file).is_file()}
        return super().other_files | files


def read_top(value: Any) -> int | str:
    """Read a number of features, or the name of a rule that finds it."""
    text = str(value).strip().lower()
    if text.isdecimal() and int(text) >= 1:
        return int(text)
    from semisift.base._ranker import RULES  # with scikit-learn

    if text not in RULES:
        raise click.BadParameter(
            f"must be a number of at least 1, or a rule ({', '.join(RULES)}): got {value!r}."
        )
    return text


def read_redundancy(value: Any) -> float | str:
    """Read a correlation between 0 and 1, or `OFF`."""
    text = str(value).strip().lower()
    if text in (OFF, "none"):
        return OFF
    try:
        threshold = float(text)
    except ValueError:
        threshold = float("nan")
    if not 0 < threshold < 1:
        raise click.BadParameter(f"must be between 0 and 1, or {OFF}: got {value!r}.")
    return threshold


RESULTS = (
    click.option("--by-class", is_flag=True),
    click.option("--markers", metavar="FILE"),
    click.option("--predictions", metavar="FILE"),
    _options.SPREADSHEET_SAFE,
    click.option("--report", metavar="FILE"),
    click.option("--title", metavar="TEXT"),
    _options.QUIET,
)
ASSESS = (
    click.option("--assess", metavar="none|fast|full", type=click.Choice(["none", *EFFORTS])),
    click.option("--no-assess", is_flag=True),
)
METHOD = (
    click.option("--method", metavar="NAME"),
    _options.PARAM,
    click.option("--redundancy", metavar="R", type=read_redundancy),
    _options.SEED,
    _options.N_JOBS,
    click.option("--top", metavar="N|RULE", type=read_top),
    *ASSESS,
)
FEATURES = (
    click.option("--include", metavar="FILE|NAMES"),
    click.option("--exclude", metavar="FILE|NAMES"),
    click.option("--feature-groups", metavar="FILE"),
    click.option("--feature-weights", metavar="FILE"),
)
SECTIONS = (
    section("Method", *METHOD),
    section("Features", *FEATURES),
    section("Table", *_options.reading_options(_options.OF_ONE_TABLE)),
)


def rank_options(*results: Any) -> Any:
    """Give a command the options of ranking, with its own results first."""

    def add(function: Any) -> Any:
        for each in reversed([_options.TABLE, section("Results", *results, *RESULTS), *SECTIONS]):
            function = each(function)
        return function

    return add


@_options.command(RankOptions)
@rank_options(click.option(*("--out", "--ranking", "ranking"), metavar="FILE"))
def rank(**given: Any) -> None:
    """Rank the features of a table, best first.

    TABLE is a file (csv, tsv, parquet, npz, mat, xlsx, geo, gct, arff, svmlight, mtx, 10x-h5,
    h5ad; text may be packed with gzip) or a folder of zarr or 10x. A few labelled rows are enough;
    rows without a label are not thrown away: they are what makes the methods semi-supervised.

    Without --method and without a rule in --top, the ranking is also assessed: permuted features
    tell whether the labels matter and confirm features, and rankings of random halves of the rows
    tell how much the ranks vary.

    Parameters
    ----------
    ranking
        Write the whole ranking (csv, tsv, parquet or json); - prints it as csv.

    Examples
    --------
      semisift rank table.csv --label diagnosis --report report.html
      semisift rank genes.tsv --transpose --labels samples.csv --out ranking.csv
      semisift rank digits.npz --labels-per-class 3 --predictions labels.csv
      semisift rank cells.h5ad --label cell_type --unlabelled unknown --top 50
      semisift rank cells.h5ad --label cell_type --by-class --report report.html
      semisift rank cells.zarr --label cell_type --max-memory 4GB --cache-dir cache/
      semisift rank table.csv --label diagnosis --assess full --out ranking.json
      semisift rank table.csv --label diagnosis --method ssfi --top shadow
      semisift rank table.csv --label diagnosis --include age,sex --exclude controls.txt
      semisift rank cells.csv --label type --group donor --batch plate --missing keep
    """
    run(RankOptions(reduced=None, **given))


def run(options: RankOptions) -> None:
    """Read, rank, assess, write and show."""
    if options.no_assess and options.assess in EFFORTS:
        raise click.UsageError(
            f"--assess {options.assess} asks for what --no-assess leaves out: give one of them."
        )
    method = _reading.find_method(options.method or _reading.DEFAULT_METHOD)
    has_pairs = options.must_link is not None or options.cannot_link is not None
    if has_pairs:
        flag = "--must-link" if options.must_link is not None else "--cannot-link"
        _reading.check_takes(method, "pairs of rows", METHODS, flag)
    _reading.check_input(options, method, METHODS)
    from semisift.cli._ranking import check_outputs

    outputs = check_outputs(options)
    _check_method(options, method)
    _options.parse_parameters(options.param, method.cls)
    needed = method.labels_needed
    needs_labels = needed == "two_classes" and not has_pairs
    dataset, steps = _reading.read_dataset(options, method.name, needs_labels)
    if not has_pairs:  # they say what the labels would
        _reading.check_classes(dataset, method, needed)
    rank_dataset(options, method, dataset, outputs, steps)


def _check_method(options: RankOptions, method: Method) -> None:
    """Check that the method has labels for rows and classes where these are asked for."""
    if options.predictions and not method.is_transductive:
        able = [name for name, each in METHODS.items() if each.is_transductive]
        raise click.BadParameter(
            f"{method.name} gives no labels to rows. Methods that do: {', '.join(able)}.",
            param_hint="--predictions",
        )
    if options.wants_markers and method.labels_needed == "none":
        able = [name for name, each in METHODS.items() if each.labels_needed != "none"]
        raise click.BadParameter(
            f"{method.name} looks at no labels, so it knows no classes. Methods that do: "
            f"{', '.join(able)}.",
            param_hint=_markers_flag(options),
        )


def _markers_flag(options: RankOptions) -> str:
    return "--by-class" if options.by_class else "--markers"


def rank_dataset(
    options: RankOptions, method: Method, dataset: "Dataset", outputs: dict[str, Path], steps: Steps
) -> None:
    """Rank a table that was read, and write and show what was asked for.

    Parameters
    ----------
    options : RankOptions
    method : Method
    dataset : Dataset
    outputs : dict of name to Path
        As `check_outputs` returns them.
    steps : Steps
    """
    from semisift.cli._feature_options import read_constraints
    from semisift.cli._ranking import Result, select, show, write_outputs

    if options.wants_markers and all(label is None for label in dataset.y):
        raise TableError(
            f"{dataset.table.path}: {_markers_flag(options)} needs labelled rows of each class, "
            "and no row is labelled. Pass --label with the column that holds the labels."
        )
    constraints = read_constraints(options, dataset)
    if options.is_verbose:
        _reading.print_notes(constraints.notes)
    n_wanted = _count(options.number, constraints)
    ranker = _make(options, method, n_wanted, constraints)
    X, y, known = dataset.X, dataset.y, dict(dataset.of_rows)
    for name in ("must_link", "cannot_link"):
        if (pairs := getattr(dataset, name)) is not None:
            known[name] = pairs
    labels = y if any(label is not None for label in y) else None
    words = f"Ranking {len(dataset.variables):,} features by {method.name}"
    with steps.step(words) as step, step.following(ranker, X):
        _fit(ranker, X, labels, **known)
    is_cut_short, markers, queried = False, None, None
    if options.effort != "none":
        try:
            words = "Checking against chance and on halves of the rows"
            with steps.step(words) as step, step.following(ranker, X):
                warnings.simplefilter("ignore", SubsamplingWarning)  # the ranking has told of it
                ranker.assess(X, labels, **known, **EFFORTS[options.effort])
        except KeyboardInterrupt:  # the ranking is there, and may have taken long
            is_cut_short = True
    outcome = select(options, dataset, ranker, n_wanted)
    if options.wants_markers:
        with steps.step("Looking for what marks each class") as step, step.watching(X):
            markers = ranker.markers(X, labels, **known)
    if "report" in outputs:
        with steps.step("Choosing rows to label next") as step, step.watching(X):
            queried = ranker.query(X, y, N_QUERIED, **dataset.of_rows)
    notes = [*dataset.notes, *constraints.notes]
    result = Result(options, method, dataset, outcome, notes, is_cut_short, markers, queried)
    with steps.step("Writing the results") as step, step.watching(X):
        write_outputs(result, outputs)
    if options.is_verbose:
        show(result)
    if is_cut_short:
        click.echo(CUT_SHORT, err=True)
        raise KeyboardInterrupt
    if "reduced" in outputs and not result.selected:
        raise TableError(
            f"{options.reduced} was not written: none of the {plural(len(outcome), 'feature')} is "
            "significant, so there is nothing to select. Pass --top with the number to select all "
            "the same."
        )


def _count(number: int | None, constraints: "FeatureConstraints") -> int:
    """Return how many features are selected where nothing is significant."""
    n_features, n_kept = constraints.n_features, constraints.n_kept
    if number is None:
        return max(n_kept, min(DEFAULT_TOP, n_features))
    if number > n_features:
        raise TableError(f"--top {number}: the table has {plural(n_features, 'feature')} only.")
    if number < n_kept:
        raise TableError(f"--top {number}: {plural(n_kept, 'feature')} are to stay (--include).")
    return number


def _make(
    options: RankOptions, method: Method, n_wanted: int, constraints: "FeatureConstraints"
) -> Any:
    """Return the ranker, with the parameters that have an option of their own."""
    parameters = _options.parse_parameters(options.param, method.cls)
    if "n_jobs" in inspect.signature(method.cls).parameters:
        parameters["n_jobs"] = options.n_jobs
    if options.redundancy is not None:
        is_off = options.redundancy == OFF
        parameters["redundancy_threshold"] = None if is_off else options.redundancy
    # what these find depends on how many features they look for
    is_search = method.cls.scores_are_places or method.family == "embedded"
    is_left_open = options.number is None and options.effort != "none" and not is_search
    to_select = options.rule or (None if is_left_open else n_wanted)
    return method.cls(
        n_features_to_select=to_select,
        random_state=options.seed,
        **constraints.parameters,
        **parameters,
    )


def _fit(ranker: Any, X: Any, y: Any, **known: Any) -> None:
    try:
        ranker.fit(X, y, **known)
    except TypeError as error:  # as a consensus refuses weights for a part that takes none
        if "sample_weight" not in known:
            raise
        able = ", ".join(_reading.names_of_takers("weights", METHODS))
        raise click.BadParameter(
            f"{error} Methods that take weights: {able}.", param_hint="--weight"
        ) from error
