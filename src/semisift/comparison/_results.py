"""The results of a comparison: its records, the figures in them, tests and pictures."""

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from semisift.comparison import _run, _statistical_tests
from semisift.comparison._protocol import Protocol
from semisift.comparison._run import MEASURED, Record, RunKey, doubt, is_slow, most_kept
from semisift.comparison._store import Store
from semisift.report import comparison  # it imports this module when it is first used
from semisift.utils._agreement import kuncheva, nogueira, rank_overlap
from semisift.utils._text import plural, printable_name, quote, shorten

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Scores:
    """The figures that methods reached on data sets.

    Attributes
    ----------
    datasets, methods : list of str
    values : float array of shape (n_datasets, n_runs, n_methods)
        NaN where there is no record.
    """

    datasets: list[str]
    methods: list[str]
    values: NDArray[np.float64]

    @property
    def means(self) -> NDArray[np.float64]:
        """Mean over the runs that are there, of shape (n_datasets, n_methods)."""
        counts = np.isfinite(self.values).sum(axis=1)
        return np.nansum(self.values, axis=1) / np.where(counts > 0, counts, np.nan)

    @property
    def errors(self) -> NDArray[np.float64]:
        """Standard error of the means; NaN for fewer than two runs."""
        counts = np.isfinite(self.values).sum(axis=1)
        squares = np.nansum((self.values - self.means[:, None, :]) ** 2, axis=1)
        few = counts < 2
        return np.where(few, np.nan, np.sqrt(squares / np.where(few, 1, counts * (counts - 1))))

    def of(self, methods: list[str]) -> "Scores":
        """Return the figures of some methods."""
        chosen = [self.methods.index(method) for method in methods]
        return Scores(self.datasets, methods, self.values[:, :, chosen])

    def complete(self) -> "Scores":
        """Return the data sets on which every method has all its runs.

        Methods without any figure are left out first.
        """
        there = np.isfinite(self.values)
        methods = np.flatnonzero(there.any(axis=(0, 1)))
        datasets = np.flatnonzero(there[:, :, methods].all(axis=(1, 2)))
        return Scores(
            [self.datasets[i] for i in datasets],
            [self.methods[j] for j in methods],
            self.values[datasets][:, :, methods],
        )


MAX_SHOWN = 20

# What a run took, and which warnings were heard, are no numbers of the comparison.
VOLATILE = ("measured", "warnings")


