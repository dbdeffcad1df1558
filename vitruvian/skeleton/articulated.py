"""Articulated inertia: what a subtree feels like at its joint, f = Ĵ v̇ + b (Lee 2008, eq. B.1), and its three moves.

Start with the rigid body's own; eliminate a degree of freedom, which is a rank-one update of (Ĵ, b); shift to the
parent. A row holds Ĵ as 21 numbers: rotational block (symmetric, 6), coupling (9, row by row), translational block
(symmetric, 6).

A pivot of zero gives infinities, which the integrators report, not a ZeroDivisionError (`error_model="numpy"`).
"""

from __future__ import annotations

from numba import njit

from vitruvian.skeleton.evaluate import MASS, SD, ST, SU, A, C, F, I, P, S
from vitruvian.skeleton.recursion import add_wrench_to_parent


@njit(cache=True)
def rigid_inertia(body, row):
    """Start of the articulated inertia: blocks rotational (sym 6), coupling (9, row by row), translational (sym 6)."""
    m, x, y, z = body[MASS], body[MASS + 1], body[MASS + 2], body[MASS + 3]
    for k in range(6):
        row[I + k] = body[MASS + 4 + k]
    row[I + 6], row[I + 7], row[I + 8] = 0.0, -z, y
    row[I + 9], row[I + 10], row[I + 11] = z, 0.0, -x
    row[I + 12], row[I + 13], row[I + 14] = -y, x, 0.0
    row[I + 15], row[I + 16], row[I + 17] = m, 0.0, 0.0
    row[I + 18], row[I + 19], row[I + 20] = m, 0.0, m


@njit(cache=True, error_model="numpy")
def eliminate(row, dof, tau):
    """(Ĵ, b) <- what is left of them when this degree of freedom yields to its force."""
    w0, w1, w2, s0, s1, s2 = dof[0], dof[1], dof[2], dof[3], dof[4], dof[5]
    u0 = row[I] * w0 + row[I + 1] * w1 + row[I + 2] * w2 + row[I + 6] * s0 + row[I + 7] * s1 + row[I + 8] * s2
    u1 = row[I + 1] * w0 + row[I + 3] * w1 + row[I + 4] * w2 + row[I + 9] * s0 + row[I + 10] * s1 + row[I + 11] * s2
    u2 = row[I + 2] * w0 + row[I + 4] * w1 + row[I + 5] * w2 + row[I + 12] * s0 + row[I + 13] * s1 + row[I + 14] * s2
    u3 = row[I + 6] * w0 + row[I + 9] * w1 + row[I + 12] * w2 + row[I + 15] * s0 + row[I + 16] * s1 + row[I + 17] * s2
    u4 = row[I + 7] * w0 + row[I + 10] * w1 + row[I + 13] * w2 + row[I + 16] * s0 + row[I + 18] * s1 + row[I + 19] * s2
    u5 = row[I + 8] * w0 + row[I + 11] * w1 + row[I + 14] * w2 + row[I + 17] * s0 + row[I + 19] * s1 + row[I + 20] * s2
    d = 1.0 / (w0 * u0 + w1 * u1 + w2 * u2 + s0 * u3 + s1 * u4 + s2 * u5)
    force = tau - (
        w0 * row[F] + w1 * row[F + 1] + w2 * row[F + 2] + s0 * row[F + 3] + s1 * row[F + 4] + s2 * row[F + 5]
    )
    _rank_one(row, dof, u0, u1, u2, u3, u4, u5, d, force * d)


@njit(cache=True)
def solve_column(row, dof):
    """q̈ of one column once the acceleration before it is in row[A:A+6]; adds S q̈ to it."""
    total = 0.0
    for k in range(6):
        total += dof[SU + k] * row[A + k]
    acceleration = dof[ST] - dof[SD] * total
    for k in range(6):
        row[A + k] += dof[S + k] * acceleration
    return acceleration


