"""Forward search: add the best column, again and again, for one or several samples in step."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from semisift.wrappers._judges import Columns, Judge
from semisift.wrappers._trials import Verdict

# Accuracies and confidences that differ by less are equal: rounding is no reason to prefer one.
SAME_ACCURACY = 1e-9
SAME_CONFIDENCE = 1e-8

# Separates the draw that orders ties among the picks from the one that orders ties of scores.
PICK_STREAM = 0x7069


class Search:
    """Forward searches side by side, one for each sample of the judge's trials.

    Parameters
    ----------
    judge : Judge
    candidates : bool array of shape (p,)
        Which columns may be picked.
    seed : int
        Decides between columns that are equal in all else.
    tie_break : {"default", "index"}
        Between columns of equal accuracy: the confidence, the mutual information with the classes
        and chance; or the first column.
    picks : sequence of int
        What every sample starts from.
    """

    def __init__(
        self,
        judge: Judge,
        candidates: NDArray[np.bool_],
        seed: int,
        tie_break: Literal["default", "index"] = "default",
        picks: list[int] | tuple[int, ...] = (),
    ) -> None:
        self.judge = judge
        self.columns = np.flatnonzero(candidates)
        self.tie_break = tie_break
        n_samples = len(judge.trials.samples)
        self.picks: Columns = np.tile(np.array(picks, dtype=np.int64), (n_samples, 1))
        self.chance = np.random.default_rng([seed, PICK_STREAM]).permutation(len(candidates))

    def step(self) -> Verdict:
        """Pick one more column for each sample; return how all columns were judged."""
        sure = self.picks.shape[1] == 0 or (self.tie_break == "default" and self.judge.sure_at_once)
        verdict = self.judge.judge(self.picks, self.columns, sure)
        accuracy = verdict.accuracy.copy()
        for own, picks in zip(accuracy, self.picks, strict=True):
            own[np.searchsorted(self.columns, picks)] = -np.inf
        if self.tie_break == "index":
            chosen = accuracy.argmax(axis=1)
        else:
            chosen = self._break_ties(accuracy, verdict.confidence)
        self.picks = np.column_stack([self.picks, self.columns[chosen]])
        return verdict

    def _break_ties(
        self, accuracy: NDArray[np.float64], confidence: NDArray[np.float64] | None
    ) -> Columns:
        tied = accuracy >= accuracy.max(axis=1, keepdims=True) - SAME_ACCURACY
        if confidence is None:
            confidence = np.zeros(accuracy.shape)
            places = np.flatnonzero(tied[tied.sum(axis=1) > 1].any(axis=0))
            if len(places):
                again = self.judge.judge(self.picks, self.columns[places], sure=True)
                confidence[:, places] = again.confidence
        chosen = []
        for sample, own in enumerate(tied):
            places = np.flatnonzero(own)
            places = _best(places, confidence[sample, places], SAME_CONFIDENCE)
            if len(places) > 1:
                relevance = self.judge.trials.relevance(sample)[self.columns[places]]
                places = _best(places, relevance, 0.0)
            chosen.append(places[self.chance[self.columns[places]].argmin()])
        return np.array(chosen)


def _best(places: Columns, values: NDArray[np.float64], same: float) -> Columns:
    return places[values >= values.max() - same]


def first_step_order(search: Search, verdict: Verdict) -> NDArray[np.float64]:
    """Return a number for each column that orders them as the first step judged them.

    Parameters
    ----------
    search : Search
        Whose first sample counts.
    verdict : Verdict
        Of the first step, with confidence.

    Returns
    -------
    float array of shape (p,)
        Higher is better; -1 for columns that were no candidates.
    """
    assert verdict.confidence is not None
    keys = np.column_stack(
        [
            np.round(verdict.accuracy[0], 9),
            np.round(verdict.confidence[0], 8),
            search.judge.trials.relevance(0)[search.columns],
        ]
    )
    order = np.full(len(search.chance), -1.0)
    order[search.columns] = np.unique(keys, axis=0, return_inverse=True)[1]
    return order
