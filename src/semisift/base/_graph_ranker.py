"""GraphRanker: the parameters of the neighbour graph that several rankers share."""

from numbers import Real
from typing import Any, ClassVar, Literal

from semisift.base._pairs import count_pairs
from semisift.base._ranker import FeatureRanker
from semisift.base._training_data import TrainingData
from semisift.exceptions import FallbackWarning
from semisift.utils._graph import Graph, GraphOptions
from semisift.utils._sklearn_compat import HasMethods, Interval, StrOptions, at_least
from semisift.utils._warnings import warn


class GraphRanker(FeatureRanker):
    """Base class of the rankers on a neighbour graph."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FeatureRanker._parameter_constraints,
        "n_neighbors": [at_least(1)],
        "variant": [StrOptions({"default", "paper"})],
        "graph": [
            StrOptions({"mean", "union"}),
            "array-like",
            "sparse matrix",
            HasMethods("fit_transform"),
        ],
        "weights": [StrOptions({"heat", "binary"})],
        "feature_scaling": [None, StrOptions({"minmax"})],
        "heat_scale": [StrOptions({"mean", "median", "raw"})],
        "heat_constant": [Interval(Real, 0, None, closed="neither")],
    }

    n_neighbors: int = 10
    variant: Literal["default", "paper"] = "default"
    graph: Any = "mean"
    weights: Literal["heat", "binary"] = "heat"
    feature_scaling: Literal["minmax", "standard"] | None = None
    heat_scale: Literal["mean", "median", "raw"] = "mean"
    heat_constant: float = 1.0

    def _graph(self, problem: TrainingData, shift: bool = False) -> Graph:
        """Return the graph; shifted, for a score that the scale of the weights does not change."""
        by_name = isinstance(self.graph, str)
        union = self.variant == "paper" or (by_name and self.graph == "union")
        options = GraphOptions(
            n_neighbors=self.n_neighbors,
            symmetry="union" if union else "mean",
            weights=self.weights,
            feature_scaling=self.feature_scaling,
            heat_scale=self.heat_scale,
            heat_constant=self.heat_constant,
            shift=shift,
        )
        return problem.graph(options, None if by_name else self.graph)

    def _lacks_classes(self, problem: TrainingData, instead: str) -> bool:
        """Return whether no two rows are known to be of different classes, with a warning."""
        n_must_link, n_cannot_link = count_pairs(problem)
        if n_cannot_link:
            return False
        n_labelled = len(problem.labels.labelled)
        what = "no label" if not n_labelled else "labels of one class only"
        what = "no cannot-link pair" if n_must_link and n_labelled == 0 else what
        warn(
            f"{type(self).__name__} has {what}: it ranks by {instead}. Label rows of at least two "
            "classes.",
            FallbackWarning,
        )
        return True
