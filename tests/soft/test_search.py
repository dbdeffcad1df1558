"""Searches: the same result wherever and however often it is begun."""

import os
import signal
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from vitruvian.anatomy.characters import character, soft_body
from vitruvian.control.search import Reference
from vitruvian.control.search.actors import RigidActor, SoftActor
from vitruvian.control.search.cycle import COUNT, ERRORS, ROW_TABLE, astray, cycle_of, errors, next_row, next_target
from vitruvian.control.search.inverse import aimed, contact_wrenches, torques
from vitruvian.control.search.mirror import mirrored
from vitruvian.control.search.playing import Running
from vitruvian.control.search.policy import WINDOWS, Policy, first_policy, learn
from vitruvian.control.search.samples import Control, Trying, search
from vitruvian.couple.rigid_stand_in import rigid_step
from vitruvian.errors import InputError
from vitruvian.exchange import read_trial
from vitruvian.measured.retarget import _skin, ready, retargeted
from vitruvian.skeleton import bone_poses, difference, integrate

TINY = Trying(samples=12, kept=4, seed=3)


@pytest.fixture(scope="module")
def actor():
    return RigidActor(character("mascot"))


@pytest.fixture(scope="module")
def run(actor):
    return retargeted(read_trial("run"), actor.who, loop=True).smoothed(0.015)


@pytest.fixture(scope="module")
def cycle(actor):
    return cycle_of(actor, retargeted(read_trial("walk"), actor.who, loop=True).smoothed(0.015).slowed(0.75))


def same(a, b):
    np.testing.assert_array_equal(a.offsets, b.offsets)
    np.testing.assert_array_equal(a.costs, b.costs)


def test_a_run_loops_smoothly(run):
    np.testing.assert_allclose(run.sample(run.seconds)[0][3:], run.q[0, 3:], atol=1e-9)
    np.testing.assert_allclose(run.sample(2.0 * run.seconds + 0.1)[0][:3], run.sample(0.1)[0][:3] + 2.0 * run.way)
    jumps = np.abs(np.diff(np.concatenate([run.steps, run.steps[:1]]), axis=0)).max()
    assert jumps < 0.06  # [rad] in a hundredth of a second


def test_a_rigid_mascot_stands(actor):
    q = actor.who.bind_q
    still = Reference(actor.who.skeleton, 1.0, np.stack([q] * 3))
    state = actor.begin(q, np.zeros(actor.who.skeleton.n_v))
    before = actor.stand(state).centre
    state = actor.go(state, still, 0.0, 0.6, 0.6, np.zeros(actor.who.skeleton.n_v))
    assert np.linalg.norm(actor.stand(state).centre - before) < 0.02


def test_a_stopped_search_goes_on_to_the_same_end(actor, run, tmp_path):
    whole = search(actor, run, 0.3, TINY, start=0.3)
    kept = search(actor, run, 0.3, TINY, start=0.3, keep=tmp_path / "s")
    same(whole, kept)
    (tmp_path / "s" / "window-2.npz").unlink()  # as if it had been killed in the last window
    (tmp_path / "s" / "draft.npz").write_bytes(b"half a file")
    same(whole, search(actor, run, 0.3, TINY, start=0.3, keep=tmp_path / "s"))
    with pytest.raises(InputError, match="another search"):
        search(actor, run, 0.3, Trying(samples=12, kept=4, seed=4), start=0.3, keep=tmp_path / "s")


class Deadly(RigidActor):
    """Kills the worker that first tries a sample or a policy, once."""

    def __init__(self, who, mark, **how):
        self.mark, self.home = mark, os.getpid()
        super().__init__(who, **how)

    def die(self):
        if os.getpid() != self.home and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    def go(self, *what):
        self.die()
        return super().go(*what)

    @property
    def room(self):  # what a policy's rollout asks for
        self.die()
        return self.arrays

    @room.setter
    def room(self, arrays):
        self.arrays = arrays


