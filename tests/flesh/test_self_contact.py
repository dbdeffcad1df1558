"""Skin touches skin with opposite forces, by an energy with exact derivatives, and not where it is one part at rest."""

from dataclasses import replace

import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.flesh import (
    FleshSolver,
    Loads,
    Potential,
    Settings,
    build_flesh,
    lattice_from_level_set,
    neo_hookean,
    rest_state,
    self_contact,
)
from vitruvian.flesh.krylov import multiply
from vitruvian.flesh.lattice.self_contact import add_normals
from vitruvian.flesh.pairs import Pairs, couple, movers, strays
from vitruvian.mesh import capsule, sphere

H, GAP = 0.01, 0.004


def two_balls():
    """Two balls of 25 mm radius, 4 mm apart in z, in one lattice, the far half of each held; which nodes are upper."""
    middles = np.array([[0.0, 0.0, -0.025 - GAP / 2], [0.0, 0.0, 0.025 + GAP / 2]])

    def balls(p):
        return np.min([np.linalg.norm(p - m, axis=1) for m in middles], axis=0) - 0.025

    lattice = lattice_from_level_set(balls, [-0.03, -0.03, -0.055], [0.03, 0.03, 0.055], H, samples=5)
    meshes = [sphere(0.025, tuple(m)) for m in middles]
    vertices = np.concatenate([m[0] for m in meshes])
    faces = np.concatenate([meshes[0][1], meshes[1][1] + len(meshes[0][0])])
    top = np.zeros(lattice.n_nodes, bool)
    top[lattice.cell_nodes[lattice.centres()[:, 2] > 0.0]] = True
    model = build_flesh(lattice, neo_hookean(5e4, 0.45), fixed=np.abs(lattice.nodes[:, 2]) > 0.026)
    return model, self_contact(lattice, vertices, faces, stiffness=2e7), top


def pressed(depth=0.008):
    model, contact, top = two_balls()
    state = rest_state(model)
    state.x[top, 2] -= depth
    report = FleshSolver(model, Settings(residual=0.02, gap=1e-7)).equilibrium(state, Loads(self_contact=contact))
    return model, contact, top, state, report


def test_nothing_touches_at_rest():
    model, contact, _ = two_balls()
    assert contact.free.all()
    assert len(contact.find_pairs(model.lattice.nodes).vertex) == 0


def test_pressed_balls_push_each_other_apart_with_opposite_forces():
    model, contact, top, state, report = pressed(0.0085)
    assert report.converged
    assert report.left_out == 0
    force, pairs = np.zeros_like(state.x), contact.find_pairs(state.x)
    pairs.forces(force)
    push = force[top].sum(axis=0)
    assert push[2] > 0.1  # up on the upper ball
    assert force.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)
    assert np.cross(state.x, force).sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)
    # they press, but hardly sink in: 4 mm of closing go into the tissue
    assert 0.0 < pairs.depth.max() < 1e-3
    # what contact brings, tissue carries
    elastic = Potential(model, Loads()).evaluate(state.x, state.pressure).force
    free = ~model.fixed.any(axis=1)
    assert np.linalg.norm((elastic + force)[free]) < 0.021 < 0.02 * push[2]


def test_depth_is_that_of_the_balls_however_they_are_turned():
    model, contact, top = two_balls()
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    x = model.lattice.nodes.copy()
    x[top, 2] -= 0.01
    pairs = contact.find_pairs(x @ turn.T)
    # along the axis the upper ball reaches 10 - 4 mm into the lower one
    assert pairs.depth.max() == pytest.approx(0.006, abs=5e-4)
    assert np.linalg.norm(pairs.direction, axis=1) == pytest.approx(1.0, abs=0.05)


def test_force_is_the_derivative_of_energy_and_stiffness_that_of_force_at_small_depth():
    model, contact, top = two_balls()
    rng = np.random.default_rng(0)
    x = model.lattice.nodes.copy()
    x[top, 2] -= 0.0055
    x += 1e-5 * rng.standard_normal(x.shape)
    pressure, d, step = rest_state(model).pressure, rng.standard_normal(x.shape), 1e-8
    d[model.fixed] = 0.0
    potential = Potential(model, Loads(self_contact=contact))
    here, plus, minus = (potential.evaluate(y, pressure) for y in (x, x + step * d, x - step * d))
    assert len(here.touching.vertex) > 4
    assert (plus.value - minus.value) / (2 * step) == pytest.approx(-np.sum(here.force * d), rel=1e-5)
    data, product = np.zeros((len(model.pattern.column), 9)), np.empty_like(x)
    pairs = potential.stiffness(x, pressure, here, False, data)
    multiply(model.pattern.start, model.pattern.column, data, d, product)
    extra = couple(pairs.nodes, pairs.weights, pairs.direction, pairs.stiffness, d, product)
    found = (minus.force - plus.force) / (2 * step)
    free = ~model.fixed
    # what the curvature of the distance adds is left out: depth over radius
    assert found[free] == pytest.approx(product[free], abs=0.08 * np.abs(product).max())
    assert extra != 0.0


