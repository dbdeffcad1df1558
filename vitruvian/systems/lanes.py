"""Several systems side by side in one recording: they do not touch, and are shown apart.

    LanesSystem({"muscles": one, "torques": other}, apart=(2.4, 0, 0)) under LanesController([...])

Controls are a list, one for each lane.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numba import njit

from vitruvian.control import Controls
from vitruvian.errors import InputError
from vitruvian.spatial import quaternion_from_rotation, quaternion_product
from vitruvian.systems.layers import Drawn
from vitruvian.world import Camera, Frame, LinesFrame, Signal, Stage, SurfaceFrame

Array = np.ndarray


@dataclass(frozen=True)
class LaneSignal:
    """A signal of each lane and how it is taken from that lane's own signals."""

    signal: Signal  # called name_LANE in the recording; "%" in its title stands for the lane
    of: Callable[[Mapping[str, float | Array]], Any]


@dataclass
class LanesState:
    lanes: list[Any]


class LanesSystem:
    """A `Simulation` of systems that do not touch; lane n is shown n times `apart` [m] (3,) from `first` [m]."""

    def __init__(
        self,
        systems: Mapping[str, Drawn],
        apart: Sequence[float] | Array,
        *,
        first: Sequence[float] = (0.0, 0.0, 0.0),
        signals: Sequence[LaneSignal] | None = None,
        light: bool = False,
        naming: str = "{lane} {name}",
        cameras: Sequence[Camera] = (),
        ground: float | None = None,
    ):
        """apart: or the pose in which each lane is shown, shape (n, 4, 4). signals: of each lane; all of its own,
        under its name, if None. light: leave out rigid bodies and points, so that a recording of many lanes stays
        small. naming: what a thing or signal of a lane is called."""
        if not systems:
            raise InputError("lanes: at least one system is needed")
        called = [naming.format(lane=lane, name=name) for lane in systems for name in "xy"]
        if len(set(called)) < len(called):
            raise InputError(f"lanes: naming '{naming}' calls two things the same; use {{lane}} and {{name}}")
        self.systems, self.ground = dict(systems), ground
        self.cameras = tuple(cameras) or tuple(next(iter(systems.values())).cameras)
        self.shown = np.asarray(apart, float)  # pose of each lane, (n, 4, 4)
        if self.shown.ndim == 1:
            step, self.shown = self.shown, np.tile(np.eye(4), (len(self.systems), 1, 1))
            self.shown[:, :3, 3] = np.asarray(first, float) + np.arange(len(self.systems))[:, None] * step
        if self.shown.shape != (len(self.systems), 4, 4):
            raise InputError(f"lanes: {len(self.systems)} lanes need as many poses (4, 4), not {self.shown.shape}")
        self.signals, self.light, self.naming = signals, light, naming

    def start(self, rng: np.random.Generator) -> LanesState:
        return LanesState([s.start(rng) for s in self.systems.values()])  # type: ignore[attr-defined]

    def step(self, state: LanesState, controls: Sequence[Controls | None] | None, time: float, dt: float) -> None:
        for system, lane, control in zip(self.systems.values(), state.lanes, self._given(controls), strict=True):
            system.step(lane, control, time, dt)  # type: ignore[attr-defined]

    def stage(self) -> Stage:
        bodies, joints, meshes, surfaces, lines, points, signals = [], [], [], [], [], [], []
        for lane, system in self.systems.items():
            part, call = system.stage(), lambda name, lane=lane: self.naming.format(lane=lane, name=name)
            if not self.light:
                bodies += [call(b) for b in part.bodies]
                joints += [
                    replace(j, body=call(j.body), parent=call(j.parent) if j.parent else "") for j in part.joints
                ]
                meshes += [replace(m, name=call(m.name), body=call(m.body)) for m in part.meshes]
                points += [replace(s, name=call(s.name)) for s in part.points]
            surfaces += [replace(s, name=call(s.name)) for s in part.surfaces]
            lines += [replace(s, name=call(s.name)) for s in part.lines]
            signals += self._declared(lane, part.signals)
        return Stage(
            bodies=tuple(bodies),
            joints=tuple(joints),
            meshes=tuple(meshes),
            surfaces=tuple(surfaces),
            lines=tuple(lines),
            points=tuple(points),
            signals=tuple(signals),
            cameras=self.cameras,
            ground=self.ground,
        )

    def observe(self, state: LanesState, controls: Any, time: float) -> Frame:
        given = self._given(controls)
        poses: list[Array] = []
        signals: dict[str, float | Array] = {}
        surfaces: dict[str, SurfaceFrame] = {}
        lines: dict[str, LinesFrame] = {}
        points: dict[str, Array] = {}
        for n, (lane, system) in enumerate(self.systems.items()):
            frame, place = system.observe(state.lanes[n], given[n], time), self.shown[n]

            def call(name: str, lane: str = lane) -> str:
                return self.naming.format(lane=lane, name=name)

            if not self.light:
                poses.append(_placed(place, frame.poses))
                points |= {call(k): _moved(place, v) for k, v in frame.points.items()}
            surfaces |= {call(k): replace(v, vertices=_moved(place, v.vertices)) for k, v in frame.surfaces.items()}
            lines |= {call(k): replace(v, points=_moved(place, v.points)) for k, v in frame.lines.items()}
            signals |= self._read(lane, frame.signals)
        return Frame(np.concatenate([np.zeros((0, 7)), *poses]), signals, surfaces, lines, points)

    def _given(self, controls: Sequence[Controls | None] | None) -> Sequence[Controls | None]:
        """Controls of each lane; none for any of them if there are none."""
        if controls is None:
            return [None] * len(self.systems)
        if len(controls) != len(self.systems):
            raise InputError(f"lanes: {len(self.systems)} lanes need as many controls, not {len(controls)}")
        return controls

    def _declared(self, lane: str, own: Sequence[Signal]) -> list[Signal]:
        if self.signals is None:
            return [replace(s, name=self.naming.format(lane=lane, name=s.name)) for s in own]
        return [
            replace(s.signal, name=f"{s.signal.name}_{lane}", title=s.signal.title.replace("%", lane))
            for s in self.signals
        ]

    def _read(self, lane: str, own: Mapping[str, float | Array]) -> dict[str, float | Array]:
        if self.signals is None:
            return {self.naming.format(lane=lane, name=k): v for k, v in own.items()}
        out: dict[str, float | Array] = {}
        for s in self.signals:
            value = np.asarray(s.of(own), float)
            out[f"{s.signal.name}_{lane}"] = value.copy() if s.signal.components else float(value)
        return out


