"""Rankings of the drawn rows: at once by soft labels, then by the consensus.

Both go down to the methods' own steps, so that what was made of the values before is used again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from semisift.base._data_kind import kind_of_data
from semisift.base._ranker import FeatureRanker
from semisift.base._training_data import TrainingData
from semisift.ensemble import Consensus
from semisift.ensemble.consensus import REDUNDANCY
from semisift.filters.transductive import TransductiveScore
from semisift.filters.variance import VarianceScore
from semisift.transduction._class_sums import class_scores, mean_scores
from semisift.transduction._components import scaled_rows
from semisift.transduction._soft_labels import SoftLabels, find_soft_labels
from semisift.utils._labels import Labels
from semisift.utils._typing import Floats, Ints

BY_VARIANCE = "variance (no labels yet)"
BY_SOFT_LABELS = "soft labels"
BY_CONSENSUS = "consensus"

# Features that the page shows, and members of a family.
MAX_SHOWN = 50
MAX_MEMBERS = 30


@dataclass(frozen=True, eq=False)
class Guess:
    """Labels of the drawn rows by the shape of the data.

    Attributes
    ----------
    version : int
        Of the labels that it was made from.
    classes : sequence of str
        Their names, as the page had them then.
    shares : float array of shape (n, n_classes)
        How likely each class is.
    codes : int array of shape (n,)
        The most likely class; -1 for the rest of one labelled class.
    sure : float array of shape (n,)
        The share of that class, or of the rest.
    soft : SoftLabels
        As they were found, with the rest of one labelled class.
    """

    version: int
    classes: Sequence[str]
    shares: Floats
    codes: Ints
    sure: Floats
    soft: SoftLabels


@dataclass(frozen=True, eq=False)
class Ranking:
    """A ranking of the columns.

    Attributes
    ----------
    by : str
    version : int
        Of the labels.
    ranks : int array of shape (p,)
    scores : float array of shape (p,)
    representative, correlation : arrays of shape (p,), or None
        Of correlated features.
    """

    by: str
    version: int
    ranks: Ints
    scores: Floats
    representative: Ints | None = None
    correlation: Floats | None = None

    @classmethod
    def of(cls, ranker: FeatureRanker, by: str, version: int) -> "Ranking":
        """Return what a ranker found."""
        representative = getattr(ranker, "representative_", None)
        correlation = getattr(ranker, "representative_correlation_", None)
        return cls(by, version, ranker.ranking_, ranker.scores_, representative, correlation)

    @property
    def best(self) -> Ints:
        """The columns to show, best first; features correlated with others come last of all."""
        return np.asarray(np.argsort(self.ranks)[:MAX_SHOWN])

    def correlated_group(self, column: int) -> Ints:
        """Return the correlated features that a column represents, best first."""
        if self.representative is None:
            return np.empty(0, dtype=np.int64)
        members = np.flatnonzero(self.representative == column)
        members = members[members != column]
        return np.asarray(members[np.argsort(self.ranks[members])])


def rank_by_variance(data: TrainingData, version: int) -> Ranking:
    """Rank without labels."""
    scaling: Any = "minmax" if kind_of_data(data) == "measurements" else None
    ranker = VarianceScore(feature_scaling=scaling, redundancy_threshold=_threshold(data))
    ranker._set_ranking(data, ranker._score(data))
    return Ranking.of(ranker, BY_VARIANCE, version)


def rank_by_soft_labels(
    data: TrainingData, labels: Labels, places: Ints, classes: Sequence[str], version: int
) -> tuple[Ranking, Guess]:
    """Label the rows and rank with them.

    Parameters
    ----------
    data : TrainingData
    labels : Labels
        Of its rows.
    places : int array
        The class of the page for each class of the labels.
    classes : sequence of str
        Those of the page.
    version : int

    Returns
    -------
    ranking : Ranking
    guess : Guess
    """
    ranker = TransductiveScore(redundancy_threshold=_threshold(data))
    known = ranker._find_rest(data.with_labels(labels, None, data.seed))
    soft = find_soft_labels(known)
    sums = scaled_rows(known).class_sums(soft.shares)
    ranker._set_ranking(known, mean_scores(class_scores(sums, known.constant)))
    found, rest = soft.distributions(known.labels.codes), known.labels.rest
    own = [number for number in range(found.shape[1]) if number != rest]
    shares = np.zeros((len(found), len(classes)))
    shares[:, places] = found[:, own]
    codes = shares.argmax(axis=1)
    if rest is not None:
        codes[found.argmax(axis=1) == rest] = -1
    guess = Guess(version, classes, shares, codes, found.max(axis=1), soft)
    return Ranking.of(ranker, BY_SOFT_LABELS, version), guess


def rank_by_consensus(
    data: TrainingData,
    labels: Labels,
    version: int,
    n_jobs: int | None,
    on_progress: Callable[[float | None], None],
) -> Ranking:
    """Ask the committee.

    Parameters
    ----------
    data : TrainingData
    labels : Labels
    version : int
    n_jobs : int or None
    on_progress : callable
        Hears after each step what share is done; what it raises ends the work.

    Returns
    -------
    Ranking
    """
    ranker = Consensus(n_jobs=n_jobs)
    known = ranker._find_rest(data.with_labels(labels, None, data.seed))
    ranker._callback_fit_ctx = Listener(ranker._n_tasks(known), on_progress)
    ranker._set_ranking(known, ranker._score(known))
    return Ranking.of(ranker, BY_CONSENSUS, version)


class Listener:
    """Hears of the steps of a fit, in place of the callbacks of scikit-learn.

    Parameters
    ----------
    n_tasks : int or None
    on_progress : callable
    """

    def __init__(self, n_tasks: int | None, on_progress: Callable[[float | None], None]) -> None:
        self._n_tasks, self._on_progress, self._n_done = n_tasks, on_progress, 0

    def subcontext(self, task_name: str) -> "Listener":
        """Hear of a step."""
        return self

    def call_on_fit_task_begin(self, estimator: Any) -> None:
        """Hear that it begins."""
        self._report()

    def call_on_fit_task_end(self, estimator: Any) -> bool:
        """Hear that it is done."""
        self._n_done += 1
        self._report()
        return False

    def _report(self) -> None:
        self._on_progress(None if not self._n_tasks else min(1.0, self._n_done / self._n_tasks))


def _threshold(data: TrainingData) -> float | None:
    """Return from which correlation on features count as correlated, as the consensus has it."""
    return REDUNDANCY if kind_of_data(data) == "measurements" else None
