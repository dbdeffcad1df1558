"""Reactions, stress, energy, momentum and tangent against finite differences, balances and exact states."""

import numpy as np
import pytest

from vitruvian.flesh import (
    FleshSolver,
    Loads,
    Potential,
    angular_momentum,
    box_lattice,
    box_tetrahedra,
    build_flesh,
    flesh_energy,
    gravity,
    momentum,
    neo_hookean,
    pressure_on,
    reactions,
    rest_state,
    stress,
    tangent,
    traction,
)
from vitruvian.flesh.materials import energy_density
from vitruvian.flesh.materials import stress as stress_at
from vitruvian.verify._flesh_common import TIGHT, materials

STRETCH = np.array([[1.1, 0.05, 0.0], [0.0, 0.9, 0.1], [0.05, 0.0, 1.05]])
BLOCKS = {"lattice": lambda: box_lattice((3, 2, 4), 0.02), "tetrahedra": lambda: box_tetrahedra((2, 2, 3), 0.02)}


@pytest.fixture(params=BLOCKS.values(), ids=BLOCKS.keys(), scope="module")
def elements(request):
    return request.param()


def disturbed(model, size=0.1, seed=0):
    state = rest_state(model)
    state.x[:] = state.x @ STRETCH.T
    state.x += size * model.elements.size.min() * np.random.default_rng(seed).uniform(-1.0, 1.0, state.x.shape)
    return state


def top(elements):
    faces = elements.surface()
    high = elements.nodes[:, 2] > elements.nodes[:, 2].max() - 1e-9
    return faces[high[faces].all(axis=1)]


@pytest.mark.parametrize("number", range(4))
def test_stress_of_a_uniform_state_is_that_of_the_material(elements, number):
    material = materials()[number]
    model = build_flesh(elements, material)
    found, exact = stress(model, disturbed(model, 0.0)), stress_at(material, STRETCH)
    size = np.abs(exact).max()
    assert np.abs(found.first - exact).max() < 1e-9 * size
    cauchy = exact @ STRETCH.T / np.linalg.det(STRETCH)
    assert np.abs(found.cauchy - cauchy).max() < 1e-9 * size
    away = cauchy - np.trace(cauchy) / 3.0 * np.eye(3)
    assert found.von_mises == pytest.approx(np.sqrt(1.5 * np.sum(away**2)))


@pytest.mark.parametrize("number", range(4))
def test_energy_of_a_uniform_state_is_that_of_the_material(elements, number):
    material = materials()[number]
    model = build_flesh(elements, material)
    state = disturbed(model, 0.0)
    state.v[:] = [1.0, 2.0, 2.0]
    found = flesh_energy(model, state)
    assert found.elastic == pytest.approx(energy_density(material, STRETCH) * model.volume)
    assert found.kinetic == pytest.approx(4.5 * model.mass)
    assert found.total == found.elastic + found.kinetic


@pytest.mark.parametrize("number", range(4))
def test_force_is_the_slope_of_energy_and_tangent_the_slope_of_force(elements, number):
    model = build_flesh(elements, materials()[number], fixed=np.ones(len(elements.nodes), bool))
    state, way, step = disturbed(model), np.random.default_rng(1).standard_normal(elements.nodes.shape), 1e-7
    sides = []
    for sign in (1.0, -1.0):
        moved = state.copy()
        moved.x += sign * step * way
        sides.append((flesh_energy(model, moved).elastic, reactions(model, moved)))
    here = reactions(model, state)  # every node is held, so this is the gradient of the energy
    assert (sides[0][0] - sides[1][0]) / (2.0 * step) == pytest.approx(np.sum(here * way), rel=1e-6)
    slope, found = (sides[0][1] - sides[1][1]).ravel() / (2.0 * step), tangent(model, state) @ way.ravel()
    assert np.abs(slope - found).max() < 1e-6 * np.abs(found).max()
    matrix = tangent(model, state)
    assert np.abs((matrix - matrix.T).data).max() < 1e-9 * np.abs(matrix.data).max()