@njit(cache=True)
def shift_to_parent(row, parent):
    """Parent's Ĵ += Ad* Ĵ Ad, parent's b += Ad* (b + Ĵ c)."""
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8]
    p0, p1, p2 = row[P], row[P + 1], row[P + 2]
    a, b, c, d, e, f = row[I], row[I + 1], row[I + 2], row[I + 3], row[I + 4], row[I + 5]
    h0, h1, h2 = row[I + 6], row[I + 7], row[I + 8]
    h3, h4, h5 = row[I + 9], row[I + 10], row[I + 11]
    h6, h7, h8 = row[I + 12], row[I + 13], row[I + 14]
    m0, m1, m2, m3, m4, m5 = row[I + 15], row[I + 16], row[I + 17], row[I + 18], row[I + 19], row[I + 20]
    c0, c1, c2, c3, c4, c5 = row[C], row[C + 1], row[C + 2], row[C + 3], row[C + 4], row[C + 5]
    add_wrench_to_parent(
        row,
        row[F] + a * c0 + b * c1 + c * c2 + h0 * c3 + h1 * c4 + h2 * c5,
        row[F + 1] + b * c0 + d * c1 + e * c2 + h3 * c3 + h4 * c4 + h5 * c5,
        row[F + 2] + c * c0 + e * c1 + f * c2 + h6 * c3 + h7 * c4 + h8 * c5,
        row[F + 3] + h0 * c0 + h3 * c1 + h6 * c2 + m0 * c3 + m1 * c4 + m2 * c5,
        row[F + 4] + h1 * c0 + h4 * c1 + h7 * c2 + m1 * c3 + m3 * c4 + m4 * c5,
        row[F + 5] + h2 * c0 + h5 * c1 + h8 * c2 + m2 * c3 + m4 * c4 + m5 * c5,
        parent,
        F,
    )
    # rotate the three blocks: R X Rᵀ
    a, b, c, d, e, f = _rotate_symmetric(r0, r1, r2, r3, r4, r5, r6, r7, r8, a, b, c, d, e, f)
    m0, m1, m2, m3, m4, m5 = _rotate_symmetric(r0, r1, r2, r3, r4, r5, r6, r7, r8, m0, m1, m2, m3, m4, m5)
    t0, t1, t2 = r0 * h0 + r1 * h3 + r2 * h6, r0 * h1 + r1 * h4 + r2 * h7, r0 * h2 + r1 * h5 + r2 * h8
    t3, t4, t5 = r3 * h0 + r4 * h3 + r5 * h6, r3 * h1 + r4 * h4 + r5 * h7, r3 * h2 + r4 * h5 + r5 * h8
    t6, t7, t8 = r6 * h0 + r7 * h3 + r8 * h6, r6 * h1 + r7 * h4 + r8 * h7, r6 * h2 + r7 * h5 + r8 * h8
    h0, h1, h2 = t0 * r0 + t1 * r1 + t2 * r2, t0 * r3 + t1 * r4 + t2 * r5, t0 * r6 + t1 * r7 + t2 * r8
    h3, h4, h5 = t3 * r0 + t4 * r1 + t5 * r2, t3 * r3 + t4 * r4 + t5 * r5, t3 * r6 + t4 * r7 + t5 * r8
    h6, h7, h8 = t6 * r0 + t7 * r1 + t8 * r2, t6 * r3 + t7 * r4 + t8 * r5, t6 * r6 + t7 * r7 + t8 * r8
    # K = H + [p] M, then the rotational block is I - H[p] + [p] Kᵀ
    k0, k1, k2 = h0 + p1 * m2 - p2 * m1, h1 + p1 * m4 - p2 * m3, h2 + p1 * m5 - p2 * m4
    k3, k4, k5 = h3 + p2 * m0 - p0 * m2, h4 + p2 * m1 - p0 * m4, h5 + p2 * m2 - p0 * m5
    k6, k7, k8 = h6 + p0 * m1 - p1 * m0, h7 + p0 * m3 - p1 * m1, h8 + p0 * m4 - p1 * m2
    parent[I] += a - (h1 * p2 - h2 * p1) + p1 * k2 - p2 * k1
    parent[I + 1] += b - (h2 * p0 - h0 * p2) + p1 * k5 - p2 * k4
    parent[I + 2] += c - (h0 * p1 - h1 * p0) + p1 * k8 - p2 * k7
    parent[I + 3] += d - (h5 * p0 - h3 * p2) + p2 * k3 - p0 * k5
    parent[I + 4] += e - (h3 * p1 - h4 * p0) + p2 * k6 - p0 * k8
    parent[I + 5] += f - (h6 * p1 - h7 * p0) + p0 * k7 - p1 * k6
    parent[I + 6] += k0
    parent[I + 7] += k1
    parent[I + 8] += k2
    parent[I + 9] += k3
    parent[I + 10] += k4
    parent[I + 11] += k5
    parent[I + 12] += k6
    parent[I + 13] += k7
    parent[I + 14] += k8
    parent[I + 15] += m0
    parent[I + 16] += m1
    parent[I + 17] += m2
    parent[I + 18] += m3
    parent[I + 19] += m4
    parent[I + 20] += m5


