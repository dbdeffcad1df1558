"""The one step: contributors add what they say, and books close."""

import numpy as np
import pytest

from vitruvian.anatomy import human
from vitruvian.couple import (
    AppliedTorques,
    BodyStepper,
    BoneLinks,
    BoneStep,
    Book,
    Contacts,
    JointTorques,
    MuscleLines,
    MusclePull,
    Wrenches,
    ball,
)
from vitruvian.errors import Diverged, InputError
from vitruvian.muscle import MuscleBuilder
from vitruvian.skeleton import Inertia, SkeletonBuilder, beyond_range, energy, integrate, joints, mass_matrix

H = 0.002


@pytest.fixture(scope="module")
def body():
    return human()


def moving(body, seed=1):
    rng, s = np.random.default_rng(seed), body.skeleton
    q = integrate(s, body.default_q, rng.uniform(-0.2, 0.2, s.n_v))
    return q, rng.normal(size=s.n_v), rng.uniform(0.0, 1.0, body.muscles.n_muscles)


def force_and_matrix(step, q, v, one, dt):
    """What one contributor adds at (q, v)."""
    bare = step.assemble(q, v, dt)
    force, matrix = bare.force.copy(), bare.full_matrix()
    with_it = step.assemble(q, v, dt, [one])
    return with_it.force - force, with_it.full_matrix() - matrix


def test_bones_alone_have_their_mass_matrix(body):
    q, v, _ = moving(body)
    M = mass_matrix(body.skeleton, q)
    assert BoneStep(body.skeleton).assemble(q, v, 0.0).full_matrix() == pytest.approx(M, abs=1e-11 * np.abs(M).max())


def test_torques_give_way_by_their_stiffness_and_damping(body):
    """force(q, v) - h K v, and h D + h² K on the diagonal: against finite differences of the torque itself."""
    q, v, _ = moving(body)
    s, rng = body.skeleton, np.random.default_rng(3)
    given = JointTorques(rng.normal(size=s.n_v), rng.uniform(1, 50, s.n_v), rng.uniform(0.1, 2, s.n_v))
    one = AppliedTorques(given, (q, v))
    force, matrix = force_and_matrix(BoneStep(s), q, v, one, H)
    assert force == pytest.approx(given.torque - H * given.stiffness * v, rel=1e-12)
    assert matrix == pytest.approx(np.diag(H * given.damping + H**2 * given.stiffness), abs=1e-10)


def test_muscles_add_the_slope_of_their_own_force(body):
    """Without stiffness (h -> 0) the matrix over h is -d force/d v, by finite differences along a random direction."""
    q, v, a = moving(body)
    v *= 0.1  # slow enough that no muscle is beyond its fastest shortening, where the slope has a kink
    step = BoneStep(body.skeleton)
    lines = MuscleLines(step, body.muscles)
    h = 1e-9
    direction = np.random.default_rng(5).normal(size=len(v))
    _, matrix = force_and_matrix(step, q, v, MusclePull(lines, a), h)
    small = 1e-5
    ends = [force_and_matrix(step, q, v + x * small * direction, MusclePull(lines, a), 0.0)[0] for x in (1.0, -1.0)]
    slope = (ends[0] - ends[1]) / (2.0 * small)
    assert matrix @ direction / h == pytest.approx(-slope, rel=2e-3, abs=2e-3 * np.abs(slope).max())


def test_a_wrench_does_its_work_along_the_mean_velocity():
    builder = SkeletonBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_bone("ball", joint=joints.Free(), inertia=Inertia.sphere(2.0, 0.1))
    step, book = BoneStep(builder.build()), Book.open(["push"])
    q, v = step.skeleton.neutral_q(), np.zeros(6)
    push = np.array([[0.0, 0.0, 0.0, 4.0, 0.0, 0.0]])
    for _ in range(50):
        system = step.assemble(q, v, 0.01, [Wrenches(push)])
        q, v = step.solve(system)
        system.book_work(book, v)
    assert v[3] == pytest.approx(4.0 / 2.0 * 0.5)
    assert book.work["push"] == pytest.approx(0.5 * 2.0 * v[3] ** 2, rel=1e-12)


