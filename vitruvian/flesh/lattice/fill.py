"""How much of each lattice cell is tissue, and where in it: moments up to degree two of partly filled cells.

A level set (negative inside) sampled on a grid `samples` times finer than the lattice is taken as linear on the six
Kuhn tetrahedra of every fine cube. The filled part of a tetrahedron is then a polytope whose moments are exact,

    ∫ 1 = V,   ∫ X = V c,   ∫ X Xᵀ = V/20 (Σ vᵢ vᵢᵀ + (Σ vᵢ)(Σ vᵢ)ᵀ)   (a tetrahedron with corners vᵢ and centroid c),

so a planar cut is integrated to round-off (Si 2013, eq. 3.8; Si's Monte-Carlo sampling converges to the same numbers).
Four points m + C^½ t of weight V/4, with m and C the mean and covariance, integrate every polynomial of degree two.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Corners of a cube in the order used for every cell: x runs fastest.
CORNERS = np.array([[i, j, k] for k in (0, 1) for j in (0, 1) for i in (0, 1)])
# Six tetrahedra around the diagonal 0-7 of a cube; they fit across the faces of neighbouring cubes.
KUHN = np.array([[0, 1, 3, 7], [0, 1, 5, 7], [0, 2, 3, 7], [0, 2, 6, 7], [0, 4, 5, 7], [0, 4, 6, 7]])
# Directions of the four quadrature points in the frame where the covariance is the identity.
TETRAHEDRAL = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])


def quadrature(volume: np.ndarray, first: np.ndarray, second: np.ndarray, mirrored: np.ndarray) -> np.ndarray:
    """Four points per cell, shape (n, 4, 3), that integrate degree two exactly with weights `volume` / 4.

    volume: ∫1, shape (n,); first: ∫X, shape (n, 3); second: ∫XXᵀ, shape (n, 3, 3); X in units of the cell, 0 to 1.
    mirrored: cells that take −t instead of t, shape (n,). A tetrahedron is handed; alternating it like a chess board
    takes the handedness out of the lattice and a fifth of the parasitic stiffness out of bending.
    """
    mean = first / volume[:, None]
    covariance = second / volume[:, None, None] - mean[:, :, None] * mean[:, None, :]
    values, vectors = np.linalg.eigh(covariance)
    root = np.einsum("nij,nj,nkj->nik", vectors, np.sqrt(np.maximum(values, 0.0)), vectors)
    side = np.where(mirrored, -1.0, 1.0)[:, None, None]
    return mean[:, None, :] + side * np.einsum("nij,qj->nqi", root, TETRAHEDRAL)


@njit(cache=True)
def fine_volumes(phi: np.ndarray) -> np.ndarray:
    """Filled fraction of every fine cube, shape phi.shape - 1; phi: level set at the fine grid's nodes."""
    nx, ny, nz = phi.shape[0] - 1, phi.shape[1] - 1, phi.shape[2] - 1
    out = np.zeros((nx, ny, nz))
    moments = np.zeros(18)
    scratch = np.empty((6, 3))
    tet = np.empty((4, 3))
    values = np.empty(4)
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                inside = 0
                for c in range(8):
                    if phi[i + (c & 1), j + ((c >> 1) & 1), k + (c >> 2)] < 0.0:
                        inside += 1
                if inside == 8:
                    out[i, j, k] = 1.0
                elif inside > 0:
                    moments[:] = 0.0
                    add_cube(phi, i, j, k, 0.0, 0.0, 0.0, 1.0, moments, tet, values, scratch)
                    out[i, j, k] = moments[0]
    return out


@njit(cache=True)
def cell_moments(phi: np.ndarray, samples: int, cell: np.ndarray, owner: np.ndarray, count: int) -> np.ndarray:
    """Moments of each fragment: (n, 18) columns 1, x y z, xx xy xz yy yz zz, then nodal volumes of the 8 corners.

    cell: lattice cell of each fine cube's owner, shape (n, 3); owner: fragment of each fine cube, -1 for none.
    Lengths are in units of the cell. Nodal volumes put each piece's volume at its centroid: positive, and they keep
    total volume and first moment.
    """
    out = np.zeros((count, 18))
    scratch = np.empty((6, 3))
    tet = np.empty((4, 3))
    values = np.empty(4)
    size = 1.0 / samples
    for f in range(count):
        ci, cj, ck = cell[f, 0] * samples, cell[f, 1] * samples, cell[f, 2] * samples
        for i in range(samples):
            for j in range(samples):
                for k in range(samples):
                    if owner[ci + i, cj + j, ck + k] == f:
                        add_cube(
                            phi,
                            ci + i,
                            cj + j,
                            ck + k,
                            i * size,
                            j * size,
                            k * size,
                            size,
                            out[f],
                            tet,
                            values,
                            scratch,
                        )
    return out


