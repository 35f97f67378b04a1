"""What the training data give to the constrained Laplacian score: rows, pairs and settings."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semisift.base._pairs import count_pairs, some_pairs, units, unlabelled_pairs
from semisift.base._training_data import TrainingData
from semisift.exceptions import FallbackWarning, GraphWarning
from semisift.filters._constrained_laplacian import Constraints, TieOptions
from semisift.utils._columns import column_factors, too_many_to_square
from semisift.utils._labels import Labels
from semisift.utils._typing import Floats
from semisift.utils._warnings import warn

# The weights as printed: a constant of 0.1 on raw squared distances.
PRINTED = TieOptions(
    symmetry="union", heat_scale="raw", heat_constant=0.1, shift=False, self_loops=False
)

CURE = (
    "Set heat_scale='mean' with heat_constant=1, the default: it measures the constant in the mean "
    "squared distance of the rows."
)


def weight_options(ranker: Any) -> TieOptions:
    """Return the parameters of a ranker as options; those as printed for ``variant="paper"``."""
    if ranker.variant == "paper":
        return PRINTED
    return TieOptions(
        n_neighbors=ranker.n_neighbors,
        symmetry=ranker.graph,
        weights=ranker.weights,
        heat_scale=ranker.heat_scale,
        heat_constant=ranker.heat_constant,
        # the score does not depend on the scale of the weights, but raw distances are meant as such
        shift=ranker.heat_scale != "raw",
        self_loops=ranker.self_loops,
        mean=ranker.mean,
    )


def list_constraints(
    data: TrainingData, most: int | None = None
) -> tuple[Constraints, NDArray[np.int32]]:
    """List the constrained rows, labelled or in a given pair, their pairs, and the other rows.

    Parameters
    ----------
    data : TrainingData
    most : int, optional
        A random part of the pairs that follow from the labels, where there are more of a kind.
        Without it these pairs are not listed where there are very many labelled rows.

    Returns
    -------
    constraints : Constraints
    unlabelled : int32 array
        The other rows, ascending.
    """
    free = data.labels.codes < 0
    if data.given_pairs is not None:
        free[data.given_pairs.must_link] = False
        free[data.given_pairs.cannot_link] = False
    rows, place = np.flatnonzero(~free).astype(np.int32), np.cumsum(~free) - 1
    labels = None
    if most is not None:
        pairs = some_pairs(data, most)
    elif too_many_to_square(len(data.labels.labelled)):
        pairs = unlabelled_pairs(data)
        labels = Labels(data.labels.codes[rows], data.labels.classes)
    else:
        pairs = data.pairs
    must, cannot = (
        place[kind].astype(np.int32).reshape(-1, 2) for kind in (pairs.must_link, pairs.cannot_link)
    )
    return Constraints(rows, must, cannot, labels), np.flatnonzero(free).astype(np.int32)


def scaled(data: TrainingData, feature_scaling: str | None) -> tuple[Any, Floats]:
    """Return X with its columns scaled for distances, and the units to add them up in.

    A score of a column does not depend on its scale once the weights of the rows are known, so the
    scaled matrix serves for both.
    """
    X, unit = data.X, units(data)
    if feature_scaling is None:
        return X, unit
    width = data.spans if data.has_missing else None
    factors, _ = column_factors(X, feature_scaling, width)
    X = X.multiply(factors[None, :]).tocsc() if data.is_sparse else X * factors
    return X, np.ones(X.shape[1]) / 8


def warn_of_no_cannot_link(data: TrainingData, name: str) -> None:
    """Say so where the supervised part of the score is missing."""
    if count_pairs(data)[1]:
        return
    warn(
        f"{name} has no cannot-link pair: it compares the differences between neighbours and in "
        "must-link pairs with the variance alone. Label rows of a second class, or give a "
        "cannot-link pair.",
        FallbackWarning,
    )


def check_not_vanished(name: str, is_printed: bool, few_edges: float | None = None) -> None:
    """Refuse weights that all vanished, or warn if they are as printed; warn of few edges."""
    if few_edges is not None:
        text = f"{name} rests on weights as uneven as if there were {few_edges:.3g} edges. {CURE}"
    elif is_printed:
        text = (
            f"Every weight of {name} vanished, as exp(-d2 / 0.1) does where squared distances d2 "
            "are above 75: nothing can be ranked. Leave variant='paper' for the default, which "
            "measures distances in their mean (heat_scale='mean')."
        )
    else:
        raise ValueError(f"Every weight of {name} vanished. {CURE}")
    warn(text, GraphWarning)
