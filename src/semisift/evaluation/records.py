"""Records: what a comparison has made so far, and the figures in it."""

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from semisift.evaluation.protocol import Protocol
from semisift.evaluation.runs import MEASURED, Record, is_slow, key_of, keys_of
from semisift.evaluation.scores import Scores
from semisift.evaluation.store import Store

# What a run took, and which warnings were heard, are no numbers of the comparison.
VOLATILE = ("measured", "warnings")


class Records:
    """The records of a comparison, and the figures in them.

    Parameters
    ----------
    about : dict
        What was compared and how, as a store keeps it.
    records : list of dict
    folder : Path, optional
        Of the store.

    Attributes
    ----------
    datasets, methods : list of str
    levels : list of float or None
        Of the sweep, ``[None]`` without one.
    protocol : Protocol
    """

    kind: ClassVar[str | None] = None  # of what else than rankings

    def __init__(
        self, about: dict[str, Any], records: list[Record], folder: Path | None = None
    ) -> None:
        self.about = about
        self.folder = folder
        self.protocol = Protocol.from_dict(about["protocol"])
        self.datasets: list[str] = list(about["datasets"])
        self.methods: list[str] = list(about["methods"])
        sweep = about["sweep"]
        self.levels: list[float | None] = [None] if sweep is None else list(sweep["levels"])
        self._keys = keys_of(about)
        found = {key_of(record): record for record in records}
        self._by_key = {key: found[key] for key in self._keys if key in found}

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read a store, of a comparison that is finished or not."""
        store = Store(Path(folder))
        about = store.about()
        if about.get("kind") != cls.kind:
            raise ValueError(
                f"{folder} holds records of {about.get('kind', 'rankings')}, and those of "
                f"{cls.kind or 'rankings'} were asked for."
            )
        return cls(about, list(store.records()), store.folder)

    @property
    def records(self) -> list[Record]:
        """The records, in the order of data sets, levels, runs and methods."""
        return list(self._by_key.values())

    def same_numbers(self, other: "Records") -> bool:
        """Tell whether another comparison has the same records, whatever they took to make."""
        mine, others = (
            {key: record | dict.fromkeys(VOLATILE) for key, record in results._by_key.items()}
            for results in (self, other)
        )
        return mine == others

    # --- what is there and what is not ---

    @cached_property
    def too_slow(self) -> dict[tuple[str, str], float]:
        """Seconds of one run, where a method was left out on a data set because of them."""
        return {
            (record["dataset"], record["method"]): record["measured"]["seconds"]
            for record in self.records
            if is_slow(record, self.about.get("max_seconds"))
        }

    @property
    def failures(self) -> list[Record]:
        """Records of entrants that failed."""
        return [record for record in self.records if record["status"] == "failed"]

    @property
    def n_missing(self) -> int:
        """How many records are still to be made."""
        todo = [key for key in self._keys if key not in self._by_key]
        return sum((key.dataset, key.method) not in self.too_slow for key in todo)

    @cached_property
    def n_judging(self) -> dict[str, int]:
        """How many labelled rows judge a run on each data set that has records, at least."""
        found: dict[str, list[int]] = {}
        for record in self.records:
            found.setdefault(record["dataset"], []).append(record["n_test"])
        return {dataset: min(n_test) for dataset, n_test in found.items()}

    # --- figures ---

    def scores(
        self,
        *,
        judge: str | None = None,
        metric: str | None = None,
        level: float | None = None,
        size: int | None = None,
    ) -> Scores:
        """Return what each method reached in each run.

        Parameters
        ----------
        judge, metric : str, default=None
            None is the first one of the protocol.
        level : float, default=None
            Of a sweep; None is its first one.
        size : int, default=None
            Number of features; None is the mean over all sizes, as the papers' tables have it.

        Returns
        -------
        Scores
        """
        judge = one_of("judge", judge, self.protocol.judges)
        metric = one_of("metric", metric, self.protocol.metrics)
        level = self._level(level)
        if size is not None and size not in self.protocol.sizes:
            raise ValueError(f"size must be one of {self.protocol.sizes}: got {size}.")

        def figure(record: Record) -> float:
            if not self.counts(record):
                return np.nan
            curve = zip(self.protocol.sizes, record["curves"][judge][metric], strict=True)
            wanted = [value for at, value in curve if size in (None, at)]
            return mean_of([value for value in wanted if value is not None])

        return self._each_record(figure, level)

    def counts(self, record: Record) -> bool:
        """Tell whether the figures of a record count: it did not fail, and was not too slow."""
        slow = (record["dataset"], record["method"]) in self.too_slow
        return record["status"] == "done" and not slow

    def _level(self, level: float | None) -> float | None:
        if level is not None and level not in self.levels:
            raise ValueError(f"level must be one of {self.levels}: got {level}.")
        return self.levels[0] if level is None else level

    def _each_record(self, figure: Callable[[Record], float], level: float | None) -> Scores:
        values = np.full((len(self.datasets), self.protocol.n_runs, len(self.methods)), np.nan)
        for key, record in self._by_key.items():
            if key.level == level:
                i, j = self.datasets.index(key.dataset), self.methods.index(key.method)
                values[i, key.run, j] = figure(record)
        return Scores(self.datasets, self.methods, values)

    def curves(
        self, *, judge: str | None = None, metric: str | None = None, level: float | None = None
    ) -> NDArray[np.float64]:
        """Return the figures at each size, of shape (n_datasets, n_runs, n_methods, n_sizes)."""
        choice: dict[str, Any] = {"judge": judge, "metric": metric, "level": level}
        at_sizes = [self.scores(size=size, **choice).values for size in self.protocol.sizes]
        return np.stack(at_sizes, axis=-1)

    def measured(self, name: str) -> Scores:
        """Return ``"seconds"``, ``"judge_seconds"`` or ``"peak_mb"`` of each run.

        At the first level of a sweep; also of runs that failed or took too long.
        """
        one_of("name", name, MEASURED)

        def figure(record: Record) -> float:
            found = record["measured"][name]
            return np.nan if found is None else float(found)

        return self._each_record(figure, self.levels[0])


def one_of(name: str, value: str | None, known: Sequence[str]) -> str:
    """Return a value that must be known, the first known one for None."""
    if value is None:
        return known[0]
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}: got {value!r}.")
    return value


def mean_of(values: list[float]) -> float:
    """Return the mean; NaN of none."""
    return float(np.mean(values)) if values else np.nan
