"""reproduce: a table or figure of a paper, made again and shown beside the published numbers."""

import warnings
from collections.abc import Callable, Container
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console

from semisift.comparison._compare import compare
from semisift.comparison._datasets import ComparisonData
from semisift.comparison._evaluators import EVALUATORS
from semisift.comparison._methods import BASELINES, find_methods
from semisift.comparison._specs import make, parse
from semisift.exceptions import SmallTestSetWarning
from semisift.io import find_format, read_table
from semisift.papers import cotraining, cotraining_report, figures
from semisift.papers.targets import KEEP_LABELS, LABEL_COLUMN, READABLE, PaperSet, Target
from semisift.registry import CLASSIFIERS, METHODS
from semisift.utils._labels import as_class

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
    protocol, summary = plan.target.protocol, out / SUMMARY
    notes = {**plan.notes, "command": command}
    console.print(plan.target.title)
    for line in plan.missing_in_words():
        console.print(line)
    verb = "Running classifiers" if is_of_committees else "Comparing"
    with steps.step(f"{verb} on {len(plan.sets)} data sets") as step, warnings.catch_warnings():
        # the protocol is the paper's, and the report says it
        warnings.simplefilter("ignore", SmallTestSetWarning)
        options |= {"out": out, "notes": notes, "on_record": step.on_record}
        if is_of_committees:
            notes["moments"] = cotraining.published_moments(plan.target)
            contenders = [contender for _, contender in plan.methods]
            committees = cotraining.committee_plan(plan.sets, contenders, protocol)
            members = cotraining.run_committees(committees, **options)
        else:
            results = compare(plan.methods, plan.sets, protocol, **options)
    if is_of_committees:
        with steps.step("Writing the summary"):
            cotraining_report.write_committee_summary(members, summary)
        cotraining_report.show(console, members)
        console.print(f"Written: {summary}.")
    else:
        with steps.step("Writing the report"):
            results.report(out / REPORT, title=plan.target.title)
            results.write_summary(summary)
            if target.view != "table":
                figures.write_shown(plan.target, results, summary / f"{target.name}.md")
        figures.show(console, plan.target, results)
        console.print(f"Written: {out / REPORT}, with {SUMMARY}/ beside it.")


# --- what can be made again with the data and methods that there are -----------------------------


@dataclass(frozen=True)
class Reproduction:
    """What of a target can be made again here.

    Attributes
    ----------
    target : Target
        With the judges that there are.
    sets : list of ComparisonData
    files : dict of str to Path
    methods : list of (str, object)
        Labels and what `compare` takes, or contenders where the target is about classifiers.
    missing_sets : dict of str to PaperSet
    missing_methods, missing_evaluators : list of str
    differences : dict of str to str
        Where data sets differ from the paper's description.
    """

    target: Target
    sets: list[ComparisonData]
    files: dict[str, Path]
    methods: list[tuple[str, Any]]
    missing_sets: dict[str, PaperSet]
    missing_methods: list[str]
    missing_evaluators: list[str]
    differences: dict[str, str]

    @property
    def notes(self) -> dict[str, Any]:
        """What a store keeps of it: the published numbers beside which ours stand."""
        evaluators = self.target.protocol.judges
        spreads = self.target.deviations if self.target.has_spreads else {}
        tables = {
            evaluator: self.target.by_spec(self.target.values, evaluator)
            for evaluator in evaluators
        }
        return {
            "target": self.target.name,
            "published": {
                "source": self.target.title,
                "table": tables[evaluators[0]],
                "tables": tables,
                "spreads": {
                    evaluator: self.target.by_spec(spreads, evaluator) for evaluator in evaluators
                },
                "n_runs": self.target.n_runs,
                "sentences": [
                    *(f"The paper says: {sentence}" for sentence in self.target.sentences),
                    *self.target.remarks,
                ],
            },
            "files": {name: path.name for name, path in self.files.items()},
            "missing": {
                "datasets": list(self.missing_sets),
                "methods": self.missing_methods,
                "judges": self.missing_evaluators,
            },
        }

    def missing_in_words(self) -> list[str]:
        """Say what there is no data or no method for, and which data differ from the paper's."""
        silent = [each.name for each in self.target.columns if not (each.printed or each.default)]
        facts = {
            "No data": [f"{name} ({kind.stems[0]})" for name, kind in self.missing_sets.items()],
            "Other data": [f"{name} has {text}" for name, text in self.differences.items()],
            "No method yet": self.missing_methods,
            "No classifier yet": self.missing_evaluators,
            "Nothing of its own to run": silent,
        }
        return [f"{heading}: {', '.join(names)}." for heading, names in facts.items() if names]


