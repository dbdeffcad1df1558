"""Contact: geometry against brute force, the law against its own slope, momentum, energy, rest and slip."""

import numpy as np
import pytest

from vitruvian.couple import BodyStepper, Book, Contacts, GroundPlane, RoundCone, SolidBox, ball, pairs_apart
from vitruvian.couple.contact_shapes import between, box_distance, nearest
from vitruvian.couple.contact_solve import Law, _impulse, _slope, normal_impulse
from vitruvian.muscle import MuscleBuilder
from vitruvian.skeleton import Inertia, SkeletonBuilder, centroidal_momentum, energy, mass_matrix
from vitruvian.skeleton.joints import Free, Revolute

RNG = np.random.default_rng(4)
H = 1 / 480


def free_ball(n=1, gravity=(0.0, 0.0, -9.81)):
    b = SkeletonBuilder(gravity)
    for i in range(n):
        b.add_bone(f"ball {i}", joint=Free(), inertia=Inertia.sphere(2.0, 0.1))
    return b.build()


def stepper(s, contacts):
    return BodyStepper(s, MuscleBuilder(s).build(), contacts=contacts)


def run(step, q, v, seconds, dt=H, book=None, wrench=None):
    for _ in range(round(seconds / dt)):
        q, v = step.step(q, v, np.zeros(0), dt, book=book, wrench=wrench)
    return q, v


def test_the_nearest_points_of_two_rounded_cones_are_those_of_a_fine_search():
    x = np.linspace(0.0, 1.0, 401)
    for _ in range(20):
        p, q = RNG.uniform(-0.3, 0.3, (2, 3)), np.array([0.4, 0.0, 0.0]) + RNG.uniform(-0.3, 0.3, (2, 3))
        rp, rq = RNG.uniform(0.01, 0.08, 2), RNG.uniform(0.01, 0.08, 2)

        def gap(s, t, p=p, q=q, rp=rp, rq=rq):
            d = p[0] + s[..., None] * (p[1] - p[0]) - q[0] - t[..., None] * (q[1] - q[0])
            return np.linalg.norm(d, axis=-1) - rp[0] - s * (rp[1] - rp[0]) - rq[0] - t * (rq[1] - rq[0])

        s, t, _ = between(p, q)
        s, t = nearest(p, rp, q, rq, s, t)
        assert gap(np.array(s), np.array(t)) <= gap(*np.meshgrid(x, x)).min() + 1e-8


def test_the_normal_of_a_box_is_the_gradient_of_its_distance():
    box = np.array([0.1, 0.2, 0.3, 0.2, 0.1, 0.3, np.cos(0.4), np.sin(0.4)])
    n, other = np.zeros(3), np.zeros(3)
    for x in RNG.uniform(-0.6, 0.8, (30, 3)):
        box_distance(box, x, n)
        slope = [(box_distance(box, x + e, other) - box_distance(box, x - e, other)) / 2e-6 for e in 1e-6 * np.eye(3)]
        assert n == pytest.approx(slope, abs=1e-6)


def test_the_slope_of_the_law_is_that_of_finite_differences_and_positive():
    law = Law(1e4, 5.0, 0.7, 1e-2)
    normal = np.array([0.0, 0.6, 0.8])
    slope, out = np.zeros((3, 3)), np.zeros(3)
    for u in RNG.uniform(-0.05, 0.05, (20, 3)):
        speed = float(u @ normal)
        bound = law.friction * normal_impulse(law, 0.01, -1e-3, speed)[0]
        _slope(law, 0.01, -1e-3, normal, bound, u, slope)
        for k in range(3):
            ends = []
            for sign in (1.0, -1.0):
                moved = u.copy()
                moved[k] += sign * 1e-7
                _impulse(law, 0.01, -1e-3, normal, bound, moved, out)
                ends.append(out.copy())
            assert slope[:, k] == pytest.approx((ends[1] - ends[0]) / 2e-7, rel=1e-5, abs=1e-5 * np.abs(slope).max())
        assert np.linalg.eigvalsh(slope).min() >= -1e-12