@njit(cache=True, error_model="numpy")
def eliminate_rotation(row, dof, tau):
    """`eliminate` for a column without translation."""
    w0, w1, w2 = dof[0], dof[1], dof[2]
    u0 = row[I] * w0 + row[I + 1] * w1 + row[I + 2] * w2
    u1 = row[I + 1] * w0 + row[I + 3] * w1 + row[I + 4] * w2
    u2 = row[I + 2] * w0 + row[I + 4] * w1 + row[I + 5] * w2
    u3 = row[I + 6] * w0 + row[I + 9] * w1 + row[I + 12] * w2
    u4 = row[I + 7] * w0 + row[I + 10] * w1 + row[I + 13] * w2
    u5 = row[I + 8] * w0 + row[I + 11] * w1 + row[I + 14] * w2
    d = 1.0 / (w0 * u0 + w1 * u1 + w2 * u2)
    force = tau - (w0 * row[F] + w1 * row[F + 1] + w2 * row[F + 2])
    _rank_one(row, dof, u0, u1, u2, u3, u4, u5, d, force * d)


@njit(cache=True)
def _rank_one(row, dof, u0, u1, u2, u3, u4, u5, d, yielded):
    """Ĵ -= u uᵀ d, b += u yielded; keeps what the way forward needs."""
    dof[SU], dof[SU + 1], dof[SU + 2], dof[SU + 3], dof[SU + 4], dof[SU + 5] = u0, u1, u2, u3, u4, u5
    dof[SD] = d
    dof[ST] = yielded
    e0, e1, e2, e3, e4, e5 = u0 * d, u1 * d, u2 * d, u3 * d, u4 * d, u5 * d
    row[I] -= e0 * u0
    row[I + 1] -= e0 * u1
    row[I + 2] -= e0 * u2
    row[I + 3] -= e1 * u1
    row[I + 4] -= e1 * u2
    row[I + 5] -= e2 * u2
    row[I + 6] -= e0 * u3
    row[I + 7] -= e0 * u4
    row[I + 8] -= e0 * u5
    row[I + 9] -= e1 * u3
    row[I + 10] -= e1 * u4
    row[I + 11] -= e1 * u5
    row[I + 12] -= e2 * u3
    row[I + 13] -= e2 * u4
    row[I + 14] -= e2 * u5
    row[I + 15] -= e3 * u3
    row[I + 16] -= e3 * u4
    row[I + 17] -= e3 * u5
    row[I + 18] -= e4 * u4
    row[I + 19] -= e4 * u5
    row[I + 20] -= e5 * u5
    row[F] += u0 * yielded
    row[F + 1] += u1 * yielded
    row[F + 2] += u2 * yielded
    row[F + 3] += u3 * yielded
    row[F + 4] += u4 * yielded
    row[F + 5] += u5 * yielded


@njit(cache=True, error_model="numpy")
def eliminate_ball(row, dofs, v0, tau):
    """All three rotations at once. With Ĵ = [[D, H], [Hᵀ, M]]:

    Ĵ <- diag(0, M - Hᵀ D⁻¹ H),  b <- (τ, b_v + Hᵀ D⁻¹ (τ - b_ω)).

    Kept for the way forward: K = D⁻¹ H and D⁻¹ (τ - b_ω), since q̈ = D⁻¹ (τ - b_ω) - a_ω - K a_v."""
    a, b, c, d, e, f = row[I], row[I + 1], row[I + 2], row[I + 3], row[I + 4], row[I + 5]
    c0, c1, c2 = d * f - e * e, c * e - b * f, b * e - c * d
    scale = 1.0 / (a * c0 + b * c1 + c * c2)
    i0, i1, i2 = c0 * scale, c1 * scale, c2 * scale
    i3, i4, i5 = (a * f - c * c) * scale, (b * c - a * e) * scale, (a * d - b * b) * scale
    t0, t1, t2 = tau[v0] - row[F], tau[v0 + 1] - row[F + 1], tau[v0 + 2] - row[F + 2]
    y0, y1, y2 = i0 * t0 + i1 * t1 + i2 * t2, i1 * t0 + i3 * t1 + i4 * t2, i2 * t0 + i4 * t1 + i5 * t2
    h0, h1, h2 = row[I + 6], row[I + 7], row[I + 8]
    h3, h4, h5 = row[I + 9], row[I + 10], row[I + 11]
    h6, h7, h8 = row[I + 12], row[I + 13], row[I + 14]
    k0, k1, k2 = i0 * h0 + i1 * h3 + i2 * h6, i0 * h1 + i1 * h4 + i2 * h7, i0 * h2 + i1 * h5 + i2 * h8
    k3, k4, k5 = i1 * h0 + i3 * h3 + i4 * h6, i1 * h1 + i3 * h4 + i4 * h7, i1 * h2 + i3 * h5 + i4 * h8
    k6, k7, k8 = i2 * h0 + i4 * h3 + i5 * h6, i2 * h1 + i4 * h4 + i5 * h7, i2 * h2 + i4 * h5 + i5 * h8
    x, y, z = dofs[v0], dofs[v0 + 1], dofs[v0 + 2]
    x[SU], x[SU + 1], x[SU + 2], x[ST] = k0, k1, k2, y0
    y[SU], y[SU + 1], y[SU + 2], y[ST] = k3, k4, k5, y1
    z[SU], z[SU + 1], z[SU + 2], z[ST] = k6, k7, k8, y2
    row[I + 15] -= h0 * k0 + h3 * k3 + h6 * k6
    row[I + 16] -= h0 * k1 + h3 * k4 + h6 * k7
    row[I + 17] -= h0 * k2 + h3 * k5 + h6 * k8
    row[I + 18] -= h1 * k1 + h4 * k4 + h7 * k7
    row[I + 19] -= h1 * k2 + h4 * k5 + h7 * k8
    row[I + 20] -= h2 * k2 + h5 * k5 + h8 * k8
    row[F], row[F + 1], row[F + 2] = tau[v0], tau[v0 + 1], tau[v0 + 2]
    row[F + 3] += h0 * y0 + h3 * y1 + h6 * y2
    row[F + 4] += h1 * y0 + h4 * y1 + h7 * y2
    row[F + 5] += h2 * y0 + h5 * y1 + h8 * y2


