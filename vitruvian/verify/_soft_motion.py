"""What a soft character's motion must keep: momentum, the same path from both steps, its stand."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from vitruvian.anatomy.characters import Character, character, soft_body
from vitruvian.control.search.actors import RigidActor
from vitruvian.control.search.samples import Trying, search
from vitruvian.couple.soft_body import SoftState
from vitruvian.couple.soft_explicit import Damping
from vitruvian.exchange import read_trial
from vitruvian.measured.retarget import retargeted
from vitruvian.scenes import find
from vitruvian.scenes.kick_momentum import DAMPINGS, kick
from vitruvian.verify.book import Finding, claim
from vitruvian.world import scene_parameters

Array = np.ndarray


@lru_cache(maxsize=1)
def _mascot() -> Character:
    return character("mascot")


def _spins(damping: Damping, seconds: float, dt: float, *, implicit: bool) -> Array:
    """Angular momentum of the kicking mascot over time, (f, 3)."""
    who = _mascot()
    motion, q, v = kick(who, 1.0)
    body = soft_body(who, damping=damping, ground=None, gravity=(0.0, 0.0, 0.0))
    state, out = body.start(q, v), []
    for n in range(round(seconds / dt)):
        body.step(state, *motion.sample((n + 1) * dt), dt, implicit=implicit)
        out.append(body.momentum(state)[:3])
    return np.array(out)


def _wander(spins: Array) -> float:
    return float(np.linalg.norm(spins - spins[0], axis=1).max() / np.linalg.norm(spins[0]))


@claim
def kicking_keeps_angular_momentum() -> Finding:
    """Ten seconds of kicking in empty space under pose-based damping: angular momentum stays within 0.5 % (4 ms)."""
    return Finding.error(_wander(_spins(DAMPINGS["pose"], 10.0, 0.004, implicit=True)), 0.005)


@claim
def kicking_keeps_angular_momentum_in_explicit_steps() -> Finding:
    """The same with explicit steps of 0.5 ms, over two seconds."""
    return Finding.error(_wander(_spins(DAMPINGS["pose"], 2.0, 0.0005, implicit=False)), 0.005)


@claim
def rayleigh_damping_takes_angular_momentum() -> Finding:
    """The mass term of Rayleigh's damping takes more than a tenth of the spin in four seconds (figure 7)."""
    spins = np.linalg.norm(_spins(DAMPINGS["rayleigh"], 4.0, 0.004, implicit=True), axis=1)
    return Finding.within(spins[-1] / spins[0] - 1.0, -1.0, -0.1)


@claim
def node_damping_takes_angular_momentum() -> Finding:
    """Damping of nodes against the world takes more than half of the spin in two seconds (figure 7)."""
    spins = np.linalg.norm(_spins(DAMPINGS["node"], 2.0, 0.004, implicit=True), axis=1)
    return Finding.within(spins[-1] / spins[0] - 1.0, -1.0, -0.5)


def _landing(dt: float, *, implicit: bool) -> SoftState:
    """The mascot, let go 20 mm over the ground and kicking, after 0.2 s."""
    who = _mascot()
    motion, q, v = kick(who, 0.0)
    q[2] += 0.02 - (who.skin.positions(soft_body(who).carried(q))[:, 2]).min()
    body = soft_body(who)
    state = body.start(q, v)
    for n in range(round(0.2 / dt)):
        body.step(state, *motion.sample((n + 1) * dt), dt, implicit=implicit, tolerance=1e-5)
    return state


@claim
def implicit_and_explicit_steps_agree_as_the_step_shrinks() -> Finding:
    """A landing kick in implicit steps of 8, 4, 2 and 1 ms comes nearer to the explicit one at first order: rate."""
    true = _landing(0.00025, implicit=False)
    steps = np.array([0.008, 0.004, 0.002, 0.001])
    errors = np.array([np.sqrt(np.mean((_landing(h, implicit=True).x - true.x) ** 2)) for h in steps])
    rate = float(np.polyfit(np.log(steps), np.log(errors), 1)[0])
    return Finding.within(rate, 0.7, 1.6, "", "rms of all nodes " + ", ".join(f"{1e3 * e:.2f}" for e in errors) + " mm")


@lru_cache(maxsize=1)
def _standing(implicit: bool, seconds: float = 1.5) -> tuple[SoftState, Array, Array]:
    who = _mascot()
    body = soft_body(who)
    state, dt = body.start(who.standing_q), 0.004 if implicit else 0.0005
    still, forces = np.zeros(who.skeleton.n_v), []
    for _ in range(round(seconds / dt)):
        body.step(state, who.standing_q, still, dt, implicit=implicit)
        forces.append(state.ground[3:].copy())
    return state, np.array(forces), body.centre(state)


@claim
def a_standing_mascot_weighs_what_it_weighs() -> Finding:
    """Standing for 1.5 s on its soft feet the mascot presses on the ground with its weight."""
    _, forces, _ = _standing(True)
    weight = _mascot().mass * 9.81
    return Finding(float(forces[-100:, 2].mean()), weight, 0.02 * weight, "N")


@claim
def standing_feet_do_not_slide() -> Finding:
    """In that time its soles slide by less than a millimetre, by load."""
    state, _, _ = _standing(True)
    return Finding.within(1e3 * state.slip, 0.0, 1.0, "mm")


@claim
def an_elbow_reaches_its_target_with_plasticity() -> Finding:
    """An elbow pulled to 120 degrees comes within 5 of it where the reference shape follows the pose."""
    return Finding(_elbow("elbow_with_deg"), 120.0, 5.0, "deg", f"{_elbow('elbow_without_deg'):.1f} without")


@claim
def an_elbow_falls_short_without_plasticity() -> Finding:
    """Without it the same servo stops short by 20 degrees or more."""
    return Finding.within(120.0 - _elbow("elbow_without_deg"), 20.0, 110.0, "deg")


@lru_cache(maxsize=2)
def _elbow(metric: str) -> float:
    scene = find("elbow-bend")
    world = scene.build(scene_parameters(scene, "standard", {}))
    world.advance(scene.seconds)
    lane = metric.removeprefix("elbow_").removesuffix("_deg")
    return float(world.observe().signals[f"{lane} elbow"])


@claim
def a_retargeted_run_leaves_and_meets_the_ground() -> Finding:
    """The captured run on the mascot: soles from just in the ground to more than 20 mm over it, legs 0.4 m long."""
    who = _mascot()
    motion = retargeted(read_trial("run"), who, loop=True)
    body = soft_body(who)
    low = [who.skin.positions(body.carried(q))[: who.n_skin, 2].min() for q in motion.q]
    return Finding.within(1e3 * (max(low) - min(low)), 20.0, 120.0, "mm", f"lowest sole {1e3 * min(low):.0f} mm")


@claim
def a_search_finds_the_same_on_two_workers() -> Finding:
    """Sampling-based control of the run, 24 samples in two windows: the same bits in one process and on two workers."""
    motion = retargeted(read_trial("run"), _mascot(), loop=True).smoothed(0.015)
    trying = Trying(samples=24, kept=6, seed=2)
    one, two = (search(RigidActor(_mascot()), motion, 0.2, trying, start=0.3, processes=n) for n in (1, 2))
    return Finding.error(float(np.abs(one.offsets - two.offsets).max() + np.abs(one.costs - two.costs).max()), 0.0)
