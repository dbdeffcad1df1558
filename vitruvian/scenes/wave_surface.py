"""A ball on a surface that moves: a 2-DOF spline joint that deforms in time (Lee 2008, figure 6.5, bottom).

The surface z = h(x, y, t) is a bowl with two crossing waves. Its joint has coordinates (x, y); height and tilt of the
frame are tensor-product splines interpolated through h and its normal at every instant, with their first and second
time derivatives, so the ball feels the moving surface without any contact or penalty.

A moving constraint does work: with F the wrench of the surface on the ball and s_t the twist that the ball would have
if its coordinates stood still, dE/dt = F · s_t − friction. The scene integrates that power and compares it with the
energy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from vitruvian.mesh import capsule, grid_faces, sphere
from vitruvian.skeleton import Inertia, Skeleton, SkeletonBuilder, joints
from vitruvian.spatial import basis, transform_from_pose, uniform_knots
from vitruvian.systems import BonesSystem, Measure, SurfaceLayer
from vitruvian.world import Camera, Mesh, Parameter, Recording, Report, Scene, Signal, Surface, SurfaceFrame, World

Array = np.ndarray

HALF = 1.0  # half the width of the surface [m]
RAISE = 0.55  # height of the bowl's bottom above the ground [m]
BOWL = 0.30  # curvature of the bowl: h = BOWL r² [1/m]
WAVES = ((5.2, 1.1, 2.3, 0.0), (-2.1, 4.6, 1.7, 1.3))  # wave numbers along x and y [1/m], rate [rad/s], phase [rad]
BALL_RADIUS, BALL_MASS = 0.09, 0.5  # [m], [kg]
SHOWN = 65  # vertices along each side of the drawn surface
_SURFACE = Surface(
    "surface",
    grid_faces(SHOWN, SHOWN),
    layer="surface",
    colour=(0.30, 0.58, 0.66),
    value="height above the mean",
    unit="m",
    value_range=(-0.25, 0.45),
)


@dataclass(frozen=True)
class Wave:
    """The surface h(x, y, t) [m] along which the ball's centre moves; `amplitude` [m] of both waves."""

    amplitude: float
    rate: float = 1.0  # how fast time runs for the waves

    def height(self, x: Array, y: Array, time: float) -> Array:
        """h [m]."""
        h = RAISE + BOWL * (x**2 + y**2)
        for a, b, w, phase in WAVES:
            h = h + self.amplitude * np.sin(a * x + b * y - w * self.rate * time + phase)
        return h

    def jet(self, x: Array, y: Array, time: float) -> Array:
        """h, ∂h/∂x, ∂h/∂y and their first and second time derivatives: shape (3 derivatives, 3 quantities, ...)."""
        out = np.zeros((3, 3, *np.shape(x)))
        out[0] = np.array([RAISE + BOWL * (x**2 + y**2), 2.0 * BOWL * x, 2.0 * BOWL * y])
        for a, b, w, phase in WAVES:
            w = w * self.rate
            angle = a * x + b * y - w * time + phase
            sine, cosine = self.amplitude * np.sin(angle), self.amplitude * np.cos(angle)
            out[0] += np.array([sine, a * cosine, b * cosine])
            out[1] += np.array([-w * cosine, a * w * sine, b * w * sine])
            out[2] += np.array([-(w**2) * sine, -a * w**2 * cosine, -b * w**2 * cosine])
        return out

    def normal(self, x: float, y: float, time: float) -> Array:
        """Unit normal, shape (3,)."""
        _, hx, hy = self.jet(np.array(x), np.array(y), time)[0]
        n = np.array([-hx, -hy, 1.0])
        return n / np.linalg.norm(n)


def build_wave(friction: float = 0.0, gravity: float = 9.81, controls: int = 22) -> Skeleton:
    """A ball (bone `ball`) on a moving spline surface with coordinates x, y [m]."""
    builder = SkeletonBuilder(gravity=(0.0, 0.0, -gravity))
    values, _, _ = wave_controls(Wave(0.0), 0.0, controls)
    builder.add_bone(
        "ball",
        joint=joints.SurfaceSpline(values, [(-HALF, HALF)] * 2, moving=True),
        inertia=Inertia.sphere(BALL_MASS, BALL_RADIUS),
        damping=friction,
        limit_stiffness=400.0,
        limits=((-0.9 * HALF,) * 2, (0.9 * HALF,) * 2),
    )
    return builder.build()


def wave_controls(wave: Wave, time: float, controls: int) -> tuple[Array, Array, Array]:
    """Controls of the joint's six channels and their first and second time derivatives, each (6, controls, controls).

    Channels: x, y, z, then turns about z (none), y and x: tan β = −h_x, tan α = h_y / √(1 + h_x²).
    """
    across, points, inverse = _grid(controls)
    x, y = np.meshgrid(points, points, indexing="ij")
    (h, p, q), (h1, p1, q1), (h2, p2, q2) = wave.jet(x, y, time)
    s = np.sqrt(1.0 + p**2)
    s1 = p * p1 / s
    s2 = (p1**2 + p * p2 - s1**2) / s
    r = q / s
    r1 = (q1 - r * s1) / s
    r2 = (q2 - 2.0 * r1 * s1 - r * s2) / s
    values = np.zeros((3, 6, controls, controls))
    values[0, 2], values[1, 2], values[2, 2] = h, h1, h2
    for channel, sign, (a, a1, a2) in ((4, -1.0, (p, p1, p2)), (5, 1.0, (r, r1, r2))):
        d = 1.0 + a**2
        values[0, channel] = sign * np.arctan(a)
        values[1, channel] = sign * a1 / d
        values[2, channel] = sign * (a2 / d - 2.0 * a * (a1 / d) ** 2)
    values = inverse @ values @ inverse.T  # interpolate along both coordinates
    values[0, 0], values[0, 1] = across[:, None], across[None, :]
    return values[0], values[1], values[2]


