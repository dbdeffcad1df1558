"""The body: one step of bones and muscles beside MuJoCo, the activation solve beside QP solvers, and control in real
time.

MuJoCo steps the model that `vitruvian export human human.xml` writes: the same 163 coordinates, 860 tendons through
the same points. All on one core.
"""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from scipy import sparse

from vitruvian.anatomy import human
from vitruvian.benchmarks.suite import Timing, interleaved, timing
from vitruvian.control import HANGING, ActivationSolver, Gains, InverseDynamics, Relaxer, load_motion, pose
from vitruvian.couple import BodyStepper
from vitruvian.exchange import write_mjcf
from vitruvian.exchange.mjcf import qpos_from_q
from vitruvian.systems import BodySystem, Held, tracking_world
from vitruvian.systems.things import dumbbell

Array = np.ndarray
SIZE = "103 bones, 163 coordinates, 860 muscles"


@timing
def muscle_bone_step() -> Timing:
    """One implicit step of 2 ms with paths and forces, beside MuJoCo's implicitfast and ours with polylines."""
    body = human()
    rng = np.random.default_rng(0)
    stepper = BodyStepper(body.skeleton, body.muscles)
    q, v = pose(body, HANGING), 0.1 * rng.normal(size=body.skeleton.n_v)
    a = rng.uniform(0.0, 0.3, body.muscles.n_muscles)
    plain = human(paths="documents")
    straight, some = BodyStepper(plain.skeleton, plain.muscles), a[: plain.muscles.n_muscles]
    runs: dict[str, Callable[[], object]] = {
        "ours": lambda: stepper.step(q, v, a, 0.002),
        "polylines": lambda: straight.step(q, v, some, 0.002),
    }
    runs |= _mujoco_steps(q, a)
    found = interleaved(runs, repeats=25, least_seconds=0.005)
    ours, polylines = found.pop("ours"), found.pop("polylines")
    peers = {"mujoco implicitfast": found["implicitfast"]} if found else {}
    figures = {f"mujoco_{k}_ms": 1e3 * t for k, t in found.items()} | {"ours_ms": 1e3 * ours}
    figures["ratio_to_polylines"] = ours / polylines  # what wrapping costs; aim 1.6
    if "euler" in found:
        figures["ratio_to_euler"] = ours / found["euler"]
    return Timing(
        ours,
        peers,
        f"{SIZE}; ours and implicitfast are implicit in joint, spring and muscle damping, ours in stiffness too",
        figures,
    )


@timing
def muscle_bone_step_with_tendons() -> Timing:
    """One step of 2 ms with fibres and elastic tendons, beside the same body with rigid tendons and with the documents'
    muscles, a fifth of the muscles active, in full motion."""
    runs: dict[str, Callable[[], object]] = {}
    for kind in ("elastic", "rigid", "documents"):
        body = human(muscles=kind)
        rng = np.random.default_rng(0)
        stepper, state = BodyStepper(body.skeleton, body.muscles), body.at_rest(pose(body, HANGING))
        a = rng.uniform(0.0, 1.0, body.muscles.n_muscles) * (rng.uniform(size=body.muscles.n_muscles) < 0.2)
        for _ in range(50):
            state.q, state.v = stepper.step(state.q, state.v, a, 0.002, fibre=state.fibre)
        runs[kind] = lambda stepper=stepper, state=state, a=a: stepper.step(  # type: ignore[misc]
            state.q, state.v, a, 0.002, fibre=state.fibre.copy()
        )
    found = interleaved(runs, repeats=25, least_seconds=0.005)
    figures = {f"{kind}_ms": 1e3 * t for kind, t in found.items()}
    figures["ratio"] = found["elastic"] / found["documents"]
    peers = {kind: found[kind] for kind in ("rigid", "documents")}
    return Timing(found["elastic"], peers, SIZE, figures)


@timing
def activation_solve_warm() -> Timing:
    """Activations for a torque that changed by 1 %, from the last answer, beside OSQP, PIQP and Clarabel."""
    return _activation(warm=True)


@timing
def activation_solve_cold() -> Timing:
    """Activations from nothing, beside OSQP, PIQP and Clarabel."""
    return _activation(warm=False)


@timing
def controlled_second() -> Timing:
    """One second of the curl: muscles, bones, and control 60 times a second, on one core; real time is 1."""
    body = human()
    motion = load_motion(body, "curl")
    held = [Held(f"Ha_{side}", dumbbell(2.0, side)) for side in "lr"]
    simulation = BodySystem(body, motion.sample(0.0)[0], held=held, drawn=False)
    best = np.inf
    for _ in range(3):
        world = tracking_world(simulation, motion, Gains(), 4)
        world.start()
        world.step()  # compiled
        begun = process_time()
        while world.time < 1.2:
            world.step()
        best = min(best, (process_time() - begun) / (1.2 - world.dt))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    return Timing(
        float(best),
        {},
        f"{SIZE}; steps of 4.2 ms, control at 60 Hz; CPU seconds per simulated second",
        {"real_time_factor": 1.0 / float(best), "memory_mb": memory},
    )


