"""Soft characters: one step beside Liu & al. 2013 (table 2) and MuJoCo's flex on the same mesh; searches.

Published: 2.1 to 3.2 ms for a step of 0.5 ms on eight cores, half an hour on 40 cores for a run cycle. MuJoCo's flex
has the same nodes and elements as bodies of three slides each, without bones, contact and plasticity.
"""

from __future__ import annotations

from functools import lru_cache
from time import perf_counter, process_time
from typing import Any, ClassVar

import numpy as np
from numba import get_num_threads, set_num_threads

from vitruvian.anatomy.characters import Character, character, soft_body
from vitruvian.benchmarks.suite import Timing, interleaved, timing
from vitruvian.control.search import Reference
from vitruvian.control.search.actors import RigidActor, SoftActor
from vitruvian.control.search.samples import Trying, search
from vitruvian.couple.soft_body import SoftBody, SoftState
from vitruvian.errors import MissingExtra
from vitruvian.exchange import read_trial
from vitruvian.flesh.posed.forces import elastic_forces
from vitruvian.measured.retarget import ready, retargeted

PUBLISHED = "Liu & al. 2013, eight cores (published)"
PUBLISHED_ELEMENTS = 4160
WORK = 120  # samples of a window that is measured
WINDOW, KEPT = 1000, 100  # samples of a window of a run cycle, and the states it begins from
TABLE2: dict[tuple[str, str], tuple[float, int, float, dict[str, Any]]] = {  # from when [s], windows, hours on 40 cores
    ("mascot", "run"): (0.3, 8, 0.5, {"loop": True}),
    ("panda", "run"): (0.3, 8, 0.8, {"loop": True}),
    ("baby", "roll"): (0.5, 12, 1.0, {"rolling": True, "tuck": 1.2, "even": True}),
}
TURN, TURNS = 0.002, 150  # [s] of a turn: on a busy machine few longer ones go through undisturbed


@lru_cache(maxsize=1)
def _mascot() -> Character:
    return character("mascot")


@lru_cache(maxsize=1)
def _run() -> Reference:
    return retargeted(read_trial("run"), _mascot(), loop=True).smoothed(0.015)


def _sizes() -> str:
    t = _mascot().tetrahedra
    threads = get_num_threads()
    return f"{t.n_nodes} nodes, {t.n_elements} tetrahedra, {_mascot().skeleton.n_v} DOF of bones, {threads} thread(s)"


def _stepping(dt: float, *, implicit: bool) -> tuple[SoftBody, SoftState, object]:
    """A running mascot some way into its run; a function that steps it from there on."""
    body, motion = soft_body(_mascot()), _run()
    aims = [motion.sample(dt * (n + 1)) for n in range(round(0.25 / dt))]
    state, fresh, count = body.start(*motion.sample(0.0)), body.start(*motion.sample(0.0)), [0]

    def step() -> None:
        if count[0] == len(aims):  # from the beginning, before it falls
            for name in ("q", "v", "x", "u", "anchor", "du", "dv"):
                getattr(state, name)[:] = getattr(fresh, name)
            count[0] = 0
        body.step(state, *aims[count[0]], dt, implicit=implicit, tolerance=1e-2)
        count[0] += 1

    return body, state, step


@timing
def explicit_step() -> Timing:
    """One explicit step of 0.5 ms of the running mascot, beside MuJoCo's flex."""
    _, _, step = _stepping(0.0005, implicit=False)
    runs = {"ours": step}
    theirs = _flex()
    if theirs is not None:
        runs["mujoco flex, elements alone"] = theirs
    best = interleaved(runs, repeats=TURNS, least_seconds=TURN)  # type: ignore[arg-type]
    ours = best.pop("ours")
    scaled = ours * PUBLISHED_ELEMENTS / _mascot().tetrahedra.n_elements
    figures = {"real_time_factor": 0.0005 / ours, "ms_for_4160_elements_computed": 1e3 * scaled}
    return Timing(ours, {PUBLISHED: 0.0021, **best}, _sizes(), figures)


@timing
def elastic_forces_alone() -> Timing:
    """The elastic forces of all elements, the larger part of that step."""
    body = soft_body(_mascot())
    x, out = body.carried(_run().q[10]), np.zeros((_mascot().tetrahedra.n_nodes, 3))
    pose = body.carried(_run().q[12])
    best = interleaved({"ours": lambda: elastic_forces(body.flesh, x, pose, out)}, repeats=TURNS, least_seconds=TURN)
    return Timing(best["ours"], {}, _sizes())


@timing
def implicit_step_of_4_ms() -> Timing:
    """One implicit step of 4 ms of flesh and bones together; figure: how much faster than real time."""
    return _implicit(0.004)


@timing
def implicit_step_of_8_ms() -> Timing:
    """The same with 8 ms."""
    return _implicit(0.008)


def _implicit(dt: float) -> Timing:
    _, state, step = _stepping(dt, implicit=True)
    best = interleaved({"ours": step}, repeats=TURNS, least_seconds=TURN)["ours"]  # type: ignore[dict-item]
    return Timing(best, {}, _sizes(), {"real_time_factor": dt / best, "iterations": float(state.iterations)})


