"""A measured motion as a system: shown as it was found, or followed by the body's own muscles.

`PlayedSystem` shows the poses, activations and ground forces that `measured.analyse` found: nothing is simulated, time
leads through the frames. `PushedSystem` is a body on which the measured ground forces push; under computed muscle
control it follows the motion forward in time.
"""

from __future__ import annotations

import numpy as np

from vitruvian.control import Gains, SampledMotion
from vitruvian.couple import BodyState
from vitruvian.measured import Tracked
from vitruvian.skeleton import bone_poses
from vitruvian.systems.body import BodySystem
from vitruvian.systems.layers import Drawn, LinesLayer, PointsLayer, body_layers
from vitruvian.systems.measures import Measure, Now
from vitruvian.systems.tracking import tracking_measures, tracking_world
from vitruvian.world import Camera, Lines, LinesFrame, Points, Signal, World

Array = np.ndarray
MARKER = (0.95, 0.75, 0.15)
PUSH = (0.13, 0.47, 0.71)
SLIGHT = 10.0  # [N] below which a ground force is not drawn
ARROW = 1.0 / 1000.0  # [m/N] length at which a ground force is drawn
STEPS = 8  # to a frame of 1/60 s when the body follows by itself


class PlayedSystem(Drawn):
    """See `world.simulation.Simulation`; shows a trial."""

    def __init__(self, found: Tracked, *, drawn: bool = True):
        self.found, self.body, self.skeleton = found, found.body, found.body.skeleton
        arrows = Lines(
            "ground force", np.array([0, 2, 4]), np.full(2, 0.008), ("left foot", "right foot"), "ground force", PUSH
        )
        bones = body_layers(found.body, drawn=drawn, force=lambda now: found.forces.force[self._frame(now.time)])
        self.layers = [*bones, LinesLayer(arrows, self._arrows)]
        if len(found.goals.turn_bone) == 0:
            self.layers.append(
                PointsLayer(Points("markers", radius=0.009, layer="markers", colour=MARKER), self._markers)
            )
        tables = found.curves.tables()
        self.measures = [
            self._table("angle", "rad", "joint angles", tables["angles"][1], np.radians(1.0)),
            self._table("moment", "N m", "net joint moments", tables["moments"][1]),
            self._table("power", "W", "joint powers", tables["powers"][1]),
            self._table("ground", "N", "ground forces", tables["ground"][1]),
            self._table("reaction", "N", "forces that joints carry", tables["reactions"][1]),
            Measure(Signal("residual", "m", "rms distance from what was measured"), self._residual),
        ]
        self.cameras, self.ground = _cameras(found), 0.0

    def start(self, rng: np.random.Generator) -> BodyState:
        state = self.body.at_rest(self.found.course.q[0])
        self.step(state, None, -1.0, 1.0)
        return state

    def step(self, state: BodyState, controls: object, time: float, dt: float) -> None:
        f = self._frame(time + dt)
        state.q, state.v = self.found.course.q[f].copy(), self.found.course.v[f].copy()
        state.activation = self.found.forces.activation[f].copy()

    def _frame(self, time: float) -> int:
        return int(np.clip(round(time / self.found.course.period), 0, len(self.found.course.time) - 1))

    def _table(self, name: str, unit: str, title: str, curves: object, size: float = 1.0) -> Measure:
        assert isinstance(curves, dict)
        values = size * np.column_stack(list(curves.values()))
        return Measure(Signal(name, unit, title, tuple(curves)), lambda now: values[self._frame(now.time)])

    def _arrows(self, now: Now) -> LinesFrame:
        g, f = self.found.ground, self._frame(now.time)
        out = np.zeros((4, 3))
        for k in range(2):
            force, moment = g.force[f, k], g.moment[f, k]
            if force[2] < SLIGHT:
                out[2 * k : 2 * k + 2] = now.point(("Fo_l", "Fo_r")[k])
                continue
            out[2 * k] = (-moment[1] / force[2], moment[0] / force[2], 0.0)
            out[2 * k + 1] = out[2 * k] + ARROW * force
        return LinesFrame(out, None)

    def _markers(self, now: Now) -> Array:
        found = self.found
        k = int(np.argmin(np.abs(found.trial.time - now.time)))
        place = found.goals.place[k] + (0.0, 0.0, found.lift)
        return place[~np.isnan(place[:, 0])]

    def _residual(self, now: Now) -> float:
        found = self.found
        k = int(np.argmin(np.abs(found.trial.time - now.time)))
        return float(np.sqrt(np.nanmean(found.fit.distance[k, found.goals.point_weight > 0.0] ** 2)))


class PushedSystem(BodySystem):
    """A body on which measured ground forces push, from the motion's first pose and velocity."""

    def __init__(self, found: Tracked, **options: object):
        self.found = found
        super().__init__(found.body, found.course.q[0], found.course.v[0], pelvis="free", **options)  # type: ignore[arg-type]

    def surround(self, state: BodyState, time: float) -> None:
        super().surround(state, time)
        course, g = self.found.course, self.found.ground
        x = float(np.clip(time / course.period, 0.0, len(course.time) - 1.0))
        a = min(int(x), len(course.time) - 2)
        poses = bone_poses(self.skeleton, state.q)
        for frame, share in ((a, 1.0 - (x - a)), (a + 1, x - a)):
            state.wrench += share * g.wrenches(self.body, poses, frame)


def played_world(found: Tracked, *, drawn: bool = True) -> World:
    """A world that shows a trial at its own rate."""
    return World(PlayedSystem(found, drawn=drawn), frame_rate=1.0 / found.course.period)


def follower_world(found: Tracked, *, drawn: bool = True) -> World:
    """A world in which muscles follow a trial forward in time, pushed by its ground forces."""
    course = found.course
    motion = SampledMotion(found.body, course.period, course.q, course.v, course.a)
    root = Measure(
        Signal("fictitious", "N, N m", "wrench on the pelvis", ("force", "moment")),
        lambda now: (
            np.zeros(2)
            if now.controls is None or now.controls.root_force is None
            else [np.linalg.norm(now.controls.root_force[3:]), np.linalg.norm(now.controls.root_force[:3])]
        ),
    )
    watched = {"knee": ("Tfp_l", 0), "knee_right": ("Tfp_r", 0)}
    measures = [*tracking_measures(found.body, motion, watched), root]
    system = PushedSystem(found, measures=measures, cameras=_cameras(found), drawn=drawn)
    gains = Gains(stiffness=400.0, damping=40.0, rate=120.0, sensor_lag=0.0)
    return tracking_world(system, motion, gains, STEPS)


def _cameras(found: Tracked) -> tuple[Camera, ...]:
    """From both sides and the front, around the way of the pelvis."""
    way = found.course.q[:, :2]
    middle = 0.5 * (way.min(axis=0) + way.max(axis=0))
    far = 4.0 + 0.8 * float(np.ptp(way, axis=0).max())
    x, y = float(middle[0]), float(middle[1])
    look = (x, y, 0.9)
    return (
        Camera("side", (x + far, y, 1.2), look),
        Camera("corner", (x + 0.75 * far, y - 0.75 * far, 1.5), look),
        Camera("front", (x, y - far, 1.2), look),
    )
