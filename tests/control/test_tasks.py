"""Control by tasks: programs, momentum, tasks, capsules."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from vitruvian.control.rhythm import StrokeMotion, load_stroke
from vitruvian.control.tasks import (
    Align,
    Apart,
    Balance,
    Effort,
    Follow,
    Gathered,
    Hold,
    Orient,
    Program,
    Rest,
    Rotate,
    Smooth,
    Steer,
    TaskControl,
    Untwist,
)
from vitruvian.control.tasks.expect import ExpectedWater
from vitruvian.control.tasks.gather import memories
from vitruvian.control.tasks.smooth import leaning, turn_between
from vitruvian.control.tasks.tasks import turn_needed
from vitruvian.couple import BodyStepper, StillWater, StillWaterPush
from vitruvian.couple.response import StepResponse
from vitruvian.skeleton import bone_poses, integrate
from vitruvian.spatial import exp_so3, quaternion_from_rotation
from vitruvian.systems import SwimmerSystem
from vitruvian.verify import tasks as book
from vitruvian.verify._tasks_common import capsules, moving, swimmer


def small(**change):
    none = np.zeros(0)
    given = {"weight": np.ones(2), "centre": np.array([1.0, -1.0]), "low": np.full(2, -5.0), "high": np.full(2, 5.0)}
    given |= {"rows": np.zeros((0, 2)), "target": none, "row_weight": none, "one_sided": np.zeros(0, bool)}
    return Program(**(given | change))


def test_a_program_without_rows_gives_its_centre_within_bounds():
    assert np.allclose(small(high=np.array([0.5, 5.0])).solve().x, [0.5, -1.0])


def test_a_row_is_weighed_against_the_centre():
    # min ½(x-1)² + ½(y+1)² + ½ 3 (x + y - 2)²: x + y = 3·2/(3 + ½) · ... by hand: s = 12/7
    x = (
        small(rows=np.ones((1, 2)), target=np.array([2.0]), row_weight=np.array([3.0]), one_sided=np.zeros(1, bool))
        .solve()
        .x
    )
    assert x.sum() == pytest.approx(12.0 / 7.0)


@pytest.mark.parametrize(("target", "idle"), [(-3.0, True), (2.0, False)])
def test_a_one_sided_row_is_idle_until_it_is_broken(target, idle):
    program = small(
        rows=np.ones((1, 2)), target=np.array([target]), row_weight=np.array([1e6]), one_sided=np.ones(1, bool)
    )
    found = program.solve()
    assert found.converged
    assert (found.multiplier[0] == 0.0) == idle
    assert found.x.sum() == pytest.approx(0.0 if idle else target, abs=1e-5)


@pytest.mark.parametrize(
    "one",
    [
        book.momentum_matrix_times_velocity_is_momentum,
        book.rate_of_momentum_is_the_external_force,
        book.bounded_program_meets_its_optimality_conditions,
        book.capsules_contain_their_skin,
        book.water_force_is_linearised_right,
        book.lift_changes_with_the_pose_as_told,
    ],
    ids=lambda c: c.name,
)
def test_book(one):
    assert one.measure().passed


def test_rows_of_points_and_bones_are_their_velocities():
    body, skin = swimmer()
    control = TaskControl(body, skin, [], simulated=False)
    own = control.start(np.random.default_rng(0))
    q, v = moving(1)
    state = SwimmerSystem(body, skin, water=StillWater(), q=q, v=v, drawn=False).start(np.random.default_rng(0))
    now = control.look(own, state, 0.0, 0.01)
    b, h = body.skeleton.index("Ha_l"), 1e-6
    local = np.array([0.01, 0.02, -0.05])

    def at(d):
        T = bone_poses(body.skeleton, integrate(body.skeleton, now.q, v, d))[b]
        return T[:3, :3] @ local + T[:3, 3]

    assert np.allclose(now.moving(b, at(0.0)) @ v, (at(h) - at(-h)) / (2 * h), atol=1e-6)


def rigged(v_of):
    """What tasks see of a body in the water whose velocities are v_of(now at rest)."""
    body, skin = swimmer()
    control = TaskControl(body, skin, [], simulated=False)
    q, v = moving(1)
    found = None
    for given in (np.zeros_like(v), None):
        v = given if given is not None else v_of(found)
        before = integrate(body.skeleton, q, v, -control.lead(0.01))  # seen where forces will be met: at q
        system = SwimmerSystem(body, skin, water=StillWater(), q=before, v=v, drawn=False)
        own, rng = control.start(np.random.default_rng(0)), np.random.default_rng(0)
        found = control.look(own, system.start(rng), 0.0, 0.01)
    return found


def test_a_body_that_turns_as_one_piece_whirls_as_fast():
    axis = np.array([0.0, 0.6, 0.8])

    def rigid(now):
        v = np.zeros(len(now.v))
        v[:6] = np.linalg.solve(now.screws[:6].T, 0.7 * np.r_[axis, np.cross(now.centre, axis)])
        return v

    now = rigged(rigid)
    assert now.whirling(axis) @ now.v == pytest.approx(0.7)
    assert abs(now.momentum[3:] @ now.v).max() < 1e-9  # its centre of mass rests


def swung(now):
    """Velocities of a body that nothing pushes: it swings an arm against its trunk."""
    v = np.zeros(len(now.v))
    v[now.skeleton.v_slice("Hu_l")] = [0.0, 0.0, 2.0]
    v[:6] = -np.linalg.solve(now.momentum[:, :6], now.momentum @ v)
    return v


def test_limbs_that_swing_against_the_trunk_do_not_whirl():
    now = rigged(swung)
    up = np.array([0.0, 0.0, 1.0])
    assert abs(up @ now.turning(0) @ now.v) > 0.01
    assert now.whirling(up) @ now.v == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("task", "axis"), [("steer", [0.0, 0.0, 1.0]), ("balance", None)])
def test_steer_and_balance_ask_the_whole_body_to_turn_that_way(task, axis):
    now = rigged(lambda now: moving(2)[1])  # at rest the water gives nothing to push off from
    body, skin = swimmer()
    control = TaskControl(body, skin, [], simulated=False)
    chest = now.poses[now.skeleton.index("T6")]
    if task == "steer":  # a place on his left
        ahead = now.poses[now.skeleton.index("T1"), :2, 3] - now.poses[0, :2, 3]
        wish = Steer(tuple(now.centre[:2] + 3.0 * np.array([-ahead[1], ahead[0]])))
    else:
        wish = Balance(chest[:3, 2] + 0.5 * chest[:3, 0])
        axis, _ = turn_between(chest, wish.direction / np.linalg.norm(wish.direction))
    whirl = []
    for tasks in ([], [wish]):
        control.tasks = [*tasks, Effort(control.limits)]
        x, _ = control.decide(control.start(np.random.default_rng(0)), now)
        whirl.append(now.whirling(np.asarray(axis)) @ now.all(x))
    assert whirl[1] > whirl[0] + 0.02


def test_the_governing_equation_holds_for_what_is_decided():
    body, skin = swimmer()
    control = TaskControl(body, skin, [], simulated=False)
    control.tasks = [Orient(True), Untwist(), Hold(body.default_q), Effort(control.limits)]
    own = control.start(np.random.default_rng(0))
    q, v = moving(2, 0.5)
    v[body.skeleton.dof_bone != 0] = 0.0  # ribs at rest
    state = SwimmerSystem(body, skin, water=StillWater(), q=q, v=v, drawn=False).start(np.random.default_rng(0))
    now = control.look(own, state, 0.0, 0.01)
    x, gathered = control.decide(own, now)
    assert isinstance(gathered, Gathered)
    assert gathered.program().optimality(x) < 1e-8
    whole = now.all(x)
    gained = now.momentum @ (whole - v)
    force = now.water.total(now.centre) - now.water.damped(now.centre) @ (whole - v)
    force[3:] += body.skeleton.mass * body.skeleton.gravity
    assert np.allclose(gained, now.ahead * force, atol=1e-9 * np.abs(gained).max())


def test_gaps_of_capsules_are_those_of_many_points_on_their_axes():
    body, _ = swimmer()
    held, s = capsules(), body.skeleton
    assert held.overlap(bone_poses(s, body.default_q)) == 0.0
    rng, part = np.random.default_rng(0), np.linspace(0.0, 1.0, 201)
    q = integrate(s, body.default_q, 0.7 * rng.standard_normal(s.n_v))
    poses = bone_poses(s, q)
    gap, points, normal = held.near(poses)
    assert held.overlap(poses) == pytest.approx(-gap.min())
    assert gap.min() < -0.02
    for p in np.argsort(gap)[:10]:
        lines = []
        for k in held.pairs[p]:
            T = poses[held.bones[k]]
            a, b = (T[:3, :3] @ e + T[:3, 3] for e in held.ends[k])
            lines.append(a + part[:, None] * (b - a))
        least = np.linalg.norm(lines[0][:, None] - lines[1][None], axis=2).min()
        assert gap[p] == pytest.approx(least - held.radius[held.pairs[p]].sum(), abs=2e-3)
        assert (points[p, 1] - points[p, 0]) @ normal[p] >= 0.0


def seen(seed, speed=0.5):
    """A controller without tasks, and what it sees of a moving body in still water."""
    body, skin = swimmer()
    control = TaskControl(body, skin, [], simulated=False)
    q, v = moving(seed, speed)
    state = SwimmerSystem(body, skin, water=StillWater(), q=q, v=v, drawn=False).start(np.random.default_rng(0))
    return control, control.look(control.start(np.random.default_rng(0)), state, 0.0, 0.01)


def test_expected_water_acts_in_a_step_as_the_water_does():
    body, skin = swimmer()
    control, now = seen(3)
    stepper, off, dv = control.balance.stepper, np.zeros(body.muscles.n_muscles), []
    for water in (StillWaterPush(StillWater(), skin), ExpectedWater(now.water)):
        dv.append(StepResponse(stepper.assemble(now.q, now.v, off, 1.0 / 96.0, [water]), None).step())
    assert np.abs(dv[0] - dv[1]).max() < 1e-9 * np.abs(dv[0]).max()


def gathered_of(control, now, *tasks, wanted=None, memory=None):
    n = len(control.joints)
    asked = np.zeros(0) if wanted is None else wanted
    gathered = Gathered(now, np.full(n, -9.0), np.full(n, 9.0), np.full(n, 1e-6), np.zeros(n), asked)
    for task in tasks:
        task.add(now, gathered, memories([task])[task.name] if memory is None else memory)
    return gathered


def test_a_smooth_wish_stays_near_the_last_one():
    control, now = seen(4)
    wanted = np.random.default_rng(0).standard_normal(len(control.joints))
    first = gathered_of(control, now, Smooth(), wanted=wanted)
    assert (first.weight == 1e-6).all()  # the first decision has none before it
    later = gathered_of(control, now, Smooth(), wanted=wanted, memory={"time": np.array([now.time - 1.0 / 48.0])})
    assert np.allclose(later.program().solve().x, wanted, atol=1e-4)


@pytest.mark.parametrize("way", [[0.0, 0.0, 1.0], [0.0, -0.25, -1.0], [1.0, 1.0, 0.2]])
def test_aligned_bones_turn_towards_the_direction(way):
    control, now = seen(5)
    chest, way = now.skeleton.index("T6"), np.array(way) / np.linalg.norm(way)
    x = now.all(gathered_of(control, now, Align(way, weight=1e4)).program().solve().x)
    spin, long = now.turning(chest) @ x, now.poses[chest, :3, 2]
    angle = turn_between(now.poses[chest], way)[1]
    assert np.cross(spin, long) @ way > 0.5 * np.sin(angle) * min(3.0 * angle, 2.5)


class Asked(list):
    """Rows and targets, as tasks ask for them."""

    def want(self, rows, target, weight):
        self.append((np.atleast_2d(rows)[0], float(target[0])))


def test_who_turns_over_asks_the_whole_body_and_not_his_trunk():
    """An arm that swings against the trunk turns the chest, and brings him no nearer."""

    now, asked, task = rigged(swung), Asked(), Orient(False)
    task.add(now, asked, memories([task])[task.name])
    row, rate = asked[0]
    assert asked[1][0] @ now.v == pytest.approx(0.0, abs=1e-9)  # the pitch too
    turn = turn_needed(now.poses[now.skeleton.index("T6")], False)
    assert abs(turn.long @ now.turning(now.skeleton.index("T6")) @ now.v) > 0.01
    assert row @ now.v == pytest.approx(0.0, abs=1e-9)
    assert rate * turn.roll > 0.0
    assert len(asked) == 3  # roll, pitch, and the pelvis that pitches with the chest


@pytest.mark.parametrize("seed", [1, 2, 4, 6, 7, 8])
def test_the_pitch_that_is_asked_for_brings_him_level_and_straight(seed):
    """A body at rest: the chest's pitch is asked to grow less, and the angle between pelvis and chest too."""
    _, now = seen(seed, 0.0)
    asked, task = Asked(), Orient(False)
    task.add(now, asked, memories([task])[task.name])
    chest, pelvis = (now.poses[now.skeleton.index(bone)] for bone in ("T6", "Pel"))
    turn = turn_needed(chest, False)
    (_, pitch), (_, straight) = asked[1:]
    turned = np.eye(4)
    turned[:3, :3] = exp_so3(0.01 * pitch * turn.across) @ chest[:3, :3]
    assert abs(turn_needed(turned, False).pitch) < abs(turn.pitch) - 1e-3 * abs(pitch) < abs(turn.pitch)
    assert straight * (turn.across @ np.cross(chest[:3, 2], pelvis[:3, 2])) < 0.0