def test_a_killed_worker_costs_a_search_nothing(actor, run, tmp_path):
    mark = tmp_path / "killed"
    found = search(Deadly(actor.who, mark), run, 0.1, TINY, start=0.3, processes=2)
    assert mark.exists()
    same(found, search(actor, run, 0.1, TINY, start=0.3))


def test_a_roll_touches_the_ground_and_does_not_slide():
    who = character("baby")
    motion = ready(read_trial("roll"), who, rolling=True, tuck=1.2, even=True)
    skins = [_skin(who, q) for q in motion.q[20:120:4]]
    assert max(abs(s[:, 2].min()) for s in skins) < 0.065  # smoothed: over its head it sinks in by 58 mm
    slid, went = 0.0, np.linalg.norm(motion.q[120, :2] - motion.q[20, :2])
    for a, b in pairwise(skins):
        low = a[:, 2] + b[:, 2] < np.min(a[:, 2] + b[:, 2]) + 0.01
        slid += np.linalg.norm((b - a)[low, :2].mean(axis=0))
    assert went > 0.5
    assert slid < 0.35 * went
    np.testing.assert_allclose(motion.q[:, 0], 0.0, atol=1e-9)  # even: it does not go to a side
    for q in motion.q[::40]:
        np.testing.assert_allclose(difference(who.skeleton, q, mirrored(who.skeleton, q)), 0.0, atol=1e-6)


def test_samples_find_better_than_none(actor, run):
    none = search(actor, run, 0.3, Trying(samples=4, kept=4), start=0.3)
    some = search(actor, run, 0.3, Trying(samples=60, kept=10), start=0.3)
    assert some.costs[-1] < 0.8 * none.costs[-1]
    assert not none.offsets.any()


def test_time_is_sampled_where_asked(actor, run):
    found = search(actor, run, 0.2, Trying(samples=40, kept=4, time_scaling=0.2), start=0.3)
    assert (np.abs(found.factors - 1.0) <= 0.2).all()
    assert found.seconds == pytest.approx(0.1 * found.factors.sum())


def test_files_read_as_they_were_written(actor, run, tmp_path):
    found = search(actor, run, 0.2, TINY, start=0.3)
    found.write(tmp_path / "c.json")
    back = Control.read(tmp_path / "c.json")
    np.testing.assert_allclose(back.offsets, found.offsets, atol=1e-5)
    assert back.start == 0.3
    policy = replace(first_policy(clip="run"), gains=np.arange(COUNT) / 7.0)
    policy.write(tmp_path / "p.json")
    back = Policy.read(tmp_path / "p.json")
    np.testing.assert_allclose(back.flat, policy.flat, atol=1e-5)
    assert back.told == {"clip": "run"}
    (tmp_path / "x.json").write_text("{}")
    for kind in (Control, Policy):
        with pytest.raises(InputError, match="is not a"):
            kind.read(tmp_path / "x.json")


def test_a_cycle_is_the_same_on_both_sides(actor, cycle):
    half, s = len(cycle.targets) // 2, actor.who.skeleton
    for i in (0, 7, half - 1):
        twin = mirrored(s, cycle.targets[i])
        np.testing.assert_allclose(np.abs(twin[3:7]), np.abs(cycle.targets[i + half][3:7]), atol=1e-9)
        np.testing.assert_allclose(difference(s, twin, cycle.targets[i + half])[6:], 0.0, atol=1e-9)
    np.testing.assert_allclose(mirrored(s, mirrored(s, cycle.targets[3])), cycle.targets[3])
    feet = np.array([actor.ends.at(q)[2:4, 2] for q in cycle.targets[:half]]).mean(axis=0)
    assert feet[0] < feet[1]  # the left one bears in the first half


