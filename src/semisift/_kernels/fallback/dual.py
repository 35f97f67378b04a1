"""Dual variables of a support vector machine: kernels/dual.pyx in numpy."""

import numpy as np

from semisift.utils._typing import Floats

FLAT = 1e-12


@np.errstate(all="ignore")  # what is no number is passed over
def solve(
    gram: Floats,
    target: Floats,
    low: Floats,
    high: Floats,
    dual: Floats,
    gradient: Floats,
    tol: float,
    max_iter: int,
) -> int:
    """Minimise ``dual' gram dual / 2 - target' dual`` between bounds, the sum kept as it is.

    Parameters
    ----------
    gram : float array of shape (n, n)
    target, low, high : float arrays of shape (n,)
    dual : float array of shape (n,)
        Where to start, within the bounds; overwritten.
    gradient : float array of shape (n,)
        ``gram @ dual - target``; kept up to date.
    tol : float
        How far apart the gradients of a variable that can shrink and one that can grow may be, as
        a share of the largest entry of ``gram @ dual`` or `target`.
    max_iter : int
        Number of steps to stop at.

    Returns
    -------
    int
        Number of steps.
    """
    scale = np.fmax.reduce(np.abs([gradient + target, target]), axis=None, initial=0.0)
    diagonal = gram.diagonal()
    for step_number in range(max_iter):
        rising = np.where((dual < high) & (gradient < np.inf), gradient, np.inf)
        falling = np.where((dual > low) & (gradient > -np.inf), gradient, -np.inf)
        i = int(np.argmin(rising))
        apart = falling - rising[i]
        if not falling.max() - rising[i] > tol * scale:
            return step_number
        both = diagonal[i] + diagonal
        # rows of zeros have nothing but rounding, also below 0
        curvature = np.fmax(both - 2 * gram[i], FLAT * np.maximum(both, 0.0))
        curvature = np.where(curvature > 0, curvature, 0.0)  # so is NaN
        gain = np.where(curvature > 0, apart * apart / curvature, np.inf)
        gain = np.where((apart > 0) & (gain >= 0), gain, -1.0)
        j = int(np.argmax(gain))
        step = apart[j] / curvature[j]
        if gain[j] < 0:  # no gain is a number
            return step_number
        room = high[i] - dual[i], dual[j] - low[j]
        if step >= min(room):
            step = min(room)
            grown, shrunk = min(high[i], dual[i] + step), max(low[j], dual[j] - step)
            dual[i] = high[i] if room[0] <= room[1] else grown
            dual[j] = shrunk if room[0] <= room[1] else low[j]
        else:
            dual[i] += step
            dual[j] -= step
        gradient += step * (gram[i] - gram[j])
    return max_iter
