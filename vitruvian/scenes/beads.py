"""Beads that slide along a flower-shaped wire while the wire spins about the vertical (Lee 2008, figure 6.5, top).

Each bead hangs on the wire by a closed curve spline joint whose frames are tangent to it. The wire turns freely on its
post, so beads that fall inwards spin it up, and energy and the angular momentum about the axis stay; or a motor keeps
it at a steady rate, and then the motor's work is booked. With friction, what the wire takes is booked too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.mesh import capsule, join, lathe, moved, perimeter, resampled, tube
from vitruvian.skeleton import Inertia, Skeleton, SkeletonBuilder, joints
from vitruvian.spatial import transform
from vitruvian.spatial.curves import closed_spline, flower, frames_along
from vitruvian.systems import BonesSystem, Measure, steady_rate
from vitruvian.world import Camera, Mesh, Parameter, Recording, Report, Scene, Signal, World

CENTRE = 1.05  # height of the flower's middle [m]
RADIUS, PETALS, DEPTH = 0.5, 5, 0.42  # mean radius [m], number and relative depth of the petals
WIRE_MASS, WIRE_RADIUS = 1.5, 0.011  # [kg], [m]
BEAD_MASS, BEAD_RADIUS = 0.25, 0.055  # [kg], [m]
COLOURS = ((0.83, 0.25, 0.22), (0.95, 0.70, 0.20), (0.20, 0.52, 0.72), (0.35, 0.62, 0.36), (0.55, 0.36, 0.65))


def build_beads(beads: int = 3, *, friction: float = 0.0, gravity: float = 9.81, controls: int = 120) -> Skeleton:
    """The wire on its axle (bone `wire`) and its beads (`bead 1` …), whose coordinate is the way along the wire [m]."""
    points = resampled(flower(RADIUS, PETALS, DEPTH, 16 * controls), controls)
    curve = joints.CurveSpline(closed_spline(frames_along(points, _outward(points)), wire_length()))
    spread = WIRE_MASS * np.mean(points**2, axis=0)
    builder = SkeletonBuilder(gravity=(0.0, 0.0, -gravity))
    builder.add_bone(
        "wire",
        joint=joints.Revolute((0.0, 0.0, 1.0)),
        placement=transform(None, (0.0, 0.0, CENTRE)),
        inertia=Inertia(WIRE_MASS, matrix=np.diag([spread[2], spread[0] + spread[2], spread[0]])),
    )
    for k in range(beads):
        inertia = Inertia.sphere(BEAD_MASS, BEAD_RADIUS)
        builder.add_bone(f"bead {k + 1}", parent="wire", joint=curve, inertia=inertia, damping=friction)
    return builder.build()


def start_beads(skeleton: Skeleton, spin: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and velocities at the start: beads at rest, spread over the wire, which spins at `spin` [rad/s]."""
    q, v = np.zeros(skeleton.n_q), np.zeros(skeleton.n_v)
    beads = skeleton.n_q - 1
    # Just off the tops of petals, where they would balance.
    q[1:] = wire_length() * (np.arange(beads) / beads + 0.013)
    v[0] = spin
    return q, v


def wire_length() -> float:
    """Length of the wire [m]."""
    return perimeter(flower(RADIUS, PETALS, DEPTH, 4000))


