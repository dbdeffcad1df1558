"""Flesh on bones: what its pull adds and is booked as, how its skin moves, and states that resume."""

import numpy as np
import pytest

from vitruvian.couple import BodyStepper, BoneStep, FleshPull, FleshSkin, Follower, MuscleFlesh
from vitruvian.flesh import Loads, Settings, build_flesh, embed, preset, sample_muscles
from vitruvian.mesh import capsule
from vitruvian.muscle import MuscleBuilder
from vitruvian.skeleton import bone_poses, mass_matrix
from vitruvian.skin import bind
from vitruvian.verify._flesh_limb import limb
from vitruvian.world.state import copy_state, flatten_state, unflatten_state

H = 0.01
SETTINGS = Settings(residual=3e-4, gap=1e-5, newton=60)


@pytest.fixture(scope="module")
def pair():
    return limb(material="soft")


def wrapped(pair, **options):
    skeleton = pair[0].skeleton
    stepper = BodyStepper(skeleton, MuscleBuilder(skeleton).build())
    return MuscleFlesh(stepper, pair[0].model, settings=SETTINGS, **options)


def pushed(model):
    return Loads(force=embed(model.lattice, np.array([[0.35, 0.0, 0.0]])).nodal_forces(np.array([[0.0, 0.05, 0.0]])))


# --- the pull ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("at_ease", [False, True])
def test_the_pull_is_booked_as_the_step_applied_it(pair, ahead, at_ease):
    """Nothing else acts on the hinge: M dv is the pull's impulse, stiffness and all, and works along the mean."""
    wrap = wrapped(pair, at_ease=at_ease)
    state = wrap.start(pair[1], np.array([0.1]), pushed(wrap.model))
    state.stiffness[:] = -40.0  # [N m]: times h², as much as the inertia
    state.pull += 0.3  # on top of what is at ease
    s = pair[0].skeleton
    step, q, v = BoneStep(s), np.array([0.13]), np.array([0.7])
    pull = FleshPull(state, ahead=ahead, at_ease=at_ease)
    system = step.assemble(q, v, H, [pull])
    _, after = step.solve(system)
    applied, middle = mass_matrix(s, q) @ (after - v), 0.5 * (v + after)
    assert pull.work(system, after - v, middle) == pytest.approx(float(applied @ middle), rel=1e-9)
    # by hand: pull - ease - k (way since the balance, and on to the end of the step)
    way = H * (after - v) if ahead else 0.03 + H * after
    ease = wrap.model.attachments.bone_wrenches(state.flesh.x, state.poses)[1, 2] if at_ease else 0.0
    assert applied[0] == pytest.approx(H * (state.pull[0] - ease - 40.0 * way[0]), rel=1e-9)
    assert abs(40.0 * way[0]) > 0.05 * abs(state.pull[0])  # else the stiffness would not be seen


def test_flesh_at_ease_leaves_its_first_pose_alone_and_other_flesh_does_not(pair):
    speeds = []
    for at_ease in (True, False):
        wrap = wrapped(pair, at_ease=at_ease)
        loads, q = pushed(wrap.model), np.array([0.1])
        state = wrap.start(pair[1], q, loads)
        _, v = wrap.step(state, q, np.zeros(1), np.zeros(0), 1e-3, loads)
        speeds.append(abs(v[0]))
    assert speeds[0] < 1e-9
    assert speeds[1] > 1e-4


# --- the skin ------------------------------------------------------------------------------------------------------


def test_a_skin_on_flesh_that_creeps_around_resting_bones_moves_as_its_positions_do():
    pair, q = limb()
    s = pair.skeleton
    x, faces = capsule(np.array([0.02, 0, 0]), np.array([0.38, 0, 0]), 0.03, sides=10)
    x = np.asarray(x)
    lower = np.clip((x[:, 0] - 0.15) / 0.1, 0.0, 1.0)
    skin = bind(s, q, x, np.asarray(faces), ("upper", "lower"), np.column_stack([1.0 - lower, lower]))
    fleshed = FleshSkin(s, q, skin, pair.model)
    motion = fleshed.start(np.array([0.2]))
    poses, dt = bone_poses(s, np.array([0.6])), 0.004
    fleshed.follow(motion, poses, dt)  # fast: the tissue lags behind
    before = fleshed.at(motion).place(poses).vertices
    fleshed.follow(motion, poses, dt)
    place = fleshed.at(motion).place(poses)
    rate = (place.vertices - before) / dt
    assert np.linalg.norm(rate, axis=1).max() > 1e-3
    assert place.velocities(np.zeros((2, 6))) == pytest.approx(rate, abs=1e-9)
    assert fleshed.start(np.array([0.2])).rate.shape == x.shape


