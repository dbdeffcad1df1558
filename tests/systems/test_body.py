"""A body under torques and a hand at its pelvis: what each does, and where it is booked. Two bones, no gravity."""

import numpy as np
import pytest

from vitruvian.anatomy import Body
from vitruvian.control import Controls
from vitruvian.couple import JointTorques
from vitruvian.errors import InputError
from vitruvian.muscle import MuscleBuilder
from vitruvian.skeleton import Inertia, SkeletonBuilder, centroidal_momentum, joints, mass_matrix
from vitruvian.systems import BodySystem, Push

DT = 0.01
RNG = np.random.default_rng(0)


def body():
    builder = SkeletonBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_bone("trunk", joint=joints.Free(), inertia=Inertia.box(4.0, (0.3, 0.2, 0.2)))
    rod = Inertia.cylinder(0.5, 0.03, 0.2, com=(0.1, 0.0, 0.0))
    builder.add_bone("arm", parent="trunk", joint=joints.Revolute((0, 0, 1)), placement=(0.15, 0, 0), inertia=rod)
    s = builder.build()
    names = (*(f"trunk {n}" for n in range(6)), "arm angle")
    driven = np.array([False] * 6 + [True])
    return Body("two bones", s, MuscleBuilder(s).build(), driven, names, np.zeros(2, int), {}, {})


def stepped(system, controls, steps=1):
    state = system.start(RNG)
    for n in range(steps):
        system.step(state, controls, n * DT, DT)
    return state


FORCE = np.array([0.1, -0.2, 0.3, 5.0, -3.0, 2.0])
TORQUE = np.array([0.0] * 6 + [0.4])


def test_a_force_on_the_root_acts_beside_a_torque():
    system = BodySystem(body(), pelvis="free", drawn=False)
    both = stepped(system, Controls(torque=TORQUE, root_force=FORCE)).v
    M = mass_matrix(system.skeleton, system.q0)
    expected = np.linalg.solve(M, DT * (TORQUE + np.append(FORCE, 0.0)))
    assert both == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert centroidal_momentum(system.skeleton, system.q0, both)[3:] == pytest.approx(DT * FORCE[3:], rel=1e-9)


def test_a_force_on_the_root_is_booked_as_a_push_and_a_torque_as_drive():
    system = BodySystem(body(), pelvis="free", drawn=False, books=True)
    state = stepped(system, Controls(torque=TORQUE, root_force=FORCE))
    work = np.array([state.book.work[name] for name in ("drive", "push", "joints", "links", "flesh")])
    middle = 0.5 * state.v
    drive, push = DT * TORQUE @ middle, DT * FORCE @ middle[:6]
    assert work == pytest.approx([drive, push, 0.0, 0.0, 0.0], rel=1e-9, abs=1e-15)
    assert min(abs(drive), abs(push)) > 1e-4
    kinetic = 0.5 * state.v @ mass_matrix(system.skeleton, system.q0) @ state.v
    assert work.sum() == pytest.approx(kinetic, rel=1e-9)


def test_a_push_on_a_bone_acts_beside_a_force_on_the_root():
    system = BodySystem(body(), pelvis="free", drawn=False, pushes=[Push("arm", (0.0, 1.0, 0.0), 0.0, 1.0)])
    v = stepped(system, Controls(root_force=FORCE)).v
    gained = centroidal_momentum(system.skeleton, system.q0, v)[3:]
    assert gained == pytest.approx(DT * (FORCE[3:] + np.array([0.0, 1.0, 0.0])), rel=1e-9)


@pytest.mark.parametrize(("k", "d"), [(30.0, 0.0), (0.0, 0.4), (30.0, 0.4)])
def test_a_torque_gives_way_by_its_stiffness_and_damping_within_a_step(k, d):
    system = BodySystem(body(), drawn=False)
    inertia = mass_matrix(system.skeleton, system.q0)[6, 6]
    state = stepped(system, Controls(torque=JointTorques(TORQUE, k, d)))
    expected = DT * 0.4 / (inertia + DT * d + DT**2 * k)
    assert state.v[6] == pytest.approx(expected, rel=1e-9)
    assert not state.v[:6].any()
    assert expected < 0.8 * DT * 0.4 / inertia  # else it would not be seen


def test_a_torque_on_a_held_coordinate_is_told_by_its_name():
    held = np.array([True] + [False] * 6)
    with pytest.raises(InputError, match="trunk 0, which is held still"):
        stepped(BodySystem(body(), drawn=False), Controls(torque=np.eye(7)[0]))
    with pytest.raises(InputError, match="trunk 0, which is held still"):
        stepped(BodySystem(body(), pelvis="free", still=held, drawn=False), Controls(torque=np.eye(7)[0]))
    stepped(BodySystem(body(), pelvis="free", drawn=False), Controls(torque=np.eye(7)[0]))
    with pytest.raises(InputError, match="pelvis must be fixed or free"):
        BodySystem(body(), pelvis="loose", drawn=False)