def test_a_fast_ball_is_stopped_at_the_ground_and_does_not_bounce_or_sink():
    s = free_ball()
    step = stepper(s, Contacts((ball("ball 0", (0, 0, 0), 0.1),)))
    q, v = s.neutral_q(), np.zeros(6)
    q[2], v[5] = 0.5, -20.0  # 42 mm a step
    deepest, before = 0.0, np.inf
    for _ in range(960):
        q, v = step.step(q, v, np.zeros(0), H)
        deepest = max(deepest, 0.1 - q[2])
        now = energy(s, q, v).total + 0.5 * 3e5 * max(0.0, 0.1 - q[2]) ** 2
        assert now <= before + 1e-9
        before = now
    assert deepest < 0.005
    assert q[2] == pytest.approx(0.1 - 2.0 * 9.81 / 3e5, abs=1e-7)


@pytest.mark.parametrize(("friction", "slides"), [(0.6, False), (0.3, True)])
def test_a_block_on_a_slope_holds_below_the_angle_of_friction_and_slides_above_it(friction, slides):
    angle = np.radians(25.0)  # tan 0.466
    b = SkeletonBuilder((9.81 * np.sin(angle), 0.0, -9.81 * np.cos(angle)))
    b.add_bone("block", joint=Free(), inertia=Inertia.box(10.0, (0.4, 0.4, 0.02)))
    s = b.build()
    feet = tuple(ball("block", (x, y, 0.0), 0.01) for x in (-0.2, 0.2) for y in (-0.2, 0.2))
    step = stepper(s, Contacts(feet, friction=friction))
    q, v = s.neutral_q(), np.zeros(6)
    q[2] = 0.01
    q, v = run(step, q, v, 1.0)
    if slides:
        assert v[3] == pytest.approx(9.81 * (np.sin(angle) - friction * np.cos(angle)), rel=0.01)
    else:
        assert abs(v[3]) < 1.3e-3  # it creeps


def test_two_balls_that_meet_keep_their_momentum_and_lose_energy():
    s = free_ball(2, (0.0, 0.0, 0.0))
    shapes = (ball("ball 0", (0, 0, 0), 0.1), ball("ball 1", (0, 0, 0), 0.1))
    pairs = np.array([[0, 1]])
    step = stepper(s, Contacts(shapes, planes=(), pairs=pairs, friction=0.0))
    q, v = s.neutral_q(), np.zeros(12)
    q[:3], q[7:10] = (-0.3, 0.02, 0.01), (0.3, -0.03, 0.0)
    v[3], v[9] = 2.0, -1.0
    before, first = centroidal_momentum(s, q, v), energy(s, q, v).total
    q, v = run(step, q, v, 0.5)
    after = centroidal_momentum(s, q, v)
    assert after[3:] == pytest.approx(before[3:], abs=1e-10)
    assert after[:3] == pytest.approx(before[:3], abs=0.01)  # the point at which they push moves within a step
    assert energy(s, q, v).total < first - 1.0
    assert np.linalg.norm(q[:3] - q[7:10]) > 0.195


def test_a_ball_rests_on_a_box_and_a_capsule_of_the_world_holds_it_back():
    s = free_ball()
    wall = RoundCone(None, (0.3, -1.0, 0.6), (0.3, 1.0, 0.6), (0.1, 0.1))
    shapes = (ball("ball 0", (0, 0, 0), 0.1), wall)
    pairs = pairs_apart(s, shapes, s.neutral_q())
    step = stepper(s, Contacts(shapes, planes=(), boxes=(SolidBox((0, 0, 0.25), (1.0, 0.5, 0.25)),), pairs=pairs))
    q, v = s.neutral_q(), np.zeros(6)
    q[2], v[3] = 0.62, 1.0
    q, v = run(step, q, v, 2.0)
    assert q[2] == pytest.approx(0.6, abs=1e-3)
    assert q[0] < 0.101
    assert np.abs(v).max() < 0.02


