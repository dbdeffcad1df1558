"""What is wrong with the input is said by name, before anything is computed."""

import numpy as np
import pytest

from vitruvian.errors import Diverged, InputError
from vitruvian.flesh import (
    Box,
    Capsule,
    Contact,
    Fibre,
    FleshSolver,
    FleshState,
    Loads,
    Plane,
    Settings,
    box_lattice,
    box_tetrahedra,
    build_flesh,
    contact_surface,
    lattice_from_level_set,
    neo_hookean,
    rest_state,
    sample_muscles,
)

NAN = float("nan")


@pytest.fixture(scope="module")
def model():
    lattice = box_lattice((2, 2, 2), 0.02)
    along = [("all", lambda p: (np.ones(len(p), bool), np.broadcast_to([0.0, 0.0, 1.0], p.shape)))]
    muscles = sample_muscles(lattice, along)
    return build_flesh(lattice, neo_hookean(1e5, 0.4), fixed=lattice.nodes[:, 2] < 1e-9, muscles=muscles)


@pytest.fixture(scope="module")
def skin(model):
    return contact_surface(model.elements, model.elements.nodes, model.elements.surface())


@pytest.mark.parametrize(
    ("word", "make"),
    [
        ("spacing", lambda: box_lattice((2, 2, 2), 0.0)),
        ("spacing", lambda: box_lattice((2, 2, 2), -0.1)),
        ("spacing", lambda: box_lattice((2, 2, 2), NAN)),
        ("counts", lambda: box_lattice((2.5, 2, 2), 0.1)),
        ("counts", lambda: box_lattice(3, 0.1)),
        ("counts", lambda: box_lattice((True, 2, 2), 0.1)),
        ("multigrid", lambda: Settings(multigrid="always")),
        ("origin", lambda: box_lattice((2, 2, 2), 0.1, origin=(0, NAN, 0))),
        ("spacing", lambda: box_tetrahedra((2, 2, 2), NAN)),
        ("counts", lambda: box_tetrahedra((2, 0, 2), 0.1)),
        ("level_set", lambda: lattice_from_level_set(lambda p: -np.ones(3), (0, 0, 0), (1, 1, 1), 0.25)),
        ("peak_stress", lambda: Fibre(peak_stress=NAN)),
        ("peak_stress", lambda: Fibre(peak_stress=np.inf)),
        ("point of a plane", lambda: Plane((0.0, 0.0, NAN))),
        ("normal of a plane", lambda: Plane((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))),
        ("radius", lambda: Capsule((0, 0, 0), (0, 0, 1), -1.0)),
        ("half", lambda: Box((0, 0, 0), (1.0, 0.0, 1.0))),
    ],
)
def test_what_flesh_is_made_of_is_checked_by_name(word, make):
    with pytest.raises(InputError, match=word):
        make()


@pytest.mark.parametrize(
    ("word", "given"),
    [
        ("stiffness", {"stiffness": -1e7}),
        ("friction", {"friction": -2.0}),
        ("friction", {"friction": NAN}),
        ("gap", {"gap": 0.0}),
        ("slip", {"slip": -1.0}),
        ("shapes", {"shapes": Plane()}),
        ("each of shapes must be a Plane", {"shapes": [5.0]}),
        ("surface", {"surface": None}),
    ],
)
def test_contact_is_checked_by_name(skin, word, given):
    with pytest.raises(InputError, match=word):
        Contact(**{"surface": skin, "shapes": [Plane()], **given})


def test_faces_of_a_skin_must_name_its_vertices(model):
    with pytest.raises(InputError, match="faces name vertex 999"):
        contact_surface(model.elements, model.elements.nodes, np.array([[0, 1, 999]]))
    with pytest.raises(InputError, match=r"vertices must have shape \(n, 3\)"):
        contact_surface(model.elements, np.zeros(3), np.array([[0, 1, 2]]))


@pytest.mark.parametrize(
    ("word", "loads"),
    [
        ("activation must lie", {"activation": [-1.0]}),
        ("activation must lie", {"activation": np.array([5.0])}),
        ("activation must lie", {"activation": [NAN]}),
        ("activation", {"activation": [0.5, 0.5]}),
        ("force must have shape", {"force": [[0.0, 0.0, 0.0]]}),
        ("force must be numbers", {"force": "heavy"}),
        ("targets", {"targets": np.zeros((4, 3))}),
        ("contacts must be a list", {"contacts": "skin"}),
        ("each of contacts must be a Contact, not float", {"contacts": [5.0]}),
        ("each of pressures must be a Pressure, not float", {"pressures": [5.0]}),
        ("self_contact must be a SelfContact, not float", {"self_contact": 5.0}),
    ],
)
@pytest.mark.parametrize("solve", ["equilibrium", "step"])
def test_loads_are_checked_by_name(model, word, loads, solve):
    state, solver = rest_state(model), FleshSolver(model)
    with pytest.raises(InputError, match=word):
        solver.equilibrium(state, Loads(**loads)) if solve == "equilibrium" else solver.step(
            state, Loads(**loads), 0.01
        )


