"""What a user asks of a flow: its energy, and the drag of a body in it.

    E = sum_f 1/2 rho V_f u_f^2 + sum_c rho g V_c z_c + sum_drops rho V (g z + 1/2 v^2)

V_f is the water about face f (half of each of its two cells, bodies left out), V_c that in cell c and z_c its centroid,
measured by octants as `volume` does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit, prange

from vitruvian.errors import InputError
from vitruvian.water.boundary import Boundary
from vitruvian.water.model import Tank
from vitruvian.water.periodic import narrow, widen
from vitruvian.water.state import WaterState
from vitruvian.water.substep import StepResult
from vitruvian.water.volume import cell_moment

Array = np.ndarray


@dataclass(frozen=True)
class WaterEnergy:
    """Of all water in a tank [J]; heights count from z = 0."""

    kinetic: float  # of the water on the grid
    potential: float  # of the water on the grid
    spray: float  # both of the drops in flight

    @property
    def total(self) -> float:
        return self.kinetic + self.potential + self.spray


def water_energy(tank: Tank, state: WaterState, boundary: Boundary | None = None) -> WaterEnergy:
    """Energy of the water now; `boundary` (of `StepResult`) leaves out what bodies displace."""
    h, g = tank.cell, -tank.gravity[2]
    wet, lift = np.ones(tank.shape), np.zeros(tank.shape)
    if tank.free_surface:
        phi = widen(tank, state.phi, 1)
        wet, lift = np.empty(phi.shape), np.zeros(phi.shape)
        _water(phi, h, wet, lift)
        wet, lift = narrow(tank, wet, 1), narrow(tank, lift, 1)
    opened = (None, None, None) if boundary is None else (boundary.open_x, boundary.open_y, boundary.open_z)
    if boundary is not None:
        wet, lift = wet * boundary.volume, lift * boundary.volume
    mass = tank.density * h**3
    kinetic = 0.0
    for axis, (f, part) in enumerate(zip((state.u, state.v, state.w), opened)):
        width = [(1, 1) if a == axis else (0, 0) for a in range(3)]
        padded = np.pad(wet, width)
        if axis in tank.wrapped:  # the last face is the first: its other half is counted there
            padded = np.moveaxis(padded, axis, 0)
            padded[0], padded[-1] = padded[-2], -padded[-2]
            padded = np.moveaxis(padded, 0, axis)
        about = 0.5 * (np.take(padded, range(f.shape[axis]), axis) + np.take(padded, range(1, f.shape[axis] + 1), axis))
        kinetic += 0.5 * mass * float((about * (1.0 if part is None else (part > 0.0)) * f**2).sum())
    z = state.origin[2] + (np.arange(tank.shape[2]) + 0.5) * h
    potential = mass * g * float((wet * z + lift * h).sum())
    drops = state.spray_volume * (g * state.spray[:, 2] + 0.5 * (state.spray_velocity**2).sum(axis=1))
    return WaterEnergy(kinetic, potential, tank.density * float(drops.sum()))


def drag(result: StepResult, direction: Array, link: int = 0) -> float:
    """Mean force [N] with which the water held a link back along `direction` (3,) in a step, its course or heading."""
    along = np.asarray(direction, float)
    if along.shape != (3,) or not 0.0 < np.linalg.norm(along) < np.inf:
        raise InputError(f"water: drag is told along a direction of three numbers, not {direction}")
    if not 0 <= link < len(result.impulses):
        raise InputError(f"water: no link {link} in this step; it had {len(result.impulses)}")
    return float(-result.forces[link, 3:] @ along / np.linalg.norm(along))


@njit(cache=True, parallel=True)
def _water(phi, h, wet, lift):
    """Water in each cell, and that times the height of its centroid over the cell's centre [cells]."""
    for ii in prange(phi.shape[0]):
        i = np.int64(ii)
        for j in range(phi.shape[1]):
            for k in range(phi.shape[2]):
                wet[i, j, k], lift[i, j, k] = cell_moment(phi, h, i, j, k, 0.0)
