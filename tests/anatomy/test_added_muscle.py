"""A muscle that is in no table, on a body: groups, bellies, exports and controllers take it as one of theirs."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from vitruvian.anatomy import arm, human
from vitruvian.anatomy.bellies import muscle_bellies
from vitruvian.control import ComputedMuscleControl, KeyMotion, pose, strength_tests
from vitruvian.control.rhythm import GROUPS, Rhythm, muscle_groups
from vitruvian.control.strength import strength
from vitruvian.exchange import write_mjcf, write_osim
from vitruvian.muscle import ForceLaw
from vitruvian.systems import BodySystem
from vitruvian.world import World

ELBOW = [("Hu_l", (0.12, 0.02, 0.0)), ("Ul_l", (0.05, 0.01, 0.0))]
TRUNK = [("Pel", (0.002, 0.05, 0.05)), ("T12", (-0.002, 0.05, 0.0))]


@ForceLaw
def straight(activation, length, rate, f_max, rest_length):
    return activation * f_max * length / rest_length


@pytest.fixture(scope="module")
def body():
    return human().with_muscle("odd_l", ELBOW, pcsa=4e-4).with_muscle("odd", TRUNK, pcsa=1e-4)


def test_an_added_muscle_swims_with_the_group_of_its_bones(body):
    groups = muscle_groups(body)
    assert [GROUPS[g] for g in groups[-2:]] == ["left arm", "medial trunk"]
    assert np.array_equal(groups[:-2], muscle_groups(human()))
    rhythm = Rhythm.learn(body, ["crawl"], samples=64)
    assert (len(rhythm.groups), rhythm.baseline.shape) == (862, (1, 862))
    assert rhythm.amplitude[0, -2] > 1e-3  # the elbow bends in a crawl


def test_an_added_muscle_has_a_belly_of_its_volume(body):
    (belly,) = muscle_bellies(body, ["odd_l"])
    assert belly.volume == pytest.approx(4e-4 * body.path_length(ELBOW), rel=0.1)


def test_an_added_muscle_is_exported(body, tmp_path):
    write_mjcf(body, tmp_path / "body.xml", geoms="none")
    root = ET.parse(tmp_path / "body.xml").getroot()
    muscle = root.find("actuator/muscle[@name='odd_l']")
    assert float(muscle.get("force")) == pytest.approx(120.0)
    assert [s.get("site") for s in root.find("tendon/spatial[@name='odd_l']")] == ["odd_l.0", "odd_l.1"]
    write_osim(body, tmp_path / "body.osim")
    found = ET.parse(tmp_path / "body.osim").getroot().find(".//Millard2012EquilibriumMuscle[@name='odd_l']")
    assert float(found.find("max_isometric_force").text) == pytest.approx(120.0)


def test_exports_say_that_a_law_of_ones_own_cannot_be_written_and_use_its_f_max(tmp_path):
    element = straight(f_max=77.0, rest_length=0.2)
    body = arm("left").with_muscle("a", ELBOW, element=element).with_muscle("b", ELBOW, element=element)
    with pytest.warns(UserWarning, match="MJCF cannot hold the force law 'straight' of muscle 'a' and 1 more: written"):
        write_mjcf(body, tmp_path / "body.xml", geoms="none")
    assert float(ET.parse(tmp_path / "body.xml").getroot().find("actuator/muscle[@name='b']").get("force")) == 77.0
    with pytest.warns(UserWarning, match="OSIM cannot hold the force law 'straight' .* as a path actuator"):
        write_osim(body, tmp_path / "body.osim", muscles="actuator")


def test_a_flexor_more_makes_the_elbow_stronger_by_its_torque_and_fewer_make_it_weaker():
    test = next(t for t in strength_tests() if t.movement == "elbow flexion")
    body = arm("left")
    whole = strength(body, test)
    assert strength(body.with_muscle("odd_l", ELBOW, pcsa=4e-4), test) > whole + 1.0
    assert strength(body.without_muscles("brachialis"), test) < whole - 1.0


def test_a_controller_uses_an_added_muscle():
    body = arm("left").with_muscle("odd_l", [("Cla_l", (0.15, 0.06, 0.05)), ("Ul_l", (0.05, -0.02, 0.0))], pcsa=8e-4)
    low = pose(body, {"left arm": {"direction": [0.3, -0.2, -1.0]}, "left elbow": 15})
    motion = KeyMotion.through(body, [0.0, 0.5], [low, pose(body, {"left elbow": 80}, low)])
    simulation = BodySystem(body, low, drawn=False)
    world = World(simulation, ComputedMuscleControl(body, simulation.stepper.twin(), motion), substeps=8)
    world.advance(0.3)
    assert world.state.activation.shape == (65,)
    assert world.state.activation[-1] > 0.01
