"""Score other problems as a ranker does, and the tests that stand on such scores."""

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone

from semisift.base._training_data import TrainingData
from semisift.parallel import Workers
from semisift.selection._resampling import half_of_rows, take_rows
from semisift.transduction._components import make_components
from semisift.utils._labels import UNLABELLED, Labels
from semisift.utils._redundancy import put_copies_last
from semisift.utils._warnings import quiet

if TYPE_CHECKING:
    from semisift.base._ranker import FeatureRanker

# At most this chance to confirm any useless column: in 200 trials with nothing but noise a level of
# .025 stays below 5 % nearly always, where one of .05 would exceed it every other time.
ALPHA = 0.025

# Above this p-value a ranking is not told from that of shuffled labels.
SIGNIFICANT = 0.05

# What is said of the error wherever that chance is bounded.
ERROR = "the chance to confirm any useless feature is at most .025"

# Repetitions: fewer than the least cannot reach ALPHA.
LEAST = 39
MOST = 100

# Labellings that tell nothing where nobody says how many: 100 fits with that to the real labels.
N_LABELLINGS = 99

# On a half of the rows near-copies are looked for until so many columns are kept, or as many as are
# the best ones: for 20 halves of chowdary (52 x 22,283) that takes 0.2 s, where 400 take 1.4 s.
KEPT_ON_HALVES = 200

# Repetitions on threads take about as much memory as X each, and no more than this together.
MOST_BYTES = 1 << 31

# Separates the draws of labels that tell nothing from all others.
LABEL_STREAM = 0x6C6162


class Scorer:
    """Scores problems with the parameters of a ranker, which it leaves as it is.

    Warnings are left out: those that matter came up when the ranker itself was fitted.

    Parameters
    ----------
    ranker : FeatureRanker
        Fitted.
    light : bool, default=False
        Score with smaller committees.
    """

    def __init__(self, ranker: "FeatureRanker", *, light: bool = False) -> None:
        self.ranker: Any = ranker._lighter(ranker.n_features_in_) if light else clone(ranker)
        changed = {"redundancy_threshold": None, "warm_start": False}
        known = self.ranker.get_params(deep=False)
        self.ranker.set_params(**{name: v for name, v in changed.items() if name in known})
        self.n_features = ranker.n_features_in_
        self.n_jobs = known.get("n_jobs")
        self.features = ranker._features
        self.threshold = getattr(ranker, "redundancy_threshold_", None)
        self.copies_of_kept_only = ranker._copies_of_kept_only
        self.mask = getattr(known.get("estimator"), "categorical", None)
        # a matrix of all rows, unless the graph is made from the columns
        graph = known.get("graph", "")
        is_made = isinstance(graph, str) or hasattr(graph, "fit_transform")
        self.graph = None if is_made else graph.tocsr() if issparse(graph) else np.asarray(graph)

    def learns_from_labels(self, problem: TrainingData) -> bool:
        """Return whether there are labels or pairs that the ranker makes use of."""
        has_labels = len(problem.labels.labelled) > 0 or bool(problem.given_pairs)
        return self.ranker.labels_needed != "none" and has_labels

    def scores(self, problem: TrainingData) -> NDArray[np.float64]:
        """Return the score of each column; minus infinity where there is none."""
        self._fit(problem)
        return _without_nan(self.ranker.scores_)

    def rankings_on_halves(
        self, problem: TrainingData, seeds: Iterable[int], n_best: int | None = None
    ) -> Iterator[NDArray[Any]]:
        """Yield the rank of each column by score, 1 is best, on half of the rows for each seed.

        If `n_best` is given, what is known of the columns counts and near-copies of each half are
        put last, as the ranker does; groups of columns are then ranked as one. Near-copies are
        those of the half: which of several alike columns stands for the others is a matter of the
        rows as well.
        """
        return parallel_map(rank_half, seeds, problem, self, n_best, n_jobs=self.n_jobs)

    def fresh(self) -> "Scorer":
        """Return a scorer for one repetition, beside which others may be at work."""
        other = copy(self)
        other.ranker = clone(self.ranker)
        if hasattr(self.ranker, "graph"):  # by which problems know what they have made of it
            other.ranker.graph = self.ranker.graph
        return other

    def comparable(self, problem: TrainingData) -> NDArray[np.float64] | None:
        """Return scores that can be compared between fits, of shape (n_parts, p), or None."""
        self._fit(problem)
        return self.comparable_of(self.ranker)

    @staticmethod
    def comparable_of(ranker: "FeatureRanker") -> NDArray[np.float64] | None:
        """Return the scores of a fitted ranker that can be compared with those of other fits.

        They have the shape (n_parts, p): one row, or one for each ranker of a consensus. None where
        there are none.
        """
        scores = ranker._comparable_scores()
        return None if scores is None else np.atleast_2d(_without_nan(scores))

    def _fit(self, problem: TrainingData) -> None:
        if self.mask is not None and not isinstance(self.mask, str):
            copies = problem.n_features // self.n_features
            self.ranker.estimator.set_params(categorical=np.tile(self.mask, copies))
        with quiet():
            problem = self.ranker._find_rest(problem)
            self.ranker._set_scores(problem, self.ranker._score(problem))


