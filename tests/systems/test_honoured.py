"""A control that a system does not honour is an error that names it; nothing is ignored."""

import numpy as np
import pytest

from vitruvian.anatomy import arm, human
from vitruvian.control import Controls, honoured
from vitruvian.couple import JointCourse, JointTorques
from vitruvian.errors import InputError
from vitruvian.flesh import box_lattice, build_flesh, preset
from vitruvian.skeleton import Inertia, SkeletonBuilder, joints
from vitruvian.systems import BodySystem, BonesSystem, TankSystem, TissueSystem
from vitruvian.water import Tank

RNG = np.random.default_rng(0)


def rod():
    builder = SkeletonBuilder()
    builder.add_bone("rod", joint=joints.Revolute((1, 0, 0)), inertia=Inertia.sphere(1.0, 0.1, com=(0, 0, -1.0)))
    return builder.build()


def block():
    lattice = box_lattice((2, 2, 2), 0.05)
    return build_flesh(lattice, preset("soft"), fixed=lattice.nodes[:, 2] < 1e-9)


SYSTEMS = {
    "a mechanism": (lambda: BonesSystem(rod()), "excitation"),
    "this body": (lambda: BodySystem(arm("left"), drawn=False), "course"),
    "tissue by itself": (lambda: TissueSystem(block()), "torque"),
    "a tank": (lambda: TankSystem(Tank((8, 8, 8), 0.1, rest_level=0.4)), "root_force"),
}
GIVEN = {
    "excitation": np.zeros(3),
    "torque": np.zeros(3),
    "course": JointCourse(lambda time: np.zeros(3)),
    "root_force": np.zeros(6),
}


@pytest.mark.parametrize("who", SYSTEMS)
def test_a_control_that_is_not_honoured_is_an_error_with_its_name(who):
    make, field = SYSTEMS[who]
    system = make()
    state = system.start(RNG)
    with pytest.raises(InputError, match=rf"{who} does not honour the control '{field}'; it honours: "):
        system.step(state, Controls(**{field: GIVEN[field]}), 0.0, 0.01)


def test_a_fixed_pelvis_takes_no_force_and_a_free_one_does():
    body = human()
    push = Controls(root_force=np.array([0.0, 0.0, 0.0, 0.0, 0.0, 2.0 * 9.81 * body.skeleton.mass]))
    held = BodySystem(body, drawn=False)
    with pytest.raises(InputError, match="control 'root_force'; it honours: excitation, reflex, torque"):
        held.step(held.start(RNG), push, 0.0, 0.002)
    free = BodySystem(body, pelvis="free", drawn=False)
    state = free.start(RNG)
    free.step(state, push, 0.0, 0.002)
    assert state.v[5] > 0.0


def test_joint_torques_move_a_body_as_its_matrix_says():
    body = arm("left")
    system = BodySystem(body, drawn=False)
    torque = np.zeros(body.skeleton.n_v)
    at = body.skeleton.v_slice("Ul_l").start
    torque[at] = 3.0
    plain, turned = system.start(RNG), system.start(RNG)
    system.step(plain, None, 0.0, 0.001)
    A = system.stepper.assemble(turned.q, turned.v, turned.activation, 0.001).full_matrix()
    system.step(turned, Controls(torque=torque), 0.0, 0.001)
    expected = np.linalg.solve(A[np.ix_(system.stepper.free, system.stepper.free)], 0.001 * torque[system.stepper.free])
    assert (turned.v - plain.v)[system.stepper.free] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("controls", "words"),
    [
        ({"excitation": np.zeros(2)}, r"excitation has shape \(2,\), 3 muscles need \(3,\)"),
        ({"torque": np.zeros(7)}, r"torque has shape \(7,\), the joints need \(5,\)"),
    ],
)
def test_controls_of_a_wrong_size_are_told(controls, words):
    with pytest.raises(InputError, match=words):
        honoured(Controls(**controls), ("excitation", "torque"), "a body", n_muscles=3, n_v=5)


def test_something_else_in_place_of_controls_is_told():
    with pytest.raises(InputError, match=r"a body takes Controls .*, not ndarray"):
        honoured(np.zeros(3), ("excitation",), "a body")


def test_no_controls_ask_for_nothing_and_torques_are_wrapped():
    assert honoured(None, (), "a tank").asked == ()
    assert isinstance(Controls(torque=np.ones(2)).torque, JointTorques)


def test_a_mechanism_refuses_stiff_torques_that_it_would_step_explicitly():
    system = BonesSystem(rod())
    stiff = Controls(torque=JointTorques(np.zeros(1), stiffness=10.0))
    with pytest.raises(InputError, match="stepped explicitly"):
        system.step(system.start(RNG), stiff, 0.0, 0.01)
