"""What changes in a tank of water: plain arrays, copyable and savable."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray


def _empty(*shape: int) -> Array:
    return np.zeros(shape)


@dataclass
class WaterState:
    """The flow, its surface and the particles that keep it sharp."""

    u: Array  # velocity along x at x-faces [m/s], shape (nx + 1, ny, nz)
    v: Array  # along y at y-faces, shape (nx, ny + 1, nz)
    w: Array  # along z at z-faces, shape (nx, ny, nz + 1)
    phi: Array  # level set [m] at cell centres, negative in water, shape (nx, ny, nz)
    pressure: Array  # [Pa] at cell centres, 0 in air
    origin: Array  # lowest corner of the grid now [m]; moves with a following window, shape (3,)
    rng: Array  # seed and counter of the particles' random numbers, shape (2,)
    markers: Array = field(default_factory=lambda: _empty(0, 3))  # marker particles [m], shape (n, 3)
    marker_side: Array = field(default_factory=lambda: np.zeros(0, np.int8))  # -1 water, +1 air, shape (n,)
    marker_radius: Array = field(default_factory=lambda: _empty(0))  # [m]
    spray: Array = field(default_factory=lambda: _empty(0, 3))  # flying drops [m], shape (m, 3)
    spray_velocity: Array = field(default_factory=lambda: _empty(0, 3))  # [m/s]
    spray_volume: Array = field(default_factory=lambda: _empty(0))  # [m^3]
    patches: list[Any] = field(default_factory=list)  # a `patches.PatchState` for each refined patch
    acceleration: list[Array] = field(default_factory=list)  # [m/s^2] of the last sub-step at faces, if `order` is 2
    volume: float = 0.0  # water that the tank holds, spray included [m^3]
    shifted_volume: float = 0.0  # sum of |volume| that the uniform shift has put back so far [m^3]
    shifted_net: float = 0.0  # the same with its sign: water added minus water taken [m^3]
    returned_volume: float = 0.0  # sum of |volume| that rough spots of the surface got back at their place so far [m^3]
    returned_net: float = 0.0  # the same with its sign [m^3]
    exchanged_volume: float = 0.0  # water that came in minus water that left through open sides [m^3]
    time: float = 0.0  # [s]
    substeps: int = 0
    iterations: int = 0  # of the last pressure solve
    residual: float = 0.0  # largest divergence after the last solve relative to before


def spray_total(state: WaterState) -> float:
    """Volume in flight [m^3]."""
    return float(state.spray_volume.sum())
