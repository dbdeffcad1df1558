"""Every kind of elements keeps what `Elements` and `Elasticity` promise, and the solver asks for nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from vitruvian.flesh import (
    FleshSolver,
    Lattice,
    Loads,
    Settings,
    box_lattice,
    box_tetrahedra,
    build_flesh,
    corotated,
    embed,
    lattice_from_level_set,
    mooney_rivlin_from_moduli,
    neo_hookean,
    rest_state,
    sample_muscles,
    tetrahedra_from_mesh,
    tissue_volume,
    venant_kirchhoff,
)
from vitruvian.flesh.elasticity import PointElasticity, point_elasticity
from vitruvian.flesh.lattice.trilinear import gradients
from vitruvian.flesh.pattern import build_pattern

MATERIALS = [
    neo_hookean(5e4, 0.4),
    corotated(5e4, 0.3),
    mooney_rivlin_from_moduli(5e4, 0.49),
    venant_kirchhoff(5e4, 0.3),
]


def scrambled(counts=(3, 3, 4), h=0.02, seed=4):
    """A block of tetrahedra whose inner nodes lie anywhere."""
    mesh = box_tetrahedra(counts, h)
    top = np.array(counts) * h
    inner = np.all((mesh.nodes > 1e-9) & (mesh.nodes < top - 1e-9), axis=1)
    shift = 0.15 * h * np.random.default_rng(seed).uniform(-1.0, 1.0, mesh.nodes.shape)
    return tetrahedra_from_mesh(np.where(inner[:, None], mesh.nodes + shift, mesh.nodes), mesh.element_nodes)


def ball():
    return lattice_from_level_set(lambda p: np.linalg.norm(p, axis=1) - 0.05, [-0.06] * 3, [0.06] * 3, 0.02)


KINDS = {"block": lambda: box_lattice((6, 5, 9), 0.02), "cut cells": ball, "tetrahedra": scrambled}


@pytest.fixture(params=KINDS.values(), ids=KINDS.keys(), scope="module")
def elements(request):
    return request.param()


def test_points_ride_on_any_linear_motion(elements):
    rng = np.random.default_rng(0)
    points = elements.spread_points(2).reshape(-1, 3)
    a, b = rng.standard_normal((3, 3)), rng.standard_normal(3)
    riding = embed(elements, points)
    assert riding.weights.sum(axis=1) == pytest.approx(np.ones(len(points)))
    assert riding.positions(elements.nodes @ a.T + b) == pytest.approx(points @ a.T + b, abs=1e-12)
    assert riding.positions(elements.nodes) == pytest.approx(points, abs=1e-12)


def test_forces_on_points_do_the_same_work(elements):
    rng = np.random.default_rng(1)
    points = elements.spread_points(2)[::3].reshape(-1, 3)
    riding, force = embed(elements, points), rng.standard_normal(points.shape)
    motion = rng.standard_normal(elements.nodes.shape)
    assert np.sum(force * riding.positions(motion)) == pytest.approx(np.sum(riding.nodal_forces(force) * motion))


def test_gradients_find_any_uniform_strain_and_shares_add_up(elements):
    slopes, shares = elements.quadrature()
    f = np.random.default_rng(2).standard_normal((3, 3))
    found = np.einsum("nai,nqaj->nqij", (elements.nodes @ f.T)[elements.element_nodes], slopes)
    assert np.abs(found - f).max() < 1e-11
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(shares)))
    assert tissue_volume(elements, elements.nodes @ f.T) == pytest.approx(np.linalg.det(f) * elements.volume.sum())
    assert elements.node_volume.sum() == pytest.approx(elements.volume.sum())


def test_gradient_products_are_the_energy_of_a_gradient(elements):
    weight = np.random.default_rng(3).uniform(1.0, 2.0, len(elements.volume))
    products = elements.gradient_products(weight)
    slope = np.array([0.3, -0.5, 0.2])
    heights = (elements.nodes @ slope)[elements.element_nodes]
    assert np.einsum("na,nab,nb->n", heights, products, heights) == pytest.approx(weight * (slope @ slope))
    assert products == pytest.approx(products.transpose(0, 2, 1), rel=1e-12)
    assert np.abs(products.sum(axis=2)).max() < 1e-9 * np.abs(products).max()


def test_blocks_of_one_colour_share_no_node(elements):
    pattern = build_pattern(elements)
    assert np.array_equal(np.sort(pattern.order), np.arange(len(elements.volume)))
    for colour in range(8):
        held = []
        for block in range(pattern.colours[colour], pattern.colours[colour + 1]):
            members = pattern.order[pattern.blocks[block] : pattern.blocks[block + 1]]
            held.append(np.unique(elements.element_nodes[members]))
        together = np.concatenate(held) if held else np.zeros(0)
        assert len(np.unique(together)) == len(together)
    assert pattern.colours[-1] == len(pattern.blocks) - 1


def test_the_surface_is_closed_and_faces_outward(elements):
    faces = elements.surface()
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    assert np.array_equal(np.unique(edges, axis=0), np.unique(edges[:, ::-1], axis=0))
    a, b, c = (elements.nodes[faces[:, k]] for k in range(3))
    enclosed = np.sum(a * np.cross(b, c)) / 6.0
    whole = len(elements.volume) * elements.spacing**3 if isinstance(elements, Lattice) else elements.volume.sum()
    assert enclosed == pytest.approx(whole)


def test_sound_elements_are_not_folded_and_mirrored_ones_are(elements):
    assert elements.folded(elements.nodes) == 0
    assert elements.folded(elements.nodes * [1.0, 1.0, -1.0]) == len(elements.volume)


def drawn_in(model):
    """Cells of a block by the plain way, their strain taken at the same points."""
    cells, lattice = model.elasticity, model.elements
    return PointElasticity(
        element_nodes=cells.element_nodes,
        volume=cells.volume,
        moduli=cells.moduli,
        muscles=cells.muscles,
        pattern=cells.pattern,
        gradients=gradients(cells.strain_points, lattice.spacing),
        weights=np.repeat(0.25 * lattice.volume[:, None], 4, axis=1),
    )


def bare(model):
    """Cells without their springs against checkerboards, which the plain way does not have."""
    cells = model.elasticity
    return replace(cells, steady=np.zeros_like(cells.steady), held=0.0 * cells.held)


@pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.name)
def test_the_plain_way_says_of_full_cells_what_the_fast_one_does(material):
    lattice, along = box_lattice((3, 2, 4), 0.02), np.array([0.6, 0.0, 0.8])
    muscles = sample_muscles(lattice, [("m", lambda p: (p[:, 0] > 0.02, np.broadcast_to(along, p.shape)))])
    model = build_flesh(lattice, material, muscles=muscles)
    fast, plain = bare(model), drawn_in(model)
    rng, active = np.random.default_rng(6), np.array([0.7])
    x = lattice.nodes + 0.002 * rng.standard_normal(lattice.nodes.shape)
    p = -fast.rest_pressure + min(1e3, 0.1 * material.kappa) * rng.standard_normal(lattice.n_cells)
    force = np.zeros((2, *x.shape))
    there = [e.forces(x, p, active, f) for e, f in zip((fast, plain), force, strict=True)]
    size = np.abs(force[0]).max()
    assert np.abs(force[1] - force[0]).max() < 1e-12 * size
    assert there[1].jbar == pytest.approx(there[0].jbar, rel=1e-13)
    assert there[1].gap == pytest.approx(there[0].gap, abs=1e-13)
    assert sum(there[1].parts) == pytest.approx(sum(there[0].parts), rel=1e-12)
    scalar = rng.uniform(0.0, 1.0, len(model.pattern.column))
    for projected in (False, True):
        data = np.zeros((2, len(scalar), 9))
        for e, d in zip((fast, plain), data, strict=True):
            e.stiffness(x, p, active, scalar, projected, d)
        assert np.abs(data[1] - data[0]).max() < 1e-12 * np.abs(data[0]).max()
    moved = rng.standard_normal(x.shape)
    assert plain.volume_rates(x, moved) == pytest.approx(fast.volume_rates(x, moved), rel=1e-10)
    force[:] = 0.0
    for e, f in zip((fast, plain), force, strict=True):
        e.pressure_forces(x, p, f)
    assert np.abs(force[1] - force[0]).max() < 1e-12 * np.abs(force[0]).max()


def test_the_solver_finds_the_same_balance_whoever_adds_up_the_cells():
    lattice = box_lattice((3, 3, 6), 0.01)
    model = build_flesh(lattice, neo_hookean(2e4, 0.45), fixed=lattice.nodes[:, 2] < 1e-9)
    load = Loads(force=np.where(lattice.nodes[:, 2:] > 0.06 - 1e-9, [2e-3, 1e-3, -4e-3], 0.0))
    found = []
    for flesh in (replace(model, elasticity=e(model)) for e in (bare, drawn_in)):
        state = rest_state(flesh)
        assert FleshSolver(flesh, Settings(residual=1e-8, gap=1e-10)).equilibrium(state, load).converged
        found.append(state)
    assert np.abs(found[0].x - lattice.nodes).max() > 2e-3
    assert np.abs(found[1].x - found[0].x).max() < 1e-9
    assert found[1].pressure == pytest.approx(found[0].pressure, rel=1e-6)


def test_elements_in_layers_of_their_own_materials_stretch_as_springs_in_a_row():
    """What a layered face needs of the plain way: materials by element, nodes that slide."""
    mesh, soft, firm = scrambled((2, 2, 4)), neo_hookean(1e4, 0.3), neo_hookean(4e4, 0.3)
    low, high = (mesh.nodes[:, 2] < 1e-9), (mesh.nodes[:, 2] > 0.08 - 1e-9)
    roller = np.zeros((mesh.n_nodes, 3), bool)
    roller[low | high, 2] = True
    roller[np.argmin(mesh.nodes.sum(axis=1))] = True
    roller[np.argmin(np.abs(mesh.nodes - [0.04, 0.0, 0.0]).sum(axis=1)), 1] = True
    model = build_flesh(mesh, [soft, firm], of_cell=(mesh.centres()[:, 2] > 0.04).astype(int), fixed=roller)
    state = rest_state(model)
    state.x[high, 2] += 1e-4
    FleshSolver(model, Settings(residual=1e-9, tolerance=1e-4)).equilibrium(state, Loads())
    # free of the sides the layers share the stretch as 1/E; they hinder each other's narrowing, which costs a little
    middle = np.abs(mesh.nodes[:, 2] - 0.04) < 1e-9
    assert (state.x - mesh.nodes)[middle, 2].mean() == pytest.approx(0.8e-4, rel=0.03)


def test_cut_cells_under_uniform_strain_are_alike_both_ways():
    """There strain points drawn in for bending and what holds cut cells count for nothing."""
    lattice, material = ball(), neo_hookean(5e4, 0.4)
    model = build_flesh(lattice, material)
    which = np.zeros(lattice.n_cells, int)
    plain = point_elasticity(lattice, [material], which, model.muscles, model.pattern)
    x = lattice.nodes @ np.array([[1.1, 0.05, 0.0], [-0.02, 0.95, 0.03], [0.01, 0.0, 0.97]]).T
    force = np.zeros((2, *x.shape))
    for e, f in zip((model.elasticity, plain), force, strict=True):
        e.forces(x, -plain.rest_pressure, np.zeros(1), f)
    assert np.abs(force[1] - force[0]).max() < 1e-11 * np.abs(force[0]).max()