def test_his_pose_is_changed_for_the_lift_that_turns_him():
    """In the air an arm's weight is felt: kept for half a second, its motion is worth what the lift gains."""
    now = rigged(lambda now: moving(2)[1])
    pushed = {}
    for kept in (0.0, 0.5):
        gathered = Gathered(now, *(np.zeros(len(now.joints)) for _ in range(4)), np.zeros(0))
        task = Rotate(False, weight=1.0, near=1e-3, kept=kept)
        task.add(now, gathered, memories([task])[task.name])
        pushed[kept] = gathered.pull
    turn = turn_needed(now.poses[now.skeleton.index("T6")], False)
    axis = np.sign(turn.roll) * turn.long + np.sign(turn.pitch) * turn.across
    lifted = axis @ now.water.lifted(now.centre, now.momentum[3:] / now.skeleton.mass)[:3]
    reduced = lifted[now.joints] + lifted[:6] @ now.pelvis[0]
    assert np.abs(reduced).max() > 0.1
    assert np.allclose(pushed[0.5] - pushed[0.0], 0.25 * reduced)


def test_no_faster_turn_is_asked_than_a_moment_brings_about():
    now = rigged(lambda now: moving(2)[1])
    axis = np.array([0.6, 0.0, 0.8])
    row, target = now.turned_soon(axis, 9.0, 30.0)
    gained = (target[0] - row @ now.v) * now.inertia(axis)
    assert gained == pytest.approx(30.0 * now.ahead)
    assert now.turned_soon(axis, float(row @ now.v) + 1e-3, 30.0)[1][0] == pytest.approx(row @ now.v + 1e-3)


