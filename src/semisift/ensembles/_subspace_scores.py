"""The constrained Laplacian score of each member of EnsCLS in its subspace.

It comes from the kernel, or from `semisift.math.cls` where there is none: the same numbers up to
rounding.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semisift import kernels
from semisift.ensembles._subspaces import Deal, Setting, deal_members, listed_member
from semisift.math.blocks import dense_columns
from semisift.math.cls import Parts, cls_parts, combine
from semisift.math.cls_weights import Weights
from semisift.math.constraints import Constraints
from semisift.math.som import FEWEST_ROWS, batch_som
from semisift.math.threads import one_blas_thread


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


def score_members(members: tuple[int, int], setting: Setting) -> MemberScores:
    """Score the features of the members start..stop-1.

    Parameters
    ----------
    members : tuple of int
        The first member and the first one after the last.
    setting : Setting

    Returns
    -------
    MemberScores
    """
    deal = deal_members(members, setting)
    if setting.constraints.labels is None:
        return _score_dealt(deal, setting)
    alone = [_score_dealt(*listed_member(i, deal, setting)) for i in range(len(deal.features))]
    return MemberScores(*(np.concatenate(part) for part in zip(*alone, strict=True)))


def _score_dealt(deal: Deal, setting: Setting) -> MemberScores:
    if setting.compress == "som" and len(setting.unlabelled) > FEWEST_ROWS:
        with one_blas_thread():
            done = [_compressed(i, deal, setting) for i in range(len(deal.features))]
    elif kernels.AVAILABLE:
        return _finish(deal, *run_kernel(setting.X, setting.unit, deal, setting), setting)
    else:
        done = [_general(i, deal, setting) for i in range(len(deal.features))]
    sums, totals = (np.array(part) for part in zip(*done, strict=True))
    return _finish(deal, sums, totals, setting)


def _finish(
    deal: Deal, sums: NDArray[np.float64], totals: NDArray[np.float64], setting: Setting
) -> MemberScores:
    return MemberScores(deal.features, combine(sums, totals, setting.balance), totals)


def run_kernel(
    X: Any, unit: NDArray[np.float64], deal: Deal, setting: Setting
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


# --- one member at a time -------------------------------------------------------------------------


def _own(i: int, deal: Deal, setting: Setting) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the constrained and the unlabelled rows of a member in its subspace."""
    values = dense_columns(setting.X, deal.features[i])
    unlabelled = deal.unlabelled[i if len(deal.unlabelled) > 1 else 0]
    return values[setting.constraints.rows], values[unlabelled]


def _compressed(
    i: int, deal: Deal, setting: Setting
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score a member whose unlabelled rows are the units of a map."""
    held, unlabelled = _own(i, deal, setting)
    units = batch_som(unlabelled).units
    if not kernels.AVAILABLE:
        return _parts(held, units, i, deal, setting)
    X = np.asfortranarray(np.vstack([held, units]))
    rows = np.arange(len(X), dtype=np.int32)
    alone = Deal(
        np.arange(X.shape[1], dtype=np.int32)[None, :],
        deal.copies[i : i + 1],
        deal.pair_counts[i : i + 1],
        rows[None, len(held) :],
    )
    own = replace(setting, constraints=setting.constraints._replace(rows=rows[: len(held)]))
    sums, totals = run_kernel(X, setting.unit[deal.features[i]], alone, own)
    return sums[0], totals[0]


def _general(
    i: int, deal: Deal, setting: Setting
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return _parts(*_own(i, deal, setting), i, deal, setting)


def _parts(
    held: NDArray[np.float64],
    unlabelled: NDArray[np.float64],
    i: int,
    deal: Deal,
    setting: Setting,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score a member in numpy."""
    parts, _ = _parts_and_weights(held, unlabelled, i, deal, setting)
    return parts.sums, parts.totals


def weigh_members(n_members: int, setting: Setting) -> list[Weights]:
    """Return what ties the rows of the first members, to tell whether the heat fits the data."""
    deal = deal_members((0, n_members), setting)
    if setting.constraints.labels is None:
        return [_weights(i, deal, setting) for i in range(n_members)]
    return [_weights(0, *listed_member(i, deal, setting)) for i in range(n_members)]


def _weights(i: int, deal: Deal, setting: Setting) -> Weights:
    return _parts_and_weights(*_own(i, deal, setting), i, deal, setting)[1]


def _parts_and_weights(
    held: NDArray[np.float64],
    unlabelled: NDArray[np.float64],
    i: int,
    deal: Deal,
    setting: Setting,
) -> tuple[Parts, Weights]:
    """Work on a member's rows; what counts several times is there several times."""
    _, must_link, cannot_link, _ = setting.constraints
    if len(deal.pair_counts):
        must_counts, cannot_counts = np.split(deal.pair_counts[i], [len(must_link)])
        must_link = np.repeat(must_link, must_counts, axis=0)
        cannot_link = np.repeat(cannot_link, cannot_counts, axis=0)
    else:
        held, must_link, cannot_link = repeat_rows(held, deal.copies[i], must_link, cannot_link)
    X = np.asfortranarray(np.vstack([held, unlabelled]))
    constraints = Constraints(np.arange(len(held)), must_link, cannot_link)
    unit = setting.unit[deal.features[i]]
    rest = np.arange(len(held), len(X))
    parts, weights = cls_parts(X, rest, constraints, setting.options, unit)
    parts.sums[:, X.max(axis=0) == X.min(axis=0)] = np.nan
    return parts, weights


def repeat_rows(
    held: NDArray[np.float64],
    copies: NDArray[np.integer],
    must_link: NDArray[np.integer],
    cannot_link: NDArray[np.integer],
) -> tuple[NDArray[np.float64], NDArray[np.integer], NDArray[np.integer]]:
    """Return rows as often as they count, with their pairs; copies of a row must link."""
    origin = np.repeat(np.arange(len(held)), copies)
    rows = np.flatnonzero(copies > 1)
    own = _repeat_pairs(np.column_stack([rows, rows]), copies)
    must_link = _repeat_pairs(must_link, copies)
    must_link = np.concatenate([must_link, own[own[:, 0] < own[:, 1]]])
    return held[origin], must_link, _repeat_pairs(cannot_link, copies)


def _repeat_pairs(pairs: NDArray[np.integer], copies: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return every copy of the first row of a pair with every copy of the second."""
    first, second = pairs.T
    n_each = copies[first] * copies[second]
    pair = np.repeat(np.arange(len(pairs)), n_each)
    number = np.arange(len(pair)) - np.repeat(np.cumsum(n_each) - n_each, n_each)
    starts = np.cumsum(copies) - copies
    one, other = np.divmod(number, copies[second][pair])
    return np.column_stack([starts[first][pair] + one, starts[second][pair] + other])