def test_reactions_balance_the_weight_and_its_moment(elements):
    model = build_flesh(elements, neo_hookean(1e4, 0.4), fixed=elements.nodes[:, 2] < 1e-9)
    state, loads = rest_state(model), Loads(force=gravity(model, (1.0, 0.0, -9.81)))
    FleshSolver(model, TIGHT).equilibrium(state, loads)
    held = reactions(model, state, loads)
    assert held.sum(axis=0) == pytest.approx(-model.mass * np.array([1.0, 0.0, -9.81]), rel=1e-6, abs=1e-7)
    moment = np.cross(state.x, held + loads.force).sum(axis=0)
    assert np.abs(moment).max() < 1e-7 * model.mass
    assert not held[~model.fixed].any()


def test_traction_adds_up_to_pull_times_area(elements):
    force = traction(elements, elements.nodes, top(elements), (10.0, 0.0, 20.0))
    width, depth = np.ptp(elements.nodes[:, 0]), np.ptp(elements.nodes[:, 1])
    assert force.sum(axis=0) == pytest.approx(np.array([10.0, 0.0, 20.0]) * width * depth)


def test_pressure_turns_with_the_skin(elements):
    pressing = pressure_on(elements, elements.nodes, top(elements), 100.0)
    turn = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    still, turned = pressing.forces(elements.nodes), pressing.forces(elements.nodes @ turn.T)
    assert still.sum(axis=0)[2] < 0.0  # inward
    assert turned == pytest.approx(still @ turn.T, abs=1e-12)
    closed = pressure_on(elements, elements.nodes, elements.surface(), 100.0)
    moved = disturbed(build_flesh(elements, neo_hookean(1e5, 0.3))).x
    assert np.abs(closed.forces(moved).sum(axis=0)).max() < 1e-12  # even on a closed skin it moves nothing as a whole


def test_pressure_does_the_work_of_the_volume_that_it_takes():
    lattice = box_lattice((3, 2, 4), 0.02)
    closed = pressure_on(lattice, lattice.nodes, lattice.surface(), 100.0)
    x = disturbed(build_flesh(lattice, neo_hookean(1e5, 0.3)), 0.0).x
    way, step = x @ np.random.default_rng(3).standard_normal((3, 3)), 1e-6

    def volume(at):
        a, b, c = (at[closed.faces[:, k]] for k in range(3))
        return np.einsum("ni,ni->", a, np.cross(b, c)) / 6.0

    rate = (volume(x + step * way) - volume(x - step * way)) / (2.0 * step)
    assert np.sum(closed.forces(x) * way) == pytest.approx(-100.0 * rate, rel=1e-6)


def test_a_block_under_pressure_finds_the_deformed_areas_own_force():
    """σ = −p 1 all around at a finite shrinkage; a dead load of the rest area would give another one."""
    lattice, material = box_lattice((2, 2, 2), 0.02), neo_hookean(1e5, 0.2)
    model = build_flesh(lattice, material, fixed=np.stack([lattice.nodes[:, a] < 1e-9 for a in range(3)], axis=1))
    state, loads = rest_state(model), Loads(pressures=[pressure_on(lattice, lattice.nodes, lattice.surface(), 1e4)])
    report = FleshSolver(model, TIGHT).equilibrium(state, loads)
    assert report.converged
    assert np.ptp(state.x, axis=0).max() < 0.0385
    assert stress(model, state).cauchy == pytest.approx(np.broadcast_to(-1e4 * np.eye(3), (8, 3, 3)), abs=1.0)
    left = np.where(model.fixed, 0.0, Potential(model, loads).evaluate(state.x, state.pressure).force)
    assert np.abs(left).max() < 1e-5


def test_momenta_of_a_rigid_motion(elements):
    model = build_flesh(elements, neo_hookean(1e5, 0.3))
    state, spin, move = rest_state(model), np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.0, -1.0])
    centre = model.node_mass @ state.x / model.mass
    state.v[:] = move + np.cross(spin, state.x - centre)
    assert momentum(model, state) == pytest.approx(model.mass * move)
    arm = state.x - centre
    inertia = np.einsum("n,nk,nk->", model.node_mass, arm, arm) * np.eye(3) - (arm.T * model.node_mass) @ arm
    assert angular_momentum(model, state, centre) == pytest.approx(inertia @ spin)
    about = angular_momentum(model, state) - np.cross(centre, model.mass * move)
    assert about == pytest.approx(inertia @ spin)
