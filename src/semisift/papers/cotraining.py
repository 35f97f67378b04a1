"""Committees of classifiers: how right they are, alone and together, before and after they learnt.

A run splits a data set as a protocol says and lets a classifier of `CLASSIFIERS` learn from the
training rows, few of them labelled. Its `evaluate_committee` then tells on test rows the accuracy
of the
committee, the mean accuracy of its members and their diversity, at the beginning, when the members
know the labelled rows alone, and at the end.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from semisift.comparison import _run
from semisift.comparison._datasets import ComparisonData
from semisift.comparison._evaluators import EVALUATORS
from semisift.comparison._protocol import Protocol
from semisift.comparison._results import Results, Scores
from semisift.comparison._run import Record, RunKey
from semisift.comparison._runner import RunPlan, run_plan
from semisift.comparison._specs import make, parse, set_seeds
from semisift.comparison._store import COMMITTEES, MEASURES, MOMENTS
from semisift.papers.targets import Target
from semisift.registry import CLASSIFIERS
from semisift.utils._labels import UNLABELLED

# Numbers of members, of partitions of the features into two, and of features of a member, of
# Yaslan and Cataltepe.
N_MEMBERS = (5, 10, 15, 20, 25)
N_PARTITIONS = 10
N_FEATURES = 25

# The paper does not say how many iterations there were: here they go on until no row is left. Its
# final classifier is a majority vote.
CO_TRAINING = {"max_iter": None}
SUBSPACES = {"max_features": N_FEATURES, "voting": "hard", "max_iter": None}


@dataclass(frozen=True)
class Contender:
    """A classifier that takes part, at several levels.

    Attributes
    ----------
    label : str
        Name of the learner, with parameters if need be.
    varied : {"members", "partition"}
        What the levels are: numbers of members, or numbers of random partitions of the features,
        each of which is the same in all runs.
    levels : tuple of int
    options : dict
        Parameters that are the same at all levels; `estimator` is the name of an evaluator.
    """

    label: str
    varied: Literal["members", "partition"]
    levels: tuple[int, ...]
    options: dict[str, Any]

    def make(self, level: int, seed: int) -> Any:
        """Return the classifier at a level, not fitted."""
        name, _ = parse(self.label, "method")
        parameters = {**self.options}
        parameters["estimator"] = make(parameters["estimator"], EVALUATORS, "learner")
        if self.varied == "members":
            parameters["n_members"] = level
        classifier = CLASSIFIERS[name].cls(**parameters)
        set_seeds(classifier, seed)
        return classifier

    @property
    def parameters(self) -> dict[str, Any]:
        """What a store keeps of it."""
        return {"varied": self.varied, "levels": self.levels, "parameters": self.options}


def contender_of(spec: str, estimator: str) -> Contender:
    """Return a classifier as the paper runs it, but for the parameters that `spec` names.

    Parameters
    ----------
    spec : str
        A learner with or without parameters: ``"rasco:max_iter=20"``.
    estimator : str
        Name of the evaluator that the members are, unless `spec` names one.

    Returns
    -------
    Contender
    """
    name, given = parse(spec, "method")
    if name == "co-training":
        parameters = {"estimator": estimator, **CO_TRAINING, **given}
        return Contender(spec, "partition", tuple(range(N_PARTITIONS)), parameters)
    return Contender(spec, "members", N_MEMBERS, {"estimator": estimator, **SUBSPACES, **given})


def run_committee(
    data: ComparisonData, contender: Contender, protocol: Protocol, run: int, level: float
) -> Record:
    """Let a classifier learn from one split, and record what its members do on the test rows.

    Parameters
    ----------
    data : ComparisonData
    contender : Contender
    protocol : Protocol
    run : int
        Number of the split, which is the same for all classifiers and levels.
    level : int

    Returns
    -------
    dict
        What a store keeps. All but ``measured`` is the same wherever it is made.
    """
    split = _run.split_of(data, protocol, run)
    # a partition follows from the seed, which is therefore the same in all runs
    drawn = run if contender.varied == "members" else int(level)
    seed = int(_run.stream(protocol, drawn, _run.METHOD_STREAM).integers(2**31))
    y = np.where(split.is_labelled, data.y[split.train], UNLABELLED)
    key = RunKey(data.name, contender.label, run, float(level))
    record = _run.new_record(key, data, split, y, seed, contender.options)
    measured = record["measured"]
    with _run.recording(record):
        classifier = contender.make(int(level), seed)
        with _run.measuring(measured, "seconds"), _run.measuring_memory(measured):
            classifier.fit(data.X[split.train], y)
        with _run.measuring(measured, "judge_seconds"):
            found = classifier.evaluate_committee(data.X[split.test], data.y[split.test])
        record["curves"] = {
            measure: [float(getattr(getattr(found, moment), measure)) for moment in MOMENTS]
            for measure in MEASURES
        }
    return record


def committee_plan(
    sets: list[ComparisonData], contenders: list[Contender], protocol: Protocol
) -> RunPlan:
    """Return which classifiers are run on which data sets."""
    by_label = {contender.label: contender for contender in contenders}
    by_name = {data.name: data for data in sets}
    return RunPlan(by_name, by_label, protocol, run_committee, kind=COMMITTEES)


def run_committees(plan: RunPlan, **options: Any) -> "CommitteeRecords":
    """Run all classifiers on all splits; the options are those of `run_plan`."""
    plan.n_test_rows()
    return CommitteeRecords(*run_plan(plan, **options))


class CommitteeRecords(Results):
    """The records of committees, and the figures in them."""

    kind = COMMITTEES

    def levels_of(self, method: str) -> list[int]:
        """Return the levels of a classifier: numbers of members, or of partitions."""
        return list(self.about["methods"][method]["levels"])

    def varies_members(self, method: str) -> bool:
        """Tell whether levels are numbers of members, and not partitions."""
        return bool(self.about["methods"][method]["varied"] == "members")

    def values(self, dataset: str, method: str, measure: str) -> NDArray[np.float64]:
        """Return the figures of a classifier on a data set.

        Parameters
        ----------
        dataset, method : str
        measure : str
            Of `MEASURES`.

        Returns
        -------
        array of shape (n_runs, n_levels, 2)
            At the beginning and at the end; NaN where there is no record. Partitions are one
            level: their mean in each run, since they share the splits.
        """
        levels = self.levels_of(method)
        found = np.full((self.protocol.n_runs, len(levels), len(MOMENTS)), np.nan)
        for run in range(self.protocol.n_runs):
            for j, level in enumerate(levels):
                record = self._by_key.get(RunKey(dataset, method, run, float(level)))
                if record is not None and self.counts(record):
                    found[run, j] = record["curves"][measure]
        if self.varies_members(method):
            return found
        return Scores([], [], found).means[:, None]

    def summary(
        self, dataset: str, method: str, measure: str
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return means over runs and their standard errors, each of shape (n_levels, 2)."""
        values = self.values(dataset, method, measure)
        scores = Scores([], [], values.transpose(1, 0, 2))
        return scores.means, scores.errors

    @property
    def published(self) -> dict[str, dict[str, list[float | None]]]:
        """Published accuracies: learner -> data set -> at the beginning and at the end."""
        found: dict[str, dict[str, list[float | None]]] = self.about["notes"].get("moments", {})
        return found


def published_moments(target: Target) -> dict[str, dict[str, list[float | None]]]:
    """Return what a paper prints of co-training at its beginning and end, as a store keeps it."""
    (evaluator,) = target.protocol.judges
    return {
        "co-training": {
            dataset: [target.value(evaluator, dataset, name) for name in ("CoTrain-B", "CoTrain-E")]
            for dataset in target.sets
        }
    }
