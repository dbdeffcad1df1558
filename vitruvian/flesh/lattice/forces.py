"""Energy and forces of trilinear cells with cell-mean volume, many cells at a time.

At each of a cell's four points, with F = Σ x_a ⊗ ∇N_a and p̂ = p + γ c (see `potential`),

    P = 2 (μ10 + μ01 I1) F − 2 μ01 F FᵀF + [p̂ + e (p̂ + p0) + ζ (J − J̃)] cof F  (+ other tissue, fibres)
    f_a = −Σ_q w [P − e (p̂ + p0) cof F̄] ∇N_a,  F̄ the mean of F.

∇N needs no corners: its x-component is a blend of the four edges along x, and so are the others, so F comes from the
differences along the cell's twelve edges and forces go back to them. `LANES` cells lie side by side in one buffer, as
in `stiffness`. Threads work on blocks of one colour at a time, as in `kernels`.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.flesh.fibre import fibre_tension
from vitruvian.flesh.point import add_venant_stress
from vitruvian.flesh.rotation import signed_svd

LANES = 16  # cells side by side: two vector registers of float64
# Rows of the buffer.
CORNER = 0  # positions, then forces, of the corners: 3 for each
POINT = 24  # strain points, 3 for each
EDGE = 36  # differences along edges over h, then forces: 12 for each direction, 3 for each edge
F = 72  # deformation gradients, 9 for each point
P = 108  # stress times weight, likewise
MU10, MU01, HAT, WEIGHT, ENERGY, RATIO, ZETA = 144, 145, 146, 147, 148, 149, 150
EACH = 151  # J of each point
MIDDLE = 155  # mean of F
AT_MIDDLE, BESIDE = 164, 165  # J of it, and the pressure on it
ROWS = 166


@njit(cache=True, parallel=True)
def cell_forces(x, pressure, activation, cells, colours, blocks, order, fibres, force, energy, jbar):
    """Elastic force on the nodes [N] added to `force`; per cell the energy at the points [J] and the mean J."""
    nodes_of, points, volume, moduli, h = cells
    offset = fibres[0]
    inverse = 1.0 / h
    for colour in range(len(colours) - 1):
        for block in prange(colours[colour], colours[colour + 1]):
            z = np.zeros(ROWS * LANES)
            work = np.empty((4, 3, 3))
            last = blocks[block + 1]
            for base in range(blocks[block], last, LANES):
                n = min(LANES, last - base)
                for l in range(n):
                    c = order[base + l]
                    for a in range(8):
                        for i in range(3):
                            z[(CORNER + 3 * a + i) * LANES + l] = x[nodes_of[c, a], i] * inverse
                    for q in range(4):
                        for i in range(3):
                            z[(POINT + 3 * q + i) * LANES + l] = points[c, q, i]
                    z[MU10 * LANES + l], z[MU01 * LANES + l] = moduli[c, 0], moduli[c, 1]
                    z[WEIGHT * LANES + l], z[ZETA * LANES + l] = 0.25 * volume[c], moduli[c, 6]
                take_edges(z)
                deform(z)
                for l in range(n):
                    c = order[base + l]
                    kappa, p0, gamma, drawn = moduli[c, 3], moduli[c, 4], moduli[c, 5], moduli[c, 9]
                    more = drawn * (z[RATIO * LANES + l] - z[AT_MIDDLE * LANES + l])
                    jbar[c] = z[RATIO * LANES + l] + more
                    hat = pressure[c] + gamma * (jbar[c] - 1.0 - (pressure[c] + p0) / kappa)
                    z[HAT * LANES + l] = hat + drawn * (hat + p0)
                    z[BESIDE * LANES + l] = -drawn * (hat + p0)
                    z[ENERGY * LANES + l] = volume[c] * p0 * more
                stress(z)
                for l in range(n):
                    c = order[base + l]
                    if moduli[c, 2] > 0.0:
                        add_corotated(z, l, moduli[c, 2], work)
                    if moduli[c, 7] > 0.0:
                        add_venant(z, l, moduli[c, 7], moduli[c, 8])
                    if offset[c + 1] > offset[c]:
                        add_fibres(z, l, c, activation, fibres)
                push_edges(z)
                give_corners(z)
                for l in range(n):
                    c = order[base + l]
                    energy[c] = z[ENERGY * LANES + l]
                    for a in range(8):
                        for i in range(3):
                            force[nodes_of[c, a], i] -= z[(CORNER + 3 * a + i) * LANES + l] * inverse


@njit(cache=True)
def add_corotated(z, l, mu, work):
    """μc ‖F − R‖² and its stress 2 μc (F − R), at all points of lane l."""
    weight = z[WEIGHT * LANES + l]
    full, u, v, s = work[0], work[1], work[2], work[3, 0]
    for q in range(4):
        for i in range(9):
            full[i // 3, i % 3] = z[(F + 9 * q + i) * LANES + l]
        signed_svd(full, u, s, v)
        for i in range(3):
            for j in range(3):
                turn = u[i, 0] * v[j, 0] + u[i, 1] * v[j, 1] + u[i, 2] * v[j, 2]
                at = 9 * q + 3 * i + j
                z[(P + at) * LANES + l] += 2.0 * weight * mu * (z[(F + at) * LANES + l] - turn)
            z[ENERGY * LANES + l] += weight * mu * (s[i] - 1.0) ** 2


@njit(cache=True)
def add_venant(z, l, mu, lam):
    """St. Venant–Kirchhoff energy and stress at all points of lane l."""
    weight = z[WEIGHT * LANES + l]
    f, stress = np.empty(9), np.empty(9)
    for q in range(4):
        for i in range(9):
            f[i] = z[(F + 9 * q + i) * LANES + l]
            stress[i] = 0.0
        z[ENERGY * LANES + l] += weight * add_venant_stress(f, mu, lam, stress)
        for i in range(9):
            z[(P + 9 * q + i) * LANES + l] += weight * stress[i]


@njit(cache=True)
def add_fibres(z, l, c, activation, fibres):
    """Energy and stress of the fibres of cell c, at all points of lane l."""
    offset, muscle, density, direction, peak, optimal = fibres
    weight = z[WEIGHT * LANES + l]
    for e in range(offset[c], offset[c + 1]):
        m = muscle[e]
        w0, w1, w2 = direction[e, 0], direction[e, 1], direction[e, 2]
        for q in range(4):
            at = (F + 9 * q) * LANES + l
            n0 = z[at] * w0 + z[at + LANES] * w1 + z[at + 2 * LANES] * w2
            n1 = z[at + 3 * LANES] * w0 + z[at + 4 * LANES] * w1 + z[at + 5 * LANES] * w2
            n2 = z[at + 6 * LANES] * w0 + z[at + 7 * LANES] * w1 + z[at + 8 * LANES] * w2
            stretch = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
            stored, tension, _ = fibre_tension(stretch, activation[m], peak[m], optimal[m])
            z[ENERGY * LANES + l] += weight * density[e] * stored
            if stretch > 0.0:
                k = weight * density[e] * tension / stretch
                at = (P + 9 * q) * LANES + l
                z[at] += k * n0 * w0
                z[at + LANES] += k * n0 * w1
                z[at + 2 * LANES] += k * n0 * w2
                z[at + 3 * LANES] += k * n1 * w0
                z[at + 4 * LANES] += k * n1 * w1
                z[at + 5 * LANES] += k * n1 * w2
                z[at + 6 * LANES] += k * n2 * w0
                z[at + 7 * LANES] += k * n2 * w1
                z[at + 8 * LANES] += k * n2 * w2


@njit(inline="always")
def edge(z, direction, number, low, high):
    """Difference along one edge, from corner `low` to corner `high`."""
    for l in range(LANES):
        at = (EDGE + 12 * direction + 3 * number) * LANES + l
        a, b = (CORNER + 3 * low) * LANES + l, (CORNER + 3 * high) * LANES + l
        z[at] = z[b] - z[a]
        z[at + LANES] = z[b + LANES] - z[a + LANES]
        z[at + 2 * LANES] = z[b + 2 * LANES] - z[a + 2 * LANES]


@njit(cache=True)
def take_edges(z):
    edge(z, 0, 0, 0, 1)
    edge(z, 0, 1, 2, 3)
    edge(z, 0, 2, 4, 5)
    edge(z, 0, 3, 6, 7)
    edge(z, 1, 0, 0, 2)
    edge(z, 1, 1, 1, 3)
    edge(z, 1, 2, 4, 6)
    edge(z, 1, 3, 5, 7)
    edge(z, 2, 0, 0, 4)
    edge(z, 2, 1, 1, 5)
    edge(z, 2, 2, 2, 6)
    edge(z, 2, 3, 3, 7)


@njit(inline="always")
def gradient_row(z, q, i):
    """Row i of F at point q, a constant each: edges blended by the point's place across them."""
    for l in range(LANES):
        at = (POINT + 3 * q) * LANES + l
        a, b, c = z[at], z[at + LANES], z[at + 2 * LANES]
        u, v, w = 1.0 - a, 1.0 - b, 1.0 - c
        to, e = (F + 9 * q + 3 * i) * LANES + l, (EDGE + i) * LANES + l
        z[to] = w * (v * z[e] + b * z[e + 3 * LANES]) + c * (v * z[e + 6 * LANES] + b * z[e + 9 * LANES])
        e += 12 * LANES
        z[to + LANES] = w * (u * z[e] + a * z[e + 3 * LANES]) + c * (u * z[e + 6 * LANES] + a * z[e + 9 * LANES])
        e += 12 * LANES
        z[to + 2 * LANES] = v * (u * z[e] + a * z[e + 3 * LANES]) + b * (u * z[e + 6 * LANES] + a * z[e + 9 * LANES])


