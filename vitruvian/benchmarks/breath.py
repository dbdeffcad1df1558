"""Torso timings: a step of the whole breathing trunk, beside the thesis' explicit step of the same model.

DiLorenzo 2009 steps points by explicit Euler at 1 ms. The same forces stepped so are timed here for the same simulated
time; on our trunk they diverge at 1 and at 0.1 ms, and the figures tell after how long. Steps of
0.03 ms hold (for 0.03 s at least).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from vitruvian.anatomy.trunk import breathing_human
from vitruvian.benchmarks.suite import Timing, interleaved, timing
from vitruvian.control.behaviour import Behave, load_behaviour
from vitruvian.couple import AppliedTorques, CavityPressure, TorsoState
from vitruvian.errors import VitruvianError
from vitruvian.systems import TorsoSystem
from vitruvian.world import World

STEP, BURST, THESIS = 5e-3, 2e-3, 1e-3  # [s]
TRIED = (THESIS, 1e-4, 3e-5)  # explicit steps [s]
WHILE = 0.03  # [s] that a step which holds is tried for
LOST = 50.0  # [m/s] of a point: the explicit step has diverged


@timing
def calm_step() -> Timing:
    """A step of 5 ms of calm breath, and five explicit ones of 1 ms."""
    world = _breathing("calm", STEP, 0.8)
    torso = world.simulation
    assert isinstance(torso, TorsoSystem)

    once = explicit_step(torso, THESIS)
    found = interleaved({"ours": world.step, "explicit": lambda: [once() for _ in range(5)]}, repeats=15)
    c = torso.trunk.cavities
    figures = {"real_time_factor": STEP / found["ours"], "iterations": float(torso.scratch.iterations)}
    figures |= {f"explicit_{1e3 * h:g}ms_lasts_s": lasts(torso, h) for h in TRIED}
    detail = f"{len(torso.stepper.free)} joint coordinates, {c.n_points} points, {torso.trunk.n_elements} elements"
    return Timing(found["ours"], {"explicit Euler, 5 x 1 ms": found["explicit"]}, detail, figures)


@timing
def burst_step() -> Timing:
    """A step of 2 ms of a cough, in the middle of its press."""
    world = _breathing("cough", BURST, 1.4)
    found = interleaved({"ours": world.step}, repeats=15)
    return Timing(found["ours"], {}, "2 ms", {"real_time_factor": BURST / found["ours"]})


def _breathing(name: str, step: float, seconds: float) -> World:
    trunk = breathing_human()
    torso = TorsoSystem(trunk, skin=False, drawn=False, layers=())
    world = World(torso, Behave(trunk, load_behaviour(name)), frame_rate=1.0 / step)
    world.start()
    while world.time < seconds:
        world.step()
    return world


def explicit_step(torso: TorsoSystem, h: float) -> Callable[[], None]:
    """An explicit step of all points (bones as ever), over and over; starts anew once it has diverged."""
    kept = [torso.start(np.random.default_rng(0))]

    def once() -> None:
        explicit(torso, kept[0], h)
        if not np.abs(kept[0].breath.v).max() < LOST:
            kept[0] = torso.start(np.random.default_rng(0))

    return once


def lasts(torso: TorsoSystem, h: float) -> float:
    """Time [s] until explicit steps under a calm breath's diaphragm diverge, at most `WHILE`."""
    state, n = torso.start(np.random.default_rng(0)), 0
    state.breath.activation = 0.1 * torso.trunk.cavities.in_group("diaphragm")
    with suppress(VitruvianError):
        while n < round(WHILE / h) and np.abs(state.breath.v).max() < LOST:
            explicit(torso, state, h)
            n += 1
    return n * h


def explicit(torso: TorsoSystem, state: TorsoState, h: float) -> None:
    """One step of h [s]: points by explicit Euler, bones as ever."""
    c = torso.trunk.cavities
    pull = CavityPressure(torso.scratch, state.breath, load=torso.viscera)
    torque = torso.posture.torques(state.q, state.v, np.zeros(3))
    applied = AppliedTorques(torque, (state.q, state.v))
    system = torso.stepper.assemble(state.q, state.v, state.activation, h, (applied, pull))
    system.resolver = None
    gained = torso.scratch.right[len(system.matrix) :].reshape(-1, 3) / c.mass[:, None]
    q, v = torso.stepper.bones.solve(system)
    torso.scratch.gained[-gained.size :] = gained.ravel()
    pull.settle(system, v - state.v, None)
    state.q, state.v = q, v
