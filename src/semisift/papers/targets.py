"""Targets: the tables and figures of results that ``semisift reproduce`` makes again.

What the papers print is in ``published.toml``, which explains itself.
"""

import tomllib
from collections.abc import Container
from dataclasses import dataclass, field, replace
from importlib.resources import files
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from semisift.comparison._protocol import PROTOCOLS, Protocol
from semisift.utils._text import join, plural

if TYPE_CHECKING:
    from semisift.comparison._datasets import ComparisonData

PAPERS: dict[str, dict[str, Any]] = tomllib.loads(
    files("semisift.papers").joinpath("published.toml").read_text(encoding="utf-8")
)

# What any method must beat, what the labelled rows alone give, and what all labels would.
YARDSTICKS = ("random", "fisher", "all-labels")

Form = Literal["printed", "default", "reading"]

# form -> what tables call it
FORMS: dict[Form, str] = {
    "printed": "as printed",
    "default": "our default",
    "reading": "another reading",
}
# Those that represent the whole of a paper's methods in its tests.
WHOLE_FORMS: tuple[Form, ...] = ("printed", "default")

# Formats that have a place for labels, and the column that holds them in the others.
KEEP_LABELS = ("npz", "mat", "arff", "svmlight")
LABEL_COLUMN = "class"

# In this order, where a folder has a data set in several of them.
READABLE = (*KEEP_LABELS, "parquet", "csv", "tsv")

# learner -> data set -> the paper's name of a method -> figure, None where none is printed
Figures = dict[str, dict[str, dict[str, float | None]]]


@dataclass(frozen=True)
class Column:
    """A method of a paper and what represents it here.

    Attributes
    ----------
    name : str
        Its name in the paper.
    printed : str or None
        The method as the paper prints it, with parameters. ``{judge}`` represents the judge, for
        methods that wrap the learner that judges them.
    default : str or None
        The method as we recommend it, or as we read it where the paper leaves it open.
    reading : str or None
        Another way to read what the paper leaves open.
    """

    name: str
    printed: str | None = None
    default: str | None = None
    reading: str | None = None

    def forms(self, evaluator: str) -> dict[Form, str]:
        """Return the forms that there are under a judge."""
        specs = {form: getattr(self, form) for form in FORMS}
        return {
            form: spec.format(judge=evaluator) for form, spec in specs.items() if spec is not None
        }

    def nearest(self, form: Form, evaluator: str) -> str | None:
        """Return the wanted form, or the other one where it is the only one."""
        forms = self.forms(evaluator)
        return forms.get(form) or next(iter(forms.values()), None)


@dataclass(frozen=True)
class PaperSet:
    """A data set as a paper describes it.

    It is looked for in a folder under the stem of its file name, in any format that keeps labels
    beside the values.

    Attributes
    ----------
    stems : list of str
        Names of its file without the ending, in lower case; the first one found serves.
    n_rows, n_features, n_classes : int
        As the paper prints them.
    overrides : dict
        Fields of the protocol that are different for this data set.
    """

    stems: list[str]
    n_rows: int
    n_features: int
    n_classes: int
    overrides: dict[str, Any] = field(default_factory=dict)

    def find(self, folder: Path) -> Path | None:
        """Return the file of the data set in a folder, or None."""
        from semisift.io import FORMATS

        files = {path.name.lower(): path for path in sorted(folder.iterdir()) if path.is_file()}
        endings = [ending for form in READABLE for ending in FORMATS[form].endings]
        names = [f"{stem}{ending}" for stem in self.stems for ending in endings]
        return next((files[name] for name in names if name in files), None)

    def differences(self, data: "ComparisonData") -> str:
        """Say how a data set differs from the paper's description; nothing where it does not."""
        n_rows, n_features = data.X.shape
        facts = [
            (plural(n_rows, "row"), n_rows, self.n_rows),
            (plural(n_features, "feature"), n_features, self.n_features),
            (plural(len(data.classes), "class", "classes"), len(data.classes), self.n_classes),
        ]
        differ = [(text, printed) for text, found, printed in facts if found != printed]
        return join([f"{text} (the paper: {printed:,})" for text, printed in differ])


