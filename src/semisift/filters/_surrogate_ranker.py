"""What Semi-MIM and Semi-JMI share: surrogates of the classes, and what they fall back on."""

from abc import abstractmethod
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from semisift._base import FeatureRanker
from semisift._labels import Labels
from semisift._problem import Problem
from semisift._sklearn import Interval, StrOptions
from semisift._warnings import warn
from semisift.exceptions import FallbackWarning
from semisift.math.greedy import DECIMALS
from semisift.math.information import Binned, bin_columns, entropy
from semisift.math.surrogates import Surrogates, surrogates


class SurrogateRanker(FeatureRanker):
    """Base class of the rankers that give the unlabelled rows to one class.

    Subclasses implement ``_score_class(problem, binned, targets)``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FeatureRanker._parameter_constraints,
        "class_prior": [None, Interval(Real, 0, 1, closed="neither"), "array-like"],
        "variant": [StrOptions({"default", "paper"})],
    }

    class_prior: Any = None
    variant: Literal["default", "paper"] = "default"

    def _score(self, problem: Problem) -> NDArray[np.float64]:
        labels = problem.labels
        priors = parse_priors(self.class_prior, labels.n_classes)
        binned = bin_columns(problem.X)
        if len(np.unique(labels.codes)) < 2:
            warn(
                f"{type(self).__name__} has no label, or one class and no unlabelled row: it ranks "
                "by the entropy of the columns. Label rows of at least two classes.",
                FallbackWarning,
            )
            return np.round(entropy(binned), DECIMALS)
        scores = [
            self._score_class(problem, binned, targets)
            for targets in self._problems(labels, priors)
        ]
        return np.mean(scores, axis=0)

    def _problems(self, labels: Labels, priors: list[float | None]) -> list[Surrogates]:
        """Return the surrogates of each class against the rest, or of the last of two classes."""
        first = 1 if labels.n_classes == 2 else 0
        return [
            surrogates(
                labels.codes, code, priors[code], both_on_threshold=self.variant == "default"
            )
            for code in range(first, labels.n_classes)
        ]

    @abstractmethod
    def _score_class(
        self, problem: Problem, binned: Binned, targets: Surrogates
    ) -> NDArray[np.float64]:
        """Score the columns by one or two surrogates of one class."""


def parse_priors(class_prior: Any, n_classes: int) -> list[float | None]:
    """Return the share of each class, None where it is to be taken from the labelled rows."""
    if class_prior is None:
        return [None] * n_classes
    given = np.asarray(class_prior, dtype=np.float64)
    if given.ndim == 0 and n_classes <= 2:
        shares: list[float | None] = [1.0 - float(given), float(given)]
        return shares[2 - n_classes :]
    if given.shape != (n_classes,) or not ((given > 0) & (given < 1)).all():
        raise ValueError(
            f"class_prior must be one share for each of the {n_classes} classes, between 0 and 1, "
            f"or with two classes that of the last one: got {class_prior!r}."
        )
    if n_classes > 1 and abs(given.sum() - 1.0) > 1e-6:
        raise ValueError(
            f"class_prior must add up to 1 over the {n_classes} classes: got {class_prior!r}, "
            f"which add up to {given.sum():.6g}."
        )
    return [float(share) for share in given]
