"""Several swimmers in one recording, each in a lane with water of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vitruvian.world.stage import Camera, Frame, LinesFrame, Signal, Stage, SurfaceFrame
from vitruvian.world.swim import SwimSimulation, SwimState

Array = np.ndarray


@dataclass
class LanesState:
    lanes: list[SwimState]


class Lanes:
    """A `Simulation` of simulations that do not touch; lane n is shown n times `apart` [m] to the left."""

    def __init__(self, swimmers: Mapping[str, SwimSimulation], apart: float):
        self.swimmers, self.apart = dict(swimmers), apart

    def start(self, rng: np.random.Generator) -> LanesState:
        return LanesState([s.start(rng) for s in self.swimmers.values()])

    def step(self, state: LanesState, controls: Sequence[Any], time: float, dt: float) -> None:
        for swimmer, lane, control in zip(self.swimmers.values(), state.lanes, controls, strict=True):
            swimmer.step(lane, control, time, dt)

    def stage(self) -> Stage:
        surfaces, lines, signals = [], [], []
        for name, swimmer in self.swimmers.items():
            stage = swimmer.stage()
            surfaces += [replace(s, name=f"{s.name} {name}") for s in stage.surfaces]
            lines += [replace(s, name=f"{s.name} {name}") for s in stage.lines]
            signals += [
                Signal(f"place_{name}", "m", f"centre of mass, {name}", ("x", "y", "z")),
                Signal(f"speed_{name}", "m/s", f"speed, {name}"),
                Signal(f"work_{name}", "J", f"work so far, {name}", ("drive", "water")),
                Signal(f"activation_{name}", "1", f"mean activation, {name}"),
            ]
        middle = 0.5 * self.apart * (len(self.swimmers) - 1)
        return Stage(
            surfaces=tuple(surfaces),
            lines=tuple(lines),
            signals=tuple(signals),
            cameras=(
                Camera("lanes", (middle, -19.0, 11.0), (middle, -1.5, 0.0)),
                Camera("top", (middle, -1.5, 16.0), (middle, -1.4, 0.0)),
            ),
            ground=None,
        )

    def observe(self, state: LanesState, controls: Any, time: float) -> Frame:
        surfaces: dict[str, SurfaceFrame] = {}
        lines: dict[str, LinesFrame] = {}
        signals: dict[str, float | Array] = {}
        given = [None] * len(self.swimmers) if controls is None else controls
        for n, (name, swimmer) in enumerate(self.swimmers.items()):
            frame = swimmer.observe(state.lanes[n], given[n], time)
            aside = np.array([n * self.apart, 0.0, 0.0])
            for key, patch in frame.surfaces.items():
                surfaces[f"{key} {name}"] = replace(patch, vertices=patch.vertices + aside)
            for key, line in frame.lines.items():
                lines[f"{key} {name}"] = replace(line, points=line.points + aside)
            seen = frame.signals
            signals[f"place_{name}"] = np.asarray(seen["position"])
            signals[f"speed_{name}"] = float(seen["speed"])
            signals[f"work_{name}"] = np.asarray(seen["work"])[:2]
            signals[f"activation_{name}"] = float(np.asarray(seen["activation"])[0])
        return Frame(signals=signals, surfaces=surfaces, lines=lines)


@dataclass
class LanesOwn:
    lanes: list[Any]


class LanesController:
    """A controller for each lane."""

    def __init__(self, controllers: Sequence[Any]):
        self.controllers = list(controllers)

    def start(self, rng: np.random.Generator) -> LanesOwn:
        return LanesOwn([None if c is None else c.start(rng) for c in self.controllers])

    def act(self, own: LanesOwn, state: LanesState, time: float, dt: float) -> list[Any]:
        return [
            None if c is None else c.act(mine, lane, time, dt)
            for c, mine, lane in zip(self.controllers, own.lanes, state.lanes, strict=True)
        ]
