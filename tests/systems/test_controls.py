"""Controls and what acts on bones are checked where they are made or first met; nothing without effect is taken."""

import numpy as np
import pytest

from vitruvian.anatomy import human
from vitruvian.control import Controls
from vitruvian.couple import BoneStep, Contacts, GroundPlane, JointTorques, SolidBox, StillWater, Wrenches, ball
from vitruvian.errors import InputError
from vitruvian.mesh import sphere
from vitruvian.skeleton import Inertia, SkeletonBuilder, joints
from vitruvian.skin import bind
from vitruvian.systems import BonesSystem, SwimmerSystem, steady_rate

RNG = np.random.default_rng(0)


def rods(n=2):
    builder = SkeletonBuilder()
    for k in range(n):
        parent = {"parent": f"rod {k - 1}", "placement": (0.0, 0.0, -0.5)} if k else {}
        inertia = Inertia.sphere(1.0, 0.1, com=(0, 0, -0.5))
        builder.add_bone(f"rod {k}", joint=joints.Revolute((1, 0, 0)), inertia=inertia, **parent)
    return builder.build()


def test_lists_become_arrays_of_numbers():
    given = Controls(excitation=[0, 1, 0.5], torque=[1, 2], root_force=[0, 0, 0, 1, 2, 3])
    assert given.asked == ("excitation", "torque", "root_force")
    for array, size in ((given.excitation, 3), (given.torque.torque, 2), (given.root_force, 6)):
        assert array.dtype == float
        assert array.shape == (size,)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"excitation": [0.1, np.nan]}, "excitation must be from 0 to 1, got nan"),
        ({"excitation": [0.1, np.inf]}, "excitation must be from 0 to 1, got 0 to inf"),
        ({"root_force": [0, 0, np.nan, 0, 0, 0]}, "root_force must be six finite numbers"),
        ({"root_force": [0.0, 0.0, 1.0]}, "root_force must be six finite numbers"),
        ({"root_force": np.zeros((1, 6))}, "root_force must be six finite numbers"),
        ({"excitation": [-0.1, 0.2]}, "excitation must be from 0 to 1, got -0.1"),
        ({"excitation": [0.0, 2.0]}, "excitation must be from 0 to 1, got 0 to 2"),
        ({"course": np.zeros(3)}, "course must be a JointCourse, not ndarray"),
    ],
)
def test_controls_that_make_no_sense_are_refused_when_they_are_made(given, words):
    with pytest.raises(InputError, match=words):
        Controls(**given)


@pytest.mark.parametrize("name", ["stiffness", "damping"])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (-1.0, "must not be negative or NaN"),
        ([1.0, -1e-3], "must not be negative or NaN"),
        ([1.0, np.nan], "must not be negative or NaN"),
        ([1.0, 2.0, 3.0], r"has shape \(3,\), the torque \(2,\)"),
        ([[1.0, 2.0]], r"has shape \(1, 2\), the torque \(2,\)"),
    ],
)
def test_torques_that_would_drive_themselves_are_refused(name, value, words):
    with pytest.raises(InputError, match=f"{name} {words}"):
        JointTorques(np.zeros(2), **{name: value})


def test_torques_know_whether_they_are_stiff():
    assert not JointTorques([1.0, 2.0]).stiff
    assert not JointTorques([1.0, 2.0], [0.0, 0.0], 0.0).stiff
    assert JointTorques([1.0, 2.0], [0.0, 1.0]).stiff
    assert JointTorques([1.0, 2.0], damping=0.1).stiff


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"stiffness": -1.0}, "stiffness must be finite"),
        ({"dissipation": np.inf}, "dissipation must be finite"),
        ({"friction": np.nan}, "friction must be finite"),
        ({"creep": 0.0}, "creep must be positive"),
        ({"pairs": np.array([[0, 2]])}, "must name two of 2 shapes"),
        ({"pairs": np.zeros(2, int)}, "must name two of 2 shapes"),
    ],
)
def test_contacts_that_make_no_sense_are_refused(given, words):
    with pytest.raises(InputError, match=words):
        Contacts((ball("rod 0", (0, 0, 0), 0.1), ball("rod 1", (0, 0, 0), 0.1)), **given)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ball("rod 0", (0, 0, 0), -0.1), "'rod 0': radii must not be negative"),
        (lambda: ball("rod 0", (0, 0, np.nan), 0.1), "'rod 0': needs two ends"),
        (lambda: GroundPlane(normal=(0, 0, 0)), "a normal that is not zero"),
        (lambda: SolidBox((0, 0, 0), (0.1, 0.0, 0.1)), "positive half edges"),
    ],
)
def test_contact_shapes_that_make_no_sense_are_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()


@pytest.mark.parametrize("shape", [(1, 6), (2, 3), (6,), (3, 6)])
def test_wrenches_of_a_wrong_shape_are_refused(shape):
    with pytest.raises(InputError, match=r"2 bones need \(2, 6\)"):
        BoneStep(rods()).assemble(np.zeros(2), np.zeros(2), 0.01, [Wrenches(np.ones(shape))])


def test_a_torque_on_a_driven_joint_is_refused_and_on_another_taken():
    system = BonesSystem(rods(), driven={"rod 0": steady_rate(0.0, 1.0)})
    state = system.start(RNG)
    with pytest.raises(InputError, match="joint that is driven has no effect"):
        system.step(state, Controls(torque=[1.0, 0.0]), 0.0, 0.001)
    system.step(state, Controls(torque=[0.0, 5.0]), 0.0, 0.001)
    assert state.v[1] > 0.0


def test_a_swimmer_without_muscles_takes_torques_and_no_excitation():
    body = human()
    s = body.skeleton
    x, faces = sphere(0.2, subdivisions=1)
    skin = bind(s, body.default_q, np.asarray(x), np.asarray(faces), ("T6",), np.ones((len(x), 1)))
    system = SwimmerSystem(body, skin, water=StillWater(), muscles=False, drawn=False)
    state = system.start(RNG)
    with pytest.raises(InputError, match="'excitation'; it honours: torque, course"):
        system.step(state, Controls(excitation=np.zeros(body.muscles.n_muscles)), 0.0, 0.005)
    system.step(state, Controls(torque=np.zeros(s.n_v)), 0.0, 0.005)
    with pytest.raises(InputError, match="root_force"):
        system.step(state, Controls(root_force=np.ones(6)), 0.0, 0.005)
