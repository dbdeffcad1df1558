"""Curves of muscle fibre and tendon, as parts of F_max, each with its slope (De Groote 2016, as in OpenSim).

With s = l/l0, v = l'/v_max (lengthening positive), x = l_T/l_slack:

    active     f_l(s) = sum_i b1 exp(-1/2 ((s - b2)/(b3 + b4 s))^2): rises to 1 at l0, falls beyond (descending limb)
    velocity   f_v(v) = d1 asinh(d2 v + d3) + d4: 0 at -v_max, 1 at rest, 1.8 at +v_max
    passive    f_p(s) = (exp(4 (s - 1)/0.6) - c)/(exp(4) - c), 0 at s = 0.2, straight beyond F_max (s = 1.6)
    tendon     f_T(x) = 0.2 (exp(k (x - 1)) - 1) >= 0, k = ln 6 / e_T: F_max at strain e_T; straight beyond 2 F_max

The fibre's thickness h = l0 sin(alpha0) stays as it shortens, so along the tendon it spans y with l^2 = y^2 + h^2,
cos(alpha) = y/l, l' = y' cos(alpha), and no length of y is singular.
"""

from __future__ import annotations

import numba as nb
import numpy as np

Array = np.ndarray
F_MAX, REST, L0, HEIGHT, SLACK, V_MAX, K_TENDON, DAMPING, PASSIVE = range(9)  # columns of a muscle's row
SHORTEST = 0.05  # l0: the shortest y
_FLOOR, _BEND = 0.2, 1.6  # fibre lengths [l0] where the passive curve begins, and where it goes on straight
_RATE = 4.0 / 0.6
_BASE = float(np.exp(_RATE * (_FLOOR - 1.0)))
_SCALE = float(1.0 / (np.exp(4.0) - _BASE))
_TOP = 2.0  # [F_max] beyond which the tendon is straight


@nb.njit(cache=True, inline="always")
def active_length(s: float) -> tuple[float, float]:
    """f_l and its slope."""
    w = 0.162384573599574 + 0.063303448465465 * s
    x = (s - 1.055033428970575) / w
    one = 0.8150671134243542 * np.exp(-0.5 * x * x)
    slope = -one * x * (1.0 - 0.063303448465465 * x) / w
    w = -0.029947116970696 + 0.200356847296188 * s
    two = 0.0
    if w > 0.01:
        x = (s - 0.716775413397760) / w
        two = 0.433004984392647 * np.exp(-0.5 * x * x)
        slope -= two * x * (1.0 - 0.200356847296188 * x) / w
    x = (s - 1.0) / 0.353553390593274
    three = 0.1 * np.exp(-0.5 * x * x)
    return one + two + three, slope - three * x / 0.353553390593274


@nb.njit(cache=True, inline="always")
def force_velocity(v: float) -> tuple[float, float]:
    """f_v and its slope; falls slowly below zero beyond -1, where a slack muscle takes in its slack."""
    x = -8.149 * v - 0.374
    root = np.sqrt(x * x + 1.0)
    ash = np.log(x + root) if x >= 0.0 else -np.log(root - x)
    return -0.3211346127989808 * ash + 0.8825327733249912, 0.3211346127989808 * 8.149 / root


@nb.njit(cache=True, inline="always")
def passive_fibre(s: float) -> tuple[float, float]:
    """f_p and its slope."""
    if s <= _FLOOR:
        return 0.0, 0.0
    grown = _SCALE * np.exp(_RATE * (min(s, _BEND) - 1.0))
    slope = _RATE * grown
    return grown - _SCALE * _BASE + (slope * (s - _BEND) if s > _BEND else 0.0), slope


@nb.njit(cache=True, inline="always")
def tendon_force(x: float, k: float) -> tuple[float, float]:
    """f_T and its slope."""
    if x <= 1.0:
        return 0.0, 0.0
    grown = 0.2 * np.exp(min(k * (x - 1.0), 3.0))
    if grown <= _TOP + 0.2:  # well below the bound of the exponent
        return grown - 0.2, k * grown
    slope = k * (_TOP + 0.2)
    return _TOP + slope * (x - 1.0 - np.log((_TOP + 0.2) / 0.2) / k), slope


@nb.njit(cache=True, inline="always")
def passive_energy(s: float) -> float:
    """Integral of f_p over s, from its beginning."""
    if s <= _FLOOR:
        return 0.0
    end = min(s, _BEND)
    stored = _SCALE * ((np.exp(_RATE * (end - 1.0)) - _BASE) / _RATE - _BASE * (end - _FLOOR))
    if s > _BEND:
        slope = _RATE * _SCALE * np.exp(4.0)
        stored += (s - _BEND) * (1.0 + 0.5 * slope * (s - _BEND))
    return stored


@nb.njit(cache=True, inline="always")
def tendon_energy(x: float, k: float) -> float:
    """Integral of f_T over x, from slack."""
    if x <= 1.0:
        return 0.0
    bend = 1.0 + np.log((_TOP + 0.2) / 0.2) / k
    end = min(x, bend)
    stored = 0.2 * ((np.exp(k * (end - 1.0)) - 1.0) / k - (end - 1.0))
    if x > bend:
        stored += (x - bend) * (_TOP + 0.5 * k * (_TOP + 0.2) * (x - bend))
    return stored


@nb.njit(cache=True, inline="always")
def fibre_pull(
    p: Array, a: float, y: float, rate: float, capacity: bool
) -> tuple[float, float, float, float, float, float]:
    """Force along the tendon [N] of a fibre that spans y [m] and changes its length by `rate` [m/s]; with its passive
    part, its part per activation (if it is asked for), and slopes in y and in rate; at last its length."""
    l = np.sqrt(y * y + p[HEIGHT] * p[HEIGHT])
    cos = y / l
    s = l / p[L0]
    v = rate / p[V_MAX]
    f_l, k_l, f_v, d_v = 0.0, 0.0, 0.0, 0.0
    if a > 0.0 or capacity:
        f_l, k_l = active_length(s)
        f_v, d_v = force_velocity(v)
    f_p, k_p = 0.0, 0.0
    if p[PASSIVE] > 0.0:
        f_p, k_p = passive_fibre(s)
    along = p[F_MAX] * cos
    force = along * (a * f_l * f_v + f_p + p[DAMPING] * v)
    turn = p[HEIGHT] * p[HEIGHT] / (l * l)  # d cos / dy = turn / l = cos turn / y
    k = along * (a * k_l * f_v + k_p) * cos / p[L0] + force * turn / y
    d = along * (a * f_l * d_v + p[DAMPING]) / p[V_MAX]
    return force, along * f_p, along * f_l * f_v, k, d, l