def build(parameters: Mapping[str, Any]) -> World:
    wave = Wave(parameters["amplitude"], parameters["rate"])
    controls = parameters["controls"]
    skeleton = build_wave(parameters["friction"], parameters["gravity"], controls)
    axis = np.linspace(-HALF, HALF, SHOWN)
    x, y = np.meshgrid(axis, axis, indexing="ij")

    def shown(time: float) -> SurfaceFrame:
        # The skin lies one ball radius under the path of the centre, along the normal.
        h, hx, hy = wave.jet(x, y, time)[0]
        normal = np.stack([-hx, -hy, np.ones_like(h)], axis=-1)
        normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
        vertices = np.stack([x, y, h], axis=-1) - BALL_RADIUS * normal
        return SurfaceFrame(vertices.reshape(-1, 3), values=(h - h.mean()).ravel())

    simulation = BonesSystem(
        skeleton,
        q=np.array([parameters["x"], parameters["y"]]),
        moving=lambda time: {"ball": wave_controls(wave, time, controls)},
        meshes=(
            Mesh("ball", "ball", *sphere(BALL_RADIUS, subdivisions=4), layer="ball", colour=(0.90, 0.36, 0.20)),
            Mesh(
                "normal",
                "ball",
                *capsule(np.array([0.0, 0.0, 0.8 * BALL_RADIUS]), np.array([0.0, 0.0, 0.24]), 0.009),
                layer="ball",
                colour=(0.95, 0.93, 0.88),
            ),
        ),
        layers=(SurfaceLayer(_SURFACE, lambda now: shown(now.time)),),
        measures=(
            Measure(Signal("place", "m", "coordinates of the ball", ("x", "y")), lambda now: now.q),
            Measure(Signal("height", "m", "height of the ball"), lambda now: now.poses[0, 2, 3]),
        ),
        cameras=(
            Camera("front", (1.92, -3.6, 2.42), (0.0, 0.0, 0.5)),
            Camera("above", (0.4, -1.2, 3.6), (0.0, 0.0, 0.5)),
        ),
    )
    return World(simulation, frame_rate=60.0, substeps=parameters["substeps"])


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    wave = Wave(parameters["amplitude"], parameters["rate"])
    distance, tilt = [], []
    for time, (pose,) in zip(recording.time, recording.poses):
        T = transform_from_pose(pose)
        x, y, z = T[:3, 3]
        normal = wave.normal(x, y, time)
        distance.append(abs(z - float(wave.height(x, y, time))) * normal[2])
        tilt.append(np.arccos(np.clip(T[:3, 2] @ normal, -1.0, 1.0)))
    balance = recording.signals["balance"]
    energy = recording.signals["energy"][:, 3]
    scale = float(np.ptp(energy)) or 1.0
    drift = float(np.abs(balance - balance[0]).max() / scale)
    metrics = {
        "farthest_from_surface_m": float(np.max(distance)),
        "largest_tilt_from_normal_deg": float(np.rad2deg(np.max(tilt))),
        "energy_drift": drift,
        "work_of_surface_and_friction_J": float(recording.signals["work"][-1]),
        "energy_range_J": float(np.ptp(energy)),
    }
    checks = {
        "ball stays on the surface": metrics["farthest_from_surface_m"] < 1e-3,
        "ball keeps to the normal": metrics["largest_tilt_from_normal_deg"] < 0.5,
        "energy equals the surface's work within 0.1 %": drift < 1e-3,
    }
    return Report(checks, metrics)


@lru_cache(maxsize=8)
def _grid(controls: int) -> tuple[Array, Array, Array]:
    """Controls that make the spline the identity, points to interpolate at, inverse of the collocation matrix."""
    knots = uniform_knots(controls, 4, -HALF, HALF)
    across = np.array([knots[k + 1 : k + 4].mean() for k in range(controls)])
    points = np.linspace(-HALF, HALF, controls)
    collocation = np.zeros((controls, controls))
    for row, x in zip(collocation, points):
        first, weights = basis(knots, 4, x)
        row[first : first + 4] = weights[0]
    return across, points, np.linalg.inv(collocation)


scene = Scene(
    name="wave-surface",
    summary="A ball slides on a spline surface that heaves under it",
    answers="Lee 2008, figure 6.5 (bottom)",
    seconds=8.0,
    build=build,
    check=check,
    parameters={
        "amplitude": Parameter(0.055, "amplitude of each of the two waves", "m", low=0.0, high=0.2),
        "rate": Parameter(1.0, "how fast the waves run, as a factor; 0 stops them", low=0.0, high=5.0),
        "x": Parameter(0.55, "where the ball starts", "m", low=-0.8, high=0.8),
        "y": Parameter(0.25, "where the ball starts", "m", low=-0.8, high=0.8),
        "friction": Parameter(0.0, "damping along the surface", "N s/m", low=0.0, high=10.0),
        "gravity": Parameter(9.81, "acceleration of free fall", "m/s²", low=0.0, high=100.0),
        "controls": Parameter(22, "controls of the surface along each side", low=8, high=100),
        "substeps": Parameter(4, "steps per frame of 1/60 s", low=1, high=1000),
    },
    qualities={"draft": {"substeps": 4}, "standard": {"substeps": 8}, "fine": {"substeps": 16, "controls": 32}},
)
