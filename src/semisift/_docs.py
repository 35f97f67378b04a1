"""What the docstrings of several classes say about a parameter they share, each said once.

A docstring says ``{n_features_to_select}`` where the entry is to stand. Words in parentheses tell
entries apart that are about the same parameter: ``{random_state (ties)}``. What is not here is
taken from the docstring of a base class: ``{classes_}``.
"""

import re
from textwrap import indent
from typing import Any

ENTRIES = {
    # of slots that are filled in turn
    "graph parameters": "{variant (graph)}\n{graph}\n{weights}\n"
    "{feature_scaling (distances)}\n{heat_scale}\n{heat_constant}",
    "n_features_to_select": """\
n_features_to_select : int, float or str, default=None
    How many columns to select: a number, a share in (0, 1], or a rule: "shadow", "stability"
    or "knockoff" (see `FeatureRanker`). None selects half.""",
    "n_features_to_select (picked)": """\
n_features_to_select : int, float or str, default=None
    How many columns to pick and to select: a number, a share in (0, 1], or a rule: "shadow",
    "stability" or "knockoff" (see `FeatureRanker`). None selects half, of which at most 100
    are picked one by one.""",
    "redundancy_threshold": """\
redundancy_threshold : float, default=None
    Rank redundant columns, whose absolute correlation with a better one exceeds it, behind all
    others.""",
    "random_state (ties)": """\
random_state : int or RandomState instance, default=None
    Seed of the order of ties. None is a fixed seed.""",
    "random_state (draws)": """\
random_state : int or RandomState instance, default=None
    Seed of the draws. None is a fixed seed.""",
    "random_state (draws, ties)": """\
random_state : int or RandomState instance, default=None
    Seed of the draws and of the order of ties. None is a fixed seed.""",
    "n_jobs": """\
n_jobs : int, default=None
    Threads; the result does not depend on it.""",
    "n_members (auto)": """\
n_members : int or "auto", default="auto"
    Committee size; "auto" is the paper's ``10 ceil(log(0.01) / log(1 - 1 / sqrt(p)))``.""",
    "max_depth": """\
max_depth : int, default=None
    Depth limit of the trees; None grows them until pure.""",
    "max_features (node)": """\
max_features : "sqrt", int or float, default="sqrt"
    Features that each node draws: the rounded square root, a number or a share.""",
    "max_features (member)": """\
max_features : "sqrt", int or float, default="sqrt"
    Features that each member draws: the rounded square root, a number or a share.""",
    "permutation": """\
permutation : {"expected", "sampled"}, default="expected"
    The exact expectation over all permutations, or one random permutation for each feature.""",
    "estimator (for trees)": """\
estimator : classifier, default=None
    Any scikit-learn classifier instead of the compiled trees; far slower.""",
    "voting": """\
voting : {"soft", "hard"}, default="soft"
    Trees vote with the class shares of their leaf, or with one vote for its class.""",
    "class_prior": """\
class_prior : float or array-like of shape (n_classes,), default=None
    The share of each class among all rows, in sorted order; one number is that of the last of
    two classes. None takes the shares among the labelled rows.""",
    "n_neighbors": """\
n_neighbors : int, default=10
    Neighbours of each row; at most all other rows are used.""",
    "n_neighbors (unlabelled)": """\
n_neighbors : int, default=10
    Neighbours of each unlabelled row; at most all other rows are used.""",
    "graph (by name)": """\
graph : {"mean", "union"}, default="mean"
    An edge has the mean, or the larger, of the shares that its two rows give it among their
    neighbours. Rows at the same distance share the last places equally.""",
    "heat_scale (by name)": """\
heat_scale : {"mean", "median", "raw"}, default="mean"
    The scale of the heat weights: the mean squared distance over all pairs of rows, the median
    over the edges of the graph, or 1.""",
    "feature_scaling (mean)": """\
feature_scaling : {None, "minmax"}, default=None
    "minmax" measures distances after scaling each column to [0, 1], as the mean over the
    columns. Counts, as of words, are better left alone.""",
    "self_loops": """\
self_loops : bool, default=True
    Tie each labelled row to itself by the largest weight.""",
    "mean (of the variance)": """\
mean : {"D", "plain"}, default="D"
    The mean that the variance is taken from: of all rows, or weighted by D.""",
    "variant (graph)": """\
variant : {"default", "paper"}, default="default"
    "paper" takes the union of the neighbours, as the papers do, in place of "mean".""",
    "graph": """\
graph : {"mean", "union"}, array, sparse matrix or transformer, default="mean"
    How the neighbours of the rows become a symmetric graph: an edge has the mean, or the
    larger, of the shares that its two rows give it among their neighbours. Rows at the
    same distance share the last places equally, so that the order of the rows does not
    matter. A matrix of weights between all rows is averaged with its transpose and used as
    it is, its diagonal in the degrees only. A transformer (such as
    `sklearn.neighbors.KNeighborsTransformer` or `ApproximateNeighbors`) finds the
    neighbours by its own rules; distances become weights as below.""",
    "weights": """\
weights : {"heat", "binary"}, default=<default>
    ``exp(-d2 / (heat_constant * scale))`` with d2 the squared distance, or 1.""",
    "feature_scaling (distances)": """\
feature_scaling : {None, "minmax"}, default=None
    "minmax" measures distances after scaling each column to [0, 1]. Counts, as of words,
    are better left alone.""",
    "heat_scale": """\
heat_scale : {"mean", "median", "raw"}, default="mean"
    The scale of the heat weights: the mean squared distance over all pairs of rows, the
    median over the edges between different rows, or 1. With a transformer that does not
    tell that its distances are Euclidean, the mean is that over its edges.""",
    "heat_constant": """\
heat_constant : float, default=1.0
    Larger is more even weights. A graph that too small a constant leaves with few
    effective edges is a `GraphWarning`, and one without any an error.""",
}


def fill_slots(cls: type[Any]) -> None:
    """Put the shared entries where the docstring of a class names them.

    ``<default>`` in an entry is the default of the class.
    """
    if cls.__doc__:  # not under python -OO
        slots = re.compile(r"^( *)\{([^{}]+)\}$", re.MULTILINE)
        cls.__doc__ = slots.sub(lambda slot: _find_entry(cls, slot), cls.__doc__)


def _find_entry(cls: type[Any], slot: re.Match[str]) -> str:
    margin, name = slot.groups()
    if name in ENTRIES:
        entry = ENTRIES[name]
        if "<default>" in entry:
            default = cls.__init__.__kwdefaults__[entry.partition(" :")[0]]
            entry = entry.replace("<default>", f'"{default}"')
        return indent(entry, margin)
    said = re.compile(rf"^{margin}{re.escape(name)} : .*(\n{margin}    .*)*", re.MULTILINE)
    found = (said.search(base.__doc__ or "") for base in cls.__mro__[1:])
    return next((entry[0] for entry in found if entry), slot[0])
