"""Poses over time as a smooth motion: low-pass filter, then velocities and accelerations from splines.

Coordinates are interpolated to an even grid (cubic splines; quaternions component by component with one sign, then
brought back to unit length), filtered by a Butterworth filter of second order forwards and backwards (fourth order
without lag; its cut-off is corrected for the two passes, Winter 2009, section 2.2.4.4), and differentiated through
quintic splines: for ball joints ω = 2 Im(q̄ q̇), ω̇ = 2 Im(q̄ q̈); for the pelvis v = Rᵀ ṗ, v̇ = Rᵀ p̈ - ω × v.

A motion that closes on itself (a stride cut to its period) is repeated before and after, so that it has no ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline, make_interp_spline
from scipy.signal import butter, filtfilt

from vitruvian.anatomy import Body
from vitruvian.errors import InputError
from vitruvian.skeleton import difference, integrate

Array = np.ndarray
TWO_PASSES = (2.0**0.5 - 1.0) ** 0.25  # of the cut-off that two passes leave
SMALL_MISSING = np.radians(5.0)  # of any joint, between the last frame and the first, in a motion found to be closed
MOST_MISSING = np.radians(30.0)  # the same where the caller says that it is closed
MOST_APART = 0.06  # [m] of the pelvis, but for the horizontal way


@dataclass(frozen=True, eq=False)
class Course:
    """A smooth motion at a constant rate."""

    time: Array  # [s], (f,)
    q: Array  # (f, n_q)
    v: Array  # (f, n_v)
    a: Array  # (f, n_v)
    closed: bool  # whether it repeats itself but for a way of the pelvis

    @property
    def period(self) -> float:
        return float(self.time[1] - self.time[0])


def closed_on_itself(body: Body, q: Array) -> tuple[Array, float, str] | None:
    """Poses (f, n_q) whose last one is the first again but for a horizontal way, the largest angle [rad] that was
    missing to that and where; None if more than `MOST_MISSING` is. What is missing is spread evenly over the frames."""
    s = body.skeleton
    back = q[0].copy()
    back[:2] = q[-1, :2]
    miss = difference(s, q[-1], back)
    turns = np.abs(np.delete(miss, [3, 4, 5]))
    if turns.max() > MOST_MISSING or np.abs(miss[3:6]).max() > MOST_APART:
        return None
    out = np.array([integrate(s, pose, miss, f / (len(q) - 1)) for f, pose in enumerate(q)])
    worst = int(np.argmax(np.abs(np.where(np.isin(np.arange(s.n_v), [3, 4, 5]), 0.0, miss))))
    return out, float(turns.max()), body.coordinate_names[worst]


def smoothed(body: Body, time: Array, q: Array, *, rate: float, cutoff: float, closed: bool = False) -> Course:
    """A course at `rate` [1/s] through poses q (f, n_q) at `time` [s], filtered at `cutoff` [Hz], 0 for none.

    closed: the last pose is the first one again, but for a horizontal way."""
    if not rate > 0 or cutoff < 0:
        raise InputError(f"rate must be positive and cut-off not negative, got {rate:g} and {cutoff:g}")
    fastest = 0.5 * (len(time) - 1) / (time[-1] - time[0])
    if cutoff >= min(fastest, 0.5 * rate):
        raise InputError(
            f"a cut-off of {cutoff:g} Hz needs more than {2 * cutoff:g} frames a second; the file has {2 * fastest:.3g}"
            f", the analysis {rate:g}"
        )
    span = float(time[-1] - time[0])
    count = max(4, round(span * rate))
    grid: Array = np.linspace(0.0, span, count + 1)
    x, t = _one_sign(body, q), time - time[0]
    first, last = 0, len(grid)
    if closed:
        way = np.zeros(q.shape[1])
        way[:2] = q[-1, :2] - q[0, :2]
        x = np.concatenate([x[:-1] - way, x[:-1], x[:-1] + way, (x[0] + 2.0 * way)[None]])
        x = _one_sign(body, x)
        t = np.concatenate([t[:-1] - span, t[:-1], t[:-1] + span, [2.0 * span]])
        step = span / count
        grid = np.arange(-count, 2 * count + 1) * step
        first, last = count, 2 * count + 1
    even = CubicSpline(t, x)(grid)
    if cutoff > 0.0:
        b, a = butter(2, min(0.99, 2.0 * cutoff / TWO_PASSES * (grid[1] - grid[0])))
        pad = min(len(grid) - 2, round(rate))
        even = filtfilt(b, a, even, axis=0, padlen=pad)
    even = _unit(body, even)
    spline = make_interp_spline(grid, even, k=5)
    rates, bends = spline(grid, 1), spline(grid, 2)
    v, acceleration = _motion(body, even, rates, bends)
    part = slice(first, last)
    return Course(grid[part] - grid[first], even[part], v[part], acceleration[part], closed)


def _quaternions(body: Body) -> list[tuple[int, int, bool]]:
    """(first place of a quaternion in q, first rotation in v, whether the joint is free)."""
    s, out = body.skeleton, []
    for i, joint in enumerate(s.joints):
        if joint.n_q != joint.n_v:
            out.append((int(s.q_start[i + 1]) - 4, int(s.v_start[i]), joint.n_v == 6))
    return out


def _one_sign(body: Body, q: Array) -> Array:
    out = q.copy()
    for a, _, _ in _quaternions(body):
        turns = np.cumprod(np.where((out[1:, a : a + 4] * out[:-1, a : a + 4]).sum(axis=1) < 0.0, -1.0, 1.0))
        out[1:, a : a + 4] *= turns[:, None]
    return out


def _unit(body: Body, q: Array) -> Array:
    out = q.copy()
    for a, _, _ in _quaternions(body):
        out[:, a : a + 4] /= np.linalg.norm(out[:, a : a + 4], axis=1, keepdims=True)
    return out


def _motion(body: Body, q: Array, rates: Array, bends: Array) -> tuple[Array, Array]:
    """v and a (f, n_v) from the coordinates and their first and second derivatives (f, n_q)."""
    s = body.skeleton
    v, acceleration = np.empty((len(q), s.n_v)), np.empty((len(q), s.n_v))
    for i, joint in enumerate(s.joints):
        if joint.n_q == joint.n_v:
            here, there = slice(s.q_start[i], s.q_start[i + 1]), slice(s.v_start[i], s.v_start[i + 1])
            v[:, there], acceleration[:, there] = rates[:, here], bends[:, here]
    for a, d, free in _quaternions(body):
        turn = q[:, a : a + 4]
        w = 2.0 * _imaginary(turn, rates[:, a : a + 4])
        v[:, d : d + 3] = w
        acceleration[:, d : d + 3] = 2.0 * _imaginary(turn, bends[:, a : a + 4])
        if free:
            R = _matrices(turn)
            speed = np.einsum("fji,fj->fi", R, rates[:, a - 3 : a])
            v[:, d + 3 : d + 6] = speed
            acceleration[:, d + 3 : d + 6] = np.einsum("fji,fj->fi", R, bends[:, a - 3 : a]) - np.cross(w, speed)
    return v, acceleration


def _imaginary(q: Array, p: Array) -> Array:
    """Vector part of q̄ p, (f, 3)."""
    return q[:, :1] * p[:, 1:] - p[:, :1] * q[:, 1:] - np.cross(q[:, 1:], p[:, 1:])


def _matrices(q: Array) -> Array:
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(q, scalar_first=True).as_matrix()