@pytest.mark.parametrize("held", [False, True])
def test_a_forearm_that_leaves_its_stop_is_not_thrown(held, monkeypatch):
    """Turned out to the end of its range and a little beyond; it shall come back. With muscles chosen against a stop
    that holds it, they throw it as soon as the stop lets go."""
    body, skin = swimmer()
    s, beat = body.skeleton, 1.0 / 48.0
    water = StillWater(longest=beat / 4.0)
    control = TaskControl(body, skin, [], simulated=False, still=water, actuation="muscles")
    k, at = s.v_slice("Rad_r").start, s.q_slice("Rad_r").start
    goal, q, v = body.default_q.copy(), body.default_q.copy(), np.zeros(s.n_v)
    goal[at], q[at], v[k] = 0.3, s.forces.low[k] - 0.002, -1.0
    control.tasks += [Effort(control.limits), Hold(goal, weight=1.0, gain=2.0)]
    if held:
        stepper, rows = BodyStepper(s, body.muscles), np.zeros(s.n_v, bool)
        monkeypatch.setattr(control.balance, "stepper", stepper)
        monkeypatch.setattr(control.stops, "meet", lambda q, x, beat: rows)
    system = SwimmerSystem(body, skin, water=water, q=q, v=v, drawn=False)
    state, own = system.start(np.random.default_rng(0)), control.start(np.random.default_rng(0))
    fastest = 0.0
    for n in range(4):
        system.step(state, control.act(own, state, n * beat, beat), n * beat, beat)
        fastest = max(fastest, abs(float(state.v[k])))
    assert fastest > 8.0 if held else fastest < 1.5


