"""What scenes on two feet share: a motion set down on the ground, measures, the world."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control import Motion
from vitruvian.control.stance import Plan, StanceControl, StanceGains, soles
from vitruvian.couple import BodyStepper
from vitruvian.skeleton import centre_of_mass
from vitruvian.systems import BodySystem, Measure, Now
from vitruvian.systems.body import ACCOUNTS
from vitruvian.world import Camera, Recording, Signal, World

Array = np.ndarray
SPINE = 17.0  # joints of trunk in a row: a bend that they share costs as much as one of a single joint
STANDING_CAMERAS = (
    Camera("corner", (3.0, -3.6, 1.4), (0.0, 0.0, 0.95)),
    Camera("side", (4.6, 0.0, 1.2), (0.0, 0.0, 0.95)),
    Camera("front", (0.0, -4.6, 1.2), (0.0, 0.0, 0.95)),
)


@dataclass(frozen=True)
class GroundedMotion:
    """A motion moved up or down as a whole, so that its lowest sole is on the ground at time 0."""

    motion: Motion
    lift: float  # [m]

    @classmethod
    def of(cls, body: Body, motion: Motion) -> GroundedMotion:
        return cls(motion, -float(soles(body, motion.sample(0.0)[0])[:, 2].min()))

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        q, v, a = self.motion.sample(time)
        q = q.copy()
        q[2] += self.lift
        return q, v, a


@dataclass(frozen=True)
class StillMotion:
    """One pose for all time."""

    q: Array
    n_v: int

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        return self.q.copy(), np.zeros(self.n_v), np.zeros(self.n_v)


def stance_measures(body: Body) -> list[Measure]:
    """Signals `centre` (of mass), `ground` (force of the ground), `pressure` (its centre), `soles` and `weight`."""
    s = body.skeleton
    weight = s.mass * float(np.linalg.norm(s.gravity))

    def touching(now: Now) -> tuple[Array, Array]:
        bones, points, forces = now.system.stepper.contact.felt()
        from_world = bones[:, 0] < 0
        return points[from_world], forces[from_world]

    def pressure(now: Now) -> Array:
        points, forces = now.once(touching)
        total = forces[:, 2].sum()
        return points[:, :2].T @ forces[:, 2] / total if total > 1.0 else np.full(2, np.nan)

    xyz = ("left", "back", "up")
    return [
        Measure(Signal("centre", "m", "centre of mass", xyz), lambda now: centre_of_mass(s, now.q)),
        Measure(
            Signal("ground", "N", "force of the ground, mean of a step", xyz),
            lambda now: now.once(touching)[1].sum(axis=0),
        ),
        Measure(Signal("pressure", "m", "centre of pressure; none in the air", xyz[:2]), pressure),
        Measure(
            Signal("soles", "m", "middle of the left and the right sole", ("left x", "left y", "right x", "right y")),
            lambda now: _middles(soles(body, now.q)),
        ),
        Measure(Signal("weight", "N", "weight of the body"), lambda now: weight),
    ]


def _middles(points: Array) -> Array:
    left = points[points[:, 0] > points[:, 0].mean()]
    right = points[points[:, 0] <= points[:, 0].mean()]
    return np.concatenate([left[:, :2].mean(axis=0), right[:, :2].mean(axis=0)])


def steady_metrics(recording: Recording) -> dict[str, float]:
    """How far the soles slide [mm], the ground's largest force [N], the work of pushes [J]."""
    s = recording.signals
    work = s["work"][-1, ACCOUNTS.index("push")]
    return {
        "soles_slide_mm": float(1e3 * np.abs(s["soles"] - s["soles"][0]).max()),
        "ground_peak_n": float(s["ground"][:, 2].max()),
        "body_weight_n": float(s["weight"][0]),
        "push_work_j": float(work),
    }


def stance_world(system: BodySystem, plan: Plan, gains: StanceGains, steps: float) -> World:
    """The system under stance control, `steps` steps to a frame of 1/60 s."""
    s = system.body.skeleton
    thinking = BodyStepper(
        s, system.body.muscles, held=system.stepper.held
    )  # the ground's forces are planned, not felt
    return World(system, StanceControl(system.body, thinking, plan, gains), frame_rate=60.0, substeps=int(steps))