def prepare(
    target: Target, folder: Path, methods: str | None = None, n_runs: int | None = None
) -> Reproduction:
    """Find data and methods of a target.

    Parameters
    ----------
    target : Target
    folder : Path
        With the data sets.
    methods : str, optional
        Names separated by commas: these alone, or, each with a plus sign, these too.
    n_runs : int, optional
        None is that of the paper.

    Returns
    -------
    Reproduction
    """
    evaluators = tuple(
        evaluator for evaluator in target.protocol.judges if _is_known(evaluator, EVALUATORS)
    )
    protocol = replace(target.protocol, judges=evaluators, n_runs=n_runs or target.protocol.n_runs)
    here = replace(target, protocol=protocol)
    wanted = choose_methods(here.specs, methods)
    if target.view == "committees":
        names = [parse(spec, "method")[0] for spec in wanted]
        own = [parse(spec, "method")[0] for spec in here.specs]
        if unknown := [name for name in names if name not in own]:
            raise ValueError(
                f"{target.name} has the methods {', '.join(here.specs)}: got {', '.join(unknown)}."
            )
    # a name that is not the target's own is the user's, and has to be right
    there = [spec for spec in wanted if spec not in here.specs or is_registered(spec, here.view)]
    if not there:
        raise ValueError(f"none of the methods is there yet: {', '.join(wanted)}.")
    find: Callable[[str], Any] = make_method
    if here.view == "committees":
        find = partial(cotraining.contender_of, estimator=evaluators[0])
    made = [(spec, find(spec)) for spec in there]
    found = {name: kind.find(folder) for name, kind in target.sets.items()}
    files = {name: path for name, path in found.items() if path is not None}
    if not files:
        stems = ", ".join(kind.stems[0] for kind in target.sets.values())
        raise ValueError(
            f"{folder} has none of the data sets of {target.name}. Their files are called {stems}, "
            f"as {', '.join(READABLE)}; docs/data.md says where they are published."
        )
    sets = [load(name, path, target.sets[name].overrides) for name, path in files.items()]
    differences = {data.name: target.sets[data.name].differences(data) for data in sets}
    return Reproduction(
        here,
        sets,
        files,
        made,
        missing_sets={name: kind for name, kind in target.sets.items() if name not in files},
        missing_methods=[spec for spec in wanted if spec not in there],
        missing_evaluators=[
            evaluator for evaluator in target.protocol.judges if evaluator not in evaluators
        ],
        differences={name: text for name, text in differences.items() if text},
    )


def load(name: str, path: Path, overrides: dict[str, Any]) -> ComparisonData:
    """Read a data set of which all labels are known.

    Categories become numbers in their order, and missing values the median of their column (or the
    most frequent category): two of the papers' data sets have them.

    Parameters
    ----------
    name : str
    path : Path
    overrides : dict
        Fields of the protocol that are different for this data set.

    Returns
    -------
    ComparisonData
    """
    table = read_table(
        path,
        label=None if find_format(path) in KEEP_LABELS else LABEL_COLUMN,
        unlabelled=("NA",),  # so that -1 is a class, as in files of the ASU repository
        categorical="ordinal",
        missing="median",
    )
    y = [None if label is None else as_class(str(label)) for label in table.y]
    return ComparisonData.build(name, table.X, y, overrides=overrides)


def choose_methods(own: list[str], text: str | None) -> list[str]:
    """Return the methods that are wanted.

    Examples
    --------
    >>> choose_methods(["ssfi", "random"], "+lsdf"), choose_methods(["ssfi", "random"], "ssfi")
    (['ssfi', 'random', 'lsdf'], ['ssfi'])
    """
    names = [name.strip() for name in (text or "").split(",") if name.strip()]
    only = [name for name in names if not name.startswith("+")]
    added = [name[1:].strip() for name in names if name.startswith("+")]
    return list(dict.fromkeys([*(only or own), *added]))


def is_registered(spec: str, view: str = "table") -> bool:
    """Tell whether there is such a method yet, or such a classifier where they are viewed."""
    return _is_known(spec, CLASSIFIERS if view == "committees" else {**METHODS, **BASELINES})


def _is_known(spec: str, known: Container[str]) -> bool:
    name, _ = parse(spec, "method")
    return name in known or "." in name


def make_method(spec: str) -> Any:
    """Return what `compare` takes; ``estimator=tree`` is the judge of that name.

    Examples
    --------
    >>> make_method("ssfi:estimator=nb")
    SSFI(estimator=GaussianNB())
    """
    name, parameters = parse(spec, "method")
    learner = parameters.pop("estimator", None)
    plain = ":".join([name, *(f"{key}={value}" for key, value in parameters.items())])
    method = find_methods([plain])[0].estimator
    return (
        method
        if learner is None
        else method.set_params(estimator=make(learner, EVALUATORS, "learner"))
    )
