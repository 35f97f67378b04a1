"""GraphRanker: the parameters of the neighbour graph that several rankers share."""

import inspect
import re
from numbers import Real
from textwrap import indent
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from semisift._base import FeatureRanker
from semisift._problem import Problem
from semisift._sklearn import HasMethods, Interval, StrOptions, at_least
from semisift._warnings import warn
from semisift.exceptions import FallbackWarning
from semisift.math.graph import Graph, GraphOptions
from semisift.math.pairs import count_pairs

Ranker = TypeVar("Ranker", bound=type)

PARAMETERS = """\
variant : {"default", "paper"}, default="default"
    "paper" takes the union of the neighbours, as the papers do, in place of "mean".
graph : {"mean", "union"}, array, sparse matrix or transformer, default="mean"
    How the neighbours of the rows become a symmetric graph: an edge has the mean, or the
    larger, of the shares that its two rows give it among their neighbours. Rows at the
    same distance share the last places equally, so that the order of the rows does not
    matter. A matrix of weights between all rows is averaged with its transpose and used as
    it is, its diagonal in the degrees only. A transformer (such as
    `sklearn.neighbors.KNeighborsTransformer` or `ApproximateNeighbors`) finds the
    neighbours by its own rules; distances become weights as below.
weights : {"heat", "binary"}, default={weights}
    ``exp(-d2 / (heat_constant * scale))`` with d2 the squared distance, or 1.
feature_scaling : {None, "minmax"}, default=None
    "minmax" measures distances after scaling each column to [0, 1]. Counts, as of words,
    are better left alone.
heat_scale : {"mean", "median", "raw"}, default="mean"
    The scale of the heat weights: the mean squared distance over all pairs of rows, the
    median over the edges between different rows, or 1. With a transformer that does not
    tell that its distances are Euclidean, the mean is that over its edges.
heat_constant : float, default=1.0
    Larger is more even weights. A graph that too small a constant leaves with few
    effective edges is a `GraphWarning`, and one without any an error.
redundancy_threshold : float, default=None
    Rank columns whose absolute correlation with a better one exceeds it behind all others.
random_state : int or RandomState instance, default=None
    Seed of the order of ties. None is a fixed seed."""


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

    def __init__(
        self,
        *,
        n_features_to_select: int | float | str | None = None,
        n_neighbors: int = 10,
        variant: Literal["default", "paper"] = "default",
        graph: Any = "mean",
        weights: Literal["heat", "binary"] = "heat",
        feature_scaling: Literal["minmax", "standard"] | None = None,
        heat_scale: Literal["mean", "median", "raw"] = "mean",
        heat_constant: float = 1.0,
        redundancy_threshold: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            n_features_to_select=n_features_to_select,
            redundancy_threshold=redundancy_threshold,
            random_state=random_state,
        )
        self.n_neighbors = n_neighbors
        self.variant = variant
        self.graph = graph
        self.weights = weights
        self.feature_scaling = feature_scaling
        self.heat_scale = heat_scale
        self.heat_constant = heat_constant

    def _graph(self, problem: Problem, shift: bool = False) -> Graph:
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

    def _lacks_classes(self, problem: Problem, instead: str) -> bool:
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


def documented(cls: Ranker) -> Ranker:
    """Write the shared parameters where the docstring of a class says ``(graph parameters)``.

    Those that the class does not have, or tells about itself, are left out.
    """
    if cls.__doc__:  # absent under python -OO
        known = inspect.signature(cls).parameters
        entries = re.split(r"\n(?=\w)", PARAMETERS)
        names = [entry.partition(" :")[0] for entry in entries]
        text = "\n".join(
            entry
            for name, entry in zip(names, entries, strict=True)
            if name in known and f"    {name} :" not in cls.__doc__
        ).replace("{weights}", f'"{known["weights"].default}"')
        cls.__doc__ = cls.__doc__.replace("    (graph parameters)", indent(text, "    "))
    return cls
