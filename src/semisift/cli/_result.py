"""What a user asked for and what came of it."""

import platform
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semisift import __version__
from semisift.cli._sureness import CUT_SHORT, sureness_facts
from semisift.io import Dataset, Reading, checksum
from semisift.registry import Entry, Method

if TYPE_CHECKING:
    from semisift._base import FeatureRanker
    from semisift.report import Ranking

# Of the features that are confirmed, so many are printed.
MOST_SHOWN = 50


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
class Request(FileRequest):
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
    """A ranking with all that led to it.

    Attributes
    ----------
    request : Request
    method : Method
    dataset : Dataset
    ranker : FeatureRanker
        Fitted, and assessed where that was asked for.
    ranking : Ranking
    n_wanted : int
        How many features were asked for, else how many to show.
    is_cut_short : bool
        Whether the user interrupted the assessment, which is left out.
    """

    request: Request
    method: Method
    dataset: Dataset
    ranker: "FeatureRanker"
    ranking: "Ranking"
    n_wanted: int
    is_cut_short: bool = False

    @property
    def facts(self) -> dict[str, Any]:
        """Where the ranking comes from, and how sure it is."""
        facts = provenance(self.request, self.method, self.dataset, self.ranker)
        return {**facts, "notes": self.notes, **sureness_facts(self.ranker, self.ranking)}

    @property
    def notes(self) -> list[str]:
        """What was done to the table, and what was left out."""
        return [*self.dataset.notes, *([CUT_SHORT] if self.is_cut_short else [])]

    @property
    def trial(self) -> str | None:
        """How the labels of the method compare with those that were hidden for a trial."""
        return trial_sentence(self.dataset, getattr(self.ranker, "transduction_", None))

    @property
    def is_decided(self) -> bool:
        """Whether the confirmed features are selected, rather than a number of them."""
        return self.request.number is None and self.ranking.decisions is not None

    @property
    def places(self) -> NDArray[np.int64]:
        """Places of the selected features in the ranking, counted from 0."""
        if self.is_decided:
            is_confirmed = (self.ranking.decisions == "confirmed") & ~self.ranking.is_copy
            return np.flatnonzero(is_confirmed)
        return np.arange(self.n_wanted)

    @property
    def shown(self) -> NDArray[np.int64]:
        """Places of the features to show: the selected ones, and others if these are few."""
        places = self.places
        if not self.is_decided:
            return places
        others = np.setdiff1d(np.flatnonzero(~self.ranking.is_copy), places)
        n_others = max(0, self.n_wanted - len(places))
        return np.sort(np.concatenate([places[:MOST_SHOWN], others[:n_others]]))

    @property
    def selected(self) -> list[str]:
        """Names of the selected features, best first."""
        return list(self.ranking.features[self.places])


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
