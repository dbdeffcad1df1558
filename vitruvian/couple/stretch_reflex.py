"""The stretch reflex within a step: muscles answer to their own strain, found in the step's own assembly.

    a = clip(a_f + s (k_p (e - e_d) + k_v sat_m(e' - e_d')), 0, 1),   e = (l - l0)/l0,   e_d = e_d0 + e_d' t

(Lee 2008, eq. 4.1). a_f: feedforward from above; e_d, e_d': wanted strain and its rate; s: gain from above. A
controller asks for it (`Controls.reflex`); the body closes the loop, so that lengths are found once in a step.

The loop is as stiff as the muscle itself, so it is implicit, too: strains are those of the step's end, and where a is
not cut off, the step's matrix gets (h k_v + h² k_p) s F_l / l0 (appendix A). Explicitly, a neck trembles at 4 ms.

Where a is cut off it has no slope, so a light bone between two muscles may be thrown past the place where the other one
begins to answer. `missed` tells by how much a step's end differs from what the step took it to be; the step is then
made again from there (`guess`), as in Newton's method.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

from vitruvian.muscle.activation import lagged

Array = np.ndarray
MISSED, AGAIN = 0.05, 12  # activation that a step may miss; times that it is made again, at most
NOTHING = np.zeros(0)


class StretchReflex(NamedTuple):
    """What is asked of the muscles for one step; arrays of shape (n_muscles,) but for the first."""

    muscles: Array  # that have it, indices; the others follow the excitation
    feedforward: Array  # a_f
    wanted: Array  # e_d0
    wanted_rate: Array  # e_d' [1/s]
    since: float = 0.0  # t: time since e_d0 was right [s]
    gain: float = 1.0  # s
    k_p: float = 8.0
    k_v: float = 0.05  # [s]
    most: float = 2.0  # m [1/s], where the rate saturates
    on: float = 0.0  # time constants of activation [s]; 0: it follows at once. The body fills them in.
    off: float = 0.0
    guess: Array = NOTHING  # rates [m/s] of all muscles at the step's end, where known; else the present ones


NO_REFLEX = StretchReflex(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0), np.zeros(0))


@nb.njit(cache=True, inline="always")
def reflexed(feedforward, strain, slip, gain, k_p, k_v, most):
    """Activation of one muscle; strain, slip: how far strain and its rate [1/s] are beyond what is wanted."""
    a = feedforward + gain * (k_p * strain + k_v * min(max(slip, -most), most))
    return min(max(a, 0.0), 1.0)


@nb.njit(cache=True, inline="always")
def answered(r, rest, length, rate, h, m, before):
    """Activation of muscle m at the end of a step of h [s] if its rate [m/s] then is `rate`, and how it changes with
    that, times h [s²/m]; length [m]: at the step's start, before: activation then."""
    strain = (length + h * rate) / rest - 1.0 - (r.wanted[m] + r.wanted_rate[m] * (r.since + h))
    slip = rate / rest - r.wanted_rate[m]
    u = reflexed(r.feedforward[m], strain, slip, r.gain, r.k_p, r.k_v, r.most)
    slope = 0.0
    if 0.0 < u < 1.0:
        slope = h * r.gain * (h * r.k_p + (r.k_v if abs(slip) < r.most else 0.0)) / rest
    if r.on > 0.0:
        a = lagged(before, u, h, r.on, r.off)
        slope *= (a - before) / (u - before) if u != before else 0.0
        u = a
    return u, slope


@nb.njit(cache=True)
def reflex_terms(r, rest, length, rate, h, activation, answer):
    """Set the activation (n_muscles,) of the reflex's muscles at the end of a step of h [s] with the rates [m/s] that
    are guessed, and answer (n_muscles,): how it changes with the rate at the end, times h [s²/m]."""
    answer[:] = 0.0
    for m in r.muscles:
        then = r.guess[m] if len(r.guess) else rate[m]
        activation[m], answer[m] = answered(r, rest[m], length[m], then, h, m, activation[m])


@nb.njit(cache=True)
def missed(r, rest, length, rate, row_start, column, arms, v, h, before, activation, answer, guess):
    """By how much activation at the end of a step, with velocities v (n_v,), differs from what the step took it to be;
    largest of all. guess (n_muscles,): gets the rates there [m/s]; before: activation at the start."""
    worst = 0.0
    for m in r.muscles:
        guess[m] = 0.0
        for k in range(row_start[m], row_start[m + 1]):
            guess[m] += arms[k] * v[column[k]]
        then = r.guess[m] if len(r.guess) else rate[m]
        taken = activation[m] + (answer[m] / h * (guess[m] - then) if h > 0.0 else 0.0)
        worst = max(worst, abs(answered(r, rest[m], length[m], guess[m], h, m, before[m])[0] - taken))
    return worst