@njit(inline="always")
def ratio(z, q):
    """A quarter of J at point q added to the mean."""
    for l in range(LANES):
        at = (F + 9 * q) * LANES + l
        f0, f1, f2 = z[at], z[at + LANES], z[at + 2 * LANES]
        f3, f4, f5 = z[at + 3 * LANES], z[at + 4 * LANES], z[at + 5 * LANES]
        f6, f7, f8 = z[at + 6 * LANES], z[at + 7 * LANES], z[at + 8 * LANES]
        j = f0 * (f4 * f8 - f5 * f7) + f1 * (f5 * f6 - f3 * f8) + f2 * (f3 * f7 - f4 * f6)
        z[(EACH + q) * LANES + l] = j
        z[RATIO * LANES + l] += 0.25 * j


@njit(cache=True)
def deform(z):
    """F at the four points, its mean, and J of all of them."""
    for l in range(LANES):
        z[RATIO * LANES + l] = 0.0
    gradient_row(z, 0, 0)
    gradient_row(z, 0, 1)
    gradient_row(z, 0, 2)
    gradient_row(z, 1, 0)
    gradient_row(z, 1, 1)
    gradient_row(z, 1, 2)
    gradient_row(z, 2, 0)
    gradient_row(z, 2, 1)
    gradient_row(z, 2, 2)
    gradient_row(z, 3, 0)
    gradient_row(z, 3, 1)
    gradient_row(z, 3, 2)
    ratio(z, 0)
    ratio(z, 1)
    ratio(z, 2)
    ratio(z, 3)
    for i in range(9 * LANES):
        here = z[F * LANES + i] + z[(F + 9) * LANES + i] + z[(F + 18) * LANES + i] + z[(F + 27) * LANES + i]
        z[MIDDLE * LANES + i] = 0.25 * here
    for l in range(LANES):
        at = MIDDLE * LANES + l
        f0, f1, f2 = z[at], z[at + LANES], z[at + 2 * LANES]
        f3, f4, f5 = z[at + 3 * LANES], z[at + 4 * LANES], z[at + 5 * LANES]
        f6, f7, f8 = z[at + 6 * LANES], z[at + 7 * LANES], z[at + 8 * LANES]
        j = f0 * (f4 * f8 - f5 * f7) + f1 * (f5 * f6 - f3 * f8) + f2 * (f3 * f7 - f4 * f6)
        z[AT_MIDDLE * LANES + l] = j