def parallel_map(
    task: Callable[..., Any],
    items: Iterable[Any],
    problem: TrainingData,
    *shared: Any,
    n_jobs: int | None,
) -> Iterator[Any]:
    """Yield ``task(item, problem, *shared)`` of every item, in their order, wherever it is done.

    Parameters
    ----------
    task : callable
        A function of a module.
    items : iterable
        Asked for the next one when somebody can do it.
    problem : TrainingData
    *shared : objects
        Left as they are by the tasks.
    n_jobs : int or None
        That of the ranker. Not all threads are used where so many repetitions at once would take
        much memory.

    Yields
    ------
    object
    """
    most = MOST_BYTES // max(1, problem.X.data.nbytes)
    with Workers(n_jobs, most) as workers:
        sent = problem.lean() if workers.is_cluster else problem
        yield from workers.map(task, iter(items), sent, *shared)


def rank_half(seed: int, problem: TrainingData, scorer: Scorer, n_best: int | None) -> NDArray[Any]:
    """Rank half of the rows; see `Scorer.rankings_on_halves`."""
    scorer = scorer.fresh()
    if scorer.ranker._labeller() is not None:  # halves have their part of what was made of all rows
        make_components(problem)
    rows = half_of_rows(problem, seed)
    if scorer.graph is not None:
        scorer.ranker.graph = scorer.graph[rows][:, rows]
    return _rank(take_rows(problem, rows, seed), scorer, n_best)


def rank_labelled(
    hand: tuple[NDArray[np.integer], int], problem: TrainingData, scorer: Scorer, n_best: int
) -> NDArray[Any]:
    """Rank all rows, of which some keep their labels, as `rank_half` ranks a half.

    Parameters
    ----------
    hand : (int array, int)
        The rows that keep their labels, and a seed.
    problem : TrainingData
    scorer : Scorer
    n_best : int

    Returns
    -------
    int array of shape (p,)
    """
    rows, seed = hand
    codes = np.full_like(problem.labels.codes, UNLABELLED)
    codes[rows] = problem.labels.codes[rows]
    labels = Labels(codes, problem.labels.classes)
    return _rank(problem.with_labels(labels, problem.given_pairs, seed), scorer.fresh(), n_best)


def _rank(problem: TrainingData, scorer: Scorer, n_best: int | None) -> NDArray[Any]:
    """Rank the rows of a problem with a scorer of its own."""
    ranker = scorer.ranker
    known = None if n_best is None else scorer.features
    ranker.__dict__["_features"] = known
    scorer._fit(problem)
    ranking = np.asarray(ranker.ranking_)
    if n_best is not None and scorer.threshold is not None:
        put_last: Any = put_copies_last if known is None else known.put_copies_last
        threshold = None if scorer.copies_of_kept_only else scorer.threshold
        scored = ~np.isnan(ranker.scores_)
        ranking, _ = put_last(problem.X, ranking, scored, threshold, n_best, KEPT_ON_HALVES)
    return ranking if known is None else known.places(ranking)


def _without_nan(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    return np.where(np.isnan(scores), -np.inf, scores)


class MaxStatisticTest:
    """For each column, in how many repetitions the best of its rivals reached it.

    If a column is useless, it and the best of all its rivals are alike, so that the share of
    repetitions in which the best reaches it is a p-value, corrected for the number of columns.

    Parameters
    ----------
    n_columns : int
    """

    def __init__(self, n_columns: int) -> None:
        self.reached = np.zeros(n_columns, dtype=np.int64)
        self.best: list[float] = []

    def add(self, scores: NDArray[np.float64], rivals: NDArray[np.float64]) -> None:
        """Note the scores of the columns and of all their rivals in one repetition."""
        best = float(rivals.max())
        self.reached += ~(scores > best)
        self.best.append(best)

    @property
    def n(self) -> int:
        """Number of repetitions."""
        return len(self.best)

    @property
    def hits(self) -> NDArray[np.int64]:
        """In how many repetitions each column was better than all rivals."""
        return self.n - self.reached

    @property
    def p_values(self) -> NDArray[np.float64]:
        """The p-value of each column."""
        return np.asarray((1 + self.reached) / (1 + self.n))

    @property
    def passed(self) -> NDArray[np.bool_]:
        """Which columns are better than what useless ones reach."""
        return np.asarray(self.p_values <= ALPHA + 1e-12)

    def is_over(self) -> bool:
        """Return whether no further repetition can change which columns pass."""
        allowed = int(ALPHA * (MOST + 1) + 1e-12) - 1
        hopeless = (self.reached > allowed) & (self.n >= LEAST)
        safe = self.reached + MOST - self.n <= allowed
        return bool((hopeless | safe).all())


def seeds_of(steps: Iterator[int], n: int, seed: int, stream: int) -> Iterator[int]:
    """Yield the seeds of at most n repetitions, each for one of the steps."""
    for number, _ in enumerate(islice(steps, n)):
        yield seed_of(seed, stream, number)


def seed_of(seed: int, stream: int, number: int) -> int:
    """Return the seed of one repetition."""
    state = np.random.SeedSequence([seed, stream, number]).generate_state(1, np.uint64)
    return int(state[0] >> np.uint64(1))
