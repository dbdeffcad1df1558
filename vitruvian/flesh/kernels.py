"""Inner loops over cells: energy, forces and stiffness of trilinear hexahedra with cell-mean volume.

Cells are grouped in blocks of 4×4×4 grid cells and the blocks in eight colours: blocks of one colour share no node, so
threads add to nodes and matrix rows without races, and the order of every sum is fixed whatever the number of threads.

With a, b the rest gradients of two corners' shape functions at a quadrature point, the 3×3 block of the stiffness is

    μ10: 2(a·b) 1        μ01: 2[(I1 a·b − Fa·Fb) 1 + 2 Fa(Fb)ᵀ − Fb(Fa)ᵀ − (a·b) FFᵀ]
    μc:  2[(a·b) 1 + R[a]×G⁻¹[b]×Rᵀ], G = tr(S) 1 − S            fibre: (a·w)(b·w)[T/λ 1 + (T′ − T/λ) nnᵀ]
    volume: p̂ [F(a×b)]ᵢₖₘ (antisymmetric), and γ V g_a g_bᵀ once per cell with g = ∂J̄/∂x.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.flesh.fibre import fibre_tension
from vitruvian.flesh.projection import add_projected, inverse_trace_minus
from vitruvian.flesh.rotation import signed_svd


@njit(cache=True)
def shape_gradients(px, py, pz, h, out):
    """Gradients [1/m] of the eight trilinear shape functions at a point (0 to 1), into out (8, 3)."""
    for c in range(8):
        x, dx = (px, 1.0) if c & 1 else (1.0 - px, -1.0)
        y, dy = (py, 1.0) if (c >> 1) & 1 else (1.0 - py, -1.0)
        z, dz = (pz, 1.0) if c >> 2 else (1.0 - pz, -1.0)
        out[c, 0] = dx * y * z / h
        out[c, 1] = x * dy * z / h
        out[c, 2] = x * y * dz / h


@njit(cache=True)
def deformation(x, nodes, grads, f):
    """F = Σ x_a ⊗ ∇N_a into f (9,), row by row."""
    for i in range(9):
        f[i] = 0.0
    for c in range(8):
        n = nodes[c]
        for i in range(3):
            f[3 * i] += x[n, i] * grads[c, 0]
            f[3 * i + 1] += x[n, i] * grads[c, 1]
            f[3 * i + 2] += x[n, i] * grads[c, 2]


@njit(cache=True)
def cofactor_of(f, out):
    out[0] = f[4] * f[8] - f[5] * f[7]
    out[1] = f[5] * f[6] - f[3] * f[8]
    out[2] = f[3] * f[7] - f[4] * f[6]
    out[3] = f[2] * f[7] - f[1] * f[8]
    out[4] = f[0] * f[8] - f[2] * f[6]
    out[5] = f[1] * f[6] - f[0] * f[7]
    out[6] = f[1] * f[5] - f[2] * f[4]
    out[7] = f[2] * f[3] - f[0] * f[5]
    out[8] = f[0] * f[4] - f[1] * f[3]
    return f[0] * out[0] + f[1] * out[1] + f[2] * out[2]


@njit(cache=True, parallel=True)
def cell_forces(x, pressure, activation, cells, colours, blocks, order, fibres, force, energy, jbar):
    """Elastic force on the nodes [N] added to `force`; per cell the energy at the points [J] and the mean J."""
    nodes_of, points, volume, moduli, h = cells
    offset, muscle, density, direction, peak, optimal = fibres
    for colour in range(len(colours) - 1):
        for block in prange(colours[colour], colours[colour + 1]):
            grads = np.empty((4, 8, 3))
            f = np.empty((4, 9))
            cof = np.empty((4, 9))
            p = np.empty(9)
            u, s, v, full = np.empty((3, 3)), np.empty(3), np.empty((3, 3)), np.empty((3, 3))
            for place in range(blocks[block], blocks[block + 1]):
                c = order[place]
                nodes = nodes_of[c]
                mean = 0.0
                for q in range(4):
                    shape_gradients(points[c, q, 0], points[c, q, 1], points[c, q, 2], h, grads[q])
                    deformation(x, nodes, grads[q], f[q])
                    mean += 0.25 * cofactor_of(f[q], cof[q])
                jbar[c] = mean
                mu10, mu01, muc, kappa, p0, gamma = (
                    moduli[c, 0],
                    moduli[c, 1],
                    moduli[c, 2],
                    moduli[c, 3],
                    moduli[c, 4],
                    moduli[c, 5],
                )
                hat = pressure[c] + gamma * (mean - 1.0 - (pressure[c] + p0) / kappa)
                w = 0.25 * volume[c]
                total = 0.0
                for q in range(4):
                    g = f[q]
                    # symmetric C = FᵀF
                    c00 = g[0] * g[0] + g[3] * g[3] + g[6] * g[6]
                    c01 = g[0] * g[1] + g[3] * g[4] + g[6] * g[7]
                    c02 = g[0] * g[2] + g[3] * g[5] + g[6] * g[8]
                    c11 = g[1] * g[1] + g[4] * g[4] + g[7] * g[7]
                    c12 = g[1] * g[2] + g[4] * g[5] + g[7] * g[8]
                    c22 = g[2] * g[2] + g[5] * g[5] + g[8] * g[8]
                    i1 = c00 + c11 + c22
                    cc = c00 * c00 + c11 * c11 + c22 * c22 + 2.0 * (c01 * c01 + c02 * c02 + c12 * c12)
                    total += mu10 * (i1 - 3.0) + mu01 * (0.5 * (i1 * i1 - cc) - 3.0)
                    for i in range(3):
                        a, b, d = g[3 * i], g[3 * i + 1], g[3 * i + 2]
                        k = 2.0 * (mu10 + mu01 * i1)
                        p[3 * i] = k * a - 2.0 * mu01 * (a * c00 + b * c01 + d * c02) + hat * cof[q, 3 * i]
                        p[3 * i + 1] = k * b - 2.0 * mu01 * (a * c01 + b * c11 + d * c12) + hat * cof[q, 3 * i + 1]
                        p[3 * i + 2] = k * d - 2.0 * mu01 * (a * c02 + b * c12 + d * c22) + hat * cof[q, 3 * i + 2]
                    if muc > 0.0:
                        for i in range(9):
                            full[i // 3, i % 3] = g[i]
                        signed_svd(full, u, s, v)
                        for i in range(3):
                            for j in range(3):
                                r = u[i, 0] * v[j, 0] + u[i, 1] * v[j, 1] + u[i, 2] * v[j, 2]
                                p[3 * i + j] += 2.0 * muc * (g[3 * i + j] - r)
                            total += muc * (s[i] - 1.0) ** 2
                    for e in range(offset[c], offset[c + 1]):
                        m = muscle[e]
                        w0, w1, w2 = direction[e, 0], direction[e, 1], direction[e, 2]
                        n0 = g[0] * w0 + g[1] * w1 + g[2] * w2
                        n1 = g[3] * w0 + g[4] * w1 + g[5] * w2
                        n2 = g[6] * w0 + g[7] * w1 + g[8] * w2
                        stretch = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
                        work, tension, _ = fibre_tension(stretch, activation[m], peak[m], optimal[m])
                        total += density[e] * work
                        if stretch > 0.0:
                            k = density[e] * tension / stretch
                            p[0] += k * n0 * w0
                            p[1] += k * n0 * w1
                            p[2] += k * n0 * w2
                            p[3] += k * n1 * w0
                            p[4] += k * n1 * w1
                            p[5] += k * n1 * w2
                            p[6] += k * n2 * w0
                            p[7] += k * n2 * w1
                            p[8] += k * n2 * w2
                    for a in range(8):
                        n = nodes[a]
                        g0, g1, g2 = w * grads[q, a, 0], w * grads[q, a, 1], w * grads[q, a, 2]
                        force[n, 0] -= p[0] * g0 + p[1] * g1 + p[2] * g2
                        force[n, 1] -= p[3] * g0 + p[4] * g1 + p[5] * g2
                        force[n, 2] -= p[6] * g0 + p[7] * g1 + p[8] * g2
                energy[c] = w * total


@njit(cache=True, parallel=True)
def volume_rates(x, dx, cells, rate):
    """Change of each cell's mean J under node displacements dx: g · dx into rate (n_cells,)."""
    nodes_of, points, _, _, h = cells
    for chunk in prange((len(nodes_of) + 255) // 256):
        grads = np.empty((8, 3))
        f, cof, df = np.empty(9), np.empty(9), np.empty(9)
        for c in range(256 * chunk, min(256 * chunk + 256, len(nodes_of))):
            total = 0.0
            for q in range(4):
                shape_gradients(points[c, q, 0], points[c, q, 1], points[c, q, 2], h, grads)
                deformation(x, nodes_of[c], grads, f)
                deformation(dx, nodes_of[c], grads, df)
                cofactor_of(f, cof)
                for i in range(9):
                    total += cof[i] * df[i]
            rate[c] = 0.25 * total


@njit(cache=True, parallel=True)
def pressure_forces(x, change, cells, colours, blocks, order, force):
    """Nodal forces V g s [N] of a change s [Pa] of each cell's pressure, added to `force`."""
    nodes_of, points, volume, _, h = cells
    for colour in range(len(colours) - 1):
        for block in prange(colours[colour], colours[colour + 1]):
            grads = np.empty((8, 3))
            f, cof = np.empty(9), np.empty(9)
            for place in range(blocks[block], blocks[block + 1]):
                c = order[place]
                w = 0.25 * volume[c] * change[c]
                for q in range(4):
                    shape_gradients(points[c, q, 0], points[c, q, 1], points[c, q, 2], h, grads)
                    deformation(x, nodes_of[c], grads, f)
                    cofactor_of(f, cof)
                    for a in range(8):
                        n = nodes_of[c, a]
                        for i in range(3):
                            force[n, i] += w * (
                                cof[3 * i] * grads[a, 0] + cof[3 * i + 1] * grads[a, 1] + cof[3 * i + 2] * grads[a, 2]
                            )


@njit(cache=True, parallel=True)
def cell_stiffness(
    x, pressure, activation, cells, colours, blocks, order, fibres, slots, diagonal, scalar, projected, data
):
    """Fill the block matrix `data` (n_blocks, 9): scalar ⊗ 1 plus the stiffness of all cells.

    scalar: springs and inertia, one number per block; slots: place of corner pair (a, b) in data, shape (n_cells, 8,
    8). projected: clamp negative curvature at each point, for bad starts.
    """
    nodes_of, points, volume, moduli, h = cells
    offset, muscle, density, direction, peak, optimal = fibres
    n_chunks = (len(scalar) + 4095) // 4096
    for chunk in prange(n_chunks):
        for i in range(4096 * chunk, min(4096 * chunk + 4096, len(scalar))):
            for k in range(9):
                data[i, k] = 0.0
            data[i, 0] = scalar[i]
            data[i, 4] = scalar[i]
            data[i, 8] = scalar[i]
    for colour in range(len(colours) - 1):
        for block in prange(colours[colour], colours[colour + 1]):
            grads = np.empty((4, 8, 3))
            fa = np.empty((4, 8, 3))
            f = np.empty((4, 9))
            left = np.empty((4, 6))  # F Fᵀ
            i1 = np.empty(4)
            cof = np.empty(9)
            g = np.empty((8, 3))
            extra = np.empty((24, 24))
            u, s, v, full = np.empty((3, 3)), np.empty(3), np.empty((3, 3)), np.empty((3, 3))
            inv, work9 = np.empty((3, 3)), np.empty((9, 9))
            for place in range(blocks[block], blocks[block + 1]):
                c = order[place]
                nodes = nodes_of[c]
                mu10, mu01, muc = moduli[c, 0], moduli[c, 1], moduli[c, 2]
                kappa, p0, gamma = moduli[c, 3], moduli[c, 4], moduli[c, 5]
                w = 0.25 * volume[c]
                mean = 0.0
                for a in range(8):
                    g[a, 0] = 0.0
                    g[a, 1] = 0.0
                    g[a, 2] = 0.0
                for q in range(4):
                    shape_gradients(points[c, q, 0], points[c, q, 1], points[c, q, 2], h, grads[q])
                    deformation(x, nodes, grads[q], f[q])
                    mean += 0.25 * cofactor_of(f[q], cof)
                    t = f[q]
                    for a in range(8):
                        g0, g1, g2 = grads[q, a, 0], grads[q, a, 1], grads[q, a, 2]
                        g[a, 0] += 0.25 * (cof[0] * g0 + cof[1] * g1 + cof[2] * g2)
                        g[a, 1] += 0.25 * (cof[3] * g0 + cof[4] * g1 + cof[5] * g2)
                        g[a, 2] += 0.25 * (cof[6] * g0 + cof[7] * g1 + cof[8] * g2)
                        fa[q, a, 0] = t[0] * g0 + t[1] * g1 + t[2] * g2
                        fa[q, a, 1] = t[3] * g0 + t[4] * g1 + t[5] * g2
                        fa[q, a, 2] = t[6] * g0 + t[7] * g1 + t[8] * g2
                    left[q, 0] = t[0] * t[0] + t[1] * t[1] + t[2] * t[2]
                    left[q, 1] = t[0] * t[3] + t[1] * t[4] + t[2] * t[5]
                    left[q, 2] = t[0] * t[6] + t[1] * t[7] + t[2] * t[8]
                    left[q, 3] = t[3] * t[3] + t[4] * t[4] + t[5] * t[5]
                    left[q, 4] = t[3] * t[6] + t[4] * t[7] + t[5] * t[8]
                    left[q, 5] = t[6] * t[6] + t[7] * t[7] + t[8] * t[8]
                    i1[q] = left[q, 0] + left[q, 3] + left[q, 5]
                hat = pressure[c] + gamma * (mean - 1.0 - (pressure[c] + p0) / kappa)
                dense = projected or muc > 0.0 or offset[c + 1] > offset[c]
                if dense:
                    for i in range(24):
                        for j in range(24):
                            extra[i, j] = 0.0
                    for q in range(4):
                        if projected or muc > 0.0:
                            for i in range(9):
                                full[i // 3, i % 3] = f[q, i]
                            signed_svd(full, u, s, v)
                        if projected:
                            add_projected(mu10, mu01, muc, hat, u, s, v, w, grads[q], work9, extra)
                        elif muc > 0.0:
                            inverse_trace_minus(s, v, inv)
                            add_corotated(muc, u, v, inv, w, grads[q], extra)
                        for e in range(offset[c], offset[c + 1]):
                            m = muscle[e]
                            add_fibre(
                                direction[e],
                                density[e],
                                activation[m],
                                peak[m],
                                optimal[m],
                                w,
                                f[q],
                                grads[q],
                                projected,
                                extra,
                            )
                volume_gamma = volume[c] * gamma
                for a in range(8):
                    for b in range(a, 8):
                        k00 = volume_gamma * g[a, 0] * g[b, 0]
                        k01 = volume_gamma * g[a, 0] * g[b, 1]
                        k02 = volume_gamma * g[a, 0] * g[b, 2]
                        k10 = volume_gamma * g[a, 1] * g[b, 0]
                        k11 = volume_gamma * g[a, 1] * g[b, 1]
                        k12 = volume_gamma * g[a, 1] * g[b, 2]
                        k20 = volume_gamma * g[a, 2] * g[b, 0]
                        k21 = volume_gamma * g[a, 2] * g[b, 1]
                        k22 = volume_gamma * g[a, 2] * g[b, 2]
                        if not projected:
                            m01 = 2.0 * w * mu01
                            wp = w * hat
                            for q in range(4):
                                a0, a1, a2 = grads[q, a, 0], grads[q, a, 1], grads[q, a, 2]
                                b0, b1, b2 = grads[q, b, 0], grads[q, b, 1], grads[q, b, 2]
                                ab = a0 * b0 + a1 * b1 + a2 * b2
                                p0_, p1_, p2_ = fa[q, a, 0], fa[q, a, 1], fa[q, a, 2]
                                q0, q1, q2 = fa[q, b, 0], fa[q, b, 1], fa[q, b, 2]
                                iso = 2.0 * w * mu10 * ab + m01 * (i1[q] * ab - (p0_ * q0 + p1_ * q1 + p2_ * q2))
                                mab = m01 * ab
                                c0, c1, c2 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
                                t = f[q]
                                v0 = wp * (t[0] * c0 + t[1] * c1 + t[2] * c2)
                                v1 = wp * (t[3] * c0 + t[4] * c1 + t[5] * c2)
                                v2 = wp * (t[6] * c0 + t[7] * c1 + t[8] * c2)
                                k00 += iso + m01 * p0_ * q0 - mab * left[q, 0]
                                k11 += iso + m01 * p1_ * q1 - mab * left[q, 3]
                                k22 += iso + m01 * p2_ * q2 - mab * left[q, 5]
                                k01 += m01 * (2.0 * p0_ * q1 - q0 * p1_) - mab * left[q, 1] + v2
                                k10 += m01 * (2.0 * p1_ * q0 - q1 * p0_) - mab * left[q, 1] - v2
                                k02 += m01 * (2.0 * p0_ * q2 - q0 * p2_) - mab * left[q, 2] - v1
                                k20 += m01 * (2.0 * p2_ * q0 - q2 * p0_) - mab * left[q, 2] + v1
                                k12 += m01 * (2.0 * p1_ * q2 - q1 * p2_) - mab * left[q, 4] + v0
                                k21 += m01 * (2.0 * p2_ * q1 - q2 * p1_) - mab * left[q, 4] - v0
                        if dense:
                            i, j = 3 * a, 3 * b
                            k00 += extra[i, j]
                            k01 += extra[i, j + 1]
                            k02 += extra[i, j + 2]
                            k10 += extra[i + 1, j]
                            k11 += extra[i + 1, j + 1]
                            k12 += extra[i + 1, j + 2]
                            k20 += extra[i + 2, j]
                            k21 += extra[i + 2, j + 1]
                            k22 += extra[i + 2, j + 2]
                        d = data[slots[c, a, b]]
                        d[0] += k00
                        d[1] += k01
                        d[2] += k02
                        d[3] += k10
                        d[4] += k11
                        d[5] += k12
                        d[6] += k20
                        d[7] += k21
                        d[8] += k22
                        if b > a:
                            d = data[slots[c, b, a]]
                            d[0] += k00
                            d[1] += k10
                            d[2] += k20
                            d[3] += k01
                            d[4] += k11
                            d[5] += k21
                            d[6] += k02
                            d[7] += k12
                            d[8] += k22


@njit(cache=True)
def add_fibre(direction, density, activation, peak, optimal, w, f, grads, projected, out):
    """Stiffness of fibres; projected keeps only what resists: max(T′, 0) nnᵀ + max(T/λ, 0)(1 − nnᵀ)."""
    w0, w1, w2 = direction[0], direction[1], direction[2]
    n = np.empty(3)
    for i in range(3):
        n[i] = f[3 * i] * w0 + f[3 * i + 1] * w1 + f[3 * i + 2] * w2
    stretch = np.sqrt(n[0] ** 2 + n[1] ** 2 + n[2] ** 2)
    if stretch <= 0.0:
        return
    _, tension, slope = fibre_tension(stretch, activation, peak, optimal)
    across = density * tension / stretch
    along = density * slope
    if projected:
        along = max(along, 0.0)
    for i in range(3):
        n[i] /= stretch
    for a in range(8):
        wa = w * (grads[a, 0] * w0 + grads[a, 1] * w1 + grads[a, 2] * w2)
        for b in range(a, 8):
            wab = wa * (grads[b, 0] * w0 + grads[b, 1] * w1 + grads[b, 2] * w2)
            for i in range(3):
                for j in range(3):
                    out[3 * a + i, 3 * b + j] += wab * (along - across) * n[i] * n[j]
                out[3 * a + i, 3 * b + i] += wab * across


@njit(cache=True)
def add_corotated(mu, u, v, inverse, w, grads, out):
    """2 μ w [(a·b) 1 + R [a]× G⁻¹ [b]× Rᵀ]; inverse: G⁻¹ in the rest frame."""
    r = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            r[i, j] = u[i, 0] * v[j, 0] + u[i, 1] * v[j, 1] + u[i, 2] * v[j, 2]
    left = np.empty((8, 3, 3))  # R [a]×
    for a in range(8):
        x, y, z = grads[a, 0], grads[a, 1], grads[a, 2]
        for i in range(3):
            left[a, i, 0] = r[i, 1] * z - r[i, 2] * y
            left[a, i, 1] = r[i, 2] * x - r[i, 0] * z
            left[a, i, 2] = r[i, 0] * y - r[i, 1] * x
    for a in range(8):
        for b in range(a, 8):
            ab = grads[a, 0] * grads[b, 0] + grads[a, 1] * grads[b, 1] + grads[a, 2] * grads[b, 2]
            for i in range(3):
                for j in range(3):
                    # [b]× Rᵀ = −(R [b]×)ᵀ
                    total = 0.0
                    for k in range(3):
                        for l in range(3):
                            total -= left[a, i, k] * inverse[k, l] * left[b, j, l]
                    if i == j:
                        total += ab
                    out[3 * a + i, 3 * b + j] += 2.0 * mu * w * total
