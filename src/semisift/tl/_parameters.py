"""What was asked for. It is kept beside the results, so that they can be made again."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from semisift.base._feature_constraints import has_names
from semisift.base._ranker import RULES
from semisift.registry import METHODS
from semisift.utils._text import python_value, quote
from semisift.utils._validation import (
    check_choice,
    check_flag,
    check_jobs,
    check_memory,
    check_seed,
    is_integer,
)

if TYPE_CHECKING:
    from semisift.base._ranker import FeatureRanker


@dataclass(frozen=True, kw_only=True, eq=False)
class Parameters:
    """What a user asked for; the names are those of `semisift.tl.rank_markers`.

    Attributes
    ----------
    settings : dict
        Further parameters of the method.
    """

    method: str = "consensus"
    use_raw: bool = False
    layer: str | None = None
    labels_key: str
    unlabeled_category: Any = None
    mask_var: Any = None
    batch_key: str | None = None
    group_key: str | None = None
    weight_key: str | None = None
    normalize: bool | None = None
    n_features: int | float | str | None = None
    random_state: int = 0
    max_memory: int | str | None = None
    n_jobs: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_choice(self.method, "method", [*METHODS])
        check_flag(self.normalize, "normalize", or_none=True)
        check_flag(self.use_raw, "use_raw")
        _check_number_of_genes(self.n_features)
        check_seed(self.random_state)
        check_jobs(self.n_jobs)
        check_memory(self.max_memory)
        if self.layer is not None and self.use_raw:
            both = f"layer={quote(self.layer)} and use_raw=True name two tables"
            raise ValueError(f"{both}: give one of them.")
        known = [
            each for each in self._parameters if each not in ("n_features_to_select", "n_jobs")
        ]
        for name in self.settings:
            if name in known:
                continue
            near = get_close_matches(name, [*known, *(each.name for each in fields(self))], 1)
            if name == "n_features_to_select":
                near = ["n_features"]
            hint = f"Did you mean {near[0]}?" if near else f"It has {', '.join(known)}."
            raise TypeError(f"{self.method} has no parameter {name!r}. {hint}")
        if self.weight_key is not None and "sample_weight" not in _of_fit(self.method):
            able = ", ".join(name for name in METHODS if "sample_weight" in _of_fit(name))
            problem = f"weight_key={quote(self.weight_key)}: {self.method} takes no weights"
            raise ValueError(f"{problem}. Those that do: {able}.")

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Parameters":
        """Return what the arguments of a function say, with its ``**params`` as `settings`."""
        names = [each.name for each in fields(cls) if each.name in given]
        return cls(**{name: given[name] for name in names}, settings=given["params"])

    @property
    def _parameters(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(METHODS[self.method].cls).parameters

    def ranker(self) -> "FeatureRanker":
        """Return the ranker, not fitted."""
        own: dict[str, Any] = {
            "n_features_to_select": self.n_features,
            "random_state": int(self.random_state),
        }
        if "n_jobs" in self._parameters:
            own["n_jobs"] = self.n_jobs
        return METHODS[self.method].cls(**own, **self.settings)

    @classmethod
    def _written(cls) -> list[str]:
        """Return what is kept in ``.uns``: what a ranking depends on besides its settings."""
        others = ("max_memory", "n_jobs", "settings")
        return [each.name for each in fields(cls) if each.name not in others]

    def kept(self) -> dict[str, Any]:
        """Return what is kept, as values that h5ad and zarr hold."""
        found = {name: _plain(getattr(self, name)) for name in self._written()}
        if isinstance(found["mask_var"], list):
            found["mask_var"] = np.array(found["mask_var"], dtype=bool)
        return {**found, "settings": repr(_plain(self.settings))}

    @classmethod
    def again(cls, kept: Mapping[str, Any], **others: Any) -> "Parameters":
        """Return what was asked for when results were made; None may be lost in a file."""
        text = str(kept["settings"])
        settings = python_value(text)
        if not isinstance(settings, dict):
            problem = f"the ranking was made with parameters that .uns cannot hold ({text})"
            raise ValueError(f"{problem}. Assess a ranker of semisift itself instead.")
        own = {name: _plain(kept.get(name)) for name in cls._written()}
        if isinstance(own["mask_var"], list):
            own["mask_var"] = np.asarray(own["mask_var"], dtype=bool)
        return cls(**own, settings=settings, **others)


def _of_fit(method: str) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(METHODS[method].cls.fit).parameters


def _plain(value: Any) -> Any:
    """Return a value, and those in it, as Python's own."""
    if has_names(value):
        value = value.to_dict()
    if isinstance(value, Mapping):
        return {_plain(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, str):
        return str(value)
    if type(value).__name__ == "NAType":  # which files do not hold
        return None
    return _plain(value.tolist()) if hasattr(value, "tolist") else value


def _check_number_of_genes(value: Any) -> None:
    """Refuse what says neither how many genes to select, nor which share, nor by which rule."""
    if value is None or (isinstance(value, str) and value in RULES):
        return
    if is_integer(value) and value >= 1:
        return
    if isinstance(value, Real) and not isinstance(value, Integral) and 0 < float(value) <= 1:
        return
    raise ValueError(
        "n_features must be None, a whole number of 1 or more, a share above 0 and up to 1, or "
        f"{' or '.join(map(quote, RULES))}: got {quote(value)}."
    )
