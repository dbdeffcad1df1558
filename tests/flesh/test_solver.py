"""Equilibrium and time steps: the verification claims that are fast, and what the book does not hold."""

import dataclasses
import os
import subprocess
import sys

import numpy as np
import pytest

import vitruvian.verify.flesh as chapter
from vitruvian.errors import InputError
from vitruvian.flesh import (
    Box,
    Capsule,
    Contact,
    FleshSolver,
    Loads,
    Plane,
    Potential,
    Settings,
    Unbalanced,
    angular_momentum,
    box_lattice,
    box_tetrahedra,
    build_flesh,
    contact_surface,
    corotated,
    flesh_energy,
    gravity,
    neo_hookean,
    preset,
    rest_state,
    sample_muscles,
    tissue_volume,
)
from vitruvian.mesh import box, sphere

FAST = [
    chapter.patch_test,
    chapter.patch_test_on_cut_cells,
    chapter.rigid_motion_is_force_free,
    chapter.stress_is_the_derivative_of_energy,
    chapter.stiffness_is_the_derivative_of_stress,
    chapter.assembled_forces_and_stiffness_are_derivatives,
    chapter.axial_bar,
    chapter.cantilever_nu_0_499,
    chapter.uniform_pressure,
    chapter.first_bending_frequency,
    chapter.inverted_start_recovers,
    chapter.embedded_forces_do_the_same_work,
    chapter.attachment_forces_balance_the_skin,
]


@pytest.mark.parametrize("claim", FAST, ids=lambda c: c.name)
def test_claim_of_the_verification_book(claim):
    finding = claim.measure()
    assert finding.passed, f"{finding.value} {finding.detail}"


def muscle_block(side=4):
    lattice = box_lattice((side, side, 2 * side), 0.01)
    up = np.array([0.0, 0.0, 1.0])
    muscles = sample_muscles(lattice, [("m", lambda p: (np.ones(len(p), bool), np.broadcast_to(up, p.shape)))])
    return lattice, build_flesh(lattice, preset("si-paper"), muscles=muscles, fixed=lattice.nodes[:, 2] < 1e-9)


def test_an_active_muscle_shortens_and_bulges_at_constant_volume():
    lattice, model = muscle_block()
    state = rest_state(model)
    solver = FleshSolver(model, Settings(residual=1e-4))
    widths, heights = [], []
    for activation in (0.0, 0.5, 1.0):
        assert solver.equilibrium(state, Loads(activation=np.array([activation]))).converged
        middle = np.abs(lattice.nodes[:, 2] - 0.04) < 1e-9
        widths.append(np.ptp(state.x[middle, 0]))
        heights.append(state.x[:, 2].max())
    assert widths[0] < widths[1] < widths[2]
    assert heights[0] > heights[1] > heights[2]
    assert tissue_volume(lattice, state.x) == pytest.approx(model.volume, rel=2e-3)


THREADS = """
from hashlib import blake2b

import numba
import numpy as np

from vitruvian.flesh import *
from vitruvian.flesh.viscosity import Drag, viscosity


@numba.njit(parallel=True)
def who(ids):
    for i in numba.prange(len(ids)):
        ids[i] = numba.get_thread_id()


def solved(elements, multigrid):
    up = np.array([0.6, 0.0, 0.8])
    muscles = sample_muscles(elements, [("m", lambda p: (p[:, 0] > 0.05, np.broadcast_to(up, p.shape)))])
    points = np.random.default_rng(0).uniform(0.02, 0.08, (400, 3))
    tied = attach(elements, np.zeros(400, int), points, np.full(400, 1e-5), np.eye(4)[None])
    model = build_flesh(elements, [neo_hookean(5e4, 0.45), corotated(5e4, 0.45)], muscles=muscles, attachments=tied,
        of_cell=(elements.centres()[:, 1] > 0.05).astype(int))
    skin = contact_surface(elements, elements.nodes, elements.surface())
    state = rest_state(model)
    state.v[:] = 0.2 * np.random.default_rng(1).standard_normal(state.v.shape)
    loads = Loads(targets=tied.targets(np.eye(4)[None]), activation=np.array([0.5]),
        contacts=(Contact(skin, (Plane((0, 0, 0.004)),)),), drag=Drag(viscosity(model), 0.1, state.x.copy()))
    solver = FleshSolver(model, Settings(residual=1e-6, multigrid=multigrid))
    report = solver.step(state, loads, 4e-3, stiffness_damping=1e-3)
    assert report.krylov > 20 and report.assemblies > 1
    moved = solver.newton.responses(Potential(model, loads), state.x, state.pressure, 1e-3 * state.v[None], 1e-2)
    return blake2b(b"".join(a.tobytes() for a in (state.x, state.v, state.pressure, moved)), digest_size=8).hexdigest()


for count in (1, 2, 4):
    numba.set_num_threads(count)
    ids = np.zeros(1000, np.int64)
    who(ids)
    blocks = box_lattice((12, 10, 13), 0.01), box_tetrahedra((11, 9, 12), 0.01)
    print(len(np.unique(ids)), *(solved(e, m) for e in blocks for m in (False, True)))
"""


