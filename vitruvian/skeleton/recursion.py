"""Steps shared by the recursions: twists and wrenches across a joint, rigid inertia, velocity along the tree.

Names of columns are those of `evaluate`. G = (R, p) maps child to parent coordinates:
Ad⁻¹ (ω, v) = (Rᵀω, Rᵀ(v - p×ω)),     Ad⁻ᵀ (μ, η) = (Rμ + p×Rη, Rη).
"""

from __future__ import annotations

from numba import njit

from vitruvian.skeleton.evaluate import MASS, PARENT, C, F, P, U, V


@njit(cache=True)
def twist_to_child(row, a, column, target, target_column):
    """target[...] = Ad⁻¹ a[...]: a twist of the parent in the child's frame."""
    w0, w1, w2 = a[column], a[column + 1], a[column + 2]
    p0, p1, p2 = row[P], row[P + 1], row[P + 2]
    v0 = a[column + 3] - (p1 * w2 - p2 * w1)
    v1 = a[column + 4] - (p2 * w0 - p0 * w2)
    v2 = a[column + 5] - (p0 * w1 - p1 * w0)
    target[target_column] = row[0] * w0 + row[3] * w1 + row[6] * w2
    target[target_column + 1] = row[1] * w0 + row[4] * w1 + row[7] * w2
    target[target_column + 2] = row[2] * w0 + row[5] * w1 + row[8] * w2
    target[target_column + 3] = row[0] * v0 + row[3] * v1 + row[6] * v2
    target[target_column + 4] = row[1] * v0 + row[4] * v1 + row[7] * v2
    target[target_column + 5] = row[2] * v0 + row[5] * v1 + row[8] * v2


@njit(cache=True)
def add_wrench_to_parent(row, m0, m1, m2, f0, f1, f2, target, column):
    """target[...] += Ad⁻ᵀ (m, f): a wrench of the child in the parent's frame."""
    g0 = row[0] * f0 + row[1] * f1 + row[2] * f2
    g1 = row[3] * f0 + row[4] * f1 + row[5] * f2
    g2 = row[6] * f0 + row[7] * f1 + row[8] * f2
    p0, p1, p2 = row[P], row[P + 1], row[P + 2]
    target[column] += row[0] * m0 + row[1] * m1 + row[2] * m2 + p1 * g2 - p2 * g1
    target[column + 1] += row[3] * m0 + row[4] * m1 + row[5] * m2 + p2 * g0 - p0 * g2
    target[column + 2] += row[6] * m0 + row[7] * m1 + row[8] * m2 + p0 * g1 - p1 * g0
    target[column + 3] += g0
    target[column + 4] += g1
    target[column + 5] += g2


@njit(cache=True)
def momentum(body, v, column):
    """J v of the rigid inertia at body[MASS:], as six numbers: (Iω + h×v, m v - h×ω)."""
    w0, w1, w2 = v[column], v[column + 1], v[column + 2]
    v0, v1, v2 = v[column + 3], v[column + 4], v[column + 5]
    m, h0, h1, h2 = body[MASS], body[MASS + 1], body[MASS + 2], body[MASS + 3]
    xx, xy, xz = body[MASS + 4], body[MASS + 5], body[MASS + 6]
    yy, yz, zz = body[MASS + 7], body[MASS + 8], body[MASS + 9]
    return (
        xx * w0 + xy * w1 + xz * w2 + h1 * v2 - h2 * v1,
        xy * w0 + yy * w1 + yz * w2 + h2 * v0 - h0 * v2,
        xz * w0 + yz * w1 + zz * w2 + h0 * v1 - h1 * v0,
        m * v0 - (h1 * w2 - h2 * w1),
        m * v1 - (h2 * w0 - h0 * w2),
        m * v2 - (h0 * w1 - h1 * w0),
    )


@njit(cache=True)
def spread_velocities(topology, bodies, rows):
    """Along the tree: v_i = Ad⁻¹ v_parent + u_i;  c_i = b_i + ad_{v_i} u_i;  f_i = -ad*_{v_i} J_i v_i (6.11-6.15)."""
    for i in range(topology.shape[0]):
        row = rows[i]
        parent = topology[i, PARENT]
        u0, u1, u2, u3, u4, u5 = row[U], row[U + 1], row[U + 2], row[U + 3], row[U + 4], row[U + 5]
        if parent < 0:
            w0, w1, w2, v0, v1, v2 = u0, u1, u2, u3, u4, u5
        else:
            twist_to_child(row, rows[parent], V, row, V)
            w0, w1, w2 = row[V] + u0, row[V + 1] + u1, row[V + 2] + u2
            v0, v1, v2 = row[V + 3] + u3, row[V + 4] + u4, row[V + 5] + u5
        row[V], row[V + 1], row[V + 2] = w0, w1, w2
        row[V + 3], row[V + 4], row[V + 5] = v0, v1, v2
        row[C] += w1 * u2 - w2 * u1
        row[C + 1] += w2 * u0 - w0 * u2
        row[C + 2] += w0 * u1 - w1 * u0
        row[C + 3] += v1 * u2 - v2 * u1 + w1 * u5 - w2 * u4
        row[C + 4] += v2 * u0 - v0 * u2 + w2 * u3 - w0 * u5
        row[C + 5] += v0 * u1 - v1 * u0 + w0 * u4 - w1 * u3
        a0, a1, a2, l0, l1, l2 = momentum(bodies[i], row, V)
        row[F] = w1 * a2 - w2 * a1 + v1 * l2 - v2 * l1
        row[F + 1] = w2 * a0 - w0 * a2 + v2 * l0 - v0 * l2
        row[F + 2] = w0 * a1 - w1 * a0 + v0 * l1 - v1 * l0
        row[F + 3] = w1 * l2 - w2 * l1
        row[F + 4] = w2 * l0 - w0 * l2
        row[F + 5] = w0 * l1 - w1 * l0


@njit(cache=True)
def subtract_wrenches(wrenches, rows):
    """External wrenches enter as f_i -= f_e,i; an empty array means none."""
    for i in range(wrenches.shape[0]):
        for k in range(6):
            rows[i, F + k] -= wrenches[i, k]