def _mujoco_steps(q: Array, a: Array) -> dict[str, Callable[[], object]]:
    try:
        import mujoco
    except ImportError:
        return {}
    body = human()
    qpos = qpos_from_q(body, q)
    runs: dict[str, Callable[[], object]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "human.xml"
        write_mjcf(body, path, geoms="none")
        for name, integrator in (
            ("implicitfast", mujoco.mjtIntegrator.mjINT_IMPLICITFAST),
            ("euler", mujoco.mjtIntegrator.mjINT_EULER),
        ):
            model = mujoco.MjModel.from_xml_path(str(path))
            model.opt.integrator = integrator
            model.opt.timestep = 0.002 if name == "implicitfast" else 1e-5
            data = mujoco.MjData(model)

            def step(model: Any = model, data: Any = data) -> None:
                data.qpos[:] = qpos
                data.qvel[:] = 0.0
                data.ctrl[: len(a)] = a
                mujoco.mj_step(model, data)

            runs[name] = step
    return runs


def _activation(*, warm: bool) -> Timing:
    body = human()
    held = np.zeros(body.skeleton.n_v, dtype=bool)
    held[:6] = True
    inverse = InverseDynamics(body, BodyStepper(body.skeleton, body.muscles, held=held))
    q = Relaxer(body).rest(pose(body, {**HANGING, "elbow": 60, "chest": [10, 0, 0]}))
    demand = inverse.demand(body.at_rest(q), np.zeros(body.skeleton.n_v), 0.002)
    R, torque, solver = demand.map, demand.torque, ActivationSolver(upper=1.0)
    first = solver.solve(R, torque)
    wiggle = _alternating(torque)
    start = first.multiplier if warm else None
    runs: dict[str, Callable[[], object]] = {"ours": lambda: solver.solve(R, next(wiggle), start=start)}
    runs |= _quadratic_programmes(R.dense(), torque, warm)
    found = interleaved(runs, repeats=15, least_seconds=0.005)
    ours = found.pop("ours")
    steps = solver.solve(R, 1.01 * torque, start=start).iterations
    return Timing(
        ours,
        found,
        f"{R.n_rows} torques, 846 muscles, 0 <= a <= 1; ours to 1e-9, others to 1e-6",
        {"newton_steps": float(steps)},
    )


def _alternating(torque: Array):  # type: ignore[no-untyped-def]
    while True:
        yield 1.01 * torque
        yield torque


def _quadratic_programmes(R: Array, torque: Array, warm: bool) -> dict[str, Callable[[], object]]:
    """The same problem for the solvers that are installed."""
    n = R.shape[1]
    P, c = sparse.csc_matrix(sparse.eye(n)), np.zeros(n)
    both = sparse.csc_matrix(np.vstack([R, np.eye(n)]))
    wiggle = _alternating(torque)
    runs: dict[str, Callable[[], object]] = {}
    try:
        import osqp

        def bounds(t: Array) -> tuple[Array, Array]:
            return np.concatenate([t, np.zeros(n)]), np.concatenate([t, np.ones(n)])

        settings = {"eps_abs": 1e-6, "eps_rel": 1e-6, "max_iter": 20000, "verbose": False}
        if warm:
            kept = osqp.OSQP()
            kept.setup(P, c, both, *bounds(torque), **settings)
            kept.solve()

            def again() -> None:
                low, high = bounds(next(wiggle))
                kept.update(l=low, u=high)
                kept.solve()

            runs["osqp"] = again
        else:

            def fresh() -> None:
                one = osqp.OSQP()
                one.setup(P, c, both, *bounds(next(wiggle)), **settings)
                one.solve()

            runs["osqp"] = fresh
    except ImportError:
        pass
    try:
        import piqp

        equal = sparse.csc_matrix(R)

        def interior(kept: Any = None) -> Any:
            one = piqp.SparseSolver() if kept is None else kept
            t = next(wiggle)
            if kept is None:
                one.settings.verbose = False
                one.settings.eps_abs = one.settings.eps_rel = 1e-6
                one.setup(P, c, equal, t, None, None, None, np.zeros(n), np.ones(n))
            else:
                one.update(b=t)
            one.solve()
            return one

        if warm:
            ready = interior()
            runs["piqp"] = lambda: interior(ready)
        else:
            runs["piqp"] = interior
    except ImportError:
        pass
    try:
        import clarabel

        stacked = sparse.csc_matrix(np.vstack([R, -np.eye(n), np.eye(n)]))
        cones = [clarabel.ZeroConeT(len(torque)), clarabel.NonnegativeConeT(2 * n)]

        def conic() -> None:
            settings = clarabel.DefaultSettings()
            settings.verbose = False
            settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-6
            b = np.concatenate([next(wiggle), np.zeros(n), np.ones(n)])
            clarabel.DefaultSolver(P, c, stacked, b, cones, settings).solve()

        runs["clarabel"] = conic  # starts cold always
    except ImportError:
        pass
    return runs
