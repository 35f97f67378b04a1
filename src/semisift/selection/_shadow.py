"""The shadow rule: a column must beat the best of all shuffled copies, and shuffled labels too.

In each repetition every column gets a shadow, its own values shuffled over all rows, and columns
and shadows are scored together; the neighbour graph stays that of the real columns. A column passes
if the best shadow reaches it in at most ALPHA of the repetitions:

    p_j = (1 + number of repetitions with score_j <= best shadow) / (1 + repetitions) <= .025

which is a test with the maximum of all rivals: the chance to confirm any useless column is at most
.025. Boruta asks whether a column beats the best shadow in more than half of the repetitions, by a
binomial test. With few labels that is not valid: the labels are the same in all repetitions, so
that the luckiest of many useless columns beats the best shadow again and again.

With groups a shadow has the values of whole groups, each those of one other group: a useless column
that differs between groups is then like its shadow, which differs between them as much.

Without labels the shadows count for the neighbour graph as well: on a graph of the real columns
alone any of these, be it noise, is smoother than a shuffled one.

What beats shuffled columns need not have to do with the labels: scores with a neighbour graph
prefer columns with any structure. So what passed must also beat the best of all columns under
labels that tell nothing: the test of `assess`, with the same shuffled labels, so that no column is
significant that `assess` does not confirm as well (with as many labellings, the same seed and whole
committees). Scores that are places in an order (p, p - 1, ...) are
the same numbers under any labels: MRMR and GSFS are judged by the criterion of their first step,
and for forward searches and recursive eliminations this second test is left out.

M. B. Kursa, W. R. Rudnicki (2010). Feature selection with the Boruta package. Journal of
Statistical Software 36(11), for the shadows. P. H. Westfall, S. S. Young (1993). Resampling-based
multiple testing. Wiley, for the test with the maximum.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from semisift.base._decisions import decide
from semisift.base._training_data import TrainingData
from semisift.selection._assessment import Null, null_of, test_labels
from semisift.selection._permutation import plan_permutation
from semisift.selection._refit import (
    ALPHA,
    ERROR,
    MAX,
    N_LABELLINGS,
    MaxStatisticTest,
    Scorer,
    is_significant,
    parallel_map,
    seeds_of,
    with_shadows,
)
from semisift.utils._typing import Floats

if TYPE_CHECKING:
    from semisift.base._ranker import FeatureRanker

SHADOW_STREAM = 0x736861

# Where the test with shuffled labels was not made.
ERROR_WITHOUT_LABELS = (
    "the chance to confirm any feature that is like its shuffled copies is at most .025; whether "
    "the labels matter was not tested"
)


@dataclass(frozen=True, eq=False)
class ShadowCutoff:
    """What the shadow rule measured.

    Attributes
    ----------
    repetitions : int
        How often the columns were scored with new shadows.
    hits : int array of shape (p,)
        In how many of them each column beat the best shadow.
    shadow_maxima : float array of shape (repetitions,)
        Score of the best shadow.
    p_values : float array of shape (p,)
        Against the best shadow.
    label_p_values : float array of shape (p,) or None
        Against the best column under labels that tell nothing. None where no column beat the
        shadows, and for methods without such a test.
    null_score : float
        The score that the best shadow would have among the columns, in the median repetition.
    threshold : float
        The largest p-value that confirms a column.
    null : {"permuted_labels", "permuted_features"}
        What the scores were compared with, besides the shadows.
    error : str
        What is bounded.
    """

    repetitions: int
    hits: NDArray[np.int64]
    shadow_maxima: Floats
    p_values: Floats
    label_p_values: Floats | None
    null_score: float
    null: Null = "permuted_labels"
    threshold: float = ALPHA
    error: str = ERROR
    rule: ClassVar[str] = "shadow"


def decide_by_shadows(
    ranker: "FeatureRanker", data: TrainingData, steps: Iterator[int]
) -> tuple[NDArray[np.str_], ShadowCutoff]:
    """Decide on each column of the training data of a fitted ranker, in a step a repetition."""
    scorer, p, n_better = Scorer(ranker), data.n_features, []
    test, is_supervised = MaxStatisticTest(p), scorer.learns_from_labels(data)
    seeds = seeds_of(steps, MAX, data.seed, SHADOW_STREAM)
    given = data, scorer, not is_supervised
    for scores in parallel_map(score_with_shadows, seeds, *given, n_jobs=scorer.n_jobs):
        test.add(scores[:p], scores[p:])
        n_better.append(np.count_nonzero(scores[:p] > test.best[-1]))
        if test.is_over():
            break
    significant, by_labels = is_significant(test.p_values), None
    observed = scorer.comparable_of(ranker) if is_supervised else None
    if observed is not None and significant.any():
        planned = plan_permutation(data)
        by_labels = test_labels(scorer, planned, steps, N_LABELLINGS, data.seed)
    if by_labels is not None:
        significant = significant & (by_labels.decisions == "significant")
    cutoff = ShadowCutoff(
        repetitions=len(test.best),
        hits=test.hits,
        shadow_maxima=np.array(test.best),
        p_values=test.p_values,
        label_p_values=None if by_labels is None else by_labels.p_values,
        null_score=score_at(ranker.scores_, int(np.median(n_better))),
        null=null_of(scorer.labeller),
        error=ERROR_WITHOUT_LABELS if observed is None else ERROR,
    )
    return decide(significant, 2 * test.hits > len(test.best)), cutoff


def score_with_shadows(seed: int, data: TrainingData, scorer: Scorer, own_graph: bool) -> Floats:
    """Return the scores of the columns, and behind them those of their shadows."""
    return scorer.fresh().scores(with_shadows(data, seed, own_graph=own_graph))


def score_at(scores: Floats, n_better: int) -> float:
    """Return a score that so many columns exceed: shadows are scored among twice the columns.

    Examples
    --------
    >>> score_at(np.array([0.1, np.nan, 0.7, 0.5]), 1)
    0.6
    """
    ordered = np.sort(scores[np.isfinite(scores)])[::-1]
    if not len(ordered):
        return float("nan")
    beside = ordered[max(0, n_better - 1) : n_better + 1]
    return float(beside.mean()) if len(beside) else float(ordered[-1])
