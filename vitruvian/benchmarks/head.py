"""The head: a controlled neck in real time, training samples, and what a decision costs. All on one core.

Lee's neck ran at a tenth of real time with steps of 1 ms (2008, 4.1); his explicit step is measured here, too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from vitruvian.anatomy import neck
from vitruvian.benchmarks.suite import Timing, interleaved, timing
from vitruvian.control.head import HeadControl, HeadStatics, shipped
from vitruvian.couple import BodyStepper
from vitruvian.systems.head import HeadSystem
from vitruvian.world import World

FRAME = 1.0 / 60.0


def _world(kind: str, substeps: int) -> World:
    body = neck(muscles="thesis") if kind == "thesis" else neck()
    system, statics = HeadSystem(body, drawn=False), HeadStatics(body)
    nets = shipped("thesis" if kind == "thesis" else "neck", tuple(body.muscles.names[i] for i in statics.muscles))
    control = HeadControl(body, system.stepper.twin(), networks=nets, statics=statics)
    return World(system, control, substeps=substeps)


def _frame(world: World) -> None:
    for _ in range(world.substeps):
        world.step()


@timing
def controlled_neck() -> Timing:
    """A frame of 1/60 s of a head held by networks and reflex, implicit steps of 8.3 ms, beside steps of 1 ms."""
    worlds = {"thesis": _world("thesis", 2), "own neck": _world("body", 2), "thesis, 1 ms": _world("thesis", 17)}
    runs: dict[str, Callable[[], object]] = {name: partial(_frame, w) for name, w in worlds.items()}
    for run in runs.values():
        run()
    found = interleaved(runs, repeats=15, least_seconds=0.05)
    ours = found.pop("thesis")
    figures = {"real_time_factor": FRAME / ours, "own_neck_real_time_factor": FRAME / found["own neck"]}
    return Timing(ours, {"steps of 1 ms": found["thesis, 1 ms"]}, "24 coordinates, 72 muscles", figures)


@timing
def head_decision() -> Timing:
    """Pose and tone by networks, beside solving them."""
    body = neck()
    statics = HeadStatics(body)
    nets = shipped("neck", tuple(body.muscles.names[i] for i in statics.muscles))
    head, down = np.eye(3), np.array([0.0, 0.0, -1.0])

    def solved() -> None:
        at = statics.balance(body.default_q, down)
        statics.pose(at)
        statics.tone(at)

    found = interleaved(
        {"networks": lambda: nets.activations(head, down), "solved": solved}, repeats=15, least_seconds=0.02
    )
    figures = {"samples_a_second": 1.0 / found["solved"]}
    return Timing(found["networks"], {"solved anew": found["solved"]}, "264 muscles", figures)


@timing
def neck_step() -> Timing:
    """One implicit step of the thesis' neck without its controller."""
    body = neck(muscles="thesis")
    stepper = BodyStepper(body.skeleton, body.muscles)
    q, v, a = body.default_q, np.zeros(body.skeleton.n_v), np.full(body.muscles.n_muscles, 0.1)
    found = interleaved({"ours": lambda: stepper.step(q, v, a, 0.005)}, repeats=15, least_seconds=0.02)
    return Timing(found["ours"], {}, "24 coordinates, 72 muscles", {"steps_a_second": 1.0 / found["ours"]})