def test_a_joint_that_stays_in_its_stop_is_not_asked():
    control, now = seen(8)
    limits, k = control.limits, list(control.joints).index(now.skeleton.v_slice("Tfp_l").start)
    q, x = now.skeleton.neutral_q(), np.zeros(len(control.joints))
    at = now.skeleton.q_slice("Tfp_l").start
    for beyond, speed, stays in ((-0.01, 0.0, False), (0.01, 0.0, True), (0.01, 0.2, True), (0.01, 1.0, False)):
        q[at], x[k] = limits.range[0][k] - beyond, speed
        rows = control.moved(replace(now, q=q), x, 1.0 / 48.0)
        assert (control.joints[k] not in rows) == stays
        assert len(rows) == len(control.balance.rows) - stays
        stiffness = control.stops.stepper.skeleton.forces.limit_stiffness[control.joints[k]]
        assert (stiffness > 0.0) == stays


def test_nothing_is_learned_from_the_water_before_the_first_step():
    body, skin = swimmer()
    control = TaskControl(body, skin, [])
    state = SwimmerSystem(body, skin, water=StillWater(), drawn=False).start(np.random.default_rng(0))
    own = control.start(np.random.default_rng(0))
    assert not control.look(own, state, 0.0, 0.01).water.flow.any()
    assert not own.fit.beyond.any()


