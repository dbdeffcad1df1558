import numpy as np
import pytest

from vitruvian.anatomy import arm, human
from vitruvian.couple import BodyStepper, Book, Contacts, ball
from vitruvian.muscle import LinearHill, MuscleBuilder, moment_arms, tension
from vitruvian.skeleton import (
    Inertia,
    SkeletonBuilder,
    energy,
    integrate,
    inverse_dynamics,
    mass_matrix,
    passive_forces,
    world_twists,
)
from vitruvian.skeleton.joints import Free, Prismatic, Revolute


@pytest.fixture(scope="module")
def body():
    return human()


def state(body, seed=0):
    rng = np.random.default_rng(seed)
    s = body.skeleton
    return (
        integrate(s, body.default_q, rng.uniform(-0.3, 0.3, s.n_v)),
        rng.normal(size=s.n_v),
        rng.uniform(0, 1, body.muscles.n_muscles),
    )


def test_mass_matrix_and_bias_equal_the_skeletons(body):
    q, v, a = state(body)
    stepper = BodyStepper(body.skeleton, body.muscles)
    work = stepper.assemble(q, v, a, 0.0)
    M, c = mass_matrix(body.skeleton, q), inverse_dynamics(body.skeleton, q, v, np.zeros_like(v))
    assert work.full_matrix() == pytest.approx(M, abs=1e-11 * np.abs(M).max())
    assert work.bias == pytest.approx(c, abs=1e-11 * np.abs(c).max())


def test_force_is_that_of_muscles_and_joints():
    body = arm("left")  # no cartilage springs, which damp in all directions here and along their line there
    q, v, a = state(body)
    stepper = BodyStepper(body.skeleton, body.muscles)
    work = stepper.assemble(q, v, a, 0.0)
    length, arms = moment_arms(body.muscles, *world_twists(body.skeleton, q))
    pull = tension(body.muscles, a, length, arms.rates(v)).force
    assert work.force + work.bias == pytest.approx(arms.torques(pull) + passive_forces(body.skeleton, q, v), abs=1e-9)


def test_wrenches_on_bones_become_joint_forces_as_in_inverse_dynamics(body):
    q, v, a = state(body)
    stepper = BodyStepper(body.skeleton, body.muscles)
    stepper.assemble(q, v, a, 0.0)
    wrench = np.random.default_rng(1).normal(size=(body.n_bones, 6))
    still = np.zeros_like(v)
    expected = inverse_dynamics(body.skeleton, q, still, still) - inverse_dynamics(
        body.skeleton, q, still, still, wrench
    )
    assert stepper.wrench_forces(wrench) == pytest.approx(expected, abs=1e-10)


def test_matrix_is_the_slope_of_the_force():
    """A = M + h D + h^2 K: with M and D taken off, K is minus the derivative of torque by angle on a hinge."""
    b = SkeletonBuilder(gravity=(0, 0, 0))
    b.add_bone("base", joint=Revolute((1.0, 0, 0)), inertia=Inertia.box(1.0, (1, 1, 1)))
    b.add_bone(
        "rod",
        parent="base",
        joint=Revolute((0, 0, 1.0)),
        inertia=Inertia.box(1.0, (1, 0.1, 0.1), (0.5, 0, 0)),
        stiffness=7.0,
        damping=2.0,
    )
    s = b.build()
    builder = MuscleBuilder(s)
    builder.add_muscle("m", [("base", (0.0, 0.4, 0)), ("rod", (0.3, 0.1, 0))], LinearHill(200.0, 0.35, passive=False))
    stepper = BodyStepper(s, builder.build(), held=np.array([True, False]))
    q, v, h = np.array([0.0, 0.3]), np.zeros(2), 0.01
    a = np.array([0.6])
    full = stepper.assemble(q, v, a, h).matrix[0, 0]
    mass = stepper.assemble(q, v, a, 0.0).matrix[0, 0]
    length, arms = moment_arms(stepper.muscles, *world_twists(s, q))
    k = tension(stepper.muscles, a, length, np.zeros(1)).stiffness[0]
    d = tension(stepper.muscles, a, length, np.zeros(1)).damping[0]
    r = arms.dense()[0, 1]
    assert full == pytest.approx(mass + h * (2.0 + d * r**2) + h**2 * (7.0 + k * r**2), rel=1e-12)


