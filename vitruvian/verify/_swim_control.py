"""How well a swimmer's muscles and torques follow a stroke."""

from __future__ import annotations

from typing import Any

import numpy as np

from vitruvian.anatomy import Body, human
from vitruvian.control import tracking_error
from vitruvian.control.rhythm import MuscleKinematics, StrokeMotion, load_stroke, stroke_names
from vitruvian.control.rhythm.decode import LengthReader
from vitruvian.scenes import find
from vitruvian.verify.book import Finding, worst
from vitruvian.world import scene_parameters

Array = np.ndarray
LIMBS = ("Hu", "Ul", "Rad", "Ha", "Fe", "Tfp", "Fo")
RATE, STEP, SWIM_STEP = 0.6, 1.0 / 192.0, 1.0 / 96.0


def decoding() -> Finding:
    """Pose read off the lengths, step by step over half a cycle of each stroke, limbs."""
    body = human()
    measure, reader = MuscleKinematics(body), LengthReader(body)
    rows, errors = _rows(body, LIMBS), []
    for name in stroke_names():
        motion = StrokeMotion(body, load_stroke(name), RATE)
        q = motion.sample(0.0)[0]
        for k in range(1, 160):
            wanted, v, a = motion.sample(k * STEP)
            q = reader.read(q, *measure(wanted, v, a)).q
            errors.append(float(np.degrees(np.abs(_error(body, q, wanted)[rows]).max())))
    return Finding.error(
        worst(errors), 1.0, "deg", f"4 strokes at {RATE:g} Hz, both arms and legs, largest of any joint"
    )


def following() -> Finding:
    """rms deviation of elbows, hips and knees under muscles, second half of a cycle of crawl in still water."""
    found = {
        "together": _track(actuation="muscles"),
        "eq. 4.9": _track(actuation="muscles", feedback="length"),
        "inverse dynamics": _track(actuation="inverse-dynamics"),
    }
    each = "; ".join(
        f"{word}: " + ", ".join(f"{b} {_rms(body, e, b):.1f}" for b in ("Hu", "Ul", "Fe", "Tfp"))
        for word, (body, e) in found.items()
    )
    largest = max(_rms(*found["together"], b) for b in ("Ul", "Fe", "Tfp"))
    return Finding.error(largest, 10.0, "deg", f"{each}; the shoulder (Hu) lacks strength overhead")


def _track(**settings: Any) -> tuple[Body, Array]:
    """The swimmer, and errors [rad], shape (steps, n_v), over the second half of his first cycle."""
    chosen = dict(scene_parameters(find("crawl"), "draft", {}))
    chosen |= {"rate": RATE, "water": "still", "triangles": 3000, **settings}
    world = find("crawl").build(chosen)
    simulation, controller, rng = world.simulation, world.controller, np.random.default_rng(0)
    body: Body = simulation.body  # type: ignore[attr-defined]
    motion = StrokeMotion(body, load_stroke("crawl"), RATE)
    state, own, errors = simulation.start(rng), controller.start(rng), []  # type: ignore[union-attr]
    steps = round(1.0 / RATE / SWIM_STEP)
    for k in range(steps):
        time = k * SWIM_STEP
        controls = controller.act(own, state, time, SWIM_STEP)  # type: ignore[union-attr]
        simulation.step(state, controls, time, SWIM_STEP)
        if 2 * k >= steps:
            errors.append(_error(body, state.q, motion.sample(time + SWIM_STEP)[0]))
    return body, np.array(errors)


def _rms(body: Body, errors: Array, bone: str) -> float:
    """Of the whole turn of a joint [deg], the worse side."""
    rows = [_rows(body, (bone,), side) for side in "lr"]
    return max(float(np.degrees(np.sqrt((errors[:, r] ** 2).sum(axis=1).mean()))) for r in rows)


def _rows(body: Body, bones: tuple[str, ...], sides: str = "lr") -> Array:
    s = body.skeleton
    return np.concatenate([np.arange(s.n_v)[s.v_slice(f"{b}_{side}")] for b in bones for side in sides])


def _error(body: Body, q: Array, wanted: Array) -> Array:
    out = np.empty(body.skeleton.n_v)
    tracking_error(body.skeleton.topology, q, wanted, out)
    return out
