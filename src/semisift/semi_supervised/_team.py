"""A committee in training, and the classifiers that are one.

The votes of each member on every row are kept beside their sum, so that "all members but this one"
is a subtraction; a member that is trained again changes the sum by the difference. Votes are whole
numbers, so the sums are exact, in whatever order they were made.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import field
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from semisift.base._training_data import TrainingData
from semisift.committee._members import EnsembleContext, build_context, prepare_context
from semisift.parallel import Committee, features_to_draw
from semisift.semi_supervised._base import (
    Array,
    CoTrainedClassifier,
    Int32s,
    Ints,
    Labelling,
    Mask,
    Stop,
    When,
)
from semisift.semi_supervised._trained import Bags, fit_and_vote
from semisift.utils._columns import blocks
from semisift.utils._random import unmask
from semisift.utils._sklearn_compat import Interval, RealNotInt, StrOptions, at_least, fit_context

# How many features are drawn.
NUMBER_OR_SHARE: list[Any] = [at_least(1), Interval(RealNotInt, 0, 1, closed="right")]
MAX_FEATURES: list[Any] = [StrOptions({"sqrt"}), *NUMBER_OR_SHARE]


class Opinion(NamedTuple):
    """The class that some voters prefer, and its share of their votes (0: nobody voted)."""

    label: Int32s
    confidence: Array


class Team:
    """A committee in training.

    Parameters
    ----------
    committee : Committee
    setting : Setting
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
    members, first_members : TreeMembers or EstimatorMembers
        As they are, and as they began.
    own : int32 array of shape (n_members, n_rows, n_classes)
        The votes of each member.
    total : int64 array of shape (n_rows, n_classes)
        Their sum.
    """

    def __init__(
        self,
        committee: Committee,
        setting: EnsembleContext,
        data: TrainingData,
        *,
        probability: bool,
        bootstrap: bool = True,
    ) -> None:
        self.data = data
        self.labels = data.labels
        self._committee, self._setting, self._probability = committee, setting, probability
        prepare_context(committee, setting)
        n_members = committee.n_members
        subspaces, counts, out_of_bag = setting.new_block(0, n_members).plan(setting)
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

    def train(self, bags: Bags, chosen: Mask, n_round: int) -> None:
        """Train some members on new bags; the others keep theirs."""
        fresh, votes = self._fit(bags.emptied(~chosen))
        self.members = self.members.replaced(fresh, chosen)
        self.total += (votes[chosen] - self.own[chosen]).sum(axis=0, dtype=np.int64)
        self.own[chosen] = votes[chosen]
        self.bags = bags
        pseudo_labelled = bags.rows[chosen]
        pseudo_labelled = np.unique(pseudo_labelled[pseudo_labelled >= 0])
        self.first_round[pseudo_labelled[self.first_round[pseudo_labelled] < 0]] = n_round

    def companions(self, members: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], Opinion]]:
        """Yield some members at a time, with what all but each think of the unlabelled rows."""
        rows = self.labels.unlabelled
        for part in blocks(len(members), max(1, len(rows)) * self.labels.n_classes):
            yield members[part], decide(self.total[rows] - self.own[members[part]][:, rows])

    def labelling(self, n_iter: int, stop: Stop) -> Labelling:
        """Return what the members were handed: the label that most of them have for a row."""
        is_used = self.bags.rows >= 0
        votes = np.zeros((self.data.n_rows, self.labels.n_classes), dtype=np.int64)
        np.add.at(votes, (self.bags.rows[is_used], self.bags.labels[is_used]), 1)
        codes = np.where(votes.any(axis=1), votes.argmax(axis=1), self.labels.codes)
        iterations = np.where(codes < 0, -1, self.first_round)
        return Labelling(codes, iterations, n_iter, stop)

    def _fit(self, bags: Bags) -> tuple[Any, Int32s]:
        jobs = [(start, bags.part(start, stop)) for start, stop in self._committee.ranges()]
        shared = self._setting, self.data.X, self._probability
        parts, votes = zip(*self._committee.map(fit_and_vote, jobs, *shared), strict=True)
        return type(parts[0]).join(parts), np.concatenate(votes)


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
    _first_members: Any = field(init=False)  # as they began
    _members: Any = field(init=False)

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
        n_iter = 0
        stop: Stop = "max_iter"
        with Committee(self.n_members, self.n_jobs) as committee:
            team = self._team(committee, data)
            rounds = self._rounds(team)
            for _ in self._progress(range(self.max_iter), "round"):
                if stop == "max_iter":  # else to the end of the bar
                    n_iter, stop = n_iter + 1, next(rounds, "no_change")
        self._keep(team)
        return team.labelling(n_iter, stop)

    def _team(self, committee: Committee, data: TrainingData) -> Team:
        n_drawn = features_to_draw(self.max_features, data.n_features)
        # an estimator that gets all features gets them in their own order
        gets_all = self.estimator is not None and n_drawn == data.n_features
        setting = build_context(
            data,
            n_drawn,
            estimator=self.estimator,
            widest_gap=True,
            max_depth=self.max_depth,
            large_bags=True,
            draws_at_nodes=self.is_forest or gets_all,
        )
        return Team(committee, setting, data, **self._ways())

    def _ways(self) -> dict[str, bool]:
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
        votes = self._members.vote_each(self._clean(X), False)
        return np.asarray(self.classes_[votes.argmax(axis=2)])

    def _vote(self, X: Any) -> Array:
        return np.asarray(self._members.vote(X, self.voting == "soft"), dtype=np.float64)

    def _votes_and_choices(self, X: Any, when: When) -> tuple[NDArray[np.floating], Ints]:
        members = self._members if when == "end" else self._first_members
        choices = members.vote_each(X, False).argmax(axis=2)
        return members.vote(X, self.voting == "soft"), choices


def decide(votes: Ints) -> Opinion:
    """Return the class with most votes, the first of equal ones, and its share.

    Parameters
    ----------
    votes : int array of shape (..., n_classes)

    Returns
    -------
    Opinion

    Examples
    --------
    >>> import numpy as np
    >>> decide(np.array([[3, 1], [2, 2], [0, 0]]))
    Opinion(label=array([0, 0, 0], dtype=int32), confidence=array([0.75, 0.5 , 0.  ]))
    """
    total = votes.sum(axis=-1)
    confidence = votes.max(axis=-1) / np.maximum(total, 1)
    return Opinion(votes.argmax(axis=-1).astype(np.int32), confidence)


def pad_rows(chosen: Mask, rows: Int32s, *values: NDArray[Any]) -> tuple[NDArray[Any], ...]:
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
