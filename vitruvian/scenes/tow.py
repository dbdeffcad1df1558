"""A person-shaped body is towed along the surface at one speed after the other, in a window that travels with it: drag
curve.

For each speed the body is sped up evenly and then held at it over `distance`; its drag is the towing force averaged
over the second half of that way. The curve is fitted by C v^2 and by C v^p; drag area C A = F / (rho v^2 / 2). People
pulled through water at rest (passive drag) need about 23.5 v^2 N; the grid's body is a smooth mannequin, its boundary
layer is not resolved.

    vitruvian run tow --set speeds=0.8,1.2,1.6
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vitruvian.errors import InputError
from vitruvian.mesh import sphere
from vitruvian.mesh.mannequin import mannequin
from vitruvian.systems import Measure, Now, TankState, TankSystem
from vitruvian.water import RigidBody, Tank, follow
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, Signal, World

PASSIVE_DRAG = 23.5  # [N s^2/m^2], people towed prone
SLOWEST, FASTEST = 0.1, 4.0  # [m/s]
COURANT = 0.5  # sub-steps twice as long add 6 v^2 N to the drag, more than a finer grid takes off
AIR = 0.3  # height of the window above the calm surface [m]


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
    n, plan = int(parameters["cells"]), TowingSpeeds.of(parameters)
    if parameters["shape"] == "person":
        vertices, faces = mannequin()
        length = 3.0
    else:
        vertices, faces = sphere(0.15, subdivisions=4)
        length = 1.8
    breadth, depth = parameters["breadth"], parameters["depth"]
    size = (length, breadth, depth + AIR)
    h = length / n
    tank = Tank.of_size(
        size, h, origin=(-0.5 * length, -0.5 * breadth, -depth), rest_level=0.0,
        boundaries={"x-": "open", "x+": "open"}, sponge=0.12 * length, courant=COURANT,
    )  # fmt: skip

    def course(time: float) -> tuple[np.ndarray, np.ndarray]:
        way, speed = plan.at(time)
        return np.array([-way, 0.0, parameters["height"]]), np.array([-speed, 0.0, 0.0])  # head first

    body = RigidBody.solid(parameters["shape"], np.asarray(vertices), faces, 1000.0, course=course)
    simulation = TowSystem(
        tank, bodies=(body,),
        measures=(
            Measure(
                Signal("drag", "N", "towing force, and people's passive drag", components=("towed", "people")), _drags
            ),
            Measure(Signal("lift", "N", "vertical force"), lambda now: now.state.force[0, 5]),
            Measure(Signal("tow_speed", "m/s", "towing speed"), lambda now: -now.state.bodies.velocity[0, 0]),
        ),
        cameras=(
            Camera("side", (0.5, -3.4, 1.3), (0.0, 0.0, -0.1), follow=parameters["shape"]),
            Camera("above", (0.4, -1.6, 3.2), (0.0, 0.0, 0.0), follow=parameters["shape"]),
        ),
    )  # fmt: skip
    return World(simulation, frame_rate=30.0)


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
    if len(np.unique(speeds)) > 1 and (means > 0.0).all():
        report.metrics["exponent"] = float(np.polyfit(np.log(speeds), np.log(means), 1)[0])
        report.checks["drag grows about as the square of speed (exponent 1.6 to 2.6)"] = (
            1.6 < report.metrics["exponent"] < 2.6
        )
    if parameters["shape"] == "person":
        report.checks["drag within a factor 2 of people's passive drag"] = (
            PASSIVE_DRAG / 2.0 < coefficient < PASSIVE_DRAG * 2.0
        )
    return report


def _drags(now: Now) -> np.ndarray:
    state = now.state
    return np.array([state.force[0, 3], PASSIVE_DRAG * state.bodies.velocity[0, 0] ** 2])


scene = Scene(
    name="tow",
    summary="a person-shaped body is towed at one speed after the other in a window that follows it: drag curve",
    answers="passive drag of swimmers, about 23.5 v^2 N",
    seconds=10.0,
    build=build,
    check=check,
    parameters={
        "shape": Parameter("person", "what is towed", choices=("person", "ball")),
        "speeds": Parameter("0.8,1.2,1.6,2.0", "towing speeds, one after the other", "m/s"),
        "ramp": Parameter(0.5, "time in which a speed is reached", "s", low=0.05, high=5.0),
        "distance": Parameter(2.4, "way at each speed", "m", low=0.2, high=50.0),
        "height": Parameter(-0.15, "of the body's centre", "m", low=-0.5, high=0.1),
        "breadth": Parameter(1.2, "of the window, between free-slip walls", "m", low=0.8, high=6.0),
        "depth": Parameter(0.7, "of the water", "m", low=0.4, high=4.0),
        "cells": Parameter(75, "cells along the window", low=30, high=300),
    },
    qualities={"draft": {"cells": 60}, "standard": {"cells": 100}, "fine": {"cells": 200}},
)
