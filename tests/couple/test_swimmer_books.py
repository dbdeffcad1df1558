"""Books of energy in one step from rest, by hand: what an implicit step applied, along the mean of both velocities.

Without water, so that nothing but gravity, joints and the drive acts; from rest, so that the mean velocity is half
of the new one."""

import numpy as np
import pytest

from vitruvian.anatomy import human
from vitruvian.couple import BodyInWater, BodyStepper, JointTorques
from vitruvian.mesh import capsule
from vitruvian.muscle import MuscleBuilder, lengths
from vitruvian.skeleton import bone_poses, integrate
from vitruvian.skin import bind

H = 0.01


@pytest.fixture(scope="module")
def body():
    return human()


def _stepped(body, muscles, actuation, activation):
    s = body.skeleton
    middle = bone_poses(s, body.default_q)[s.index("T6"), :3, 3]
    half = np.array([0.0, 0.0, 0.4])
    x, f = capsule(middle - half, middle + half, 0.2, sides=8)
    skin = bind(s, body.default_q, np.asarray(x), np.asarray(f), ("T6",), np.ones((len(x), 1)))
    mechanism = BodyInWater(BodyStepper(s, muscles), skin)
    q = body.default_q.copy()
    state = mechanism.start(q)
    state.activation = activation
    wading = mechanism.begin(state, actuation)
    wading.advance(state, 0.0, H)
    wading.end(H)
    return q, state


def test_springs_are_booked_as_they_gave_way_and_joints_as_they_were_damped(body):
    s = body.skeleton
    driven = body.driven.astype(float)
    torque, stiff, damp = 5.0 * driven, 200.0 * driven, 3.0 * driven
    _, state = _stepped(body, MuscleBuilder(s).build(), JointTorques(torque, stiff, damp), np.zeros(0))
    v = state.v
    softened = 0.5 * H * (torque - (damp + H * stiff) * v) @ v
    assert state.book.work["drive"] == pytest.approx(softened, rel=1e-9)
    assert abs(softened - 0.5 * H * torque @ v) > 0.2 * abs(softened)  # else the softening would not be seen
    assert state.book.work["joints"] <= -0.5 * H * s.forces.damping[6:] @ v[6:] ** 2 * (1 - 1e-9)  # stops come on top
    assert state.book.work["water"] == 0.0


def test_muscles_are_booked_by_the_tension_at_the_end_of_the_step(body):
    m = body.muscles
    activation = np.random.default_rng(1).uniform(0.0, 1.0, m.n_muscles)
    q, state = _stepped(body, m, None, activation)
    force, _, _, stiffness, damping = _tension(body, q, activation)
    small = 1e-6
    ends = [_lengths(body, integrate(body.skeleton, q, x * state.v, small)) for x in (-1.0, 1.0)]
    rate = (ends[1] - ends[0]) / (2.0 * small)  # of lengthening, by finite differences
    tension = force + (H * np.maximum(stiffness, 0.0) + np.maximum(damping, 0.0)) * rate
    by_hand, at_first = -0.5 * H * tension @ rate, -0.5 * H * force @ rate
    assert state.book.work["drive"] == pytest.approx(by_hand, rel=1e-5)
    assert abs(at_first - by_hand) > 0.05 * abs(by_hand)  # else the tension's change would not be seen


def _tension(body, q, activation):
    stepper = BodyStepper(body.skeleton, body.muscles)
    stepper.assemble(q, np.zeros(body.skeleton.n_v), activation, H)
    return stepper.found.tension.copy()


def _lengths(body, q):
    return lengths(body.muscles, bone_poses(body.skeleton, q))


def test_fibres_with_elastic_tendons_move_on_in_water(body):
    elastic = human(muscles="elastic")
    activation = np.random.default_rng(1).uniform(0.0, 1.0, elastic.muscles.n_muscles)
    rest = elastic.at_rest().fibre
    _, state = _stepped(elastic, elastic.muscles, None, activation)
    fibre = state.fibre / rest
    assert (fibre[activation > 0.5] < 1.0).mean() > 0.95  # those that are active shorten against their tendons
    assert fibre.min() > 0.5
