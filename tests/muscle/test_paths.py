import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.muscle import LinearHill, MuscleBuilder, joint_stiffness, lengths, moment_arms, path_points, tension
from vitruvian.skeleton import Inertia, SkeletonBuilder, bone_poses, integrate, world_twists
from vitruvian.skeleton.joints import Ball, Fixed, Revolute, Universal


def chain():
    b = SkeletonBuilder()
    b.add_bone("base", joint=Fixed(), inertia=Inertia.box(5.0, (0.2, 0.2, 0.2)))
    b.add_bone("upper", parent="base", joint=Ball(), placement=(0.1, 0, 0), inertia=Inertia.box(2.0, (0.3, 0.1, 0.1)))
    b.add_bone(
        "lower",
        parent="upper",
        joint=Revolute((0, 0, 1.0)),
        placement=(0.3, 0, 0),
        inertia=Inertia.box(1.0, (0.3, 0.1, 0.1)),
    )
    b.add_bone(
        "hand",
        parent="lower",
        joint=Universal((0, 0, 1.0), (0, 1.0, 0)),
        placement=(0.3, 0, 0),
        inertia=Inertia.box(0.5, (0.1, 0.1, 0.1)),
    )
    return b.build()


POINTS = {
    "short": [("upper", (0.2, 0.05, 0)), ("lower", (0.1, 0.04, 0))],
    "long": [
        ("base", (0, 0.08, 0.02)),
        ("upper", (0.15, 0.06, 0)),
        ("lower", (0.1, 0.05, 0.01)),
        ("hand", (0.05, 0.03, 0)),
    ],
    "back": [("hand", (0.05, -0.03, 0)), ("base", (0, -0.08, 0))],
}


def model(skeleton):
    builder = MuscleBuilder(skeleton)
    poses = bone_poses(skeleton, skeleton.neutral_q())
    for name, points in POINTS.items():
        world = [poses[skeleton.index(b), :3, :3] @ p + poses[skeleton.index(b), :3, 3] for b, p in points]
        rest = np.linalg.norm(np.diff(world, axis=0), axis=1).sum()
        builder.add_muscle(name, points, LinearHill(300.0, rest))
    return builder.build()


def test_moment_arms_equal_finite_differences():
    s = chain()
    m = model(s)
    rng = np.random.default_rng(0)
    for _ in range(5):
        q = integrate(s, s.neutral_q(), rng.uniform(-0.6, 0.6, s.n_v))
        length, arms = moment_arms(m, *world_twists(s, q))
        assert length == pytest.approx(lengths(m, bone_poses(s, q)))
        for k in range(s.n_v):
            step = np.zeros(s.n_v)
            step[k] = 1e-6
            ends = [lengths(m, bone_poses(s, integrate(s, q, x))) for x in (step, -step)]
            assert arms.dense()[:, k] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-8)


def test_a_segment_depends_only_on_the_joints_between_its_bones():
    s = chain()
    m = model(s)
    mine = {n: set(m.column[m.row_start[i] : m.row_start[i + 1]]) for i, n in enumerate(m.names)}
    assert mine["short"] == {s.v_slice("lower").start}
    assert mine["long"] == set(range(s.n_v))


def test_moment_arm_of_a_hinge_is_the_distance_of_the_line_from_its_axis():
    s = chain()
    m = model(s)
    q = s.neutral_q()
    arms = moment_arms(m, *world_twists(s, q))[1].dense()
    points = path_points(m, bone_poses(s, q))
    a, b = points[m.offsets[0] : m.offsets[1]]
    joint = np.array([0.4, 0.0, 0.0])
    unit = (b - a) / np.linalg.norm(b - a)
    distance = np.cross(a - joint, unit)[2]
    assert arms[0, s.v_slice("lower").start] == pytest.approx(distance, abs=1e-12)


