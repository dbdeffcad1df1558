"""Forces at points as generalized forces, and the exact derivative of those when the points move with the bones.

τ_k = ξ_k · W_k,  W_k = (Σ x×f, Σ f) over the subtree that velocity k moves, ξ_k its world twist (virtual work).

dτ_k/dq_j for forces of constant world direction, with j a joint above or at k, or k above j:

    j above k, or the same joint:  (ad_{ξ_j} ξ_k) · W_k + ω_k · Σ_k (ω_j×x + v_j)×f
    only the same joint:           + (Ad_T ∂s_k/∂q_j) · W_k
    j below k:                     ω_k · Σ_j (ω_j×x + v_j)×f

and Σ (ω×x + v)×f = N ω - tr(N) ω + v × Σf with N = Σ x fᵀ. So 3 + 9 numbers per bone carry any number of forces,
and the whole derivative costs O(points + pairs of joints on one branch).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from vitruvian.errors import InputError
from vitruvian.skeleton.evaluate import GENERAL, NV, PARENT, V0
from vitruvian.skeleton.kinematics import world_twists
from vitruvian.skeleton.model import Skeleton, Workspace

Array = np.ndarray


def generalized_forces(
    skeleton: Skeleton,
    q: ArrayLike,
    bones: ArrayLike,
    points: ArrayLike,
    forces: ArrayLike,
    *,
    workspace: Workspace | None = None,
) -> Array:
    """τ = Σ Jᵀf, (n_v,), of forces [N] (n, 3) in world axes at points [m] (n, 3) of bones (n,), in the bones' frames.

    Bone -1 is the world, on which forces have no effect."""
    poses, twists = world_twists(skeleton, q, workspace=workspace)
    sums = np.zeros((skeleton.n_bones, 12))
    gather(poses, *_points(skeleton, bones, points, forces), sums)
    out = np.empty(skeleton.n_v)
    project(skeleton.topology, twists, sums, out)
    return out


def geometric_stiffness(
    skeleton: Skeleton,
    q: ArrayLike,
    bones: ArrayLike,
    points: ArrayLike,
    forces: ArrayLike,
    *,
    workspace: Workspace | None = None,
) -> Array:
    """dτ/dq (n_v, n_v) of `generalized_forces` while the forces keep their world direction and size.

    Column j is the derivative along velocity j (for ball and free joints: along the body-frame rotation)."""
    work = skeleton.workspace if workspace is None else workspace
    poses, twists = world_twists(skeleton, q, workspace=work)
    sums = np.zeros((skeleton.n_bones, 12))
    gather(poses, *_points(skeleton, bones, points, forces), sums)
    out = np.zeros((skeleton.n_v, skeleton.n_v))
    project(skeleton.topology, twists, sums, np.empty(skeleton.n_v))
    derive(skeleton.topology, poses, twists, sums, work.hessians, out)
    return out


def _points(skeleton: Skeleton, bones: ArrayLike, points: ArrayLike, forces: ArrayLike) -> tuple[Array, Array, Array]:
    b = np.ascontiguousarray(bones, dtype=np.int64).reshape(-1)
    p = np.ascontiguousarray(points, dtype=np.float64).reshape(-1, 3)
    f = np.ascontiguousarray(forces, dtype=np.float64).reshape(-1, 3)
    if not len(b) == len(p) == len(f):
        raise InputError(f"bones, points and forces must be as many, not {len(b)}, {len(p)} and {len(f)}")
    if len(b) and not (b.min() >= -1 and b.max() < skeleton.n_bones):
        raise InputError(f"bones must lie between -1 and {skeleton.n_bones - 1}, not {b.min()} to {b.max()}")
    return b, p, f


@njit(cache=True)
def gather(poses, bones, points, forces, sums):
    """Per bone: sums[:, 0:3] += Σ f, sums[:, 3:12] += Σ x fᵀ with x the point in the world."""
    for n in range(bones.shape[0]):
        i = bones[n]
        if i < 0:
            continue
        T, S = poses[i], sums[i]
        f0, f1, f2 = forces[n, 0], forces[n, 1], forces[n, 2]
        S[0] += f0
        S[1] += f1
        S[2] += f2
        for a in range(3):
            x = T[a, 0] * points[n, 0] + T[a, 1] * points[n, 1] + T[a, 2] * points[n, 2] + T[a, 3]
            S[3 + 3 * a] += x * f0
            S[4 + 3 * a] += x * f1
            S[5 + 3 * a] += x * f2


@njit(cache=True)
def project(topology, twists, sums, out):
    """Sum over subtrees in place, then τ_k = ξ_k · W_k."""
    for i in range(topology.shape[0] - 1, -1, -1):
        S = sums[i]
        # the moment Σ x×f is the axial vector of N = Σ x fᵀ
        m0, m1, m2 = S[8] - S[10], S[9] - S[5], S[4] - S[6]
        for k in range(topology[i, V0], topology[i, V0] + topology[i, NV]):
            t = twists[k]
            out[k] = t[0] * m0 + t[1] * m1 + t[2] * m2 + t[3] * S[0] + t[4] * S[1] + t[5] * S[2]
        if topology[i, PARENT] >= 0:
            for c in range(12):
                sums[topology[i, PARENT], c] += S[c]


@njit(cache=True)
def derive(topology, poses, twists, sums, hessians, out):
    """Add dτ/dq to `out`; sums are those of subtrees, as `project` leaves them; joints have been evaluated."""
    for i in range(topology.shape[0]):
        v0, nv = topology[i, V0], topology[i, NV]
        S = sums[i]
        m0, m1, m2 = S[8] - S[10], S[9] - S[5], S[4] - S[6]
        if topology[i, GENERAL] >= 0:  # a joint whose own Jacobian changes
            hessian, T = hessians[topology[i, GENERAL]], poses[i]
            # W of the subtree in the bone's frame: Ad_Tᵀ W
            a0 = m0 - (T[1, 3] * S[2] - T[2, 3] * S[1])
            a1 = m1 - (T[2, 3] * S[0] - T[0, 3] * S[2])
            a2 = m2 - (T[0, 3] * S[1] - T[1, 3] * S[0])
            for a in range(nv):
                for b in range(nv):
                    total = 0.0
                    for c in range(3):
                        total += hessian[a, b, c] * (T[0, c] * a0 + T[1, c] * a1 + T[2, c] * a2)
                        total += hessian[a, b, 3 + c] * (T[0, c] * S[0] + T[1, c] * S[1] + T[2, c] * S[2])
                    out[v0 + a, v0 + b] += total
        for k in range(v0, v0 + nv):
            t = twists[k]
            # change of the subtree's moment when velocity k moves it
            d0, d1, d2 = _moment_rate(S, t)
            j = i
            while j >= 0:
                for l in range(topology[j, V0], topology[j, V0] + topology[j, NV]):
                    s = twists[l]
                    if j != i:
                        out[l, k] += s[0] * d0 + s[1] * d1 + s[2] * d2
                    e0, e1, e2 = _moment_rate(S, s)
                    out[k, l] += (
                        (s[1] * t[2] - s[2] * t[1]) * m0
                        + (s[2] * t[0] - s[0] * t[2]) * m1
                        + (s[0] * t[1] - s[1] * t[0]) * m2
                        + (s[4] * t[2] - s[5] * t[1] + s[1] * t[5] - s[2] * t[4]) * S[0]
                        + (s[5] * t[0] - s[3] * t[2] + s[2] * t[3] - s[0] * t[5]) * S[1]
                        + (s[3] * t[1] - s[4] * t[0] + s[0] * t[4] - s[1] * t[3]) * S[2]
                        + t[0] * e0
                        + t[1] * e1
                        + t[2] * e2
                    )
                j = topology[j, PARENT]


@njit(cache=True)
def _moment_rate(S, t):
    """N ω - tr(N) ω + v × F."""
    trace = S[3] + S[7] + S[11]
    return (
        S[3] * t[0] + S[4] * t[1] + S[5] * t[2] - trace * t[0] + t[4] * S[2] - t[5] * S[1],
        S[6] * t[0] + S[7] * t[1] + S[8] * t[2] - trace * t[1] + t[5] * S[0] - t[3] * S[2],
        S[9] * t[0] + S[10] * t[1] + S[11] * t[2] - trace * t[2] + t[3] * S[1] - t[4] * S[0],
    )
