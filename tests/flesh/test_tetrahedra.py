"""Tetrahedra through the same solver, springs and contact as the lattice."""

import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.flesh import (
    Contact,
    Drag,
    FleshSolver,
    Loads,
    Plane,
    Potential,
    Settings,
    attach,
    box_lattice,
    box_tetrahedra,
    build_flesh,
    contact_surface,
    corotated,
    embed,
    mooney_rivlin_from_moduli,
    neo_hookean,
    preset,
    rest_state,
    sample_muscles,
    self_contact,
    tetrahedra_from_mesh,
)
from vitruvian.flesh.krylov import multiply
from vitruvian.flesh.viscosity import viscosity
from vitruvian.mesh import box
from vitruvian.spatial import rotation_about, transform

MATERIALS = [neo_hookean(5e4, 0.4), corotated(5e4, 0.3), mooney_rivlin_from_moduli(5e4, 0.49)]


def scrambled(counts=(3, 3, 4), h=0.02, seed=4):
    """A block whose inner nodes lie anywhere."""
    mesh = box_tetrahedra(counts, h)
    inner = np.all((mesh.nodes > 1e-9) & (mesh.nodes < np.array(counts) * h - 1e-9), axis=1)
    shift = 0.15 * h * np.random.default_rng(seed).uniform(-1.0, 1.0, mesh.nodes.shape)
    return tetrahedra_from_mesh(np.where(inner[:, None], mesh.nodes + shift, mesh.nodes), mesh.element_nodes), inner


def fibres(mesh):
    along = np.array([0.6, 0.0, 0.8])
    return sample_muscles(mesh, [("m", lambda p: (p[:, 0] > 0.03, np.broadcast_to(along, p.shape)))])


@pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.name)
def test_rest_and_rigid_motion_give_no_force(material):
    mesh, _ = scrambled()
    model = build_flesh(mesh, material)
    state, potential = rest_state(model), Potential(model, Loads())
    turn = rotation_about((1.0, 2.0, -0.5), 1.3)
    scale = material.young_modulus * 0.02**2
    for x in (state.x, state.x @ turn.T + [0.3, -0.2, 0.5]):
        now = potential.evaluate(x, state.pressure)
        assert np.abs(now.force).max() < 1e-12 * scale
        assert np.abs(now.gap).max() < 1e-12


@pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.name)
def test_patch(material):
    """With its outside moved by a uniform strain the inside of an irregular mesh finds the same strain."""
    mesh, inner = scrambled()
    model = build_flesh(mesh, material, fixed=~inner)
    goal = mesh.nodes @ np.array([[1.1, 0.05, 0.0], [-0.02, 0.95, 0.03], [0.01, 0.0, 0.97]]).T
    state = rest_state(model)
    state.x[~inner] = goal[~inner]
    settings = Settings(residual=1e-11, gap=1e-11, tolerance=1e-3, newton=60)
    assert FleshSolver(model, settings).equilibrium(state, Loads()).converged
    assert np.abs(state.x - goal).max() < 1e-9


@pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.name)
def test_forces_and_stiffness_are_derivatives(material):
    """Central differences through everything: tissue, active fibres, springs to bone, viscosity, contact."""
    mesh, _ = scrambled()
    rng, step = np.random.default_rng(3), 1e-7
    points = rng.uniform(0.01, 0.05, (20, 3))
    tied = attach(mesh, np.zeros(20, int), points, np.full(20, 1e-6), np.eye(4)[None])
    model = build_flesh(mesh, material, muscles=fibres(mesh), attachments=tied)
    state = rest_state(model)
    contact = Contact(contact_surface(mesh, mesh.nodes, mesh.surface()), (Plane((0.0, 0.0, 0.004)),), stiffness=1e6)
    loads = Loads(
        targets=points + 1e-3,
        activation=np.array([0.7]),
        contacts=(contact,),
        drag=Drag(viscosity(model), 0.5, state.x),
    )
    potential = Potential(model, loads)
    x = state.x + 0.001 * rng.standard_normal(state.x.shape)
    p = state.pressure + 1e3 * rng.standard_normal(state.pressure.shape)
    d = rng.standard_normal(x.shape)
    here, plus, minus = (potential.evaluate(y, p) for y in (x, x + step * d, x - step * d))
    assert len(here.contacts[0].active) > 5
    assert (plus.value - minus.value) / (2.0 * step) == pytest.approx(-np.sum(here.force * d), rel=1e-6)
    data, product = np.zeros((len(model.pattern.column), 9)), np.empty_like(x)
    potential.stiffness(x, p, here, False, data)
    multiply(model.pattern.start, model.pattern.column, data, d, product)
    found = (minus.force - plus.force) / (2.0 * step)
    assert np.abs(found - product).max() < 1e-6 * np.abs(product).max()


@pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.name)
def test_projected_stiffness_has_no_negative_curvature(material):
    mesh = box_tetrahedra((2, 1, 1), 0.02)
    model = build_flesh(mesh, material)
    state, potential = rest_state(model), Potential(model, Loads())
    x = state.x + 0.01 * np.random.default_rng(0).standard_normal(state.x.shape)
    least = []
    for projected in (False, True):
        data = np.zeros((len(model.pattern.column), 9))
        potential.stiffness(x, state.pressure, potential.evaluate(x, state.pressure), projected, data)
        whole = np.zeros((mesh.n_nodes, 3, mesh.n_nodes, 3))
        row = np.repeat(np.arange(mesh.n_nodes), np.diff(model.pattern.start))
        whole[row, :, model.pattern.column] = data.reshape(-1, 3, 3)
        whole = whole.reshape(3 * mesh.n_nodes, -1)
        assert np.abs(whole - whole.T).max() < 1e-12 * np.abs(whole).max()
        least.append(np.linalg.eigvalsh(whole)[0] / np.abs(whole).max())
    assert least[0] < -1e-3 < -1e-12 < least[1]


def test_a_hanging_bar_stretches_by_its_weight():
    """Under its own weight, small strain: ρ g L²/2E, whatever the mesh within."""
    length, young, gravity = 0.08, 2e4, 0.5
    mesh, _ = scrambled()
    roller = np.zeros((mesh.n_nodes, 3), bool)
    roller[mesh.nodes[:, 2] < 1e-9, 2] = True
    roller[np.argmin(mesh.nodes.sum(axis=1))] = True
    roller[np.argmin(np.abs(mesh.nodes - [0.06, 0.0, 0.0]).sum(axis=1)), 1] = True
    model = build_flesh(mesh, neo_hookean(young, 0.3), fixed=roller)
    force = np.zeros(mesh.nodes.shape)
    force[:, 2] = gravity * model.node_mass
    state = rest_state(model)
    FleshSolver(model, Settings(residual=1e-9, tolerance=1e-4)).equilibrium(state, Loads(force=force))
    end = mesh.nodes[:, 2] > length - 1e-9
    stretch = (state.x - mesh.nodes)[end, 2].mean()
    assert stretch == pytest.approx(1060.0 * gravity * length**2 / (2.0 * young), rel=0.02)


def sag(make, across):
    """How far a cantilever of 40 mm square and 0.4 m sags by its weight, against beam theory with shear."""
    length, width, young, poisson, gravity = 0.4, 0.04, 1e6, 0.3, 0.05
    h = width / across
    elements = make((round(length / h), across, across), h)
    model = build_flesh(elements, neo_hookean(young, poisson), fixed=elements.nodes[:, 0] < 1e-9)
    force = np.zeros(elements.nodes.shape)
    force[:, 2] = -gravity * model.node_mass
    state = rest_state(model)
    settings = Settings(residual=1e-6, krylov=4000, tolerance=1e-3)
    assert FleshSolver(model, settings).equilibrium(state, Loads(force=force)).converged
    load, shear = gravity * model.mass / length, young / (2.0 * (1.0 + poisson))
    theory = load * length**4 / (8.0 * young * width**4 / 12.0) + load * length**2 / (5.0 / 3.0 * shear * width**2)
    end = elements.nodes[:, 0] > length - 1e-9
    return (elements.nodes - state.x)[end, 2].mean() / theory