def _moved(place: Array, points: Array) -> Array:
    """Points (n, 3) [m] of a lane in the pose (4, 4) in which it is shown."""
    return np.asarray(_carried(place, np.ascontiguousarray(points)))


@njit(cache=True, nogil=True)
def _carried(place, points):
    out = np.empty_like(points)
    for i in range(len(points)):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        for k in range(3):
            out[i, k] = place[k, 0] * x + place[k, 1] * y + place[k, 2] * z + place[k, 3]
    return out


def _placed(place: Array, poses: Array) -> Array:
    """The same for poses (n, 7)."""
    out = poses.copy()
    out[:, :3] = _moved(place, poses[:, :3])
    if not np.array_equal(place[:3, :3], np.eye(3)):
        turn = quaternion_from_rotation(place[:3, :3])
        out[:, 3:] = [quaternion_product(turn, q) for q in poses[:, 3:]]
    return out


@dataclass
class LanesOwn:
    lanes: list[Any]


class LanesController:
    """A controller for each lane, or None."""

    def __init__(self, controllers: Sequence[Any]):
        self.controllers = list(controllers)

    def start(self, rng: np.random.Generator) -> LanesOwn:
        return LanesOwn([None if c is None else c.start(rng) for c in self.controllers])

    def act(self, own: LanesOwn, state: LanesState, time: float, dt: float) -> list[Controls | None]:
        return [
            None if c is None else c.act(mine, lane, time, dt)
            for c, mine, lane in zip(self.controllers, own.lanes, state.lanes, strict=True)
        ]