def test_the_answer_has_the_same_bits_on_one_two_and_four_threads():
    """On blocks of some 2000 nodes, several times the rows and elements that a thread takes at a time."""
    free = {k: v for k, v in os.environ.items() if k not in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")}
    command = [sys.executable, "-c", THREADS]
    run = subprocess.run(command, env={**free, "NUMBA_NUM_THREADS": "4"}, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    one, two, four = (line.split() for line in run.stdout.splitlines())
    assert [one[0], two[0], four[0]] == ["1", "2", "4"]  # threads that were really at work
    assert one[1:] == two[1:] == four[1:]
    assert len(set(one)) == 5


def test_free_flight_keeps_linear_momentum():
    lattice = box_lattice((2, 2, 4), 0.02)
    model = build_flesh(lattice, neo_hookean(5e4, 0.4))
    state = rest_state(model)
    state.v[:] = np.array([0.3, -0.2, 1.0]) + 0.5 * np.random.default_rng(0).standard_normal(state.v.shape)
    solver = FleshSolver(model, Settings(residual=1e-9, gap=1e-8, tolerance=1e-3))
    before = model.node_mass @ state.v
    for _ in range(5):
        solver.step(state, Loads(), 1e-3, stiffness_damping=1e-3)
    assert model.node_mass @ state.v == pytest.approx(before, rel=1e-9, abs=1e-10)


def spinning_block():
    lattice = box_lattice((2, 2, 4), 0.02, origin=(-0.02, -0.02, -0.04))
    model = build_flesh(lattice, neo_hookean(5e4, 0.4))
    state = rest_state(model)
    state.v[:] = np.array([0.2, 0.0, 0.1]) + np.cross([3.0, 1.0, 0.5], state.x)
    return model, state


def test_energy_momentum_steps_keep_angular_momentum_and_backward_euler_loses_what_it_says():
    settings, dt = Settings(residual=1e-9, gap=1e-9, tolerance=1e-3), 2e-3

    def spin(model, state):
        return (model.node_mass[:, None] * np.cross(state.x, state.v)).sum(axis=0)

    model, state = spinning_block()
    before = spin(model, state)
    for _ in range(10):
        FleshSolver(model).step(state, Loads(), dt, integrator="energy-momentum")
    assert spin(model, state) == pytest.approx(before, rel=1e-10, abs=1e-12)
    model, state = spinning_block()
    speed = state.v.copy()
    FleshSolver(model, settings).step(state, Loads(), dt)
    lost = dt * (model.node_mass[:, None] * np.cross(speed, state.v)).sum(axis=0)
    assert spin(model, state) - before == pytest.approx(-lost, rel=1e-5, abs=1e-10)
    assert np.linalg.norm(lost) > 1e-3 * dt * np.linalg.norm(before)


@pytest.mark.parametrize("spin", [(0.0, 0.0, 0.0), (3.0, 1.0, 0.5)], ids=["dropped", "thrown with a spin"])
def test_spin_about_its_own_centre_is_kept_by_a_body_that_falls(spin):
    """1 g of tissue for half a second: what the solver leaves unbalanced must not turn it."""
    lattice = box_lattice((3, 3, 3), 0.01 / 3)
    model = build_flesh(lattice, preset("soft"))
    state, solver, weight = rest_state(model), FleshSolver(model), Loads(force=gravity(model))
    state.v[:] = np.array([1.0, 0.5, 0.0]) + np.cross(spin, state.x)

    def own_spin():
        return angular_momentum(model, state, about=model.node_mass @ state.x / model.mass)

    before = own_spin()
    for _ in range(50):
        solver.step(state, weight, 0.01, integrator="energy-momentum")
    fast = model.mass * 0.01 * np.abs(state.v).max()  # of a mass at the rim
    assert np.abs(own_spin() - before).max() < 1e-9 * fast
    if not any(spin):
        a = (state.x - state.x.mean(axis=0)) - (lattice.nodes - lattice.nodes.mean(axis=0))
        assert np.abs(a).max() < 1e-4 * 0.01


def test_rayleigh_damping_takes_energy():
    lattice = box_lattice((2, 2, 4), 0.02)
    model = build_flesh(lattice, neo_hookean(5e4, 0.4), fixed=lattice.nodes[:, 2] < 1e-9)
    left = []
    for damping in (0.0, 0.01):
        state = rest_state(model)
        state.v[:, 0] = lattice.nodes[:, 2]
        state.v[model.fixed] = 0.0
        solver = FleshSolver(model, Settings(residual=1e-6))
        widest = 0.0
        for step in range(60):
            solver.step(state, Loads(), 4e-3, stiffness_damping=damping)
            if step >= 40:
                widest = max(widest, np.abs(state.x - lattice.nodes).max())
        left.append(widest)
    assert left[1] < 0.5 * left[0]


def test_a_block_rests_on_the_ground_with_its_weight():
    lattice = box_lattice((3, 3, 3), 0.02, origin=(0.0, 0.0, 0.0005))
    model = build_flesh(lattice, neo_hookean(5e4, 0.45))
    skin = box((0.06, 0.06, 0.06), (0.03, 0.03, 0.0305))
    vertices, faces = skin
    surface = contact_surface(lattice, np.vstack([vertices, lattice.nodes]), faces)
    surface = dataclasses.replace(surface, areas=np.r_[surface.areas[: len(vertices)], np.full(lattice.n_nodes, 1e-4)])
    contact = Contact(surface, (Plane(),), friction=0.5)
    state = rest_state(model)
    weight = np.zeros_like(lattice.nodes)
    weight[:, 2] = -9.81 * model.node_mass
    solver = FleshSolver(model, Settings(residual=1e-5))
    for _ in range(60):
        solver.step(state, Loads(force=weight, contacts=(contact,)), 5e-3, mass_damping=5.0, stiffness_damping=0.02)
    assert state.push[:, 2].sum() == pytest.approx(9.81 * model.mass, rel=0.02)
    assert -state.x[:, 2].min() < 0.01 * 0.02  # the gap: a hundredth of an edge
    assert abs(state.v).max() < 1e-2


@pytest.mark.parametrize(
    "shape",
    [Plane((0, 0, 0.1), (0.2, 0.3, 1.0)), Capsule((0, 0, 0), (0.1, 0, 0), 0.05), Box((0, 0, 0), (0.1, 0.2, 0.05))],
)
def test_contact_shapes_give_distances_with_unit_gradients(shape):
    points = np.random.default_rng(0).uniform(-0.3, 0.3, (200, 3))
    distance, gradient = shape.distance(points)
    assert np.linalg.norm(gradient, axis=1) == pytest.approx(np.ones(200))
    step = 1e-7
    for axis in range(3):
        ahead = shape.distance(points + step * np.eye(3)[axis])[0]
        smooth = np.abs((ahead - distance) / step - gradient[:, axis]) < 1e-4
        assert smooth.mean() > 0.97  # edges and axes have no gradient


def test_contact_starts_from_the_force_that_it_carried():
    lattice = box_lattice((4, 4, 4), 0.02)
    model = build_flesh(lattice, preset("soft"))
    skin = contact_surface(lattice, lattice.nodes, lattice.surface())
    plates = Loads(contacts=(Contact(skin, (Plane(), Plane((0.0, 0.0, 0.07), (0.0, 0.0, -1.0)))),))
    state, solver = rest_state(model), FleshSolver(model)
    first = solver.step(state, plates, 0.02).newton
    for _ in range(10):
        solver.step(state, plates, 0.02, mass_damping=50.0)
    fresh = state.copy()
    fresh.push[:] = 0.0
    again, anew = solver.step(state, plates, 0.02).newton, solver.step(fresh, plates, 0.02).newton
    assert state.push[:, 2].max() > 0.1
    assert again <= 3
    assert min(first, anew) >= 2 * again


def test_contact_surface_shares_its_area_among_vertices():
    lattice = box_lattice((2, 2, 2), 0.05, origin=(-0.05, -0.05, -0.05))
    surface = contact_surface(lattice, *sphere(0.04))
    assert surface.areas.sum() == pytest.approx(4 * np.pi * 0.04**2, rel=0.02)


@pytest.mark.parametrize(
    ("loads", "word"),
    [
        (Loads(), "nothing holds"),
        (Loads(activation=np.zeros(3)), "0 muscles"),
        (Loads(force=np.zeros((2, 3))), "force must have shape"),
        (Loads(targets=np.zeros((2, 3))), "0 attachments"),
    ],
)
def test_loads_that_do_not_fit_are_refused(loads, word):
    model = build_flesh(box_lattice((1, 1, 1), 0.1), preset("lee"))
    with pytest.raises(InputError, match=word):
        FleshSolver(model).equilibrium(rest_state(model), loads)


def test_a_step_needs_a_positive_time():
    model = build_flesh(box_lattice((1, 1, 1), 0.1), preset("lee"))
    with pytest.raises(InputError, match="dt"):
        FleshSolver(model).step(rest_state(model), Loads(), 0.0)


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"residual": -1.0}, "residual must be a positive number, got -1.0"),
        ({"residual": 1.5}, "residual is relative"),
        ({"gap": 0.0}, "gap"),
        ({"tolerance": np.nan}, "tolerance"),
        ({"chord": "a"}, "chord"),
        ({"newton": -1}, "newton"),
        ({"krylov": 0.5}, "krylov"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, word):
    with pytest.raises(InputError, match=word):
        Settings(**settings)