def test_what_a_step_gains_is_what_all_impulses_worked_in_it():
    """½ (v⁺ + v) M (v⁺ - v) is the work of contact, weight and joints together, to rounding, in every step."""
    b = SkeletonBuilder()
    b.add_bone("trunk", joint=Free(), inertia=Inertia.box(5.0, (0.3, 0.1, 0.1)))
    for i, side in enumerate((-1.0, 1.0)):
        b.add_bone(
            f"leg {i}", parent="trunk", joint=Revolute((0, 1, 0)), placement=(0.15 * side, 0, 0),
            inertia=Inertia.box(1.0, (0.05, 0.05, 0.3), (0, 0, -0.15)), stiffness=5.0, damping=0.1,
        )  # fmt: skip
    s = b.build()
    shapes = [ball("trunk", (0, 0, 0), 0.06)]
    shapes += [RoundCone(f"leg {i}", (0, 0, -0.05), (0, 0, -0.3), (0.03, 0.02)) for i in range(2)]
    pairs = np.array([[1, 2]])
    step = stepper(s, Contacts(tuple(shapes), pairs=pairs))
    q, v = s.neutral_q(), np.zeros(s.n_v)
    q[2], v[0], v[6], v[7] = 0.4, 0.5, 3.0, -3.0
    touched = 0
    for _ in range(600):
        book = Book.open(["contact", "joints"])
        M = mass_matrix(s, q)
        system = step.assemble(q, v, np.zeros(0), H)
        after_q, after = step.bones.solve(system)
        touched += step.contact.count > 0
        system.book_work(book, after)
        middle, gained = 0.5 * (v + after), after - v
        k = s.forces.stiffness
        springs = -float((k * (np.r_[np.zeros(6), q[-2:]] + H * after)) @ middle) * H
        weight = -float(system.bias @ middle) * H
        assert gained @ M @ middle == pytest.approx(
            book.work["contact"] + book.work["joints"] + springs + weight, abs=1e-8
        )
        q, v = after_q, after
    assert touched > 200


def test_a_ball_over_a_slope_meets_it_along_its_normal():
    s = free_ball(gravity=(0.0, 0.0, 0.0))
    normal = np.array([0.6, 0.0, 0.8])
    step = stepper(
        s, Contacts((ball("ball 0", (0, 0, 0), 0.1),), planes=(GroundPlane((0, 0, 0), tuple(normal)),), friction=0.0)
    )
    q, v = s.neutral_q(), np.zeros(6)
    q[:3] = 0.3 * normal
    v[3:] = -2.0 * normal + [0.8, 0.0, -0.6]
    q, v = run(step, q, v, 0.5)
    assert abs(v[3:] @ normal) < 0.06
    assert v[3:] @ [0.8, 0.0, -0.6] == pytest.approx(1.0, abs=1e-9)


def test_the_force_felt_in_a_step_is_what_changed_the_momentum():
    """Of a ball that lands sliding; measures assemble systems of their own before they ask."""
    s = free_ball()
    step = stepper(s, Contacts((ball("ball 0", (0, 0, 0), 0.1),), planes=(GroundPlane(),)))
    q, v = s.neutral_q(), np.zeros(s.n_v)
    q[2], v[3], v[5] = 0.102, 1.0, -1.0
    pushed = 0.0
    for _ in range(20):
        before = s.mass * centre_rate(s, q, v)
        q, v = step.step(q, v, np.zeros(0), H)
        step.assemble(q, v, np.zeros(0), 1e-6)
        step.contact.near(np.eye(4)[None])
        bones, points, forces = step.contact.felt()
        total = forces.sum(axis=0) + s.mass * s.gravity
        gained = s.mass * centre_rate(s, q, v) - before  # of a ball that turns within the step: to first order
        assert gained == pytest.approx(H * total, abs=0.1 * H * (float(np.linalg.norm(total)) + 0.1 * s.mass * 9.81))
        assert len(bones) == len(points) == len(forces)
        pushed = max(pushed, float(np.hypot(*forces.sum(axis=0)[:2])))
    assert pushed > 1.0  # friction took part


def centre_rate(s, q, v):
    return np.asarray(centroidal_momentum(s, q, v))[3:] / s.mass
