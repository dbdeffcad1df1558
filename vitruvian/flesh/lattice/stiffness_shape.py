"""Where the numbers of sixteen cells lie for the stiffness, and what it needs of their shape.

From corners and strain points: gradients a of the shape functions in units of the cell, F, J, cof F and F Fᵀ at the
points, F a and ∂J/∂x for each corner, and their means. Lengths are over h, so that float32 holds all of it whatever the
size of the body or its distance from the origin.
"""

from __future__ import annotations

from numba import njit

LANES = 16  # cells side by side: one vector register of float32
# Rows of the buffer. A corner has 45: its gradients a (point by point, 12), F a (12), g̃ (3), j (12), g (3), mean a (3).
CORNER = 45
PUSHED, MEAN, SLOPE, RATE, MIDDLE = 12, 24, 27, 39, 42  # F a, g̃, j, g and mean a among them
A, B = 0, CORNER  # the two corners of a pair
F = 2 * CORNER  # deformation gradient, 9 for each point
LEFT = F + 36  # F Fᵀ, 6 for each point
TRACE = LEFT + 24  # I1 of each point
SCALE = TRACE + 4  # 2 w μ10, 2 w μ01, w ζ, γ V, −ζ V, −e(p̂ + p0) V, all over h²
HAT = SCALE + 6  # w [p̂ + e(p̂ + p0) + ζ(J − J̃)]/h² of each point
FMEAN = HAT + 4  # mean of F
OUT = FMEAN + 9  # the 3×3 block
CORNERS = OUT + 9  # all eight corners
PLACE = CORNERS + 8 * CORNER  # their positions over h, 3 for each
POINT = PLACE + 24  # strain points, 3 for each
COF = POINT + 12  # cof F, 9 for each point, then of the mean of F
RATIO = COF + 45  # J of each point, J̃, J of the mean of F
DRAWN = RATIO + 6  # e
ROWS = DRAWN + 1


@njit(cache=True)
def take_cell(x, cells, c, l, z):
    """Put one cell's shape into lane l: positions from its first corner, for float32 is to hold them."""
    nodes_of, points, _, moduli, h = cells
    nodes, inverse = nodes_of[c], 1.0 / h
    for a in range(8):
        for i in range(3):
            z[(PLACE + 3 * a + i) * LANES + l] = (x[nodes[a], i] - x[nodes[0], i]) * inverse
    for q in range(4):
        for i in range(3):
            z[(POINT + 3 * q + i) * LANES + l] = points[c, q, i]
    z[DRAWN * LANES + l] = moduli[c, 9]


@njit(inline="always")
def gradients_at(z, q, one):
    """∂N of all corners at point q, in units of the cell."""
    for l in range(LANES):
        at = (POINT + 3 * q) * LANES + l
        a, b, c = z[at], z[at + LANES], z[at + 2 * LANES]
        u, v, w = one - a, one - b, one - c
        vw, bw, vc, bc = v * w, b * w, v * c, b * c
        uw, aw, uc, ac = u * w, a * w, u * c, a * c
        uv, av, ub, ab = u * v, a * v, u * b, a * b
        at = (CORNERS + 3 * q) * LANES + l
        z[at], z[at + LANES], z[at + 2 * LANES] = -vw, -uw, -uv
        at += CORNER * LANES
        z[at], z[at + LANES], z[at + 2 * LANES] = vw, -aw, -av
        at += CORNER * LANES
        z[at], z[at + LANES], z[at + 2 * LANES] = -bw, uw, -ub
        at += CORNER * LANES
        z[at], z[at + LANES], z[at + 2 * LANES] = bw, aw, -ab
        at += CORNER * LANES
        z[at], z[at + LANES], z[at + 2 * LANES] = -vc, -uc, uv
        at += CORNER * LANES
        z[at], z[at + LANES], z[at + 2 * LANES] = vc, -ac, av
        at += CORNER * LANES
        z[at], z[at + LANES], z[at + 2 * LANES] = -bc, uc, ub
        at += CORNER * LANES
        z[at], z[at + LANES], z[at + 2 * LANES] = bc, ac, ab


@njit(inline="always")
def gradient_row(z, q, i):
    """Row i of F at point q."""
    for l in range(LANES):
        at, to = (CORNERS + 3 * q) * LANES + l, (PLACE + i) * LANES + l
        f0, f1, f2 = z[to] * z[at], z[to] * z[at + LANES], z[to] * z[at + 2 * LANES]
        for _ in range(7):
            at += CORNER * LANES
            to += 3 * LANES
            f0 += z[to] * z[at]
            f1 += z[to] * z[at + LANES]
            f2 += z[to] * z[at + 2 * LANES]
        at = (F + 9 * q + 3 * i) * LANES + l
        z[at], z[at + LANES], z[at + 2 * LANES] = f0, f1, f2


@njit(inline="always")
def cofactor(z, q):
    """cof F and J at point q, or of the mean of F, the fifth."""
    for l in range(LANES):
        at = ((F + 9 * q) if q < 4 else FMEAN) * LANES + l
        f0, f1, f2 = z[at], z[at + LANES], z[at + 2 * LANES]
        f3, f4, f5 = z[at + 3 * LANES], z[at + 4 * LANES], z[at + 5 * LANES]
        f6, f7, f8 = z[at + 6 * LANES], z[at + 7 * LANES], z[at + 8 * LANES]
        c0, c1, c2 = f4 * f8 - f5 * f7, f5 * f6 - f3 * f8, f3 * f7 - f4 * f6
        at = (COF + 9 * q) * LANES + l
        z[at], z[at + LANES], z[at + 2 * LANES] = c0, c1, c2
        z[at + 3 * LANES], z[at + 4 * LANES], z[at + 5 * LANES] = (
            f2 * f7 - f1 * f8,
            f0 * f8 - f2 * f6,
            f1 * f6 - f0 * f7,
        )
        z[at + 6 * LANES], z[at + 7 * LANES], z[at + 8 * LANES] = (
            f1 * f5 - f2 * f4,
            f2 * f3 - f0 * f5,
            f0 * f4 - f1 * f3,
        )
        z[(RATIO + (q if q < 4 else 5)) * LANES + l] = f0 * c0 + f1 * c1 + f2 * c2