def test_feedback_vanishes_on_the_cycle_and_is_mirrored(actor, cycle):
    s, half, error = actor.who.skeleton, len(cycle.targets) // 2, np.zeros(ERRORS)
    policy = replace(first_policy(), offsets=np.random.default_rng(1).normal(size=(WINDOWS, 12)))
    offsets = policy.whole(s)
    found = []
    for i, sign in ((5, 1.0), (5 + half, -1.0)):
        now = actor.stand(actor.begin(cycle.targets[i], cycle.rates[i]))
        errors(cycle, i, now.q, now.v, bone_poses(s, now.q), now.centre, now.velocity, error)
        np.testing.assert_allclose(error, 0.0, atol=1e-6)
        leaning = integrate(s, now.q, np.eye(s.n_v)[0] * 0.1 + sign * np.eye(s.n_v)[1] * 0.05)
        now = actor.stand(actor.begin(leaning, cycle.rates[i]))
        errors(cycle, i, now.q, now.v, bone_poses(s, now.q), now.centre, now.velocity, error)
        assert error[0] == pytest.approx(0.1, rel=0.01)
        target = np.empty(s.n_q)
        next_target(s.topology, cycle, i, offsets, policy.gains, ROW_TABLE, error, target)
        found.append(target)
    np.testing.assert_allclose(difference(s, mirrored(s, found[0]), found[1])[6:], 0.0, atol=2e-3)


def test_a_cycle_may_have_the_arms_of_another(actor, cycle, run):
    s, walk = actor.who.skeleton, ready(read_trial("walk"), actor.who, loop=True, slower=0.75)
    found = cycle_of(actor, walk, mixed=run)
    alone, plain = cycle_of(actor, run), cycle_of(actor, walk)
    elbow, knee = s.q_start[s.index("forearm_l")], s.q_start[s.index("shank_l")]
    assert found.targets[:, elbow].max() == pytest.approx(alone.targets[:, elbow].max(), abs=0.02)
    assert found.targets[:, elbow].min() > plain.targets[:, elbow].max()  # a runner's are bent all the time
    np.testing.assert_allclose(found.targets[:, knee], plain.targets[:, knee], atol=1e-9)
    half = cycle_of(actor, walk, mixed=run, legs=0.5)
    speeds = [abs(c.speed[:, 1].mean()) for c in (plain, half, alone)]
    assert speeds[0] < speeds[1] < speeds[2]