def test_who_leans_leans_to_his_front_wherever_that_is():
    up = np.array([0.0, 0.0, 1.0])
    for yaw in (0.0, 1.0, 2.5):
        pose = np.eye(4)
        pose[:3, :3] = exp_so3(np.array([0.0, 0.0, yaw])) @ exp_so3(np.array([-0.2, 0.0, 0.0]))  # he leans back
        wanted = leaning(pose, up, 0.3)
        front = exp_so3(np.array([0.0, 0.0, yaw])) @ np.array([0.0, -1.0, 0.0])
        assert np.allclose(wanted, np.cos(0.3) * up + np.sin(0.3) * front)


def test_half_a_turn_has_an_axis():
    axis, angle = turn_between(np.eye(4), np.array([0.0, 0.0, -1.0]))
    assert np.allclose(axis, [1.0, 0.0, 0.0])
    assert angle == pytest.approx(np.pi)


def test_who_follows_a_stroke_takes_its_velocities():
    body, _ = swimmer()
    control, now = seen(6)
    motion = StrokeMotion(body, load_stroke("breaststroke"), 0.7)
    now.q[7:] = motion.sample(0.0)[0][7:]
    x = gathered_of(control, now, Follow(motion, bones=("Fe",))).program().solve().x
    legs = np.array([now.skeleton.names[b].startswith("Fe") for b in now.skeleton.dof_bone[control.joints]])
    assert np.allclose(x[legs], motion.sample(now.ahead)[1][control.joints][legs], atol=1e-3)
    assert np.allclose(x[~legs], 0.0)


def test_velocities_of_points_are_their_rows_times_the_velocities():
    _, now = seen(7)
    bones = np.array([now.skeleton.index(name) for name in ("Ha_l", "Sku", "Fo_r")])
    points = now.poses[bones, :3, 3] + np.array([0.01, 0.02, -0.05])
    found = now.velocities(bones, points)
    assert np.allclose(found, [now.moving(b, x) @ now.v for b, x in zip(bones, points)], atol=1e-12)


def test_a_joint_that_is_too_fast_may_brake_at_once_and_others_speed_up_by_and_by():
    control, now = seen(8)
    limits, k = control.limits, list(control.joints).index(now.skeleton.v_slice("Rad_l").start)
    now.q[:] = now.skeleton.neutral_q()
    now.v[:] = 0.0
    step = now.ahead * limits.acceleration[k]
    low, high = (b[k] for b in limits.bounds(now))
    assert max(abs(low), high) <= step + 1e-3
    now.v[control.joints[k]] = 10.0 * limits.speed[k]
    low, high = (b[k] for b in limits.bounds(now))
    assert high <= limits.speed[k] + 1e-3
    assert low == pytest.approx(high - step)


