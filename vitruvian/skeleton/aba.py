"""Forward dynamics in O(n): the articulated-body recursion for general joints (Lee 2008, appendix B).

f_i = Ĵ_i v̇_i + b_i                                                                                          (B.1)
Ĵ_i = J_i + Σ Ad* (Ĵ - Ĵ S Ω⁻¹ Sᵀ Ĵ) Ad,   b_i = -ad*_v J v - f_e + Σ Ad* (b + Ĵ c + Ĵ S Ω⁻¹ (τ - Sᵀ(b + Ĵ c)))
q̈_i = Ω_i⁻¹ (τ_i - Sᵀ Ĵ (ⁱv̇_{i-1} + c_i) - Sᵀ b_i),   Ω = Sᵀ Ĵ S                                                (B.2)

Ω is never formed: the columns of S are eliminated one after the other, each a rank-one update of (Ĵ, b), which is the
same as factoring Ω. A ball joint, S = (I, 0), is eliminated in one stroke, leaving only the translational block.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from vitruvian.skeleton.arguments import NO_WRENCHES, wrench_rows, wrong_shape
from vitruvian.skeleton.articulated import (
    eliminate,
    eliminate_ball,
    eliminate_rotation,
    rigid_inertia,
    shift_to_parent,
    shift_translational,
    solve_column,
)
from vitruvian.skeleton.evaluate import CODE, NV, PARENT, SD, ST, SU, V0, A, C, S, prepare
from vitruvian.skeleton.joints.base import BALL, REVOLUTE
from vitruvian.skeleton.model import Skeleton, Workspace
from vitruvian.skeleton.recursion import spread_velocities, subtract_wrenches, twist_to_child

Array = np.ndarray


def forward_dynamics(
    skeleton: Skeleton,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    wrenches: ArrayLike | None = None,
    *,
    workspace: Workspace | None = None,
) -> Array:
    """Joint accelerations [rad/s² or m/s²], (n_v,), under generalized forces tau [N m or N] (n_v,) and gravity.

    q: (n_q,); v: (n_v,); wrenches: external (moment, force) on each bone in its own frame [N m, N], (n_bones, 6).
    Joint springs, limits and body springs are not included: add `passive_forces` to tau, as the integrators do."""
    tau = np.ascontiguousarray(tau, dtype=np.float64)
    if tau.shape != skeleton.v_shape:
        raise wrong_shape("tau", tau, skeleton.v_shape)
    work = prepare(skeleton, q, v, workspace)
    out = np.empty(skeleton.n_v)
    aba(
        skeleton.topology,
        skeleton.bodies,
        skeleton.gravity,
        tau,
        NO_WRENCHES if wrenches is None else wrench_rows(wrenches, skeleton),
        work.rows,
        work.dofs,
        out,
    )
    return out


@njit(cache=True)
def aba(topology, bodies, gravity, tau, wrenches, rows, dofs, out):
    spread_velocities(topology, bodies, rows)
    subtract_wrenches(wrenches, rows)
    n = topology.shape[0]
    for i in range(n):
        rigid_inertia(bodies[i], rows[i])
    for i in range(n - 1, -1, -1):
        row = rows[i]
        code, v0, parent = topology[i, CODE], topology[i, V0], topology[i, PARENT]
        if code == BALL:
            eliminate_ball(row, dofs, v0, tau)
            if parent >= 0:
                shift_translational(row, rows[parent])
            continue
        if code == REVOLUTE:
            eliminate_rotation(row, dofs[v0], tau[v0])
        else:
            for k in range(topology[i, NV] - 1, -1, -1):
                eliminate(row, dofs[v0 + k], tau[v0 + k])
        if parent >= 0:
            shift_to_parent(row, rows[parent])
    for i in range(n):
        row = rows[i]
        code, v0, parent = topology[i, CODE], topology[i, V0], topology[i, PARENT]
        if parent < 0:  # written out in each recursion: a call per bone would cost up to a tenth of the whole
            for k in range(3):
                row[A + k] = row[C + k]
                # a world that accelerates upwards is a world with gravity
                row[A + 3 + k] = row[C + 3 + k] - (
                    row[k] * gravity[0] + row[3 + k] * gravity[1] + row[6 + k] * gravity[2]
                )
        else:
            twist_to_child(row, rows[parent], A, row, A)
            for k in range(6):
                row[A + k] += row[C + k]
        if code == REVOLUTE:
            dof = dofs[v0]
            acceleration = dof[ST] - dof[SD] * (
                dof[SU] * row[A]
                + dof[SU + 1] * row[A + 1]
                + dof[SU + 2] * row[A + 2]
                + dof[SU + 3] * row[A + 3]
                + dof[SU + 4] * row[A + 4]
                + dof[SU + 5] * row[A + 5]
            )
            out[v0] = acceleration
            for k in range(3):
                row[A + k] += dof[S + k] * acceleration
        elif code == BALL:
            x, y, z = row[A + 3], row[A + 4], row[A + 5]
            for k in range(3):
                dof = dofs[v0 + k]
                total = dof[ST] - (dof[SU] * x + dof[SU + 1] * y + dof[SU + 2] * z)
                out[v0 + k] = total - row[A + k]
                row[A + k] = total
        else:
            for a in range(v0, v0 + topology[i, NV]):
                out[a] = solve_column(row, dofs[a])
