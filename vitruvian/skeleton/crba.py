"""Joint-space inertia: the composite-rigid-body algorithm for general joints (Featherstone 1987).

Jᶜ_i = J_i + Σ Ad* Jᶜ_child Ad;   M_ii = S_iᵀ Jᶜ_i S_i;   M_ij = (force of column i carried to ancestor j)ᵀ S_j
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from vitruvian.skeleton.articulated import rigid_inertia, shift_to_parent
from vitruvian.skeleton.evaluate import NV, PARENT, V0, C, F, I, S, prepare
from vitruvian.skeleton.model import Skeleton, Workspace
from vitruvian.skeleton.recursion import add_wrench_to_parent

Array = np.ndarray


def mass_matrix(skeleton: Skeleton, q: ArrayLike, *, workspace: Workspace | None = None) -> Array:
    """M(q), symmetric positive definite, (n_v, n_v), [kg, kg m, kg m²]. q: (n_q,)."""
    work = prepare(skeleton, q, None, workspace)
    out = np.zeros((skeleton.n_v, skeleton.n_v))
    crba(skeleton.topology, skeleton.bodies, work.rows, work.dofs, work.scratch, out)
    return out


@njit(cache=True)
def crba(topology, bodies, rows, dofs, scratch, out):
    """Fill the symmetric `out`, which must come in as zeros."""
    n = topology.shape[0]
    for i in range(n):
        rigid_inertia(bodies[i], rows[i])
        for k in range(6):
            rows[i, F + k] = 0.0
            rows[i, C + k] = 0.0  # shift_to_parent carries forces too; here there are none
    for i in range(n - 1, -1, -1):
        if topology[i, PARENT] >= 0:
            shift_to_parent(rows[i], rows[topology[i, PARENT]])
    carried = scratch[:12]
    for i in range(n):
        v0, nv = topology[i, V0], topology[i, NV]
        for a in range(v0, v0 + nv):
            composite_force(rows[i], dofs[a], carried)
            j = i
            first = a  # within its own joint only columns up to itself: the rest is symmetric
            while True:
                for b in range(topology[j, V0], first + 1):
                    total = 0.0
                    for k in range(6):
                        total += dofs[b, S + k] * carried[k]
                    out[a, b] = total
                    out[b, a] = total
                row = rows[j]
                j = topology[j, PARENT]
                if j < 0:
                    break
                for k in range(6):
                    carried[6 + k] = 0.0
                add_wrench_to_parent(
                    row, carried[0], carried[1], carried[2], carried[3], carried[4], carried[5], carried, 6
                )
                for k in range(6):
                    carried[k] = carried[6 + k]
                first = topology[j, V0] + topology[j, NV] - 1


@njit(cache=True)
def composite_force(row, dof, out):
    """out[0:6] = Jᶜ s of the column s = dof[0:6] with the inertia at row[I:]."""
    for k in range(3):
        # symmetric blocks: entry (k, c) stands at 0 1 2 / 1 3 4 / 2 4 5
        i0, i1, i2 = k, (1 if k == 0 else k + 2), (2 if k == 0 else k + 3)
        out[k] = (
            row[I + i0] * dof[0]
            + row[I + i1] * dof[1]
            + row[I + i2] * dof[2]
            + row[I + 6 + 3 * k] * dof[3]
            + row[I + 7 + 3 * k] * dof[4]
            + row[I + 8 + 3 * k] * dof[5]
        )
        out[3 + k] = (
            row[I + 6 + k] * dof[0]
            + row[I + 9 + k] * dof[1]
            + row[I + 12 + k] * dof[2]
            + row[I + 15 + i0] * dof[3]
            + row[I + 15 + i1] * dof[4]
            + row[I + 15 + i2] * dof[5]
        )
