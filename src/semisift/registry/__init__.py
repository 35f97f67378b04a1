"""What is known of a method, and how its class is found.

METHODS and CLASSIFIERS: rankers and classifiers by their short names, without importing any.
"""

import importlib
import tomllib
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_args, get_type_hints

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

    from semisift.base._ranker import FeatureRanker


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
    takes : str
        What it takes besides values and labels, between commas, as `capabilities` splits it.
    """

    name: str
    path: str
    citation: str
    cost: str
    source: Literal["formula", "reading"]
    summary: str
    meaning: str
    takes: str = ""

    @property
    def capabilities(self) -> set[str]:
        """What the method takes besides values and labels, known without importing its class."""
        return {each.strip() for each in self.takes.split(",")}

    def _load(self) -> Any:
        module, _, attribute = self.path.partition(":")
        return getattr(importlib.import_module(module), attribute)


@dataclass(frozen=True, kw_only=True)
class Method(Entry):
    """What is known of a ranker.

    Its meaning says what the score means, and what it does not mean.

    Attributes
    ----------
    direction : {"high", "low"}
        Which values of the paper's score rank first. In ``scores_`` it is always the high ones.
    """

    direction: Literal["high", "low"] = "high"

    @property
    def capabilities(self) -> set[str]:
        """What the ranker takes besides values and labels; the first three by its base class."""
        return {"groups", "batches", "one labelled class", *super().capabilities}

    @property
    def family(self) -> str:
        """The folder it lives in."""
        return self.path.split(".")[1]

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
        Where an entry lacks a field, has another or a value that is not allowed.
    """
    path = Path(__file__).parent / file
    entries = {}
    for name, about in tomllib.loads(path.read_text(encoding="utf-8")).items():
        if problems := [*_problems(cls, about)]:
            raise ValueError(f"{path}: {name} {'; it '.join(problems)}.")
        text: dict[str, Any] = {key: " ".join(value.split()) for key, value in about.items()}
        entries[name] = cls(name=name, **text)
    return entries


def _problems(cls: type[Entry], about: dict[str, Any]) -> Iterator[str]:
    """Say what is wrong with an entry."""
    hints = get_type_hints(cls)
    needed = [each.name for each in fields(cls) if each.default is MISSING and each.name != "name"]
    yield from (f"lacks the field {key!r}" for key in needed if key not in about)
    for key, value in about.items():
        allowed = get_args(hints.get(key))
        if key not in hints or key == "name":
            yield f"has a field {key!r}, which {cls.__name__} does not know"
        elif not isinstance(value, str):
            yield f"has the {key} {value!r}, which is no text"
        elif allowed and value not in allowed:
            yield f"has the {key} {value!r}, which is none of {', '.join(allowed)}"


# --- registry -------------------------------------------------------------------------------------


__all__ = ["CLASSIFIERS", "METHODS", "Entry", "Learner", "Method"]

METHODS: dict[str, Method] = read_entries(Method, "rankers.toml")
CLASSIFIERS: dict[str, Learner] = read_entries(Learner, "classifiers.toml")
