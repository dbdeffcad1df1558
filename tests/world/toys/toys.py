"""A chaotic double pendulum with everything that a stage can show, and a simulation that diverges on demand."""

from __future__ import annotations

import sys
import time as clock
from dataclasses import dataclass

import numpy as np

from vitruvian.errors import Diverged
from vitruvian.world import (
    Camera,
    Frame,
    Joint,
    Lines,
    LinesFrame,
    Mesh,
    Points,
    Signal,
    Stage,
    Surface,
    SurfaceFrame,
    World,
    run_world,
)


@dataclass
class Angles:
    q: np.ndarray  # two angles [rad]
    v: np.ndarray


@dataclass
class PendulumState:
    angles: Angles
    trail: np.ndarray  # grows and is cut: arrays may change size
    steps: int = 0


class DoublePendulum:
    """Two equal rods of 1 m with point masses; diverges exponentially from any neighbour, so that bits matter."""

    def __init__(self, nap: float = 0.0) -> None:
        self.nap = nap  # [s] of sleep in each step, to leave time for being killed

    def start(self, rng):
        return PendulumState(Angles(np.array([2.0, 2.5]) + 0.1 * rng.normal(size=2), np.zeros(2)), np.zeros((0, 3)))

    def step(self, state, controls, time, dt):
        if self.nap:
            clock.sleep(self.nap)
        (a, b), (x, y) = state.angles.q, state.angles.v
        push = 0.0 if controls is None else controls
        cos, sin = np.cos(a - b), np.sin(a - b)
        mass = np.array([[2.0, cos], [cos, 1.0]])
        force = np.array([-(y**2) * sin - 2 * 9.81 * np.sin(a) + push, x**2 * sin - 9.81 * np.sin(b)])
        state.angles.v = state.angles.v + dt * np.linalg.solve(mass, force)
        state.angles.q += dt * state.angles.v
        state.steps += 1
        state.trail = np.vstack([state.trail, [*state.angles.q, time]])[-(state.steps % 50) - 1 :]

    def stage(self):
        triangle = np.array([[0, 1, 2]])
        return Stage(
            bodies=("upper", "lower"),
            joints=(Joint("upper", "", words="upper rod"), Joint("lower", "upper", (0.6, 0.0, 0.8, 0.0))),
            meshes=(
                Mesh("rod", "upper", np.eye(3), triangle, layer="bones"),
                Mesh("stand", "", np.eye(3) - 1.0, triangle, layer="stand", opacity=0.5),
            ),
            surfaces=(
                Surface("sheet", triangle, value="strain", unit="1", value_range=(-1.0, 1.0), layer="skin"),
                Surface("drops", None, layer="water", value="speed", unit="m/s"),
            ),
            lines=(
                Lines(
                    "rope",
                    np.array([0, 2, 5]),
                    np.array([0.01, 0.02]),
                    names=("a", "b"),
                    value="tension",
                    layer="muscles",
                    pulls=True,
                ),
            ),
            points=(Points("spray", 0.01),),
            signals=(Signal("angle", "rad", "both angles", ("upper", "lower")), Signal("energy/mass", "J/kg")),
            cameras=(Camera("front", (0.0, -4.0, 1.0), (0.0, 0.0, 0.0), follow="lower"),),
            ground=-2.0,
        )

    def observe(self, state, controls, time):
        q, v = state.angles.q, state.angles.v
        poses = np.zeros((2, 7))
        poses[:, :3] = np.sin(q)[:, None] * [1.0, 0.0, -1.0]
        poses[:, 3], poses[:, 5] = np.cos(q / 2), np.sin(q / 2)
        n = 3 + state.steps % 4
        rows = np.arange(3.0 * n).reshape(n, 3)
        return Frame(
            poses=poses,
            signals={"angle": q, "energy/mass": float(v @ v) - 9.81 * float(np.cos(q).sum())},
            surfaces={
                "sheet": SurfaceFrame(np.eye(4, 3) + q[0], None, np.sin(np.arange(4) + q[1])),
                "drops": SurfaceFrame(rows + q[0], np.array([[0, 1, 2]] * (n - 2)), rows[:, 0]),
            },
            lines={"rope": LinesFrame(np.arange(15.0).reshape(5, 3) * q[0], q, 10.0 * q)},
            points={"spray": np.full((state.steps % 3, 3), q[1])},
        )


@dataclass
class PusherState:
    memory: float
    noise: np.ndarray


class Pusher:
    """A controller with memory and with randomness kept in its state."""

    def start(self, rng):
        return PusherState(0.0, rng.integers(0, 2**31, size=1))

    def act(self, own, state, time, dt):
        own.noise = (own.noise * 1103515245 + 12345) % 2**31
        own.memory += dt * float(state.angles.q[0])
        return 1e-3 * own.memory + 1e-9 * float(own.noise[0])


@dataclass
class FallState:
    x: float
    v: np.ndarray
    pieces: int = 0


class Stiff:
    """x' = v, exactly; a step longer than `limit` [s] after time `from_time` [s] fails in the given `way`."""

    def __init__(self, limit: float, way: str = "raise", from_time: float = 0.0) -> None:
        self.limit, self.way, self.from_time = limit, way, from_time

    def start(self, rng):
        return FallState(0.0, np.array([1.0]))

    def step(self, state, controls, time, dt):
        state.pieces += 1
        state.x += dt * state.v[0]
        if dt > self.limit and time >= self.from_time:
            state.v[0] = 1e300
            if self.way == "raise":
                raise Diverged("left knee", "the ligament tore")
            if self.way == "solve":
                np.linalg.inv(np.zeros((2, 2)))
            state.v *= 1e300

    def stage(self):
        return Stage(signals=(Signal("x", "m"),))

    def observe(self, state, controls, time):
        return Frame(signals={"x": state.x})


def make_world(nap: float = 0.0) -> World:
    return World(DoublePendulum(nap), Pusher(), frame_rate=50.0, substeps=3, seed=7)


if __name__ == "__main__":  # python toys.py PATH SECONDS NAP [resume]
    path, seconds, nap, *rest = sys.argv[1:]
    result = run_world(make_world(float(nap)), path, seconds=float(seconds), resume=bool(rest), save_every=10)
    print(result.seconds, result.resumed_at, flush=True)
    sys.exit(130 if result.interrupted else 0)
