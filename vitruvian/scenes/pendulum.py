"""A rod on a hinge: the simplest scene, and the one to copy for a new one.

The period of a compound pendulum released from rest at amplitude θ₀ is exact, T = 4 √(I / m g d) K(sin² θ₀/2), with I
the inertia about the hinge, d the distance of the centre of mass, K the complete elliptic integral of the first kind.
Without friction its energy stays; with it, energy and what friction took add up.

    vitruvian run pendulum --set amplitude=170
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import ellipk

from vitruvian.mesh import box, capsule, cylinder, join, moved, sphere
from vitruvian.skeleton import Inertia, Skeleton, SkeletonBuilder, joints
from vitruvian.spatial import rotation_about, transform
from vitruvian.systems import BonesSystem, Measure
from vitruvian.systems.colours import WIRE
from vitruvian.world import Camera, Mesh, Parameter, Recording, Report, Scene, Signal, World

BRASS = (0.80, 0.60, 0.25)
HEIGHT = 1.5  # of the hinge [m]
BALL = 0.09  # radius [m]


def build_pendulum(length: float, gravity: float, friction: float = 0.0) -> Skeleton:
    """A light rod with a heavy ball at its end, on a hinge about y; it hangs straight down at q = 0."""
    builder = SkeletonBuilder(gravity=(0.0, 0.0, -gravity))
    builder.add_bone(
        "pendulum",
        joint=joints.Revolute((0.0, 1.0, 0.0)),
        placement=transform(None, (0.0, 0.0, HEIGHT)),
        inertia=Inertia.sphere(2.0, BALL, com=(0.0, 0.0, -length)),
        damping=friction,
    )
    return builder.build()


def exact_period(length: float, gravity: float, amplitude: float) -> float:
    """Period [s] of the frictionless pendulum at an amplitude [rad]; the mass drops out."""
    inertia = length**2 + 0.4 * BALL**2
    return float(4.0 * np.sqrt(inertia / (gravity * length)) * ellipk(np.sin(0.5 * amplitude) ** 2))


def build(parameters: Mapping[str, Any]) -> World:
    skeleton = build_pendulum(parameters["length"], parameters["gravity"], parameters["friction"])
    simulation = BonesSystem(
        skeleton,
        q=np.array([np.deg2rad(parameters["amplitude"])]),
        meshes=_meshes(parameters["length"]),
        measures=(Measure(Signal("angle", "rad", "angle from hanging"), lambda now: now.q[0]),),
        cameras=(
            Camera("front", (1.3, -3.9, 1.6), (0.0, 0.15, 0.82)),
            Camera("side", (4.0, -1.5, 1.6), (0.0, 0.0, 1.25)),
        ),
    )
    return World(simulation, frame_rate=60.0, substeps=parameters["substeps"])


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    time, angle = recording.time, recording.signals["angle"]
    balance = recording.signals["balance"]
    scale = 2.0 * parameters["gravity"] * parameters["length"] * 2.0  # from hanging to standing on its head [J]
    drift = float(np.abs(balance - balance[0]).max() / scale)
    report = Report(metrics={"energy_drift": drift})
    report.checks["energy stays, friction counted"] = drift < 1e-6
    if parameters["friction"] == 0.0:
        expected = exact_period(parameters["length"], parameters["gravity"], np.deg2rad(parameters["amplitude"]))
        report.metrics["exact_period_s"] = expected
        measured = _period(time, angle)
        if measured is not None:
            report.metrics["period_s"] = measured
            report.metrics["period_error"] = abs(measured / expected - 1.0)
            report.checks["period equals the elliptic integral"] = report.metrics["period_error"] < 1e-4
    return report


def _period(time: np.ndarray, angle: np.ndarray) -> float | None:
    """Mean period [s] from the upward zero crossings (each found by a cubic through four samples), if there are two."""
    crossings = []
    for k in np.flatnonzero((angle[:-1] < 0.0) & (angle[1:] >= 0.0)):
        if 1 <= k < len(angle) - 2:
            cubic = np.polynomial.Polynomial.fit(time[k - 1 : k + 3], angle[k - 1 : k + 3], 3)
            roots = cubic.roots()
            real = roots[np.abs(roots.imag) < 1e-9].real
            crossings.append(float(real[np.argmin(np.abs(real - 0.5 * (time[k] + time[k + 1])))]))
    return (crossings[-1] - crossings[0]) / (len(crossings) - 1) if len(crossings) > 1 else None


def _meshes(length: float) -> tuple[Mesh, ...]:
    lying = transform(rotation_about((1.0, 0.0, 0.0), 0.5 * np.pi), None)
    rod = capsule(np.zeros(3), np.array([0.0, 0.0, -length]), 0.012)
    hub = moved(cylinder(0.04, 0.1, edge=0.01), lying)
    axle = moved(moved(cylinder(0.018, 0.5, edge=0.004), lying), transform(None, (0.0, 0.15, HEIGHT)))
    post = box((0.07, 0.07, HEIGHT + 0.06), (0.0, 0.36, 0.5 * HEIGHT + 0.03))
    foot = moved(cylinder(0.28, 0.05, edge=0.015), transform(None, (0.0, 0.36, 0.025)))
    return (
        Mesh("rod", "pendulum", *join(rod, hub), layer="bodies", colour=WIRE),
        Mesh("ball", "pendulum", *sphere(BALL, (0.0, 0.0, -length)), layer="bodies", colour=BRASS),
        Mesh("stand", "", *join(axle, post, foot), layer="stand", colour=(0.45, 0.33, 0.24)),
    )


scene = Scene(
    name="pendulum",
    summary="A rod on a hinge swings with the exact period at any amplitude",
    answers="",
    seconds=10.0,
    build=build,
    check=check,
    parameters={
        "length": Parameter(1.0, "length from the hinge to the middle of the ball", "m", low=0.2, high=1.3),
        "amplitude": Parameter(60.0, "angle at which it is released", "°", low=0.1, high=179.0),
        "gravity": Parameter(9.81, "acceleration of free fall", "m/s²", low=0.1, high=100.0),
        "friction": Parameter(0.0, "damping of the hinge", "N m s", low=0.0, high=10.0),
        "substeps": Parameter(8, "steps per frame of 1/60 s", low=1, high=1000),
    },
    qualities={"draft": {"substeps": 8}, "standard": {"substeps": 16}, "fine": {"substeps": 64}},
)