def rod(first, last, radius, rings=19, sides=10):
    """A closed tube along x with rings of vertices: (vertices [m], faces)."""
    along, turn = np.linspace(first, last, rings), 2.0 * np.pi * np.arange(sides) / sides
    ring = radius * np.column_stack([np.cos(turn), np.sin(turn)])
    x = np.concatenate([np.column_stack([np.full(sides, a), ring]) for a in along] + [[[first, 0, 0], [last, 0, 0]]])
    i, j = np.meshgrid(np.arange(rings - 1), np.arange(sides), indexing="ij")
    a, b = (i * sides + j).ravel(), (i * sides + (j + 1) % sides).ravel()
    c, k = np.arange(sides), np.roll(np.arange(sides), -1)
    ends = [np.column_stack([k, c, np.full(sides, len(x) - 2)])]
    last_ring = (rings - 1) * sides
    ends.append(np.column_stack([c + last_ring, k + last_ring, np.full(sides, len(x) - 1)]))
    return x, np.concatenate([np.column_stack([a, b, b + sides]), np.column_stack([a, b + sides, a + sides]), *ends])


def test_a_working_muscle_bulges_under_the_skin_and_others_do_not_move_it():
    pair, q = limb()
    s = pair.skeleton
    x, faces = rod(0.02, 0.38, 0.03)
    lower = np.clip((x[:, 0] - 0.15) / 0.1, 0.0, 1.0)
    skin = bind(s, q, x, faces, ("upper", "lower"), np.column_stack([1.0 - lower, lower]))

    def belly(points):
        return np.abs(points[:, 0] - 0.1) < 0.05, np.tile([1.0, 0.0, 0.0], (len(points), 1))

    fibres = sample_muscles(pair.model.elements, [("belly", belly)])
    model = build_flesh(pair.model.elements, preset("lee"), muscles=fibres, attachments=pair.model.attachments)
    fleshed = FleshSkin(s, q, skin, model, ("other", "belly"))
    over = np.abs(x[:, 0] - 0.1) < 0.06
    grown = {}
    for name, activation in (("other", [1.0, 0.0]), ("belly", [0.0, 1.0])):
        motion = fleshed.start(q)
        for _ in range(20):
            fleshed.follow(motion, bone_poses(s, q), 0.05, np.array(activation))
        radius = np.linalg.norm(fleshed.at(motion).place(bone_poses(s, q)).vertices[over, 1:], axis=1)
        grown[name] = radius.mean() - np.linalg.norm(x[over, 1:], axis=1).mean()
    assert abs(grown["other"]) < 1e-5
    assert grown["belly"] > 3e-4  # [m]


# --- states --------------------------------------------------------------------------------------------------------


def same(one, two):
    one, two = flatten_state(one), flatten_state(two)
    return one.keys() == two.keys() and all(np.array_equal(one[k], two[k]) for k in one)


def test_following_flesh_resumes_whatever_it_has_seen():
    pair, q = limb()
    s, follower = pair.skeleton, Follower(pair.model, Settings(residual=1e-3, gap=1e-6))
    skin = follower.skin(np.array([[0.3, 0.03, 0.0]]))
    fresh = follower.start(bone_poses(s, q))
    state = copy_state(fresh)
    follower.follow(state, bone_poses(s, q + 0.05), H, skin=skin)
    assert state.trend.known
    assert not fresh.trend.known
    assert flatten_state(state).keys() == flatten_state(fresh).keys()
    resumed = unflatten_state(fresh, flatten_state(state))  # known, into a state that knows nothing
    assert same(resumed, state)
    assert not unflatten_state(state, flatten_state(fresh)).trend.known  # and the other way
    for one in (state, resumed):
        follower.follow(one, bone_poses(s, q + 0.1), H, skin=skin)
    assert same(resumed, state)


def test_a_body_in_flesh_resumes_from_a_state_as_it_starts(pair):
    wrap = wrapped(pair, every=2)
    start = np.array([0.2])
    fresh = wrap.start(pair[1], start, Loads())
    state, q, v = copy_state(fresh), start.copy(), np.zeros(1)
    for _ in range(3):
        q, v = wrap.step(state, q, v, np.zeros(0), H, Loads())
    assert flatten_state(state).keys() == flatten_state(fresh).keys()
    resumed, ends = unflatten_state(fresh, flatten_state(state)), []
    for one in (state, resumed):
        at, speed = q.copy(), v.copy()
        for _ in range(3):
            at, speed = wrap.step(one, at, speed, np.zeros(0), H, Loads())
        ends.append((at, speed))
    assert np.array_equal(ends[0], ends[1])
    assert same(resumed, state)
