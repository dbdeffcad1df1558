"""Toy aeroplanes that slide along the coasts of a spinning globe (Lee 2008, figure 6.5, middle).

Each coast is a closed curve on the sphere, drawn by a seeded recipe; the control frames of the spline joint have one
axis along the coast and one along the sphere's normal. The globe turns freely about its tilted axis, aeroplanes fall
along their coasts under gravity and drag it to and fro. Lee reports stable steps of 20 ms with forward Euler for this
mechanism.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.mesh import cylinder, ellipsoid, grid_faces, join, lathe, moved, perimeter, resampled, sphere, tube
from vitruvian.skeleton import Inertia, Skeleton, SkeletonBuilder, joints
from vitruvian.spatial import rotation_about, transform
from vitruvian.spatial.curves import closed_spline, coastline, frames_along
from vitruvian.systems import BonesSystem, Measure
from vitruvian.systems.bones import INTEGRATORS
from vitruvian.world import Camera, Mesh, Parameter, Recording, Report, Scene, Signal, World

CENTRE, RADIUS = 0.95, 0.5  # height of the middle [m], radius [m]
FLIGHT = 1.03  # aeroplanes run this much outside the globe's surface
TILT = np.deg2rad(23.4)  # of the axis
GLOBE_MASS, PLANE_MASS = 6.0, 0.15  # [kg]; the globe is a hollow shell
# Directions of the continents' middles (longitude, latitude) [°] and their sizes [rad].
CONTINENTS = ((-60, 30, 0.50), (25, -5, 0.52), (95, 38, 0.55), (150, -30, 0.36), (-95, -38, 0.42), (-150, 45, 0.34))
COLOURS = (
    (0.86, 0.26, 0.22),
    (0.96, 0.76, 0.22),
    (0.94, 0.94, 0.95),
    (0.30, 0.33, 0.75),
    (0.93, 0.50, 0.15),
    (0.6, 0.3, 0.6),
)


def build_globe(
    planes: int = 5, *, friction: float = 0.0, gravity: float = 9.81, controls: int = 100, recipe: int = 7
) -> Skeleton:
    """The globe (bone `globe`) and its aeroplanes (`plane 1` …), whose coordinate is the way along their coast [m]."""
    builder = SkeletonBuilder(gravity=(0.0, 0.0, -gravity))
    builder.add_bone(
        "globe",
        joint=joints.Revolute((0.0, 0.0, 1.0)),
        placement=transform(rotation_about((0.0, 1.0, 0.0), TILT), (0.0, 0.0, CENTRE)),
        inertia=Inertia(GLOBE_MASS, matrix=np.eye(3) * (2.0 / 3.0) * GLOBE_MASS * RADIUS**2),
    )
    for k, (_, coast) in enumerate(coasts(recipe)[:planes]):
        points = resampled(FLIGHT * RADIUS * coast, controls)
        curve = closed_spline(frames_along(points, points), perimeter(FLIGHT * RADIUS * coast))
        builder.add_bone(
            f"plane {k + 1}",
            parent="globe",
            joint=joints.CurveSpline(curve),
            inertia=Inertia.ellipsoid(PLANE_MASS, (0.07, 0.06, 0.02)),
            damping=friction,
        )
    return builder.build()


def coasts(recipe: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Middle (3,) and coastline (n, 3) of every continent, on the unit sphere."""
    rng = np.random.default_rng(recipe)
    out = []
    for longitude, latitude, size in CONTINENTS:
        a, b = np.deg2rad((longitude, latitude))
        middle = np.array([np.cos(a) * np.cos(b), np.sin(a) * np.cos(b), np.sin(b)])
        out.append((middle, coastline(rng, middle, size, roughness=0.22)))
    return out


def build(parameters: Mapping[str, Any]) -> World:
    skeleton = build_globe(
        parameters["planes"],
        friction=parameters["friction"],
        gravity=parameters["gravity"],
        controls=parameters["controls"],
        recipe=parameters["recipe"],
    )
    v = np.zeros(skeleton.n_v)
    v[0], v[1:] = parameters["spin"], parameters["speed"]
    names = tuple(f"plane {k + 1}" for k in range(parameters["planes"]))
    simulation = BonesSystem(
        skeleton,
        v=v,
        integrator=parameters["integrator"],
        meshes=_meshes(parameters),
        measures=(
            Measure(Signal("way", "m", "way along the coast", names), lambda now: now.q[1:]),
            Measure(Signal("speed", "m/s", "speed along the coast", names), lambda now: now.v[1:]),
            Measure(Signal("spin", "rad/s", "spin of the globe"), lambda now: now.v[0]),
            Measure(
                Signal("height above surface", "m", "distance of the planes from the globe", names),
                lambda now: np.linalg.norm(now.poses[1:, :3, 3] - (0.0, 0.0, CENTRE), axis=1) - RADIUS,
            ),
        ),
        cameras=(
            Camera("front", (0.75, -3.62, 1.68), (0.0, 0.0, 0.80)),
            Camera("above", (1.2, -1.3, 2.4), (0.0, 0.0, 0.9)),
        ),
    )
    return World(simulation, frame_rate=50.0, substeps=parameters["substeps"])


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    signals = recording.signals
    height = signals["height above surface"]
    off = float(np.abs(height - (FLIGHT - 1.0) * RADIUS).max())
    balance = signals["balance"]
    scale = parameters["planes"] * PLANE_MASS * (parameters["gravity"] * RADIUS + parameters["speed"] ** 2)
    drift = float(np.abs(balance - balance[0]).max() / scale)
    metrics = {
        "farthest_from_coast_m": off,
        "energy_drift": drift,
        "highest_speed": float(np.abs(signals["speed"]).max()),
        "distance_slid_m": float(np.abs(np.diff(signals["way"], axis=0)).sum()),
    }
    checks = {
        "planes stay on the sphere of their coasts": off < 2e-3,
        "planes move": metrics["distance_slid_m"] > 0.1,
        "nothing blows up": metrics["highest_speed"] < 30.0,
    }
    if parameters["integrator"] == "rk4":
        checks["energy within 0.1 %, friction counted"] = drift < 1e-3
    return Report(checks, metrics)


