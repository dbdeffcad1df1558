"""A body is towed along the surface at one speed after the other, in a window that travels with it: drag curve.

For each speed the body is sped up evenly and then held at it over `distance`; its drag is the towing force averaged
over the second half of that way. The curve is fitted by C v^2 and by C v^p; drag area C A = F / (rho v^2 / 2). People
pulled through water at rest (passive drag) need about 23.5 v^2 N; the grid's body is a smooth mannequin, its boundary
layer is not resolved. `shape=swimmer` is the swimmer's own skin in a pose, or in the first pose of a stroke.

    vitruvian run tow --set speeds=0.8,1.2,1.6
    vitruvian run tow --set shape=swimmer --set height=-0.35 --set breadth=2 --set depth=1.2      a streamlined glide
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vitruvian.control.rhythm import StrokeMotion, load_stroke
from vitruvian.errors import InputError
from vitruvian.mesh import sphere
from vitruvian.mesh.mannequin import mannequin
from vitruvian.scenes._swim import swimmer
from vitruvian.skeleton import bone_poses
from vitruvian.systems import Measure, Now, TankState, TankSystem
from vitruvian.water import RigidBody, Tank, follow
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, Signal, World

Array = np.ndarray
PASSIVE_DRAG = 23.5  # [N s^2/m^2], people towed prone
STREAMLINED, GLIDE = 30.0, -0.3  # [N s^2/m^2] that a swimmer in his streamline has at most, so deep [m] or deeper
SLOWEST, FASTEST = 0.1, 4.0  # [m/s]
COURANT = 0.5  # sub-steps twice as long add 6 v^2 N to the drag, more than a finer grid takes off
AIR = 0.3  # height of the window above the calm surface [m]
ALONG = {"person": 3.0, "swimmer": 3.6, "ball": 1.8}  # length of the window [m]
PIXEL = 0.004  # [m] of the outline seen from ahead


@dataclass(frozen=True)
class TowingSpeeds:
    """Speeds one after the other: `ramp` [s] of even change, then `distance` [m] at each."""

    speeds: tuple[float, ...]  # [m/s]
    ramp: float
    distance: float

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> TowingSpeeds:
        try:
            speeds = tuple(float(word) for word in str(parameters["speeds"]).split(","))
        except ValueError:
            raise InputError(f"tow: speeds are numbers with commas between, not '{parameters['speeds']}'") from None
        if not all(SLOWEST <= v <= FASTEST for v in speeds):
            raise InputError(f"tow: speeds lie between {SLOWEST:g} and {FASTEST:g} m/s, not {parameters['speeds']}")
        return cls(speeds, parameters["ramp"], parameters["distance"])

    @property
    def holds(self) -> list[tuple[float, float]]:
        """From when to when each speed is held [s]."""
        out, time = [], 0.0
        for v in self.speeds:
            out.append((time + self.ramp, time + self.ramp + self.distance / v))
            time = out[-1][1]
        return out

    def at(self, time: float) -> tuple[float, float]:
        """Way [m] and speed [m/s]; the last speed goes on."""
        way = before = start = 0.0
        for n, (v, (held, end)) in enumerate(zip(self.speeds, self.holds)):
            t = min(time - start, self.ramp)
            way += before * t + 0.5 * (v - before) * t * t / self.ramp
            if time < held:
                return way, before + (v - before) * t / self.ramp
            if time < end or n == len(self.speeds) - 1:
                break
            way += v * (end - held)
            before, start = v, end
        return way + v * (time - held), v


class TowSystem(TankSystem):
    """A tank whose window follows its first body."""

    def step(self, state: TankState, controls: Any, time: float, dt: float) -> None:
        super().step(state, controls, time, dt)
        follow(self.tank, state.water, state.bodies.position[0], axes=(0,))


def build(parameters: Mapping[str, Any]) -> World:
    plan = TowingSpeeds.of(parameters)
    vertices, faces = shape(parameters)
    length, breadth, depth = ALONG[parameters["shape"]], parameters["breadth"], parameters["depth"]
    size = (length, breadth, depth + AIR)
    h = min(length, ALONG["person"]) / int(parameters["cells"])  # a swimmer has a longer window of the same cells
    tank = Tank.of_size(
        size, h, origin=(-0.5 * length, -0.5 * breadth, -depth), rest_level=0.0,
        boundaries={"x-": "open", "x+": "open"}, sponge=0.12 * length, courant=COURANT,
    )  # fmt: skip

    def course(time: float) -> tuple[np.ndarray, np.ndarray]:
        way, speed = plan.at(time)
        return np.array([-way, 0.0, parameters["height"]]), np.array([-speed, 0.0, 0.0])  # head first

    body = RigidBody.solid(parameters["shape"], vertices, faces, 1000.0, course=course)
    area = frontal_area(vertices, faces)
    simulation = TowSystem(
        tank, bodies=(body,),
        measures=(
            Measure(
                Signal("drag", "N", "towing force, and people's passive drag", components=("towed", "people")), _drags
            ),
            Measure(Signal("lift", "N", "vertical force"), lambda now: now.state.force[0, 5]),
            Measure(Signal("frontal_area", "m^2", "area of the outline seen from ahead"), lambda now: area),
            Measure(Signal("tow_speed", "m/s", "towing speed"), lambda now: -now.state.bodies.velocity[0, 0]),
        ),
        cameras=(
            Camera("side", (0.5, -3.4, 1.3), (0.0, 0.0, -0.1), follow=parameters["shape"]),
            Camera("above", (0.4, -1.6, 3.2), (0.0, 0.0, 0.0), follow=parameters["shape"]),
        ),
    )  # fmt: skip
    return World(simulation, frame_rate=30.0)


def shape(parameters: Mapping[str, Any]) -> tuple[Array, Array]:
    """Vertices [m] and faces of what is towed, head towards -x."""
    if parameters["shape"] == "ball":
        return sphere(0.15, subdivisions=4)
    if parameters["shape"] == "person":
        return mannequin()
    stroke = load_stroke(parameters["pose"])
    body, skin = swimmer({"triangles": 8000, "lungs": "full"})
    q = StrokeMotion(body, stroke, 0.0).at(0.0)[0]
    x, y, z = np.asarray(skin.place(bone_poses(body.skeleton, q)).vertices).T  # head towards -y
    turned = np.column_stack([y, -x, z])
    return turned - 0.5 * (turned.min(axis=0) + turned.max(axis=0)), skin.faces


def frontal_area(vertices: Array, faces: Array) -> float:
    """Area [m²] of the outline seen along x: pixels that any triangle covers."""
    lower = vertices[:, 1:].min(axis=0)
    corners = (vertices[faces][:, :, 1:] - lower) / PIXEL
    wide, high = np.ceil(corners.reshape(-1, 2).max(axis=0)).astype(int)
    y, z = np.arange(wide) + 0.5, np.arange(high) + 0.5
    seen = np.zeros((wide, high), dtype=bool)
    for corner in corners:
        (i, k), (j, l) = np.floor(corner.min(axis=0)).astype(int), np.ceil(corner.max(axis=0)).astype(int)
        at = np.stack(np.meshgrid(y[i:j], z[k:l], indexing="ij"), axis=-1)
        sides = [_cross(corner[(n + 1) % 3] - corner[n], at - corner[n]) for n in range(3)]
        seen[i:j, k:l] |= (np.min(sides, axis=0) >= 0.0) | (np.max(sides, axis=0) <= 0.0)
    return float(seen.sum() * PIXEL**2)


def _cross(edge: Array, to: Array) -> Array:
    return np.asarray(edge[0] * to[..., 1] - edge[1] * to[..., 0])


def drag_curve(time: np.ndarray, drag: np.ndarray, plan: TowingSpeeds) -> tuple[np.ndarray, np.ndarray]:
    """Speeds [m/s] that were held to the end and the mean drag [N] over the second half of each, shape (n,)."""
    speeds, means = [], []
    for v, (start, end) in zip(plan.speeds, plan.holds):
        late = (time > 0.5 * (start + end)) & (time <= end)
        if late.any() and time[-1] > end - 1.5 / 30.0:
            speeds.append(v)
            means.append(float(drag[late].mean()))
    return np.array(speeds), np.array(means)


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    plan = TowingSpeeds.of(parameters)
    speeds, means = drag_curve(recording.time, recording.signals["drag"][:, 0], plan)
    report = Report()
    if not len(speeds):
        report.checks[f"long enough: the first speed is held until {plan.holds[0][1]:.2f} s"] = False
        return report
    for v, mean in zip(speeds, means):
        report.metrics[f"drag_at_{v:g}_n"] = mean
    coefficient = float((means * speeds**2).sum() / (speeds**4).sum())
    report.metrics["drag_over_speed_squared"] = coefficient
    report.metrics["people_drag_over_speed_squared"] = PASSIVE_DRAG
    report.metrics["drag_area_m2"] = coefficient / 500.0
    report.checks["water holds the body back at every speed"] = bool((means > 0.0).all())
    if parameters["shape"] == "swimmer" and parameters["pose"] == "streamline" and parameters["height"] <= GLIDE:
        report.checks["a streamline that glides under the surface: at most 30 v^2 N"] = coefficient <= STREAMLINED
    if len(np.unique(speeds)) > 1 and (means > 0.0).all():
        report.metrics["exponent"] = float(np.polyfit(np.log(speeds), np.log(means), 1)[0])
        report.checks["drag grows about as the square of speed (exponent 1.6 to 2.6)"] = (
            1.6 < report.metrics["exponent"] < 2.6
        )
    if parameters["shape"] != "ball":
        if "frontal_area" in recording.signals:
            report.metrics["frontal_area_m2"] = float(recording.signals["frontal_area"][0])
        report.checks["drag within a factor 2 of people's passive drag"] = (
            PASSIVE_DRAG / 2.0 < coefficient < PASSIVE_DRAG * 2.0
        )
    return report


def _drags(now: Now) -> np.ndarray:
    state = now.state
    return np.array([state.force[0, 3], PASSIVE_DRAG * state.bodies.velocity[0, 0] ** 2])


scene = Scene(
    name="tow",
    summary="a person-shaped body or a swimmer is towed in a window that follows it, one speed after the other: drag",
    answers="passive drag of swimmers, about 23.5 v^2 N",
    seconds=10.0,
    build=build,
    check=check,
    parameters={
        "shape": Parameter("person", "what is towed", choices=("person", "swimmer", "ball")),
        "pose": Parameter("streamline", "pose of the swimmer: a pose or a stroke, by name or as a file"),
        "speeds": Parameter("0.8,1.2,1.6,2.0", "towing speeds, one after the other", "m/s"),
        "ramp": Parameter(0.5, "time in which a speed is reached", "s", low=0.05, high=5.0),
        "distance": Parameter(2.4, "way at each speed", "m", low=0.2, high=50.0),
        "height": Parameter(-0.15, "height of the body's centre", "m", low=-0.5, high=0.1),
        "breadth": Parameter(1.2, "breadth of the window, between free-slip walls", "m", low=0.8, high=6.0),
        "depth": Parameter(0.7, "depth of the water", "m", low=0.4, high=4.0),
        "cells": Parameter(75, "cells along 3 m, or along the ball's window", low=30, high=300),
    },
    qualities={"draft": {"cells": 60}, "standard": {"cells": 100}, "fine": {"cells": 200}},
)
