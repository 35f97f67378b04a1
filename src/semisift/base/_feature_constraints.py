"""What is known of columns beforehand: which stay, go or belong together, and how much is expected.

All of it comes about after the scores, which are those of the method, but for the columns that are
left out: they hold zeros before anything is learnt. In this order:

    exclude          as if the column held one value: no score, the last rank, never selected
    feature_groups   columns side by side; a feature stands where its best column does
    feature_weights            ranked by place / weight, ties by score; weight 0 behind all that
    have a score keep             first, by score; selected in any case correlated features
    behind the others, as `semisift.utils._redundancy` finds them

A feature is a group, or a column in none. It is a correlated feature if all its columns are
correlated features.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift.base._training_data import TrainingData
from semisift.utils._columns import blank_columns
from semisift.utils._redundancy import find_copies, find_copies_of_first, n_to_keep, put_copies_last
from semisift.utils._text import examples, join, plural, quote
from semisift.utils._typing import Bools, Floats, Ints
from semisift.utils._validation import as_numbers

# The parameters of a ranker that say what is known.
PARAMETERS = ("include", "exclude", "feature_groups", "feature_weights")

# Above this correlation a column is a feature correlated with a kept one, where there is no
# threshold.
COPY_OF_KEPT = 0.7


@dataclass(frozen=True, eq=False)
class Features:
    """What is known of the columns of the training data.

    Attributes
    ----------
    kept : bool array of shape (p,)
        The columns that stay, and all of their groups.
    excluded : bool array of shape (p,)
    feature_of : int array of shape (p,)
        The feature of each column, numbered by their first columns. Excluded columns have left
        their groups.
    groups : dict of int to str
        Names of the features that are groups.
    weights : float array of shape (p,) or None
        None where no column is expected more than others.
    """

    kept: Bools
    excluded: Bools
    feature_of: NDArray[np.int64]
    groups: dict[int, str]
    weights: Floats | None

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many columns each feature has."""
        return np.bincount(self.feature_of)

    @cached_property
    def kept_features(self) -> Bools:
        """Which features are kept."""
        return self.has_any(self.kept)

    @property
    def n_kept(self) -> int:
        """How many features are kept."""
        return int(self.kept_features.sum())

    @property
    def n_features(self) -> int:
        """How many features can be selected."""
        return len(self.sizes) - int(self.excluded.sum())

    def names(self, columns: Sequence[Any]) -> list[str]:
        """Return the names of the features, given those of the columns."""
        first = np.unique(self.feature_of, return_index=True)[1]
        return [self.groups.get(code, str(columns[j])) for code, j in enumerate(first.tolist())]

    def has_any(self, which: Bools) -> Bools:
        """Return which features have any such column."""
        return np.asarray(np.bincount(self.feature_of, which) > 0)

    def _lowest(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the lowest value of each feature."""
        lowest = np.full(len(self.sizes), np.inf)
        np.minimum.at(lowest, self.feature_of, values)
        return lowest

    def _first(self, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the column of each feature that comes first in an order."""
        return order[np.unique(self.feature_of[order], return_index=True)[1]]

    # --- ranking ---

    def _expected_places(self, score_ranking: Ints) -> Floats:
        """Return place / weight of each column."""
        places = score_ranking.astype(np.float64)
        if self.weights is None:
            return places
        return np.divide(
            places, self.weights, out=np.full(len(places), np.inf), where=self.weights > 0
        )

    def arrange(self, scores: Floats, score_ranking: Ints) -> NDArray[np.int64]:
        """Return the ranking that follows from one by scores, whatever correlates."""
        scored = ~np.isnan(scores)
        by_score = self._lowest(score_ranking)
        expected = self._lowest(np.where(scored, self._expected_places(score_ranking), np.inf))
        expected[self.kept_features] = by_score[self.kept_features]
        last = (~self.has_any(scored), self.has_any(self.excluded), ~self.kept_features)
        place = _ranking(np.lexsort((by_score, expected, *last)))
        return _ranking(np.lexsort((score_ranking, place[self.feature_of])))

    def deciding_weights(self, score_ranking: Ints) -> Floats:
        """Return the weight that decides on the place of the feature of each column."""
        assert self.weights is not None
        expected = self._expected_places(score_ranking)
        deciding = self._first(np.lexsort((score_ranking, expected)))
        return np.asarray(self.weights[deciding][self.feature_of])

    def put_copies_last(
        self,
        X: Any,
        ranking: NDArray[np.int64],
        scored: Bools,
        threshold: float | None,
        n_wanted: int,
        fewest: int | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Do what `semisift.utils._redundancy.put_copies_last` does, by features.

        Parameters
        ----------
        X, ranking, scored, n_wanted, fewest
            As there.
        threshold : float or None
            None looks for features correlated with kept columns alone.

        Returns
        -------
        ranking, representative : int arrays of shape (p,)
            A column of a feature that represents itself represents itself.
        """
        plain = np.arange(len(ranking))
        if threshold is not None and not self.groups and not self.kept.any():
            return put_copies_last(X, ranking, scored, threshold, n_wanted, fewest)
        order = np.argsort(ranking)
        walk = order[scored[order]]
        n_sure = int((self.kept & scored).sum())
        if threshold is None:
            is_copy, stands_for = find_copies_of_first(X, walk, n_sure, COPY_OF_KEPT)
        else:
            n_kept = n_to_keep(n_wanted * int(self.sizes.max()), fewest)
            is_copy, stands_for = find_copies(X, walk, threshold, n_kept, n_sure)
        own, representative = np.zeros(len(ranking), dtype=bool), plain.copy()
        own[walk], representative[walk] = ~is_copy, stands_for
        has_score = self.has_any(scored)
        copies = has_score & ~self.has_any(own) & ~self.kept_features
        of_copy = copies[self.feature_of]
        representative = np.where(of_copy & scored, representative, plain)
        behind = np.where(has_score | self.kept_features, copies, 2)[self.feature_of]
        return _ranking(np.lexsort((ranking, behind))), representative

    def places(self, ranking: Ints) -> NDArray[np.int64]:
        """Return the place of the feature of each column, counted from 1."""
        return _ranking(np.argsort(self._lowest(ranking)))[self.feature_of]

    # --- selecting ---

    def complete(self, chosen: Bools, ranking: Ints) -> Bools:
        """Return the columns of the features whose best column is chosen, and the kept ones."""
        of_features = chosen[self._first(np.argsort(ranking))]
        return (of_features[self.feature_of] | self.kept) & ~self.excluded

    def n_picks(self, wanted: int, usable: Bools) -> int:
        """Return how many columns to pick one by one: the kept ones, and one of other features."""
        others = int(self.has_any(usable & ~self.kept).sum())
        return int((self.kept & usable).sum()) + min(max(0, wanted - self.n_kept), others)


def _ranking(order: Ints) -> NDArray[np.int64]:
    ranking = np.empty(len(order), dtype=np.int64)
    ranking[order] = np.arange(1, len(order) + 1)
    return ranking


def without(data: TrainingData, excluded: Bools) -> TrainingData:
    """Return the training data with zeros in some columns, as if these held one value."""
    full = data.full
    if full is not None:
        full = replace(full, rows=full.rows.blanked(excluded))
    X = blank_columns(data.X, excluded)
    has_missing = data.has_missing and bool(np.isnan(X).any())
    return replace(data, X=X, full=full, has_missing=has_missing)


# --- reading the parameters -----------------------------------------------------------------------


def read_features(
    names: Sequence[Any] | NDArray[Any] | None,
    p: int,
    *,
    include: Any = None,
    exclude: Any = None,
    feature_groups: Any = None,
    feature_weights: Any = None,
) -> Features | None:
    """Read what a user says of the columns; None where that is nothing.

    Parameters
    ----------
    names : sequence of str or None
        Names of the columns.
    p : int
        How many there are.
    include, exclude, feature_groups, feature_weights
        Parameters of a ranker.

    Returns
    -------
    Features or None

    Raises
    ------
    ValueError
        If a column is not there, or what is said of it contradicts itself.

    Examples
    --------
    >>> found = read_features(["a", "b", "c"], 3, include=["c"], feature_groups={"ab": ["a", 1]})
    >>> found.kept.tolist(), found.feature_of.tolist(), found.names(["a", "b", "c"])
    ([False, False, True], [0, 0, 1], ['ab', 'c'])
    """
    if all(given is None for given in (include, exclude, feature_groups, feature_weights)):
        return None
    known = Columns(names, p)
    groups = _read_groups(feature_groups, known)
    known = Columns(names, p, groups)
    kept, excluded = known.mask("include", include), known.mask("exclude", exclude)
    if (both := np.flatnonzero(kept & excluded)).size:
        raise ValueError(
            f"include and exclude must name different columns: got {known.called(both)} in both."
        )
    if excluded.all():
        raise ValueError(f"exclude must leave a column: got all {p}.")
    group_of = np.arange(p)
    for columns in groups.values():
        inside = columns[~excluded[columns]]
        group_of[inside] = inside.min(initial=p)
    feature_of = np.unique(group_of, return_inverse=True)[1].astype(np.int64)
    named = {
        int(feature_of[columns[~excluded[columns]][0]]): name
        for name, columns in groups.items()
        if not excluded[columns].all()
    }
    weights = None if feature_weights is None else _read_prior(feature_weights, known)
    kept = (np.bincount(feature_of, kept) > 0)[feature_of]
    return Features(kept, excluded, feature_of, named, weights)


class Columns:
    """The columns of X, by name, by number, or by the name of a group.

    Parameters
    ----------
    names : sequence of str or None
    p : int
    groups : dict of str to int array
    """

    def __init__(
        self, names: Any, p: int, groups: Mapping[str, NDArray[np.int64]] | None = None
    ) -> None:
        self.names = None if names is None else [str(name) for name in names]
        self.p = p
        self.groups = groups or {}
        self._numbers = {name: j for j, name in enumerate(self.names or ())}
        counts = Counter(self.names or ())
        self._repeated = {name for name, times in counts.items() if times > 1}

    def called(self, columns: Ints) -> str:
        """Write some columns as the user would."""
        names = self.names
        return examples([j if names is None else names[j] for j in columns.tolist()])

    def mask(self, parameter: str, wanted: Any) -> Bools:
        """Return which columns a parameter names, each of them once."""
        found = np.zeros(self.p, dtype=bool)
        if wanted is None:
            return found
        is_single = isinstance(wanted, str | Mapping) or getattr(wanted, "ndim", 1) == 0
        if is_single or not isinstance(wanted, Iterable):
            raise ValueError(
                f"{parameter} must be a list of names or numbers of columns: got {wanted!r}."
            )
        items = list(wanted)
        if items and all(isinstance(each, bool | np.bool_) for each in items):
            if has_names(wanted):
                series: Any = wanted
                self.mask(parameter, series.index)  # no name is unknown, and none stands twice
                return self.mask(parameter, series.index[items])
            if len(items) != self.p:
                raise ValueError(
                    f"{parameter} must say True or False of each of {plural(self.p, 'column')}: "
                    f"got {len(items)} values."
                )
            return np.array(items, dtype=bool)
        for item in items:
            columns = self.find(parameter, item)
            if found[columns].any():
                raise ValueError(
                    f"{parameter} must name each column once: got "
                    f"{self.called(columns[found[columns]])} again."
                )
            found[columns] = True
        return found

    def find(self, parameter: str, item: Any) -> NDArray[np.int64]:
        """Return the columns of a name or number."""
        if isinstance(item, Integral) and not isinstance(item, bool | np.bool_):
            if not 0 <= int(item) < self.p:
                raise ValueError(
                    f"{parameter} must hold numbers of columns from 0 to {self.p - 1}: got {item}."
                )
            return np.array([item], dtype=np.int64)
        if not isinstance(item, str):
            raise ValueError(
                f"{parameter} must hold names or numbers of columns: got {item!r} of type "
                f"{type(item).__name__}."
            )
        if item in self.groups:
            return self.groups[item]
        if self.names is None:
            raise ValueError(
                f"{parameter} must hold numbers of columns, as X has no names: got {quote(item)}."
            )
        if item not in self._numbers:
            known = [*self.groups, *self.names]
            near = get_close_matches(item, known, 3)
            hint = f"Did you mean {' or '.join(map(quote, near))}?" if near else ""
            hint = hint or f"The columns are {examples(self.names)}."
            raise ValueError(f"{parameter} names {quote(item)}, which is no column of X. {hint}")
        if item in self._repeated:
            raise ValueError(
                f"{parameter} names {quote(item)}, and several columns of X are called so. Give "
                "their numbers."
            )
        return np.array([self._numbers[item]], dtype=np.int64)


def has_names(given: Any) -> bool:
    """Return whether what was given is a Series of pandas that says what of which column."""
    if not hasattr(given, "to_dict") or not hasattr(given, "index"):
        return False
    return len(given) > 0 and all(isinstance(name, str) for name in given.index)


def _read_groups(given: Any, known: Columns) -> dict[str, NDArray[np.int64]]:
    """Return the columns of each group by its name."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        given = {f"group {number}": columns for number, columns in enumerate(given, start=1)}
    groups = {}
    group_of: dict[int, str] = {}
    for key, wanted in given.items():
        name = str(key)
        parameter = f"feature_groups[{key!r}]"
        columns = np.flatnonzero(known.mask(parameter, wanted))
        if not len(columns):
            raise ValueError(f"{parameter} must hold a column: it is empty.")
        for j in columns.tolist():
            if j in group_of:
                raise ValueError(
                    "feature_groups must hold each column in one group: got "
                    f"{known.called(np.array([j]))} in "
                    f"{join([quote(group_of[j]), quote(name)])}."
                )
            group_of[j] = name
        own = [] if known.names is None else [known.names[j] for j in columns.tolist()]
        if known.names is not None and name in known.names and name not in own:
            raise ValueError(
                f"feature_groups has a group {quote(name)}, and a column that is not in it is "
                "called so. Rename the group."
            )
        groups[name] = columns
    return groups


def _read_prior(given: Any, known: Columns) -> Floats:
    """Return the weight of each column."""
    weights = np.ones(known.p)
    if has_names(given):
        given = given.to_dict()
    if isinstance(given, Mapping):
        named = np.zeros(known.p, dtype=bool)
        for item, weight in given.items():
            columns = known.find("feature_weights", item)
            if named[columns].any():
                raise ValueError(
                    f"feature_weights must name a column once: got {known.called(columns)} again."
                )
            named[columns] = True
            weights[columns] = _as_weight(item, weight)
    else:
        weights = as_numbers(given)
        if weights.ndim == 2 and np.isnan(weights).all():
            raise ValueError(f"feature_weights must hold numbers: got {quote(given)}.")
        if weights.shape != (known.p,):
            rule = f"feature_weights must hold a weight for each of {plural(known.p, 'column')}"
            raise ValueError(f"{rule}: got an array of shape {weights.shape}.")
        for j in np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[:1].tolist():
            _as_weight(known.names[j] if known.names else j, weights[j])
    if not weights.any():
        raise ValueError("feature_weights must leave a column with a weight above 0: all are 0.")
    return weights


def _as_weight(item: Any, weight: Any) -> float:
    value = float(as_numbers(weight).flat[0]) if np.ndim(weight) == 0 else np.nan
    if not (np.isfinite(value) and value >= 0):
        raise ValueError(
            f"feature_weights must be finite and 0 or more: got {weight!r} for {quote(item)}."
        )
    return value
