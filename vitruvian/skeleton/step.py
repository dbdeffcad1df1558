"""Time steps of a skeleton: explicit, symplectic, fourth-order and linear-implicit. All change the state in place.

forward Euler     q ← q ⊕ dt v;        v ← v + dt a(q, v)
semi-implicit     v ← v + dt a(q, v);  q ← q ⊕ dt v
RK4               classical, on (q, v) with quaternions brought back to unit length (order 4 is kept)
backward Euler    (M - dt ∂τ/∂v - dt² ∂τ/∂q) Δv = dt (τ - c + dt ∂τ/∂q v);  q ← q ⊕ dt (v + Δv)

The last is one Newton step of backward Euler with exact derivatives of the generalized forces (Baraff, Witkin 1998);
inertial forces c and gravity are explicit. Joint springs, limits and springs between bones are always included.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from vitruvian.errors import Diverged
from vitruvian.skeleton.aba import forward_dynamics
from vitruvian.skeleton.coordinates import coordinate_rates, integrate, normalized
from vitruvian.skeleton.crba import mass_matrix
from vitruvian.skeleton.model import Skeleton
from vitruvian.skeleton.passive import passive_derivatives, passive_forces
from vitruvian.skeleton.rnea import inverse_dynamics
from vitruvian.skeleton.state import SkeletonState

Array = np.ndarray
Forces = Callable[[Array, Array], ArrayLike]  # (q, v) -> tau
Derivatives = Callable[[Array, Array], tuple[ArrayLike, ArrayLike, ArrayLike]]  # (q, v) -> tau, dtau/dq, dtau/dv


def acceleration(
    skeleton: Skeleton,
    q: Array,
    v: Array,
    forces: ArrayLike | Forces | None = None,
    wrenches: ArrayLike | None = None,
) -> Array:
    """q̈ (n_v,) under given forces (an array, a function of (q, v), or none) and the skeleton's passive ones."""
    tau = passive_forces(skeleton, q, v)
    if forces is not None:
        tau += forces(q, v) if callable(forces) else forces
    return forward_dynamics(skeleton, q, v, tau, wrenches)


def step_forward_euler(
    skeleton: Skeleton,
    state: SkeletonState,
    dt: float,
    forces: ArrayLike | Forces | None = None,
    wrenches: ArrayLike | None = None,
) -> None:
    """Advance `state` by dt [s] with the explicit Euler rule."""
    a = acceleration(skeleton, state.q, state.v, forces, wrenches)
    _accept(skeleton, state, integrate(skeleton, state.q, state.v, dt), state.v + dt * a)


def step_semi_implicit(
    skeleton: Skeleton,
    state: SkeletonState,
    dt: float,
    forces: ArrayLike | Forces | None = None,
    wrenches: ArrayLike | None = None,
) -> None:
    """Advance `state` by dt [s] with the symplectic Euler rule. forces: (n_v,) or (q, v) -> (n_v,)."""
    v = state.v + dt * acceleration(skeleton, state.q, state.v, forces, wrenches)
    _accept(skeleton, state, integrate(skeleton, state.q, v, dt), v)


def step_rk4(
    skeleton: Skeleton,
    state: SkeletonState,
    dt: float,
    forces: ArrayLike | Forces | None = None,
    wrenches: ArrayLike | None = None,
    *,
    moving: Callable[[float], Skeleton] | None = None,
) -> None:
    """Advance `state` by dt [s] with the classical Runge-Kutta rule.

    moving: for surfaces that move, the skeleton as it is a given time [s] after the start of the step."""
    q, v = state.q, state.v

    def slope(elapsed: float, qs: Array, vs: Array) -> tuple[Array, Array]:
        now = skeleton if moving is None else moving(elapsed)
        return coordinate_rates(skeleton, qs, vs), acceleration(now, qs, vs, forces, wrenches)

    q1, v1 = slope(0.0, q, v)
    q2, v2 = slope(0.5 * dt, q + 0.5 * dt * q1, v + 0.5 * dt * v1)
    q3, v3 = slope(0.5 * dt, q + 0.5 * dt * q2, v + 0.5 * dt * v2)
    q4, v4 = slope(dt, q + dt * q3, v + dt * v3)
    _accept(
        skeleton,
        state,
        normalized(skeleton, q + dt / 6.0 * (q1 + 2.0 * q2 + 2.0 * q3 + q4)),
        v + dt / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4),
    )


def step_backward_euler(
    skeleton: Skeleton,
    state: SkeletonState,
    dt: float,
    forces: Derivatives | None = None,
    wrenches: ArrayLike | None = None,
) -> None:
    """Advance `state` by dt [s] with the linear-implicit rule; stable for stiff springs, limits and muscles.

    forces: (q, v) -> (tau (n_v,), dtau/dq (n_v, n_v), dtau/dv (n_v, n_v)), derivatives along the velocities."""
    q, v = state.q, state.v
    tau, dq, dv = passive_derivatives(skeleton, q, v)
    if forces is not None:
        more, more_dq, more_dv = forces(q, v)
        tau += more
        dq += more_dq
        dv += more_dv
    residual = tau - inverse_dynamics(skeleton, q, v, np.zeros(skeleton.n_v), wrenches)
    matrix = dv
    matrix *= -dt
    right = dt * (residual + dt * (dq @ v))
    dq *= dt * dt
    matrix -= dq
    matrix += mass_matrix(skeleton, q)
    if not solve_step(matrix, right):
        raise Diverged(skeleton.names[0], "the matrix of the implicit step is singular or not finite")
    new = v + right
    _accept(skeleton, state, integrate(skeleton, q, new, dt), new)


@njit(cache=True, error_model="numpy")
def solve_step(matrix, right):
    """Solve matrix x = right by elimination with row pivots; both are overwritten, x ends up in `right`.

    Returns False if the matrix is singular or not finite. One thread and no library call: a library's threads cost
    more than they bring at this size, and much more when other work keeps the cores busy."""
    n = len(right)
    for k in range(n):
        best, at = abs(matrix[k, k]), k
        for i in range(k + 1, n):
            if abs(matrix[i, k]) > best:
                best, at = abs(matrix[i, k]), i
        if not 0.0 < best < np.inf:
            return False
        if at != k:
            for j in range(k, n):
                matrix[k, j], matrix[at, j] = matrix[at, j], matrix[k, j]
            right[k], right[at] = right[at], right[k]
        pivot = 1.0 / matrix[k, k]
        upper = matrix[k]
        for i in range(k + 1, n):
            row = matrix[i]
            factor = row[k] * pivot
            if factor != 0.0:  # trees leave many zeros
                for j in range(k + 1, n):
                    row[j] -= factor * upper[j]
                right[i] -= factor * right[k]
    for k in range(n - 1, -1, -1):
        total = right[k]
        for j in range(k + 1, n):
            total -= matrix[k, j] * right[j]
        right[k] = total / matrix[k, k]
    return True


def _accept(skeleton: Skeleton, state: SkeletonState, q: Array, v: Array) -> None:
    if not np.isfinite(v).all():
        k = int(np.flatnonzero(~np.isfinite(v))[0])
        raise Diverged(skeleton.names[skeleton.dof_bone[k]], "its velocity is no longer a number")
    state.q[:] = q
    state.v[:] = v
