"""Fibre and tendon in line: where the fibre is when both pull alike.

    F_T(L - y) = cos(alpha) F_max (a f_l(l) f_v(l') + f_p(l) + beta l'/v_max),     l^2 = y^2 + h^2        (1)

for the path's length L and the part y of it that the fibre spans (`fibre` has the curves). Three ways to use it:

`rigid_pull`: the tendon keeps its slack length, y = L - l_slack, and (1) is its right side.
`still_pull`: the tendon has settled, and the fibre takes all of the path's rate, l' = L' cos(alpha): what controllers
count on, and what is measured when nothing moves.
`step_pull`: within an implicit step of h seconds the fibre goes from l_n, l' = (l - l_n)/h, and L is where the path
ends at its present rate. The force there and its slope in L enter the step's equations, so that bones, fibre and tendon
move together.

(1) is solved for y by Newton steps that stay between bounds of opposite sign; the tendon's force falls with y and the
fibre's viscosity rises with it, so there is one solution, a slack tendon included: then the fibre shortens at v_max
until it is taut.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from vitruvian.muscle.fibre import (
    DAMPING,
    F_MAX,
    HEIGHT,
    K_TENDON,
    L0,
    PASSIVE,
    SHORTEST,
    SLACK,
    V_MAX,
    active_length,
    fibre_pull,
    force_velocity,
    passive_energy,
    passive_fibre,
    tendon_energy,
    tendon_force,
)

Array = np.ndarray
RIGID, ELASTIC = 4, 5  # codes of the laws
_CLOSE = 1e-5  # l0: a Newton step this short is the last; what it leaves is of its square
_STEADY = 1e-3  # v_max: and so is the change of rate that it means
_IDLE = 0.02  # activation
_MOST = 60


@nb.njit(cache=True, inline="always")
def _imbalance(
    p: Array, a: float, y: float, length: float, rate: float, slope: float, capacity: bool
) -> tuple[float, ...]:
    """Tendon less fibre [N], tendon force, its slope [N/m], the fibre's slope in y, its slope in rate, its passive
    part, its part per activation; slope: d rate / dy."""
    f_T, k_T = tendon_force((length - y) / p[SLACK], p[K_TENDON])
    force, passive, each, k, d, _ = fibre_pull(p, a, y, rate, capacity)
    t, k_T = p[F_MAX] * f_T, p[F_MAX] * k_T / p[SLACK]
    return t - force, t, k_T, k + d * slope, d, passive, each


@nb.njit(cache=True, inline="always")
def _bounded_step(gap: float, slope: float, y: float, low: float, high: float) -> tuple[float, float, float]:
    """A Newton step [m] towards gap = 0, which falls with y by `slope`, or to the middle of bounds that it would leave;
    and the bounds, one of which is y now."""
    if gap > 0.0:
        low = y
    else:
        high = y
    step = gap / slope if slope > 0.0 else np.inf
    if not low <= y + step <= high:
        step = 0.5 * (low + high) - y
    return step, low, high


@nb.njit(cache=True)
def step_pull(
    p: Array, a: float, length: float, moved: float, fibre: float, h: float
) -> tuple[float, float, float, float, float]:
    """Tension [N] at the end of a step, its slope in length [N/m], y there and its slope in length, and the fibre's
    passive part; fibre: its length before the step [m]; moved: of `length`, what the step brings [m]."""
    l0, height = p[L0], p[HEIGHT]
    low = SHORTEST * l0
    y = max(np.sqrt(max(fibre * fibre - height * height, 0.0)), low)
    high = max(length, y) + l0
    if a < _IDLE:  # the search begins where a fibre that follows its path would be; active ones are too viscous
        y = min(max(y + moved, low), high)
    t, k_T, k, passive = 0.0, 0.0, 0.0, 0.0
    close = min(_CLOSE * l0, _STEADY * h * p[V_MAX])
    for _ in range(_MOST):
        l = np.sqrt(y * y + height * height)
        gap, t, k_T, k, _, passive, _ = _imbalance(p, a, y, length, (l - fibre) / h, y / (l * h), False)
        step, low, high = _bounded_step(gap, k_T + k, y, low, high)
        y += step
        t -= k_T * step
        if abs(step) < close:
            break
    total = k_T + k
    share = k_T / total if total > 0.0 else 0.0
    return max(t, 0.0), share * k, y, share, passive


@nb.njit(cache=True)
def settled(p: Array, a: float, length: float, rate: float) -> tuple[float, float, float, float, float]:
    """y [m] of a fibre that takes all of the path's rate [m/s], with a settled tendon; the tension [N] and its slopes
    in length, rate and activation."""
    l0, height = p[L0], p[HEIGHT]
    low = SHORTEST * l0
    high = max(length, low) + l0
    y = min(max(length - (1.0 + 0.5 * np.log(6.0) / p[K_TENDON]) * p[SLACK], low), high)
    t, k_T, k, d, capacity = 0.0, 0.0, 0.0, 0.0, 0.0
    for _ in range(_MOST):
        l = np.sqrt(y * y + height * height)
        cos = y / l
        turn = rate * height * height / (l * l * l)  # d (rate cos) / dy
        gap, t, k_T, k, d, _, capacity = _imbalance(p, a, y, length, rate * cos, turn, True)
        step, low, high = _bounded_step(gap, k_T + k, y, low, high)
        y += step
        t -= k_T * step
        if abs(step) < _CLOSE * l0:
            break
    total = k_T + k
    share = k_T / total if total > 0.0 else 0.0
    cos = y / np.sqrt(y * y + height * height)
    return y, max(t, 0.0), share * k, share * d * cos, share * capacity


@nb.njit(cache=True)
def still_pull(p: Array, a: float, length: float, rate: float) -> tuple[float, float, float, float, float]:
    """Row of `Tension` for an elastic tendon that has settled; the capacity is the secant from rest to the present
    activation, so that force = passive + capacity x activation here."""
    _, force, k, d, _ = settled(p, a, length, rate)
    _, passive, _, _, first = settled(p, 0.0, length, rate)
    capacity = (force - passive) / a if a > 1e-6 else first
    return force, passive, capacity, k, d


@nb.njit(cache=True)
def rigid_pull(p: Array, a: float, length: float, rate: float) -> tuple[float, float, float, float, float]:
    """Row of `Tension` for a tendon that does not stretch; none where the path is too short for it."""
    y = length - p[SLACK]
    if y <= SHORTEST * p[L0]:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    cos = y / np.sqrt(y * y + p[HEIGHT] * p[HEIGHT])
    force, passive, capacity, k, d, l = fibre_pull(p, a, y, rate * cos, True)
    k += d * rate * p[HEIGHT] * p[HEIGHT] / (l * l * l)
    d *= cos
    # viscosity belongs to the passive part: it pulls at any activation
    passive += p[F_MAX] * cos * p[DAMPING] * rate * cos / p[V_MAX]
    if force <= 0.0:
        return 0.0, max(passive, 0.0), max(capacity, 0.0), 0.0, 0.0
    if passive < 0.0:
        passive, capacity = 0.0, force / a
    return force, passive, capacity, k, d


@nb.njit(cache=True)
def step_kernel(kind, table, activation, length, rate, fibre, h, out, span, share):
    """Elastic muscles within a step of h: their columns of out (5, n), with no capacity (it depends on the step); y
    after the step at the present rate, its slope in length. h = 0: the force now. Others are left as they are."""
    for m in range(len(kind)):
        if kind[m] != ELASTIC:
            continue
        p = table[m]
        if h == 0.0:
            y = np.sqrt(max(fibre[m] * fibre[m] - p[HEIGHT] * p[HEIGHT], 0.0))
            out[:, m] = 0.0
            out[0, m] = p[F_MAX] * tendon_force((length[m] - y) / p[SLACK], p[K_TENDON])[0]
            out[1, m] = p[PASSIVE] * p[F_MAX] * passive_fibre(fibre[m] / p[L0])[0] * y / fibre[m]
            out[2, m] = np.nan
            span[m], share[m] = y, 0.0
        else:
            moved = h * rate[m]
            t, k, y, part, passive = step_pull(p, activation[m], length[m] + moved, moved, fibre[m], h)
            out[0, m], out[1, m], out[2, m], out[3, m], out[4, m] = t, passive, np.nan, k, 0.0
            span[m], share[m] = y, part


@nb.njit(cache=True)
def end_kernel(kind, table, moved, force, span, share, fibre):
    """Fibre lengths after a step whose path ended `moved` [m] (n,) beyond where its first rate led, with the tension
    `force` [N] (n,); returns what the fibres' contraction (all but passive elasticity) worked [J]."""
    work = 0.0
    for m in range(len(kind)):
        if kind[m] == ELASTIC:
            p = table[m]
            y = max(span[m] + share[m] * moved[m], SHORTEST * p[L0])
            l = np.sqrt(y * y + p[HEIGHT] * p[HEIGHT])
            own = force[m] * l / y - p[PASSIVE] * p[F_MAX] * passive_fibre(l / p[L0])[0]
            work -= own * (l - fibre[m])
            fibre[m] = l
    return work


