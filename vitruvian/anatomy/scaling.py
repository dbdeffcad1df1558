"""Bodies of other height and mass by dimensional analysis.

With s = height ratio and m = mass ratio: lengths s, masses m, inertia m s^2, muscle cross-section (volume over
length) and hence strength m/s, so that strength keeps pace with weight when m = s^2; joint torques per angle as the
torque of gravity, m s; damping that times the pendulum time sqrt(s); point springs m. One of the two alone keeps the
shape: m = s^3. `stronger` is training: larger cross-sections on the same bones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from vitruvian.anatomy.body import STATURE, Body
from vitruvian.anatomy.tables import Tables
from vitruvian.errors import InputError

MASS = 86.605  # [kg], sum of the table


@dataclass(frozen=True)
class Scale:
    """Ratios to the tabulated body."""

    length: float = 1.0
    mass: float = 1.0
    weighed: bool = False  # whether the mass was given

    @classmethod
    def of(cls, height: float | None, mass: float | None) -> Scale:
        """From height [m] and mass [kg]; None where not given."""
        for value, what, low, high in ((height, "height", 0.5, 2.6), (mass, "mass", 5.0, 400.0)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float | np.number)):
                raise InputError(f"{what} must be a number, got {value!r}")
            if value is not None and not low <= value <= high:
                raise InputError(f"{what} must lie between {low} and {high}, got {value}")
        if height is None and mass is None:
            return cls()
        if height is None:
            m = mass / MASS  # type: ignore[operator]
            return cls(m ** (1.0 / 3.0), m, True)
        s = height / STATURE
        return cls(s, s**3) if mass is None else cls(s, mass / MASS, True)

    @property
    def torque(self) -> float:
        return self.mass * self.length

    @property
    def time(self) -> float:
        return self.length**0.5


def scaled(tables: Tables, scale: Scale) -> Tables:
    """The tables of a body of another size."""
    if scale.length == 1.0 and scale.mass == 1.0:
        return tables
    s, m, k = scale.length, scale.mass, scale.torque
    bones = {
        n: replace(b, joint=s * b.joint, com=s * b.com, mass=m * b.mass, inertia=m * s**2 * b.inertia)
        for n, b in tables.bones.items()
    }
    muscles = {
        n: replace(
            r,
            pcsa=r.pcsa * m / s,
            rest_length=s * r.rest_length,
            points=tuple(replace(p, position=s * p.position) for p in r.points),
            wraps=tuple(replace(w, centre=s * w.centre, radius=s * w.radius) for w in r.wraps),
        )
        for n, r in tables.muscles.items()
    }
    coordinates = {
        n: tuple(
            replace(
                c,
                stiffness=k * c.stiffness,
                damping=k * scale.time * c.damping,
                stop_stiffness=k * c.stop_stiffness,
            )
            for c in rows
        )
        for n, rows in tables.coordinates.items()
    }
    cartilages = tuple(
        replace(c, point=s * c.point, stiffness=m * c.stiffness, damping=m * scale.time * c.damping)
        for c in tables.cartilages
    )
    return replace(tables, bones=bones, muscles=muscles, coordinates=coordinates, cartilages=cartilages)


def stronger(body: Body, factor: float) -> Body:
    """The same body with the cross-section of every muscle, and so its force and passive stiffness, times `factor`."""
    if not factor > 0.0:
        raise InputError(f"strength must be positive, got {factor:g}")
    if factor == 1.0:
        return body
    note = f"muscles {factor:g} times as strong as the tables'"
    return replace(body, muscles=body.muscles.stronger(factor), notes=(*body.notes, note))
