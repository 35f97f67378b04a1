"""What a user asked for and what came of it."""

import platform
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semisift import __version__
from semisift.io import Dataset, Reading, checksum
from semisift.registry import Entry, Method

if TYPE_CHECKING:
    from semisift.outcome import Outcome

CUT_SHORT = "The assessment was interrupted and is left out; the ranking is complete."


@dataclass(frozen=True, kw_only=True)
class FileRequest(Reading):
    """What the user asked to do with one table: a field for each option, by its name."""

    table: str
    param: tuple[str, ...]
    n_jobs: int | None
    spreadsheet_safe: bool
    quiet: bool

    @property
    def is_told(self) -> bool:
        """Whether to say what is done."""
        return not self.quiet

    @property
    def files_beside(self) -> dict[str, str]:
        """The files that are read besides the table, by what they hold."""
        return {} if self.labels is None else {"labels": self.labels}


@dataclass(frozen=True, kw_only=True)
class RankRequest(FileRequest):
    """What the user asked to rank."""

    method: str | None
    redundancy: float | str | None
    top: int | str | None
    assess: bool | None
    thorough: bool
    labels_out: str | None
    report: str | None
    title: str | None
    ranking: str | None
    reduced: str | None = None

    @property
    def is_told(self) -> bool:
        """Whether to say what is done; not where the ranking itself is printed."""
        return not self.quiet and self.ranking != "-"

    @property
    def number(self) -> int | None:
        """How many features were asked for, by a number."""
        return None if isinstance(self.top, str) else self.top

    @property
    def rule(self) -> str | None:
        """The rule that is to confirm features."""
        if isinstance(self.top, str):
            return self.top
        return "shadow" if self.thorough and self.top is None else None

    @property
    def is_assessed(self) -> bool:
        """Whether to tell how sure the ranking is; `rank` does so unless told what to do."""
        if self.assess is not None:
            return self.assess
        by_itself = self.method is None and self.rule is None and self.reduced is None
        return self.thorough or by_itself

    @property
    def has_pairs(self) -> bool:
        """Whether pairs of rows were given."""
        return self.must_link is not None or self.cannot_link is not None

    @property
    def files_beside(self) -> dict[str, str]:
        """The files that are read besides the table, by what they hold."""
        pairs = {"must_link": self.must_link, "cannot_link": self.cannot_link}
        return super().files_beside | {k: file for k, file in pairs.items() if file is not None}


@dataclass(frozen=True, eq=False)
class Result:
    """An outcome with all that led to it; the user may have interrupted its assessment."""

    request: RankRequest
    method: Method
    dataset: Dataset
    outcome: "Outcome"
    is_cut_short: bool = False

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Where the ranking comes from, and how sure it is."""
        facts = provenance(self.request, self.method, self.dataset, self.outcome.ranker)
        return {**facts, "notes": self.notes, **self.outcome.facts}

    @property
    def notes(self) -> list[str]:
        """What was done to the table, and what was left out."""
        return [*self.dataset.notes, *([CUT_SHORT] if self.is_cut_short else [])]

    @property
    def trial(self) -> str | None:
        """How the labels of the method compare with those that were hidden for a trial."""
        return trial_sentence(self.dataset, getattr(self.outcome.ranker, "transduction_", None))

    @property
    def selected(self) -> list[str]:
        """Names of the selected features, best first."""
        return list(self.outcome.features[self.outcome.selected])


def provenance(
    request: FileRequest, method: Entry, dataset: Dataset, estimator: Any
) -> dict[str, Any]:
    """Return where a result comes from: enough to make it again."""
    parameters = estimator.get_params(deep=False)
    labelled = Counter(str(label) for label in dataset.y if label is not None)
    facts: dict[str, Any] = {
        "semisift": __version__,
        "method": method.name,
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
    for name, file in request.files_beside.items():
        facts[name] = {"file": Path(file).name, "sha256": checksum(Path(file))}
    packages = ("numpy", "scipy", "scikit-learn", "polars")
    facts["versions"] = {
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }
    facts["citation"] = method.citation
    facts["notes"] = dataset.notes
    return facts


def trial_sentence(dataset: Dataset, labels: Iterable[Any] | None) -> str | None:
    """Say how the labels that a method gave compare with those that were hidden for a trial.

    Parameters
    ----------
    dataset : Dataset
    labels : iterable or None
        One for each row; None where the method gives none.

    Returns
    -------
    str or None
        None where nothing was hidden.
    """
    if dataset.hidden is None or labels is None:
        return None
    pairs = zip(dataset.hidden, labels, strict=True)
    found = [str(true) == str(label) for true, label in pairs if true is not None]
    if not found:
        return None
    right, n_hidden = sum(found), len(found)
    return (
        f"Of the {n_hidden} hidden labels the method found {right} ({right / n_hidden:.1%}) from "
        "the labels it was left."
    )
