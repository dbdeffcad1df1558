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
MEAN, SLOPE, RATE, MIDDLE = 24, 27, 39, 42  # g̃, j, g and mean a among them
A, B = 0, CORNER  # the two corners of a pair
F = 2 * CORNER  # deformation gradient, 9 for each point
LEFT = F + 36  # F Fᵀ, 6 for each point
TRACE = LEFT + 24  # I1 of each point
SCALE = TRACE + 4  # 2 w μ10, 2 w μ01, w ζ, γ V, −ζ V, −e(p̂ + p0) V
HAT = SCALE + 6  # w [p̂ + e(p̂ + p0) + ζ(J − J̃)] of each point
FMEAN = HAT + 4  # mean of F
OUT = FMEAN + 9  # the 3×3 block
ROWS = OUT + 9


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
            corner = np.zeros(8 * CORNER * LANES, data.dtype)
            z = np.zeros(ROWS * LANES, data.dtype)
            turned = np.empty((LANES, 9), data.dtype)
            extra = np.empty((24, 24))
            last = blocks[block + 1]
            for base in range(blocks[block], last, LANES):
                n = min(LANES, last - base)
                if not projected:
                    for l in range(n):
                        fill_lane(x, pressure, cells, order[base + l], l, corner, z)
                    for a in range(8):
                        copy_corner(corner, a, z, A)
                        for b in range(a, 8):
                            copy_corner(corner, b, z, B)
                            pair_block(z)
                            turn_lanes(z, turned)
                            for l in range(n):
                                c = order[base + l]
                                e = slots[c, a, b]
                                for k in range(9):
                                    data[e, k] += turned[l, k]
                                if b > a:
                                    e = slots[c, b, a]
                                    for i in range(3):
                                        for j in range(3):
                                            data[e, 3 * i + j] += turned[l, 3 * j + i]
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
def copy_corner(corner, a, z, row):
    source = corner[a * CORNER * LANES : (a + 1) * CORNER * LANES]
    goal = z[row * LANES : (row + CORNER) * LANES]
    for i in range(CORNER * LANES):
        goal[i] = source[i]


@njit(cache=True)
def turn_lanes(z, turned):
    """Copy the blocks from rows of lanes to one block after the other, shape (LANES, 9)."""
    for l in range(LANES):
        for k in range(9):
            turned[l, k] = z[(OUT + k) * LANES + l]