@njit(cache=True)
def middle_stress(z):
    """The pressure on the mean of F goes to all points."""
    for l in range(LANES):
        at = MIDDLE * LANES + l
        f0, f1, f2 = z[at], z[at + LANES], z[at + 2 * LANES]
        f3, f4, f5 = z[at + 3 * LANES], z[at + 4 * LANES], z[at + 5 * LANES]
        f6, f7, f8 = z[at + 6 * LANES], z[at + 7 * LANES], z[at + 8 * LANES]
        p = z[WEIGHT * LANES + l] * z[BESIDE * LANES + l]
        z[at] = p * (f4 * f8 - f5 * f7)
        z[at + LANES] = p * (f5 * f6 - f3 * f8)
        z[at + 2 * LANES] = p * (f3 * f7 - f4 * f6)
        z[at + 3 * LANES] = p * (f2 * f7 - f1 * f8)
        z[at + 4 * LANES] = p * (f0 * f8 - f2 * f6)
        z[at + 5 * LANES] = p * (f1 * f6 - f0 * f7)
        z[at + 6 * LANES] = p * (f1 * f5 - f2 * f4)
        z[at + 7 * LANES] = p * (f2 * f3 - f0 * f5)
        z[at + 8 * LANES] = p * (f0 * f4 - f1 * f3)
    for i in range(9 * LANES):
        here = z[MIDDLE * LANES + i]
        z[P * LANES + i] += here
        z[(P + 9) * LANES + i] += here
        z[(P + 18) * LANES + i] += here
        z[(P + 27) * LANES + i] += here


