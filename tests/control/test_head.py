"""The head's control: setpoints, pose and tone, networks, eyes, and that a held head stays."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from vitruvian.anatomy import human, neck
from vitruvian.control.head import (
    GazeControl,
    HeadControl,
    HeadNetworks,
    HeadSettings,
    HeadStatics,
    NeckChain,
    Reflex,
    Steered,
    Still,
    Turns,
    shipped,
)
from vitruvian.control.head.eyes import RANGE, EyeState, aim, lids, look
from vitruvian.control.head.goals import Sampled, bell
from vitruvian.control.head.training import fit, fit_torques, quality, solve_samples, thesis_neck
from vitruvian.errors import InputError
from vitruvian.skeleton import bone_poses
from vitruvian.spatial import exp_so3, log_so3
from vitruvian.systems.head import HeadSystem


@pytest.fixture(scope="module")
def body():
    return neck(muscles="thesis")


@pytest.fixture(scope="module")
def statics(body):
    return HeadStatics(body)


def test_the_thesis_neck_has_its_parts(body):
    assert (body.skeleton.n_v, body.muscles.n_muscles) == (24, 72)
    assert {g: body.muscles.groups.count(g) for g in set(body.muscles.groups)} == {
        "Longus colli": 16, "Erector": 16, "Rotator": 16, "Scalenus anterior": 4, "Scalenus posterior": 4,
        "Splenius capitis": 4, "Sternomastoid": 2, "Cleidooccipital": 2, "Trapezius": 8,
    }  # fmt: skip
    mass = dict(zip(body.skeleton.names, body.skeleton.masses))
    assert mass["Sku"] == pytest.approx(3.5)
    assert mass["C4"] == pytest.approx(0.21)


def test_left_and_right_muscles_mirror(body):
    m = body.muscles
    for i, name in enumerate(m.names):
        if name.endswith("_l"):
            other = m.names.index(name[:-1] + "r")
            assert m.rest_length[i] == pytest.approx(m.rest_length[other], rel=1e-9)


@pytest.mark.parametrize("turn", [(0.4, 0.0, 0.0), (0.0, 0.3, 0.2), (-0.3, 0.1, 0.8)])
def test_setpoints_turn_the_head(body, turn):
    chain = NeckChain.of(body)
    wanted = exp_so3(np.array(turn))
    angles, off = chain.solve(wanted)
    assert off < 1e-8
    poses = bone_poses(body.skeleton, chain.placed(body.default_q, angles))
    now = poses[chain.base, :3, :3].T @ poses[body.skeleton.index("Sku"), :3, :3]
    assert np.linalg.norm(log_so3(wanted.T @ now)) < 1e-8


def test_setpoints_stay_inside_the_joints_ranges():
    chain = NeckChain.of(neck())
    angles, off = chain.solve(exp_so3(np.array([0.0, 0.0, 2.5])))
    assert off > 0.1  # nobody turns the head that far
    assert (angles <= chain.high + 1e-9).all()
    assert (angles >= chain.low - 1e-9).all()


def test_a_held_neck_cannot_be_steered():
    with pytest.raises(InputError, match="no way down"):
        NeckChain.of(human(), head="Ha_l")


def test_pose_balances_and_tone_makes_no_torque(body, statics):
    q = statics.chain.placed(body.default_q, statics.chain.solve(exp_so3(np.array([0.2, 0.0, 0.2])))[0])
    at = statics.balance(q, np.array([0.0, 0.0, -1.0]))
    a, missing = statics.pose(at)
    assert missing < 1e-2
    assert np.abs(at.map.torques(a) - at.torque).max() < 1e-2
    tone = statics.tone(at)
    assert tone.max() > 0.9
    assert np.abs(at.map.torques(tone)).max() < 1e-6 * np.abs(at.map.value).max()


def test_gravity_from_behind_needs_other_muscles(body, statics):
    upright = statics.balance(body.default_q, np.array([0.0, 0.0, -1.0])).torque
    lying = statics.balance(body.default_q, np.array([0.0, 1.0, 0.0])).torque
    none = statics.balance(body.default_q, np.zeros(3)).torque
    assert np.abs(lying - none).max() > 5.0 * np.abs(upright - none).max()


def test_reflex_saturates_and_stays_in_range():
    reflex = Reflex()
    zero = np.zeros(3)
    a = reflex.activation(zero, np.array([0.1, -0.1, 0.0]), np.array([0.0, 0.0, 100.0]), zero, zero, 1.0)
    np.testing.assert_allclose(a, [0.8, 0.0, 0.1], atol=1e-12)


def test_networks_are_kept_to_the_digit(body, statics, tmp_path):
    nets = shipped("thesis", tuple(body.muscles.names[i] for i in statics.muscles))
    nets.save(tmp_path / "nets.npz")
    again = HeadNetworks.load(tmp_path / "nets.npz")
    x = (exp_so3(np.array([0.1, 0.2, 0.3])), np.array([0.0, 0.1, -1.0]))
    np.testing.assert_array_equal(nets.activations(*x), again.activations(*x))


def test_networks_for_other_muscles_are_refused():
    with pytest.raises(InputError, match="other muscles"):
        shipped("thesis", ("one", "two"))


def test_training_learns_something_and_says_how_much(body, statics):
    pytest.importorskip("sklearn")
    solved = solve_samples(thesis_neck, 150, processes=1)
    names = tuple(body.muscles.names[i] for i in statics.muscles)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a learner that was stopped early
        short, long = (fit(solved, names, hidden=(16, 16), epochs=n) for n in (4, 160))
    assert quality(long, solved, body).pose_rms < 0.7 * quality(short, solved, body).pose_rms
    assert long.pose.sizes == (6, 16, 16, 72)
    better = fit_torques(long, solved, body, iterations=60)
    assert quality(better, solved, body).torque_rms < 0.9 * quality(long, solved, body).torque_rms
    assert better.pose.sizes == long.pose.sizes


def test_a_late_reflex_answers_late(body, statics):
    nets = shipped("thesis", tuple(body.muscles.names[i] for i in statics.muscles))
    control = HeadControl(body, Still(), HeadSettings(delay=0.05), networks=nets, statics=statics)
    own = control.start(np.random.default_rng(0))
    angles, _ = statics.chain.solve(exp_so3(np.array([0.3, 0.0, 0.0])))
    off = body.at_rest(statics.chain.placed(body.default_q, angles))
    for k in range(60):  # a head that is off from the start, and stays so
        asked = control.act(own, off, 1e-3 * k, 1e-3).excitation
        if k < 49:
            np.testing.assert_array_equal(asked, own.feedforward)
    e = control.spindles.strain(off.q)
    still = np.zeros(len(e))
    at_once = Reflex().activation(own.feedforward, e, still, own.strain, still, 1.0)
    np.testing.assert_allclose(asked, at_once, atol=1e-9)
    assert np.abs(asked - own.feedforward).max() > 0.1


@pytest.mark.parametrize("field", ["tone", "gain", "delay"])
def test_settings_out_of_range(field):
    with pytest.raises(InputError, match=field):
        HeadSettings(**{field: 30.0})


def _held(body, seconds, goal, settings=None, **rest):
    system = HeadSystem(body, drawn=False, **rest)
    statics = HeadStatics(body)
    nets = shipped("thesis", tuple(body.muscles.names[i] for i in statics.muscles))
    control = HeadControl(body, goal, settings, networks=nets, statics=statics)
    rng = np.random.default_rng(0)
    state, own = system.start(rng), control.start(rng)
    dt = 1.0 / 240.0
    for k in range(round(seconds / dt)):
        system.step(state, control.act(own, state, k * dt, dt), k * dt, dt)
    return control, state, own


def test_a_head_is_turned_and_held(body):
    wanted = exp_so3(np.array([0.2, 0.0, 0.3]))
    control, state, _ = _held(body, 1.5, Turns([0.0, 0.8], [np.eye(3), wanted]))
    assert np.degrees(np.linalg.norm(log_so3(wanted @ control.head_now(state.q).T))) < 3.0


def test_a_ride_raises_tone_and_gain(body):
    settings = HeadSettings(tone_rises=True, gain_rises=True)
    _, _, own = _held(body, 1.0, Still(), settings, ride=lambda t: 30.0 * np.array([0.0, np.sin(15.0 * t), 0.0]))
    assert own.tone > 0.1
    assert own.gain > 1.5


def test_a_falling_base_feels_no_weight(body):
    """A base that falls freely: nothing pulls the head, whatever its pose."""
    at_rest, falling = (
        HeadSystem(body, drawn=False),
        HeadSystem(body, drawn=False, ride=lambda t: body.skeleton.gravity),
    )
    rng = np.random.default_rng(0)
    a, b = at_rest.start(rng), falling.start(rng)
    for system, state in ((at_rest, a), (falling, b)):
        system.step(state, None, 0.0, 1e-3)
    assert np.abs(b.v).max() < 1e-9 < np.abs(a.v).max()


def test_goals():
    turns = Turns([0.0, 1.0], [np.eye(3), exp_so3(np.array([0.0, 0.0, 0.4]))], lasting=0.5)
    assert np.linalg.norm(log_so3(turns.wanted(0.4))) == 0.0
    assert np.linalg.norm(log_so3(turns.wanted(0.75))) == pytest.approx(0.2)
    assert (bell(0.0), bell(0.5), bell(1.0)) == pytest.approx((0.0, 0.5, 1.0))
    with pytest.raises(InputError, match="overlap"):
        Turns([0.0, 0.1], [np.eye(3), np.eye(3)])
    sampled = Sampled(np.stack([np.eye(3), exp_so3(np.array([0.2, 0.0, 0.0]))]), 0.5)
    np.testing.assert_allclose(log_so3(sampled.wanted(0.25)), [0.1, 0.0, 0.0], atol=1e-12)
    step = Steered(Still(exp_so3(np.array([0.3, 0.0, 0.0]))), lead=0.3).step(np.eye(3), 0.0, 0.1)
    np.testing.assert_allclose(log_so3(step), [0.1, 0.0, 0.0], atol=1e-12)


def _watch(target, seconds, head=None):
    eyes, rng, course = EyeState(), np.random.default_rng(0), []
    for k in range(round(seconds * 1000)):
        pose = np.eye(4) if head is None else head(1e-3 * k)
        look(eyes, pose, target(1e-3 * k), 1e-3 * k, 1e-3, rng)
        course.append(eyes.angle.copy())
    return eyes, np.array(course)


def test_a_saccade_waits_leaps_and_lands():
    eyes, course = _watch(lambda t: np.array([30.0 if t >= 0.2 else 0.0, -100.0, 0.043]), 0.8)
    assert eyes.error < 1e-3
    moving = np.flatnonzero(np.abs(np.diff(course[:, 0, 0])) > 1e-4)
    assert 350 < moving[0] < 420  # latency
    assert np.degrees(eyes.peak) == pytest.approx(
        2.0 * np.degrees(eyes.size) / (0.037 + 0.0027 * np.degrees(eyes.size)), rel=0.1
    )


def test_slow_targets_are_pursued_without_saccades():
    eyes, _ = _watch(lambda t: np.array([30.0 * t, -100.0, 0.043]), 1.0)
    assert eyes.size == 0.0
    assert np.degrees(eyes.error) < 1.0


def test_near_targets_make_eyes_converge_and_far_ones_stay_in_range():
    near = aim(np.eye(4), np.array([0.0, -0.35, 0.043]))
    assert near[0, 0] < 0.0 < near[1, 0]
    eyes, _ = _watch(lambda t: np.array([2.0, 0.1, 0.043]), 1.0)
    assert (np.abs(eyes.angle) <= RANGE + 1e-12).all()


def test_lids_close_in_a_blink():
    eyes = EyeState(blink=1.0)
    assert lids(eyes, 1.075) > 0.95
    assert lids(eyes, 1.5) == 0.0


def test_a_target_inside_the_head_is_refused(body):
    system = HeadSystem(body, drawn=False)
    skull = bone_poses(body.skeleton, body.default_q)[body.skeleton.index("Sku")]
    control = GazeControl(HeadControl(body), lambda t: skull[:3, 3] + (0.0, -0.02, 0.06))
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="inside the head"):
        control.act(control.start(rng), system.start(rng), 0.0, 0.01)
