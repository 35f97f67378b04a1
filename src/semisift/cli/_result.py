"""What a user asked for and what came of it."""

import platform
from collections import Counter
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semisift import __version__
from semisift.cli._tables import TableRequest
from semisift.registry import Method
from semisift.tables import Choices, Dataset, PairFiles, Table, checksum

if TYPE_CHECKING:
    from semisift._base import FeatureRanker
    from semisift.report import Ranking


@dataclass(frozen=True, kw_only=True)
class Request(TableRequest):
    """What the user asked for: a field for each option, by its name."""

    table: str
    labels: str | None
    must_link: str | None
    cannot_link: str | None
    labels_per_class: int | None
    method: str
    param: tuple[str, ...]
    redundancy: float | None
    seed: int
    n_jobs: int | None
    top: int | None
    labels_out: str | None
    report: str | None
    title: str | None
    quiet: bool
    ranking: str | None
    reduced: str | None = None

    @property
    def has_pairs(self) -> bool:
        """Whether pairs of rows were given."""
        return self.must_link is not None or self.cannot_link is not None

    def choices(self, labels_table: Table | None = None) -> Choices:
        """What was decided about the table."""
        return replace(
            super().choices(labels_table),
            labels_per_class=self.labels_per_class,
            seed=self.seed,
            pairs=PairFiles(self.must_link, self.cannot_link),
        )


@dataclass(frozen=True, eq=False)
class Result:
    """A ranking with all that led to it."""

    request: Request
    method: Method
    dataset: Dataset
    ranker: "FeatureRanker"
    ranking: "Ranking"
    n_selected: int

    @property
    def selected(self) -> list[str]:
        """Names of the selected features, best first."""
        return list(self.ranking.features[: self.n_selected])


def provenance(result: Result) -> dict[str, Any]:
    """Return where a ranking comes from: enough to make it again."""
    request, dataset = result.request, result.dataset
    parameters = result.ranker.get_params(deep=False)
    labelled = Counter(str(label) for label in dataset.y if label is not None)
    facts: dict[str, Any] = {
        "semisift": __version__,
        "method": result.method.name,
        "parameters": {name: parameters[name] for name in sorted(parameters) if name != "n_jobs"},
        "seed": request.seed,
        "input": {
            "file": Path(request.table).name,
            "sha256": checksum(Path(request.table)),
            "rows": len(dataset.y),
            "features": len(dataset.variables),
            "labelled": dict(sorted(labelled.items())),
        },
    }
    beside = {
        "labels": request.labels,
        "must_link": request.must_link,
        "cannot_link": request.cannot_link,
    }
    for name, file in beside.items():
        if file is not None:
            facts[name] = {"file": Path(file).name, "sha256": checksum(Path(file))}
    packages = ("numpy", "scipy", "scikit-learn", "polars")
    facts["versions"] = {
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }
    facts["citation"] = result.method.citation
    facts["notes"] = dataset.notes
    return facts


def agreement_with_hidden(result: Result) -> tuple[int, int] | None:
    """Count the hidden labels, and those that the method found; None where there are none."""
    given = getattr(result.ranker, "transduction_", None)
    if result.dataset.hidden is None or given is None:
        return None
    pairs = zip(result.dataset.hidden, given, strict=True)
    found = [str(true) == str(label) for true, label in pairs if true is not None]
    return sum(found), len(found)