@njit(inline="always")
def point_stress(z, q):
    """Energy and stress of Mooney–Rivlin tissue and pressure at point q."""
    for l in range(LANES):
        at = (F + 9 * q) * LANES + l
        f0, f1, f2 = z[at], z[at + LANES], z[at + 2 * LANES]
        f3, f4, f5 = z[at + 3 * LANES], z[at + 4 * LANES], z[at + 5 * LANES]
        f6, f7, f8 = z[at + 6 * LANES], z[at + 7 * LANES], z[at + 8 * LANES]
        c00, c11, c22 = f0 * f0 + f3 * f3 + f6 * f6, f1 * f1 + f4 * f4 + f7 * f7, f2 * f2 + f5 * f5 + f8 * f8
        c01, c02, c12 = f0 * f1 + f3 * f4 + f6 * f7, f0 * f2 + f3 * f5 + f6 * f8, f1 * f2 + f4 * f5 + f7 * f8
        i1 = c00 + c11 + c22
        cc = c00 * c00 + c11 * c11 + c22 * c22 + 2.0 * (c01 * c01 + c02 * c02 + c12 * c12)
        weight, mu10, mu01 = z[WEIGHT * LANES + l], z[MU10 * LANES + l], z[MU01 * LANES + l]
        away, zeta = z[(EACH + q) * LANES + l] - z[RATIO * LANES + l], z[ZETA * LANES + l]
        stored = mu10 * (i1 - 3.0) + mu01 * (0.5 * (i1 * i1 - cc) - 3.0) + 0.5 * zeta * away * away
        z[ENERGY * LANES + l] += weight * stored
        k, m = 2.0 * weight * (mu10 + mu01 * i1), 2.0 * weight * mu01
        p = weight * (z[HAT * LANES + l] + zeta * away)
        at = (P + 9 * q) * LANES + l
        z[at] = k * f0 - m * (f0 * c00 + f1 * c01 + f2 * c02) + p * (f4 * f8 - f5 * f7)
        z[at + LANES] = k * f1 - m * (f0 * c01 + f1 * c11 + f2 * c12) + p * (f5 * f6 - f3 * f8)
        z[at + 2 * LANES] = k * f2 - m * (f0 * c02 + f1 * c12 + f2 * c22) + p * (f3 * f7 - f4 * f6)
        z[at + 3 * LANES] = k * f3 - m * (f3 * c00 + f4 * c01 + f5 * c02) + p * (f2 * f7 - f1 * f8)
        z[at + 4 * LANES] = k * f4 - m * (f3 * c01 + f4 * c11 + f5 * c12) + p * (f0 * f8 - f2 * f6)
        z[at + 5 * LANES] = k * f5 - m * (f3 * c02 + f4 * c12 + f5 * c22) + p * (f1 * f6 - f0 * f7)
        z[at + 6 * LANES] = k * f6 - m * (f6 * c00 + f7 * c01 + f8 * c02) + p * (f1 * f5 - f2 * f4)
        z[at + 7 * LANES] = k * f7 - m * (f6 * c01 + f7 * c11 + f8 * c12) + p * (f2 * f3 - f0 * f5)
        z[at + 8 * LANES] = k * f8 - m * (f6 * c02 + f7 * c12 + f8 * c22) + p * (f0 * f4 - f1 * f3)


