import numpy as np
import pytest

from vitruvian.anatomy import human
from vitruvian.control import HANGING, ActivationSolver, InverseDynamics, Relaxer, pose
from vitruvian.control.head import HeadStatics
from vitruvian.control.relax import CAGE
from vitruvian.couple import BodyStepper
from vitruvian.skeleton import difference


@pytest.fixture(scope="module")
def body():
    return human()


@pytest.fixture(scope="module")
def at_rest(body):
    return Relaxer(body).rest(pose(body, HANGING))


@pytest.mark.parametrize("pelvis", ["fixed", "driven"])
def test_the_next_step_accelerates_as_wanted(body, at_rest, pelvis):
    held = np.zeros(body.skeleton.n_v, dtype=bool)
    held[:6] = pelvis == "fixed"
    stepper = BodyStepper(body.skeleton, body.muscles, held=held)
    inverse = InverseDynamics(body, stepper)
    state, dt = body.at_rest(at_rest), 0.002
    wanted = np.random.default_rng(0).normal(size=body.skeleton.n_v)
    for _ in range(8):  # the step's stiffness depends on the activations
        demand = inverse.demand(state, wanted, dt)
        state.activation = ActivationSolver(upper=None).solve(demand.map, demand.torque).activation
    torque = np.zeros(body.skeleton.n_v)
    if pelvis == "driven":
        torque[:6] = demand.root - demand.root_map @ state.activation
    _, v = stepper.step(state.q, state.v, state.activation, dt, torque=torque)
    assert v[inverse.wanted] / dt == pytest.approx(wanted[inverse.wanted], abs=1e-5)


def test_a_neck_left_to_another_is_felt_and_not_asked_for(body, at_rest):
    """The trunk accelerates as wanted while another controller pulls the neck's muscles, whatever the head does."""
    statics = HeadStatics(body)
    held = np.zeros(body.skeleton.n_v, dtype=bool)
    held[:6] = True
    stepper = BodyStepper(body.skeleton, body.muscles, held=held)
    driven = body.driven.copy()
    driven[statics.rows] = False
    inverse = InverseDynamics(body, stepper, driven=driven, left=statics.muscles)
    state, dt, rng = body.at_rest(at_rest), 0.002, np.random.default_rng(1)
    wanted = rng.normal(size=body.skeleton.n_v)
    pulled = rng.uniform(0.0, 0.2, size=len(statics.muscles))
    state.activation[statics.muscles] = pulled
    for _ in range(8):
        demand = inverse.demand(state, wanted, dt)
        found = ActivationSolver(upper=None).solve(demand.map, demand.torque).activation
        assert (found[statics.muscles] == 0.0).all()
        state.activation = found
        state.activation[statics.muscles] = pulled
    _, v = stepper.step(state.q, state.v, state.activation, dt)
    assert v[inverse.wanted] / dt == pytest.approx(wanted[inverse.wanted], abs=1e-5)


def test_neutral_angles_let_the_body_hang_almost_without_effort(body, at_rest):
    held = np.zeros(body.skeleton.n_v, dtype=bool)
    held[:6] = True
    inverse = InverseDynamics(body, BodyStepper(body.skeleton, body.muscles, held=held))
    demand = inverse.demand(body.at_rest(at_rest), np.zeros(body.skeleton.n_v), 0.002)
    a = ActivationSolver(upper=1.0).solve(demand.map, demand.torque)
    assert a.exact
    assert a.activation.max() < 0.4
    spine = [i for i, n in enumerate(inverse.names) if n[0] in "LT" and n[1].isdigit()]
    assert np.abs(demand.torque[spine]).max() < 1.0


def test_relaxing_moves_only_the_rib_cage_and_comes_to_rest(body):
    q = pose(body, {**HANGING, "chest": [15, 0, 10]})
    rested = Relaxer(body).rest(q)
    moved = np.abs(difference(body.skeleton, q, rested)) > 1e-12
    names = {body.skeleton.names[i].removesuffix("_l").removesuffix("_r") for i in body.skeleton.dof_bone[moved]}
    assert names <= set(CAGE)
    assert np.abs(difference(body.skeleton, rested, Relaxer(body).rest(rested))).max() < 1e-5