def test_parts_that_close_fast_have_a_row_early():
    control, now = seen(9, 0.2)
    task = Apart(capsules())
    slow = len(gathered_of(control, now, task).rows[0])
    now.v[:] *= 50.0
    fast = gathered_of(control, now, task)
    assert len(fast.rows[0]) > slow
    # and no pair without a row closes so fast that it could break one a time T ahead
    gap, points, normal = task.capsules.near(now.poses)
    a, b = task.capsules.bones[task.capsules.pairs].T
    rate = (normal * (now.velocities(b, points[:, 1]) - now.velocities(a, points[:, 0]))).sum(axis=1)
    assert len(fast.rows[0]) >= (rate < -(gap - task.margin) / task.settle).sum()


@pytest.mark.parametrize("late", [False, True])
def test_a_step_brings_about_what_muscles_were_chosen_for(late, monkeypatch):
    """Forearms and hands that turn at 8 rad/s: forces are met where the step has moved them, and there they are right.
    Looked at where they are before the step, they would be thrown off."""
    body, skin = swimmer()
    s, beat = body.skeleton, 1.0 / 48.0
    water = StillWater(longest=beat)
    control = TaskControl(body, skin, [], simulated=False, still=water, actuation="muscles")
    control.tasks += [Effort(control.limits), Hold(body.default_q, weight=1.0, gain=2.0)]
    if late:
        monkeypatch.setattr(control, "lead", lambda dt: 0.0)
    light = np.flatnonzero([s.names[b].startswith(("Ha", "Rad", "Ul")) for b in s.dof_bone])
    q, v = moving(0, 0.2)
    v[light] = 8.0 * np.sign(v[light])
    system = SwimmerSystem(body, skin, water=water, q=q, v=v, drawn=False)
    state, own = system.start(np.random.default_rng(0)), control.start(np.random.default_rng(0))
    now = control.look(own, state, 0.0, beat)
    controls = control.act(own, state, 0.0, beat)
    thought = control.balance.stepper.assemble(now.q, now.v, controls.excitation, beat, [ExpectedWater(now.water)])
    foreseen = StepResponse(thought, None).step()
    system.step(state, controls, 0.0, beat)
    missed = np.abs(state.v - v - foreseen)[light].max() / np.abs(foreseen[light]).max()
    assert missed > 0.3 if late else missed < 0.05


@pytest.mark.parametrize(("roll", "share"), [(0.0, 1.0), (32.5, 0.5), (90.0, 0.0)])
def test_who_lies_takes_the_pose_that_floats_and_leaves_off_turning(roll, share):
    """Face down but for `roll`: the pose counts the more, the wish to turn the less, the nearer he is."""
    body, skin = swimmer()
    control = TaskControl(body, skin, [], simulated=False)
    q = body.default_q.copy()
    q[3:7] = quaternion_from_rotation(
        exp_so3(np.array([np.pi / 2.0, 0.0, 0.0])) @ exp_so3(np.radians([0.0, 0.0, roll]))
    )
    chest = body.skeleton.index("T6")
    state = SwimmerSystem(body, skin, water=StillWater(), q=q, drawn=False).start(np.random.default_rng(0))
    now = control.look(control.start(np.random.default_rng(0)), state, 0.0, 0.01)
    tilt = np.degrees(np.arccos(now.poses[chest, 2, 1]))
    expected = float(np.clip((45.0 - tilt) / 25.0, 0.0, 1.0))
    assert expected == pytest.approx(share, abs=0.2)
    rest = gathered_of(control, now, Rest(body.default_q, False, far=0.0, near=2.0, stretched=0.0))
    assert rest.weight - 1e-6 == pytest.approx(2.0 * expected)
    turn = gathered_of(control, now, Orient(False, weight=3.0, pitch_weight=2.0, eased=0.1))
    assert turn.weights[0] == pytest.approx(3.0 * (1.0 - 0.9 * expected))
    assert turn.weights[1] == pytest.approx(2.0 * (1.0 - 0.9 * expected))