def test_power_on_the_joints_equals_tension_times_shortening_rate():
    s = chain()
    m = model(s)
    rng = np.random.default_rng(1)
    q, v = integrate(s, s.neutral_q(), rng.uniform(-0.4, 0.4, s.n_v)), rng.normal(size=s.n_v)
    _, arms = moment_arms(m, *world_twists(s, q))
    force = rng.uniform(0, 100, m.n_muscles)
    assert arms.torques(force) @ v == pytest.approx(-force @ arms.rates(v), rel=1e-12)


def test_joint_stiffness_is_the_congruence_with_the_moment_arms_and_grows_with_activation():
    s = chain()
    m = model(s)
    q = integrate(s, s.neutral_q(), np.full(s.n_v, 0.2))
    length, arms = moment_arms(m, *world_twists(s, q))
    stiff = []
    for a in (0.0, 0.5, 1.0):
        t = tension(m, np.full(m.n_muscles, a), length, np.zeros(m.n_muscles))
        K = joint_stiffness(arms, t)
        assert pytest.approx(arms.dense().T @ np.diag(t.stiffness) @ arms.dense(), abs=1e-9) == K
        assert np.linalg.eigvalsh(K).min() > -1e-9
        stiff.append(np.trace(K))
    assert stiff[0] < stiff[1] < stiff[2]


def test_two_equal_muscles_in_a_tug_of_war_cancel():
    b = SkeletonBuilder()
    b.add_bone("base", joint=Fixed(), inertia=Inertia.box(1.0, (1, 1, 1)))
    b.add_bone("rod", parent="base", joint=Revolute((0, 0, 1.0)), inertia=Inertia.box(1.0, (1, 0.1, 0.1), (0.5, 0, 0)))
    s = b.build()
    builder = MuscleBuilder(s)
    for name, y in (("left", 0.5), ("right", -0.5)):
        builder.add_muscle(name, [("base", (0, y, 0)), ("rod", (0.8, 0, 0))], LinearHill(100.0, 0.9))
    m = builder.build()
    _, arms = moment_arms(m, *world_twists(s, s.neutral_q()))
    assert arms.torques(np.array([70.0, 70.0])) == pytest.approx([0.0], abs=1e-12)


@pytest.mark.parametrize(
    ("points", "element", "message"),
    [
        (
            [("base", (0, 0, 0)), ("tail", (1, 0, 0))],
            LinearHill(1.0, 1.0),
            "unknown bone 'tail'; known: base, hand, lower, upper",
        ),
        ([("base", (0, 0, 0))], LinearHill(1.0, 1.0), "a path needs at least two points, got 1"),
        ([], LinearHill(1.0, 1.0), "a path needs at least two points, got 0"),
        ([("base", (0, 0, 0)), ("upper", (0, 0))], LinearHill(1.0, 1.0), "coordinates"),
        ([("base", (0, 0, 0)), ("upper", (0, 0, np.nan))], LinearHill(1.0, 1.0), "three finite coordinates"),
        ([("base", (0, 0, 0)), ("upper", (1, 0, 0))], LinearHill(-5.0, 1.0), "F_max must be positive, got -5"),
        ([("base", (0, 0, 0)), ("upper", (1, 0, 0))], LinearHill(5.0, 0.0), "rest length must be positive, got 0"),
    ],
)
def test_a_bad_muscle_is_one_clear_line_that_names_it(points, element, message):
    with pytest.raises(InputError, match=message) as error:
        MuscleBuilder(chain()).add_muscle("puller", points, element)
    assert "muscle 'puller'" in str(error.value)
    assert "\n" not in str(error.value)


def test_negative_cross_section_is_named():
    with pytest.raises(InputError, match="muscle 'puller': PCSA must be positive, got -0"):
        MuscleBuilder(chain()).add_muscle(
            "puller", [("base", (0, 0, 0)), ("upper", (1, 0, 0))], LinearHill(1.0, 1.0), pcsa=-1e-4
        )


def test_a_name_used_twice_is_refused():
    builder = MuscleBuilder(chain())
    builder.add_muscle("a", POINTS["short"], LinearHill(1.0, 1.0))
    with pytest.raises(InputError, match="muscle 'a' is defined twice"):
        builder.add_muscle("a", POINTS["short"], LinearHill(1.0, 1.0))
