"""What the options say of features: from names in files to columns of a table."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import click
import numpy as np

from semisift.cli.rank import CONSTRAINTS, RankOptions
from semisift.io import Dataset
from semisift.io._guards import error_context
from semisift.io._options import format_option
from semisift.io._side_files import read_groups, read_names, read_weights
from semisift.utils._text import examples, plural


@dataclass(frozen=True, eq=False)
class FeatureConstraints:
    """What is known of the features of a table.

    Attributes
    ----------
    parameters : dict
        Those of a ranker, by the numbers of columns.
    n_features : int
        How many features can be selected.
    n_kept : int
    notes : list of str
        What was not found in the table.
    """

    parameters: dict[str, Any]
    n_features: int
    n_kept: int
    notes: list[str]


def read_constraints(options: RankOptions, dataset: Dataset) -> FeatureConstraints:
    """Read what the options say, and find the columns of the table."""
    if all(getattr(options, name) is None for name in CONSTRAINTS):
        return FeatureConstraints({}, len(dataset.variables), 0, [])
    finder = ColumnFinder(dataset)
    if options.feature_groups is not None:
        finder.add_groups(read_groups(options.feature_groups, finder.columns))
    named = {*finder.columns, *finder.groups}
    groups = finder.groups_of_columns()
    parameters: dict[str, Any] = {"feature_groups": groups}
    if options.include is not None:
        names = _names("include", options.include, named)
        if gone := [name for name in names if name not in named]:
            raise click.BadParameter(
                f"{examples(gone)} {'is' if len(gone) == 1 else 'are'} not in the table, whose "
                f"features are {examples(dataset.variables)}.",
                param_hint=format_option("include"),
            )
        parameters["include"] = finder.resolve(names)
    if options.exclude is not None:
        names = finder.found("exclude", _names("exclude", options.exclude, named))
        parameters["exclude"] = finder.resolve(names)
    if options.feature_weights is not None:
        weights = read_weights(options.feature_weights, named)
        parameters["feature_weights"] = {
            column: weights[name]
            for name in finder.found("feature_weights", list(weights))
            for column in finder.resolve([name])
        }
    excluded = set(parameters.get("exclude", ()))
    feature_of = {column: name for name, own in groups.items() for column in own}
    left = [j for j in range(len(dataset.feature_names)) if j not in excluded]
    if not left:
        raise click.BadParameter(
            "names all features, and leaves none.", param_hint=format_option("exclude")
        )
    n_features = len({feature_of.get(j, j) for j in left})
    n_kept = len({feature_of.get(j, j) for j in parameters.get("include", ())})
    given = {name: value for name, value in parameters.items() if value}
    return FeatureConstraints(given, n_features, n_kept, finder.notes)


class ColumnFinder:
    """Finds the columns of a data set by the names of variables, columns and groups."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.groups: dict[str, list[str]] = {}
        self.notes: list[str] = []

    @cached_property
    def columns(self) -> dict[str, list[int]]:
        """The columns of each name: those of a variable, or one."""
        dataset = self.dataset
        found = {name: [j] for j, name in enumerate(dataset.feature_names)}
        starts = np.argsort(dataset.variable_of, kind="stable")
        n_each = np.bincount(dataset.variable_of, minlength=len(dataset.variables))
        parts = np.split(starts, np.cumsum(n_each)[:-1])
        named = zip(dataset.variables, parts, strict=True)
        return {**found, **{name: part.tolist() for name, part in named}}

    def add_groups(self, members: dict[str, list[str]]) -> None:
        """Add the groups of a file, without the features that the table has not."""
        every = list(dict.fromkeys(name for group in members.values() for name in group))
        there = set(self.found("feature_groups", every))
        group_of: dict[str, str] = {}
        for name, group in members.items():
            inside = [each for each in group if each in there]
            for each in inside:
                if group_of.setdefault(each, name) != name:
                    raise click.BadParameter(
                        f"{each!r} is in the groups {group_of[each]!r} and {name!r}, and a feature "
                        "can be in one.",
                        param_hint=format_option("feature_groups"),
                    )
            if inside:
                self.groups[name] = inside

    def resolve(self, names: Collection[str]) -> list[int]:
        """Return the columns of features and groups, each once."""
        members = [each for name in names for each in self.groups.get(name, [name])]
        return list(dict.fromkeys(j for name in members for j in self.columns[name]))

    def groups_of_columns(self) -> dict[str, list[int]]:
        """Return the columns of groups, and of the variables in none that have several columns."""
        found = {name: self.resolve([name]) for name in self.groups}
        taken = {j for columns in found.values() for j in columns}
        for name in self.dataset.variables if self.dataset.is_spread else ():
            own = [j for j in self.columns[name] if j not in taken]
            if own and [self.dataset.feature_names[j] for j in own] != [name]:
                found[name] = own
        return found

    def found(self, option: str, names: list[str]) -> list[str]:
        """Return the names that the table has; note how many it has not, and refuse none."""
        there = [name for name in names if name in self.columns or name in self.groups]
        if not there:
            raise click.BadParameter(
                f"none of {plural(len(names), 'name')} is in the table: {examples(names)}. Its "
                f"features are {examples(self.dataset.variables)}.",
                param_hint=format_option(option),
            )
        if n_gone := len(names) - len(there):
            self.notes.append(
                f"{n_gone:,} of {plural(len(names), 'name')} of {format_option(option)} "
                f"{'is' if n_gone == 1 else 'are'} not in the table."
            )
        return there


def _names(option: str, given: str, named: Collection[str]) -> list[str]:
    with error_context(format_option(option, given)):
        return read_names(given, named)