def test_a_held_coordinate_does_not_move(body):
    q, v, a = state(body)
    held = np.zeros(body.skeleton.n_v, dtype=bool)
    held[:6] = True
    v[:6] = 0.0
    q_new, v_new = BodyStepper(body.skeleton, body.muscles, held=held).step(q, v, a, 0.002)
    assert v_new[:6] == pytest.approx(0.0, abs=0.0)
    assert q_new[:7] == pytest.approx(q[:7], abs=1e-15)


def test_passive_body_loses_energy_at_steps_of_5_ms(body):
    held = np.zeros(body.skeleton.n_v, dtype=bool)
    held[:6] = True
    stepper = BodyStepper(body.skeleton, body.muscles, held=held)
    q, v, off = body.default_q, np.zeros(body.skeleton.n_v), np.zeros(body.muscles.n_muscles)
    before = energy(body.skeleton, q, v).total
    for _ in range(60):
        q, v = stepper.step(q, v, off, 0.005)
        assert np.isfinite(v).all()
    assert energy(body.skeleton, q, v).total < before


def test_ground_carries_a_block_by_its_weight_and_holds_it_by_friction():
    b = SkeletonBuilder()
    b.add_bone("block", joint=Free(), inertia=Inertia.box(10.0, (0.2, 0.2, 0.2)))
    s = b.build()
    corners = tuple(ball("block", (x, y, -0.09), 0.01) for x in (-0.1, 0.1) for y in (-0.1, 0.1))
    contacts = Contacts(corners, stiffness=1e4, dissipation=2.0, friction=0.5)
    stepper = BodyStepper(s, MuscleBuilder(s).build(), contacts=contacts)
    q, v = s.neutral_q(), np.zeros(6)
    q[2] = 0.1
    push = np.zeros((1, 6))
    for _ in range(1000):
        q, v = stepper.step(q, v, np.zeros(0), 0.002, wrench=push)
    system = stepper.assemble(q, v, np.zeros(0), 0.002)
    assert stepper.contact.forces(system)[2][:, 2].sum() == pytest.approx(98.1, rel=1e-3)
    assert q[2] == pytest.approx(0.1 - 98.1 / 4e4, abs=1e-5)
    push[0, 3] = 60.0  # more than friction can hold: it slides
    for _ in range(250):
        q, v = stepper.step(q, v, np.zeros(0), 0.002, wrench=push)
    assert v[3] == pytest.approx((60.0 - 0.5 * 98.1) / 10.0 * 0.5, rel=0.03)


def test_what_the_step_loses_on_a_spring_is_that_of_backward_euler():
    b = SkeletonBuilder(gravity=(0, 0, 0))
    b.add_bone("weight", joint=Prismatic((1, 0, 0)), inertia=Inertia.box(2.0, (0.1, 0.1, 0.1)), stiffness=50.0)
    s = b.build()
    stepper, book = BodyStepper(s, MuscleBuilder(s).build()), Book.open(["joints", "step"])
    q, v, lost = np.array([0.3]), np.array([0.1]), 0.0
    first = energy(s, q, v).total
    for _ in range(20):
        x, u = q, v
        q, v = stepper.step(q, v, np.zeros(0), 0.01, book=book)
        lost += 0.5 * (2.0 * (v - u)[0] ** 2 + 50.0 * (q - x)[0] ** 2)
    assert book.work["step"] == pytest.approx(-lost, rel=1e-9)
    assert energy(s, q, v).total - first == pytest.approx(sum(book.work.values()), rel=1e-9)


def test_books_count_what_a_bone_holds():
    b = SkeletonBuilder()
    b.add_bone("arm", joint=Revolute((0, 1, 0)), inertia=Inertia.box(1.0, (0.1, 0.1, 0.4), (0, 0, -0.2)))
    s = b.build()
    load = Inertia.box(3.0, (0.1, 0.1, 0.1), (0, 0, -0.4)).flat()[None]
    q, v = np.array([0.4]), np.array([1.5])
    alone, held = energy(s, q, v).total, energy(s, q, v, load=load).total
    turn = 3.0 * (0.4**2 + 0.1**2 / 6.0)
    assert held - alone == pytest.approx(0.5 * turn * 1.5**2 - 3.0 * 9.81 * 0.4 * np.cos(0.4))
