"""Cylinders and carriers: lengths against closed forms, moment arms against differences, and no jumps."""

import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.muscle import Carrier, Cylinder, LinearHill, MuscleBuilder, lengths, moment_arms, path_curves
from vitruvian.muscle.wrapping import RISE, SOFT, TURN
from vitruvian.skeleton import Inertia, SkeletonBuilder, bone_poses, integrate, world_twists
from vitruvian.skeleton.joints import Ball, Fixed, Revolute

ROD = Inertia.box(1.0, (0.02, 0.02, 0.4), (0, 0, -0.2))
FEMUR_TO_SHANK = [("thigh", (0.01, 0.03, -0.1)), ("shank", (-0.01, 0.03, -0.1))]


def limb():
    """A thigh on a ball joint and a shank on a hinge (+ bends it backward, +y)."""
    bones = SkeletonBuilder()
    bones.add_bone("pelvis", joint=Fixed(), inertia=ROD)
    bones.add_bone("thigh", parent="pelvis", joint=Ball(), placement=np.array([0.1, 0, 0]), inertia=ROD)
    bones.add_bone("shank", parent="thigh", joint=Revolute((1, 0, 0)), placement=np.array([0, 0, -0.4]), inertia=ROD)
    return bones.build()


def cap():
    at = np.radians(np.arange(-60.0, 181.0, 20.0))
    place = np.stack([0.002 * np.sin(at), -0.05 * np.cos(0.6 * at), -0.4 - 0.05 * np.sin(0.6 * at)], axis=1)
    return Carrier("cap", "thigh", "shank", TURN, (1, 0, 0), (0, 0, 0), (1, 0, 0), at, place, 0.6 * at)


def blade():
    at = np.linspace(-1.0, 1.0, 9)
    turn = 0.4 * (1.0 + at)
    place = np.stack([0.01 * np.sin(turn), 0 * at, 0.02 * np.cos(turn)], axis=1)
    return Carrier("blade", "pelvis", "thigh", RISE, (0, 0, -1), (0.6, 0, 0.8), (0, 1, 0), at, place, turn)


def built(path, cylinders=(), carriers=()):
    s = limb()
    builder = MuscleBuilder(s, carriers=carriers)
    builder.add_muscle("m", path, LinearHill(100.0, 0.3), cylinders=cylinders)
    return s, builder.build()


def posed(s, hip, knee):
    return integrate(s, s.neutral_q(), np.array([*hip, knee]))


def differences(s, model, q, h=1e-6):
    out = []
    for k in range(s.n_v):
        step = np.zeros(s.n_v)
        step[k] = h
        ends = [lengths(model, bone_poses(s, integrate(s, q, x)))[0] for x in (step, -step)]
        out.append((ends[0] - ends[1]) / (2 * h))
    return np.array(out)


BEHIND = Cylinder(0, "thigh", (0, 0, -0.4), (1, 0, 0), (0, 1, 0), 0.025)
IN_FRONT = Cylinder(1, "thigh", (0, 0.01, -0.4), (-1, 0, 0), (0, -1, 0), 0.045)
PATHS = {
    "behind the knee": (FEMUR_TO_SHANK, [BEHIND], ()),
    "round the far side, where it slips off": (
        [("thigh", (0.0, -0.07, -0.34)), ("shank", (0.01, -0.06, -0.03))],
        [Cylinder(0, "thigh", (0, 0, -0.4), (1, 0, 0), (0, 1, 0), 0.05)],
        (),
    ),
    "from the pelvis over a cap": (
        [("pelvis", (0.1, -0.05, 0.0)), ("thigh", (0.1, -0.06, -0.1)), ("cap", (0.01, 0.0, 0.02))],
        [IN_FRONT],
        (cap(),),
    ),
    "blade to thigh": ([("blade", (0.02, 0.05, 0.1)), ("thigh", (0.0, 0.02, -0.15))], (), (blade(),)),
    "blade to shank round the thigh": (
        [("blade", (0.02, 0.05, 0.1)), ("shank", (0.0, 0.03, -0.05))],
        [Cylinder(0, "thigh", (0, 0, -0.4), (1, 0, 0), (0, 1, 0), 0.06)],
        (blade(), cap()),
    ),
}


@pytest.mark.parametrize("name", PATHS)
def test_moment_arms_equal_differences_of_length_touching_or_not(name):
    s, model = built(*PATHS[name])
    rng, bent = np.random.default_rng(0), 0
    for _ in range(40):
        q = posed(s, rng.uniform(-0.7, 0.7, 3), rng.uniform(-0.5, 2.4))
        _, arms = moment_arms(model, *world_twists(s, q))
        assert arms.dense()[0] == pytest.approx(differences(s, model, q), abs=2e-8)
        bent += len(model.wraps.radius) and np.abs(arms.data).sum() > 0
    assert bent or not len(model.wraps.radius)


def test_a_bent_path_has_the_length_of_tangents_and_arc():
    s, model = built([("thigh", (0, 0, -0.1)), ("shank", (0, 0, -0.3))], [BEHIND])
    tangent = np.sqrt(0.3**2 - 0.025**2)
    turn = 2.0 * np.arcsin(0.025 / 0.3)
    wrapped, straight = 2 * tangent + 0.025 * turn, 0.6
    excess = wrapped - straight
    found = lengths(model, bone_poses(s, posed(s, np.zeros(3), 0.0)))[0]
    assert found == pytest.approx(straight + excess**2 / (excess + SOFT * 0.025), abs=1e-12)
    knee = moment_arms(model, *world_twists(s, posed(s, np.zeros(3), 0.0)))[1].dense()[0, 3]
    assert abs(knee) == pytest.approx(0.025, abs=2e-4)  # as a pulley of that radius


