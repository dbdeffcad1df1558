"""The stiffness matrix of the lattice, assembled many cells at a time.

With a, b the rest gradients of two corners' shape functions at a quadrature point, the 3×3 block of the stiffness is

    μ10: 2(a·b) 1        μ01: 2[(I1 a·b − Fa·Fb) 1 + 2 Fa(Fb)ᵀ − Fb(Fa)ᵀ − (a·b) FFᵀ]
    volume: [p̂ + e(p̂ + p0) + ζ(J − J̃)] [F(a×b)]ᵢₖₘ (antisymmetric) + w ζ j_a j_bᵀ with j = ∂J/∂x,
            and once per cell γ V g_a g_bᵀ − ζ V g̃_a g̃_bᵀ with g = ∂J̄/∂x and g̃ = ∂J̃/∂x, and −e(p̂ + p0) at the mean of F.

`LANES` cells are worked side by side: their numbers lie next to each other in one buffer whose layout is known when
the code is compiled, which is what lets the compiler use vector instructions (seven times as fast as cell by cell).
Threads work on blocks of one colour at a time, as in `kernels`.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.flesh.lattice.stiffness_parts import cell_parts

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


@njit(cache=True, parallel=True)
def cell_stiffness(x, pressure, activation, cells, colours, blocks, order, fibres, slots, scalar, projected, data):
    """Fill the block matrix `data` (n_blocks, 9): scalar ⊗ 1 plus the stiffness of all cells.

    scalar: springs and inertia, one number per block; slots: place of corner pair (a, b) in data, shape (n_cells, 8,
    8). projected: clamp negative curvature at each point, for bad starts.
    """
    moduli, offset = cells[3], fibres[0]
    for chunk in prange((len(scalar) + 4095) // 4096):
        for i in range(4096 * chunk, min(4096 * chunk + 4096, len(scalar))):
            for k in range(9):
                data[i, k] = 0.0
            data[i, 0] = scalar[i]
            data[i, 4] = scalar[i]
            data[i, 8] = scalar[i]
    for colour in range(len(colours) - 1):
        for block in prange(colours[colour], colours[colour + 1]):
            z = np.zeros(ROWS * LANES, data.dtype)
            extra = np.empty((24, 24))
            last = blocks[block + 1]
            for base in range(blocks[block], last, LANES):
                n = min(LANES, last - base)
                if not projected:
                    for l in range(n):
                        take_cell(x, cells, order[base + l], l, z)
                    deform(z)
                    for l in range(n):
                        take_moduli(pressure, cells, order[base + l], l, z)
                    for a in range(8):
                        copy_corner(z, a, A)
                        for b in range(a, 8):
                            copy_corner(z, b, B)
                            pair_block(z)
                            for l in range(n):
                                c = order[base + l]
                                add_block(z, l, data[slots[c, a, b]], 3, 1)
                                if b > a:
                                    add_block(z, l, data[slots[c, b, a]], 1, 3)
                for l in range(n):
                    c = order[base + l]
                    if projected or moduli[c, 2] > 0.0 or moduli[c, 7] > 0.0 or offset[c + 1] > offset[c]:
                        cell_parts(c, x, pressure, activation, cells, fibres, projected, extra)
                        for a in range(8):
                            for b in range(8):
                                e = slots[c, a, b]
                                for i in range(3):
                                    for j in range(3):
                                        if b >= a:
                                            data[e, 3 * i + j] += extra[3 * a + i, 3 * b + j]
                                        else:
                                            data[e, 3 * i + j] += extra[3 * b + j, 3 * a + i]


@njit(cache=True)
def copy_corner(z, a, row):
    source = z[(CORNERS + a * CORNER) * LANES : (CORNERS + (a + 1) * CORNER) * LANES]
    goal = z[row * LANES : (row + CORNER) * LANES]
    for i in range(CORNER * LANES):
        goal[i] = source[i]


@njit(inline="always")
def add_block(z, l, block, down, right):
    """Add lane l's block, or its transpose, to one of the matrix (9,); down, right: steps in it to the next row and column."""
    at = OUT * LANES + l
    for i in range(3):
        for j in range(3):
            block[down * i + right * j] += z[at + (3 * i + j) * LANES]


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


