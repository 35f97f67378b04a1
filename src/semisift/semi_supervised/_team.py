"""A committee in training, and the classifiers that are one.

The votes of each member on every row are kept beside their sum, so that "all members but this one"
is a subtraction; a member that is trained again changes the sum by the difference. Votes are whole
numbers, so the sums are exact, in whatever order they were made.
"""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from semisift.base._training_data import TrainingData
from semisift.committee._blocks import Bags, EnsembleContext
from semisift.committee._bootstrap import Int32s
from semisift.committee._members import Predictors, TreePredictors, build_context
from semisift.committee._votes import CommitteeVerdict, decide
from semisift.parallel import Committee, features_to_draw
from semisift.semi_supervised._base import CoTrainedClassifier, Labelling, Stop
from semisift.utils._columns import blocks
from semisift.utils._random import unmask
from semisift.utils._sklearn_compat import Interval, RealNotInt, StrOptions, at_least, fit_context
from semisift.utils._typing import Bools, Floats, Ints

# How many features are drawn.
NUMBER_OR_SHARE: list[Any] = [at_least(1), Interval(RealNotInt, 0, 1, closed="right")]
MAX_FEATURES: list[Any] = [StrOptions({"sqrt"}), *NUMBER_OR_SHARE]


class Team:
    """A committee in training.

    Parameters
    ----------
    committee : Committee
    context : EnsembleContext
    data : TrainingData
    probability : bool
        Members vote with class shares instead of one vote for a class.
    bootstrap : bool
        Members start on a bootstrap of the labelled rows instead of on all of them.

    Attributes
    ----------
    bags, first_bags : Bags
        What each member was last trained on, and at first.
    out_of_bag : boolean array of shape (n_members, n_labelled)
        Which labelled rows were not in a member's bootstrap.
    members, first_members : Predictors
        As they are, and as they began.
    own : int32 array of shape (n_members, n_rows, n_classes)
        The votes of each member.
    total : int64 array of shape (n_rows, n_classes)
        Their sum.
    """

    def __init__(
        self,
        committee: Committee,
        context: EnsembleContext,
        data: TrainingData,
        *,
        probability: bool,
        bootstrap: bool = True,
    ) -> None:
        self.data = data
        self.labels = data.labels
        self._committee, self._context, self._probability = committee, context, probability
        context.prepare(committee)
        n_members = committee.n_members
        subspaces, counts, out_of_bag = context.new_block(0, n_members).sample(context)
        self.out_of_bag = unmask(out_of_bag, data.n_rows)[:, self.labels.labelled]
        if not bootstrap:
            counts = np.ones_like(counts)
            self.out_of_bag = np.zeros_like(self.out_of_bag)
        none = np.empty((n_members, 0), dtype=np.int32)
        self.first_bags = self.bags = Bags(counts, none, none, subspaces=subspaces)
        self.members, self.own = self._fit(self.bags)
        self.first_members = self.members
        self.total = self.own.sum(axis=0, dtype=np.int64)
        self.first_round = np.where(self.labels.codes < 0, -1, 0)

    def __len__(self) -> int:
        return self._committee.n_members

    def train(self, bags: Bags, chosen: Bools, n_round: int) -> None:
        """Train some members on new bags; the others keep theirs."""
        of_chosen = bags._replace(
            counts=np.where(chosen[:, None], bags.counts, np.int32(0)),
            rows=np.where(chosen[:, None], bags.rows, np.int32(-1)),
        )
        fresh, votes = self._fit(of_chosen)
        both = type(fresh).join([self.members, fresh])
        self.members = both.take(np.arange(len(chosen)) + len(chosen) * chosen)
        self.total += (votes[chosen] - self.own[chosen]).sum(axis=0, dtype=np.int64)
        self.own[chosen] = votes[chosen]
        self.bags = bags
        added = bags.rows[chosen]
        added = np.unique(added[added >= 0])
        self.first_round[added[self.first_round[added] < 0]] = n_round

    def companions(
        self, members: NDArray[np.intp]
    ) -> Iterator[tuple[NDArray[np.intp], CommitteeVerdict]]:
        """Yield some members at a time, with what all but each think of the unlabelled rows."""
        rows = self.labels.unlabelled
        for part in blocks(len(members), max(1, len(rows)) * self.labels.n_classes):
            yield members[part], decide(self.total[rows] - self.own[members[part]][:, rows])

    def labelling(self, n_iter: int, stop: Stop) -> Labelling:
        """Return what the members were given: the label that most of them have for a row."""
        is_used = self.bags.rows >= 0
        votes = np.zeros((self.data.n_rows, self.labels.n_classes), dtype=np.int64)
        np.add.at(votes, (self.bags.rows[is_used], self.bags.labels[is_used]), 1)
        codes = np.where(votes.any(axis=1), votes.argmax(axis=1), self.labels.codes)
        iterations = np.where(codes < 0, -1, self.first_round)
        return Labelling(codes, iterations, n_iter, stop)

    def bags_with(
        self, chosen: Bools, rows: Int32s, labels: Int32s, weights: Floats | None = None
    ) -> Bags:
        """Return the bags after some members got all labelled rows and new ones, but no others."""
        old = self.bags
        old_weights = np.ones(old.rows.shape) if old.weights is None else old.weights
        return old._replace(
            counts=np.where(chosen[:, None], np.int32(1), old.counts),
            rows=_mix(chosen, rows, old.rows, -1),
            labels=_mix(chosen, labels, old.labels, -1),
            weights=None if weights is None else _mix(chosen, weights, old_weights, 1),
        )

    def _fit(self, bags: Bags) -> tuple[Any, Int32s]:
        jobs = [(start, bags.part(start, stop)) for start, stop in self._committee.ranges()]
        shared = self._context, self._probability
        fitted, votes = zip(*self._committee.map(fit_and_vote, jobs, *shared), strict=True)
        return type(fitted[0]).join(fitted), np.concatenate(votes)


