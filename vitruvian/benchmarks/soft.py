"""Soft characters: one step beside Liu & al. 2013 (table 2) and MuJoCo's flex on the same mesh; searches.

Published: 2.1 to 3.2 ms for a step of 0.5 ms on eight cores, half an hour on 40 cores for a run cycle. MuJoCo's flex
has the same nodes and elements as bodies of three slides each, without bones, contact and plasticity.
"""

from __future__ import annotations

from functools import lru_cache
from time import perf_counter

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
from vitruvian.measured.retarget import retargeted

PUBLISHED = "Liu & al. 2013, eight cores (published)"
PUBLISHED_ELEMENTS = 4160
WORK = 120  # samples of a window
CYCLE = 8 * 1000  # samples of a run cycle: eight windows of a thousand


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
    best = interleaved(runs, repeats=30, least_seconds=0.01)  # type: ignore[arg-type]
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
    best = interleaved({"ours": lambda: elastic_forces(body.flesh, x, pose, out)}, repeats=50, least_seconds=0.01)
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
    best = interleaved({"ours": step}, repeats=20, least_seconds=0.02)["ours"]  # type: ignore[dict-item]
    return Timing(best, {}, _sizes(), {"real_time_factor": dt / best, "iterations": float(state.iterations)})


@timing
def rigid_search() -> Timing:
    """A sample of 0.1 s in a search with the flesh rigid; figure: a run cycle of 8 x 1,000 samples, in hours."""
    return _search(RigidActor(_mascot()), 200)


@timing
def soft_search() -> Timing:
    """The same with the soft mascot in steps of 4 ms, beside half an hour on 40 cores."""
    return _search(SoftActor(_mascot()), 12)


@timing
def workers() -> Timing:
    """A sample of a soft search on two workers; figures: the gain over one, that of 40 by Amdahl from it, the start."""
    times = {}
    for processes in (1, 2):
        ends = [perf_counter()]

        def window_ended(line: str, ends: list[float] = ends) -> None:
            ends.append(perf_counter())

        trying, threads = Trying(samples=WORK, kept=10), get_num_threads()
        set_num_threads(1)  # as a worker has
        try:
            search(SoftActor(_mascot()), _run(), 0.3, trying, processes=processes, say=window_ended)
        finally:
            set_num_threads(threads)
        times[processes] = np.diff(ends)
    gain = times[1][1:].sum() / times[2][1:].sum()
    serial = min(1.0, max(0.0, 2.0 / gain - 1.0))
    figures = {
        "gain_of_2": gain,
        "gain_of_40_computed": 1.0 / (serial + (1.0 - serial) / 40.0),
        "start_s": times[2][0] - times[2][1:].mean(),
    }
    return Timing(
        times[2][1:].mean() / WORK, {}, f"windows of {WORK} samples, after that in which workers start", figures
    )


def _search(actor: RigidActor | SoftActor, samples: int) -> Timing:
    trying = Trying(samples=samples, kept=4)
    search(actor, _run(), 0.1, Trying(samples=2, kept=2))
    begun = perf_counter()
    search(actor, _run(), 0.1, trying)
    each = (perf_counter() - begun) / samples
    hours = each * CYCLE / 3600.0
    figures = {"cycle_hours": hours, "cycle_hours_on_40_workers": hours / 40.0, "published_hours_on_40_cores": 0.5}
    return Timing(each, {}, _sizes(), figures)


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
