"""The flesh solver: light bodies, long flights and wrong balances at default settings, hard contact with more steps."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.integrate import solve_bvp
from scipy.optimize import brentq

from vitruvian.errors import Diverged
from vitruvian.flesh import (
    Contact,
    FleshSolver,
    Loads,
    Material,
    Plane,
    Potential,
    Settings,
    angular_momentum,
    box_lattice,
    build_flesh,
    contact_surface,
    flesh_energy,
    gravity,
    preset,
    rest_state,
    sample_muscles,
)
from vitruvian.flesh.fibre import fibre_tension
from vitruvian.verify.book import Finding, claim, worst

GRAVITY = 9.81  # [m/s²]


@claim
def light_bodies_fall_as_heavy_ones() -> Finding:
    """Cubes of 1 kg, 1 g and 1 mg on three lattices fall by ½ g t² in 50 steps of 10 ms, default settings, relative."""
    errors: list[float] = []
    newton: list[int] = []
    for mass in (1.0, 1e-3, 1e-6):
        side = (mass / 1060.0) ** (1.0 / 3.0)
        for n in (3, 6, 12):
            lattice = box_lattice((n, n, n), side / n)
            model = build_flesh(lattice, preset("soft"))
            weight = Loads(force=model.node_mass[:, None] * np.array([0.0, 0.0, -GRAVITY]))
            # backward Euler is late by half a step: its own exact answer is ½ g t² (1 + 1/50)
            for integrator, own in (("energy-momentum", 1.0), ("backward-euler", 1.02)):
                state, solver = rest_state(model), FleshSolver(model)
                for _ in range(50):
                    newton.append(solver.step(state, weight, 0.01, integrator=integrator).newton)
                fallen = model.node_mass @ (lattice.nodes - state.x)[:, 2] / model.mass
                errors.append(abs(float(fallen) / (own * 0.5 * GRAVITY * 0.25) - 1.0))
    detail = f"both integrators, backward Euler against its own n(n + 1)/2 g dt²; at most {np.max(newton)} Newton steps"
    return Finding.error(worst(errors), 1e-3, detail=detail)


@claim
def a_light_strip_sags_as_an_elastica() -> Finding:
    """Sag of a strip of 5×1×1 cm of soft tissue under its own weight, default settings, over a heavy elastica's."""
    lattice = box_lattice((20, 4, 4), 0.0025)
    material = preset("soft")
    model = build_flesh(lattice, material, fixed=lattice.nodes[:, 0] < 1e-9)
    state = rest_state(model)
    report = FleshSolver(model).equilibrium(state, Loads(force=model.node_mass[:, None] * np.array([0, 0, -GRAVITY])))
    end = lattice.nodes[:, 0] > 0.05 - 1e-9
    sag = float((lattice.nodes - state.x)[end, 2].mean())
    theory = _elastica_sag(material, 0.05, 0.01)
    found = sag / theory if report.converged else np.inf
    return Finding.within(found, 0.97, 1.06, detail=f"{1e3 * sag:.2f} mm against {1e3 * theory:.2f} mm without shear")