@pytest.mark.parametrize("fixed", [np.zeros(3, bool), np.zeros((8, 2), bool), True])
def test_fixed_nodes_that_do_not_fit_are_refused(fixed):
    with pytest.raises(InputError, match=r"fixed must have shape \(8,\) or \(8, 3\)"):
        build_flesh(box_lattice((1, 1, 1), 0.1), preset("lee"), fixed=fixed)


def test_cells_that_end_inside_out_are_counted():
    lattice = box_lattice((2, 1, 1), 0.1)
    model = build_flesh(lattice, preset("lee"), fixed=np.ones(lattice.n_nodes, bool))
    solver, state = FleshSolver(model), rest_state(model)
    assert solver.equilibrium(state, Loads()).folded == 0
    state.x[np.argmax(lattice.nodes.sum(axis=1)), 0] -= 0.15  # one corner through its cell's far side
    assert solver.equilibrium(state, Loads()).folded == 1
    state.x[:] = lattice.nodes * [1.0, 1.0, -1.0]
    assert solver.equilibrium(state, Loads()).folded == 2


def test_a_failed_solve_raises_and_leaves_the_state_as_it_was():
    lattice = box_lattice((2, 2, 4), 0.02)
    model = build_flesh(lattice, neo_hookean(5e4, 0.4), fixed=lattice.nodes[:, 2] < 1e-9)
    push = np.zeros_like(lattice.nodes)
    push[:, 0] = 1.0
    hurried = FleshSolver(model, Settings(newton=1, residual=1e-9))
    for solve in (
        lambda state: hurried.equilibrium(state, Loads(force=push)),
        lambda state: hurried.step(state, Loads(force=push), 0.01),
        lambda state: hurried.step(state, Loads(force=push), 0.01, integrator="energy-momentum"),
    ):
        state = rest_state(model)
        state.v[:] = 0.1
        before = state.copy()
        with pytest.raises(Unbalanced) as failure:
            solve(state)
        assert not failure.value.report.balanced
        assert all(np.array_equal(getattr(state, k), getattr(before, k)) for k in ("x", "v", "pressure", "push"))