def test_a_beam_sags_as_the_lattice_one_does_as_it_gets_finer():
    """Too stiff by an error that falls with the square of the size."""
    coarse, middle, fine = (sag(box_tetrahedra, across) for across in (3, 4, 6))
    lattice = sag(box_lattice, 4)
    assert lattice == pytest.approx(1.0, abs=0.015)  # its root is clamped, which makes it stiffer than theory
    assert 0.6 < coarse < middle < fine < lattice
    assert fine == pytest.approx(0.885, abs=0.005)
    # error = a h² + b h⁴ through the three
    rows = [[1.0, across**-2.0, across**-4.0] for across in (3, 4, 6)]
    assert np.linalg.solve(rows, [coarse, middle, fine])[0] == pytest.approx(lattice, abs=0.02)


def test_attached_to_a_moving_bone_flesh_follows_and_pulls_back():
    mesh, _ = scrambled((3, 3, 6))
    points = np.random.default_rng(2).uniform([0.02, 0.02, 0.01], [0.04, 0.04, 0.11], (60, 3))
    tied = attach(mesh, np.zeros(60, int), points, np.full(60, 1e-5), np.eye(4)[None])
    model = build_flesh(mesh, neo_hookean(2e4, 0.4), attachments=tied)
    solver, state = FleshSolver(model, Settings(residual=1e-7, tolerance=1e-3)), rest_state(model)
    for k in range(1, 5):
        pose = transform(rotation_about((0.0, 1.0, 0.0), 0.2 * k), (0.01 * k, 0.0, 0.02 * k))[None]
        assert solver.equilibrium(state, Loads(targets=tied.targets(pose))).converged
    moved = mesh.nodes @ pose[0, :3, :3].T + pose[0, :3, 3]
    assert np.abs(state.x - moved).max() < 1e-6  # nothing else holds it: it rides along undeformed
    skin = embed(mesh, np.array([[0.06, 0.03, 0.1], [0.03, 0.0, 0.02]]))
    push = np.array([[0.05, -0.1, 0.02], [0.0, 0.08, 0.03]])
    assert solver.equilibrium(state, Loads(targets=tied.targets(pose), force=skin.nodal_forces(push))).converged
    wrench = tied.bone_wrenches(state.x, pose)[0]
    assert pose[0, :3, :3] @ wrench[3:] == pytest.approx(push.sum(axis=0), abs=1e-6)
    about = np.cross(skin.positions(state.x) - pose[0, :3, 3], push).sum(axis=0)
    assert pose[0, :3, :3] @ wrench[:3] == pytest.approx(about, abs=1e-6)


def test_a_block_comes_to_rest_on_the_ground_with_its_weight():
    mesh = box_tetrahedra((3, 3, 3), 0.02, origin=(0.0, 0.0, 0.0005))
    model = build_flesh(mesh, corotated(5e4, 0.4))
    skin = contact_surface(mesh, mesh.nodes, mesh.surface())
    contact = Contact(skin, (Plane(),), friction=0.5)
    state, weight = rest_state(model), np.zeros(mesh.nodes.shape)
    weight[:, 2] = -9.81 * model.node_mass
    solver = FleshSolver(model, Settings(residual=1e-5))
    for _ in range(60):
        solver.step(state, Loads(force=weight, contacts=(contact,)), 5e-3, mass_damping=5.0, stiffness_damping=0.02)
    assert state.push[:, 2].sum() == pytest.approx(9.81 * model.mass, rel=0.02)
    assert abs(state.v).max() < 1e-2


def test_energy_momentum_steps_keep_both_momenta_in_free_flight():
    mesh, _ = scrambled()
    model = build_flesh(mesh, neo_hookean(5e4, 0.4))
    state = rest_state(model)
    state.v[:] = np.array([0.2, 0.0, 0.1]) + np.cross([3.0, 1.0, 0.5], state.x)
    mass = model.node_mass[:, None]
    before = (mass * state.v).sum(axis=0), (mass * np.cross(state.x, state.v)).sum(axis=0)
    solver = FleshSolver(model, Settings(residual=1e-9, gap=1e-9, tolerance=1e-3))
    for _ in range(10):
        solver.step(state, Loads(), 2e-3, integrator="energy-momentum")
    assert (mass * state.v).sum(axis=0) == pytest.approx(before[0], rel=1e-8, abs=1e-10)
    assert (mass * np.cross(state.x, state.v)).sum(axis=0) == pytest.approx(before[1], rel=1e-7, abs=1e-9)