@njit(cache=True)
def stress(z):
    point_stress(z, 0)
    point_stress(z, 1)
    point_stress(z, 2)
    point_stress(z, 3)
    middle_stress(z)


@njit(inline="always")
def push_row(z, q, i):
    """Row i of the stress at point q goes back to the edges: the transpose of `gradient_row`."""
    for l in range(LANES):
        at = (POINT + 3 * q) * LANES + l
        a, b, c = z[at], z[at + LANES], z[at + 2 * LANES]
        u, v, w = 1.0 - a, 1.0 - b, 1.0 - c
        at, e = (P + 9 * q + 3 * i) * LANES + l, (EDGE + i) * LANES + l
        low, high = w * z[at], c * z[at]
        z[e] += v * low
        z[e + 3 * LANES] += b * low
        z[e + 6 * LANES] += v * high
        z[e + 9 * LANES] += b * high
        e += 12 * LANES
        low, high = w * z[at + LANES], c * z[at + LANES]
        z[e] += u * low
        z[e + 3 * LANES] += a * low
        z[e + 6 * LANES] += u * high
        z[e + 9 * LANES] += a * high
        e += 12 * LANES
        low, high = v * z[at + 2 * LANES], b * z[at + 2 * LANES]
        z[e] += u * low
        z[e + 3 * LANES] += a * low
        z[e + 6 * LANES] += u * high
        z[e + 9 * LANES] += a * high


@njit(cache=True)
def push_edges(z):
    for i in range(EDGE * LANES, F * LANES):
        z[i] = 0.0
    push_row(z, 0, 0)
    push_row(z, 0, 1)
    push_row(z, 0, 2)
    push_row(z, 1, 0)
    push_row(z, 1, 1)
    push_row(z, 1, 2)
    push_row(z, 2, 0)
    push_row(z, 2, 1)
    push_row(z, 2, 2)
    push_row(z, 3, 0)
    push_row(z, 3, 1)
    push_row(z, 3, 2)


@njit(inline="always")
def give(z, direction, number, low, high):
    """One edge's force to its two corners: the transpose of `edge`."""
    for l in range(LANES):
        at = (EDGE + 12 * direction + 3 * number) * LANES + l
        a, b = (CORNER + 3 * low) * LANES + l, (CORNER + 3 * high) * LANES + l
        z[b] += z[at]
        z[a] -= z[at]
        z[b + LANES] += z[at + LANES]
        z[a + LANES] -= z[at + LANES]
        z[b + 2 * LANES] += z[at + 2 * LANES]
        z[a + 2 * LANES] -= z[at + 2 * LANES]


@njit(cache=True)
def give_corners(z):
    for i in range(CORNER * LANES, POINT * LANES):
        z[i] = 0.0
    give(z, 0, 0, 0, 1)
    give(z, 0, 1, 2, 3)
    give(z, 0, 2, 4, 5)
    give(z, 0, 3, 6, 7)
    give(z, 1, 0, 0, 2)
    give(z, 1, 1, 1, 3)
    give(z, 1, 2, 4, 6)
    give(z, 1, 3, 5, 7)
    give(z, 2, 0, 0, 4)
    give(z, 2, 1, 1, 5)
    give(z, 2, 2, 2, 6)
    give(z, 2, 3, 3, 7)