def test_a_straight_flexor_reverses_in_deep_flexion_and_a_bent_one_keeps_its_sign():
    angles = np.radians(np.arange(0.0, 141.0, 2.0))
    path = [("thigh", (0, 0.02, -0.41)), ("shank", (0, 0.03, -0.1))]
    front = Cylinder(0, "thigh", (0, -0.03, -0.4), (1, 0, 0), (0, 1, 0), 0.055)
    arms = []
    for cylinders in ((), [front]):
        s, model = built(path, cylinders)
        arms.append([moment_arms(model, *world_twists(s, posed(s, np.zeros(3), a)))[1].dense()[0, 3] for a in angles])
    assert max(arms[0]) > 0 > min(arms[0])
    assert np.abs(np.diff(arms[1])).max() < 2e-3  # no jump within 2 degrees


def test_arms_have_no_kink_where_the_path_lifts_off():
    s, model = built(FEMUR_TO_SHANK, [BEHIND])
    angles = np.radians(np.arange(0.0, 90.0, 0.05))
    arm = [moment_arms(model, *world_twists(s, posed(s, np.zeros(3), a)))[1].dense()[0, 3] for a in angles]
    slope = np.diff(arm) / np.diff(angles)
    assert np.abs(np.diff(slope)).max() < 0.05 * np.abs(slope).max()


def test_an_end_inside_the_cylinder_makes_it_give_way():
    near = [("thigh", (0, 0.03, -0.2)), ("shank", (0, 0.01, -0.005))]
    s, model = built(near, [BEHIND])
    for knee in (0.0, 0.5, 1.5):
        q = posed(s, np.zeros(3), knee)
        length, arms = moment_arms(model, *world_twists(s, q))
        assert np.isfinite(length[0])
        assert arms.dense()[0] == pytest.approx(differences(s, model, q), abs=2e-8)


def test_the_drawn_path_lies_outside_the_cylinder_and_has_the_hard_length():
    s, model = built(FEMUR_TO_SHANK, [Cylinder(0, "thigh", (0, 0, -0.4), (1, 0, 0), (0, 1, 0), 0.05)])
    poses = bone_poses(s, posed(s, np.zeros(3), 0.3))
    curve = path_curves(model, poses)
    assert len(curve) == model.curve_offsets[-1]
    off = np.linalg.norm((curve - poses[1, :3, 3] - poses[1, :3, :3] @ [0, 0, -0.4])[:, 1:], axis=1)
    assert off.min() > 0.05 - 1e-5  # an end at twice the radius makes it give way by 0.01 %
    drawn = np.linalg.norm(np.diff(curve, axis=0), axis=1).sum()
    assert drawn == pytest.approx(lengths(model, poses)[0], abs=3e-4)


def test_cylinders_that_cannot_be_are_named():
    for cylinder, message in (
        (Cylinder(1, "thigh", (0, 0, 0), (1, 0, 0), (0, 1, 0), 0.02), "bends segment 1 of 1"),
        (Cylinder(0, "thihg", (0, 0, 0), (1, 0, 0), (0, 1, 0), 0.02), "unknown bone 'thihg'"),
        (Cylinder(0, "thigh", (0, 0, 0), (1, 0, 0), (1, 0, 0), 0.02), "lies along its axis"),
        (Cylinder(0, "thigh", (0, 0, 0), (1, 0, 0), (0, 1, 0), -0.02), "needs a radius"),
    ):
        with pytest.raises(InputError, match=message):
            built(FEMUR_TO_SHANK, [cylinder])
    with pytest.raises(InputError, match="one cylinder only"):
        built(FEMUR_TO_SHANK, [BEHIND, BEHIND])


@pytest.mark.parametrize("slips", [False, True])
def test_no_arm_jumps_where_a_path_passes_the_axis_or_an_end_comes_near_it(slips):
    """A line swept over the cylinder to its wrong side, with an end that dips below the radius on the way."""
    cylinder = Cylinder(0, "thigh", (0.0, 0.0, -0.4), (1, 0, 0), (0, 1, 0), 0.025, slips)
    path = [("thigh", (0.01, -0.02, -0.33)), ("shank", (-0.01, 0.022, -0.012))]
    s, model = built(path, [cylinder])
    arms = []
    for knee in np.radians(np.arange(-160.0, 160.0, 0.5)):
        q = posed(s, np.zeros(3), knee)
        arms.append(moment_arms(model, *world_twists(s, q))[1].dense()[0])
    assert np.abs(np.diff(arms, axis=0)).max() < 6e-3  # [m] in half a degree; a hard rule jumps by 20 to 45 mm
    off = [differences(s, model, posed(s, np.zeros(3), k)) for k in np.radians(np.arange(-160.0, 160.0, 10.0))]
    assert np.array(arms)[::20] == pytest.approx(np.array(off), abs=5e-8)


def test_a_muscle_that_slips_is_straight_once_its_line_clears_the_cylinder_on_the_wrong_side():
    path = [("thigh", (0.0, -0.04, -0.3)), ("shank", (0.0, -0.04, -0.1))]
    held, slipped, bare = (
        built(path, cylinders)
        for cylinders in (
            [Cylinder(0, "thigh", (0, 0, -0.4), (-1, 0, 0), (0, 1, 0), 0.03)],
            [Cylinder(0, "thigh", (0, 0, -0.4), (-1, 0, 0), (0, 1, 0), 0.03, slips=True)],
            (),
        )
    )
    found = [lengths(model, bone_poses(s, posed(s, np.zeros(3), 0.0)))[0] for s, model in (held, slipped, bare)]
    assert found[1] == found[2]
    assert found[0] > found[2] + 0.02
