"""Inverse dynamics in O(n): the recursive Newton-Euler algorithm for general joints (Lee 2008, eqs. 6.11-6.16).

Forward:  v̇_i = Ad⁻¹ v̇_parent + c_i + S_i q̈_i,   f_i = J_i v̇_i - ad*_{v_i} J_i v_i - f_e,i
Backward: τ_i = S_iᵀ f_i,   f_parent += Ad* f_i
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from vitruvian.skeleton.arguments import NO_WRENCHES, vector, wrench_rows
from vitruvian.skeleton.evaluate import NV, PARENT, V0, A, C, F, S, prepare
from vitruvian.skeleton.model import Skeleton, Workspace
from vitruvian.skeleton.recursion import (
    add_wrench_to_parent,
    momentum,
    spread_velocities,
    subtract_wrenches,
    twist_to_child,
)

Array = np.ndarray


def inverse_dynamics(
    skeleton: Skeleton,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    wrenches: ArrayLike | None = None,
    *,
    workspace: Workspace | None = None,
) -> Array:
    """Generalized forces [N m or N], (n_v,), that bring the accelerations a (n_v,) about, against gravity and wrenches.

    With a = 0 this is the bias force: Coriolis, centrifugal, gravity. Arguments as in `forward_dynamics`."""
    work = prepare(skeleton, q, v, workspace)
    out = np.empty(skeleton.n_v)
    rnea(
        skeleton.topology,
        skeleton.bodies,
        skeleton.gravity,
        vector(a, skeleton.n_v, "a"),
        NO_WRENCHES if wrenches is None else wrench_rows(wrenches, skeleton),
        work.rows,
        work.dofs,
        out,
    )
    return out


@njit(cache=True)
def rnea(topology, bodies, gravity, a, wrenches, rows, dofs, out):
    spread_velocities(topology, bodies, rows)
    subtract_wrenches(wrenches, rows)
    n = topology.shape[0]
    for i in range(n):
        row = rows[i]
        parent = topology[i, PARENT]
        if parent < 0:
            for k in range(3):
                row[A + k] = row[C + k]
                row[A + 3 + k] = row[C + 3 + k] - (
                    row[k] * gravity[0] + row[3 + k] * gravity[1] + row[6 + k] * gravity[2]
                )
        else:
            twist_to_child(row, rows[parent], A, row, A)
            for k in range(6):
                row[A + k] += row[C + k]
        for d in range(topology[i, V0], topology[i, V0] + topology[i, NV]):
            for k in range(6):
                row[A + k] += dofs[d, S + k] * a[d]
        m0, m1, m2, f0, f1, f2 = momentum(bodies[i], row, A)
        row[F] += m0
        row[F + 1] += m1
        row[F + 2] += m2
        row[F + 3] += f0
        row[F + 4] += f1
        row[F + 5] += f2
    for i in range(n - 1, -1, -1):
        row = rows[i]
        for d in range(topology[i, V0], topology[i, V0] + topology[i, NV]):
            total = 0.0
            for k in range(6):
                total += dofs[d, S + k] * row[F + k]
            out[d] = total
        if topology[i, PARENT] >= 0:
            add_wrench_to_parent(
                row, row[F], row[F + 1], row[F + 2], row[F + 3], row[F + 4], row[F + 5], rows[topology[i, PARENT]], F
            )
