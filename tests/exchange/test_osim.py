"""Exported OSIM: well-formed without OpenSim, and with it the same muscle lengths and moment arms."""

import xml.etree.ElementTree as ET
from types import SimpleNamespace

import numpy as np
import pytest

from vitruvian.anatomy import arm, human, legs
from vitruvian.errors import InputError
from vitruvian.exchange import write_osim
from vitruvian.exchange.agreement import osim_agreement, random_poses
from vitruvian.exchange.osim_coordinates import coordinate_names, coordinate_values, moment_arm_map
from vitruvian.exchange.peers import opensim_model
from vitruvian.muscle import LinearHill, MuscleBuilder, moment_arms
from vitruvian.skeleton import Inertia, SkeletonBuilder, difference, integrate, world_twists
from vitruvian.skeleton.joints import Ball, Cylindrical, Elliptic, Fixed, Free, Planar, Prismatic, Revolute, Universal
from vitruvian.spatial import rotation_about, transform


def chain(*joints):
    builder = SkeletonBuilder()
    last = None
    for k, joint in enumerate(joints):
        inertia = Inertia(1.0 + k, (0.01 * k, 0.02, -0.05), np.diag([0.02, 0.03, 0.04]))
        tilt = transform(rotation_about((0.6, 0.0, 0.8), 0.3 * k), (0.1, 0.02 * k, -0.2))
        builder.add_bone(f"b{k}", parent=last, joint=joint, placement=tilt, inertia=inertia)
        last = f"b{k}"
    skeleton = builder.build()
    muscles = MuscleBuilder(skeleton)
    middle = f"b{len(joints) // 2}"
    points = [("b0", (0.0, 0.05, 0.0)), (middle, (0.03, 0.0, -0.1)), (last, (0.0, 0.02, -0.1))]
    muscles.add_muscle("m", points, LinearHill(100.0, 0.3))
    return SimpleNamespace(name="chain", skeleton=skeleton, muscles=muscles.build(), default_q=skeleton.neutral_q())


ROTATING = (Free(), Ball(), Revolute((0.0, 0.6, 0.8)), Universal((1.0, 0.0, 0.0), (0.0, 0.8, 0.6)), Fixed())
SLIDING = (Fixed(), Prismatic((0.0, 0.6, 0.8)), Cylindrical((0.6, 0.8, 0.0)), Planar((0.0, 0.6, 0.8)), Ball())


def test_velocities_follow_from_the_rates_of_its_coordinates():
    """Finite differences: moving along v changes OpenSim's coordinates by E⁻¹ v."""
    body = chain(*ROTATING)
    skeleton, h = body.skeleton, 1e-6
    rng = np.random.default_rng(3)
    for q in random_poses(body, 3):
        v = rng.standard_normal(skeleton.n_v)
        ahead, behind = (coordinate_values(skeleton, integrate(skeleton, q, s * v, h)) for s in (1.0, -1.0))
        assert np.allclose(moment_arm_map(skeleton, q) @ (ahead - behind) / (2.0 * h), v, atol=1e-7)
        assert np.allclose(difference(skeleton, q, integrate(skeleton, q, v, h)) / h, v, atol=1e-6)


def test_file_has_every_bone_joint_and_muscle(tmp_path):
    body = human(paths="documents")
    write_osim(body, tmp_path / "human.osim")
    model = ET.parse(tmp_path / "human.osim").getroot().find("Model")
    assert len(model.findall("BodySet/objects/Body")) == 103
    assert len(model.findall("JointSet/objects/CustomJoint")) + len(model.findall("JointSet/objects/WeldJoint")) == 103
    assert len(model.findall("ForceSet/objects/Millard2012EquilibriumMuscle")) == 846
    assert len(model.findall(".//Coordinate")) == len(coordinate_names(body.skeleton)) == 163


def test_a_joint_that_cannot_be_written_is_named_or_held(tmp_path):
    body = chain(Fixed(), Ball(), Elliptic(0.1, 0.05))
    with pytest.raises(InputError, match="Elliptic joint of bone 'b2'"):
        write_osim(body, tmp_path / "a.osim")
    write_osim(body, tmp_path / "a.osim", hold=True)
    assert (tmp_path / "a.osim").read_text().count("<Coordinate ") == 3


def test_unknown_muscles_are_refused(tmp_path):
    with pytest.raises(InputError, match="muscles must be one of muscle, actuator"):
        write_osim(chain(*ROTATING), tmp_path / "a.osim", muscles="steam")


@pytest.mark.parametrize("joints", [ROTATING, SLIDING])
def test_opensim_agrees_for_every_joint_that_is_written(joints):
    pytest.importorskip("opensim")
    found = osim_agreement(chain(*joints), 5)
    assert max(found.values()) < 1e-12, found


def test_opensim_agrees_for_the_arm():
    pytest.importorskip("opensim")
    found = osim_agreement(arm("left", paths="documents"), 40)
    assert max(found.values()) < 1e-12, found


def test_path_actuators_load_too(tmp_path):
    opensim = pytest.importorskip("opensim")
    body = arm("right", paths="documents")
    write_osim(body, tmp_path / "arm.osim", muscles="actuator")
    model = opensim.Model(str(tmp_path / "arm.osim"))
    model.initSystem()
    assert model.getActuators().getSize() == body.muscles.n_muscles


def test_the_quadriceps_rides_on_the_patella_in_opensim():
    """Lengths and moment arms at the knee with a point that moves with its angle."""
    pytest.importorskip("opensim")
    body = legs()
    s, knee = body.skeleton, body.skeleton.v_slice("Tfp_l").start
    _, model, state = opensim_model(body)
    for angle in (0.0, 60.0, 100.0):
        q = body.default_q.copy()
        q[s.q_slice("Tfp_l")] = np.radians(angle)
        coordinate = model.getCoordinateSet().get("Tfp_l_angle")
        coordinate.setValue(state, np.radians(angle))
        model.realizePosition(state)
        length, arms = moment_arms(body.muscles, *world_twists(s, q))
        for name in ("rectus_femoris_01_l", "vastus_01_l", "vastus_03_l"):
            m = body.muscles.index(name)
            assert model.getMuscles().get(name).getLength(state) == pytest.approx(length[m], abs=1e-3)
            arm = -model.getMuscles().get(name).computeMomentArm(state, coordinate)
            assert arm == pytest.approx(arms.dense()[m, knee], abs=1.5e-3)
