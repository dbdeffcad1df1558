"""Frames that ride on bones (patella, scapula) in MJCF: bodies without weight whose joints are tied to the driver's.

A carrier (`muscle.wrapping.Carrier`) stands in its base's frame by a curve of one number ρ. MuJoCo has no such frame,
but equality constraints whose polynomials reach the fourth power:

- its way is written in polar coordinates about the circle that fits it best (a patella goes round the femur's groove):
  a hinge at the centre, a slide along the radius, a hinge at its own origin, each a quartic of ρ that is fitted in
  value and slope, since the slope is the muscles' lever;
- ρ is a hinge's own angle (knee), which `equality/joint` takes; or, for the rise of an arm on a ball, it follows from
  the length L of a tendon between a point D above the joint and one l along the arm,

      L² = D² + l² - 2 D l ρ,

  which `equality/tendon` takes.

Constraints of MuJoCo are soft: a rider's joints have an armature (inertia without weight) small beside the limb's.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.interpolate import CubicSpline

from vitruvian.errors import InputError
from vitruvian.exchange.parts import neutral_placement, number, numbers, placement
from vitruvian.muscle import Carrier
from vitruvian.muscle.wrapping import RISE
from vitruvian.skeleton import Skeleton
from vitruvian.skeleton.joints import Ball, Revolute
from vitruvian.spatial import rotation_about, rotation_from_quaternion

if TYPE_CHECKING:
    from vitruvian.anatomy import Body

Array = np.ndarray
ABOVE, ALONG = 0.3, 0.1  # D and l [m]
BEYOND = 0.1  # [rad] beyond the driver's range to which the quartics are fitted
ARMATURE = {"hinge": 1e-3, "slide": 0.05}  # [kg m²], [kg]
STIFF = "0.9999 0.9999 0.001 0.5 2"  # impedance of the constraints
STILL = 1e-9  # [m, rad] below which a curve does not move


@dataclass(frozen=True, eq=False)
class RiderJoint:
    """One joint of a rider, in its frame where ρ = 0."""

    kind: str  # hinge or slide
    axis: Array
    at: Array  # place of the axis [m], (3,)
    powers: Array  # its coordinate as a quartic of ρ, rising, (5,)


@dataclass(frozen=True, eq=False)
class Rider:
    """A carrier that muscles use, as MuJoCo gets it."""

    carrier: Carrier
    base: int
    driver: int
    start: Array  # its pose in the base's frame, (4, 4)
    joints: tuple[RiderJoint, ...]  # none where the driver cannot move

    def rho(self, skeleton: Skeleton, q: Array) -> float:
        c, part = self.carrier, q[skeleton.q_start[self.driver] : skeleton.q_start[self.driver + 1]]
        if c.kind == RISE:
            return float(np.asarray(c.up) @ rotation_from_quaternion(part[-4:]) @ np.asarray(c.axis))
        return float(part[0])

    def coordinates(self, skeleton: Skeleton, q: Array) -> Array:
        """Of its joints at our coordinates q, (len(joints),)."""
        if not self.joints:
            return np.zeros(0)
        rho = self.rho(skeleton, q)
        return np.array([np.polynomial.polynomial.polyval(rho, j.powers) for j in self.joints])

    def rates(self, skeleton: Skeleton, q: Array) -> Array:
        """Rates of its joints per velocity of ours, (len(joints), n_v)."""
        out = np.zeros((len(self.joints), skeleton.n_v))
        if not self.joints:
            return out
        c, rho, first = self.carrier, self.rho(skeleton, q), int(skeleton.v_start[self.driver])
        if c.kind == RISE:
            R = rotation_from_quaternion(q[skeleton.q_start[self.driver + 1] - 4 : skeleton.q_start[self.driver + 1]])
            by = np.cross(R @ np.asarray(c.axis), np.asarray(c.up)) @ R
        else:
            by = np.ones(1)
        for k, j in enumerate(self.joints):
            slope = np.polynomial.polynomial.polyval(rho, np.polynomial.polynomial.polyder(j.powers))
            out[k, first : first + len(by)] = slope * by
        return out


def riders(body: Body) -> list[Rider]:
    """Those carriers that points of muscles ride on."""
    used = np.unique(body.muscles.riding[body.muscles.riding >= 0])
    return [_rider(body.skeleton, body.muscles.frames[c]) for c in used]


def add_riders(root: ET.Element, body: Body, bodies: list[ET.Element], timestep: float) -> dict[str, ET.Element]:
    """Bodies, joints and constraints of all riders; the element of each by its name. After all bones."""
    found = riders(body)
    out: dict[str, ET.Element] = {}
    if not found:
        return out
    tendons = root.find("tendon")
    ties = ET.SubElement(root, "equality")
    for r in found:
        c = r.carrier
        element = ET.SubElement(bodies[r.base], "body", name=c.name, pos=numbers(r.start[:3, 3]))
        element.set("xyaxes", numbers((*r.start[:3, 0], *r.start[:3, 1])))
        out[c.name] = element
        for k, j in enumerate(r.joints):
            one = ET.SubElement(element, "joint", name=f"{c.name}.{k}", type=j.kind, axis=numbers(j.axis))
            one.set("pos", numbers(j.at))
            one.set("armature", number(ARMATURE[j.kind]))
        if r.joints:
            ET.SubElement(element, "inertial", pos="0 0 0", mass="1e-12", diaginertia="1e-12 1e-12 1e-12")
            _tie(ties, tendons, body.skeleton, r, bodies, timestep)
    return out


def _rider(skeleton: Skeleton, c: Carrier) -> Rider:
    base, driver = skeleton.index(c.base), skeleton.index(c.driver)
    joint = skeleton.joints[driver]
    curve = CubicSpline(c.at, np.column_stack([c.place, c.angle]))
    pivot = np.asarray(c.pivot, float) / np.linalg.norm(c.pivot)
    able = isinstance(joint, Ball if c.kind == RISE else Revolute) and int(skeleton.parent[driver]) == base
    rho = 0.0
    if not able:  # the driver is fixed or held at neutral
        R = placement(skeleton, driver)[:3, :3].T @ neutral_placement(skeleton, driver)[:3, :3]
        turned = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        a = np.asarray(c.axis)
        rho = (
            float(np.asarray(c.up) @ R @ a)
            if c.kind == RISE
            else float(np.arctan2(0.5 * a @ turned, 0.5 * (np.trace(R) - 1.0)))
        )
    start = np.eye(4)
    start[:3, :3], start[:3, 3] = rotation_about(pivot, float(curve(rho)[3])), curve(rho)[:3]
    return Rider(c, base, driver, start, tuple(_joints(skeleton, c, driver, curve, pivot)) if able else ())


def _joints(skeleton: Skeleton, c: Carrier, driver: int, curve: CubicSpline, pivot: Array) -> list[RiderJoint]:
    low, high = float(c.at[0]), float(c.at[-1])
    if c.kind != RISE:
        at = int(skeleton.v_start[driver])
        low = max(low, float(skeleton.forces.low[at]) - BEYOND)
        high = min(high, float(skeleton.forces.high[at]) + BEYOND)
    rho = np.linspace(low, high, 200)
    place, angle = curve(rho)[:, :3] - curve(0.0)[:3], curve(rho)[:, 3] - float(curve(0.0)[3])
    along = place @ pivot
    flat = place - np.outer(along, pivot)
    out: list[RiderJoint] = []
    own = angle
    if np.ptp(along) > STILL:
        out.append(RiderJoint("slide", pivot, np.zeros(3), _quartic(rho, along)))
    if np.abs(flat).max() > STILL:
        first = np.eye(3)[int(np.argmin(np.abs(pivot)))]
        e1 = np.cross(pivot, first) / np.linalg.norm(np.cross(pivot, first))
        e2 = np.cross(pivot, e1)
        x, y = flat @ e1, flat @ e2
        a, b, _ = np.linalg.lstsq(np.column_stack([x, y, np.ones(len(x))]), x**2 + y**2, rcond=None)[0] / 2.0
        start = np.arctan2(-b, -a)
        turn = np.unwrap(np.arctan2(y - b, x - a)) - start
        turn -= 2.0 * np.pi * np.round(np.interp(0.0, rho, turn) / (2.0 * np.pi))
        radius = np.hypot(x - a, y - b) - np.hypot(a, b)
        out.append(RiderJoint("hinge", pivot, a * e1 + b * e2, _quartic(rho, turn)))
        out.append(RiderJoint("slide", np.cos(start) * e1 + np.sin(start) * e2, np.zeros(3), _quartic(rho, radius)))
        own = angle - turn
    if np.ptp(own) > STILL:
        out.append(RiderJoint("hinge", pivot, np.zeros(3), _quartic(rho, own)))
    return out


def _quartic(rho: Array, value: Array) -> Array:
    """The quartic of ρ nearest in value and slope, rising powers (5,)."""
    n = np.arange(5)
    rows = rho[:, None] ** n
    slopes = n * rho[:, None] ** np.maximum(n - 1, 0)
    both = np.concatenate([rows, slopes]), np.concatenate([value, CubicSpline(rho, value)(rho, 1)])
    return np.asarray(np.linalg.lstsq(*both, rcond=None)[0])


def _tie(
    ties: ET.Element, tendons: ET.Element | None, skeleton: Skeleton, r: Rider, bodies: list[ET.Element], dt: float
) -> None:
    """Constraints of a rider's joints."""
    c = r.carrier
    how = {"solref": numbers((2.0 * dt, 1.0)), "solimp": STIFF}
    if c.kind != RISE:
        for k, j in enumerate(r.joints):
            ET.SubElement(ties, "joint", how, joint1=f"{c.name}.{k}", joint2=c.driver, polycoef=numbers(j.powers))
        return
    if tendons is None:
        raise InputError(f"MJCF: the rider '{c.name}' needs tendons")
    up, axis = np.asarray(c.up), np.asarray(c.axis)
    centre = placement(skeleton, r.driver)[:3, 3]
    rope = ET.SubElement(tendons, "spatial", name=f"rise {c.name}", rgba="0 0 0 0")
    for end, (bone, place) in enumerate(((r.base, centre + ABOVE * up), (r.driver, ALONG * axis))):
        ET.SubElement(bodies[bone], "site", name=f"rise {c.name}.{end}", pos=numbers(place))
        ET.SubElement(rope, "site", site=f"rise {c.name}.{end}")
    rho = np.linspace(-1.0, 1.0, 201)
    length = np.sqrt(ABOVE**2 + ALONG**2 - 2.0 * ABOVE * ALONG * rho)
    at_zero = float(np.interp(r.rho(skeleton, skeleton.neutral_q()), rho, length))
    for k, j in enumerate(r.joints):
        value = np.polynomial.polynomial.polyval(rho, j.powers)
        powers = _quartic((length - at_zero)[::-1], value[::-1])
        own = ET.SubElement(tendons, "fixed", name=f"{c.name}.{k}")
        ET.SubElement(own, "joint", joint=f"{c.name}.{k}", coef="1")
        ET.SubElement(ties, "tendon", how, tendon1=f"{c.name}.{k}", tendon2=f"rise {c.name}", polycoef=numbers(powers))