def test_the_ground_is_booked_as_the_step_applied_it():
    """A ball on damped springs comes to rest: what it lost the ground took, at any step."""
    builder = SkeletonBuilder()
    builder.add_bone("ball", joint=joints.Free(), inertia=Inertia.sphere(2.0, 0.1))
    s = builder.build()
    contacts = Contacts((ball("ball", (0.0, 0.0, 0.0), 0.1),), stiffness=2e4, dissipation=5.0)
    for dt in (1e-3, 1e-4):
        stepper, book = BodyStepper(s, MuscleBuilder(s).build(), contacts=contacts), Book.open(["contact", "joints"])
        q, v = s.neutral_q(), np.zeros(6)
        q[2] = 0.15
        start = energy(s, q, v).total
        for _ in range(round(1.0 / dt)):
            q, v = stepper.step(q, v, np.zeros(0), dt, book=book)
        lost = start - energy(s, q, v).total
        assert lost > 0.9
        assert book.work["contact"] == pytest.approx(-lost, rel=1e-6)


def test_a_body_that_moves_loses_and_gains_what_its_book_says(body):
    """Energy less booked work over 20 ms of a body let go with its muscles on, at a step and at half of it."""
    q0, a = body.skeleton.neutral_q(), moving(body)[2]
    left = []
    for dt in (4e-5, 2e-5):
        stepper, book = BodyStepper(body.skeleton, body.muscles), Book.open(["drive", "joints", "links", "push"])
        q, v = q0, np.zeros(body.skeleton.n_v)
        start = energy(body.skeleton, q, v).total
        for _ in range(round(0.02 / dt)):
            q, v = stepper.step(q, v, 0.1 * a, dt, book=book)
        left.append(abs(energy(body.skeleton, q, v).total - start - sum(book.work.values())))
    assert abs(book.work["drive"]) > 1.0
    assert left[1] < 0.65 * left[0]
    assert left[1] < 0.15 * abs(book.work["drive"])


def test_an_account_that_was_not_opened_is_not_kept(body):
    book = Book.open(["drive"])
    book.add_work("water", 1.0)
    assert book.work == {"drive": 0.0}


def test_held_coordinates_do_not_move_and_a_wrong_mask_is_told(body):
    q, v, a = moving(body)
    held = np.zeros(body.skeleton.n_v, bool)
    held[:6] = True
    after = BodyStepper(body.skeleton, body.muscles, held=held).step(q, np.where(held, 0.0, v), a, H)[1]
    assert not after[:6].any()
    with pytest.raises(InputError, match="held must name each of 163"):
        BoneStep(body.skeleton, held=np.zeros(3, bool))


def test_a_matrix_that_is_not_positive_names_the_bone(body):
    q, v, _ = moving(body)

    class Soft:
        account = ""

        def add(self, system):
            values = np.zeros(len(system.v))
            values[body.skeleton.v_slice("Ul_l")] = -1e3
            system.add_diagonal(values)

    step = BoneStep(body.skeleton)
    with pytest.raises(Diverged, match="Ul_l"):
        step.solve(step.assemble(q, v, H, [Soft()]))


def test_cartilages_take_by_their_damping_and_never_give(body):
    step = BoneStep(body.skeleton)
    q, v, _ = moving(body)
    links = BoneLinks(step)
    assert links.work(step.assemble(q, v, H, [links]), np.zeros_like(v), v) < 0.0
    assert links.work(step.assemble(q, 0.0 * v, H, [links]), np.zeros_like(v), 0.0 * v) == 0.0


def test_firm_stops_of_a_ball_joint_hold_at_ten_milliseconds():
    """Stops act on the rotation vector, whose rate is not the angular velocity: half a turn from neutral the wrong
    stiffness drives the joint apart."""
    bones, rod = SkeletonBuilder((0.0, 0.0, 0.0)), Inertia.box(3.0, (0.05, 0.05, 0.6), (0.0, 0.0, -0.3))
    bones.add_bone("post", joint=joints.Fixed(), inertia=rod)
    low, high, k = np.radians([-90.0, -85.0, -130.0]), np.radians([70.0, 95.0, 40.0]), np.full(3, 3000.0)
    stops = {"limits": (low, high), "limit_stiffness": k, "limit_damping": 0.01 * k}
    bones.add_bone("arm", parent="post", joint=joints.Ball(), inertia=rod, damping=np.full(3, 0.5), **stops)
    s = bones.build()
    step, rng = BoneStep(s), np.random.default_rng(0)
    for _ in range(30):
        q, v = integrate(s, s.neutral_q(), rng.uniform(low, high)), 4.0 * rng.normal(size=3)
        fast = np.linalg.norm(v)
        for _ in range(60):
            q, v = step.solve(step.assemble(q, v, 1.0 / 96.0))
            assert np.linalg.norm(v) < 4.0 * fast  # it may turn about its thin axis faster than across
            assert np.degrees(beyond_range(s, q)).max() < 3.0