def test_two_sides_of_one_part_are_no_pair():
    ends = np.array([-0.03, 0.0, 0.0]), np.array([0.03, 0.0, 0.0])
    lattice = lattice_from_level_set(
        lambda p: np.linalg.norm(p - np.clip(p, *ends), axis=1) - 0.008, [-0.04, -0.01, -0.01], [0.04, 0.01, 0.01], H
    )
    contact = self_contact(lattice, *capsule(*ends, 0.008))  # a finger, thinner than a cell
    assert len(contact.find_pairs(lattice.nodes).vertex) == 0


@pytest.mark.parametrize("values", [{"stiffness": 0.0}, {"stiffness": float("nan")}, {"among": [True]}])
def test_nonsense_is_refused_by_name(values):
    lattice = lattice_from_level_set(lambda p: np.linalg.norm(p, axis=1) - 0.05, [-0.06] * 3, [0.06] * 3, 0.03)
    with pytest.raises(InputError, match="self-contact"):
        self_contact(lattice, *sphere(0.05), **values)


def sunk(depth, cell=5):
    """Vertex 3 of some, `depth` [m] below the upper face of a cell."""
    nodes, weights = np.arange(16).reshape(1, 2, 8), np.full((1, 2, 8), 0.125)
    one = np.ones(1)
    return Pairs(np.array([3]), np.array([[1, cell]]), nodes, weights, np.array([[0.0, 0.0, 1.0]]), one, depth * one)


@pytest.mark.parametrize(
    ("before", "after", "jumps"), [(0.0, 0.0009, False), (0.0, 0.003, True), (0.002, 0.003, False)]
)
def test_skin_that_is_deeper_than_it_was_moved_came_by_a_jump(before, after, jumps):
    move = np.zeros((16, 3))
    move[:8, 2] = -0.001  # the vertex's cell, a millimetre into the other
    found = strays(sunk(before), sunk(after), move, 6, 1e-5)
    assert found[3] == jumps
    assert found.sum() == jumps


def test_skin_that_changes_cells_is_found():
    assert np.flatnonzero(movers(sunk(0.001), sunk(0.001, cell=6), 6)).tolist() == [3]
    assert not movers(sunk(0.001), sunk(0.002), 6).any()


def test_a_solve_can_ignore_skin_that_touches():
    _, contact, _, state, _ = pressed()
    whole = contact.find_pairs(state.x)
    without = np.zeros(len(contact.rest), bool)
    without[whole.vertex[::2]] = True
    left = contact.find_pairs(state.x, without=without)
    assert 0 < len(left.vertex) < len(whole.vertex)
    assert not without[left.vertex].any()


def test_walls_touch_only_where_they_face_each_other():
    model, contact, top = two_balls()
    x = model.lattice.nodes.copy()
    x[top, 2] -= 0.01
    pairs = contact.find_pairs(x)
    skin, normal = contact.embedding.positions(x), np.zeros_like(contact.rest)
    add_normals(skin, contact.faces, normal)
    assert len(pairs.vertex) > 4
    assert np.all(np.sum(normal[pairs.vertex] * pairs.direction, axis=1) < 0.0)
    inside_out = replace(contact, faces=contact.faces[:, ::-1].copy())  # the same places, facing away
    assert len(inside_out.find_pairs(x).vertex) == 0


def test_only_vertices_asked_for_are_looked_after():
    model, whole, top = two_balls()
    upper = whole.rest[:, 2] > 0.0
    part = self_contact(model.lattice, whole.rest, whole.faces, stiffness=2e7, among=upper)
    x = model.lattice.nodes.copy()
    x[top, 2] -= 0.01
    few, all_of_them = part.find_pairs(x), whole.find_pairs(x)
    assert 0 < len(few.vertex) < len(all_of_them.vertex)
    assert np.sort(few.depth) == pytest.approx(np.sort(all_of_them.depth[upper[all_of_them.vertex]]))
