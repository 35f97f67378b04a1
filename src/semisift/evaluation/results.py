"""Results: the records of a comparison, and what they say."""

from collections.abc import Callable, Collection
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semisift._words import count, quoted, shorten, visible
from semisift.evaluation import pairwise, statistics, wins
from semisift.evaluation.records import Records, mean_of, one_of
from semisift.evaluation.runs import LONGEST_NAME, RunKey, doubt, most_kept
from semisift.evaluation.scores import Scores, long_frame, wide_frame
from semisift.math import stability

if TYPE_CHECKING:
    import polars


MOST_SHOWN = 20


class ComparisonResults(Records):
    """The records of a comparison, and what they say; `Results` can show it, too."""

    def __repr__(self) -> str:
        judge, metric = self.protocol.judges[0], self.protocol.metrics[0]
        lines = [
            f"Results: {count(len(self.methods), 'method')} on "
            f"{count(len(self.datasets), 'data set')}, {count(self.protocol.n_runs, 'run')} each",
            f"Mean {metric} of the judge {visible(judge)}:",
        ]
        means = self.means()
        names = [shorten(visible(name), LONGEST_NAME) for name in self.methods]
        width = max(map(len, names))
        order = np.argsort([-mean for mean, _ in means.values()], kind="stable")  # NaN comes last
        for j in order[:MOST_SHOWN]:
            mean, n_sets = means[self.methods[j]]
            on = "" if n_sets == len(self.datasets) else f" (on {n_sets} of {len(self.datasets)})"
            lines.append(f"  {names[j]:<{width}}  {mean:.4f}{on}" if n_sets else f"  {names[j]}")
        if len(order) > MOST_SHOWN:
            lines.append(f"  ... and {len(order) - MOST_SHOWN} more")
        gaps = {"missing": self.n_missing, "failed": len(self.failures)}
        lines += [f"{count(n, 'record')} {word}" for word, n in gaps.items() if n]
        return "\n".join([*lines, *filter(None, [doubt(self.n_judging)])])

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
        return long_frame(self.records, self.protocol.sizes)

    def table(self, **choice: Any) -> "polars.DataFrame":
        """Return the mean of each method on each data set; `choice` is as for `scores`."""
        return wide_frame(self.scores(**choice))

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
                    f"data set {quoted(dataset)}, run {run}: methods were given different splits, "
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
            sets = count(n_sets, "such data set") if n_sets else "none"
            return (
                "Ranks are tested over data sets, of which it takes at least two on which every "
                f"method has all its runs; there is {sets}."
            )
        problem = self.unpaired(found.datasets)
        return f"There are no ranks and no tests: {problem}" if problem else ""

    def mean_ranks(self, **choice: Any) -> dict[str, float]:
        """Return the mean rank of each method over the data sets that are complete."""
        scores = self.complete(**choice)
        ranks = statistics.ranks(scores.means).mean(axis=0)
        return dict(zip(scores.methods, ranks.tolist(), strict=True))

    def friedman(self, **choice: Any) -> statistics.Friedman:
        """Test whether all methods are equally good, over the data sets that are complete."""
        return statistics.friedman(self.complete(**choice).means)

    def nemenyi(self, alpha: float = 0.05, **choice: Any) -> statistics.Nemenyi:
        """Tell which methods differ, by the critical difference of their mean ranks."""
        return statistics.nemenyi(self.complete(**choice).means, alpha)

    def wilcoxon(self, first: str, second: str, **choice: Any) -> pairwise.Wilcoxon:
        """Compare two methods over the data sets on which both are complete."""
        for method in (first, second):
            one_of("method", method, self.methods)
        return pairwise.wilcoxon(*self.complete([first, second], **choice).means.T)

    def pairwise_wilcoxon(self, **choice: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return p-values of `wilcoxon` for each pair of methods, plain and adjusted (Holm).

        The methods and data sets are those of ``complete(**choice)``.
        """
        return pairwise.pairwise_wilcoxon(self.complete(**choice).means)

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
        return wins.win_tie_loss(scores.values, alpha, shares if corrected else None)

    def test_share(self, dataset: str, level: float | None = None) -> float:
        """Return the number of test rows for one training row, on average over the runs."""
        level = self._level(level)
        shares = [
            record["n_test"] / record["n_train"]
            for record in self.records
            if (record["dataset"], record["level"]) == (dataset, level)
        ]
        return mean_of(shares)

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
            tops = list(self.tops(dataset, method, size, level).values())
            return stability.nogueira(tops, n_features).value if len(tops) > 1 else np.nan

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
            return mean_of([stability.kuncheva(before[i], after[i], n_features) for i in runs])

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
            overlaps = [stability.rank_overlap(*pair, len(pair[0])) for pair in pairs]
            found[i, j] = found[j, i] = mean_of(overlaps)
        return found