def test_an_active_muscle_shortens():
    mesh, _ = scrambled((2, 2, 4))
    up = np.array([0.0, 0.0, 1.0])
    muscles = sample_muscles(mesh, [("m", lambda p: (np.ones(len(p), bool), np.broadcast_to(up, p.shape)))])
    assert muscles.density == pytest.approx(np.ones(mesh.n_elements))
    model = build_flesh(mesh, neo_hookean(2e5, 0.45), muscles=muscles, fixed=mesh.nodes[:, 2] < 1e-9)
    state, solver, heights = rest_state(model), FleshSolver(model), []
    for activation in (0.0, 0.2, 0.4):
        assert solver.equilibrium(state, Loads(activation=np.array([activation]))).converged
        heights.append(state.x[:, 2].max())
    assert heights[0] > heights[1] + 1e-3 > heights[2] + 2e-3


def test_an_inverted_start_finds_back_to_rest_or_is_counted():
    mesh, inner = scrambled((4, 4, 4))
    model = build_flesh(mesh, corotated(5e4, 0.4), fixed=~inner)
    state = rest_state(model)
    state.x[inner] += 0.015 * np.random.default_rng(1).standard_normal((int(inner.sum()), 3))
    assert mesh.folded(state.x) > 20
    report = FleshSolver(model, Settings(residual=1e-6, newton=200)).equilibrium(state, Loads())
    assert report.converged
    assert report.projected > 0
    assert report.folded == mesh.folded(state.x)
    assert report.folded > 0 or np.abs(state.x - mesh.nodes).max() < 1e-5


def test_points_find_the_tetrahedron_that_they_lie_in():
    mesh, _ = scrambled((4, 4, 4))
    points = np.random.default_rng(5).uniform(0.0, 0.08, (500, 3))
    riding = embed(mesh, points)
    assert riding.weights.min() > -1e-9
    outside = np.array([[0.04, 0.04, 0.085], [-0.004, 0.03, 0.03]])
    beyond = embed(mesh, outside)
    assert beyond.positions(mesh.nodes) == pytest.approx(outside, abs=1e-12)
    assert np.abs(beyond.weights).max() < 2.0
    assert len(embed(mesh, np.zeros((0, 3))).element) == 0


def test_multigrid_may_be_asked_for_and_changes_nothing_but_the_way():
    mesh, _ = scrambled()
    model = build_flesh(mesh, neo_hookean(2e4, 0.4), fixed=mesh.nodes[:, 2] < 1e-9)
    load, found = Loads(force=np.full(mesh.nodes.shape, 1e-3)), []
    for multigrid in (False, True):
        state = rest_state(model)
        settings = Settings(residual=1e-7, tolerance=1e-3, multigrid=multigrid)
        assert FleshSolver(model, settings).equilibrium(state, load).converged
        found.append(state.x)
    assert found[1] == pytest.approx(found[0], abs=1e-8)


CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])


def test_tetrahedra_that_are_inside_out_are_turned():
    mesh = tetrahedra_from_mesh(CORNERS, [[0, 2, 1, 3]])
    assert mesh.volume == pytest.approx([1.0 / 6.0])
    assert mesh.folded(mesh.nodes) == 0


@pytest.mark.parametrize(
    ("nodes", "elements", "word"),
    [
        (CORNERS * [1, 1, 0], [[0, 1, 2, 3]], "1 are flat"),
        (CORNERS, [[0, 1, 2]], "shape"),
        (CORNERS, np.zeros((0, 4)), "at least one"),
        (CORNERS, [[0, 1, 2, 4]], "each of 4 nodes"),
        (np.vstack([CORNERS, [[2, 2, 2]]]), [[0, 1, 2, 3]], "each of 5 nodes"),
        (CORNERS * np.nan, [[0, 1, 2, 3]], "finite"),
    ],
)
def test_meshes_that_make_no_sense_are_refused(nodes, elements, word):
    with pytest.raises(InputError, match=word):
        tetrahedra_from_mesh(nodes, elements)


def test_what_needs_a_lattice_says_so():
    mesh = box_tetrahedra((1, 1, 1), 0.1)
    with pytest.raises(InputError, match="asks for a lattice, and the flesh is made of Tetrahedra"):
        _ = build_flesh(mesh, preset("lee")).lattice
    with pytest.raises(InputError, match="lattice"):
        self_contact(mesh, *box((0.1, 0.1, 0.1)))
