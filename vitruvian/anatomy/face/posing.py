"""What is done to every vertex of a face in every frame, in one pass each.

ridden      mixtures of a surface's vertices, raised along the normal of a triangle: r_i = Σ_j m_ij x_j + h_i n_i
skinned     points carried by several bones: y_i = Σ_k w_ik (R_k x_i + t_k)
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def ridden(start, column, share, on, height, surface):
    """Riders [m] (n, 3) on a surface's vertices [m]; start, column, share: rows of a sparse matrix; on: triangles."""
    out = np.zeros((len(height), 3), surface.dtype)
    for i in range(len(height)):
        for e in range(start[i], start[i + 1]):
            for k in range(3):
                out[i, k] += share[e] * surface[column[e], k]
        a, b, c = on[i, 0], on[i, 1], on[i, 2]
        ux, uy, uz = surface[b, 0] - surface[a, 0], surface[b, 1] - surface[a, 1], surface[b, 2] - surface[a, 2]
        vx, vy, vz = surface[c, 0] - surface[a, 0], surface[c, 1] - surface[a, 1], surface[c, 2] - surface[a, 2]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        up = height[i] / max(np.sqrt(nx * nx + ny * ny + nz * nz), 1e-12)
        out[i, 0] += up * nx
        out[i, 1] += up * ny
        out[i, 2] += up * nz
    return out


@njit(cache=True, nogil=True)
def skinned(points, weights, moves):
    """Points [m] (n, 3) carried by bones; weights: (n, k); moves: rotation and translation of each bone, (k, 3, 4)."""
    out = np.zeros_like(points)
    for i in range(len(points)):
        for b in range(len(moves)):
            w = weights[i, b]
            if w == 0.0:
                continue
            m = moves[b]
            for k in range(3):
                out[i, k] += w * (
                    m[k, 0] * points[i, 0] + m[k, 1] * points[i, 1] + m[k, 2] * points[i, 2] + m[k, 3]
                )  # fmt: skip
    return out
