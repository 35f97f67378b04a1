"""The constrained Laplacian score of each member of EnsCLS in its subspace."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semisift import kernels
from semisift._threads import one_blas_thread
from semisift.ensembles._subspaces import Deal, SubspaceSetting, deal_members, listed_member
from semisift.math.blocks import dense_columns
from semisift.math.cls import Parts, combine, member_parts
from semisift.math.som import batch_som


class MemberScores(NamedTuple):
    """Scores of a block of members.

    Attributes
    ----------
    features : int32 array of shape (n_members, m)
    scores : float array of shape (n_members, m)
        Low is good; NaN where a feature is constant.
    totals : float array of shape (n_members, 5)
        As in `semisift.math.cls.Parts`.
    """

    features: NDArray[np.int32]
    scores: NDArray[np.float64]
    totals: NDArray[np.float64]


def score_members(members: tuple[int, int], setting: SubspaceSetting) -> MemberScores:
    """Score the features of the members start..stop-1.

    Parameters
    ----------
    members : tuple of int
        The first member and the first one after the last.
    setting : SubspaceSetting

    Returns
    -------
    MemberScores
    """
    deal = deal_members(members, setting)
    if setting.constraints.labels is None:
        return _score_dealt(deal, setting)
    alone = [_score_dealt(*listed_member(i, deal, setting)) for i in range(len(deal.features))]
    return MemberScores(*(np.concatenate(part) for part in zip(*alone, strict=True)))


def _score_dealt(deal: Deal, setting: SubspaceSetting) -> MemberScores:
    if setting.maps_rows:
        with one_blas_thread():
            done = [_compressed(i, deal, setting) for i in range(len(deal.features))]
        sums, totals = (np.array(part) for part in zip(*done, strict=True))
    else:
        sums, totals = run_kernel(setting.X, setting.unit, deal, setting)
    return MemberScores(deal.features, combine(sums, totals, setting.balance), totals)


def run_kernel(
    X: Any, unit: NDArray[np.float64], deal: Deal, setting: SubspaceSetting
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sums and totals of some members."""
    rows, must_link, cannot_link, _ = setting.constraints
    return kernels.neighbours.cls_parts(
        kernels.columns.Columns(X),
        (np.frexp(unit)[1] - 1).astype(np.int32),
        deal.features,
        rows.astype(np.int32),
        deal.copies,
        deal.unlabelled,
        np.concatenate([must_link, cannot_link]).astype(np.int32),
        len(must_link),
        deal.pair_counts,
        setting.options,
    )


def _compressed(
    i: int, deal: Deal, setting: SubspaceSetting
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score a member whose unlabelled rows are the units of a map."""
    sums, totals = run_kernel(*_mapped(deal.alone(i), setting))
    return sums[0], totals[0]


def _mapped(
    alone: Deal, setting: SubspaceSetting
) -> tuple[NDArray[np.float64], NDArray[np.float64], Deal, SubspaceSetting]:
    """Return the rows of a member, with a map for the unlabelled ones, as `run_kernel` takes it."""
    features = alone.features[0]
    values = dense_columns(setting.X, features)
    held = values[setting.constraints.rows]
    X = np.asfortranarray(np.vstack([held, batch_som(values[alone.unlabelled[0]]).units]))
    rows, columns = (np.arange(n, dtype=np.int32) for n in X.shape)
    mapped = alone._replace(features=columns[None, :], unlabelled=rows[None, len(held) :])
    own = replace(setting, constraints=setting.constraints._replace(rows=rows[: len(held)]))
    return X, setting.unit[features], mapped, own


def weigh_members(n_members: int, setting: SubspaceSetting) -> list[Parts]:
    """Return what ties the rows of the first members, to tell whether the heat fits the data."""
    deal = deal_members((0, n_members), setting)
    return [_weights(*listed_member(i, deal, setting)) for i in range(n_members)]


def _weights(alone: Deal, setting: SubspaceSetting) -> Parts:
    if setting.maps_rows:
        with one_blas_thread():
            X, unit, alone, setting = _mapped(alone, setting)
    else:
        features = alone.features[0]
        X, unit = dense_columns(setting.X, features), setting.unit[features]
    return member_parts(
        X,
        alone.unlabelled[0],
        setting.constraints,
        alone.copies[0],
        alone.pair_counts[0] if len(alone.pair_counts) else None,
        setting.options,
        unit,
    )