class Results:
    """The records of a comparison, what they say, and how they are shown.

    Pictures are drawn on `ax`, or on a new figure of pyplot; ``**choice`` is the judge, the metric,
    the level and the size, as for `scores`.

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
        self.about, self.folder = about, folder
        self.protocol = Protocol.from_dict(about["protocol"])
        self.datasets: list[str] = list(about["datasets"])
        self.methods: list[str] = list(about["methods"])
        sweep = about["sweep"]
        self.levels: list[float | None] = [None] if sweep is None else list(sweep["levels"])
        self._keys = _run.keys_of(about)
        found = {_run.key_of(record): record for record in records}
        self._by_key = {key: found[key] for key in self._keys if key in found}

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read a store, of a comparison that is finished or not."""
        store = Store(Path(folder))
        about = store.about()
        found, wanted = about.get("kind") or "rankings", cls.kind or "rankings"
        if found != wanted:
            raise ValueError(f"{folder} holds records of {found}, not of {wanted}.")
        return cls(about, list(store.records()), store.folder)

    def __repr__(self) -> str:
        judge, metric = self.protocol.judges[0], self.protocol.metrics[0]
        lines = [
            f"Results: {plural(len(self.methods), 'method')} on "
            f"{plural(len(self.datasets), 'data set')}, {plural(self.protocol.n_runs, 'run')} each",
            f"Mean {metric} of the judge {printable_name(judge)}:",
        ]
        means = self.means()
        names = [shorten(printable_name(name), _run.MAX_NAME) for name in self.methods]
        width = max(map(len, names))
        order = np.argsort([-mean for mean, _ in means.values()], kind="stable")  # NaN comes last
        for j in order[:MAX_SHOWN]:
            mean, n_sets = means[self.methods[j]]
            on = "" if n_sets == len(self.datasets) else f" (on {n_sets} of {len(self.datasets)})"
            lines.append(f"  {names[j]:<{width}}  {mean:.4f}{on}" if n_sets else f"  {names[j]}")
        if len(order) > MAX_SHOWN:
            lines.append(f"  ... and {len(order) - MAX_SHOWN} more")
        lacking = {"missing": self.n_missing, "failed": len(self.failures)}
        lines += [f"{plural(n, 'record')} {word}" for word, n in lacking.items() if n]
        return "\n".join([*lines, *filter(None, [doubt(self.n_judging)])])

    @property
    def records(self) -> list[Record]:
        """The records, in the order of data sets, levels, runs and methods."""
        return list(self._by_key.values())

    def same_numbers(self, other: "Results") -> bool:
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
        """Records of methods that failed."""
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
            return _mean_of([value for value in wanted if value is not None])

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

    def means(self, **choice: Any) -> dict[str, tuple[float, int]]:
        """Return the mean of each method over its data sets, and of how many; NaN of none."""
        table = self.scores(**choice).means
        known = np.isfinite(table)
        return {
            method: (float(table[known[:, j], j].mean()) if known[:, j].any() else np.nan, n_sets)
            for j, (method, n_sets) in enumerate(zip(self.methods, known.sum(axis=0), strict=True))
        }

    def to_polars(self) -> "polars.DataFrame":
        """Return all figures as a long table: a row for each record, judge, metric and size."""
        import polars

        rows = [
            (
                *(_encodable(record["dataset"]), _encodable(record["method"])),
                *(record["level"], record["run"], _encodable(judge), metric, size, value),
                *(record["measured"]["seconds"], record["measured"]["peak_mb"]),
            )
            for record in self.records
            for judge, metrics in record["curves"].items()
            for metric, curve in metrics.items()
            for size, value in zip(self.protocol.sizes, curve, strict=True)
        ]
        text, integer, number = polars.String, polars.Int64, polars.Float64
        run: dict[str, Any] = {"dataset": text, "method": text, "level": number, "run": integer}
        figure: dict[str, Any] = {"judge": text, "metric": text, "size": integer, "value": number}
        cost = {"seconds": number, "peak_mb": number}
        return polars.DataFrame(rows, run | figure | cost, orient="row")

    def table(self, **choice: Any) -> "polars.DataFrame":
        """Return the mean of each method on each data set; `choice` is as for `scores`."""
        import polars

        scores = self.scores(**choice)
        methods = [_encodable(method) for method in scores.methods]
        first = "dataset"
        while first in methods:
            first += "_"
        datasets = polars.Series(first, map(_encodable, scores.datasets), polars.String)
        means = polars.DataFrame(dict(zip(methods, scores.means.T, strict=True)))
        return means.fill_nan(None).insert_column(0, datasets)

    # --- statistics ---

    def complete(self, methods: list[str] | None = None, **choice: Any) -> Scores:
        """Return the figures of methods on the data sets on which all have all their runs.

        Ranks and tests are made of these. Without any such data set, or where methods were given
        different splits of one, there are none: that is an error.
        """
        scores = self.scores(**choice)
        found = (scores if methods is None else scores.of(methods)).complete()
        for method in methods or []:
            if method not in found.methods:
                raise ValueError(f"method {method!r} has no figures.")
        if not found.datasets:
            raise ValueError(
                "there is no data set on which each method has a figure in all "
                f"{self.protocol.n_runs} runs: {self.n_missing} records are missing, "
                f"{len(self.failures)} failed, and {len(self.too_slow)} methods took too long on a "
                "data set."
            )
        if problem := self.unpaired(found.datasets):
            raise ValueError(problem)
        return found

    def unpaired(self, datasets: Collection[str]) -> str:
        """Say where methods were given different splits; empty where all figures are pairs.

        All ranks and tests take the figures of a run as pairs.
        """
        splits: dict[tuple[str, int, float | None], int] = {}
        for record in self.records:
            dataset, run = record["dataset"], record["run"]
            same = splits.setdefault((dataset, run, record["level"]), record["split"])
            if dataset in datasets and record["split"] != same:
                return (
                    f"data set {quote(dataset)}, run {run}: methods were given different splits, "
                    "perhaps by different versions of numpy. Make the comparison anew."
                )
        return ""

    def obstacle(self, **choice: Any) -> str:
        """Say why methods cannot be tested over data sets; empty where they can."""
        found = self.scores(**choice).complete()
        if not found.methods:
            return "There are no figures yet, so there is nothing to test."
        if len(found.methods) < 2:
            return "One method alone has figures, so there is nothing to compare it with."
        if (n_sets := len(found.datasets)) < 2:
            sets = plural(n_sets, "such data set") if n_sets else "none"
            return (
                "Ranks are tested over data sets, of which it takes at least two on which every "
                f"method has all its runs; there is {sets}."
            )
        problem = self.unpaired(found.datasets)
        return f"There are no ranks and no tests: {problem}" if problem else ""

    def mean_ranks(self, **choice: Any) -> dict[str, float]:
        """Return the mean rank of each method over the data sets that are complete."""
        scores = self.complete(**choice)
        ranks = _statistical_tests.ranks(scores.means).mean(axis=0)
        return dict(zip(scores.methods, ranks.tolist(), strict=True))

    def friedman(self, **choice: Any) -> _statistical_tests.Friedman:
        """Test whether all methods are equally good, over the data sets that are complete."""
        return _statistical_tests.friedman(self.complete(**choice).means)

    def nemenyi(self, alpha: float = 0.05, **choice: Any) -> _statistical_tests.Nemenyi:
        """Tell which methods differ, by the critical difference of their mean ranks."""
        return _statistical_tests.nemenyi(self.complete(**choice).means, alpha)

    def wilcoxon(self, first: str, second: str, **choice: Any) -> _statistical_tests.Wilcoxon:
        """Compare two methods over the data sets on which both are complete."""
        for method in (first, second):
            one_of("method", method, self.methods)
        return _statistical_tests.wilcoxon(*self.complete([first, second], **choice).means.T)

    def pairwise_wilcoxon(self, **choice: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return p-values of `wilcoxon` for each pair of methods, plain and adjusted (Holm).

        The methods and data sets are those of ``complete(**choice)``.
        """
        return _statistical_tests.pairwise_wilcoxon(self.complete(**choice).means)

    def win_tie_loss(
        self, alpha: float = 0.1, *, corrected: bool = True, **choice: Any
    ) -> NDArray[np.int64]:
        """Count data sets on which a method is better than another by a paired t-test of runs.

        Parameters
        ----------
        alpha : float, default=0.1
        corrected : bool, default=True
            Allow for splits that share rows (Nadeau and Bengio); False is the test of the papers.
        **choice
            As for `scores`.

        Returns
        -------
        int array of shape (n_methods, n_methods, 3)
            Wins, ties and losses of the first against the second. The methods and data sets are
            those of ``complete(**choice)``.
        """
        scores = self.complete(**choice)
        shares = [self.test_share(dataset, choice.get("level")) for dataset in scores.datasets]
        return _statistical_tests.win_tie_loss(scores.values, alpha, shares if corrected else None)

    def test_share(self, dataset: str, level: float | None = None) -> float:
        """Return the number of test rows for one training row, on average over the runs."""
        level = self._level(level)
        shares = [
            record["n_test"] / record["n_train"]
            for record in self.records
            if (record["dataset"], record["level"]) == (dataset, level)
        ]
        return _mean_of(shares)

    # --- rankings ---

    def tops(
        self, dataset: str, method: str, size: int | None = None, level: float | None = None
    ) -> dict[int, NDArray[np.int64]]:
        """Return the best features of each run, the best first.

        Parameters
        ----------
        dataset, method : str
        size : int, default=None
            How many; None is as many as are judged. A record keeps 50 at least.
        level : float, default=None
            Of a sweep; None is its first one.

        Returns
        -------
        dict
            The number of a run -> features; all of them where there are fewer.
        """
        one_of("dataset", dataset, self.datasets)
        one_of("method", method, self.methods)
        size, most = self.protocol.n_top if size is None else size, most_kept(self.protocol)
        if not 1 <= size <= most:
            raise ValueError(f"size must be from 1 to {most}, which records keep: got {size}.")
        level, found = self._level(level), {}
        for run in range(self.protocol.n_runs):
            record = self._by_key.get(RunKey(dataset, method, run, level))
            if record is not None and record["status"] == "done":
                found[run] = np.array(record["top"][:size], dtype=np.int64)
        return found

    def stability(self, size: int | None = None, level: float | None = None) -> NDArray[np.float64]:
        """Return how alike the selections of different runs are (Nogueira et al. 2018).

        Parameters
        ----------
        size, level
            As for `tops`.

        Returns
        -------
        float array of shape (n_datasets, n_methods)
            1 where they are the same, about 0 where they agree by chance alone.
        """

        def alike(dataset: str, method: str, n_features: int) -> float:
            return nogueira([*self.tops(dataset, method, size, level).values()], n_features).value

        return self._each_cell(alike)

    def agreement(self, level: float, size: int | None = None) -> NDArray[np.float64]:
        """Return how alike the selections at a level are to those at the first level, run by run.

        Returns
        -------
        float array of shape (n_datasets, n_methods)
            Mean of Kuncheva's index.
        """

        def alike(dataset: str, method: str, n_features: int) -> float:
            before, after = (self.tops(dataset, method, size, at) for at in (None, level))
            runs = sorted(before.keys() & after.keys())
            return _mean_of([kuncheva(before[i], after[i], n_features) for i in runs])

        return self._each_cell(alike)

    def _each_cell(self, value: Callable[[str, str, int], float]) -> NDArray[np.float64]:
        features = {name: facts["n_features"] for name, facts in self.about["datasets"].items()}
        return np.array(
            [
                [value(dataset, method, features[dataset]) for method in self.methods]
                for dataset in self.datasets
            ]
        )

    def similarity(self, size: int | None = None) -> NDArray[np.float64]:
        """Return how alike the rankings of two methods are, over data sets and runs.

        At the first level of a sweep.

        Returns
        -------
        float array of shape (n_methods, n_methods)
            Mean overlap of the best 1, 2, ... features, from 0 to 1.
        """
        tops = [
            {
                (dataset, run): top
                for dataset in self.datasets
                for run, top in self.tops(dataset, method, size).items()
            }
            for method in self.methods
        ]
        found = np.empty((len(tops), len(tops)))
        for i, j in combinations_with_replacement(range(len(tops)), 2):
            runs = sorted(tops[i].keys() & tops[j].keys())
            pairs = [(tops[i][run], tops[j][run]) for run in runs]
            overlaps = [rank_overlap(*pair, len(pair[0])) for pair in pairs]
            found[i, j] = found[j, i] = _mean_of(overlaps)
        return found

    # --- pictures and pages ---

    def plot_critical_difference(
        self, ax: "Axes | None" = None, *, alpha: float = 0.05, **choice: Any
    ) -> "Axes":
        """Draw the mean ranks with the critical difference (Demsar 2006)."""
        return comparison.plot_critical_difference(self, ax, alpha=alpha, **choice)

    def plot_curves(
        self,
        dataset: str,
        ax: "Axes | None" = None,
        *,
        methods: Sequence[str] | None = None,
        bands: bool | None = None,
        **choice: Any,
    ) -> "Axes":
        """Draw the figures of a data set against the number of features.

        `bands` shades 95 % t intervals over runs; None does so for up to five methods.
        """
        return comparison.plot_curves(self, dataset, ax, methods=methods, bands=bands, **choice)

    def plot_boxes(
        self,
        dataset: str,
        ax: "Axes | None" = None,
        *,
        methods: Sequence[str] | None = None,
        **choice: Any,
    ) -> "Axes":
        """Draw the spread of the figures of a data set over runs."""
        return comparison.plot_boxes(self, dataset, ax, methods=methods, **choice)

    def plot_stability(self, ax: "Axes | None" = None, **choice: Any) -> "Axes":
        """Draw mean figures against the stability of the selection."""
        return comparison.plot_stability(self, ax, **choice)

    def plot_time(self, ax: "Axes | None" = None, **choice: Any) -> "Axes":
        """Draw mean figures against the seconds of a ranking."""
        return comparison.plot_time(self, ax, **choice)

    def plot_similarity(self, ax: "Axes | None" = None, *, size: int | None = None) -> "Axes":
        """Draw how alike the rankings of two methods are."""
        return comparison.plot_similarity(self, ax, size=size)

    def plot_sweep(
        self,
        ax: "Axes | None" = None,
        *,
        measure: str = "figure",
        dataset: str | None = None,
        methods: Sequence[str] | None = None,
        **choice: Any,
    ) -> "Axes":
        """Draw figures, stability or agreement from level to level of a sweep."""
        return comparison.plot_sweep(
            self, ax, measure=measure, dataset=dataset, methods=methods, **choice
        )

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
        """Write a report: one HTML file with tables, tests and pictures."""
        return comparison.write_comparison(self, path, title=title)

    def write_figures(self, folder: str | os.PathLike[str], form: str = "svg") -> list[Path]:
        """Save every picture in a folder, as ``"svg"`` or ``"pdf"``."""
        return comparison.write_figures(self, folder, form)

    def write_summary(self, folder: str | os.PathLike[str]) -> Path:
        """Write a short page in Markdown with its pictures into a folder."""
        return comparison.write_summary(self, folder)

    def to_markdown(self, **choice: Any) -> str:
        """Return the main table in Markdown."""
        return comparison.to_markdown(self, **choice)

    def to_latex(self, **choice: Any) -> str:
        """Return the main table in LaTeX."""
        return comparison.to_latex(self, **choice)


def one_of(name: str, value: str | None, known: Sequence[str]) -> str:
    """Return a value that must be known, the first known one for None."""
    if value is None:
        return known[0]
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}: got {value!r}.")
    return value


def _mean_of(values: list[float]) -> float:
    """Return the mean; NaN of none."""
    return float(np.mean(values)) if values else np.nan


def _encodable(name: str) -> str:
    r"""Return a name that UTF-8 holds, as a data frame needs it.

    Names of files may have halves of characters.

    Examples
    --------
    >>> _encodable("colon"), _encodable("colon" + chr(0xD800))
    ('colon', 'colon\\ud800')
    """
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
