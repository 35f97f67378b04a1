"""Dual variables of a support vector machine: two at a time, starting from where they are."""

from libc.math cimport INFINITY, fabs

cdef double FLAT = 1e-12  # a curvature below this share of the diagonal is rounding


cdef inline double curvature(const double[:, ::1] gram, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    cdef double both = gram[i, i] + gram[j, j], value = both - 2 * gram[i, j]
    cdef double least = FLAT * both if both > 0 else 0.0  # rows of zeros are rounding alone
    return value if value > least else least


def solve(
    const double[:, ::1] gram,
    const double[::1] target,
    const double[::1] low,
    const double[::1] high,
    double[::1] dual,
    double[::1] gradient,
    double tol,
    Py_ssize_t max_iter,
):
    """Minimise ``dual' gram dual / 2 - target' dual`` between bounds, the sum kept as it is.

    Each time, of two variables, the first one can grow and has the lowest gradient; the second one
    can shrink and promises the largest decrease (Fan, Chen, Lin 2005). Without curvature, which
    rounding may also leave below 0, a decrease has no end but the bounds. Pairs whose decrease is
    not a number are passed over; where there is no other pair, the variables stay as they are.

    Parameters
    ----------
    gram : array of shape (n, n)
    target, low, high : arrays of shape (n,)
    dual : array of shape (n,)
        Where to start, within the bounds; overwritten.
    gradient : array of shape (n,)
        ``gram @ dual - target``; kept up to date.
    tol : float
        How far apart the gradients of two such variables may be, as a share of the largest entry
        of ``gram @ dual`` or `target`.
    max_iter : int
        Number of steps to stop at.

    Returns
    -------
    int
        Number of steps.
    """
    cdef Py_ssize_t n = gram.shape[0], i, j, k, step_number = 0
    cdef double lowest, highest, best, gain, apart, bend, step, scale = 0
    with nogil:
        for k in range(n):
            scale = max(scale, fabs(gradient[k] + target[k]), fabs(target[k]))
        while step_number < max_iter:
            i = j = -1
            lowest, highest = INFINITY, -INFINITY
            for k in range(n):
                if dual[k] < high[k] and gradient[k] < lowest:
                    lowest = gradient[k]
                    i = k
                if dual[k] > low[k] and gradient[k] > highest:
                    highest = gradient[k]
            if not highest - lowest > tol * scale:
                break
            best = -INFINITY
            for k in range(n):
                apart = gradient[k] - lowest
                if dual[k] > low[k] and apart > 0:
                    bend = curvature(gram, i, k)
                    gain = apart * apart / bend if bend > 0 else INFINITY  # 0 / 0 is none
                    if gain > best:
                        best = gain
                        j = k
            if j < 0:  # no gain is a number
                break
            step = (gradient[j] - lowest) / curvature(gram, i, j)
            if step >= high[i] - dual[i] or step >= dual[j] - low[j]:
                if high[i] - dual[i] <= dual[j] - low[j]:
                    step = high[i] - dual[i]
                    dual[i] = high[i]
                    dual[j] = max(low[j], dual[j] - step)
                else:
                    step = dual[j] - low[j]
                    dual[j] = low[j]
                    dual[i] = min(high[i], dual[i] + step)
            else:
                dual[i] += step
                dual[j] -= step
            for k in range(n):
                gradient[k] += step * (gram[i, k] - gram[j, k])
            step_number += 1
    return step_number
