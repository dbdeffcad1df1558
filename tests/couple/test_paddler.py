"""A paddler of three bones: what meets bones within a step, against closed forms, and books that close.

A trunk that floats, an arm and a hand on damped hinges, two muscles, a closed skin in three pieces."""

import numpy as np
import pytest

from vitruvian.couple import (
    AppliedTorques,
    BodyInWater,
    BodyStepper,
    BoneStep,
    Book,
    JointCourse,
    JointTorques,
    MuscleLines,
    MusclePull,
    StillWater,
    StillWaterPush,
)
from vitruvian.couple.response import StepResponse
from vitruvian.errors import InputError
from vitruvian.mesh import sphere
from vitruvian.muscle import LinearHill, MuscleBuilder
from vitruvian.skeleton import Inertia, SkeletonBuilder, bone_poses, centroidal_momentum, energy, joints, mass_matrix
from vitruvian.skin import bind

DRY = StillWater(level=-100.0)


def skeleton(damping=0.02, root=None):
    builder = SkeletonBuilder()
    builder.add_bone("trunk", joint=root or joints.Free(), inertia=Inertia.box(4.0, (0.3, 0.2, 0.2)))
    for name, parent, at, axis in (("arm", "trunk", 0.15, (0, 0, 1)), ("hand", "arm", 0.2, (0, 1, 0))):
        rod = Inertia.cylinder(0.5, 0.03, 0.2, com=(0.1, 0.0, 0.0))
        builder.add_bone(
            name, parent=parent, joint=joints.Revolute(axis), placement=(at, 0, 0), inertia=rod, damping=damping,
            stiffness=0.5,
        )  # fmt: skip
    return builder.build()


def muscles(s):
    builder = MuscleBuilder(s)
    paths = {
        "front": [("trunk", (0.0, 0.08, 0.05)), ("hand", (0.05, 0.03, 0.02))],
        "side": [("trunk", (0.1, -0.06, 0)), ("arm", (0.1, -0.03, 0))],
    }
    poses = bone_poses(s, s.neutral_q())
    for name, points in paths.items():
        ends = [poses[s.index(b), :3, :3] @ p + poses[s.index(b), :3, 3] for b, p in points]
        builder.add_muscle(name, points, LinearHill(60.0, 0.95 * float(np.linalg.norm(ends[1] - ends[0]))))
    return builder.build()


def bound(s):
    points, faces, weights = [], [], []
    rest = bone_poses(s, s.neutral_q())
    for k, radius in enumerate((0.12, 0.06, 0.06)):
        x, f = sphere(radius, subdivisions=2)
        faces.append(np.asarray(f) + sum(map(len, points)))
        points.append(np.asarray(x) + rest[k, :3, 3] + (np.array([0.1, 0, 0]) if k else 0.0))
        weights.append(np.tile(np.eye(3)[k], (len(x), 1)))
    return bind(s, s.neutral_q(), np.concatenate(points), np.concatenate(faces), s.names, np.concatenate(weights))


def moving(s, seed=1):
    rng, q = np.random.default_rng(seed), s.neutral_q()
    q[2] -= 1.0
    q[-2:] += rng.uniform(-0.4, 0.4, 2)
    return q, rng.normal(size=s.n_v)


# --- torques -------------------------------------------------------------------------------------------------------


def test_torques_met_in_a_later_sub_step_have_given_way_to_what_moved_since():
    s = skeleton()
    q, v = moving(s)
    rng, h = np.random.default_rng(2), 0.004
    given = JointTorques(rng.normal(size=8), rng.uniform(1, 50, 8), rng.uniform(0.1, 2, 8))
    start = q.copy(), v + rng.normal(size=8)
    start[0][:3] -= [0.1, 0.2, -0.3]  # the trunk is not turned: its frame is that of the world
    start[0][-2:] -= [0.25, -0.1]
    moved = np.array([0, 0, 0, 0.1, 0.2, -0.3, 0.25, -0.1])
    bare = BoneStep(s).assemble(q, v, h).force.copy()
    met = BoneStep(s).assemble(q, v, h, [AppliedTorques(given, start)])
    expected = given.torque - given.stiffness * moved - given.damping * (v - start[1]) - h * given.stiffness * v
    assert met.force - bare == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("k", "d"), [(4.0, 0.0), (0.0, 0.05), (4.0, 0.05)])
