"""LearningMixin: the part of a ranker that tells what more labels would bring."""

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from semisift._checks import check_flag, check_whole
from semisift._sklearn import fit_context

if TYPE_CHECKING:
    from semisift.outcome.curve import LearningCurve


class LearningMixin:
    """The part of a ranker that tells what more labels would bring."""

    # fit_context tears the callbacks down.
    @fit_context(prefer_skip_nested_validation=True)
    def learning_curve(
        self: Any,
        X: Any,
        y: Any = None,
        n_more: int = 10,
        *,
        n_best: int | None = None,
        light: bool = True,
        random_state: int | None = None,
        **of_rows: Any,
    ) -> "LearningCurve":
        """Tell how much more stable the best features would be with more labels.

        The labels at hand are dealt out into hands that share none of them, at several sizes up to
        half of the labels, and all rows are ranked with the labels of each hand alone. How alike
        the best features of two hands are is what other labels of that size would bring. A curve
        through these leads to the present number of labels, and to `n_more` further ones of the
        classes and, with `groups`, of groups such as those at hand. The interval is to hold the
        stability in 80 % of cases; docs/results/learning-curve.md tells what it does hold, and
        that the rise is mostly overrated where labels tell little.

        This is about the labels: the rows stay the same. The stability of `assess` is another one,
        between halves of all rows that have labels in common.

        Parameters
        ----------
        X, y : array-like
            The rows and labels of the fit. The ranker does not keep them.
        n_more : int, default=10
            How many more labels.
        n_best : int, default=None
            How many columns are the best ones; None is as many as in the assessment or, where there
            is none, as the ranker selects. If it was not told how many, 20, but no more than half
            of those that are no near-copies.
        light : bool, default=True
            Rank with smaller committees: a tenth of the members of `SSFI`, and a twentieth of those
            of other methods. Smaller committees agree less than those of the fit.
        random_state : int, default=None
            Seed of the draws; None is that of the ranker.
        **of_rows : array-like
            `groups`, `batch`, `sample_weight`, `must_link` and `cannot_link` of the fit, where the
            method takes them. Given pairs count in every ranking.

        Returns
        -------
        LearningCurve
            Without a stability, but with words that say why, where a class has fewer than four
            labelled rows, or groups with such.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from semisift import FisherScore
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> few_labels = y.where(y.groupby(y).cumcount() < 8, -1)
        >>> ranker = FisherScore(n_features_to_select=3).fit(X, few_labels)
        >>> curve = ranker.learning_curve(X, few_labels)
        >>> curve.sizes.tolist()
        [12.0, 6.0, 3.0]
        >>> curve.now < curve.then
        True
        """
        check_is_fitted(self)
        check_whole(n_more, "n_more")
        check_flag(light, "light")
        self._check_repetition(n_best, random_state)
        problem = self._build_to_repeat(X, y, "learning_curve", "curve", of_rows)
        from semisift.outcome.curve import draw_curve
        from semisift.outcome.hands import deal_labels

        seed = problem.seed if random_state is None else random_state
        deals = deal_labels(problem, seed) if self.labels_needed != "none" else []
        n_steps = sum(len(deal.hands) for deal in deals)
        with self._watched(X, y, n_steps, "learning_curve"):
            return draw_curve(
                self,
                problem,
                deals,
                self._progress(range(n_steps), "repetition"),
                n_more=int(n_more),
                n_best=n_best,
                seed=seed,
                light=light,
            )
