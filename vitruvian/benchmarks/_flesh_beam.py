"""A beam that sags under its own weight in our lattice and in MuJoCo's flex, in the same run.

Same work: a cantilever of 400×40×40 mm, E 1 MPa, ν 0.3, 1060 kg/m³, let go at rest, is stepped by 2 ms with the same
mass damping until it has come to rest. MuJoCo integrates with `discrete`, the one of its schemes that takes such steps,
and enough iterations for it not to warn; we by backward Euler at default settings. Accuracy is the sag over that of
beam theory (Timoshenko; a hundredth of gravity keeps it small).
"""

from __future__ import annotations

from time import process_time

import numpy as np

from vitruvian.benchmarks.suite import Timing, interleaved
from vitruvian.errors import MissingExtra
from vitruvian.flesh import (
    FleshSolver,
    Loads,
    Potential,
    Settings,
    box_lattice,
    build_flesh,
    gravity,
    neo_hookean,
    preset,
    rest_state,
)
from vitruvian.flesh.newton import Newton

LENGTH, SIDE = 0.4, 0.04  # [m]
YOUNG, POISSON, DENSITY = 1e6, 0.3, 1060.0  # [Pa], -, [kg/m³]
GRAVITY = 0.0981  # [m/s²]
DT, STEPS = 2e-3, 300
DAMPING = 12.0  # [1/s], of mass


def theory() -> float:
    """Sag [m] of the end of a cantilever under its own weight."""
    load, inertia = DENSITY * SIDE**2 * GRAVITY, SIDE**4 / 12.0
    shear = YOUNG / (2.0 * (1.0 + POISSON)) * SIDE**2 * 5.0 / 6.0
    return load * LENGTH**4 / (8.0 * YOUNG * inertia) + load * LENGTH**2 / (2.0 * shear)


def beam_timing(ours: int, theirs: int) -> Timing:
    """ours, theirs: elements across."""
    seconds, sag, nodes = _ours(ours)
    peer_seconds, peer_sag, peer_nodes = _mujoco(theirs)
    return Timing(
        seconds / STEPS,
        {"MuJoCo, flex": peer_seconds / STEPS},
        f"{nodes} nodes; MuJoCo {peer_nodes} nodes; {STEPS} steps of {1e3 * DT:g} ms; processor time",
        {"sag over theory": sag / theory(), "sag of MuJoCo over theory": peer_sag / theory()},
    )


def _ours(across: int) -> tuple[float, float, int]:
    lattice = box_lattice((10 * across, across, across), SIDE / across)
    material = neo_hookean(YOUNG, POISSON, density=DENSITY)
    model = build_flesh(lattice, material, fixed=lattice.nodes[:, 0] < 1e-9)
    solver, loads = FleshSolver(model), Loads(force=gravity(model, (0.0, 0.0, -GRAVITY)))
    solver.step(rest_state(model), loads, DT, mass_damping=DAMPING)  # compile
    state = rest_state(model)
    begun = process_time()
    for _ in range(STEPS):
        solver.step(state, loads, DT, mass_damping=DAMPING)
    seconds = process_time() - begun
    end = lattice.nodes[:, 0] > LENGTH - 1e-9
    return seconds, float((lattice.nodes - state.x)[end, 2].mean()), len(lattice.nodes)


def _mujoco(across: int) -> tuple[float, float, int]:
    try:
        import mujoco
    except ImportError:
        raise MissingExtra("MuJoCo", "pip install mujoco") from None
    n, h = (10 * across + 1, across + 1, across + 1), SIDE / across
    text = f"""
    <mujoco>
      <option timestep="{DT}" gravity="0 0 {-GRAVITY}" integrator="discrete" iterations="1000" tolerance="1e-10"/>
      <worldbody>
        <flexcomp type="grid" count="{n[0]} {n[1]} {n[2]}" spacing="{h} {h} {h}" radius="{0.1 * h}" dim="3" name="beam"
                  mass="{DENSITY * LENGTH * SIDE**2}" pos="{LENGTH / 2} 0 0">
          <elasticity young="{YOUNG}" poisson="{POISSON}" damping="0.01"/>
          <contact selfcollide="none"/>
          <pin gridrange="0 0 0 0 {across} {across}"/>
        </flexcomp>
      </worldbody>
    </mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    model.dof_damping[:] = DAMPING * model.body_mass[model.dof_bodyid]
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    rest = data.flexvert_xpos.copy()
    begun = process_time()
    for _ in range(STEPS):
        mujoco.mj_step(model, data)
    seconds = process_time() - begun
    end = rest[:, 0] > rest[:, 0].max() - 1e-9
    return seconds, float((rest - data.flexvert_xpos)[end, 2].mean()), len(rest)


def preconditioner_timing(counts: tuple[int, int, int]) -> Timing:
    """Assembling the preconditioner and one solve, a block held at one end and pulled by its weight."""
    lattice = box_lattice(counts, 0.01)
    model = build_flesh(lattice, preset("soft"), fixed=lattice.nodes[:, 2] < 1e-9)
    state, potential = rest_state(model), Potential(model, Loads())
    force = np.where(model.fixed, 0.0, gravity(model))
    now = potential.evaluate(state.x, state.pressure)
    solvers = {by: Newton(model, Settings(multigrid=by, krylov=20000)) for by in (True, False)}
    iterations = {}
    for by, newton in solvers.items():
        newton.assemble(potential, state.x, state.pressure, now, False)
        iterations[by] = newton.solve(force, 0.1)[0]

    def run(by: bool) -> None:
        solvers[by].precondition()
        solvers[by].solve(force, 0.1)

    found = interleaved({"multigrid": lambda: run(True), "diagonal blocks": lambda: run(False)})
    return Timing(
        found["multigrid"],
        {"our own, diagonal blocks": found["diagonal blocks"]},
        f"{len(lattice.nodes)} nodes, {counts[2]} cells from what holds them",
        {"iterations": float(iterations[True]), "iterations of diagonal blocks": float(iterations[False])},
    )
