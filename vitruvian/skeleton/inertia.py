"""Mass, centre of mass and rotational inertia of a bone, with the checks that make them physical.

A real body's principal moments satisfy the triangle inequality I_1 + I_2 >= I_3, because
I_1 + I_2 - I_3 = 2 ∫ρ z² dV >= 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from vitruvian.errors import InputError

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Inertia:
    """mass [kg]; com: centre of mass [m] in the bone's frame (3,); matrix: inertia about the COM [kg m²] (3, 3), in the
    bone's axes."""

    mass: float
    com: ArrayLike = (0.0, 0.0, 0.0)
    matrix: ArrayLike = field(default_factory=lambda: np.zeros((3, 3)))

    @staticmethod
    def box(mass: float, size: ArrayLike, com: ArrayLike = (0.0, 0.0, 0.0)) -> Inertia:
        """A solid box with edges `size` [m] (3,)."""
        x, y, z = np.asarray(size, dtype=float) ** 2
        return Inertia(mass, com, np.diag([y + z, x + z, x + y]) * (mass / 12.0))

    @staticmethod
    def ellipsoid(mass: float, radii: ArrayLike, com: ArrayLike = (0.0, 0.0, 0.0)) -> Inertia:
        """A solid ellipsoid with semi-axes `radii` [m] (3,)."""
        x, y, z = np.asarray(radii, dtype=float) ** 2
        return Inertia(mass, com, np.diag([y + z, x + z, x + y]) * (mass / 5.0))

    @staticmethod
    def sphere(mass: float, radius: float, com: ArrayLike = (0.0, 0.0, 0.0)) -> Inertia:
        """A solid sphere of `radius` [m]."""
        return Inertia(mass, com, np.eye(3) * (0.4 * mass * radius**2))

    @staticmethod
    def cylinder(
        mass: float,
        radius: float,
        length: float,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        com: ArrayLike = (0.0, 0.0, 0.0),
    ) -> Inertia:
        """A solid cylinder of `radius` and `length` [m] along `axis` (3,)."""
        a = np.asarray(axis, dtype=float)
        a = a / np.linalg.norm(a)
        along, across = 0.5 * mass * radius**2, mass * (3.0 * radius**2 + length**2) / 12.0
        return Inertia(mass, com, across * np.eye(3) + (along - across) * np.outer(a, a))

    @staticmethod
    def none() -> Inertia:
        """No mass at all: for a frame that is fixed to, or followed by, bones that have some."""
        return Inertia(0.0)

    def moved(self, T: ArrayLike) -> Inertia:
        """The same body described in a frame in which its own frame stands at T (4, 4)."""
        T = np.asarray(T, dtype=float)
        R = T[:3, :3]
        return Inertia(self.mass, R @ np.asarray(self.com) + T[:3, 3], R @ np.asarray(self.matrix) @ R.T)

    def flat(self) -> Array:
        """mass, m·com (3), inertia about the frame's origin xx xy xz yy yz zz: shape (10,)."""
        c = np.asarray(self.com, dtype=float)
        M = np.asarray(self.matrix, dtype=float) + self.mass * ((c @ c) * np.eye(3) - np.outer(c, c))
        return np.concatenate([[self.mass], self.mass * c, M[0], M[1, 1:], M[2, 2:]])

    def check(self, bone: str, *, may_be_massless: bool) -> None:
        """Raise InputError, naming the bone, unless a real body can have these numbers."""
        what = f"bone '{bone}'"
        c, M = np.asarray(self.com, dtype=float), np.asarray(self.matrix, dtype=float)
        if c.shape != (3,) or M.shape != (3, 3):
            raise InputError(f"{what}: centre of mass must have the shape (3,) and inertia (3, 3)")
        if not (np.isfinite(self.mass) and np.isfinite(c).all() and np.isfinite(M).all()):
            raise InputError(f"{what}: mass, centre of mass or inertia is not finite")
        if self.mass < 0.0:
            raise InputError(f"{what}: mass is negative ({self.mass:g} kg)")
        if self.mass == 0.0:
            if not may_be_massless:
                raise InputError(f"{what}: mass is zero, but its joint moves and nothing with mass is fixed to it")
            if np.abs(M).max() > 0.0:
                raise InputError(f"{what}: mass is zero but inertia is not")
            return
        scale = np.abs(M).max()
        if np.abs(M - M.T).max() > 1e-9 * max(scale, 1e-300):
            raise InputError(f"{what}: inertia is not symmetric")
        a, b, c3 = np.linalg.eigvalsh(0.5 * (M + M.T))
        if a < -1e-9 * scale:
            raise InputError(f"{what}: inertia has a negative principal moment ({a:g} kg m²)")
        if a + b < c3 * (1.0 - 1e-9):
            raise InputError(
                f"{what}: principal moments {a:g}, {b:g}, {c3:g} kg m² violate the triangle inequality of a real body"
            )