def test_one_long_step_in_many_parts_swings_as_a_damped_spring_does(k, d):
    """In air, without gravity: I q'' = -k (q - q0) - d (q' - v0), told once for the whole step."""
    builder = SkeletonBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_bone("rod", joint=joints.Revolute((0, 0, 1)), inertia=Inertia.box(1.0, (0.2, 0.2, 0.2)))
    s = builder.build()
    x, f = sphere(0.1, subdivisions=1)
    skin = bind(s, s.neutral_q(), np.asarray(x), np.asarray(f), ("rod",), np.ones((len(x), 1)))
    body = BodyInWater(BodyStepper(s, MuscleBuilder(s).build()), skin)
    inertia, time, v0 = float(mass_matrix(s, s.neutral_q())[0, 0]), 0.1, 3.0
    state = body.start(np.array([0.2]), np.array([v0]))
    wading = body.begin(state, JointTorques(np.zeros(1), k, d))
    wading.still(StillWater(level=-100.0, longest=time / 1000), 0.0, time)
    wading.end(time)
    # y = q - q0: y'' + (d/I) y' + (k/I) y = d v0/I, y(0) = 0, y'(0) = v0
    if k == 0.0:
        y = v0 * time  # at its first speed nothing holds it
    else:
        a, w2 = 0.5 * d / inertia, k / inertia
        w, far = np.sqrt(w2 - a * a), d * v0 / k
        y = far + np.exp(-a * time) * (-far * np.cos(w * time) + (v0 - a * far) / w * np.sin(w * time))
    assert state.q[0] - 0.2 == pytest.approx(y, rel=4e-3)


# --- still water ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fast", [1.0, 30.0])
def test_still_water_tells_the_impulse_that_an_implicit_step_applied(fast):
    """M dv + h bias is what was applied on the joints, however fast a link is, and links tell the same."""
    s = skeleton(damping=0.0)
    q, v = moving(s)
    q[-2:] = s.neutral_q()[-2:]  # joint springs at rest
    v[-2:] = [0.0, fast]
    step, h = BoneStep(s), 1 / 192
    push = StillWaterPush(StillWater(), bound(s))
    system = step.assemble(q, v, h, [push])
    bias, spring = system.bias.copy(), h * h * s.forces.stiffness
    _, after = step.solve(system)
    gained = after - v
    applied = mass_matrix(s, q) @ gained + h * bias + spring * after
    on_links, on_joints = push.applied(system, gained)
    assert on_joints == pytest.approx(applied, rel=1e-9, abs=1e-9)
    assert push.pose.jacobian.T @ on_links.ravel() == pytest.approx(applied, rel=1e-9, abs=1e-9)
    assert push.work(system, gained, 0.5 * (v + after)) == pytest.approx(applied @ (0.5 * (v + after)), rel=1e-9)
    softened = system.dt * push.pose.jacobian.T @ push.pose.damped(push._damping, gained).ravel()
    assert abs(softened[-1]) > 0.05 * abs(applied[-1])  # else it would not be seen


@pytest.mark.parametrize("water", ["still", "received"])
def test_a_ball_that_water_stops_loses_what_the_book_says(water):
    """Momentum and energy to rounding, over a sub-step in which water stops most of the motion."""
    builder = SkeletonBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_bone("ball", joint=joints.Free(), inertia=Inertia.sphere(0.2, 0.1))
    s = builder.build()
    x, f = sphere(0.1, subdivisions=2)
    skin = bind(s, s.neutral_q(), np.asarray(x), np.asarray(f), ("ball",), np.ones((len(x), 1)))
    body = BodyInWater(BodyStepper(s, MuscleBuilder(s).build()), skin)
    q, v = s.neutral_q(), np.array([0.0, 0.0, 0.0, 8.0, 0.0, 0.0])
    q[2] = -1.0
    state = body.start(q, v)
    wading = body.begin(state)
    if water == "still":
        wading.still(StillWater(gravity=0.0), 0.0, 1 / 192)
    else:
        wading.advance(state, 0.0, 1 / 192)
        for push in (-0.5, -0.4):
            wading.receive(state, np.array([[0.0, 0.0, 0.0, push, 0.0, 0.0]]))
    wading.end(1 / 192)
    assert state.v[3] < 6.0
    assert state.book.impulse["water"] == pytest.approx(0.2 * (state.v - v)[3:], abs=1e-9)
    lost = 0.5 * 0.2 * (v[3:] @ v[3:] - state.v[3:] @ state.v[3:])
    assert state.book.work["water"] == pytest.approx(-lost, rel=1e-6)


# --- books ---------------------------------------------------------------------------------------------------------