@pytest.mark.parametrize("solve", ["equilibrium", "step"])
@pytest.mark.parametrize(
    ("word", "state", "loads"),
    [
        ("loads must be a Loads, not dict", None, {"force": 0.0}),
        ("loads must be a Loads, not NoneType", None, None),
        ("state must be a FleshState, not str", "rest", Loads()),
    ],
)
def test_a_state_and_loads_of_another_kind_are_refused(model, word, state, loads, solve):
    state, solver = rest_state(model) if state is None else state, FleshSolver(model)
    with pytest.raises(InputError, match=word):
        solver.equilibrium(state, loads) if solve == "equilibrium" else solver.step(state, loads, 0.01)


def test_a_state_in_single_precision_is_refused_by_its_type(model):
    state = rest_state(model)
    state.x = state.x.astype(np.float32)
    with pytest.raises(InputError, match="not one of float32"):
        FleshSolver(model).step(state, Loads(), 0.01)


def test_a_force_may_be_a_list(model):
    force = np.zeros((model.elements.n_nodes, 3))
    force[-1, 0] = 0.01
    states = [rest_state(model), rest_state(model)]
    for state, given in zip(states, (force, force.tolist()), strict=True):
        FleshSolver(model).equilibrium(state, Loads(force=given))
    np.testing.assert_array_equal(states[0].x, states[1].x)


def test_a_skin_of_another_body_is_refused(model):
    for other in (box_lattice((3, 3, 3), 0.02), box_lattice((2, 1, 5), 0.02), box_lattice((1, 2, 4), 0.02)):
        skin = contact_surface(other, other.nodes, other.surface())
        with pytest.raises(InputError, match="other elements"):
            FleshSolver(model).step(rest_state(model), Loads(contacts=[Contact(skin, [Plane()])]), 0.01)


@pytest.mark.parametrize("name", ["x", "v", "pressure"])
def test_a_state_of_another_model_is_refused(model, name):
    arrays = {n: getattr(rest_state(model), n) for n in ("x", "v", "pressure")}
    arrays[name] = arrays[name][1:]
    for solve in (
        lambda s: FleshSolver(model).step(s, Loads(), 0.01),
        lambda s: FleshSolver(model).equilibrium(s, Loads()),
    ):
        with pytest.raises(InputError, match=rf"state\.{name} must be"):
            solve(FleshState(**arrays, push=np.zeros((27, 3))))


@pytest.mark.parametrize(
    ("word", "dt", "given"),
    [
        ("dt", np.inf, {}),
        ("dt", NAN, {}),
        ("dt", "soon", {}),
        ("mass_damping", 0.01, {"mass_damping": NAN}),
        ("stiffness_damping", 0.01, {"stiffness_damping": -1.0}),
    ],
)
def test_steps_are_checked_by_name(model, word, dt, given):
    with pytest.raises(InputError, match=word):
        FleshSolver(model).step(rest_state(model), Loads(), dt, **given)


@pytest.mark.parametrize("solve", ["equilibrium", "step"])
def test_a_force_that_is_not_finite_leaves_the_state_as_it_was(model, solve):
    force = np.zeros((model.elements.n_nodes, 3))
    force[-1, 0] = NAN
    state, solver = rest_state(model), FleshSolver(model)
    before = state.copy()
    with pytest.raises(Diverged, match="force"):
        solver.equilibrium(state, Loads(force=force)) if solve == "equilibrium" else solver.step(
            state, Loads(force=force), 0.01
        )
    for name in ("x", "v", "pressure", "push"):
        np.testing.assert_array_equal(getattr(state, name), getattr(before, name))


def test_a_failure_halfway_leaves_the_state_as_it_was(model, monkeypatch):
    """`equilibrium` restores the state whatever went wrong, also after it has moved."""
    force = np.zeros((model.elements.n_nodes, 3))
    force[-1, 0] = 1.0
    state, solver = rest_state(model), FleshSolver(model)
    before = state.copy()

    def fail(potential, x, pressure, careful):
        x += 1.0
        raise Diverged("flesh", "the unbalanced force is not finite")

    monkeypatch.setattr(solver.newton, "minimise", fail)
    with pytest.raises(Diverged):
        solver.equilibrium(state, Loads(force=force))
    np.testing.assert_array_equal(state.x, before.x)
