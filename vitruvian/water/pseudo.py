"""The pseudo water surface: the level set continued through bodies (Si, section 3.4).

Inside a body phi is harmonic with the water's values around it, so that a calm surface continues flat to the last
bit; the same extension tells cut cells whether they are wet, gives buoyancy its depth (`depths`), and closes the drawn
surface. A thin body has no inside that matters: each of its sides keeps the surface that it has (`sides`).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from vitruvian.water.distance import extend_distance
from vitruvian.water.model import Tank
from vitruvian.water.pressure import Boundary
from vitruvian.water.sides import OPEN, looked
from vitruvian.water.state import WaterState

Array = np.ndarray
MARGIN = 3  # cells around a body in which phi is a true distance


def extend_under_bodies(tank: Tank, state: WaterState, boundary: Boundary) -> None:
    """Make phi a distance around the bodies and harmonic inside them, in place."""
    if boundary.psi is None or not boundary.box.any():
        return
    shape = np.asarray(tank.shape)
    low = np.maximum(boundary.box[:, 0] - MARGIN, 0)
    high = np.minimum(boundary.box[:, 1] + MARGIN, shape)
    box = np.stack([low, high], axis=1)
    # whole columns, since the surface may lie far above a deep body or far below one in the air
    columns = box.copy()
    columns[2] = 0, tank.shape[2]
    number, seen = looked(boundary.sides)
    extend_distance(state.phi, tank.cell, columns, number, seen)
    widest = float((boundary.box[:, 1] - boundary.box[:, 0]).max())
    omega = 2.0 / (1.0 + math.sin(math.pi / max(widest, 4.0)))
    _harmonic(state.phi, boundary.psi, box, omega, int(2 * widest) + 20, number, seen)


@njit(cache=True)
def _harmonic(phi, psi, box, omega, sweeps, number, seen):
    """Red-black successive over-relaxation on the cells whose centre lies in a body; those beside a thin one that are
    open are not it, since what lies on their own side has been continued to them.
    """
    nx, ny, nz = phi.shape
    walled = len(seen) > 0
    i0, i1, j0, j1, k0, k1 = box[0, 0], box[0, 1], box[1, 0], box[1, 1], box[2, 0], box[2, 1]
    count = 0
    cells = np.empty(((i1 - i0) * (j1 - j0) * (k1 - k0), 3), np.int32)
    for colour in range(2):
        for i in range(i0, i1):
            for j in range(j0, j1):
                for k in range(k0, k1):
                    if (i + j + k) % 2 == colour and (
                        psi[i, j, k] + psi[i + 1, j, k] + psi[i, j + 1, k] + psi[i + 1, j + 1, k]
                        + psi[i, j, k + 1] + psi[i + 1, j, k + 1] + psi[i, j + 1, k + 1] + psi[i + 1, j + 1, k + 1]
                    ) < 0.0 and not (walled and number[i, j, k] >= 0 and seen[number[i, j, k]] & OPEN):  # fmt: skip
                        cells[count, 0], cells[count, 1], cells[count, 2] = i, j, k
                        count += 1
    for _sweep in range(sweeps):
        worst = 0.0
        for n in range(count):
            i, j, k = cells[n, 0], cells[n, 1], cells[n, 2]
            here = phi[i, j, k]
            # beyond a wall the surface runs on as it came: reflect the slope, so that a flat surface stays flat
            west = phi[i - 1, j, k] if i > 0 else 2.0 * here - phi[i + 1, j, k]
            east = phi[i + 1, j, k] if i < nx - 1 else 2.0 * here - phi[i - 1, j, k]
            south = phi[i, j - 1, k] if j > 0 else 2.0 * here - phi[i, j + 1, k]
            north = phi[i, j + 1, k] if j < ny - 1 else 2.0 * here - phi[i, j - 1, k]
            below = phi[i, j, k - 1] if k > 0 else 2.0 * here - phi[i, j, k + 1]
            above = phi[i, j, k + 1] if k < nz - 1 else 2.0 * here - phi[i, j, k - 1]
            change = (west + east + south + north + below + above) / 6.0 - here
            phi[i, j, k] = here + omega * change
            worst = max(worst, abs(change))
        if worst < 1e-14:
            break
