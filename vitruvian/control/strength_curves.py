"""Torque over angle: isometric joint torques through a joint's range, and the shape of human curves.

Angles are anatomical: a straight elbow or knee is 0 degrees, though in the tables' pose they are bent by 18.5 and 5.5
(`offset_deg` of `strength_curves.csv`). Human curves are shares of their own peak, since peaks differ twofold between
groups of people while shapes do not.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.anatomy.tables import read_csv
from vitruvian.control.strength import StrengthTest, strength

Array = np.ndarray


@dataclass(frozen=True)
class StrengthCurve:
    """A movement through a range of anatomical angles, and what people do."""

    movement: str
    condition: str
    pose: str  # a pose with @ for the joint's coordinate, @s and @c for sine and cosine of the angle
    joint: str
    axis: str
    offset: float  # anatomical angle at coordinate 0 [degrees]
    low: float
    high: float
    angles: Array  # anatomical angles of the human curve [degrees], shape (n,)
    shares: Array  # of its peak, shape (n,)
    source: str

    def test(self, angle: float) -> StrengthTest:
        """The strength test at an anatomical angle [degrees]."""
        turn = np.radians(angle)
        text = self.pose.replace("@s", f"{np.sin(turn):.6f}").replace("@c", f"{np.cos(turn):.6f}")
        text = text.replace("@", f"{angle - self.offset:.6f}").replace("--", "")
        table = tomllib.loads(f"pose = {text}")["pose"]
        name = f"{self.condition}, {angle:g} degrees"
        method, loaded = ("balanced", "Sku") if self.movement.startswith("neck") else ("sum", "")
        return StrengthTest(self.movement, name, table, self.joint, self.axis, 0.0, np.inf, method, loaded, self.source)

    def torques(self, body: Body, angles: Array) -> Array:
        """Torque [N m] (n,) at anatomical angles [degrees] (n,)."""
        return np.array([strength(body, self.test(float(a))) for a in angles])

    def human(self, angles: Array) -> Array:
        """Share of the peak at angles within the human curve; NaN outside of it."""
        inside = (angles >= self.angles[0]) & (angles <= self.angles[-1])
        return np.where(inside, np.interp(angles, self.angles, self.shares), np.nan)


def strength_curves() -> list[StrengthCurve]:
    """The rows of `strength_curves.csv`."""
    out = []
    for r in read_csv("strength_curves.csv"):
        pairs = np.array([[float(x) for x in pair.split(":")] for pair in r["human"].split()])
        out.append(
            StrengthCurve(
                r["movement"],
                r["condition"],
                r["pose_deg"],
                r["joint"],
                r["axis"],
                float(r["offset_deg"]),
                float(r["low_deg"]),
                float(r["high_deg"]),
                pairs[:, 0],
                pairs[:, 1],
                r["source"],
            )
        )
    return out
