"""A captured walk by muscles on true contact, as far as it goes. No hand holds the pelvis.

The stance controller follows a captured clip with its posture, its schedule of feet and a centre of mass that its feet
can carry, forces of the ground inside friction cones, and contact as it is. Feet come down where they catch the body
(`control.stance.walk`). How long it stayed up, how far it came and how often a foot came down are the result.

    vitruvian run walk --view
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vitruvian.anatomy import Body, body_contacts, human
from vitruvian.control import SampledMotion
from vitruvian.control.stance import StanceGains, Walk, posture_weights, soles, soles_of
from vitruvian.exchange import read_trial
from vitruvian.measured import trial_motion
from vitruvian.scenes._body import STEPS
from vitruvian.scenes._breath import BREATHING, breath_metrics, breathing_of
from vitruvian.scenes._carried import head_up_measure
from vitruvian.scenes._stance import SPINE, stance_measures, stance_world
from vitruvian.skeleton import centre_of_mass
from vitruvian.systems import BodySystem, Measure
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, Signal, World

Array = np.ndarray
CAMERAS = (
    Camera("corner", (3.4, -3.7, 1.5), (0.0, 0.0, 0.9), follow="Pel"),
    Camera("side", (5.4, 0.0, 1.2), (0.0, 0.0, 0.9), follow="Pel"),
    Camera("front", (0.0, -5.5, 1.2), (0.0, 0.0, 0.9), follow="Pel"),
)
SECONDS = 30.0  # that the plan looks ahead
FALLEN = 0.8  # of the first height of the centre of mass


@dataclass(frozen=True)
class Cycle:
    """A clip that closes on itself up to the way it went, over and over, from `start` [s] in it on."""

    clip: SampledMotion
    start: float

    def sample(self, time: float) -> tuple[Array, Array, Array]:
        long = (len(self.clip.q) - 1) * self.clip.period
        rounds = np.floor((time + self.start) / long)
        q, v, a = self.clip.sample(time + self.start - rounds * long)
        q = q.copy()
        q[:2] += rounds * (self.clip.q[-1, :2] - self.clip.q[0, :2])
        return q, v, a


def build(parameters: Mapping[str, Any]) -> World:
    body = human(feet="universal")  # soles that stay flat while the shank leans aside
    motion = Cycle(trial_motion(read_trial("walk"), body, closed=True), parameters["start"])
    q, v, _ = motion.sample(0.0)
    q[2] -= soles(body, q)[:, 2].min() + 0.001
    measures = [
        *stance_measures(body),
        head_up_measure(),
        Measure(Signal("wanted", "m", "centre of mass of the clip", ("left", "back", "up")), _wanted(body, motion)),
        Measure(
            Signal("feet", "m", "lowest point of the soles", ("left", "right")),
            lambda now: np.array([_lowest(body, now.q, foot) for foot in ("Fo_l", "Fo_r")]),
        ),
    ]
    plan = Walk(body, motion, posture_weights(body, spine=SPINE), SECONDS)
    v = plan.first_velocity(q, v)
    system = BodySystem(
        body,
        q,
        v,
        pelvis="free",
        contacts=body_contacts(body),
        measures=measures,
        cameras=CAMERAS,
        books=True,
        breathing=breathing_of(parameters, body),
        skin=True,
    )
    gains = StanceGains(
        stiffness=200.0, damping=28.0, rate=parameters["rate"],
        centre_stiffness=(20.0, 20.0, 60.0), centre_damping=(9.0, 9.0, 15.0),
    )  # fmt: skip
    return stance_world(system, plan, gains, parameters["steps"])


def _wanted(body: Body, motion: Cycle) -> Any:
    return lambda now: centre_of_mass(body.skeleton, motion.sample(now.time)[0])


def _lowest(body: Body, q: Array, foot: str) -> float:
    return float(soles(body, q)[soles_of(body).foot[foot], 2].min())


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    s, time = recording.signals, recording.time
    centre = s["centre"]
    up = centre[:, 2] > FALLEN * centre[0, 2]
    last = int(np.argmin(up)) if not up.all() else len(up)
    report = Report()
    breath_metrics(report, recording)
    steps = 0
    for foot in s["feet"][:last].T:
        was_up = False
        for height in foot:
            was_up = was_up or height > 0.015
            if was_up and height < 0.003:
                steps, was_up = steps + 1, False
    report.metrics |= {
        "upright_s": float(time[last - 1]),
        "distance_m": float(centre[0, 1] - centre[last - 1, 1]),
        "steps": float(steps),
        "drift_aside_m": float(np.abs(centre[:last, 0] - s["wanted"][:last, 0]).max()),
        "fell": float(last < len(up)),
        "head_tilt_deg": float(np.degrees(s["head_tilt"][:last].max())),
        "push_work_j": float(s["work"][-1, 1]),
    }
    report.checks["no hand: no work but of muscles, joints and contact"] = report.metrics["push_work_j"] == 0.0
    if time[-1] >= 6.0:
        report.checks["it is upright for 5.9 s"] = report.metrics["upright_s"] >= 5.9
        report.checks["it comes 5 m ahead"] = report.metrics["distance_m"] > 5.0
        report.checks["it takes ten steps"] = report.metrics["steps"] >= 10.0
    return report


scene = Scene(
    name="walk",
    summary="A captured walk by muscles on true contact, as far as it goes",
    answers="walking without a fictitious hand",
    seconds=7.0,
    build=build,
    check=check,
    parameters={
        "start": Parameter(0.5, "where in the clip to begin", "s", low=0.0, high=1.2),
        "breathing": BREATHING,
        "rate": Parameter(120.0, "control decisions a second", "1/s", low=20.0, high=2000.0),
        "steps": STEPS,
    },
    qualities={"draft": {}, "standard": {}, "fine": {"steps": 32, "rate": 240.0}},
)
