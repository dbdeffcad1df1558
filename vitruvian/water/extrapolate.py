"""Velocity beyond the water: known faces pass their mean on to their unknown neighbours, layer by layer.

A face is known where the projection has set it: open, and beside a wet cell. The extension carries the surface, feeds
advection near bodies and walls, and slides freely along both (Enright, Marschner and Fedkiw 2002).
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.water.pressure import Boundary
from vitruvian.water.state import WaterState

LAYERS = 7


def extrapolate_velocity(state: WaterState, boundary: Boundary, diagonal: np.ndarray, layers: int = LAYERS) -> None:
    """Extend the projected velocity in place; `diagonal` is that of the pressure system (positive in wet cells)."""
    for axis, (f, opened) in enumerate(
        zip((state.u, state.v, state.w), (boundary.open_x, boundary.open_y, boundary.open_z))
    ):
        known = np.zeros(f.shape, np.uint8)
        _known(axis, opened, diagonal, known, f)
        _extend(f, known, layers)


@njit(cache=True, parallel=True)
def _known(axis, opened, diagonal, known, f):
    a, b, c = (1 if axis == 0 else 0), (1 if axis == 1 else 0), (1 if axis == 2 else 0)
    for ii in prange(f.shape[0]):
        i = np.int64(ii)
        for j in range(f.shape[1]):
            for k in range(f.shape[2]):
                wet = diagonal[i + 1, j + 1, k + 1] > 0.0 or diagonal[i + 1 - a, j + 1 - b, k + 1 - c] > 0.0
                if wet and opened[i, j, k] > 0.0:
                    known[i, j, k] = 1
                else:
                    f[i, j, k] = 0.0


@njit(cache=True, parallel=True)
def _extend(f, known, layers):
    nx, ny, nz = f.shape
    for layer in range(layers):
        mark = np.uint8(layer + 2)
        for ii in prange(nx):
            i = np.int64(ii)
            for j in range(ny):
                for k in range(nz):
                    if known[i, j, k] != 0:
                        continue
                    total = 0.0
                    count = 0
                    # faces of this layer are marked `mark`; only those of earlier layers are read
                    if i > 0 and 0 < known[i - 1, j, k] < mark:
                        total += f[i - 1, j, k]
                        count += 1
                    if i < nx - 1 and 0 < known[i + 1, j, k] < mark:
                        total += f[i + 1, j, k]
                        count += 1
                    if j > 0 and 0 < known[i, j - 1, k] < mark:
                        total += f[i, j - 1, k]
                        count += 1
                    if j < ny - 1 and 0 < known[i, j + 1, k] < mark:
                        total += f[i, j + 1, k]
                        count += 1
                    if k > 0 and 0 < known[i, j, k - 1] < mark:
                        total += f[i, j, k - 1]
                        count += 1
                    if k < nz - 1 and 0 < known[i, j, k + 1] < mark:
                        total += f[i, j, k + 1]
                        count += 1
                    if count > 0:
                        f[i, j, k] = total / count
                        known[i, j, k] = mark