@timing
def rigid_search() -> Timing:
    """A sample of 0.1 s of the mascot's run with the flesh rigid; figures: core hours of whole searches (table 2)."""
    return _searches(RigidActor, 200)


@timing
def soft_search() -> Timing:
    """The same with soft flesh in steps of 4 ms."""
    return _searches(SoftActor, 12)


@timing
def workers() -> Timing:
    """Processor time of a soft search on two workers; figures: gains of 2 and 40 workers computed from it.

    Batches of a window of `WINDOW` samples go in order to whoever is free, each sample with a time that was measured;
    all that the process that hands them out does is counted as if nobody worked meanwhile. `gain_of_2` is that of this
    machine as it was, by the clock."""
    trying, threads = Trying(samples=WORK, kept=10), get_num_threads()
    _Clocked.times.clear()
    begun, handing = {}, 0.0
    set_num_threads(1)  # as a worker has
    try:
        for processes, actor in ((1, _Clocked(_mascot())), (2, SoftActor(_mascot()))):
            ends = [(perf_counter(), process_time())]

            def window_ended(line: str, ends: list[tuple[float, float]] = ends) -> None:
                ends.append((perf_counter(), process_time()))

            search(actor, _run(), 0.3, trying, processes=processes, say=window_ended)
            begun[processes], own = np.diff(np.array(ends), axis=0).T
            if processes == 2:
                handing = own[1:].mean() / trying.kept  # for a batch
    finally:
        set_num_threads(threads)
    times = np.array(_Clocked.times[WORK:])  # of the windows after the one in which workers start
    gains = {n: _spent(times, handing, 1) / _spent(times, handing, n) for n in (2, 40)}
    figures = {
        "gain_of_2": begun[1][1:].sum() / begun[2][1:].sum(),
        "gain_of_2_computed": gains[2],
        "gain_of_40_computed": gains[40],
        "run_hours_on_40_workers_computed": TABLE2["mascot", "run"][1] * _spent(times, handing, 40) / 3600.0,
        "handing_out_ms": 1e3 * handing,
        "slowest_sample": float(times.max() / times.mean()),
        "start_s": begun[2][0] - begun[2][1:].mean(),
    }
    return Timing(float(times.mean()), {}, f"two windows of {WORK} samples", figures)


class _Clocked(SoftActor):
    """Writes down the processor time of each sample [s], for all of its copies: `map` works on one."""

    times: ClassVar[list[float]] = []

    def go(self, *what: Any) -> np.ndarray:
        begun = process_time()
        end = super().go(*what)
        self.times.append(process_time() - begun)
        return end


def _spent(times: np.ndarray, handing: float, count: int) -> float:
    """Seconds that `count` workers take for a window of `WINDOW` samples, in batches of one parent each."""
    drawn = np.random.default_rng(0).choice(times, (KEPT, WINDOW // KEPT)).sum(axis=1)
    free = np.zeros(count)
    for batch in drawn:
        free[free.argmin()] += batch
    return float(free.max() + KEPT * handing)


def _searches(kind: type[RigidActor] | type[SoftActor], samples: int) -> Timing:
    """Processor time of a sample of each search of table 2; those of a whole one are computed from it."""
    each, figures = {}, {}
    threads = get_num_threads()
    set_num_threads(1)
    try:
        for (name, clip), (start, windows, hours, how) in TABLE2.items():
            actor, motion = kind(character(name)), ready(read_trial(clip), character(name), **how)
            search(actor, motion, 0.1, Trying(samples=2, kept=2), start=start)
            begun = process_time()
            search(actor, motion, 0.1, Trying(samples=samples, kept=4), start=start)
            each[name] = (process_time() - begun) / samples
            figures[f"{name}_{clip}_core_hours"] = each[name] * windows * WINDOW / 3600.0
            figures[f"{name}_{clip}_published_core_hours"] = 40.0 * hours
    finally:
        set_num_threads(threads)
    return Timing(each["mascot"], {}, f"windows of {WINDOW} samples, processor time of one thread", figures)


def _flex():
    """A function that steps the same mesh as a MuJoCo flex, None where it cannot be made."""
    try:
        import mujoco
    except ImportError:
        raise MissingExtra("mujoco", "peers") from None
    who = _mascot()
    points = " ".join(f"{x:.6g}" for x in who.tetrahedra.nodes.ravel())
    corners = " ".join(str(i) for i in who.tetrahedra.element_nodes.ravel())
    text = f"""<mujoco><option timestep="0.0005" gravity="0 0 0" integrator="Euler"/><worldbody>
    <flexcomp name="m" type="direct" dim="3" radius="0.001" mass="{who.mass}" point="{points}" element="{corners}">
    <elasticity young="{who.young}" poisson="{who.poisson}" damping="0.0002"/>
    <contact contype="0" conaffinity="0" selfcollide="none"/></flexcomp></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    return lambda: mujoco.mj_step(model, data)
