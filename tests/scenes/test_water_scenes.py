from types import SimpleNamespace

import numpy as np
import pytest

from vitruvian import scenes
from vitruvian.errors import InputError
from vitruvian.mesh import sphere
from vitruvian.mesh.mannequin import mannequin
from vitruvian.scenes.dam_break import MARTIN_MOYCE, WIDTH, compare_front
from vitruvian.scenes.float import ball_draught
from vitruvian.scenes.slosh import exact_period
from vitruvian.scenes.tow import TowingSpeeds, frontal_area, shape
from vitruvian.scenes.vessel import BOX, draught

SMALL = {
    "slosh": {"cells": 16},
    "dam-break": {"cells": 6},
    "float": {"cells": 20},
    "drop": {"cells": 20},
    "paddle": {"cells": 24},
    "tow": {"cells": 30},
    "vessel": {"cells": 20},
}


def built(name, **options):
    scene = scenes.find(name)
    parameters = {key: p.default for key, p in scene.parameters.items()} | SMALL[name] | options
    return scene.build(parameters)


@pytest.mark.parametrize("name", sorted(SMALL))
def test_scene_starts_steps_and_shows_a_surface_without_losing_water(name):
    world = built(name)
    for _ in range(2):
        world.step()
    frame = world.observe()
    stage = world.stage()
    assert len(frame.surfaces["water"].faces) > 100
    assert frame.poses.shape == (len(stage.bodies), 7)
    assert set(frame.signals) == {s.name for s in stage.signals}
    if name != "tow":
        assert abs(frame.signals["volume_error"]) < 1e-3


@pytest.mark.parametrize("name", ["drop", "vessel"])
def test_a_resumed_tank_gives_the_same_bits(name):
    from vitruvian.world.state import flatten_state, unflatten_state

    world, other = built(name), built(name)
    for _ in range(3):
        world.step()
    other.start()
    other.state = unflatten_state(other.state, flatten_state(world.state))
    other.step_index = world.step_index
    world.step()
    other.step()
    assert np.array_equal(world.state.water.u, other.state.water.u)
    assert np.array_equal(world.state.water.markers, other.state.water.markers)


def test_the_towed_window_moves_with_the_body():
    world = built("tow", ramp=0.05, speeds="3")
    for _ in range(6):
        world.step()
    place = world.state.bodies.position[0, 0]
    middle = world.state.water.origin[0] + 0.5 * world.simulation.tank.size[0]
    assert place < -0.3
    assert abs(place - middle) < 2.5 * world.simulation.tank.cell


def test_a_vessel_floats_no_deeper_than_its_rim():
    lift = scenes.find("vessel").parameters["lift"].default
    assert draught(0.5 * BOX[0] * BOX[1] * BOX[2] * 1000.0) == pytest.approx(0.5 * BOX[2])
    world = built("vessel", load=60.0)  # too much for it: let go with its rim at the surface
    world.start()
    skin = world.simulation.mechanism.skins(world.state.bodies)[0]
    assert skin.vertices[:, 2].max() == pytest.approx(lift, abs=1e-9)


def test_half_dense_ball_has_half_its_diameter_as_draught():
    assert ball_draught(0.5, 0.3) == pytest.approx(0.3)
    d = ball_draught(0.2, 1.0)
    assert np.pi * d**2 * (3.0 - d) / 3.0 == pytest.approx(0.2 * 4.0 / 3.0 * np.pi)


def test_a_ball_heavier_than_water_is_let_go_drowned():
    assert ball_draught(1.5, 0.3) == pytest.approx(0.6)
    assert ball_draught(1.0, 0.3) == pytest.approx(0.6)


@pytest.mark.parametrize(("height", "force", "floats"), [(0.0, 1.0, True), (-0.32, 0.62, False)])
def test_a_box_that_lies_on_the_floor_does_not_pass_as_afloat(height, force, floats):
    scene = scenes.find("float")
    parameters = {key: p.default for key, p in scene.parameters.items()} | {"shape": "box", "lift": 0.0, "cells": 24}
    world = scene.build(parameters)
    n, weight = 8, 0.5 * 1000.0 * 9.81 * 0.5 * 0.3 * 0.2
    signals = {"height": np.full(n, height), "volume_error": np.zeros(n), "force": np.zeros((n, 3))}
    signals["force"][:, 2] = force * weight
    poses = np.zeros((n, 1, 7))
    poses[:, 0, 2], poses[:, 0, 3] = height, 1.0
    recording = SimpleNamespace(time=np.arange(n) / 30.0, signals=signals, poses=poses, stage=world.stage())
    assert all(scene.check(recording, parameters).checks.values()) is floats


def tow_report(seconds, drag, **options):
    scene = scenes.find("tow")
    parameters = {key: p.default for key, p in scene.parameters.items()} | options
    time = np.arange(round(30 * seconds)) / 30.0
    speed = np.array([TowingSpeeds.of(parameters).at(t)[1] for t in time])
    signals = {"drag": np.stack([drag(speed), speed], axis=1)}
    return scene.check(SimpleNamespace(time=time, signals=signals), parameters)


