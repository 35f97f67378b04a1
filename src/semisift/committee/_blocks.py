"""What members of any kind share: the context, their samples, and the rows added to these.

An `EnsembleContext` is what all members of a committee share, a `MemberBlock` a range of members. A
block travels as its range and the pseudo-labelled rows (`picks`). The samples of its members, and
the members as they were fitted last, stay with the context, which stays where it has arrived;
elsewhere they are computed again.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from semisift import _kernels
from semisift.base._training_data import TrainingData
from semisift.committee._bootstrap import Bootstrap, Int32s, Masks
from semisift.parallel import Committee
from semisift.utils._labels import Labels
from semisift.utils._typing import Floats


class MemberSample(NamedTuple):
    """The features and the bootstrap of each member of a block."""

    subspaces: Int32s | None
    weights: Int32s
    out_of_bag: Masks

    def count_draws(self, n_features: int) -> NDArray[np.uint16]:
        """Return how many members drew each feature; a block has at most 1,024."""
        drawn = np.empty(0, dtype=np.int32) if self.subspaces is None else self.subspaces.ravel()
        return np.bincount(drawn, minlength=n_features).astype(np.uint16)


class Bags(NamedTuple):
    """What each member is fitted on.

    Attributes
    ----------
    counts : int32 array of shape (n_members, n_labelled)
        How often each labelled row counts.
    rows, labels : int32 arrays of shape (n_members, n_slots)
        Pseudo-labelled rows (-1: none) and the classes that they were given.
    weights : array of that shape or None
        What the pseudo-labelled rows count for, in (0, 1]; None is 1.
    subspaces : int32 array of shape (n_members, n_drawn), list of int32 arrays, or None
        The columns of each member; None is all.
    """

    counts: Int32s
    rows: Int32s
    labels: Int32s
    weights: Floats | None = None
    subspaces: Any = None

    def part(self, start: int, stop: int) -> "Bags":
        """Return the bags of some members."""
        return Bags._make(None if part is None else part[start:stop] for part in self)


class Importance(NamedTuple):
    """Permutation importance: what the members of a block lose when a feature is permuted."""

    features: Int32s
    losses: Floats
    agreement: Floats
    draws: NDArray[np.uint16]


@dataclass(frozen=True, eq=False)
class MemberBlock:
    """A range of members with the unlabelled rows that they were given so far."""

    start: int
    stop: int
    picks: Int32s
    pick_labels: Int32s

    def with_picks(self, rows: Int32s, labels: Int32s) -> Self:
        """Return the block after its members were given further rows (-1: none)."""
        if not (rows >= 0).any():
            return self
        return replace(
            self,
            picks=np.ascontiguousarray(np.concatenate([self.picks, rows], axis=1)),
            pick_labels=np.ascontiguousarray(np.concatenate([self.pick_labels, labels], axis=1)),
        )

    def sample(self, context: "EnsembleContext") -> MemberSample:
        """Return the features and the bootstrap of each member."""
        key = self.start, self.stop
        if key not in context.samples:
            members = context.seed, *key
            subspaces = context.subspaces
            if subspaces is not None:
                subspaces = subspaces[self.start : self.stop]
            elif not context.draws_at_nodes:
                size = context.n_features, context.n_drawn
                subspaces = _kernels.plan.draw_subspaces(*members, *size)
            context.samples[key] = MemberSample(subspaces, *context.bootstrap.draw(*members))
        return context.samples[key]

    def members(self, context: "EnsembleContext") -> Any:
        """Return the members, fitted on all rows that they have; the last stay with the context.

        So a worker that is asked again has them, though blocks travel without.
        """
        key, rows = (self.start, self.stop), (self.picks, self.pick_labels)
        fitted_on, members = context.fitted.get(key, (None, None))
        if fitted_on is None or not all(map(np.array_equal, fitted_on, rows)):
            subspaces, counts, _ = self.sample(context)
            bags = Bags(counts, *rows, subspaces=subspaces)
            members = context.predictors.fit(context, self.start, bags)
            context.fitted[key] = rows, members
        return members

    def vote(self, context: "EnsembleContext", probability: bool, rows: Masks | None = None) -> Any:
        """Return the summed votes of the members, each on its out-of-bag rows and on `rows`.

        A vote is 1, or with `probability` spread over the classes in units of 1 / 65536.
        """
        out_of_bag = self.sample(context).out_of_bag
        voted = out_of_bag if rows is None else out_of_bag | rows
        return self.members(context).vote(context.table, probability, voted)

    def voters(self, context: "EnsembleContext") -> Any:
        """Return the members that vote on rows of no bag.

        They are 1 in e of the committee, as many as vote on a row that bags are drawn from.
        """
        numbers = np.arange(self.start - 1, self.stop)
        return self.members(context).take(np.flatnonzero(np.diff(np.floor(numbers / math.e))))

    def pick_confident(self, context: "EnsembleContext", *choice: NDArray[Any]) -> Int32s:
        """Return the rows of each member's bag that the committee is surest about."""
        members = context.seed, self.start, self.sample(context).out_of_bag
        return _kernels.plan.pick_confident(*members, self.picks, *choice)

    def pick_own(self, context: "EnsembleContext", *choice: Any) -> Any:
        """Return the rows of each member's pool that it is itself surest about, and its labels.

        The choice is of pools (bit masks), quotas, and the confidence above which rows qualify.
        """
        return self.members(context).pick_own(context, self.start, *choice)

    def permute(
        self, context: "EnsembleContext", labels: Masks, weights: Floats, **options: Any
    ) -> Importance:
        """Return what each member loses when a feature is permuted over its out-of-bag rows.

        Parameters
        ----------
        context : EnsembleContext
        labels : uint64 array of shape (n_classes, n_words)
            The rows that carry each label; a row without one is left out.
        weights : array of shape (n_rows,)
            What a row counts for, besides its own weight.
        net : bool
            Permute over all labelled rows and subtract what turns right; else over those predicted
            right.
        sampled : bool, default=False
            One random permutation for each feature instead of the expectation over all of them.
        own_labels_from : float, default=-1
            If not negative: the label of an unlabelled row is the member's own prediction where it
            is at least so confident, and none elsewhere.

        Returns
        -------
        Importance
        """
        sample, own = self.sample(context), context.row_weights
        rows = sample.out_of_bag, labels, weights if own is None else weights * own
        features, losses, agreement = self.members(context).permute(
            context, self.start, *rows, **options
        )
        return Importance(features, losses, agreement, sample.count_draws(context.n_features))


