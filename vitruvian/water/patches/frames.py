"""Where a patch is, how it moves, and its flow told in axes that move with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from vitruvian.spatial import exp_so3
from vitruvian.water.model import Tank

Array = np.ndarray


@dataclass
class Frame:
    """Where a patch is: y in the patch is o + A y in the world."""

    o: Array  # the link's origin [m], shape (3,)
    A: Array  # the patch's axes in the world, columns, shape (3, 3)


def between(first: Frame, last: Frame, turned: Array, part: float) -> Frame:
    if part in (0.0, 1.0):
        return last if part else first
    return Frame(first.o + part * (last.o - first.o), exp_so3(part * turned) @ first.A)


def turned(A: Array, twist: Array) -> Array:
    """A twist of the world in axes A."""
    return np.hstack([twist[:3] @ A, twist[3:] @ A])


def heights(grid: Tank, up: Array) -> Array:
    """g times the height above the link's origin [m^2/s^2] of a patch's cells and one ring; up: -g in its axes."""
    x, y, z = (o + (np.arange(-1, n + 1) + 0.5) * grid.cell for o, n in zip(grid.origin, grid.shape))
    return np.asarray(up[0] * x[:, None, None] + up[1] * y[:, None] + up[2] * z)


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True)
def subtract_frame(u, v, w, corner, h, frame):
    """Velocity past the patch instead of that in the world."""
    for axis in range(3):
        f = u if axis == 0 else (v if axis == 1 else w)
        b, c = (axis + 1) % 3, (axis + 2) % 3
        for i in range(f.shape[0]):
            for j in range(f.shape[1]):
                for k in range(f.shape[2]):
                    y = (
                        corner[0] + (i + (0.0 if axis == 0 else 0.5)) * h,
                        corner[1] + (j + (0.0 if axis == 1 else 0.5)) * h,
                        corner[2] + (k + (0.0 if axis == 2 else 0.5)) * h,
                    )
                    f[i, j, k] -= frame[3 + axis] + frame[b] * y[c] - frame[c] * y[b]


@njit(cache=True)
def turn_axes(u, v, w, T):
    """Components in turned axes, T u; the components across a face are the means of the four nearest."""
    nx, ny, nz = u.shape[0] - 1, v.shape[1] - 1, w.shape[2] - 1
    a, b, c = u.copy(), v.copy(), w.copy()
    for i in range(nx + 1):
        p, q = max(i - 1, 0), min(i, nx - 1)
        for j in range(ny):
            for k in range(nz):
                along = 0.25 * (b[p, j, k] + b[p, j + 1, k] + b[q, j, k] + b[q, j + 1, k])
                other = 0.25 * (c[p, j, k] + c[p, j, k + 1] + c[q, j, k] + c[q, j, k + 1])
                u[i, j, k] = T[0, 0] * a[i, j, k] + T[0, 1] * along + T[0, 2] * other
    for j in range(ny + 1):
        p, q = max(j - 1, 0), min(j, ny - 1)
        for i in range(nx):
            for k in range(nz):
                along = 0.25 * (a[i, p, k] + a[i + 1, p, k] + a[i, q, k] + a[i + 1, q, k])
                other = 0.25 * (c[i, p, k] + c[i, p, k + 1] + c[i, q, k] + c[i, q, k + 1])
                v[i, j, k] = T[1, 0] * along + T[1, 1] * b[i, j, k] + T[1, 2] * other
    for k in range(nz + 1):
        p, q = max(k - 1, 0), min(k, nz - 1)
        for i in range(nx):
            for j in range(ny):
                along = 0.25 * (a[i, j, p] + a[i + 1, j, p] + a[i, j, q] + a[i + 1, j, q])
                other = 0.25 * (b[i, j, p] + b[i, j + 1, p] + b[i, j, q] + b[i, j + 1, q])
                w[i, j, k] = T[2, 0] * along + T[2, 1] * other + T[2, 2] * c[i, j, k]