def test_the_impulse_of_a_push_is_booked_in_world_axes():
    s = skeleton()
    body = BodyInWater(BodyStepper(s, muscles(s)), bound(s))
    q = s.neutral_q()
    q[3:7] = [np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]  # a quarter turn: its x is the world's y
    state = body.start(q)
    state.push[0, 3:] = [7.0, 0.0, 2.0]
    time = 0.02
    before = centroidal_momentum(s, state.q, state.v)[3:]
    for _ in range(40):
        wading = body.begin(state)
        wading.still(DRY, 0.0, time / 40)
        wading.end(time / 40)
    book = state.book.impulse
    assert book["push"] == pytest.approx([0.0, 7.0 * time, 2.0 * time], abs=2e-3)
    gained = centroidal_momentum(s, state.q, state.v)[3:] - before
    assert gained == pytest.approx(book["push"] + book["weight"] + book["water"], abs=2e-3)


def course(s):
    def sample(time):
        q = s.neutral_q()
        q[-2:] = (1.0 - np.cos(9.0 * time)) * np.array([0.4, -0.5])
        return q

    return JointCourse(sample)


@pytest.mark.parametrize("level", [0.0, 0.1])
@pytest.mark.parametrize("water", ["still", "received"])
@pytest.mark.parametrize("led", [True, False])
def test_energy_of_a_body_is_what_its_book_says_to_first_order(level, water, led):
    """Drive, joints, water and a push together, on a course and under torques, with muscles off and on: half
    the step, half the error."""
    s = skeleton()
    flow = np.random.default_rng(3).normal(size=(3, 6)) * [0.1, 0.1, 0.1, 2.0, 2.0, 2.0]  # (moment, force) on links
    flow[:, 5] += 9.81 * 5.0 / 3.0  # it floats
    left = []
    for parts in (100, 200, 400):
        dt = 0.2 / parts
        body = BodyInWater(BodyStepper(s, muscles(s)), bound(s))
        q = s.neutral_q()
        q[2] = -1.0
        state = body.start(q)
        state.activation[:] = level
        state.push[0, 3:] = [3.0, -2.0, 1.0]
        first = energy(s, state.q, state.v).total
        for n in range(parts):
            wading = body.begin(state, course(s) if led else JointTorques(np.eye(8)[7], 0.5, 0.05))
            if water == "still":
                wading.still(StillWater(), n * dt, dt)
            else:
                wading.advance(state, n * dt, dt)
                for part in (0.3, 0.7):  # the water may push twice
                    wading.receive(state, part * dt * flow)
            wading.end(dt)
        gained = energy(s, state.q, state.v).total - first
        # gravity is constant and the springs are the joints' own: all else is in the book
        left.append(gained - sum(state.book.work.values()))
    least = min(abs(work) for account, work in state.book.work.items() if account != "links")
    assert least > 0.02
    assert abs(2.0 * left[2] - left[1]) < 8e-3 * least  # extrapolated to steps of no length
    assert 0.45 < left[2] / left[1] < 0.55


# --- held coordinates ----------------------------------------------------------------------------------------------


def held_at(*coordinates):
    held = np.zeros(8, bool)
    held[list(coordinates)] = True
    return held


@pytest.mark.parametrize("held", [held_at(6), held_at(7), held_at(*range(6)), held_at(3, 6), held_at(*range(6), 7)])
@pytest.mark.parametrize("what", ["muscles", "still water"])
def test_held_coordinates_leave_the_free_part_of_the_matrix_as_it_was(held, what):
    """A muscle that crosses a held joint, and water on a link beyond it."""
    s = skeleton()
    m, skin = muscles(s), bound(s)
    q, v = moving(s)

    def added(step):
        one = StillWaterPush(StillWater(), skin)
        if what == "muscles":
            one = MusclePull(MuscleLines(step, m), np.array([0.5, 0.9]))
        bare = step.assemble(q, v, 0.005).full_matrix()
        return step.assemble(q, v, 0.005, [one]).full_matrix() - bare

    free, some = added(BoneStep(s)), added(BoneStep(s, held=held))
    block = np.ix_(~held, ~held)
    assert np.abs(free).max() > 1e-4
    assert some[block] == pytest.approx(free[block], rel=1e-9, abs=1e-12)
    assert not some[held].any()
    assert not some[:, held].any()


def test_impulses_after_the_step_refuse_held_coordinates():
    s = skeleton()
    q, v = moving(s)
    with pytest.raises(InputError, match="some are held"):
        StepResponse(BoneStep(s, held=held_at(6)).assemble(q, v, 0.005))


def test_work_cannot_be_booked_after_the_scratch_was_used_again():
    s = skeleton()
    q, v = moving(s)
    step, book = BoneStep(s), Book.open(["joints"])
    met = StepResponse(step.assemble(q, v, 0.005))
    met.book_work(book, v + met.step())
    assert book.work["joints"] < 0.0
    step.assemble(q, v, 0.005)
    with pytest.raises(RuntimeError, match="scratch was used again"):
        met.book_work(book, v)
