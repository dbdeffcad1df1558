"""A skeleton as a simulation: work is booked, drives hold, troubles are named."""

import numpy as np
import pytest

from vitruvian.errors import Diverged, InputError
from vitruvian.skeleton import Inertia, SkeletonBuilder, joints
from vitruvian.spatial import transform
from vitruvian.systems import BonesSystem, Measure, steady_rate
from vitruvian.systems.bones import coordinate_names
from vitruvian.world import Signal


def arm(**second):
    builder = SkeletonBuilder()
    rod = Inertia.cylinder(1.0, 0.02, 0.4, com=(0.0, 0.0, -0.2))
    builder.add_bone("upper", joint=joints.Revolute((0.0, 1.0, 0.0)), inertia=rod)
    builder.add_bone(
        "lower",
        parent="upper",
        placement=(0.0, 0.0, -0.4),
        joint=joints.Revolute((0.0, 1.0, 0.0)),
        inertia=rod,
        **second,
    )
    return builder.build()


def run(simulation, seconds, dt):
    state = simulation.start(np.random.default_rng(0))
    first = simulation.observe(state, None, 0.0).signals["balance"]
    worst = 0.0
    for k in range(round(seconds / dt)):
        simulation.step(state, None, k * dt, dt)
        now = simulation.observe(state, None, (k + 1) * dt)
        worst = max(worst, abs(now.signals["balance"] - first))
    return state, now, worst


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"driven": {"upper": lambda t: (np.sin(3.0 * t), 3.0 * np.cos(3.0 * t), -9.0 * np.sin(3.0 * t))}},
        {"forces": lambda now: np.array([2.0 * np.sin(5.0 * now.time), -0.3 * now.v[1]])},
    ],
)
def test_energy_less_work_stays(given):
    skeleton = arm(stiffness=3.0, damping=0.05, limits=(-0.4, 0.4), limit_stiffness=30.0, limit_damping=0.2)
    _, frame, worst = run(BonesSystem(skeleton, q=np.array([0.0, 0.7]), **given), 2.0, 1e-3)
    assert worst < 5e-5  # limits have a kink, which costs the rule its order
    assert abs(frame.signals["work"]) > 1e-2  # there was something to book


def test_runge_kutta_booking_converges_with_fourth_order():
    skeleton = arm(stiffness=3.0, damping=0.05)
    coarse, fine = (run(BonesSystem(skeleton, q=np.array([1.0, 0.7])), 1.0, dt)[2] for dt in (1e-2, 5e-3))
    assert coarse / fine > 10.0


def test_driven_joint_keeps_its_rate_exactly():
    simulation = BonesSystem(arm(), driven={"upper": steady_rate(0.2, 1.5)})
    state, _, worst = run(simulation, 1.0, 1e-3)
    assert state.q[0] == pytest.approx(1.7, abs=1e-12)
    assert state.v[0] == 1.5
    assert worst < 1e-6


def test_free_body_keeps_its_momentum():
    builder = SkeletonBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_bone("body", joint=joints.Free(), inertia=Inertia.box(2.0, (0.1, 0.2, 0.4)))
    measure = Measure(Signal("L", "kg m²/s", "angular momentum", ("x", "y", "z")), lambda now: now.angular_momentum())
    simulation = BonesSystem(builder.build(), v=np.array([1.0, 2.0, -3.0, 0.1, 0.2, 0.3]), measures=(measure,))
    state = simulation.start(np.random.default_rng(0))
    first = simulation.observe(state, None, 0.0).signals["L"]
    for k in range(500):
        simulation.step(state, None, k * 2e-3, 2e-3)
    assert np.allclose(simulation.observe(state, None, 1.0).signals["L"], first, rtol=1e-7)
    assert np.linalg.norm(state.q[3:]) == pytest.approx(1.0, abs=1e-12)


def test_overflow_names_the_bone():
    skeleton = arm(stiffness=1e9)
    simulation = BonesSystem(skeleton, q=np.array([0.0, 1.0]), integrator="euler")
    state = simulation.start(np.random.default_rng(0))

    def go():
        for k in range(2000):
            simulation.step(state, None, 0.1 * k, 0.1)

    with np.errstate(all="ignore"), pytest.raises(Diverged, match=r"upper|lower"):
        go()


def test_followers_are_shown_but_not_simulated():
    simulation = BonesSystem(arm(), followers={"shadow": lambda now: now.pose("lower") @ transform(None, (1.0, 0, 0))})
    assert simulation.stage().bodies == ("upper", "lower", "shadow")
    frame = simulation.observe(simulation.start(np.random.default_rng(0)), None, 0.0)
    assert frame.poses.shape == (3, 7)
    assert np.allclose(frame.poses[2, :3], (1.0, 0.0, -0.4))


def test_wrong_arguments_are_refused():
    with pytest.raises(InputError, match="integrator"):
        BonesSystem(arm(), integrator="magic")
    with pytest.raises(InputError, match="coordinates"):
        BonesSystem(arm(), q=np.zeros(3))
    with pytest.raises(InputError, match="nobody"):
        BonesSystem(arm(), driven={"nobody": steady_rate(0.0, 1.0)})
    builder = SkeletonBuilder()
    builder.add_bone("ball", joint=joints.Ball(), inertia=Inertia.sphere(1.0, 0.1))
    skeleton = builder.build()
    assert coordinate_names(skeleton) == ("ball 1", "ball 2", "ball 3", "ball 4")
    with pytest.raises(InputError, match="one coordinate"):
        BonesSystem(skeleton, driven={"ball": steady_rate(0.0, 1.0)})