def _meshes(parameters: Mapping[str, Any]) -> tuple[Mesh, ...]:
    meshes = [Mesh("sea", "globe", *sphere(RADIUS, subdivisions=5), layer="globe", colour=(0.20, 0.42, 0.62))]
    for k, (middle, coast) in enumerate(coasts(parameters["recipe"])):
        land = (0.46, 0.60, 0.34) if k % 2 else (0.72, 0.66, 0.42)
        meshes.append(Mesh(f"continent {k + 1}", "globe", *_continent(middle, coast), layer="globe", colour=land))
        wire = tube(FLIGHT * RADIUS * resampled(coast, 300), 0.004, closed=True, sides=8)
        if k < parameters["planes"]:
            meshes.append(Mesh(f"coast {k + 1}", "globe", *wire, layer="coasts", colour=(0.88, 0.86, 0.80)))
    for k in range(parameters["planes"]):
        meshes.append(Mesh(f"plane {k + 1}", f"plane {k + 1}", *_aeroplane(), layer="planes", colour=COLOURS[k]))
    return (*meshes, *_stand())


def _continent(middle: np.ndarray, coast: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A raised patch of the sphere within a coast that is seen whole from its middle, with a slope down to the sea."""
    edge = resampled(coast, 300)
    angle = np.arccos(edge @ middle)
    share = np.concatenate([np.linspace(0.0, 0.93, 12), [0.97, 1.0, 1.01]])
    lift = np.concatenate([np.full(12, 0.016), [0.014, 0.008, -0.01]])
    across = (edge - np.cos(angle)[:, None] * middle) / np.sin(angle)[:, None]
    turn = share[:, None] * angle
    points = np.cos(turn)[..., None] * middle + np.sin(turn)[..., None] * across
    points *= RADIUS * (1.0 + lift)[:, None, None]
    points = np.concatenate([points, points[:, :1]], axis=1)  # closed with a seam; the viewer welds it
    return points.reshape(-1, 3), grid_faces(len(share), 301)


def _aeroplane() -> tuple[np.ndarray, np.ndarray]:
    """A toy aeroplane that flies along x with z up, 14 cm long."""
    parts = [
        ellipsoid((0.07, 0.013, 0.014)),
        ellipsoid((0.016, 0.07, 0.004), (0.008, 0.0, 0.0)),
        ellipsoid((0.010, 0.027, 0.003), (-0.058, 0.0, 0.004)),
        ellipsoid((0.012, 0.003, 0.022), (-0.058, 0.0, 0.018)),
        ellipsoid((0.02, 0.008, 0.009), (0.022, 0.0, 0.011)),
        ellipsoid((0.016, 0.006, 0.006), (0.012, 0.036, -0.007)),
        ellipsoid((0.016, 0.006, 0.006), (0.012, -0.036, -0.007)),
    ]
    return join(*parts)


def _stand() -> tuple[Mesh, ...]:
    wood = (0.36, 0.24, 0.16)
    angle = np.linspace(0.0, np.pi, 60)
    bow = 1.16 * RADIUS * np.column_stack([np.sin(angle), 0.0 * angle, np.cos(angle)])
    tilt = transform(rotation_about((0.0, 1.0, 0.0), TILT), (0.0, 0.0, CENTRE))
    pins = [
        moved(cylinder(0.012, 0.2 * RADIUS, edge=0.003), transform(None, (0.0, 0.0, s * 1.08 * RADIUS)))
        for s in (1, -1)
    ]
    foot = lathe(np.array([[0.0, 0.0], [0.27, 0.0], [0.285, 0.012], [0.27, 0.03], [0.09, 0.06], [0.04, 0.12],
                           [0.032, 0.34], [0.02, 0.375], [0.0, 0.375]]))  # fmt: skip
    brass = (0.76, 0.60, 0.30)
    return (
        Mesh("bow", "", *moved(join(tube(bow, 0.015), *pins), tilt), layer="stand", colour=brass),
        Mesh("foot", "", *foot, layer="stand", colour=wood),
    )


scene = Scene(
    name="globe",
    summary="Toy aeroplanes slide along the coasts of a spinning globe",
    answers="Lee 2008, figure 6.5 (middle)",
    seconds=8.0,
    build=build,
    check=check,
    parameters={
        "planes": Parameter(5, "number of aeroplanes, one per coast", low=1, high=len(CONTINENTS)),
        "spin": Parameter(0.6, "rate at which the globe spins at the start", "rad/s", low=-10.0, high=10.0),
        "speed": Parameter(0.6, "speed of the planes along their coasts at the start", "m/s", low=-5.0, high=5.0),
        "friction": Parameter(0.0, "damping along the coast", "N s/m", low=0.0, high=10.0),
        "gravity": Parameter(9.81, "acceleration of free fall", "m/s²", low=0.0, high=100.0),
        "recipe": Parameter(7, "seed of the coastlines", low=0, high=2**31 - 1),
        "controls": Parameter(100, "control frames of each coast", low=60, high=2000),
        "integrator": Parameter("rk4", "time stepping", choices=INTEGRATORS),
        "substeps": Parameter(10, "steps per frame of 1/50 s; 1 gives Lee's 20 ms", low=1, high=1000),
    },
    qualities={"draft": {"substeps": 10}, "standard": {"substeps": 20}, "fine": {"substeps": 1, "integrator": "euler"}},
)