@dataclass(frozen=True, eq=False, kw_only=True)
class EnsembleContext:
    """What all members of a committee share."""

    predictors: ClassVar[type[Any]]  # of its members: they are fitted on `Bags`

    table: Any  # X as members read it
    labels: Labels
    bootstrap: Bootstrap
    seed: int
    n_rows: int
    n_features: int
    n_drawn: int
    draws_at_nodes: bool = False
    # the features of all members, of shape (n_members, n_drawn); None: drawn with equal chances
    subspaces: Int32s | None = None
    # the samples of each block, as far as they were asked for here
    samples: dict[tuple[int, int], MemberSample] = field(
        default_factory=dict, init=False, repr=False
    )
    # the last members of each block, with the pseudo-labelled rows that they were fitted on
    fitted: dict[tuple[int, int], Any] = field(default_factory=dict, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "samples": {}, "fitted": {}}

    @property
    def labelled(self) -> Int32s:
        """The labelled rows, in the order in which bags count them."""
        return self.bootstrap.labelled

    @property
    def row_weights(self) -> Floats | None:
        """What each row counts for, 1 on average; None where all rows count alike."""
        return self.bootstrap.weights

    def prepare(self, committee: Committee) -> None:
        """Prepare a committee for such members."""

    @classmethod
    def of(cls, data: TrainingData, n_drawn: int, *, stratified: bool = False, **own: Any) -> Self:
        """Return the context of members that draw features and bootstraps.

        Parameters
        ----------
        data : TrainingData
        n_drawn : int
            Features that each member draws.
        stratified : bool
            Bootstrap each class by itself, where the rows are of no groups.
        draws_at_nodes : bool
            Draw features afresh at every node, as a random forest does.
        subspaces : int32 array of shape (n_members, n_drawn), optional
            The features of each member; else they are drawn with equal chances.
        **own
            What a kind of members has besides.

        Returns
        -------
        EnsembleContext
        """
        return cls(
            labels=data.labels,
            bootstrap=Bootstrap.of(data, stratified),
            seed=data.seed,
            n_rows=data.n_rows,
            n_features=data.n_features,
            n_drawn=n_drawn,
            **own,
        )

    def new_block(self, start: int, stop: int) -> MemberBlock:
        """Return members that have not been given any row."""
        none = np.empty((stop - start, 0), dtype=np.int32)
        return MemberBlock(start, stop, none, none)


def count_quotas(growth: float, prior: Floats, n_unlabelled: int) -> Int32s:
    """Return how many rows of each class a member is given in a round.

    The growth is shared by the prior and rounded up, so that no class gets none; more than there
    are rows would only cost memory.
    """
    # the tiny amount keeps 100 * 0.07 from being a little more than 7
    shared = np.ceil(growth * prior - 1e-9)
    return np.clip(shared, 1, max(1, n_unlabelled)).astype(np.int32)
