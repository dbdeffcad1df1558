"""Forces of joints in MJCF: springs and dampers of three axes, stops on both sides.

MuJoCo's ball has one stiffness and one damping, and its limits are contacts of its own softness. What ours have beyond
that is written as actuators without control, force = b0 + b1 x + b2 x', kept to one sign where it is a stop:

- a ball's axis that is stiffer or more damped than its softest: -(k - k_min) x - (d - d_min) x' about that axis;
- a stop: -k_l (x - high) - d_l x', never positive; likewise at the lower end, never negative.

x is the coordinate of a hinge or slide, or one component of a ball's rotation vector from neutral, as ours. Two things
differ: a ball's torque acts along that component's axis, where ours follows the rotation vector's differential
(second order in the angle), and a stop's damper grips d_l x'/k_l before the stop, where ours grips at it.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np

from vitruvian.exchange.parts import number, numbers
from vitruvian.skeleton import Skeleton

Array = np.ndarray
AXES = "xyz"


def add_ball_springs(joint: ET.Element, actuators: ET.Element, skeleton: Skeleton, i: int) -> None:
    """Springs, dampers and stops of the ball joint of bone i: its `joint` element gets the softest axis."""
    forces, first = skeleton.forces, int(skeleton.v_start[i])
    name = skeleton.names[i]
    k, d = forces.stiffness[first : first + 3], forces.damping[first : first + 3]
    joint.set("stiffness", number(k.min()))
    joint.set("damping", number(d.min()))
    for c, axis in enumerate(np.eye(3)):
        more = (0.0, -(k[c] - k.min()), -(d[c] - d.min()))
        if any(more):
            _actuator(actuators, f"spring {name}.{AXES[c]}", name, axis, more)
        add_stops(actuators, skeleton, first + c, f"{name}.{AXES[c]}", name, axis)


def add_stops(
    actuators: ET.Element, skeleton: Skeleton, v: int, label: str, joint: str, axis: Array | None = None
) -> None:
    """Stops at both ends of velocity coordinate `v`, whose MuJoCo joint is `joint` (about `axis`, if a ball)."""
    forces = skeleton.forces
    k, d = forces.limit_stiffness[v], forces.limit_damping[v]
    if not k and not d:
        return
    for end, at, allowed in (("low", forces.low[v], "0 1e9"), ("high", forces.high[v], "-1e9 0")):
        if np.isfinite(at):
            _actuator(actuators, f"stop {label} {end}", joint, axis, (k * at, -k, -d), allowed)


def _actuator(
    parent: ET.Element, name: str, joint: str, axis: Array | None, bias: tuple[float, ...], allowed: str = ""
) -> None:
    one = ET.SubElement(parent, "general", name=name, joint=joint, gainprm="0", biastype="affine")
    one.set("biasprm", numbers(bias))
    if axis is not None:
        one.set("gear", numbers((*axis, 0.0, 0.0, 0.0)))
    if allowed:
        one.set("forcerange", allowed)