def test_a_tow_that_ends_too_early_says_so():
    report = tow_report(0.4, np.square)
    assert not all(report.checks.values())
    assert "long enough" in next(iter(report.checks))


def test_the_drag_curve_finds_coefficient_and_exponent():
    report = tow_report(10.0, lambda v: 30.0 * v**2)
    assert report.metrics["drag_at_1.6_n"] == pytest.approx(76.8)
    assert report.metrics["drag_over_speed_squared"] == pytest.approx(30.0)
    assert report.metrics["exponent"] == pytest.approx(2.0)
    assert all(report.checks.values())
    assert not all(tow_report(10.0, lambda v: 30.0 * v).checks.values())


def test_a_tow_reports_only_speeds_that_were_held_to_the_end():
    metrics = tow_report(7.0, np.square, speeds="0.8,1.2,1.6").metrics
    assert "drag_at_1.2_n" in metrics
    assert "drag_at_1.6_n" not in metrics


def test_the_towed_course_is_smooth_and_its_speed_the_slope_of_its_way():
    course = TowingSpeeds((1.0, 2.0, 0.5), 0.4, 2.0)
    time = np.linspace(0.0, 9.0, 18001)
    way, speed = np.array([course.at(t) for t in time]).T
    assert np.abs(np.diff(way) / np.diff(time) - 0.5 * (speed[1:] + speed[:-1])).max() < 1e-3
    assert speed[-1] == 0.5


@pytest.mark.parametrize("speeds", ["fast", "1,,2", "0", "9"])
def test_towing_speeds_that_make_no_sense_are_refused(speeds):
    with pytest.raises(InputError, match="tow: speeds"):
        built("tow", speeds=speeds)


def test_calm_water_has_no_period_and_stays_level():
    scene = scenes.find("slosh")
    parameters = {key: p.default for key, p in scene.parameters.items()} | SMALL["slosh"] | {"height": 0.0}
    world = scene.build(parameters)
    world.start()
    levels, time = [world.observe().signals["level"]], np.arange(6) / 30.0
    for _ in time[1:]:
        world.step()
        levels.append(world.observe().signals["level"])
    zero = np.zeros(len(time))
    signals = {"level": np.array(levels)} | dict.fromkeys(("volume_error", "shifted", "put_right"), zero)
    report = scene.check(SimpleNamespace(time=time, signals=signals), parameters)
    assert "calm water stays level to a thousandth of a cell" in report.checks
    assert all(report.checks.values())


def test_deep_slosh_has_the_deep_water_period():
    assert exact_period(1.0, 10.0) == pytest.approx(2.0 * np.pi / np.sqrt(9.81 * np.pi))


def test_the_front_agrees_with_the_table_itself_and_finds_a_late_gate():
    T = np.linspace(0.0, 5.2, 400)
    Z = np.interp(T, np.append(0.0, MARTIN_MOYCE[:, 0]), np.append(1.0, MARTIN_MOYCE[:, 1]))
    time = T / np.sqrt(2.0 * 9.81 / WIDTH)
    same = compare_front(time, Z * WIDTH, WIDTH)
    assert np.abs(same.raw).max() < 0.01
    assert same.delay == pytest.approx(0.0, abs=0.01)
    assert same.speed == pytest.approx(1.0, abs=0.01)
    early = compare_front(time[:370], Z[30:] * WIDTH, WIDTH)  # as if their gate had opened late
    assert np.abs(early.raw).max() > 0.05
    assert np.abs(early.fitted).max() < 0.01
    assert np.abs(early.first).max() < 0.01
    assert early.delay == pytest.approx(30 * 5.2 / 399, abs=0.01)
    assert early.speed == pytest.approx(1.0, abs=0.01)


def test_a_front_that_has_gone_nowhere_is_not_compared():
    assert compare_front(np.array([0.0, 0.01]), np.array([WIDTH, WIDTH]), WIDTH) is None


def test_the_mannequin_is_closed_and_of_human_volume():
    from vitruvian.mesh import mesh_volume, topology

    vertices, faces = mannequin()
    topology(faces, len(vertices))
    assert 0.06 < mesh_volume(vertices, faces) < 0.08


def test_the_frontal_area_of_a_ball_is_its_disc():
    vertices, faces = sphere(0.15, subdivisions=4)
    assert frontal_area(np.asarray(vertices), faces) == pytest.approx(np.pi * 0.15**2, rel=0.01)


def test_a_streamline_is_slim():
    """Hands together ahead of the head, elbows beside it; the stroke's own reach is broader."""
    parameters = {"shape": "swimmer", "pose": "streamline"}
    vertices, faces = shape(parameters)
    ahead = vertices[vertices[:, 0] < vertices[:, 0].min() + 0.15]  # the hands
    assert np.ptp(ahead[:, 1]) < 0.25
    assert np.ptp(vertices[:, 0]) > 2.4
    area = frontal_area(vertices, faces)
    assert area < 0.135
    assert area < 0.7 * frontal_area(*shape(parameters | {"pose": "crawl"}))
