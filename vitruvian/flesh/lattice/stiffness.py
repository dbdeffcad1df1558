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
from vitruvian.flesh.lattice.stiffness_shape import (
    CORNER,
    CORNERS,
    FMEAN,
    HAT,
    LANES,
    LEFT,
    MEAN,
    MIDDLE,
    OUT,
    RATE,
    RATIO,
    ROWS,
    SCALE,
    SLOPE,
    TRACE,
    A,
    B,
    F,
    deform,
    take_cell,
)


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
    """Add lane l's block to one of the matrix (9,), in which rows lie `down` apart and columns `right`."""
    at = OUT * LANES + l
    for i in range(3):
        for j in range(3):
            block[down * i + right * j] += z[at + (3 * i + j) * LANES]


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
