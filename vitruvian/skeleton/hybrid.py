"""Hybrid dynamics in O(n): accelerations given for some velocities, forces for the others (Lee 2008, section 5.3.3).

The articulated-body recursion, in which a prescribed velocity is not eliminated but pushes: b <- b + Ĵ s q̈. The
forces that the prescribed ones need then follow from inverse dynamics. Mathematically it solves

[τ*; τ_p] = M [q̈*; q̈_p] + c - Jᵀ f_e for τ* and q̈_p                                                           (5.4)
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from vitruvian.skeleton.arguments import NO_WRENCHES, vector, wrench_rows, wrong_shape
from vitruvian.skeleton.articulated import eliminate, rigid_inertia, shift_to_parent, solve_column
from vitruvian.skeleton.crba import composite_force
from vitruvian.skeleton.evaluate import NV, PARENT, V0, A, C, F, S, prepare
from vitruvian.skeleton.model import Skeleton, Workspace
from vitruvian.skeleton.recursion import spread_velocities, subtract_wrenches, twist_to_child
from vitruvian.skeleton.rnea import inverse_dynamics

Array = np.ndarray


def hybrid_dynamics(
    skeleton: Skeleton,
    q: ArrayLike,
    v: ArrayLike,
    prescribed: ArrayLike,
    tau: ArrayLike,
    acceleration: ArrayLike,
    wrenches: ArrayLike | None = None,
    *,
    workspace: Workspace | None = None,
) -> tuple[Array, Array]:
    """(tau, acceleration), both (n_v,) and complete.

    prescribed: bool (n_v,): True where `acceleration` is given and the force wanted, False where `tau` is given and the
    acceleration wanted. Other arguments as in `forward_dynamics`."""
    given = np.ascontiguousarray(prescribed, dtype=np.bool_)
    if given.shape != (skeleton.n_v,):
        raise wrong_shape("prescribed", given, (skeleton.n_v,))
    tau = vector(tau, skeleton.n_v, "tau")
    a = np.where(given, vector(acceleration, skeleton.n_v, "acceleration"), 0.0)
    work = prepare(skeleton, q, v, workspace)
    hybrid(
        skeleton.topology,
        skeleton.bodies,
        skeleton.gravity,
        given,
        tau,
        NO_WRENCHES if wrenches is None else wrench_rows(wrenches, skeleton),
        work.rows,
        work.dofs,
        work.scratch,
        a,
    )
    needed = inverse_dynamics(skeleton, q, v, a, wrenches, workspace=work)
    return np.where(given, needed, tau), a


@njit(cache=True)
def hybrid(topology, bodies, gravity, given, tau, wrenches, rows, dofs, scratch, a):
    """Fill in the accelerations `a` where they are not given."""
    spread_velocities(topology, bodies, rows)
    subtract_wrenches(wrenches, rows)
    n = topology.shape[0]
    push = scratch[:6]
    for i in range(n):
        rigid_inertia(bodies[i], rows[i])
    for i in range(n - 1, -1, -1):
        row = rows[i]
        for d in range(topology[i, V0] + topology[i, NV] - 1, topology[i, V0] - 1, -1):
            if given[d]:
                composite_force(row, dofs[d], push)
                for k in range(6):
                    row[F + k] += push[k] * a[d]
            else:
                eliminate(row, dofs[d], tau[d])
        if topology[i, PARENT] >= 0:
            shift_to_parent(row, rows[topology[i, PARENT]])
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
            if given[d]:
                for k in range(6):
                    row[A + k] += dofs[d, S + k] * a[d]
            else:
                a[d] = solve_column(row, dofs[d])