def fit_and_vote(
    job: tuple[int, Bags], context: EnsembleContext, probability: bool
) -> tuple[Predictors, Int32s]:
    """Fit a range of members and let each vote on all rows."""
    members = context.predictors.fit(context, *job)
    return members, members.vote_each(for_members(members, context.table), probability)


def for_members(members: Predictors, X: Any) -> Any:
    """Return X as members read it: trees by column, estimators sparse rows by row."""
    return X if isinstance(members, TreePredictors) or not issparse(X) else X.tocsr()


def _mix(chosen: Bools, new: NDArray[Any], old: NDArray[Any], fill: int) -> NDArray[Any]:
    """Return the rows of `new` where chosen, else of `old`, filled up to one width."""
    mixed = np.full((len(old), max(new.shape[1], old.shape[1])), fill, dtype=new.dtype)
    mixed[chosen, : new.shape[1]] = new[chosen]
    mixed[~chosen, : old.shape[1]] = old[~chosen]
    return mixed


class CommitteeClassifier(CoTrainedClassifier):
    """Base class of the classifiers that are a committee; they implement `_rounds`."""

    allow_nan = True
    is_forest: ClassVar[bool] = False  # draws features at every node, instead of for each member

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CoTrainedClassifier._parameter_constraints,
        "max_depth": [None, at_least(1)],
        "voting": [StrOptions({"hard", "soft"})],
        "max_iter": [at_least(1)],
    }

    max_depth: int | None = None
    max_iter: int
    voting: Literal["hard", "soft"] = "soft"
    n_members: int
    max_features: int | float | Literal["sqrt"]

    # Parameters of a wrapped estimator are the user's and still have to be validated.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, *, groups: Any = None) -> Self:
        """Label the rows that can be labelled, and learn from them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            All rows, labelled and unlabelled.
        y : array-like of shape (n_samples,)
            Labels; -1, None and NaN, also as text, mark unlabelled rows (`UnlabelledTextWarning`).
        groups : array-like of shape (n_samples,), default=None
            Which rows belong together, as those of a donor: they are drawn into bootstraps
            together.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        return self._fit(X, y, self._build_data(X, y, groups=groups))

    @abstractmethod
    def _rounds(self, team: Team) -> Iterator[Stop]:
        """Train members round by round; yield "max_iter", or after the last round why it was that.

        Where nothing changes any more, end.
        """

    def _n_tasks(self, data: TrainingData) -> int:
        return self.max_iter

    def _co_train(self, data: TrainingData) -> Labelling:
        n_drawn = features_to_draw(self.max_features, data.n_features)
        # an estimator that gets all features gets them in their own order
        gets_all = self.estimator is not None and n_drawn == data.n_features
        context = build_context(
            data,
            n_drawn,
            estimator=self.estimator,
            widest_gap=True,
            max_depth=self.max_depth,
            large_bags=True,
            draws_at_nodes=self.is_forest or gets_all,
        )
        n_iter = 0
        stop: Stop = "max_iter"
        with Committee(self.n_members, self.n_jobs) as committee:
            team = Team(committee, context, data, **self._team_options())
            rounds = self._rounds(team)
            for _ in self._progress(range(self.max_iter), "round"):
                if stop == "max_iter":  # else to the end of the bar
                    n_iter, stop = n_iter + 1, next(rounds, "no_change")
        self._keep(team)
        return team.labelling(n_iter, stop)

    def _team_options(self) -> dict[str, bool]:
        """Return the options of the team: how its members vote and what they start on."""
        return {"probability": self.voting == "soft"}

    def _keep(self, team: Team) -> None:
        self._first_members, self._members = team.first_members, team.members

    def member_predictions(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row by each member, for accuracies and diversity.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_members, n_samples)
        """
        X = for_members(self._members, self._clean(X))
        votes = self._members.vote_each(X, False)
        return np.asarray(self.classes_[votes.argmax(axis=2)])

    def _vote(self, X: Any) -> Floats:
        X = for_members(self._members, X)
        return np.asarray(self._members.vote(X, self.voting == "soft"), dtype=np.float64)

    def _votes_and_choices(self, members: Any, X: Any) -> tuple[NDArray[np.floating], Ints]:
        X = for_members(members, X)
        choices = members.vote_each(X, False).argmax(axis=2)
        return members.vote(X, self.voting == "soft"), choices


def pad_rows(chosen: Bools, rows: Int32s, *values: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """List the chosen rows of each member, -1 behind them, and the values that belong to them.

    Parameters
    ----------
    chosen : boolean array of shape (n_members, n_rows)
    rows : int32 array of shape (n_rows,)
    *values : arrays of shape (n_members, n_rows)

    Returns
    -------
    tuple of arrays of shape (n_members, largest number of chosen rows)

    Examples
    --------
    >>> import numpy as np
    >>> chosen = np.array([[False, True, True], [True, False, False]])
    >>> pad_rows(chosen, np.array([4, 6, 9], dtype=np.int32))
    (array([[ 6,  9],
           [ 4, -1]], dtype=int32),)
    """
    width = chosen.sum(axis=1).max(initial=0)
    place = np.argsort(~chosen, axis=1, kind="stable")[:, :width]
    picked = np.where(np.take_along_axis(chosen, place, axis=1), rows[place], np.int32(-1))
    return picked, *(np.take_along_axis(value, place, axis=1) for value in values)