@njit(inline="always")
def left_stretch(z, q):
    """F Fᵀ and its trace at point q."""
    for l in range(LANES):
        at = (F + 9 * q) * LANES + l
        f0, f1, f2 = z[at], z[at + LANES], z[at + 2 * LANES]
        f3, f4, f5 = z[at + 3 * LANES], z[at + 4 * LANES], z[at + 5 * LANES]
        f6, f7, f8 = z[at + 6 * LANES], z[at + 7 * LANES], z[at + 8 * LANES]
        xx, yy, zz = f0 * f0 + f1 * f1 + f2 * f2, f3 * f3 + f4 * f4 + f5 * f5, f6 * f6 + f7 * f7 + f8 * f8
        at = (LEFT + 6 * q) * LANES + l
        z[at], z[at + 3 * LANES], z[at + 5 * LANES] = xx, yy, zz
        z[at + LANES] = f0 * f3 + f1 * f4 + f2 * f5
        z[at + 2 * LANES] = f0 * f6 + f1 * f7 + f2 * f8
        z[at + 4 * LANES] = f3 * f6 + f4 * f7 + f5 * f8
        z[(TRACE + q) * LANES + l] = xx + yy + zz


@njit(inline="always")
def turn_gradients(z, matrix, source, goal):
    """Every corner's gradient in row `source` times the 3×3 matrix in row `matrix`, into row `goal`."""
    for l in range(LANES):
        at = matrix * LANES + l
        f0, f1, f2 = z[at], z[at + LANES], z[at + 2 * LANES]
        f3, f4, f5 = z[at + 3 * LANES], z[at + 4 * LANES], z[at + 5 * LANES]
        f6, f7, f8 = z[at + 6 * LANES], z[at + 7 * LANES], z[at + 8 * LANES]
        at, to = (CORNERS + source) * LANES + l, (CORNERS + goal) * LANES + l
        for _ in range(8):
            g0, g1, g2 = z[at], z[at + LANES], z[at + 2 * LANES]
            z[to] = f0 * g0 + f1 * g1 + f2 * g2
            z[to + LANES] = f3 * g0 + f4 * g1 + f5 * g2
            z[to + 2 * LANES] = f6 * g0 + f7 * g1 + f8 * g2
            at += CORNER * LANES
            to += CORNER * LANES


@njit(inline="always")
def mean_of_points(z, source, goal, quarter):
    """The mean over the four points of every corner's vector, into row `goal`."""
    for l in range(LANES):
        at, to = (CORNERS + source) * LANES + l, (CORNERS + goal) * LANES + l
        for _ in range(8):
            for i in range(3):
                k = at + i * LANES
                z[to + i * LANES] = quarter * (z[k] + z[k + 3 * LANES] + z[k + 6 * LANES] + z[k + 9 * LANES])
            at += CORNER * LANES
            to += CORNER * LANES


@njit(inline="always")
def point_parts(z, q, one):
    gradients_at(z, q, one)
    gradient_row(z, q, 0)
    gradient_row(z, q, 1)
    gradient_row(z, q, 2)
    cofactor(z, q)
    left_stretch(z, q)
    turn_gradients(z, F + 9 * q, 3 * q, PUSHED + 3 * q)
    turn_gradients(z, COF + 9 * q, 3 * q, SLOPE + 3 * q)


@njit(cache=True)
def deform(z):
    """What the pairs of corners need of the shape of the cells, from their positions and points."""
    one, quarter = z.dtype.type(1.0), z.dtype.type(0.25)
    point_parts(z, 0, one)
    point_parts(z, 1, one)
    point_parts(z, 2, one)
    point_parts(z, 3, one)
    for i in range(9 * LANES):
        here = z[F * LANES + i] + z[(F + 9) * LANES + i] + z[(F + 18) * LANES + i] + z[(F + 27) * LANES + i]
        z[FMEAN * LANES + i] = quarter * here
    cofactor(z, 4)
    for l in range(LANES):
        at = RATIO * LANES + l
        z[at + 4 * LANES] = quarter * (z[at] + z[at + LANES] + z[at + 2 * LANES] + z[at + 3 * LANES])
    mean_of_points(z, 0, MIDDLE, quarter)
    mean_of_points(z, SLOPE, MEAN, quarter)
    turn_gradients(z, COF + 36, MIDDLE, RATE)
    for l in range(LANES):
        drawn, at, to = z[DRAWN * LANES + l], (CORNERS + MEAN) * LANES + l, (CORNERS + RATE) * LANES + l
        more = one + drawn
        for _ in range(8):
            z[to] = more * z[at] - drawn * z[to]
            z[to + LANES] = more * z[at + LANES] - drawn * z[to + LANES]
            z[to + 2 * LANES] = more * z[at + 2 * LANES] - drawn * z[to + 2 * LANES]
            at += CORNER * LANES
            to += CORNER * LANES