@nb.njit(cache=True)
def settled_fibres(kind, table, activation, length, out):
    """Fibre lengths [m] (n,) when nothing moves; 0 for muscles without a fibre of their own."""
    for m in range(len(kind)):
        p = table[m]
        if kind[m] == ELASTIC:
            y = settled(p, activation[m], length[m], 0.0)[0]
        elif kind[m] == RIGID:
            y = max(length[m] - p[SLACK], SHORTEST * p[L0])
        else:
            out[m] = 0.0
            continue
        out[m] = np.sqrt(y * y + p[HEIGHT] * p[HEIGHT])


@nb.njit(cache=True)
def fibre_rates(kind, table, activation, length, fibre, out):
    """How fast elastic muscles' fibres lengthen [m/s] (n,) at a given path and fibre length: (1) solved for l'."""
    for m in range(len(kind)):
        out[m] = 0.0
        if kind[m] != ELASTIC:
            continue
        p = table[m]
        y = np.sqrt(max(fibre[m] * fibre[m] - p[HEIGHT] * p[HEIGHT], 0.0))
        goal = tendon_force((length[m] - y) / p[SLACK], p[K_TENDON])[0] * fibre[m] / y
        s = fibre[m] / p[L0]
        goal -= p[PASSIVE] * passive_fibre(s)[0]
        active = activation[m] * active_length(s)[0]
        v = 0.0
        for _ in range(_MOST):  # f_v is concave, then convex, and rises: Newton steps of at most 1
            f, slope = force_velocity(v)
            step = (goal - active * f - p[DAMPING] * v) / (active * slope + p[DAMPING])
            step = min(max(step, -1.0), 1.0) if active > 0.0 else step
            v += step
            if abs(step) < 1e-13 * (1.0 + abs(v)):
                break
        out[m] = v * p[V_MAX]


@nb.njit(cache=True)
def stored_kernel(kind, table, length, fibre, out):
    """Energy [J] in tendons and in passive fibres, out (2, n)."""
    for m in range(len(kind)):
        p = table[m]
        out[0, m], out[1, m] = 0.0, 0.0
        if kind[m] == ELASTIC:
            y = np.sqrt(max(fibre[m] * fibre[m] - p[HEIGHT] * p[HEIGHT], 0.0))
            out[0, m] = p[F_MAX] * p[SLACK] * tendon_energy((length[m] - y) / p[SLACK], p[K_TENDON])
            out[1, m] = p[PASSIVE] * p[F_MAX] * p[L0] * passive_energy(fibre[m] / p[L0])
        elif kind[m] == RIGID:
            y = max(length[m] - p[SLACK], SHORTEST * p[L0])
            l = np.sqrt(y * y + p[HEIGHT] * p[HEIGHT])
            out[1, m] = p[PASSIVE] * p[F_MAX] * p[L0] * passive_energy(l / p[L0])