def _elastica_sag(material: Material, length: float, side: float) -> float:
    """Sag of the end [m] of a clamped elastica under its own weight: EI θ″ = −w (L − s) cos θ."""
    stiff, load = material.young_modulus * side**4 / 12.0, material.density * GRAVITY * side**2

    def slope(s: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.array([y[1], -load * (length - s) * np.cos(y[0]) / stiff, np.sin(y[0])])

    s = np.linspace(0.0, length, 50)
    found = solve_bvp(slope, lambda a, b: np.array([a[0], b[1], a[2]]), s, np.zeros((3, 50)), tol=1e-8)
    return float(found.y[2, -1])


@lru_cache(maxsize=1)
def _flight() -> tuple[np.ndarray, float, int]:
    """Energies over the first, change of spin, and Newton steps of 5 s of free vibration and spin at 10 ms."""
    lattice = box_lattice((4, 4, 8), 0.025, origin=(-0.05, -0.05, -0.1))
    model = build_flesh(lattice, preset("soft"))
    state, solver = rest_state(model), FleshSolver(model)
    state.v[:] = np.cross([0.0, 2.0, 5.0], state.x)
    state.v[:, 2] += 10.0 * state.x[:, 2]
    energy, spin, newton = [flesh_energy(model, state).total], angular_momentum(model, state), 0
    for _ in range(500):
        newton += solver.step(state, Loads(), 0.01, integrator="energy-momentum").newton
        energy.append(flesh_energy(model, state).total)
    change = np.linalg.norm(angular_momentum(model, state) - spin) / np.linalg.norm(spin)
    return np.array(energy) / energy[0], float(change), newton


@claim
def energy_is_kept_over_five_seconds_of_vibration() -> Finding:
    """Largest change of energy of a soft block that rings and spins freely for 5 s, 10 ms steps, default settings."""
    energy, _, newton = _flight()
    detail = f"500 energy-momentum steps, a fifth of a stretch wave's period each, {newton / 500:.1f} Newton steps each"
    return Finding.error(float(np.abs(energy - 1.0).max()), 0.01, detail=detail)


@claim
def spin_is_kept_over_five_seconds_at_default_settings() -> Finding:
    """Change of angular momentum over the same flight, relative."""
    return Finding.error(_flight()[1], 1e-8, detail="the force and moment that a solve leaves go into a rigid motion")


@claim
def a_falling_body_does_not_turn() -> Finding:
    """Largest turn [degrees] of cubes of 1 kg, 1 g and 1 mg that fall from rest for a second, steps of 10 ms."""
    turns: list[float] = []
    for mass in (1.0, 1e-3, 1e-6):
        lattice = box_lattice((4, 4, 4), (mass / 1060.0) ** (1.0 / 3.0) / 4)
        model = build_flesh(lattice, preset("soft"))
        state, solver, weight = rest_state(model), FleshSolver(model), Loads(force=gravity(model))
        for _ in range(100):
            solver.step(state, weight, 0.01, integrator="energy-momentum")
        turns.append(np.degrees(np.linalg.norm(_turn(lattice.nodes, state.x))))
    return Finding.error(worst(turns), 0.01, "degrees", "energy-momentum steps, default settings")


def _turn(rest: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """Rotation vector [rad] of the turn, a small one, that fits best."""
    a, b = rest - rest.mean(axis=0), moved - moved.mean(axis=0)
    inertia = np.sum(a * a) * np.eye(3) - a.T @ a
    return np.asarray(np.linalg.solve(inertia, np.cross(a, b).sum(axis=0)))


@claim
def no_wrong_balance_passes_as_converged() -> Finding:
    """Share of 1,000 bars, from random starts at stretches of 0.5 to 2, that converge to another force than the exact.

    A balance with elements inside out counts as wrong only if it is not reported, and so does one that was reached
    past a saddle, where a bar may have left the way that its load leads along (`branched`).
    """
    return _random_bars(1000, (0.5, 2.0), None)


@claim
def no_wrong_balance_of_active_muscle_passes_as_converged() -> Finding:
    """The same of 300 bars of muscle, fibres along them, activation 0.1 to 1, at stretches of 0.6 to 1.6."""
    return _random_bars(300, (0.6, 1.6), (0.1, 1.0))


def _random_bars(count: int, stretches: tuple[float, float], activations: tuple[float, float] | None) -> Finding:
    lattice, material = box_lattice((2, 2, 6), 0.01), preset("soft")
    nodes, up = lattice.nodes, np.array([0.0, 0.0, 1.0])
    end = nodes[:, 2] > 0.06 - 1e-9
    fixed = np.stack([nodes[:, 0] < 1e-9, nodes[:, 1] < 1e-9, (nodes[:, 2] < 1e-9) | end], axis=1)
    belly = [("bar", lambda p: (np.ones(len(p), bool), np.broadcast_to(up, p.shape)))]
    muscles = None if activations is None else sample_muscles(lattice, belly)
    model = build_flesh(lattice, material, muscles=muscles, fixed=fixed)
    free = build_flesh(lattice, material, muscles=muscles)
    rng, solver = np.random.default_rng(0), FleshSolver(model)
    counts = {"right": 0, "folded": 0, "branched": 0, "none": 0, "wrong": 0}
    for _ in range(count):
        stretch, noise = rng.uniform(*stretches), rng.choice([0.0, 0.05, 0.3, 1.0])
        loads, exact = Loads(), 4e-4 * _uniaxial(material, stretch)
        if activations is not None and muscles is not None:
            activation = rng.uniform(*activations, 1)
            loads = Loads(activation=activation)
            _, tension, _ = fibre_tension(stretch, activation[0], muscles.peak_stress[0], muscles.optimal_stretch[0])
            exact += 4e-4 * float(muscles.density[0] * tension)
        state = rest_state(model)
        state.x *= [stretch**-0.5, stretch**-0.5, stretch]
        state.x[~fixed] += noise * 0.01 * rng.standard_normal(state.x.shape)[~fixed]
        try:
            report = solver.equilibrium(state, loads)
        except Diverged:
            counts["none"] += 1
            continue
        force = -float(Potential(free, loads).evaluate(state.x, state.pressure).force[end, 2].sum())
        right = abs(force - exact) <= 0.01 * max(abs(exact), 1.0)
        kind = "right" if right else "folded" if report.folded else "branched" if report.branched else "wrong"
        counts[kind] += 1
    detail = ", ".join(f"{name} {n}" for name, n in counts.items())
    return Finding.error(counts["wrong"] / count, 0.0, detail=detail)


def _uniaxial(material: Material, stretch: float) -> float:
    """Nominal stress [Pa] of Mooney–Rivlin tissue that is free to the sides."""

    def stress(side: float, along: float, across: float) -> float:
        ratio, first = stretch * side**2, stretch**2 + 2.0 * side**2
        pressure = material.kappa * (ratio - 1.0) - material.rest_pressure
        return 2.0 * material.mu10 * along + 2.0 * material.mu01 * (first * along - along**3) + pressure * across

    side = brentq(lambda t: stress(t, t, stretch * t), 0.3, 2.5)
    return stress(side, stretch, side**2)


@claim
def a_strongly_compressed_bar_stays_on_its_branch() -> Finding:
    """Force of a soft bar of 2×2×6 cells at a stretch of 0.55 over the exact −28.3 N, default settings."""
    lattice, material = box_lattice((2, 2, 6), 0.01), preset("soft")
    nodes = lattice.nodes
    end = nodes[:, 2] > 0.06 - 1e-9
    fixed = np.stack([nodes[:, 0] < 1e-9, nodes[:, 1] < 1e-9, (nodes[:, 2] < 1e-9) | end], axis=1)
    model, free = build_flesh(lattice, material, fixed=fixed), build_flesh(lattice, material)
    state = rest_state(model)
    state.x *= [0.55**-0.5, 0.55**-0.5, 0.55]
    FleshSolver(model).equilibrium(state, Loads())
    force = -float(Potential(free, Loads()).evaluate(state.x, state.pressure).force[end, 2].sum())
    exact = 4e-4 * _uniaxial(material, 0.55)
    return Finding.error(abs(force / exact - 1.0), 1e-3, detail=f"{force:.2f} N against {exact:.2f} N")


@claim
def a_crushed_block_recovers() -> Finding:
    """Deepest that the skin of a block lies in the plates that crush it to 30 %, rough with 0.3, in millimetres.

    Let go, the block must find its shape again, within a thousandth of its edge (rms). Up to 80 Newton steps a time
    step, twice the default. Blocks of 20³ cells go the same way, in two minutes instead of ten seconds.
    """
    n, edge = 8, 0.2
    lattice = box_lattice((n, n, n), edge / n)
    model = build_flesh(lattice, preset("soft"))
    skin = contact_surface(lattice, lattice.nodes, lattice.surface())
    solver, state, rest = FleshSolver(model, Settings(newton=80)), rest_state(model), lattice.nodes
    outside = skin.areas > 0.0
    depths, folded, lowest, retried = [0.0], 0, 1.0, 0
    time, dt = 0.0, 1.0 / 60.0
    while time < 1.2:
        ahead = time + dt
        top = edge * (1.0 - 0.7 * min(1.0, 3.0 * ahead)) if ahead < 0.43 else 3.0 * edge
        plates = Contact(skin, (Plane(), Plane((0.0, 0.0, top), (0.0, 0.0, -1.0))), friction=0.3)
        try:
            report = solver.step(state, Loads(contacts=(plates,)), dt)
        except Diverged:
            retried, dt = retried + 1, 0.5 * dt
            if dt < 1e-4:
                return Finding.error(np.inf, 1.0, "mm", detail=f"no step at {time:.3f} s")
            continue
        time, dt = ahead, min(2.0 * dt, 1.0 / 60.0)
        out = state.x[outside, 2]
        depths.append(float(np.max([0.0, -out.min(), out.max() - top])))
        folded, lowest = max(folded, report.folded), min(lowest, float(np.ptp(out)) / edge)
    here, there = state.x - state.x.mean(axis=0), rest - rest.mean(axis=0)
    left, _, right = np.linalg.svd(there.T @ here)
    off = float(np.sqrt(np.mean(np.sum((here - there @ left @ right) ** 2, axis=1)))) / edge
    detail = (
        f"{n}³ cells, height down to {lowest:.3f}; {folded} cells folded at worst, {report.folded} at the end; shape "
        f"off by {off:.1e} of the edge; {retried} steps taken again at half the time"
    )
    return Finding.error(1e3 * worst(depths) if off < 1e-3 and report.folded == 0 else np.inf, 1.0, "mm", detail=detail)