@njit(cache=True)
def take_moduli(pressure, cells, c, l, z):
    """Put one cell's moduli and pressures into lane l, which has been deformed."""
    volume, moduli, h = cells[2][c], cells[3][c], cells[4]
    gamma, zeta, drawn, over = moduli[5], moduli[6], moduli[9], 1.0 / h**2
    mean = z[(RATIO + 4) * LANES + l]
    ratio = mean + drawn * (mean - z[(RATIO + 5) * LANES + l])
    hat = pressure[c] + gamma * (ratio - 1.0 - (pressure[c] + moduli[4]) / moduli[3])
    beside, w = drawn * (hat + moduli[4]), 0.25 * volume * over
    z[SCALE * LANES + l] = 2.0 * w * moduli[0]
    z[(SCALE + 1) * LANES + l] = 2.0 * w * moduli[1]
    z[(SCALE + 2) * LANES + l] = w * zeta
    z[(SCALE + 3) * LANES + l] = volume * over * gamma
    z[(SCALE + 4) * LANES + l] = -volume * over * zeta
    z[(SCALE + 5) * LANES + l] = -volume * over * beside
    for q in range(4):
        z[(HAT + q) * LANES + l] = w * (hat + beside + zeta * (z[(RATIO + q) * LANES + l] - mean))


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
        z[at + 3 * LANES], z[at + 4 * LANES], z[at + 5 * LANES] = f2 * f7 - f1 * f8, f0 * f8 - f2 * f6, f1 * f6 - f0 * f7
        z[at + 6 * LANES], z[at + 7 * LANES], z[at + 8 * LANES] = f1 * f5 - f2 * f4, f2 * f3 - f0 * f5, f0 * f4 - f1 * f3
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


@njit(cache=True)
def pair_block(z):
    """The 3×3 block of the pair of corners that lies in z, for all lanes."""
    for l in range(LANES):
        s, at, to = z[(SCALE + 3) * LANES + l], (A + RATE) * LANES + l, (B + RATE) * LANES + l
        a0, a1, a2 = s * z[at], s * z[at + LANES], s * z[at + 2 * LANES]
        b0, b1, b2 = z[to], z[to + LANES], z[to + 2 * LANES]
        s, at, to = z[(SCALE + 4) * LANES + l], (A + MEAN) * LANES + l, (B + MEAN) * LANES + l
        i0, i1, i2 = s * z[at], s * z[at + LANES], s * z[at + 2 * LANES]
        j0, j1, j2 = z[to], z[to + LANES], z[to + 2 * LANES]
        s, at, to = z[(SCALE + 5) * LANES + l], (A + MIDDLE) * LANES + l, (B + MIDDLE) * LANES + l
        u0, u1, u2 = s * z[at], s * z[at + LANES], s * z[at + 2 * LANES]
        v0, v1, v2 = z[to], z[to + LANES], z[to + 2 * LANES]
        c0, c1, c2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
        at = FMEAN * LANES + l
        w0 = z[at] * c0 + z[at + LANES] * c1 + z[at + 2 * LANES] * c2
        w1 = z[at + 3 * LANES] * c0 + z[at + 4 * LANES] * c1 + z[at + 5 * LANES] * c2
        w2 = z[at + 6 * LANES] * c0 + z[at + 7 * LANES] * c1 + z[at + 8 * LANES] * c2
        z[OUT * LANES + l] = a0 * b0 + i0 * j0
        z[(OUT + 1) * LANES + l] = a0 * b1 + i0 * j1 + w2
        z[(OUT + 2) * LANES + l] = a0 * b2 + i0 * j2 - w1
        z[(OUT + 3) * LANES + l] = a1 * b0 + i1 * j0 - w2
        z[(OUT + 4) * LANES + l] = a1 * b1 + i1 * j1
        z[(OUT + 5) * LANES + l] = a1 * b2 + i1 * j2 + w0
        z[(OUT + 6) * LANES + l] = a2 * b0 + i2 * j0 + w1
        z[(OUT + 7) * LANES + l] = a2 * b1 + i2 * j1 - w0
        z[(OUT + 8) * LANES + l] = a2 * b2 + i2 * j2
    add_point(z, 0)
    add_point(z, 1)
    add_point(z, 2)
    add_point(z, 3)


