"""Muscles with fibre and tendon: curves, balance, the step, the body."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vitruvian.anatomy import arm, human, neck
from vitruvian.anatomy.architecture import architecture, row_of
from vitruvian.control import KeyMotion, pose
from vitruvian.couple import BodyStepper
from vitruvian.errors import InputError
from vitruvian.muscle import (
    ActivationDynamics,
    FibreTendon,
    ForceLaw,
    LinearHill,
    MuscleBuilder,
    fibre_lengths,
    force_laws,
    stored_energy,
    tension,
)
from vitruvian.muscle.fibre import (
    active_length,
    force_velocity,
    passive_energy,
    passive_fibre,
    tendon_energy,
    tendon_force,
)
from vitruvian.muscle.tendon import end_kernel, fibre_rates, step_kernel
from vitruvian.skeleton import Inertia, SkeletonBuilder
from vitruvian.skeleton.joints import Fixed, Prismatic
from vitruvian.systems import BodySystem, tracking_world
from vitruvian.world.state import flatten_state, restore_state

K = np.log(6.0) / 0.049
CALF = FibreTendon(1000.0, 0.05, 0.25, float(np.radians(20.0)))


def one(x):
    return np.array([float(x)])


def step(muscle, a, length, rate, fibre, h):
    """Tension, stiffness, fibre length after a step of one muscle whose path moves at a given rate."""
    laws = force_laws(["m"], [muscle])
    out, span, share, l = np.zeros((5, 1)), np.zeros(1), np.zeros(1), one(fibre)
    step_kernel(laws.kind, laws.table, one(a), one(length), one(rate), l, h, out, span, share)
    end_kernel(laws.kind, laws.table, np.zeros(1), out[0], span, share, l)
    return out[0, 0], out[3, 0], l[0]


@given(st.floats(-2.0, 2.0))
def test_slopes_of_the_curves_are_their_differences(x):
    h = 1e-6
    for curve, at in (
        (active_length, 1.1 + 0.4 * x),
        (force_velocity, x),
        (passive_fibre, 1.35 + 0.3 * x),
        (lambda s: tendon_force(s, K), 1.0501 + 0.02 * x),
    ):
        if min(abs(at - 1.6), abs(at - 0.2)) > 1e-5:
            slope = (curve(at + h)[0] - curve(at - h)[0]) / (2 * h)
            assert curve(at)[1] == pytest.approx(slope, abs=2e-4)


def test_known_points_of_the_curves():
    assert active_length(1.0)[0] == pytest.approx(1.0)
    assert active_length(0.5)[0] < 0.3
    assert active_length(1.5)[0] < 0.3
    assert [force_velocity(v)[0] for v in (-1.0, 0.0)] == pytest.approx([0.0, 1.0], abs=1e-9)
    assert passive_fibre(1.6)[0] == pytest.approx(1.0)
    assert tendon_force(1.049, K)[0] == pytest.approx(1.0)
    assert tendon_force(1.0, K)[0] == tendon_force(0.5, K)[0] == 0.0


@given(st.floats(0.9, 2.5))
def test_energies_are_integrals_of_the_forces(x):
    h = 1e-6
    assert (passive_energy(x + h) - passive_energy(x - h)) / (2 * h) == pytest.approx(passive_fibre(x)[0], abs=1e-5)
    x = 1.0 + 0.05 * x
    assert (tendon_energy(x + h, K) - tendon_energy(x - h, K)) / (2 * h) == pytest.approx(
        tendon_force(x, K)[0], abs=1e-4
    )


@given(st.floats(0.0, 1.0), st.floats(0.15, 0.4), st.floats(0.02, 0.1), st.sampled_from([1e-5, 1e-3, 1e-2, 0.3]))
def test_the_step_finds_a_balance_at_any_length_activation_and_start(a, length, fibre, h):
    force, k, l = step(CALF, a, length, 0.0, fibre, h)
    height = CALF.fibre_length * np.sin(CALF.pennation)
    y = np.sqrt(l * l - height * height)
    v = (l - max(fibre, height)) / (h * 0.5)
    assert np.isfinite([force, k, l]).all()
    assert force >= 0.0
    tendon = CALF.f_max * tendon_force((length - y) / CALF.slack_length, K)[0]
    assert force == pytest.approx(tendon, rel=1e-5, abs=1e-3)
    if y > 0.06 * CALF.fibre_length and fibre > height:  # not at its shortest
        s = l / CALF.fibre_length
        own = a * active_length(s)[0] * force_velocity(v)[0] + passive_fibre(s)[0] + 0.01 * v
        assert tendon == pytest.approx(CALF.f_max * own * y / l, rel=1e-3, abs=0.1)


def test_a_slack_muscle_takes_in_its_slack_at_full_speed():
    l = CALF.fibre_length
    for _ in range(10):
        before = l
        force, _, l = step(CALF, 1.0, 0.25, 0.0, l, 1e-3)
    assert force == 0.0
    assert (l - before) / 1e-3 == pytest.approx(-10.0 * CALF.fibre_length, rel=0.1)  # v_max


def test_stiffness_in_a_step_is_the_slope_of_its_force_in_length():
    for a in (0.1, 0.6, 1.0):
        l = fibre_lengths(force_laws(["m"], [CALF]), one(a), one(0.3))[0]
        h, d = 2e-3, 1e-6
        ends = [step(CALF, a, 0.3 + x, 0.05, l, h)[0] for x in (d, -d)]
        assert step(CALF, a, 0.3, 0.05, l, h)[1] == pytest.approx((ends[0] - ends[1]) / (2 * d), rel=1e-3)


def test_many_steps_settle_where_the_static_law_says():
    laws = force_laws(["m"], [CALF])
    for a in (0.0, 0.2, 1.0):
        l = CALF.fibre_length
        for _ in range(2000):
            force, _, l = step(CALF, a, 0.305, 0.0, l, 5e-3)
        assert force == pytest.approx(tension(laws, one(a), one(0.305), one(0.0)).force[0], rel=1e-3, abs=0.05)


def test_force_is_passive_plus_capacity_times_activation():
    for muscle in (CALF, replace(CALF, tendon="rigid")):
        for a in (0.0, 0.3, 1.0):
            for v in (-0.3, 0.0, 0.3):
                t = tension(force_laws(["m"], [muscle]), one(a), one(0.31), one(v))
                assert t.force[0] == pytest.approx(t.passive[0] + a * t.capacity[0], abs=1e-6)


def test_a_fibre_is_at_its_optimum_where_it_was_laid():
    for tendon in ("elastic", "rigid"):
        muscle = FibreTendon.along(800.0, 0.4, 0.06, 0.3, tendon)
        assert muscle.rest_length == pytest.approx(0.4)
        assert fibre_lengths(force_laws(["m"], [muscle]), one(1.0), one(0.4))[0] == pytest.approx(0.06, rel=1e-6)


def test_wrong_muscles_are_refused_by_name():
    with pytest.raises(InputError, match="no tendon"):
        FibreTendon.along(100.0, 0.05, 0.06)
    with pytest.raises(InputError, match="elastic"):
        FibreTendon(100.0, 0.05, 0.1, tendon="elastik")
    with pytest.raises(InputError, match="slack_length"):
        FibreTendon(100.0, 0.05, 0.0)


def weight(muscle):
    """A mass that hangs by one muscle."""
    bones = SkeletonBuilder()
    bones.add_bone("roof", joint=Fixed(), inertia=Inertia.box(1.0, (0.1, 0.1, 0.1)))
    bones.add_bone("load", parent="roof", joint=Prismatic((0, 0, -1)), inertia=Inertia.box(20.0, (0.1, 0.1, 0.1)))
    skeleton = bones.build()
    muscles = MuscleBuilder(skeleton)
    muscles.add_muscle("m", [("roof", (0, 0, 0)), ("load", (0, 0, 0))], muscle)
    return BodyStepper(skeleton, muscles.build())


def test_a_weight_hangs_on_a_muscle_with_its_own_weight_as_tension():
    stepper = weight(CALF)
    q, v, fibre = one(0.3), np.zeros(1), one(0.05)
    for _ in range(4000):
        q, v = stepper.step(q, v, one(0.5), 2e-3, fibre=fibre)
    assert abs(v[0]) < 1e-6
    assert stepper.found.tension[0, 0] == pytest.approx(20.0 * 9.81, rel=1e-5)


def test_the_step_converges_in_first_order_and_is_stable_when_long():
    """Against a thousand times finer steps; an explicit step of the fibre would need 0.1 ms."""

    def run(n):
        stepper = weight(CALF)
        q, v, fibre = one(0.3), np.zeros(1), one(0.05)
        for _ in range(n):
            q, v = stepper.step(q, v, one(0.6), 0.2 / n, fibre=fibre)
        return np.array([q[0], fibre[0]])

    fine = run(20000)
    errors = [np.abs(run(n) - fine).max() for n in (200, 400)]
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.4)
    assert np.abs(run(10) - fine).max() < 0.01


def test_the_fibre_rate_is_what_short_steps_do():
    laws, l = force_laws(["m"], [CALF]), one(0.045)
    rate = np.zeros(1)
    fibre_rates(laws.kind, laws.table, one(0.6), one(0.305), l, rate)
    h = 1e-6
    assert (step(CALF, 0.6, 0.305, 0.0, 0.045, h)[2] - 0.045) / h == pytest.approx(rate[0], rel=5e-3)


def test_every_muscle_of_the_body_has_one_row_of_architecture_with_source_and_grade():
    rows, body = architecture(), human()
    for name in body.muscles.names:
        row = row_of(name, rows)
        assert row.source
        assert row.grade in ("A", "A-", "B", "C", "D")
        assert (row.fibre_length > 0) != (row.share > 0)


def test_a_body_with_tendons_keeps_its_strength_and_paths_and_starts_in_balance():
    plain, body = arm("left"), arm("left", muscles="elastic")
    kept = np.array([row_of(name, architecture()).force == 0 for name in body.muscles.names])
    assert (body.muscles.f_max == plain.muscles.f_max)[kept].all()
    assert (body.muscles.local == plain.muscles.local).all()
    assert body.muscles.elastic.all()
    assert not plain.muscles.elastic.any()
    state = body.at_rest()
    stepper = BodyStepper(body.skeleton, body.muscles)
    before = state.fibre.copy()
    stepper.step(state.q, state.v, state.activation, 1e-4, fibre=state.fibre)
    assert state.fibre == pytest.approx(before, abs=1e-5)
    assert stored_energy(body.muscles, stepper.found.length, state.fibre).shape == (2, body.muscles.n_muscles)


def test_published_forces_are_shared_by_all_lines_of_a_muscle_and_parts_have_their_lines():
    whole, part = human(muscles="rigid"), neck(muscles="rigid")
    for stem, force in (("sternocleidomastoid", 372.3), ("longus_colli", 97.0), ("mylohyoid", 200.3)):
        mine = [m for m in whole.muscles.named(stem) if whole.muscles.names[m].endswith("_l")]
        assert whole.muscles.f_max[mine].sum() == pytest.approx(force)
    for m, name in enumerate(part.muscles.names):
        assert part.muscles.f_max[m] == pytest.approx(whole.muscles.f_max[whole.muscles.index(name)])


@ForceLaw
def steady(activation, length, rate, f_max, rest_length):
    return activation * f_max + 0.0 * length


def test_muscles_with_and_without_tendons_and_with_laws_of_ones_own_may_share_a_body():
    body, path = arm("left", muscles="elastic"), [("Hu_l", (0.1, 0, 0)), ("Ul_l", (0.05, 0, 0))]
    more = body.with_muscle("own_l", path, element=steady(f_max=50.0, rest_length=0.2))
    more = more.with_muscle("plain_l", path, element=LinearHill(100.0, 0.2))
    stepper, state = BodyStepper(more.skeleton, more.muscles), more.at_rest()
    a = np.full(more.muscles.n_muscles, 0.2)
    for _ in range(10):
        state.q, state.v = stepper.step(state.q, state.v, a, 2e-3, fibre=state.fibre)
    assert np.isfinite(state.q).all()
    assert (state.fibre[-2:] == 0.0).all()
    assert (state.fibre[:-2] > 0).all()
    assert stepper.found.tension[0, -2] == pytest.approx(10.0)


def test_height_scales_fibres_and_tendons():
    tall = human(muscles="rigid", height=2.0)
    usual = human(muscles="rigid")
    i = usual.muscles.index("soleus_01_l")
    assert tall.muscles.elements[i].fibre_length / usual.muscles.elements[i].fibre_length == pytest.approx(tall.scale)
    assert tall.muscles.rest_length[i] / usual.muscles.rest_length[i] == pytest.approx(tall.scale, rel=1e-6)


def test_fibre_lengths_travel_with_checkpoints_and_contraction_is_booked():
    body = arm("left", muscles="elastic")
    low = pose(body, {"left arm": {"direction": [0.3, -0.2, -1.0]}, "left elbow": 15})
    motion = KeyMotion.through(body, [0.0, 0.4], [low, pose(body, {"left elbow": 70}, low)])
    worlds = [
        tracking_world(BodySystem(body, low, drawn=False, dynamics=ActivationDynamics(), books=True), motion)
        for _ in range(2)
    ]
    one, other = worlds
    other.advance(0.05)
    one.advance(0.1)
    restore_state(other.state, one.state)
    assert (other.state.fibre == one.state.fibre).all()
    before = one.state.fibre.copy()
    one.advance(0.1)
    assert np.abs(one.state.fibre - before).max() > 1e-4
    assert (other.state.fibre == before).all()  # no array is shared
    assert one.state.book.work["contraction"] > 0.0
    assert "fibre" in flatten_state(one.state)


def test_computed_muscle_control_leads_an_arm_with_elastic_tendons():
    body = arm("left", muscles="elastic")
    low = pose(body, {"left arm": {"direction": [0.3, -0.2, -1.0]}, "left elbow": 15})
    motion = KeyMotion.through(body, [0.0, 0.5], [low, pose(body, {"left elbow": 80}, low)])
    world = tracking_world(BodySystem(body, low, drawn=False), motion)
    world.advance(0.7)
    elbow = body.skeleton.q_slice("Ul_l")
    assert np.degrees(world.state.q[elbow][0]) == pytest.approx(80.0, abs=6.0)
    assert world.state.activation.max() < 1.0