@dataclass(frozen=True)
class Target:
    """A table or figure of results that can be made again.

    Attributes
    ----------
    name : str
    source : str
        The paper.
    protocol : Protocol
        That of the paper, with all its judges.
    columns : tuple of Column
        The paper's methods.
    sets : dict of str to PaperSet
        The paper's data sets.
    place : str
        Table or figure.
    what : str
        What is measured.
    sentences : list of str
        What the paper concludes, in our words.
    values : dict of str to dict
        learner -> data set -> method -> accuracy; empty for a figure without numbers.
    deviations : dict of str to dict
        The same for what is printed as standard deviation.
    view : {"table", "curves", "wins", "ranks", "committees"}
        What is printed at the end; "committees" are classifiers, which are run and not ranked by.
    test : {None, "signed-ranks", "mean-ranks"}
        The test that the paper makes of the table.
    others : sequence of str
        Further methods to compare with.
    claim : list of str, optional
        A method that the paper finds ahead, and those that it is ahead of.
    has_spreads : bool
        Whether the paper prints standard deviations over the numbers of features.
    n_runs : int or None
        Runs that the paper's numbers are means of, where that is known.
    remarks : list of str
        What is to be known about the published numbers and ours, for the page.
    """

    name: str
    source: str
    protocol: Protocol
    columns: tuple[Column, ...]
    sets: dict[str, PaperSet]
    place: str
    what: str
    sentences: list[str]
    values: Figures = field(default_factory=dict)
    deviations: Figures = field(default_factory=dict)
    view: Literal["table", "curves", "wins", "ranks", "committees"] = "table"
    test: Literal["signed-ranks", "mean-ranks"] | None = None
    others: tuple[str, ...] = YARDSTICKS
    claim: list[str] | None = None
    has_spreads: bool = False
    n_runs: int | None = None
    remarks: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        """What it is, in one line."""
        return f"{self.place} of {self.source}"

    @property
    def specs(self) -> list[str]:
        """All methods with parameters, in the order of the paper's columns."""
        found = (
            spec
            for column in self.columns
            for evaluator in self.protocol.judges
            for spec in column.forms(evaluator).values()
        )
        return list(dict.fromkeys([*found, *self.others]))

    def value(self, evaluator: str, dataset: str, method: str) -> float | None:
        """Return one accuracy, or None where the paper prints none."""
        return self.values.get(evaluator, {}).get(dataset, {}).get(method)

    def by_spec(self, figures: Figures, evaluator: str) -> dict[str, dict[str, float]]:
        """Return published figures of a judge: data set -> our method -> figure."""
        return {
            dataset: {
                spec: value
                for column in self.columns
                if (value := row[column.name]) is not None
                for spec in column.forms(evaluator).values()
            }
            for dataset, row in figures.get(evaluator, {}).items()
        }


def _target(paper: str, name: str) -> Target:
    content = PAPERS[paper]
    entry = content["targets"][name]
    methods = entry.get("methods", list(content["columns"]))
    numbers = content["targets"][entry.get("numbers_of", name)]
    names = ["place", "what", "sentences", "view", "test", "others", "claim", "has_spreads"]
    names += ["remarks"]
    columns = {**content["columns"], **entry.get("columns", {})}
    sets = entry.get("sets", content["sets"])
    return Target(
        f"{paper}-{name}",
        content["source"],
        replace(PROTOCOLS[paper], **entry.get("protocol", {})),
        tuple(Column(method, **columns[method]) for method in methods),
        {dataset: PaperSet(**facts) for dataset, facts in sets.items()},
        values=_figures(numbers.get("values", {}), methods, sets, "per_cent" in content),
        deviations=_figures(numbers.get("deviations", {}), methods, sets, "per_cent" in content),
        n_runs=content.get("n_runs"),
        **{part: entry[part] for part in names if part in entry},
    )


def _figures(
    tables: dict[str, Any], methods: list[str], sets: Container[str], per_cent: bool
) -> Figures:
    def shares(row: list[float]) -> list[float]:
        return [round(number / 100, 6) for number in row] if per_cent else row

    return {
        learner: {
            dataset: dict(zip_longest(methods, shares(row)))
            for dataset, row in rows.items()
            if dataset in sets
        }
        for learner, rows in tables.items()
    }


TARGETS: dict[str, Target] = {
    f"{paper}-{name}": _target(paper, name)
    for paper, content in PAPERS.items()
    for name in content["targets"]
}
