"""What every joint family gives to the builder, and the integer by which the kernels know it.

A joint is a transform G(q) from the child's to the joint's frame, its Jacobian S = (G⁻¹ ∂G/∂q)ˇ and its Hessian
∂S/∂q (Lee 2008, eqs. 6.10-6.16). Each family is one file: the dataclass that users write, and beside it the small Numba
function that fills G, S, ∂S/∂q from the joint's flat parameters.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import ClassVar

import numpy as np

from vitruvian.errors import InputError

Array = np.ndarray

FIXED, REVOLUTE, SCREW, BALL, FREE = 0, 1, 2, 3, 4  # constant Jacobian; the dynamics has short cuts for these
CYLINDRICAL, PLANAR, UNIVERSAL, ELLIPTIC, CURVE, SURFACE, CUSTOM = 5, 6, 7, 8, 9, 10, 11


class Joint:
    """Base of all joints: `n_q` coordinates, `n_v` velocities, n_q = n_v unless the joint holds a quaternion."""

    code: ClassVar[int] = FIXED
    n_v: int = 0

    @property
    def n_q(self) -> int:
        return self.n_v

    @property
    def domain(self) -> tuple[tuple[float, float], ...] | None:
        """Interval of each coordinate outside which the joint is not meant to go; None if there is none."""
        return None

    def check(self, bone: str) -> None:
        """Raise InputError, naming `bone`, when a number is not finite or an axis is not of unit length."""
        if is_dataclass(self):
            for field in fields(self):
                value = getattr(self, field.name)
                if isinstance(value, (int, float, tuple, list, np.ndarray)) and field.name != "transform":
                    check_finite(value, f"bone '{bone}': joint {field.name}")

    def zero(self) -> Array:
        """The coordinates at which a fresh skeleton stands, shape (n_q,)."""
        return np.zeros(self.n_q)

    def parameters(self, placement: Array) -> Array:
        """Flat numbers for the kernels; `placement` (4, 4) lets a family fold it in."""
        return np.zeros(0)

    def constant_jacobian(self) -> Array:
        """S transposed, shape (n_v, 6); zeros where it changes with q and the kernel fills it."""
        return np.zeros((self.n_v, 6))


def check_finite(value: object, what: str) -> None:
    try:
        finite = bool(np.isfinite(np.asarray(value, dtype=float)).all())
    except (TypeError, ValueError):
        raise InputError(f"{what} is not made of numbers") from None
    if not finite:
        raise InputError(f"{what} is not finite")


def check_axis(axis: object, what: str) -> Array:
    """The axis as an array (3,), or InputError when it is not a unit vector."""
    check_finite(axis, what)
    a = np.asarray(axis, dtype=float)
    if a.shape != (3,):
        raise InputError(f"{what} must have three numbers, not the shape {a.shape}")
    length = float(np.sqrt(a @ a))
    if abs(length - 1.0) > 1e-6:
        raise InputError(f"{what} must be of unit length, not {length:.6g}")
    return a / length