@pytest.mark.parametrize("make", [lambda: box_lattice((2, 2, 3), 0.02), lambda: box_tetrahedra((2, 2, 3), 0.02)])
def test_energy_momentum_steps_keep_energy_and_spin_with_active_muscle(make):
    elements = make()
    up = np.array([0.0, 0.6, 0.8])
    muscles = sample_muscles(elements, [("m", lambda p: (p[:, 0] > 0.02, np.broadcast_to(up, p.shape)))])
    model = build_flesh(
        elements,
        [neo_hookean(5e4, 0.45), corotated(5e4, 0.4)],
        of_cell=elements.centres()[:, 1] > 0.02,
        muscles=muscles,
    )
    state, loads = rest_state(model), Loads(activation=np.array([0.3]))
    state.v[:] = np.cross([4.0, 1.0, 2.0], state.x)
    solver = FleshSolver(model, Settings(residual=1e-5, gap=1e-7))

    def energy():
        elastic, potential = model.elasticity, Potential(model, loads)
        pressure = elastic.bulk * (potential.evaluate(state.x, state.pressure).jbar - 1.0) - elastic.rest_pressure
        stored = np.sum(elements.volume * (pressure + elastic.rest_pressure) ** 2 / (2.0 * elastic.bulk))
        moving = 0.5 * np.sum(model.node_mass[:, None] * state.v**2)
        return potential.evaluate(state.x, pressure).value - stored + moving

    def spin():
        return (model.node_mass[:, None] * np.cross(state.x, state.v)).sum(axis=0)

    first, turning = energy(), spin()
    moving = []
    for _ in range(40):
        solver.step(state, loads, 2e-3, integrator="energy-momentum")
        moving.append(0.5 * np.sum(model.node_mass[:, None] * state.v**2))
    assert energy() == pytest.approx(first, abs=0.01 * max(moving))
    assert spin() == pytest.approx(turning, rel=1e-10, abs=1e-14)


