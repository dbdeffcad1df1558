"""What a pilot feels, and what he answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from vitruvian.anatomy import human
from vitruvian.control.rhythm import MuscleKinematics, Rhythm, StrokeMotion, load_stroke
from vitruvian.control.senses import FeltCourse, Senses
from vitruvian.control.senses.course import empty_trail
from vitruvian.control.swim import MuscleActuation, Pilot, Pool, Reflexes, hold, release
from vitruvian.control.swim.pilot import POSTURE_PARTS
from vitruvian.control.swim.pilot.arms import StraightArm
from vitruvian.control.swim.pilot.reflexes import arms_for, bank_wanted, pace_for
from vitruvian.errors import InputError
from vitruvian.skeleton import bone_poses, integrate
from vitruvian.spatial import exp_so3, quaternion_from_rotation, quaternion_product

DT = 1.0 / 96.0


@dataclass
class Now:
    q: np.ndarray


@pytest.fixture(scope="module")
def body():
    return human(gravity=(0.0, 0.0, 0.0))


@pytest.fixture(scope="module")
def motion(body):
    return StrokeMotion(body, load_stroke("crawl"), 0.9)


@pytest.fixture(scope="module")
def pilot(body):
    return Pilot(body, "crawl")


@pytest.fixture(scope="module")
def rhythm(body):
    return Rhythm.learn(body, ["crawl"])


def _turned(q, angle):
    """The same pose, the whole body turned about the vertical."""
    out = q.copy()
    out[3:7] = quaternion_product(quaternion_from_rotation(exp_so3(np.array([0.0, 0.0, angle]))), q[3:7])
    return out


def _course(**values):
    still = dict.fromkeys(("heading", "turning", "roll", "pitch", "height", "rising", "speed"), 0.0)
    return FeltCourse(**{**still, **values}, place=np.zeros(2))


def test_means_over_a_stroke_do_not_see_its_sway_and_are_not_old(body, motion):
    senses, trail, period, rest = Senses(body, motion), empty_trail(), 1.0, motion.at(0.0)[0]
    for k in range(230):
        t = k * DT
        q = _turned(rest, 0.3 * t + 0.2 * np.sin(2.0 * np.pi * t / period))
        q[:2] = -0.4 * t, -0.3 * t
        course, trail = senses.feel(trail, q, t, period, 0.0)
    first = senses.feel(empty_trail(), rest, 0.0, period, 0.0)[0].heading
    assert course.turning == pytest.approx(0.3, abs=1e-3)
    assert course.heading == pytest.approx(first + 0.3 * t, abs=5e-3)
    assert course.speed == pytest.approx(0.5, abs=1e-6)


def test_a_heading_counts_on_beyond_half_a_turn(body, motion):
    senses, trail, rest = Senses(body, motion), empty_trail(), motion.at(0.0)[0]
    for k in range(400):
        course, trail = senses.feel(trail, _turned(rest, 1.2 * k * DT), k * DT, 1.0, 0.0)
    assert course.heading > 4.0
    assert course.turning == pytest.approx(1.2, abs=1e-3)


def test_a_swimmer_who_shall_go_left_rolls_his_left_side_down_by_arms_that_go_right():
    g = Reflexes()
    bank, _ = bank_wanted(g, _course(), 0.3, 0.0, DT)
    assert bank > 0.1
    assert arms_for(g, _course(), bank) < -0.05
    assert arms_for(g, _course(roll=0.4), 0.0) > 0.1  # rolled too far: back
    assert bank_wanted(g, _course(), 3.0, 0.0, DT)[0] == g.largest_bank
    assert bank_wanted(g, _course(turning=2.0), 0.3, 0.0, DT)[0] < 0.0  # braked before it is too late


@pytest.mark.parametrize(("stroke", "sign"), [("crawl", 1.0), ("backstroke", -1.0)])
def test_on_his_back_a_swimmer_who_shall_go_left_bends_to_his_own_right(body, stroke, sign):
    pilot, q = Pilot(body, stroke, heading=0.5), StrokeMotion(body, load_stroke(stroke), 0.9).at(0.0)[0]
    own = pilot.start()
    for k in range(200):
        pilot.feel(own, Now(q), k * DT, DT, (0.0, 0.9), stroke)
    assert own.bank > 0.1
    assert sign * own.amount[POSTURE_PARTS.index("bend")] > 0.05


def test_drift_builds_up_only_near_the_heading():
    g, drift = Reflexes(), 0.0
    for _ in range(96):
        _, drift = bank_wanted(g, _course(), 0.2, drift, DT)
    assert drift == pytest.approx(g.drift * 0.2, rel=0.05)
    assert bank_wanted(g, _course(), 1.5, 0.1, DT)[1] == 0.1


def test_too_slow_a_swimmer_raises_his_stroke_rate():
    g = Reflexes()
    assert pace_for(g, _course(speed=0.5), 0.8, 0.9, DT) > 0.9 > pace_for(g, _course(speed=1.0), 0.8, 0.9, DT)


def test_turned_arms_and_arch_do_what_their_names_say(body, motion, pilot):
    s, q = body.skeleton, motion.at(0.12)[0]
    before = bone_poses(s, q)
    amount = np.zeros(len(POSTURE_PARTS))
    amount[[POSTURE_PARTS.index("left arm"), POSTURE_PARTS.index("right arm")]] = 0.2
    after = bone_poses(s, integrate(s, q, pilot.of("crawl")[1].turned(amount, 0.12), 1.0))
    for hand in ("Ha_l", "Ha_r"):
        arm = before[s.index(hand), :3, 3] - before[s.index("Hu" + hand[2:]), :3, 3]
        moved = after[s.index(hand), :3, 3] - before[s.index(hand), :3, 3]
        side = np.cross(before[s.index("T6"), :3, 1], arm)  # towards the left for an arm that points ahead
        assert moved @ side == pytest.approx(0.2 * side @ side, rel=0.1)
    amount[:] = 0.0
    amount[POSTURE_PARTS.index("arch")] = 0.3
    after = bone_poses(s, integrate(s, q, pilot.of("crawl")[1].turned(amount, 0.12), 1.0))
    assert after[s.index("Sku"), 2, 3] > before[s.index("Sku"), 2, 3] + 0.02
    assert after[s.index("Fo_l"), 2, 3] > before[s.index("Fo_l"), 2, 3] + 0.05


def test_a_bend_takes_head_and_feet_to_its_side(body, motion, pilot):
    s, q, amount = body.skeleton, motion.at(0.12)[0], np.zeros(len(POSTURE_PARTS))
    amount[POSTURE_PARTS.index("bend")] = 0.3
    before, after = (bone_poses(s, x) for x in (q, integrate(s, q, pilot.of("crawl")[1].turned(amount, 0.12), 1.0)))
    left = before[0, :3, 0]
    for bone in ("Sku", "Fo_l", "Fo_r"):
        assert (after[s.index(bone), :3, 3] - before[s.index(bone), :3, 3]) @ left > 0.05, bone


def test_shifts_of_lengths_are_those_of_the_turned_pose(body, motion, pilot):
    measure, still = MuscleKinematics(body), np.zeros(body.skeleton.n_v)
    amount, phase = np.array([0.1, -0.1, 0.15, 0.1, -0.1]), 5.0 / 24.0
    q = motion.at(phase)[0]
    other = integrate(body.skeleton, q, pilot.of("crawl")[1].turned(amount, phase), 1.0)
    change = measure(other, still, still)[0].copy() - measure(q, still, still)[0]
    found = pilot.of("crawl")[1].lengthened(amount, phase)
    assert np.abs(found - change).max() < 0.15 * np.abs(change).max()


def test_a_pilot_who_is_off_his_heading_shifts_the_arms_muscles(body, motion, rhythm):
    pilot = Pilot(body, "crawl", heading=0.5)
    own, wave = pilot.start(), rhythm.start("crawl", 0.9)
    for k in range(100):
        pilot.lengths(rhythm, wave, own, Now(motion.at(0.0)[0]), k * DT, DT)
    assert own.bank == pilot.reflexes.largest_bank
    assert own.amount[POSTURE_PARTS.index("left arm")] < 0.0
    assert own.amount[POSTURE_PARTS.index("right arm")] < 0.0
    mine = np.abs(wave.offset) > 1e-4
    assert mine[body.muscles.index("deltoid_01_l")]


def test_the_inner_arm_is_taken_when_it_lies_ahead_and_let_go_there(body, motion):
    arm = StraightArm(body, motion, "ahead")
    g = Reflexes()
    assert arm.choose("", 1.5, 0.0, 0.6, g) == ""  # the left arm is behind
    assert arm.choose("", 1.5, 0.0, 0.12, g) == "left arm"
    assert arm.choose("", 1.5, 0.3, 0.12, g) == ""  # rolls too much
    assert arm.choose("", -1.5, 0.0, 0.62, g) == "right arm"
    assert arm.choose("left arm", 0.1, 0.0, 0.6, g) == "left arm"
    assert arm.choose("left arm", 0.1, 0.0, 0.12, g) == ""
    assert arm.choose("left arm", 1.5, 0.2, 0.12, g) == "left arm"
    assert arm.choose("left arm", 1.5, 0.5, 0.12, g) == ""


def test_a_held_limb_stands_still_while_the_rest_swims(body, motion, rhythm):
    plan = [(0.0, hold(["left arm"], ("crawl", 0.12))), (0.9, release(["left arm"]))]
    actuation = MuscleActuation(body, "crawl", 0.9, rhythm=rhythm, plan=plan)
    own = actuation.start(np.random.default_rng(0))
    left, right = (body.muscles.index(f"deltoid_01_{side}") for side in "lr")
    state = rhythm.start("crawl", 0.9)
    actuation.plan[0][1](actuation, own)
    wave, lengths = own.rhythm, []
    for k in range(300):
        if k == 200:
            actuation.plan[1][1](actuation, own)
        rhythm.step(wave, DT)
        rhythm.step(state, DT)
        lengths.append((wave.length[left], wave.length[right], state.length[left]))
    lengths = np.array(lengths)
    span = np.ptp(lengths[:, 2])
    held = rhythm.cycle("crawl", 0.12)[0][left]
    assert np.abs(lengths[100:200, 0] - held).max() < 0.01 * span  # stands
    assert np.ptp(lengths[100:200, 1]) > 0.8 * np.ptp(lengths[:, 1])  # swims on
    assert abs(lengths[-1, 0] - lengths[-1, 2]) < 0.02 * span  # has fallen in again


def test_a_target_outside_the_pool_is_told_in_one_line(body):
    with pytest.raises(InputError, match=r"target at \(40, 0\) m lies outside the pool") as told:
        Pilot(body, "crawl", target=lambda time: (40.0, 0.0), pool=Pool((-5.0, -30.0), (5.0, 5.0)))
    assert "\n" not in str(told.value)


def test_a_target_that_leaves_the_pool_is_told_when_it_does(body, motion):
    pilot = Pilot(body, "crawl", target=lambda time: (20.0 * time, 0.0))
    own = pilot.start()
    pilot.feel(own, Now(motion.at(0.0)[0]), 0.0, DT, (0.0, 0.9))
    with pytest.raises(InputError, match=r"target at \(40, 0\) m lies outside the pool"):
        pilot.feel(own, Now(motion.at(0.0)[0]), 2.0, DT, (0.0, 0.9))
