"""Torso timings: a step of the whole breathing trunk, beside the thesis' explicit step of the same model.

DiLorenzo 2009 steps points by explicit Euler at 1 ms. The same forces stepped so are timed here for the same simulated
time; on our trunk they diverge at 1 and at 0.1 ms, and the figures tell after how long.
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
LOST = 50.0  # [m/s] of a point: the explicit step has diverged


@timing
def calm_step() -> Timing:
    """A step of 5 ms of calm breath, and five explicit ones of 1 ms."""
    world = _breathing("calm", STEP, 0.8)
    torso = world.simulation
    assert isinstance(torso, TorsoSystem)

    def ours() -> None:
        world.step()

    explicit = [_explicit(torso, h) for h in (THESIS, 1e-4)]
    found = interleaved({"ours": ours, "explicit": lambda: [explicit[0][0]() for _ in range(5)]}, repeats=15)
    c = torso.trunk.cavities
    figures = {
        "real_time_factor": STEP / found["ours"],
        "iterations": float(torso.scratch.iterations),
        "explicit_1ms_diverges_after_s": explicit[0][1](),
        "explicit_0.1ms_diverges_after_s": explicit[1][1](),
    }
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


def _explicit(torso: TorsoSystem, h: float) -> tuple[Callable[[], None], Callable[[], float]]:
    """One explicit step of all points (bones as ever), and the time until such steps diverge, at most 0.2 s."""

    def fresh() -> TorsoState:
        return torso.start(np.random.default_rng(0))

    kept = [fresh()]

    def step(state: TorsoState) -> None:
        c, b = torso.trunk.cavities, state.breath
        pull = CavityPressure(torso.scratch, b)
        torque = torso.posture.torques(state.q, state.v, np.zeros(2))
        system = torso.stepper.assemble(
            state.q, state.v, state.activation, h, (AppliedTorques(torque, (state.q, state.v)), pull)
        )
        system.resolver = None
        gained = torso.scratch.right[len(system.matrix) :].reshape(-1, 3) / c.mass[:, None]
        q, v = torso.stepper.bones.solve(system)
        torso.scratch.gained[-gained.size :] = gained.ravel()
        pull.settle(system, v - state.v, None)
        state.q, state.v = q, v

    def once() -> None:
        step(kept[0])
        if not np.abs(kept[0].breath.v).max() < LOST:
            kept[0] = fresh()

    def lasts() -> float:
        state, n = fresh(), 0
        state.breath.activation = 0.1 * torso.trunk.cavities.in_group("diaphragm")
        with suppress(VitruvianError):
            while n * h < 0.2 and np.abs(state.breath.v).max() < LOST:
                step(state)
                n += 1
        return n * h if n * h < 0.2 - 1e-9 else float("inf")

    return once, lasts
