"""A balance among modes: the full one where the modes hold it; walls that face each other do not cross."""

import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.flesh import (
    Contact,
    ContactSurface,
    Fibre,
    FleshSolver,
    Loads,
    Plane,
    Potential,
    attach,
    box_lattice,
    build_flesh,
    embed,
    neo_hookean,
    rest_state,
    sample_muscles,
)
from vitruvian.flesh.pair_contact import PairContact
from vitruvian.flesh.subspace import Subspace, basis_of


@pytest.fixture(scope="module")
def bar():
    """A bar held at one end, with a muscle along its upper half."""
    lattice = box_lattice((8, 3, 3), 0.01)

    def upper(x):
        return x[:, 2] > 0.015, np.tile([1.0, 0.0, 0.0], (len(x), 1))

    muscles = sample_muscles(lattice, [("upper", upper)], fibre=Fibre(2e4, 1.0))
    model = build_flesh(lattice, neo_hookean(2e4, 0.4), muscles=muscles, fixed=lattice.nodes[:, 0] < 1e-9)
    solver, found = FleshSolver(model), []
    for activation in (0.25, 0.5, 0.75, 1.0):
        state = rest_state(model)
        solver.equilibrium(state, Loads(activation=np.array([activation])))
        found.append(state.x - lattice.nodes)
    return model, np.array(found)


def test_modes_find_a_balance_that_they_hold(bar):
    model, found = bar
    space = Subspace(model, basis_of(found, 4))
    q = np.zeros(space.n_modes)
    report = space.solve(q, np.array([0.6]), evaluations=60, tolerance=1e-4)
    state = rest_state(model)
    FleshSolver(model).equilibrium(state, Loads(activation=np.array([0.6])))
    moved = np.linalg.norm(state.x - model.elements.nodes, axis=1).max()
    assert np.abs(space.positions(q) - state.x).max() < 0.02 * moved
    assert report.left < 1e-2


def test_a_warm_start_costs_less(bar):
    model, found = bar
    space = Subspace(model, basis_of(found, 4))
    q = np.zeros(space.n_modes)
    first = space.solve(q, np.array([0.6]), evaluations=60, tolerance=1e-3)
    again = space.solve(q, np.array([0.601]), evaluations=60, tolerance=1e-1)
    assert again.evaluations < first.evaluations


def test_springs_and_walls_in_modes_are_those_of_the_whole_body():
    """Ties to bone, cut cells, a wall and facing walls: L and its slope, against `Potential` at the same nodes."""
    rng = np.random.default_rng(1)
    lattice = box_lattice((3, 2, 2), 0.01)
    points = lattice.nodes[:6] + 0.002
    tied = attach(lattice, np.zeros(6, int), points, np.full(6, 1e-5), np.eye(4)[None], stiffness=1e7)
    model = build_flesh(lattice, neo_hookean(2e3, 0.4), attachments=tied)
    skin = np.array([[0.002, 0.004, 0.0], [0.02, 0.01, 0.0]])
    surface = ContactSurface(embed(lattice, skin), np.full(2, 1e-5))
    wall = Contact(surface, [Plane((0.0, 0.0, 0.0005))], stiffness=1e8)
    ends = np.array([[0.01, 0.01, 0.012]]), np.array([[0.01, 0.01, 0.013]])
    facing = PairContact(
        *(embed(lattice, e) for e in ends), np.array([[0.0, 0.0, 1.0]]), np.array([1e3]), np.zeros(1), 0.01
    )
    basis, _ = np.linalg.qr(rng.standard_normal((lattice.nodes.size, 5)))
    space = Subspace(model, basis, (wall,), facing)
    loads = Loads(targets=tied.targets(np.eye(4)[None]), contacts=(wall,), self_contact=facing)
    potential = Potential(model, loads)
    values = []
    for q in (np.zeros(5), 2e-3 * rng.standard_normal(5)):
        whole = potential.evaluate(space.positions(q), space.rest.pressure)
        assert len(whole.contacts[0].active) == 2
        assert len(whole.touching.vertex) == 1
        value, slope = space.evaluate(q, np.zeros(1))
        assert slope == pytest.approx(-space.project(whole.force), rel=1e-4, abs=1e-6 * np.abs(whole.force).max())
        values.append((value, whole.value))
    assert values[1][0] - values[0][0] == pytest.approx(values[1][1] - values[0][1], rel=1e-5)


def test_what_the_last_solve_has_found_makes_the_next_cheaper(bar):
    model, found = bar
    space = Subspace(model, basis_of(found, 4))
    used = []
    for kept in (None, space.inverse.copy()):
        q = np.zeros(space.n_modes)
        space.solve(q, np.array([0.6]), kept, evaluations=60, tolerance=1e-3)
        used.append(space.solve(q, np.array([0.8]), kept, evaluations=60, tolerance=1e-3).evaluations)
    assert used[1] < used[0]


def test_a_basis_of_another_body_is_refused(bar):
    with pytest.raises(InputError, match="rows"):
        Subspace(bar[0], np.zeros((7, 2)))


def test_facing_walls_push_apart_with_the_slope_of_their_energy():
    lattice = box_lattice((2, 1, 2), 0.01)
    first, second = np.array([[0.005, 0.005, 0.012]]), np.array([[0.005, 0.005, 0.010]])
    pair = PairContact(
        embed(lattice, first), embed(lattice, second), np.array([[0.0, 0.0, 1.0]]), np.array([1e3]), np.zeros(1), 0.01
    )
    model = build_flesh(lattice, neo_hookean(1e3, 0.3), fixed=lattice.nodes[:, 0] < -1.0)
    potential = Potential(model, Loads(self_contact=pair))
    rng = np.random.default_rng(0)
    x = lattice.nodes.copy()
    upper = x[:, 2] > 0.015
    x[upper, 2] -= 0.02  # the upper point comes to lie below the lower one
    assert pair.gaps(x)[0] < 0.0
    pressure = rest_state(model).pressure
    way = rng.standard_normal(x.shape)
    h = 1e-7
    ahead, back = (potential.evaluate(x + s * h * way, pressure).value for s in (1.0, -1.0))
    slope = -np.sum(potential.evaluate(x, pressure).force * way)
    assert (ahead - back) / (2 * h) == pytest.approx(slope, rel=1e-4)