@njit(inline="always")
def add_point(z, q):
    """One quadrature point's share. Inlined with q a constant, so that every place in z is one too."""
    for l in range(LANES):
        at = 3 * q * LANES + l
        a0, a1, a2 = z[at + A * LANES], z[at + (A + 1) * LANES], z[at + (A + 2) * LANES]
        b0, b1, b2 = z[at + B * LANES], z[at + (B + 1) * LANES], z[at + (B + 2) * LANES]
        u0, u1, u2 = z[at + (A + 12) * LANES], z[at + (A + 13) * LANES], z[at + (A + 14) * LANES]  # F a
        v0, v1, v2 = z[at + (B + 12) * LANES], z[at + (B + 13) * LANES], z[at + (B + 14) * LANES]  # F b
        m, p, t = z[(SCALE + 1) * LANES + l], z[(HAT + q) * LANES + l], z[(SCALE + 2) * LANES + l]
        i0, i1, i2 = z[at + (A + SLOPE) * LANES], z[at + (A + SLOPE + 1) * LANES], z[at + (A + SLOPE + 2) * LANES]
        j0, j1, j2 = z[at + (B + SLOPE) * LANES], z[at + (B + SLOPE + 1) * LANES], z[at + (B + SLOPE + 2) * LANES]
        i0 *= t
        i1 *= t
        i2 *= t
        ab = a0 * b0 + a1 * b1 + a2 * b2
        iso = z[SCALE * LANES + l] * ab + m * (z[(TRACE + q) * LANES + l] * ab - (u0 * v0 + u1 * v1 + u2 * v2))
        c0, c1, c2 = p * (a1 * b2 - a2 * b1), p * (a2 * b0 - a0 * b2), p * (a0 * b1 - a1 * b0)
        at = (F + 9 * q) * LANES + l
        w0 = z[at] * c0 + z[at + LANES] * c1 + z[at + 2 * LANES] * c2
        w1 = z[at + 3 * LANES] * c0 + z[at + 4 * LANES] * c1 + z[at + 5 * LANES] * c2
        w2 = z[at + 6 * LANES] * c0 + z[at + 7 * LANES] * c1 + z[at + 8 * LANES] * c2
        u0 *= m
        u1 *= m
        u2 *= m
        ab *= m
        uv01, uv02, uv12 = u0 * v1, u0 * v2, u1 * v2
        uv10, uv20, uv21 = u1 * v0, u2 * v0, u2 * v1
        at = (LEFT + 6 * q) * LANES + l
        l01, l02, l12 = ab * z[at + LANES], ab * z[at + 2 * LANES], ab * z[at + 4 * LANES]
        z[OUT * LANES + l] += iso + u0 * v0 - ab * z[at] + i0 * j0
        z[(OUT + 1) * LANES + l] += uv01 + uv01 - uv10 - l01 + w2 + i0 * j1
        z[(OUT + 2) * LANES + l] += uv02 + uv02 - uv20 - l02 - w1 + i0 * j2
        z[(OUT + 3) * LANES + l] += uv10 + uv10 - uv01 - l01 - w2 + i1 * j0
        z[(OUT + 4) * LANES + l] += iso + u1 * v1 - ab * z[at + 3 * LANES] + i1 * j1
        z[(OUT + 5) * LANES + l] += uv12 + uv12 - uv21 - l12 + w0 + i1 * j2
        z[(OUT + 6) * LANES + l] += uv20 + uv20 - uv02 - l02 + w1 + i2 * j0
        z[(OUT + 7) * LANES + l] += uv21 + uv21 - uv12 - l12 - w0 + i2 * j1
        z[(OUT + 8) * LANES + l] += iso + u2 * v2 - ab * z[at + 5 * LANES] + i2 * j2
