"""The stretch reflex in the step: what it sets, the slope that it adds, and one call that equals the general step."""

import numpy as np
import pytest

from vitruvian.anatomy import arm, neck
from vitruvian.control import Controls
from vitruvian.control.head import Reflex
from vitruvian.couple import BodyStepper, BoneStep, Book, MuscleLines, MusclePull, StretchReflex
from vitruvian.errors import InputError
from vitruvian.muscle import ActivationDynamics, lengths
from vitruvian.skeleton import bone_poses, integrate
from vitruvian.systems import BodySystem

H = 0.004


@pytest.fixture(scope="module")
def body():
    return neck(muscles="thesis")


def moving(body, seed=1):
    rng, s = np.random.default_rng(seed), body.skeleton
    q = integrate(s, body.default_q, rng.uniform(-0.05, 0.05, s.n_v))
    return q, 0.05 * rng.normal(size=s.n_v)


def asked(body, q, seed=2):
    """A reflex that is nowhere cut off: wanted strains near those of the pose."""
    rng, n = np.random.default_rng(seed), body.muscles.n_muscles
    e = lengths(body.muscles, bone_poses(body.skeleton, q)) / body.muscles.rest_length - 1.0
    return StretchReflex(
        np.arange(n), rng.uniform(0.4, 0.6, n), e + rng.uniform(-0.01, 0.01, n), rng.uniform(-0.1, 0.1, n), 0.01, 1.5
    )


def test_it_is_that_of_the_thesis_at_the_end_of_the_step(body):
    q, v = moving(body)
    r = asked(body, q)
    step = BoneStep(body.skeleton)
    lines, a = MuscleLines(step, body.muscles), np.zeros(body.muscles.n_muscles)
    step.assemble(q, v, H, [MusclePull(lines, a, reflex=r)])
    rest, found = body.muscles.rest_length, lines.results
    strain, rate = (found.length + H * found.rate) / rest - 1.0, found.rate / rest
    wanted = r.wanted + (r.since + H) * r.wanted_rate
    expected = Reflex().activation(r.feedforward, strain, rate, wanted, r.wanted_rate, r.gain)
    np.testing.assert_allclose(a, expected, atol=1e-12)
    assert (a > 0.0).all()
    assert (a < 1.0).all()


def test_the_matrix_has_the_slope_of_the_reflex(body):
    """Force at the end of the step against its velocities: finite differences of tensions with and without reflex."""
    q, v = moving(body)
    r = asked(body, q)
    step = BoneStep(body.skeleton)
    lines, n = MuscleLines(step, body.muscles), body.muscles.n_muscles
    direction = np.random.default_rng(5).normal(size=len(v))

    def force(v, activation, reflex):
        bare = step.assemble(q, v, H).force.copy()
        found = MusclePull(lines, activation, reflex=reflex) if reflex else MusclePull(lines, activation)
        return step.assemble(q, v, H, [found]).force - bare

    def matrix(activation, reflex):
        bare = step.assemble(q, v, H).full_matrix()
        found = MusclePull(lines, activation, reflex=reflex) if reflex else MusclePull(lines, activation)
        return step.assemble(q, v, H, [found]).full_matrix() - bare

    a = np.zeros(n)
    with_it, held = matrix(a, r), a.copy()  # the reflex has set a
    added = (with_it - matrix(held.copy(), None)) @ direction
    small = 1e-5
    slope = sum(
        x * (force(v + x * small * direction, np.zeros(n), r) - force(v + x * small * direction, held.copy(), None))
        for x in (1.0, -1.0)
    ) / (2.0 * small)
    assert added == pytest.approx(-H * slope, rel=2e-3, abs=2e-3 * np.abs(H * slope).max())


def test_one_call_does_what_the_contributors_do(body):
    """A book makes the step go the general way."""
    q, v = moving(body)
    rng = np.random.default_rng(4)
    r, push = asked(body, q), rng.normal(size=(body.skeleton.n_bones, 6))
    stepper, found = BodyStepper(body.skeleton, body.muscles), []
    for book in (None, Book.open(("drive", "push"))):
        a = np.full(body.muscles.n_muscles, 0.3)
        found.append((*stepper.step(q, v, a, H, wrench=push, reflex=r, book=book), a))
    for ours, theirs in zip(*found):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    with pytest.raises(InputError, match="wrenches have shape"):
        stepper.step(q, v, np.zeros(body.muscles.n_muscles), H, wrench=push[:-1])


def test_activation_lags_behind_the_reflex(body):
    """From nothing, at a frozen time constant and the present rates."""
    r, d = asked(body, body.default_q), ActivationDynamics()
    stepper, found = BodyStepper(body.skeleton, body.muscles), []
    for reflex in (r._replace(on=d.on, off=d.off), r):
        a = np.zeros(body.muscles.n_muscles)
        stepper.assemble(body.default_q, np.zeros(body.skeleton.n_v), a, H, reflex=reflex)
        found.append(a)
    np.testing.assert_allclose(found[0] / found[1], 1.0 - np.exp(-H / (0.015 * 0.5)), rtol=1e-6)


def test_a_body_hands_its_lag_to_the_reflex(body):
    r, found = asked(body, body.default_q), []
    for dynamics in (ActivationDynamics(), None):
        system = BodySystem(body, dynamics=dynamics, drawn=False)
        state = system.start(np.random.default_rng(0))
        system.step(state, Controls(reflex=r), 0.0, H)
        found.append(state.activation.max())
    assert found[0] < 0.7 * found[1]


def test_a_light_bone_is_not_thrown_between_muscles():
    """Muscles that are cut off have no slope: taken once, the step throws the hyoid back by 4 degrees."""
    own = neck()
    s, n = own.skeleton, own.muscles.n_muscles
    hyoid = own.coordinate_names.index("Hyo hinge_1")
    r = StretchReflex(np.arange(n), np.zeros(n), np.zeros(n), np.zeros(n))
    stepper, ends = BodyStepper(s, own.muscles), []
    for steps, book in ((1, None), (1, Book.open(("drive",))), (128, None)):
        q, v = own.default_q, np.zeros(s.n_v)
        v[hyoid] = 12.0
        for _ in range(steps):
            q, v = stepper.step(q, v, np.zeros(n), 0.008 / steps, reflex=r, book=book)
        ends.append(np.degrees(q[hyoid - s.n_v]))
    assert ends[0] == pytest.approx(ends[2], abs=0.1)
    assert ends[1] == pytest.approx(ends[0], abs=1e-9)


def test_a_reflex_for_other_muscles_is_refused(body):
    system = BodySystem(body, drawn=False)
    few = StretchReflex(np.arange(3), *(np.zeros(3) for _ in range(3)))
    with pytest.raises(InputError, match="3 muscles, not 72"):
        system.step(system.start(np.random.default_rng(0)), Controls(reflex=few), 0.0, H)


def test_muscles_with_elastic_tendons_have_reflexes_too():
    """Their loop is explicit: no slope, but the activation is the same."""
    arm_ = arm("left", muscles="elastic")
    state, n = arm_.at_rest(), arm_.muscles.n_muscles
    r = StretchReflex(np.arange(n), np.full(n, 0.2), np.full(n, -0.1), np.zeros(n))
    stepper = BodyStepper(arm_.skeleton, arm_.muscles)
    q, v = stepper.step(state.q, state.v, state.activation, 1e-3, fibre=state.fibre, reflex=r)
    assert np.isfinite(q).all()
    assert np.isfinite(v).all()
    assert state.activation.max() > 0.5
