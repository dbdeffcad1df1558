"""A crash: the seat gets a pulse of acceleration, and three necks bear it, relaxed, toned and braced.

The pulse is half a sine at the base of the neck, which does not turn. Reported: acceleration of the head's centre of
mass without gravity's share, HIC over 15 and 36 ms, and the load between head and neck at the occipital condyles
(C0-C1), all that joints and muscles of the neck do to the head together: shear, axial force, moment, Nij; how far the
head nods forward, and back after it. The stretch reflex answers at once, as in the thesis, or as late as in people
(`delay`): the thesis' gains are then too high, and the reflex itself throws the head back.

    vitruvian run crash --view
    vitruvian run crash --set peak=8 --set direction=rear
    vitruvian run crash --set delay=0.06
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from vitruvian.control.head import HeadSettings
from vitruvian.measured.injury import head_injury_criterion, nij
from vitruvian.scenes._head import PARAMETERS, head_body, head_system
from vitruvian.skeleton import bone_poses, bone_velocities
from vitruvian.systems import LanesController, LaneSignal, LanesSystem, Measure, Now
from vitruvian.systems.head import HeadSystem
from vitruvian.world import Camera, Parameter, Recording, Report, Scene, Signal, World

Array = np.ndarray
TONES = {"relaxed": 0.0, "toned": 0.3, "braced": 0.8}
WAYS = {
    "front": (0.0, 1.0, 0.0),
    "rear": (0.0, -1.0, 0.0),
    "left": (-1.0, 0.0, 0.0),
    "right": (1.0, 0.0, 0.0),
}  # of impact
BEGINS = 0.02  # [s]
APART = 0.6  # [m]
RATE = 1000.0  # [1/s] frames: a crash is looked at slowly
G = 9.81  # [m/s²]
SHORT = 1.0 / RATE  # [s] over which accelerations are means: a stop that is met gives more in an instant


class HeadLoad(NamedTuple):
    """What the neck does to the head, in the head's axes (left, back, up)."""

    acceleration: Array  # of the head's centre of mass in the room [m/s²] (3,)
    force: Array  # [N] (3,)
    moment: Array  # about the origin of the skull, at the condyles [N m] (3,)


def pulse(peak: float, lasting: float, way: str) -> Callable[[float], Array]:
    """Acceleration of the seat [m/s²] (3,) at a time [s]: half a sine of `peak` [g]."""
    along = np.array(WAYS[way])

    def ride(time: float) -> Array:
        share = (time - BEGINS) / lasting
        return along * (G * peak * np.sin(np.pi * share) if 0.0 < share < 1.0 else 0.0)

    return ride


def head_load(now: Now) -> HeadLoad:
    """Newton and Euler for the skull: the neck gives what its acceleration needs beyond its weight."""
    system, s = now.system, now.system.skeleton
    assert isinstance(system, HeadSystem)
    state, b = now.state, s.index("Sku")
    q, v = system.stepper.step(
        state.q, state.v, state.activation.copy(), SHORT, load=state.load, wrench=state.wrench, fibre=state.fibre
    )
    pose, twist = bone_poses(s, state.q)[b], bone_velocities(s, state.q, state.v)[b]
    rate = (bone_velocities(s, q, v)[b] - twist) / SHORT  # in the head's own axes
    R, spin, alpha, com = pose[:3, :3], twist[:3], rate[:3], s.coms[b]
    seat = np.zeros(3) if system.ride is None else system.ride(now.time)
    at = rate[3:] + np.cross(spin, twist[3:]) + R.T @ seat  # acceleration of the skull's origin
    centre = at + np.cross(alpha, com) + np.cross(spin, np.cross(spin, com))
    force = s.masses[b] * (centre - R.T @ s.gravity)
    inertia = _about_centre(s.bodies[b, 12:22])
    moment = inertia @ alpha + np.cross(spin, inertia @ spin) + np.cross(com, force)
    return HeadLoad(R @ centre, force, moment)


def _about_centre(row: Array) -> Array:
    """Inertia (3, 3) about the centre of mass from (mass, m com, moments about the origin)."""
    m, c = row[0], row[1:4] / row[0]
    xx, xy, xz, yy, yz, zz = row[4:]
    full = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return np.asarray(full - m * (c @ c * np.eye(3) - np.outer(c, c)))


def nod(now: Now) -> float:
    """By how much the head nods forward [rad]; the base does not turn."""
    R = now.pose("Sku")[:3, :3]
    return float(np.arctan2(R[2, 1], R[1, 1]))


