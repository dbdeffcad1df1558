"""First phase of every algorithm: all joints at (q, v) into flat rows that the recursions read.

Per bone i (a row of `rows`):  G_i = placement · joint transform;  u_i = S_i q̇_i (+ drift of a moving surface);
b_i = q̇ᵀ ∇S_i q̇ (+ the same for time), the part of the joint's acceleration that velocity brings (Lee 2008, eq. 6.14).
Per velocity (a row of `dofs`): its column of S, in the child's frame. Per joint whose S changes: ∂S/∂q (in `hessians`).

Columns of `rows` are named below; later phases use the rest of the row as their memory, so nothing is allocated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from vitruvian.skeleton.arguments import wrong_shape
from vitruvian.skeleton.joints.ball import quaternion_rotation
from vitruvian.skeleton.joints.base import (
    BALL,
    CURVE,
    CYLINDRICAL,
    ELLIPTIC,
    FIXED,
    FREE,
    PLANAR,
    REVOLUTE,
    SCREW,
    SURFACE,
    UNIVERSAL,
)
from vitruvian.skeleton.joints.cylindrical import cylindrical
from vitruvian.skeleton.joints.elliptic import elliptic
from vitruvian.skeleton.joints.helical import screw
from vitruvian.skeleton.joints.planar import planar
from vitruvian.skeleton.joints.revolute import revolute
from vitruvian.skeleton.joints.surface_spline import SCRATCH, surface
from vitruvian.skeleton.joints.universal import universal
from vitruvian.spatial.se3_spline import curve

if TYPE_CHECKING:
    from vitruvian.skeleton.model import Skeleton, Workspace

# rows: one per bone
R, P, U, C, V, F, I, A = 0, 9, 12, 18, 24, 30, 36, 57  # rotation, position, u, bias c, v, force, inertia (21), v̇
ROW_WIDTH = 64
# dofs: one per velocity
S, SU, SD, ST = 0, 6, 12, 13  # S column, Ĵ S, 1/(Sᵀ Ĵ S), reduced force
DOF_WIDTH = 16
# topology: one per bone
PARENT, CODE, Q0, V0, NV, PARAM, CUSTOM_ROW = 0, 1, 2, 3, 4, 5, 6
GENERAL = 7  # row of `hessians`, or -1 where the Jacobian is constant
# bodies: one per bone
PLACE, MASS = 0, 12  # placement (12), then mass, m·com (3), inertia about the origin xx xy xz yy yz zz
BODY_WIDTH = 24
SCRATCH_SIZE = 42 + SCRATCH
COORDINATES = 7  # the most that a joint's Jacobian and Hessian run over: six, and time for a surface that moves


def prepare(skeleton: Skeleton, q: ArrayLike, v: ArrayLike | None, workspace: Workspace | None) -> Workspace:
    """Evaluate all joints at q (n_q,) and v (n_v,), zero if None; returns the workspace that holds the result."""
    work = skeleton.workspace if workspace is None else workspace
    q = np.ascontiguousarray(q, dtype=np.float64)
    v = skeleton.still if v is None else np.ascontiguousarray(v, dtype=np.float64)
    if q.shape != skeleton.q_shape:
        raise wrong_shape("q", q, skeleton.q_shape)
    if v.shape != skeleton.v_shape:
        raise wrong_shape("v", v, skeleton.v_shape)
    evaluate_joints(
        skeleton.topology,
        skeleton.bodies,
        skeleton.params,
        skeleton.custom_rows(q),
        q,
        v,
        work.rows,
        work.dofs,
        work.hessians,
        work.scratch,
    )
    return work


@njit(cache=True)
def evaluate_joints(topology, bodies, params, custom, q, v, rows, dofs, hessians, scratch):
    for i in range(topology.shape[0]):
        code = topology[i, CODE]
        q0, v0, p = topology[i, Q0], topology[i, V0], topology[i, PARAM]
        row = rows[i]
        if code == REVOLUTE:
            revolute(params, p, q[q0], row)
            rate = v[v0]
            row[U], row[U + 1], row[U + 2] = dofs[v0, 0] * rate, dofs[v0, 1] * rate, dofs[v0, 2] * rate
            for k in range(3):
                row[P + k] = bodies[i, PLACE + 9 + k]
                row[U + 3 + k] = 0.0
        elif code == BALL:
            quaternion_rotation(q, q0, row)
            row[P], row[P + 1], row[P + 2] = 0.0, 0.0, 0.0
            _place(bodies, i, row)
            for k in range(3):
                row[U + k] = v[v0 + k]
                row[U + 3 + k] = 0.0
        elif code == FIXED:
            for k in range(12):
                row[k] = bodies[i, PLACE + k]
            for k in range(6):
                row[U + k] = 0.0
        elif code == FREE:
            quaternion_rotation(q, q0 + 3, row)
            row[P], row[P + 1], row[P + 2] = q[q0], q[q0 + 1], q[q0 + 2]
            _place(bodies, i, row)
            for k in range(6):
                row[U + k] = v[v0 + k]
        elif code == SCREW:
            screw(params, p, q[q0], row)
            _place(bodies, i, row)
            for k in range(6):
                row[U + k] = dofs[v0, k] * v[v0]
        elif code == CYLINDRICAL:
            cylindrical(params, p, q[q0], q[q0 + 1], row)
            _place(bodies, i, row)
            for k in range(6):
                row[U + k] = dofs[v0, k] * v[v0] + dofs[v0 + 1, k] * v[v0 + 1]
        elif code == CURVE:
            # the placement is folded into the control frames
            hessian = hessians[topology[i, GENERAL]]
            curve(params, p, q[q0], row, dofs[v0 : v0 + 1], hessian)
            rate = v[v0]
            for k in range(6):
                row[U + k] = dofs[v0, S + k] * rate
                row[C + k] = hessian[0, 0, k] * rate * rate
            continue
        else:
            _general(topology, bodies, params, custom, q, v, i, row, dofs, hessians, scratch)
            continue
        for k in range(6):
            row[C + k] = 0.0


@njit(cache=True)
def joint_hessian(topology, params, custom, q, i, G, jacobian, hessian, scratch):
    """G, S and ∂S/∂q of a joint whose Jacobian changes; returns how many coordinates were filled, time included.

    G: (12,) joint transform without the placement (a curve's has it folded in); jacobian: (7, 6); hessian: (7, 7, 6),
    [a, b] = ∂s_a/∂q_b."""
    code = topology[i, CODE]
    q0, p, n = topology[i, Q0], topology[i, PARAM], topology[i, NV]
    if code == CURVE:
        curve(params, p, q[q0], G, jacobian, hessian)
    elif code == SURFACE:
        surface(params, p, q, q0, G, jacobian, hessian, scratch)
        if params[p + 1] != 0.0:
            return n + 1
    elif code == UNIVERSAL:
        universal(params, p, q[q0], q[q0 + 1], G, jacobian, hessian)
    elif code == ELLIPTIC:
        elliptic(params, p, q[q0], G, jacobian, hessian)
    elif code == PLANAR:
        planar(params, p, q, q0, G, jacobian, hessian)
    else:
        row = custom[topology[i, CUSTOM_ROW]]
        for k in range(12):
            G[k] = row[k]
        for a in range(n):
            for k in range(6):
                jacobian[a, k] = row[12 + 6 * a + k]
                for b in range(n):
                    hessian[a, b, k] = row[48 + 36 * a + 6 * b + k]
    return n


@njit(cache=True)
def _general(topology, bodies, params, custom, q, v, i, row, dofs, hessians, scratch):
    """A joint whose Jacobian changes with q: copy S, sum u and the bias."""
    jacobian = scratch[:42].reshape(COORDINATES, 6)
    hessian = hessians[topology[i, GENERAL]]
    filled = joint_hessian(topology, params, custom, q, i, row, jacobian, hessian, scratch[42:])
    _place(bodies, i, row)
    n, v0 = topology[i, NV], topology[i, V0]
    for k in range(6):
        u = 0.0
        bias = 0.0
        for a in range(filled):
            va = v[v0 + a] if a < n else 1.0
            u += jacobian[a, k] * va
            for b in range(filled):
                vb = v[v0 + b] if b < n else 1.0
                bias += hessian[a, b, k] * va * vb
            if a < n:
                dofs[v0 + a, S + k] = jacobian[a, k]
        row[U + k] = u
        row[C + k] = bias


@njit(cache=True)
def _place(bodies, i, row):
    """row's transform <- placement · row's transform."""
    a, b, c = bodies[i, PLACE], bodies[i, PLACE + 1], bodies[i, PLACE + 2]
    d, e, f = bodies[i, PLACE + 3], bodies[i, PLACE + 4], bodies[i, PLACE + 5]
    g, h, o = bodies[i, PLACE + 6], bodies[i, PLACE + 7], bodies[i, PLACE + 8]
    for k in range(3):
        x, y, z = row[k], row[3 + k], row[6 + k]
        row[k], row[3 + k], row[6 + k] = a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + o * z
    x, y, z = row[P], row[P + 1], row[P + 2]
    row[P] = a * x + b * y + c * z + bodies[i, PLACE + 9]
    row[P + 1] = d * x + e * y + f * z + bodies[i, PLACE + 10]
    row[P + 2] = g * x + h * y + o * z + bodies[i, PLACE + 11]