def build(parameters: Mapping[str, Any]) -> World:
    skeleton = build_beads(
        parameters["beads"],
        friction=parameters["friction"],
        gravity=parameters["gravity"],
        controls=parameters["controls"],
    )
    q, v = start_beads(skeleton, parameters["spin"])
    driven = {"wire": steady_rate(0.0, parameters["spin"])} if parameters["motor"] else {}
    names = tuple(f"bead {k + 1}" for k in range(parameters["beads"]))
    simulation = BonesSystem(
        skeleton,
        q=q,
        v=v,
        driven=driven,
        meshes=_meshes(parameters["beads"]),
        measures=(
            Measure(Signal("way", "m", "way along the wire", names), lambda now: now.q[1:]),
            Measure(Signal("speed", "m/s", "speed along the wire", names), lambda now: now.v[1:]),
            Measure(Signal("spin", "rad/s", "spin of the wire"), lambda now: now.v[0]),
            Measure(Signal("angular momentum", "kg m²/s", "about the axis"), lambda now: now.angular_momentum()[2]),
        ),
        cameras=(
            Camera("front", (1.0, -3.8, 1.6), (0.0, 0.0, 0.88)),
            Camera("above", (1.6, -1.9, 2.7), (0.0, 0.0, 0.9)),
        ),
    )
    return World(simulation, frame_rate=60.0, substeps=parameters["substeps"])


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    signals = recording.signals
    balance, momentum = signals["balance"], signals["angular momentum"]
    # What a bead gains by falling from the highest to the lowest point of the wire, times the beads.
    fall = 2.0 * RADIUS * (1.0 + DEPTH)
    scale = parameters["beads"] * BEAD_MASS * parameters["gravity"] * fall
    drift = float(np.abs(balance - balance[0]).max() / scale)
    metrics = {
        "energy_drift": drift,
        "highest_bead_speed": float(np.abs(signals["speed"]).max()),
        "work_of_motor_and_friction_J": float(signals["work"][-1]),
        "distance_slid_m": float(np.abs(np.diff(signals["way"], axis=0)).sum()),
    }
    checks = {"energy within 0.1 %, work counted": drift < 1e-3, "beads move": metrics["distance_slid_m"] > 0.0}
    if parameters["motor"]:
        metrics["spin_error"] = float(np.abs(signals["spin"] - parameters["spin"]).max())
        checks["motor holds the rate"] = metrics["spin_error"] < 1e-9
    else:
        # Nothing acts about the vertical but the free axle, friction along the wire included.
        size = max(float(np.abs(momentum).max()), 1e-12)
        metrics["angular_momentum_drift"] = float(np.abs(momentum - momentum[0]).max() / size)
        checks["angular momentum about the axle stays"] = metrics["angular_momentum_drift"] < 1e-3
    return Report(checks, metrics)


def _outward(points: np.ndarray) -> np.ndarray:
    return np.cross((0.0, 1.0, 0.0), np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0))


def _meshes(beads: int) -> tuple[Mesh, ...]:
    wire = tube(resampled(flower(RADIUS, PETALS, DEPTH), 360), WIRE_RADIUS, closed=True, sides=14)
    lowest = -RADIUS * (1.0 + DEPTH * np.cos(PETALS * np.pi))
    stalk = capsule(np.array([0.0, 0.0, lowest]), np.array([0.0, 0.0, 0.14 - CENTRE]), 1.3 * WIRE_RADIUS)
    foot = lathe(np.array([[0.0, 0.0], [0.26, 0.0], [0.275, 0.012], [0.26, 0.03], [0.08, 0.06], [0.035, 0.11],
                           [0.03, 0.2], [0.024, 0.205], [0.0, 0.205]]))  # fmt: skip
    meshes = [
        Mesh("wire", "wire", *join(wire, stalk), layer="wire", colour=(0.62, 0.64, 0.68)),
        Mesh("foot", "", *foot, layer="stand", colour=(0.33, 0.25, 0.20)),
    ]
    for k in range(beads):
        bead = moved(_bead(), transform(np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]]), None))
        meshes.append(Mesh(f"bead {k + 1}", f"bead {k + 1}", *bead, layer="beads", colour=COLOURS[k % len(COLOURS)]))
    return tuple(meshes)


def _bead() -> tuple[np.ndarray, np.ndarray]:
    """A round bead with its hole along z, drawn closed: the wire fills the hole."""
    angle = np.linspace(-0.5 * np.pi + 0.35, 0.5 * np.pi - 0.35, 24)
    rim = np.column_stack([np.cos(angle), np.sin(angle)])
    lip = np.array([[0.24, 0.9]])
    profile = np.vstack([[[0.0, -0.86]], lip * (1, -1), rim, lip, [[0.0, 0.86]]])
    return lathe(BEAD_RADIUS * profile, sides=40)


scene = Scene(
    name="beads",
    summary="Beads slide along a flower-shaped wire that spins",
    answers="Lee 2008, figure 6.5 (top)",
    seconds=10.0,
    build=build,
    check=check,
    parameters={
        "beads": Parameter(3, "number of beads", low=1, high=12),
        "spin": Parameter(2.0, "rate at which the wire spins at the start", "rad/s", low=-20.0, high=20.0),
        "motor": Parameter(False, "whether a motor keeps that rate"),
        "friction": Parameter(0.0, "damping along the wire", "N s/m", low=0.0, high=10.0),
        "gravity": Parameter(9.81, "acceleration of free fall", "m/s²", low=0.0, high=100.0),
        "controls": Parameter(120, "control frames of the wire", low=40, high=2000),
        "substeps": Parameter(8, "steps per frame of 1/60 s", low=1, high=1000),
    },
    qualities={"draft": {"substeps": 8}, "standard": {"substeps": 16}, "fine": {"substeps": 32, "controls": 240}},
)