def load_measures() -> list[Measure]:
    """Signals `head_g`, `shear`, `axial`, `moment`, `nod`."""
    return [
        Measure(
            Signal("head_g", "g", "acceleration of the head"),
            lambda now: float(np.linalg.norm(now.once(head_load).acceleration)) / G,
        ),
        Measure(
            Signal("shear", "N", "shear force at C0-C1"),
            lambda now: float(np.linalg.norm(now.once(head_load).force[:2])),
        ),
        Measure(
            Signal("axial", "N", "axial force at C0-C1, tension positive"), lambda now: -now.once(head_load).force[2]
        ),
        Measure(
            Signal("moment", "N m", "moment at C0-C1, flexion positive"), lambda now: -now.once(head_load).moment[0]
        ),
        Measure(Signal("nod", "rad", "head nodding, forward positive"), nod),
    ]


def build(parameters: Mapping[str, Any]) -> World:
    body = head_body(parameters)
    ride = pulse(parameters["peak"], parameters["lasting"], parameters["direction"])
    systems, controllers = {}, []
    for name, tone in TONES.items():
        system, control = head_system(
            body,
            parameters,
            None,
            HeadSettings(tone=tone, delay=parameters["delay"]),
            ride=ride,
            measures=load_measures(),
        )
        systems[name] = system
        controllers.append(control)

    def same(name: str) -> Callable[[Mapping[str, Any]], Any]:
        return lambda s: s[name]

    wanted = (*load_measures(), Measure(Signal("error", "rad", "turn of the head"), lambda now: 0.0))
    lanes = LanesSystem(
        systems,
        (APART, 0.0, 0.0),
        signals=[
            LaneSignal(Signal(m.signal.name, m.signal.unit, f"{m.signal.title}, %"), same(m.signal.name))
            for m in wanted
        ],
        cameras=(
            Camera("side", (2.6, -1.3, 1.9), (APART, 0.0, 1.72)),
            Camera("front", (0.6, -2.6, 1.9), (0.6, 0.0, 1.72)),
        ),
    )
    return World(lanes, LanesController(controllers), frame_rate=RATE, substeps=int(parameters["steps"]))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report, s, time = Report(), recording.signals, recording.time
    for name in TONES:
        g = s[f"head_g_{name}"]
        report.metrics |= {
            f"head_g_{name}": float(g.max()),
            f"hic15_{name}": head_injury_criterion(time, g, 0.015),
            f"hic36_{name}": head_injury_criterion(time, g, 0.036),
            f"turn_{name}_deg": float(np.degrees(s[f"error_{name}"].max())),
            f"forward_{name}_deg": float(np.degrees(s[f"nod_{name}"].max())),
            f"back_{name}_deg": float(-np.degrees(s[f"nod_{name}"].min())),
            f"shear_{name}_n": float(np.abs(s[f"shear_{name}"]).max()),
            f"tension_{name}_n": float(s[f"axial_{name}"].max()),
            f"flexion_{name}_n_m": float(s[f"moment_{name}"].max()),
            f"extension_{name}_n_m": float(-s[f"moment_{name}"].min()),
            f"nij_{name}": float(nij(s[f"axial_{name}"], s[f"moment_{name}"]).max()),
        }
    turns = [report.metrics[f"turn_{name}_deg"] for name in TONES]
    if parameters["delay"] == 0.0:
        report.checks["a braced head turns less than a relaxed one"] = turns[2] < turns[0]
    return report


scene = Scene(
    name="crash",
    summary="A crash pulse on the seat: acceleration of the head, HIC and neck loads, relaxed, toned and braced",
    answers="a bumpy ride taken further",
    seconds=0.3,
    build=build,
    check=check,
    parameters={
        "peak": Parameter(10.0, "largest acceleration of the seat", "g", low=0.0, high=60.0),
        "lasting": Parameter(0.08, "length of the pulse", "s", low=0.005, high=0.2),
        "delay": Parameter(
            0.0, "delay by which the stretch reflex comes late, 0.05 to 0.08 in people", "s", low=0.0, high=0.2
        ),
        "direction": Parameter("front", "side from which the impact comes", choices=tuple(WAYS)),
        **PARAMETERS,
        "steps": Parameter(1, "steps per frame of 1 ms", low=1, high=20),
    },
    qualities={"draft": {}, "standard": {}, "fine": {"steps": 4}},
)
