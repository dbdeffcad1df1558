"""Spray as a smooth surface: drops drawn with kernels stretched along their neighbours (Si 2013, appendix A; Yu and
Turk 2010).

    phi(x) = sum_j (m_j / rho_j) W(x - x_j, G_j),      W(r, G) = sigma |G| P(|G r|),      P(x) = (1 - x)^3 on [0, 1]

G_j = R S^-1 R^T / h comes from the weighted covariance of the drops within 2 h of drop j: long where they form a
sheet or a thread, a small ball where a drop is nearly alone. Constants as in the appendix, scaled from its h = 0.04
m.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.spatial import cKDTree
from skimage.measure import marching_cubes

Array = np.ndarray
STRETCH = 4.0  # k_r: largest ratio of two axes
SCALE = 1400.0 * 0.04**2  # k_s h^2: brings a full neighbourhood's covariance to 1
ALONE = 0.2  # k_n: radius of a lone drop in units of h
ENOUGH = 25  # N_eps: neighbours that make a shape
SIGMA = 315.0 / (65.0 * np.pi)
LEVEL = 0.3  # of the field at which the surface is drawn


def kernels(points: Array, h: float) -> Array:
    """G_j [1/m] of each drop, shape (n, 3, 3)."""
    tree = cKDTree(points)
    out = np.empty((len(points), 3, 3))
    for n, near in enumerate(tree.query_ball_point(points, 2.0 * h)):
        if len(near) <= ENOUGH:
            out[n] = np.eye(3) / (ALONE * h)
            continue
        x = points[near]
        weight = 1.0 - (np.linalg.norm(x - points[n], axis=1) / (2.0 * h)) ** 3
        centre = weight @ x / weight.sum()
        d = x - centre
        covariance = (weight[:, None] * d).T @ d / weight.sum()
        size, axes = np.linalg.eigh(covariance)
        size = np.maximum(size, size[-1] / STRETCH) * SCALE / h**2
        out[n] = axes @ np.diag(1.0 / size) @ axes.T / h
    return out


def spray_surface(points: Array, volumes: Array, h: float, *, finest: float | None = None) -> tuple[Array, Array]:
    """Vertices [m] and faces of the surface around drops at `points` [m] with `volumes` [m^3]; h [m]: kernel size."""
    empty = np.zeros((0, 3)), np.zeros((0, 3), np.int64)
    if len(points) == 0:
        return empty
    G = kernels(points, h)
    step = finest or 0.1 * h
    low, high = points.min(axis=0) - 2.0 * h, points.max(axis=0) + 2.0 * h
    shape = np.ceil((high - low) / step).astype(np.int64) + 1
    if shape.prod() > 30_000_000:  # a widely strewn spray: coarser rather than without end
        step *= (shape.prod() / 30_000_000) ** (1.0 / 3.0)
        shape = np.ceil((high - low) / step).astype(np.int64) + 1
    density = np.empty(len(points))
    pairs = cKDTree(points).query_ball_point(points, h)
    flat = np.concatenate([np.asarray(p, np.int64) for p in pairs])
    start = np.concatenate([[0], np.cumsum([len(p) for p in pairs])])
    _densities(points, volumes, G, flat, start, density)
    field = np.zeros(tuple(shape), np.float32)
    _deposit(points, volumes / density, G, low, step, field)
    if not (field > LEVEL).any():
        return empty
    vertices, faces, _, _ = marching_cubes(field, LEVEL, gradient_direction="ascent", allow_degenerate=False)
    return vertices.astype(float) * step + low, np.ascontiguousarray(faces, dtype=np.int64)


@njit(cache=True)
def _kernel(G, x, y, z):
    a = G[0, 0] * x + G[0, 1] * y + G[0, 2] * z
    b = G[1, 0] * x + G[1, 1] * y + G[1, 2] * z
    c = G[2, 0] * x + G[2, 1] * y + G[2, 2] * z
    r = np.sqrt(a * a + b * b + c * c)
    return (1.0 - r) ** 3 if r < 1.0 else 0.0


@njit(cache=True)
def _densities(points, volumes, G, flat, start, out):
    """rho_j of the drops; their own kernel is always counted."""
    for n in range(points.shape[0]):
        total = 0.0
        for s in range(start[n], start[n + 1]):
            m = flat[s]
            d = points[m] - points[n]
            total += volumes[m] * SIGMA * abs(np.linalg.det(G[m])) * _kernel(G[m], d[0], d[1], d[2])
        out[n] = total


@njit(cache=True)
def _deposit(points, weight, G, low, step, field):
    _nx, _ny, _nz = field.shape
    for n in range(points.shape[0]):
        inverse = np.linalg.inv(G[n])
        scale = weight[n] * SIGMA * abs(np.linalg.det(G[n]))
        lo = np.empty(3, np.int64)
        hi = np.empty(3, np.int64)
        for a in range(3):
            # half width of the ellipsoid |G r| <= 1 along an axis
            reach = np.sqrt(inverse[a, 0] ** 2 + inverse[a, 1] ** 2 + inverse[a, 2] ** 2)
            lo[a] = max(0, int(np.ceil((points[n, a] - reach - low[a]) / step)))
            hi[a] = min(field.shape[a] - 1, int(np.floor((points[n, a] + reach - low[a]) / step)))
        for i in range(lo[0], hi[0] + 1):
            for j in range(lo[1], hi[1] + 1):
                for k in range(lo[2], hi[2] + 1):
                    x = low[0] + i * step - points[n, 0]
                    y = low[1] + j * step - points[n, 1]
                    z = low[2] + k * step - points[n, 2]
                    field[i, j, k] += scale * _kernel(G[n], x, y, z)
