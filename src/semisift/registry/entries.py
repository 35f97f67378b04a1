"""What is known of a method, and how its class is found."""

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

    from semisift._base import FeatureRanker


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What is known of a method.

    Attributes
    ----------
    name : str
        Short lower-case name, as on the command line.
    path : str
        ``"module:class"``.
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
    citation: str
    cost: str
    source: Literal["formula", "reading"]
    summary: str
    meaning: str

    def _load(self) -> Any:
        module, _, attribute = self.path.partition(":")
        return getattr(importlib.import_module(module), attribute)


@dataclass(frozen=True, kw_only=True)
class Method(Entry):
    """What is known of a ranker.

    Its meaning says what the score means, and what it does not mean.

    Attributes
    ----------
    family : str
        The folder it lives in.
    direction : {"high", "low"}
        Which values of the paper's score rank first. In ``scores_`` it is always the high ones.
    """

    family: str
    direction: Literal["high", "low"] = "high"

    @property
    def cls(self) -> type["FeatureRanker"]:
        """The class, imported on first use."""
        return cast("type[FeatureRanker]", self._load())


@dataclass(frozen=True, kw_only=True)
class Learner(Entry):
    """What is known of a classifier for partly labelled data.

    Its meaning says how it comes to its labels, and where it goes wrong.
    """

    @property
    def cls(self) -> type["ClassifierMixin"]:
        """The class, imported on first use."""
        return cast("type[ClassifierMixin]", self._load())