@njit(cache=True)
def fill_lane(x, pressure, cells, c, l, corner, z):
    """Put one cell into lane l."""
    nodes_of, points, volume, moduli, h = cells
    nodes = nodes_of[c]
    inverse = 1.0 / h
    mean = 0.0
    for a in range(8):
        for i in range(3):
            corner[(a * CORNER + MEAN + i) * LANES + l] = 0.0
            corner[(a * CORNER + MIDDLE + i) * LANES + l] = 0.0
    m0, m1, m2, m3, m4, m5, m6, m7, m8 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for q in range(4):
        px, py, pz = points[c, q, 0], points[c, q, 1], points[c, q, 2]
        f0, f1, f2, f3, f4, f5, f6, f7, f8 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for a in range(8):
            sx, dx = (px, inverse) if a & 1 else (1.0 - px, -inverse)
            sy, dy = (py, inverse) if (a >> 1) & 1 else (1.0 - py, -inverse)
            sz, dz = (pz, inverse) if a >> 2 else (1.0 - pz, -inverse)
            g0, g1, g2 = dx * sy * sz, sx * dy * sz, sx * sy * dz
            at = (a * CORNER + 3 * q) * LANES + l
            corner[at], corner[at + LANES], corner[at + 2 * LANES] = g0, g1, g2
            x0, x1, x2 = x[nodes[a], 0], x[nodes[a], 1], x[nodes[a], 2]
            f0 += x0 * g0
            f1 += x0 * g1
            f2 += x0 * g2
            f3 += x1 * g0
            f4 += x1 * g1
            f5 += x1 * g2
            f6 += x2 * g0
            f7 += x2 * g1
            f8 += x2 * g2
        c0, c1, c2 = f4 * f8 - f5 * f7, f5 * f6 - f3 * f8, f3 * f7 - f4 * f6
        c3, c4, c5 = f2 * f7 - f1 * f8, f0 * f8 - f2 * f6, f1 * f6 - f0 * f7
        c6, c7, c8 = f1 * f5 - f2 * f4, f2 * f3 - f0 * f5, f0 * f4 - f1 * f3
        ratio = f0 * c0 + f1 * c1 + f2 * c2
        mean += 0.25 * ratio
        z[(HAT + q) * LANES + l] = ratio
        for a in range(8):
            at = (a * CORNER + 3 * q) * LANES + l
            g0, g1, g2 = corner[at], corner[at + LANES], corner[at + 2 * LANES]
            at += 12 * LANES
            corner[at] = f0 * g0 + f1 * g1 + f2 * g2
            corner[at + LANES] = f3 * g0 + f4 * g1 + f5 * g2
            corner[at + 2 * LANES] = f6 * g0 + f7 * g1 + f8 * g2
            j0, j1, j2 = c0 * g0 + c1 * g1 + c2 * g2, c3 * g0 + c4 * g1 + c5 * g2, c6 * g0 + c7 * g1 + c8 * g2
            at = (a * CORNER + MEAN) * LANES + l
            corner[at] += 0.25 * j0
            corner[at + LANES] += 0.25 * j1
            corner[at + 2 * LANES] += 0.25 * j2
            at = (a * CORNER + MIDDLE) * LANES + l
            corner[at] += 0.25 * g0
            corner[at + LANES] += 0.25 * g1
            corner[at + 2 * LANES] += 0.25 * g2
            at = (a * CORNER + SLOPE + 3 * q) * LANES + l
            corner[at], corner[at + LANES], corner[at + 2 * LANES] = j0, j1, j2
        at = (F + 9 * q) * LANES + l
        z[at], z[at + LANES], z[at + 2 * LANES] = f0, f1, f2
        z[at + 3 * LANES], z[at + 4 * LANES], z[at + 5 * LANES] = f3, f4, f5
        z[at + 6 * LANES], z[at + 7 * LANES], z[at + 8 * LANES] = f6, f7, f8
        at = (LEFT + 6 * q) * LANES + l
        xx, yy, zz = f0 * f0 + f1 * f1 + f2 * f2, f3 * f3 + f4 * f4 + f5 * f5, f6 * f6 + f7 * f7 + f8 * f8
        z[at], z[at + 3 * LANES], z[at + 5 * LANES] = xx, yy, zz
        z[at + LANES] = f0 * f3 + f1 * f4 + f2 * f5
        z[at + 2 * LANES] = f0 * f6 + f1 * f7 + f2 * f8
        z[at + 4 * LANES] = f3 * f6 + f4 * f7 + f5 * f8
        z[(TRACE + q) * LANES + l] = xx + yy + zz
        m0, m1, m2, m3, m4 = m0 + 0.25 * f0, m1 + 0.25 * f1, m2 + 0.25 * f2, m3 + 0.25 * f3, m4 + 0.25 * f4
        m5, m6, m7, m8 = m5 + 0.25 * f5, m6 + 0.25 * f6, m7 + 0.25 * f7, m8 + 0.25 * f8
    at = FMEAN * LANES + l
    z[at], z[at + LANES], z[at + 2 * LANES] = m0, m1, m2
    z[at + 3 * LANES], z[at + 4 * LANES], z[at + 5 * LANES] = m3, m4, m5
    z[at + 6 * LANES], z[at + 7 * LANES], z[at + 8 * LANES] = m6, m7, m8
    c0, c1, c2 = m4 * m8 - m5 * m7, m5 * m6 - m3 * m8, m3 * m7 - m4 * m6
    c3, c4, c5 = m2 * m7 - m1 * m8, m0 * m8 - m2 * m6, m1 * m6 - m0 * m7
    c6, c7, c8 = m1 * m5 - m2 * m4, m2 * m3 - m0 * m5, m0 * m4 - m1 * m3
    drawn = moduli[c, 9]
    for a in range(8):
        at = (a * CORNER + MIDDLE) * LANES + l
        g0, g1, g2 = drawn * corner[at], drawn * corner[at + LANES], drawn * corner[at + 2 * LANES]
        old, at = (a * CORNER + MEAN) * LANES + l, (a * CORNER + RATE) * LANES + l
        corner[at] = (1.0 + drawn) * corner[old] - (c0 * g0 + c1 * g1 + c2 * g2)
        corner[at + LANES] = (1.0 + drawn) * corner[old + LANES] - (c3 * g0 + c4 * g1 + c5 * g2)
        corner[at + 2 * LANES] = (1.0 + drawn) * corner[old + 2 * LANES] - (c6 * g0 + c7 * g1 + c8 * g2)
    gamma, zeta, w = moduli[c, 5], moduli[c, 6], 0.25 * volume[c]
    ratio = mean + drawn * (mean - (m0 * c0 + m1 * c1 + m2 * c2))
    hat = pressure[c] + gamma * (ratio - 1.0 - (pressure[c] + moduli[c, 4]) / moduli[c, 3])
    beside = drawn * (hat + moduli[c, 4])
    z[SCALE * LANES + l] = 2.0 * w * moduli[c, 0]
    z[(SCALE + 1) * LANES + l] = 2.0 * w * moduli[c, 1]
    z[(SCALE + 2) * LANES + l] = w * zeta
    z[(SCALE + 3) * LANES + l] = volume[c] * gamma
    z[(SCALE + 4) * LANES + l] = -volume[c] * zeta
    z[(SCALE + 5) * LANES + l] = -volume[c] * beside
    for q in range(4):
        z[(HAT + q) * LANES + l] = w * (hat + beside + zeta * (z[(HAT + q) * LANES + l] - mean))


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
