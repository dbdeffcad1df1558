"""Values between grid points: trilinear, tricubic (Catmull-Rom), and the velocity of a MAC grid at any point.

Coordinates are in cells from the grid's lowest corner. Beyond the outermost samples a field is constant, which is
what a free-slip wall means for the velocity along it; a level set runs on with its slope.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange


@njit(cache=True, inline="always")
def linear(f, x, y, z):
    """Trilinear value at index coordinates (0 = first sample)."""
    nx, ny, nz = f.shape
    x = min(max(x, 0.0), nx - 1.0)
    y = min(max(y, 0.0), ny - 1.0)
    z = min(max(z, 0.0), nz - 1.0)
    # unsigned, so that no load asks whether its index counts from the end
    i, j, k = np.uint64(min(int(x), nx - 2)), np.uint64(min(int(y), ny - 2)), np.uint64(min(int(z), nz - 2))
    p, q, r = i + np.uint64(1), j + np.uint64(1), k + np.uint64(1)
    a, b, c = x - i, y - j, z - k
    f00 = f[i, j, k] + c * (f[i, j, r] - f[i, j, k])
    f01 = f[i, q, k] + c * (f[i, q, r] - f[i, q, k])
    f10 = f[p, j, k] + c * (f[p, j, r] - f[p, j, k])
    f11 = f[p, q, k] + c * (f[p, q, r] - f[p, q, k])
    f0 = f00 + b * (f01 - f00)
    f1 = f10 + b * (f11 - f10)
    return f0 + a * (f1 - f0)


@njit(cache=True, inline="always")
def velocity(u, v, w, x, y, z):
    """Velocity at a point given in cells from the corner."""
    return (
        linear(u, x, y - 0.5, z - 0.5),
        linear(v, x - 0.5, y, z - 0.5),
        linear(w, x - 0.5, y - 0.5, z),
    )


@njit(cache=True, inline="always")
def gradient(f, x, y, z):
    """Gradient per cell of the trilinear interpolant, by central differences half a cell apart."""
    return (
        linear(f, x + 0.5, y, z) - linear(f, x - 0.5, y, z),
        linear(f, x, y + 0.5, z) - linear(f, x, y - 0.5, z),
        linear(f, x, y, z + 0.5) - linear(f, x, y, z - 0.5),
    )


@njit(cache=True, inline="always")
def _weights(t):
    t2 = t * t
    t3 = t2 * t
    return (-0.5 * t + t2 - 0.5 * t3, 1.0 - 2.5 * t2 + 1.5 * t3, 0.5 * t + 2.0 * t2 - 1.5 * t3, 0.5 * (t3 - t2))


@njit(cache=True, inline="always")
def _axis_weights(x, n):
    """First of four samples' index and their weights; beyond the outermost samples the field runs on with its
    slope.
    """
    x = min(max(x, -0.5), n - 0.5)
    i = min(max(int(np.floor(x)), 0), n - 2)
    t = x - i
    if t < 0.0 or t > 1.0:
        return i, 0.0, 1.0 - t, t, 0.0
    a, b, c, d = _weights(t)
    if i == 0:
        b, c, a = b + 2.0 * a, c - a, 0.0
    if i == n - 2:
        c, b, d = c + 2.0 * d, b - d, 0.0
    return i, a, b, c, d


@njit(cache=True)
def cubic(f, x, y, z):
    """Tricubic (Catmull-Rom) value at index coordinates, up to half a cell beyond the outermost samples."""
    nx, ny, nz = f.shape
    i, a0, a1, a2, a3 = _axis_weights(x, nx)
    j, b0, b1, b2, b3 = _axis_weights(y, ny)
    k, c0, c1, c2, c3 = _axis_weights(z, nz)
    wx = (a0, a1, a2, a3)
    wy = (b0, b1, b2, b3)
    k0, k3 = max(k - 1, 0), min(k + 2, nz - 1)
    total = 0.0
    for a in range(4):
        ii = min(max(i + a - 1, 0), nx - 1)
        plane = 0.0
        for b in range(4):
            jj = min(max(j + b - 1, 0), ny - 1)
            plane += wy[b] * (c0 * f[ii, jj, k0] + c1 * f[ii, jj, k] + c2 * f[ii, jj, k + 1] + c3 * f[ii, jj, k3])
        total += wx[a] * plane
    return total


@njit(cache=True, inline="always")
def _axis_slopes(x, n):
    """Derivatives of the four weights of `_axis_weights` by x."""
    x = min(max(x, -0.5), n - 0.5)
    i = min(max(int(np.floor(x)), 0), n - 2)
    t = x - i
    if t < 0.0 or t > 1.0:
        return 0.0, -1.0, 1.0, 0.0
    a = -0.5 + 2.0 * t - 1.5 * t * t
    b = -5.0 * t + 4.5 * t * t
    c = 0.5 + 4.0 * t - 4.5 * t * t
    d = 1.5 * t * t - t
    if i == 0:
        b, c, a = b + 2.0 * a, c - a, 0.0
    if i == n - 2:
        c, b, d = c + 2.0 * d, b - d, 0.0
    return a, b, c, d


@njit(cache=True)
def cubic_slope(f, x, y, z):
    """Value and gradient per cell of `cubic`, from one visit to its 64 samples."""
    nx, ny, nz = f.shape
    i, a0, a1, a2, a3 = _axis_weights(x, nx)
    j, b0, b1, b2, b3 = _axis_weights(y, ny)
    k, c0, c1, c2, c3 = _axis_weights(z, nz)
    e0, e1, e2, e3 = _axis_slopes(z, nz)
    wx, wy = (a0, a1, a2, a3), (b0, b1, b2, b3)
    sx, sy = _axis_slopes(x, nx), _axis_slopes(y, ny)
    k0, k3 = max(k - 1, 0), min(k + 2, nz - 1)
    value = gx = gy = gz = 0.0
    for a in range(4):
        p = min(max(i + a - 1, 0), nx - 1)
        plane = plane_y = plane_z = 0.0
        for b in range(4):
            q = min(max(j + b - 1, 0), ny - 1)
            f0, f1, f2, f3 = f[p, q, k0], f[p, q, k], f[p, q, k + 1], f[p, q, k3]
            line = c0 * f0 + c1 * f1 + c2 * f2 + c3 * f3
            plane += wy[b] * line
            plane_y += sy[b] * line
            plane_z += wy[b] * (e0 * f0 + e1 * f1 + e2 * f2 + e3 * f3)
        value += wx[a] * plane
        gx += sx[a] * plane
        gy += wx[a] * plane_y
        gz += wx[a] * plane_z
    return value, gx, gy, gz


@njit(cache=True)
def limited_cubic(f, x, y, z):
    """Tricubic value, kept within the range of the eight samples around it; linear beyond the outermost samples."""
    nx, ny, nz = f.shape
    value = cubic(f, x, y, z)
    if x < 0.0 or y < 0.0 or z < 0.0 or x > nx - 1.0 or y > ny - 1.0 or z > nz - 1.0:
        return value
    i, j, k = min(int(x), nx - 2), min(int(y), ny - 2), min(int(z), nz - 2)
    low = high = f[i, j, k]
    for a in range(2):
        for b in range(2):
            for c in range(2):
                low = min(low, f[i + a, j + b, k + c])
                high = max(high, f[i + a, j + b, k + c])
    return min(max(value, low), high)


@njit(cache=True, inline="always")
def linear_beyond(f, x, y, z):
    """Trilinear value that runs on with its slope up to half a cell beyond the outermost samples."""
    nx, ny, nz = f.shape
    x = min(max(x, -0.5), nx - 0.5)
    y = min(max(y, -0.5), ny - 0.5)
    z = min(max(z, -0.5), nz - 0.5)
    i = np.uint64(min(max(int(np.floor(x)), 0), nx - 2))
    j = np.uint64(min(max(int(np.floor(y)), 0), ny - 2))
    k = np.uint64(min(max(int(np.floor(z)), 0), nz - 2))
    p, q, r = i + np.uint64(1), j + np.uint64(1), k + np.uint64(1)
    a, b, c = x - i, y - j, z - k
    f00 = f[i, j, k] + c * (f[i, j, r] - f[i, j, k])
    f01 = f[i, q, k] + c * (f[i, q, r] - f[i, q, k])
    f10 = f[p, j, k] + c * (f[p, j, r] - f[p, j, k])
    f11 = f[p, q, k] + c * (f[p, q, r] - f[p, q, k])
    f0 = f00 + b * (f01 - f00)
    f1 = f10 + b * (f11 - f10)
    return f0 + a * (f1 - f0)


@njit(cache=True, parallel=True)
def sample_linear(f, points, shift, out):
    """Trilinear values at points given in cells; `shift` is the coordinate of the first sample (0.5 for cell
    centres).
    """
    for n in prange(points.shape[0]):
        out[n] = linear_beyond(f, points[n, 0] - shift, points[n, 1] - shift, points[n, 2] - shift)


@njit(cache=True, parallel=True)
def sample_velocity(u, v, w, points, out):
    """Velocities at points given in cells, shape (n, 3)."""
    for n in prange(points.shape[0]):
        out[n, 0], out[n, 1], out[n, 2] = velocity(u, v, w, points[n, 0], points[n, 1], points[n, 2])


def to_cells(points: np.ndarray, origin: np.ndarray, h: float) -> np.ndarray:
    """World points [m] in cells from the grid's corner."""
    return np.ascontiguousarray((points - origin) / h)
