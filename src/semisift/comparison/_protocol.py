"""Protocols: how a comparison splits, hides, judges and measures, and the papers' own settings."""

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from numbers import Integral, Real
from typing import Any, Literal

from semisift.utils._metadata import plain
from semisift.utils._validation import is_integer

MAX_RUNS = 1_000_000
METRICS = ("accuracy", "balanced_accuracy", "macro_f1", "auc")


@dataclass(frozen=True)
class Protocol:
    """How methods are compared on a data set.

    Attributes
    ----------
    name : str
    n_runs : int
        Splits of each data set; all methods see the same ones.
    train_size : float
        Share of the rows of each class that train, in (0, 1).
    labels_per_class : int or None
        Labelled rows of each class; all that train, where there are fewer.
    n_labelled : int or None
        Labelled rows in all, as evenly over the classes as can be.
    labelled_share : float or None
        Labelled share of the training rows of each class, at least one row.
        Exactly one of the last three is given.
    n_unlabelled : int or None
        So many rows train whose class is hidden, drawn from all classes together; rows of unknown
        class train besides, all others test, and `train_size` does not count. None is whatever
        `train_size` leaves.
    n_test : int or None
        Test on at most so many of the rows that do not train, drawn from all classes together.
    sizes : tuple of int
        How many of the best features are judged.
    judges : tuple of str
        Classifiers that judge them: keys of `EVALUATORS`, or the dotted path of a class, each with
        parameters if need be: ``"tree"``, ``"knn:n_neighbors=3"``.
    train_on : {"all", "labelled"}
        Judges learn from all training rows with their true labels, as in the pseudo-code of the
        SSFI and EnsCLS papers, or from the labelled ones alone.
    scaling : {None, "standard", "minmax"}
        What is done to features before a judge sees them, fitted on training rows.
    metrics : tuple of str
        Of accuracy, balanced_accuracy, macro_f1, auc; the first one is the main one.
    seed : int
    """

    name: str = "custom"
    n_runs: int = 10
    train_size: float = 2 / 3
    labels_per_class: int | None = 3
    n_labelled: int | None = None
    labelled_share: float | None = None
    n_unlabelled: int | None = None
    n_test: int | None = None
    sizes: tuple[int, ...] = tuple(range(1, 11))
    judges: tuple[str, ...] = ("tree",)
    train_on: Literal["all", "labelled"] = "all"
    scaling: Literal["standard", "minmax"] | None = None
    metrics: tuple[str, ...] = ("accuracy",)
    seed: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = _plain(getattr(self, field.name))
            is_one_of_several = field.name in _SEVERAL and not isinstance(value, tuple)
            object.__setattr__(self, field.name, (value,) if is_one_of_several else value)
        for name, (rule, holds) in _RULES.items():
            if not holds(getattr(self, name)):
                raise ValueError(f"{name} must be {rule}: got {getattr(self, name)!r}.")
        given = [name for name in _AMOUNTS if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"exactly one of {', '.join(_AMOUNTS)} says how many rows are labelled: got "
                f"{', '.join(given) or 'none'}."
            )

    @property
    def n_top(self) -> int:
        """The largest number of features that is judged."""
        return max(self.sizes)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON holds them."""
        settings: dict[str, Any] = plain(asdict(self))
        return settings

    @classmethod
    def from_dict(cls, settings: dict[str, Any]) -> "Protocol":
        """Return the protocol that `to_dict` wrote."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in settings.items() if name in known})


def _plain(value: Any) -> Any:
    """Return numbers of numpy as Python's, and lists as tuples: what JSON gives back unchanged."""
    if isinstance(value, str | bool | None):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    return tuple(map(_plain, value)) if isinstance(value, Iterable) else value


def _is_integer(value: Any, least: int) -> bool:
    return is_integer(value) and value >= least


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1


def _are_different(values: tuple[Any, ...]) -> bool:
    return len(set(values)) == len(values) > 0


_AMOUNTS = ("labels_per_class", "n_labelled", "labelled_share")
_SEVERAL = ("sizes", "judges", "metrics")

# field -> what it must be, in words and as a test
_RULES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    **dict.fromkeys(
        ("labels_per_class", "n_labelled", "n_unlabelled", "n_test"),
        ("a whole number from 1", lambda value: value is None or _is_integer(value, 1)),
    ),
    "n_runs": (
        f"a whole number from 1 to {MAX_RUNS:,}",
        lambda value: _is_integer(value, 1) and value <= MAX_RUNS,
    ),
    "train_size": ("between 0 and 1", lambda value: _is_share(value) and value < 1),
    "labelled_share": ("above 0 and at most 1", lambda value: value is None or _is_share(value)),
    "sizes": (
        "different whole numbers from 1",
        lambda sizes: _are_different(sizes) and all(_is_integer(size, 1) for size in sizes),
    ),
    "judges": (
        "different names",
        lambda names: _are_different(names) and all(isinstance(name, str) for name in names),
    ),
    "train_on": ("'all' or 'labelled'", lambda value: value in ("all", "labelled")),
    "scaling": (
        "None, 'standard' or 'minmax'",
        lambda value: value in (None, "standard", "minmax"),
    ),
    "metrics": (
        f"some of {', '.join(METRICS)}, each once",
        lambda metrics: _are_different(metrics) and set(metrics) <= set(METRICS),
    ),
    "seed": ("a whole number from 0", lambda value: _is_integer(value, 0)),
}

PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol
    for protocol in [
        # Algorithm 5 of Barkia, Elghazel, Aussem (2011).
        Protocol(name="ssfi"),
        # Algorithm 3 of Elghazel, Aussem, Benabdeslem, Hindawi (2013). A linear machine on
        # z-scores fits the published numbers; the paper does not name the kernel.
        Protocol(name="enscls", sizes=tuple(range(1, 21)), judges=("svm",), scaling="standard"),
        # Ren, Qiu, Fan, Cheng, Yu (2008): six labelled and a hundred unlabelled rows, a judge that
        # learns from the six, sizes 5 to 20. Weka's nearest neighbours see min-max scaled features.
        Protocol(
            name="fw-semifs",
            labels_per_class=None,
            n_labelled=6,
            n_unlabelled=100,
            sizes=tuple(range(5, 21)),
            judges=("nb", "nnge", "knn"),
            train_on="labelled",
            scaling="minmax",
        ),
        # Yaslan, Cataltepe: half of the rows train, a tenth of these is labelled, subspaces of 25
        # features, three nearest neighbours.
        Protocol(
            name="rel-rasco",
            train_size=0.5,
            labels_per_class=None,
            labelled_share=0.1,
            sizes=(25,),
            judges=("knn:n_neighbors=3",),
            train_on="labelled",
        ),
    ]
}


def find_protocol(protocol: "str | Protocol") -> Protocol:
    """Return a protocol, or the preset of that name."""
    if isinstance(protocol, Protocol):
        return protocol
    if not isinstance(protocol, str) or protocol not in PROTOCOLS:
        raise ValueError(
            f"protocol must be one of {', '.join(PROTOCOLS)}, or a Protocol: got {protocol!r}."
        )
    return PROTOCOLS[protocol]


def share_of(n_rows: int, share: float) -> int:
    """Return the whole number of rows that a share is, rounded down.

    Examples
    --------
    >>> share_of(10, 1 - 0.9), share_of(62, 1 / 3)
    (1, 20)
    """
    return math.floor(n_rows * share + 1e-9)
