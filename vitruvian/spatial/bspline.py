"""B-spline bases with first and second derivatives, for open and periodic knot vectors.

B_{l,1} = 1 on [t_l, t_{l+1})
B_{l,k} = (x - t_l)/(t_{l+k-1} - t_l) B_{l,k-1} + (t_{l+k} - x)/(t_{l+k} - t_{l+1}) B_{l+1,k-1}
B'_{l,k} = (k - 1) [B_{l,k-1}/(t_{l+k-1} - t_l) - B_{l+1,k-1}/(t_{l+k} - t_{l+1})]            (de Boor 2001, chapter X)

The order k is degree + 1; k = 4 is cubic. A spline of n controls has n + k knots and the domain [t_{k-1}, t_n].
Beyond an open domain the polynomial of the last span goes on; a periodic coordinate is wrapped into its domain.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from vitruvian.errors import InputError

Array = np.ndarray
MAX_ORDER = 10  # the kernels' scratch rows hold this many values


def open_knots(breaks: ArrayLike, order: int) -> Array:
    """Knots whose domain is [breaks[0], breaks[-1]], ends repeated `order` times: the spline starts and ends at its
    first and last control. breaks: ascending, shape (m,). Returns shape (m + 2 order - 2,); controls: m + order - 2."""
    b = np.asarray(breaks, dtype=float)
    return np.concatenate([np.full(order - 1, b[0]), b, np.full(order - 1, b[-1])])


def uniform_knots(n_controls: int, order: int, low: float, high: float) -> Array:
    """Evenly spaced knots with the domain [low, high] for an open spline. Returns shape (n_controls + order,)."""
    step = (high - low) / (n_controls - order + 1)
    return low + step * (np.arange(n_controls + order) - (order - 1))


def periodic_knots(breaks: ArrayLike, order: int) -> Array:
    """Knots of a closed spline over breaks[0]..breaks[-1], continued periodically at both ends.

    breaks: ascending, shape (m + 1,) for m distinct controls. Returns shape (m + 2 order - 1,); the m controls are to
    be followed by their own first order - 1 (`wrap_controls`)."""
    b = np.asarray(breaks, dtype=float)
    period = b[-1] - b[0]
    m = len(b) - 1
    index = np.arange(-(order - 1), m + order)
    return b[index % m] + period * (index // m)


def wrap_controls(controls: ArrayLike, order: int) -> Array:
    """Controls (m, ...) of a closed spline followed by their own first order - 1."""
    c = np.asarray(controls, dtype=float)
    return c[np.arange(len(c) + order - 1) % len(c)]


def check_knots(knots: Array, n_controls: int, order: int, what: str) -> None:
    """Raise InputError unless `knots` fit `n_controls` controls of this order and ascend over a real domain."""
    if not 4 <= order <= MAX_ORDER:
        raise InputError(
            f"{what}: order {order} is outside 4..{MAX_ORDER} (a spline joint must be twice differentiable)"
        )
    if n_controls < order:
        raise InputError(f"{what}: {n_controls} controls are too few for order {order}")
    if knots.shape != (n_controls + order,):
        raise InputError(f"{what}: needs {n_controls + order} knots, got {knots.shape}")
    if not np.isfinite(knots).all():
        raise InputError(f"{what}: a knot is not a finite number")
    if (np.diff(knots) < 0.0).any() or not (np.diff(knots[order - 1 : n_controls + 1]) > 0.0).all():
        raise InputError(f"{what}: knots must ascend, strictly so within the domain")


def basis(knots: ArrayLike, order: int, x: float) -> tuple[int, Array]:
    """First control with influence at x, and (3, order): values, first and second derivatives of the basis there."""
    t = np.ascontiguousarray(knots, dtype=float)
    out = np.zeros((5, MAX_ORDER))
    first = basis_derivatives(t, 0, len(t) - order, order, float(x), out)
    return first, out[:3, :order].copy()


def span_polynomials(knots: ArrayLike, order: int) -> Array:
    """The basis as polynomials: entry [s, r, d] is the coefficient of u^d, u = 0..1 along span s, of the r-th function
    alive there. Shape (n_controls - order + 1, order, order). The Cox-de Boor recursion, on all spans at once."""
    t = np.asarray(knots, dtype=float)
    j = np.arange(order - 1, len(t) - order)  # spans of the domain are [t_j, t_{j+1}]
    start, step = t[j], t[j + 1] - t[j]
    N = np.zeros((len(j), order, order))
    N[:, 0, 0] = 1.0
    for k in range(2, order + 1):
        saved = np.zeros((len(j), order))
        for r in range(k - 1):
            right, left = t[j + r + 1], t[j + r + 2 - k]
            share = N[:, r] / (right - left)[:, None]
            shifted = step[:, None] * np.roll(share, 1, axis=1)  # times u; the last coefficient is zero by then
            N[:, r] = saved + (right - start)[:, None] * share - shifted
            saved = (start - left)[:, None] * share + shifted
        N[:, k - 1] = saved
    return N


@njit(cache=True)
def wrap_coordinate(x, low, high):
    """x moved by whole periods into [low, high)."""
    period = high - low
    return x - period * np.floor((x - low) / period)


@njit(cache=True)
def basis_derivatives(params, knot0, n_controls, order, x, out):
    """Fill out[0..2, 0:order] with values, first, second derivatives of the `order` basis functions alive at x.

    params[knot0:] holds the knots; out has shape (5, MAX_ORDER). Returns the index of the first alive control."""
    low, high = order - 1, n_controls - 1  # spans of the domain are [t_j, t_{j+1}], j = low..high
    while low < high:
        middle = (low + high + 1) // 2
        if params[knot0 + middle] <= x:
            low = middle
        else:
            high = middle - 1
    j = low
    t = knot0 + j
    # Orders 1..k in place in row 3; orders k-2 and k-1 are kept in rows 4 and 1 on the way, for the derivatives.
    out[3, 0] = 1.0
    for k in range(2, order + 1):
        if k == order:
            for r in range(k - 1):
                out[1, r] = out[3, r]
        elif k == order - 1:
            for r in range(k - 1):
                out[4, r] = out[3, r]
        saved = 0.0
        for r in range(k - 1):
            right = params[t + r + 1]
            left = params[t + r + 2 - k]
            share = out[3, r] / (right - left)
            out[3, r] = saved + (right - x) * share
            saved = (x - left) * share
        out[3, k - 1] = saved
    for r in range(order):
        out[0, r] = out[3, r]
    # Second derivatives from order k-2: first the slopes of order k-1 (in row 3), then those once more.
    _slopes(params, t, order - 1, out, 4, 3)
    _slopes(params, t, order, out, 3, 2)
    for r in range(order - 1):
        out[3, r] = out[1, r]
    _slopes(params, t, order, out, 3, 1)
    return j - order + 1


@njit(cache=True)
def _slopes(params, t, k, out, source, target):
    """Derivatives of the k functions of order k, given the k - 1 (values or derivatives) of order k - 1."""
    previous = 0.0
    for r in range(k):
        if r < k - 1:
            scaled = (k - 1) * out[source, r] / (params[t + r + 1] - params[t + r + 2 - k])
        else:
            scaled = 0.0
        out[target, r] = previous - scaled
        previous = scaled