def test_short_energy_momentum_steps_keep_energy_at_default_settings():
    """A pressure that lags behind its volume within the tolerance fed 4 % in here."""
    lattice = box_lattice((2, 2, 4), 0.05)
    model = build_flesh(lattice, preset("soft"))
    state, solver = rest_state(model), FleshSolver(model)
    state.v[:, 2] = 10.0 * (lattice.nodes[:, 2] - lattice.nodes[:, 2].mean())

    def energy():
        found = flesh_energy(model, state)
        return found.elastic + found.kinetic

    first = energy()
    for _ in range(150):
        solver.step(state, Loads(), 1e-3, integrator="energy-momentum")
    assert energy() == pytest.approx(first, rel=2e-3)


def test_forces_over_a_step_do_the_work_by_which_the_energy_falls():
    elements = box_lattice((2, 2, 2), 0.02)
    up = np.array([0.0, 0.6, 0.8])
    muscles = sample_muscles(elements, [("m", lambda p: (np.ones(len(p), bool), np.broadcast_to(up, p.shape)))])
    rng, activation = np.random.default_rng(0), np.array([0.6])
    for material in (preset("soft"), neo_hookean(5e4, 0.45), corotated(5e4, 0.45)):
        model = build_flesh(elements, material, muscles=muscles)
        elastic, volume = model.elasticity, elements.volume
        a, b = (elements.nodes + 0.0015 * rng.standard_normal(elements.nodes.shape) for _ in range(2))

        def stored(x, elastic=elastic, volume=volume):
            found = elastic.forces(x, -elastic.rest_pressure, activation, np.zeros_like(x))
            pressure = elastic.bulk * (found.jbar - 1.0) - elastic.rest_pressure
            parts = elastic.forces(x, pressure, activation, np.zeros_like(x)).parts
            return sum(parts) - np.sum(volume * (pressure + elastic.rest_pressure) ** 2 / (2.0 * elastic.bulk))

        force = np.zeros_like(a)
        mean = elastic.secant_forces(a, b, -elastic.rest_pressure, activation, force).jbar
        force[:] = 0.0
        elastic.secant_forces(a, b, elastic.bulk * (mean - 1.0) - elastic.rest_pressure, activation, force)
        fall = stored(a) - stored(b)
        assert np.sum(force * (b - a)) == pytest.approx(fall, rel=2e-4)
        assert force.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-9 * np.abs(force).max())
        assert np.cross(0.5 * (a + b), force).sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-9 * np.abs(force).max())


def test_an_unknown_integrator_is_refused():
    model = build_flesh(box_lattice((1, 1, 1), 0.1), preset("lee"))
    with pytest.raises(InputError, match="midpoint"):
        FleshSolver(model).step(rest_state(model), Loads(), 0.01, integrator="midpoint")


@pytest.mark.parametrize(("chord", "kept"), [(1e-9, False), (0.999, True)], ids=["never", "while forces fall"])
def test_the_matrix_is_kept_while_steps_bring_the_forces_down(chord, kept):
    lattice = box_lattice((3, 3, 6), 0.02)
    top = lattice.nodes[:, 2] > 0.12 - 1e-9
    model = build_flesh(lattice, preset("si-paper"), fixed=top | (lattice.nodes[:, 2] < 1e-9))
    state = rest_state(model)
    state.x[top, 0] += 2e-3
    report = FleshSolver(model, Settings(chord=chord)).equilibrium(state, Loads())
    assert report.converged
    assert report.newton > 3
    assert report.assemblies == (1 if kept else report.newton)
