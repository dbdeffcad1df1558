"""Springs and dampers of bounded strength, as an implicit step will apply them.

The torque of a spring is taken at the end of the step, tau = tau_0 - g dv with g = h K + D, where it has given way; of
a light limb hardly anything is then left of what it was at the beginning. So whether it exceeds what is allowed is
asked of its end, with dv from the step's own matrix,

    (A + h G) dv = h (f + tau_0)       G = diag g where the spring is free; tau = bound and G = 0 where it is not,

by turns until the set of free springs stays (Newton's method on the cut-off springs). Should that go round in circles,
as it can where springs pull hard at each other, what is cut off from then on stays cut off: all torques are then within
their bounds, though a spring may be held at its bound that would need less. Cut off by its value at the beginning, a
stiff spring on a light limb is thrown to and fro between its bounds.
"""

from __future__ import annotations

from itertools import count

import numpy as np
from numba import njit

from vitruvian.skeleton.cholesky import cholesky, solve_cholesky

Array = np.ndarray
ROUNDS = 12


def free_springs(
    matrix: Array, force: Array, rows: Array, torque: Array, yields: Array, low: Array, high: Array, dt: float
) -> tuple[Array, Array]:
    """Which springs stay within their bounds, bool, and the torques [N m] at the end of the step; shape (n,) each.

    matrix: A [kg m^2], shape (n_v, n_v); force: all others' [N m], (n_v,); of each spring: `rows` its coordinate,
    torque at dv = 0, `yields` = h K + D [N m s], and the bounds [N m]."""
    free = np.ones(len(rows), dtype=bool)
    held = np.zeros(len(rows))
    for n in count():
        A, p = matrix.copy(), dt * force
        _put(A, p, rows, np.where(free, dt * yields, 0.0), dt * np.where(free, torque, held))
        _solve(A, p)
        end = torque - yields * p[rows]
        within = (end > low) & (end < high)
        if n >= ROUNDS:
            within &= free
        if np.array_equal(within, free):
            break
        held = np.where(free | (n < ROUNDS), np.where(end >= high, high, low), held)
        free = within
    return free, np.where(free, end, held)


def _put(A: Array, p: Array, rows: Array, soft: Array, impulse: Array) -> None:
    A[rows, rows] += soft
    p[rows] += impulse


@njit(cache=True)
def _solve(A: Array, p: Array) -> None:
    """p <- A^-1 p; A symmetric positive definite, overwritten."""
    cholesky(A)
    solve_cholesky(A, p)