@njit(cache=True)
def add_cube(phi, i, j, k, x, y, z, size, moments, tet, values, scratch):
    """Add the filled part of one fine cube at (x, y, z) to `moments`."""
    for t in range(6):
        for v in range(4):
            corner = KUHN[t, v]
            a, b, c = corner & 1, (corner >> 1) & 1, corner >> 2
            tet[v, 0] = x + a * size
            tet[v, 1] = y + b * size
            tet[v, 2] = z + c * size
            values[v] = phi[i + a, j + b, k + c]
        add_clipped(tet, values, moments, scratch)


@njit(cache=True)
def add_clipped(tet, values, moments, p):
    """Add the part of a tetrahedron where the linear function `values` is negative. The four cases by sign count."""
    negative = 0
    order = np.empty(4, np.int64)  # negative corners first
    last = 3
    for v in range(4):
        if values[v] < 0.0:
            order[negative] = v
            negative += 1
        else:
            order[last] = v
            last -= 1
    if negative == 0:
        return
    if negative == 4:
        add_tet(tet[0], tet[1], tet[2], tet[3], 1.0, moments)
        return
    a, b, c, d = order[0], order[1], order[2], order[3]
    if negative == 1:
        cut(tet, values, a, b, p[0])
        cut(tet, values, a, c, p[1])
        cut(tet, values, a, d, p[2])
        add_tet(tet[a], p[0], p[1], p[2], 1.0, moments)
    elif negative == 3:
        cut(tet, values, a, d, p[0])
        cut(tet, values, b, d, p[1])
        cut(tet, values, c, d, p[2])
        add_tet(tet[0], tet[1], tet[2], tet[3], 1.0, moments)
        add_tet(tet[d], p[0], p[1], p[2], -1.0, moments)
    else:
        cut(tet, values, a, c, p[0])
        cut(tet, values, a, d, p[1])
        cut(tet, values, b, c, p[2])
        cut(tet, values, b, d, p[3])
        # the prism (a, ac, ad)-(b, bc, bd) as three tetrahedra
        add_tet(tet[a], p[0], p[1], tet[b], 1.0, moments)
        add_tet(p[0], p[1], tet[b], p[2], 1.0, moments)
        add_tet(p[1], tet[b], p[2], p[3], 1.0, moments)


@njit(cache=True)
def cut(tet, values, a, b, out):
    s = values[a] / (values[a] - values[b])
    for i in range(3):
        out[i] = tet[a, i] + s * (tet[b, i] - tet[a, i])


@njit(cache=True)
def add_tet(a, b, c, d, sign, moments):
    """Add the moments of a tetrahedron, whatever its orientation, times `sign`."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    wx, wy, wz = d[0] - a[0], d[1] - a[1], d[2] - a[2]
    volume = sign * abs(ux * (vy * wz - vz * wy) - uy * (vx * wz - vz * wx) + uz * (vx * wy - vy * wx)) / 6.0
    sx, sy, sz = a[0] + b[0] + c[0] + d[0], a[1] + b[1] + c[1] + d[1], a[2] + b[2] + c[2] + d[2]
    moments[0] += volume
    moments[1] += volume * sx / 4.0
    moments[2] += volume * sy / 4.0
    moments[3] += volume * sz / 4.0
    f = volume / 20.0
    moments[4] += f * (a[0] * a[0] + b[0] * b[0] + c[0] * c[0] + d[0] * d[0] + sx * sx)
    moments[5] += f * (a[0] * a[1] + b[0] * b[1] + c[0] * c[1] + d[0] * d[1] + sx * sy)
    moments[6] += f * (a[0] * a[2] + b[0] * b[2] + c[0] * c[2] + d[0] * d[2] + sx * sz)
    moments[7] += f * (a[1] * a[1] + b[1] * b[1] + c[1] * c[1] + d[1] * d[1] + sy * sy)
    moments[8] += f * (a[1] * a[2] + b[1] * b[2] + c[1] * c[2] + d[1] * d[2] + sy * sz)
    moments[9] += f * (a[2] * a[2] + b[2] * b[2] + c[2] * c[2] + d[2] * d[2] + sz * sz)
    gx, gy, gz = 0.25 * sx, 0.25 * sy, 0.25 * sz
    for corner in range(8):
        weight = gx if corner & 1 else 1.0 - gx
        weight *= gy if (corner >> 1) & 1 else 1.0 - gy
        weight *= gz if corner >> 2 else 1.0 - gz
        moments[10 + corner] += volume * weight