def test_a_leg_that_is_led_out_to_the_side_is_astray(actor, cycle):
    s = actor.who.skeleton
    for i, leg in ((9, "thigh_r"), (9 + len(cycle.targets) // 2, "thigh_l")):
        q = cycle.targets[i]
        now = actor.stand(actor.begin(q, cycle.rates[i]))
        assert astray(cycle, i, bone_poses(s, q), now.centre) == pytest.approx(0.0, abs=1e-9)
        turn = np.zeros(s.n_v)
        turn[s.v_start[s.index(leg)] + 1] = 1.0
        out = integrate(s, q, turn)
        assert 0.2 < astray(cycle, i, bone_poses(s, out), now.centre) < 0.6


def test_who_has_fallen_lets_go(actor, cycle):
    running = Running(actor.who, cycle, first_policy())
    body = soft_body(actor.who)
    up, own = body.start(cycle.targets[0]), running.start(np.random.default_rng(0))
    first = running.act(own, up, 0.0, 0.004).posture
    assert not own.fallen
    lying = body.start(integrate(actor.who.skeleton, cycle.targets[0], 1.5 * np.eye(actor.who.skeleton.n_v)[0]))
    for n in range(1, 600):
        last = running.act(own, lying, 0.004 * n, 0.004).posture
    assert own.fallen
    assert not last.rate.any()
    assert first.rate.any()
    np.testing.assert_allclose(
        difference(actor.who.skeleton, last.q, actor.who.bind_q)[6:], 0.0, atol=0.01
    )  # as it was drawn up
    assert running.act(own, up, 3.0, 0.004).posture.q is own.target  # for good


def test_a_stopped_learning_goes_on_to_the_same_end(actor, cycle, tmp_path):
    pytest.importorskip("cma")
    how = {"population": 4, "seed": 2}
    whole = learn(actor, cycle, first_policy(), rounds=2, **how)
    learn(actor, cycle, first_policy(), rounds=1, keep=tmp_path / "k.npz", **how)
    on = learn(actor, cycle, first_policy(), rounds=2, keep=tmp_path / "k.npz", **how)
    np.testing.assert_array_equal(whole.flat, on.flat)
    assert whole.told["judged"] <= 3.1


def test_a_killed_worker_costs_learning_nothing(actor, cycle, tmp_path):
    pytest.importorskip("cma")
    how = {"population": 4, "seed": 2, "rounds": 1}
    mark = tmp_path / "killed"
    found = learn(Deadly(actor.who, mark), cycle, first_policy(), processes=2, **how)
    assert mark.exists()
    np.testing.assert_array_equal(found.flat, learn(actor, cycle, first_policy(), **how).flat)


def test_inverse_dynamics_holds_who_stands(actor):
    q = actor.who.standing_q
    still = Reference(actor.who.skeleton, 1.0, np.stack([q] * 3))
    found = torques(actor, still, 1.0)
    weight = actor.who.mass * 9.81
    assert np.abs(found[3:6]).max() < 1e-6 * weight  # the ground bears it
    assert np.abs(found[:3]).max() < 0.02 * weight
    falling = contact_wrenches(actor, integrate(actor.skeleton, q, np.eye(len(found))[5] * 0.3), np.ones(6))
    assert not falling.any()  # nothing touches
    offsets = aimed(actor, still, 0.2, 0.1)
    assert offsets.shape == (2, len(found))
    assert 0.01 < np.abs(offsets[:, 6:]).max() < 0.3


def test_a_landing_of_the_swing_foot_begins_the_other_half(actor, cycle):
    half = len(cycle.targets) // 2
    none = np.zeros((len(actor.soles.bone), 3))
    left, right = (none.copy(), none.copy())
    for anchor, foot in ((left, 0), (right, 1)):
        anchor[actor.feet.points[actor.feet.foot == foot], 2] = 1.0
    early, late = int(0.3 * half), int(0.7 * half)
    assert next_row(cycle, early, actor.feet, right) == early + 1  # it has only just left
    assert next_row(cycle, late, actor.feet, right) == half
    assert next_row(cycle, late, actor.feet, left) == late + 1  # that one bears
    assert next_row(cycle, half + late, actor.feet, left) == 0
    assert next_row(cycle, half - 1, actor.feet, none) == half - 1  # in the air it waits
    one = right.copy()
    one[actor.feet.points[actor.feet.foot == 1][1:], 2] = 0.0
    assert next_row(cycle, late, actor.feet, one) == late + 1  # a toe alone is no landing


def test_both_actors_feel_the_same_feet(actor):
    soft, who = SoftActor(actor.who).feet, actor.who
    for foot in (0, 1):
        assert actor.feet.share[actor.feet.foot == foot].sum() == pytest.approx(1.0)
        own = soft.points[soft.foot == foot]
        assert soft.share[soft.foot == foot].sum() == pytest.approx(1.0)
        assert (np.sign(who.vertices[own, 0]) == (1.0 if foot == 0 else -1.0)).all()  # +x is the left side
        assert who.vertices[own, 2].max() < 0.01


def test_a_rollout_counts_what_slides(actor):
    who, q = actor.who, actor.who.standing_q
    found = []
    for speed in (0.0, 3.0):
        state, v, slid = q.copy(), np.zeros(who.skeleton.n_v), np.zeros(2)
        v[3] = speed
        anchor, still = np.zeros((len(actor.soles.bone), 3)), np.zeros((len(who.bones), 6))
        total = np.zeros(2)
        for _ in range(25):
            rigid_step(
                actor.bones, actor.soles, actor.ground, state, v, anchor, q, 0.0 * v, *actor.gains, still,
                *actor.room, slid, 0.004,
            )  # fmt: skip
            total += slid
        found.append(total[0] / total[1])
    assert found[0] < 1e-4
    assert found[1] > 0.001
