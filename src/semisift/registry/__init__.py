"""METHODS and CLASSIFIERS: rankers and classifiers by their short names, without importing any.

The tables beside this file are the one list of them: commands, documentation, error messages and
tests follow. Rankers of other packages join METHODS by entry points of the group `GROUP`::

    [project.entry-points."semisift.rankers"]
    my-score = "my_package.scores:MyScore"
"""

import importlib
import inspect
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Literal, TypeVar

__all__ = ["CLASSIFIERS", "METHODS", "Entry", "Learner", "Method"]

GROUP = "semisift.rankers"

# What a method may accept besides values and labels: parameters of `fit`, and marks of the class.
PARAMETERS_OF_FIT = ("sample_weight", "groups", "batch", "must_link")
MARKS = ("allow_nan", "supports_positive_unlabelled")

AnyEntry = TypeVar("AnyEntry", bound="Entry")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What is known of a method.

    Attributes
    ----------
    name : str
        Short lower-case name, as on the command line.
    path : str
        ``"module:class"``.
    accepts : list of str
        What it takes besides values and labels, of `PARAMETERS_OF_FIT` and `MARKS`.
    citation : str
        The paper that describes the method.
    cost : str
        Order of the running time.
    source : {"formula", "reading"}
        Whether the paper's text was followed, or what is known of it had to be completed.
    summary : str
        What it does, in at most 64 characters: a line of ``semisift methods``.
    meaning : str
        Two to four sentences for a reader who does not know the method. The report shows them.
    """

    name: str
    path: str
    accepts: list[str]
    citation: str
    cost: str
    source: Literal["formula", "reading"]
    summary: str
    meaning: str

    @property
    def class_name(self) -> str:
        """Name of the class."""
        return self.path.rpartition(":")[2]

    @property
    def cls(self) -> Any:
        """The class, imported on first use."""
        module, _, attribute = self.path.partition(":")
        return getattr(importlib.import_module(module), attribute)

    def takes(self, what: str) -> bool:
        """Return whether the method accepts something of `PARAMETERS_OF_FIT` or `MARKS`."""
        return what in self.accepts


@dataclass(frozen=True, kw_only=True)
class Method(Entry):
    """What is known of a ranker.

    Its meaning says what the score means, and what it does not mean.

    Attributes
    ----------
    labels_needed : {"none", "optional", "two_classes"}
    is_transductive : bool
        Whether a fit labels all rows.
    direction : {"high", "low"}
        Which values of the paper's score rank first. In ``scores_`` it is always the high ones.
    """

    labels_needed: Literal["none", "optional", "two_classes"]
    is_transductive: bool
    direction: Literal["high", "low"] = "high"

    @property
    def family(self) -> str:
        """The folder it lives in."""
        return self.path.split(".")[1]


@dataclass(frozen=True, kw_only=True)
class Learner(Entry):
    """What is known of a classifier for partly labelled data.

    Its meaning says how it comes to its labels, and where it goes wrong.
    """


class PluginMethod(Method):
    """A ranker of another package; what it accepts is asked of its class when it is needed."""

    family = "plug-ins"

    def __init__(self, point: EntryPoint) -> None:
        package = (
            f"the package {point.dist.name} {point.dist.version}" if point.dist else "a plug-in"
        )
        about = f"{point.value.rpartition(':')[2]} of {package}."
        vars(self).update(name=point.name, path=point.value, citation=package, summary=about)
        vars(self).update(cost="see its documentation", source="reading", meaning=about)

    @property
    def cls(self) -> Any:
        """The class, imported on first use."""
        from semisift.base._ranker import FeatureRanker

        who = f"The plug-in {self.name}, {self.summary.rstrip('.')},"
        try:
            cls = super().cls
        except (ImportError, AttributeError) as error:
            raise ValueError(f"{who} cannot be imported: {error}.") from error
        if not (inspect.isclass(cls) and issubclass(cls, FeatureRanker)):
            raise ValueError(f"{who} must be a subclass of semisift.FeatureRanker: got {cls!r}.")
        return cls

    # One that cannot be imported says so where it is used, and accepts nothing in lists.

    @cached_property
    def accepts(self) -> list[str]:
        """What the class says."""
        with suppress(ValueError):
            return accepted_by(self.cls)
        return []

    @cached_property
    def labels_needed(self) -> Any:
        """What the class says."""
        with suppress(ValueError):
            return self.cls.labels_needed
        return "optional"

    @cached_property
    def is_transductive(self) -> bool:
        """What the class says."""
        with suppress(ValueError):
            return bool(self.cls.is_transductive)
        return False


def accepted_by(cls: Any) -> list[str]:
    """Return what a class accepts, as `Entry.accepts` tells it of the methods in the tables."""
    parameters = inspect.signature(cls.fit).parameters
    marks = [name for name in MARKS if getattr(cls, name, False)]
    return marks + [name for name in PARAMETERS_OF_FIT if name in parameters]


def read_entries(cls: type[AnyEntry], file: str | Path) -> dict[str, AnyEntry]:
    """Return the entries of a file of this folder, by their names and in their order.

    Parameters
    ----------
    cls : type
        Of the entries: the fields that each has.
    file : str or Path

    Raises
    ------
    ValueError
        Where an entry lacks a field, or has another.
    """
    path = Path(__file__).parent / file
    entries = {}
    for name, about in tomllib.loads(path.read_text(encoding="utf-8")).items():
        joined: dict[str, Any] = {
            k: " ".join(v.split()) if isinstance(v, str) else v for k, v in about.items()
        }
        try:
            entries[name] = cls(name=name, **joined)
        except TypeError as error:
            raise ValueError(f"{path}: [{name}]: {error}") from error
    return entries


def read_plugins(known: Mapping[str, Method]) -> dict[str, Method]:
    """Return the rankers of other packages; a name that is known already stays what it is."""
    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return {point.name: PluginMethod(point) for point in points if point.name not in known}


METHODS: dict[str, Method] = read_entries(Method, "rankers.toml")
METHODS.update(read_plugins(METHODS))
CLASSIFIERS: dict[str, Learner] = read_entries(Learner, "classifiers.toml")
