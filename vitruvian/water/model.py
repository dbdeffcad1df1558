"""A tank of water: what never changes during a run.

The fluid lives on a MAC grid: pressure and level set at cell centres, velocity components at the faces they cross.
Cell (i, j, k) has its centre at origin + (i + 1/2, j + 1/2, k + 1/2) h. Axes as in the world: z is up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vitruvian.errors import InputError

SIDES = ("x-", "x+", "y-", "y+", "z-", "z+")
BOUNDARIES = ("wall", "open")
FEWEST = 4  # cells along a side
WATER_DENSITY = 1000.0  # kg/m^3


@dataclass(frozen=True)
class Tank:
    """Grid, fluid and numerical options. All lengths [m], times [s]."""

    shape: tuple[int, int, int]  # cells along x, y, z
    cell: float  # edge h of a cubic cell [m]
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)  # lowest corner at time 0 [m]
    density: float = WATER_DENSITY  # [kg/m^3]
    viscosity: float = 0.0  # kinematic [m^2/s]; 0 leaves the viscous step out (water: 1e-6)
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)  # [m/s^2], along -z or zero
    boundaries: dict[str, str] = field(
        default_factory=dict
    )  # side -> "wall" (free slip) or "open"; default wall, no lid
    periodic: str = ""  # axes along which the tank repeats itself: "x", "y" or "xy"; none unless told
    inflow: dict[str, float] = field(default_factory=dict)  # side -> speed [m/s] of water that comes in there
    rest_level: float = 0.0  # height [m] of the calm surface beyond open and inflow sides and in new cells of a window
    sponge: float = 0.0  # thickness [m] of the wave-absorbing layer inside each open or inflow side; 0 for none
    courant: float = 1.0  # cells that the fastest flow may cross in a sub-step
    largest_substep: float = 0.02  # [s]
    advection: str = "maccormack"  # or "semi-lagrangian"
    free_surface: bool = True  # False: the tank is full
    # Marker particles a cell near the surface; 0 for none, 16 for thin sheets and spray. None unless told: in a
    # splash those of the air carve away more water than those of the water give back, and more must be put right.
    particles: int = 0
    keep_volume: bool = True  # give back what transport lost, to rough spots and then evenly (closed tanks)
    tolerance: float = 1e-6  # of the pressure solve, relative to the divergence before it
    body_detail: int = 2  # nodes to a cell's edge at which bodies are seen: limbs thinner than two cells ask for more
    order: int = 1  # of accuracy in time: 1, or 2 (`inertia`)

    def __post_init__(self) -> None:
        if len(self.shape) != 3 or not all(_whole(n) for n in self.shape):
            raise InputError(f"tank: shape is three whole numbers of cells, not {self.shape}")
        if min(self.shape) < FEWEST:
            raise InputError(f"tank: each side needs at least {FEWEST} cells, not {self.shape}")
        if not _whole(self.particles):
            raise InputError(f"tank: particles is a whole number of markers a cell, not {self.particles}")
        for name in ("cell", "density", "courant", "largest_substep", "tolerance"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise InputError(f"tank: {name} must be a positive number, not {getattr(self, name)}")
        for name in ("viscosity", "sponge", "particles"):
            if not 0.0 <= getattr(self, name) < np.inf:
                raise InputError(f"tank: {name} cannot be {getattr(self, name)}")
        for name in ("origin", "gravity", "rest_level"):
            if not np.isfinite(getattr(self, name)).all():
                raise InputError(f"tank: {name} {getattr(self, name)} is not a number")
        if not _whole(self.body_detail) or self.body_detail < 1:
            raise InputError(f"tank: body_detail is a whole number of nodes to a cell's edge, not {self.body_detail}")
        if self.gravity[0] != 0.0 or self.gravity[1] != 0.0 or self.gravity[2] > 0.0:
            raise InputError(
                f"tank: gravity {self.gravity} must point along -z, which buoyancy and open sides count on"
            )
        if self.tolerance >= 1.0:
            raise InputError(f"tank: tolerance {self.tolerance} leaves all divergence where it is; it must be below 1")
        if self.courant > 4.0:
            raise InputError(f"tank: courant {self.courant} outruns the band in which the surface is known (at most 4)")
        for side, kind in self.boundaries.items():
            if side not in SIDES:
                raise InputError(f"tank: unknown side '{side}'; known: {', '.join(SIDES)}")
            if kind not in BOUNDARIES:
                raise InputError(f"tank: side {side} is '{kind}'; known: {', '.join(BOUNDARIES)}")
        if self.periodic not in ("", "x", "y", "xy"):
            raise InputError(f"tank: periodic is '', 'x', 'y' or 'xy', not {self.periodic!r}")
        for side in SIDES:
            if side[0] in self.periodic and (side in self.boundaries or side in self.inflow):
                raise InputError(f"tank: side {side} is periodic and can be nothing else as well")
        for side, speed in self.inflow.items():
            if side not in SIDES[:4] or side in self.boundaries or not 0.0 < speed < np.inf:
                raise InputError(f"tank: inflow of {speed} m/s at '{side}'; it takes a speed above 0 at an x or y side")
        if self.inflow and "open" not in [self.boundary(side) for side in SIDES[:4]]:
            raise InputError("tank: inflow needs an open side that lets as much out")
        if self.advection not in ("maccormack", "semi-lagrangian"):
            raise InputError(f"tank: unknown advection '{self.advection}'; known: maccormack, semi-lagrangian")
        if self.order not in (1, 2):
            raise InputError(f"tank: order is that of accuracy in time, 1 or 2, not {self.order}")

    @classmethod
    def of_size(cls, size: tuple[float, float, float], cell: float, **options: Any) -> Tank:
        """A tank of the given size [m], rounded to whole cells."""
        if not 0.0 < cell < np.inf:
            raise InputError(f"tank: cell must be a positive number, not {cell}")
        if len(size) != 3 or not np.isfinite(size).all():
            raise InputError(f"tank: size is three lengths, not {size}")
        shape = tuple(round(s / cell) for s in size)
        if min(shape) < FEWEST:
            raise InputError(
                f"tank: {min(size):g} m are {min(shape)} cells of {cell:g} m; each side needs at least {FEWEST}"
            )
        return cls(shape=(shape[0], shape[1], shape[2]), cell=cell, **options)

    @property
    def cells(self) -> int:
        return int(np.prod(self.shape))

    @property
    def size(self) -> tuple[float, float, float]:
        """Extent [m] along x, y, z."""
        return tuple(n * self.cell for n in self.shape)  # type: ignore[return-value]

    @property
    def closed(self) -> bool:
        """No water can leave or enter."""
        return not self.inflow and all(kind == "wall" for side, kind in self.boundaries.items() if side != "z+")

    @property
    def wrapped(self) -> tuple[int, ...]:
        """Axes along which the tank is periodic."""
        return tuple("xyz".index(letter) for letter in self.periodic)

    def open_sides(self) -> np.ndarray:
        """1 where a side is open, 2 where water comes in, 3 where it is periodic, 0 where it is a wall, in the order of
        `SIDES`; shape (6,).
        """
        kinds = {"wall": 0, "open": 1, "periodic": 3}
        return np.array([2 if s in self.inflow else kinds[self.boundary(s)] for s in SIDES], dtype=np.int64)

    def boundary(self, side: str) -> str:
        """What a side is; a tank with a free surface has no lid unless it is given one."""
        if side[0] in self.periodic:
            return "periodic"
        return self.boundaries.get(side, "open" if side == "z+" and self.free_surface else "wall")

    def centres(self, origin: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates [m] of the cell centres along each axis."""
        o = np.asarray(self.origin if origin is None else origin)
        x, y, z = (o[a] + (np.arange(self.shape[a]) + 0.5) * self.cell for a in range(3))
        return x, y, z


def _whole(number: Any) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)