@njit(cache=True)
def shift_translational(row, parent):
    """`shift_to_parent` when only the translational block is left."""
    p0, p1, p2 = row[P], row[P + 1], row[P + 2]
    m0, m1, m2, m3, m4, m5 = row[I + 15], row[I + 16], row[I + 17], row[I + 18], row[I + 19], row[I + 20]
    c3, c4, c5 = row[C + 3], row[C + 4], row[C + 5]
    add_wrench_to_parent(
        row,
        row[F],
        row[F + 1],
        row[F + 2],
        row[F + 3] + m0 * c3 + m1 * c4 + m2 * c5,
        row[F + 4] + m1 * c3 + m3 * c4 + m4 * c5,
        row[F + 5] + m2 * c3 + m4 * c4 + m5 * c5,
        parent,
        F,
    )
    m0, m1, m2, m3, m4, m5 = _rotate_symmetric(
        row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8], m0, m1, m2, m3, m4, m5
    )
    k0, k1, k2 = p1 * m2 - p2 * m1, p1 * m4 - p2 * m3, p1 * m5 - p2 * m4
    k3, k4, k5 = p2 * m0 - p0 * m2, p2 * m1 - p0 * m4, p2 * m2 - p0 * m5
    k6, k7, k8 = p0 * m1 - p1 * m0, p0 * m3 - p1 * m1, p0 * m4 - p1 * m2
    parent[I] += p1 * k2 - p2 * k1
    parent[I + 1] += p1 * k5 - p2 * k4
    parent[I + 2] += p1 * k8 - p2 * k7
    parent[I + 3] += p2 * k3 - p0 * k5
    parent[I + 4] += p2 * k6 - p0 * k8
    parent[I + 5] += p0 * k7 - p1 * k6
    parent[I + 6] += k0
    parent[I + 7] += k1
    parent[I + 8] += k2
    parent[I + 9] += k3
    parent[I + 10] += k4
    parent[I + 11] += k5
    parent[I + 12] += k6
    parent[I + 13] += k7
    parent[I + 14] += k8
    parent[I + 15] += m0
    parent[I + 16] += m1
    parent[I + 17] += m2
    parent[I + 18] += m3
    parent[I + 19] += m4
    parent[I + 20] += m5


@njit(cache=True)
def _rotate_symmetric(r0, r1, r2, r3, r4, r5, r6, r7, r8, a, b, c, d, e, f):
    """R X Rᵀ of a symmetric X = [[a, b, c], [b, d, e], [c, e, f]]."""
    t0, t1, t2 = r0 * a + r1 * b + r2 * c, r0 * b + r1 * d + r2 * e, r0 * c + r1 * e + r2 * f
    t3, t4, t5 = r3 * a + r4 * b + r5 * c, r3 * b + r4 * d + r5 * e, r3 * c + r4 * e + r5 * f
    t6, t7, t8 = r6 * a + r7 * b + r8 * c, r6 * b + r7 * d + r8 * e, r6 * c + r7 * e + r8 * f
    return (
        t0 * r0 + t1 * r1 + t2 * r2,
        t0 * r3 + t1 * r4 + t2 * r5,
        t0 * r6 + t1 * r7 + t2 * r8,
        t3 * r3 + t4 * r4 + t5 * r5,
        t3 * r6 + t4 * r7 + t5 * r8,
        t6 * r6 + t7 * r7 + t8 * r8,
    )
