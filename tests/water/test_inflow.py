import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.mesh import sphere
from vitruvian.water import RigidBodies, RigidBody, Tank, drag, fill, step, water_volume
from vitruvian.water.volume import side_water

FLUME = {"inflow": {"x-": 0.8}, "boundaries": {"x+": "open"}}


def test_a_full_flume_comes_to_the_speed_of_its_inflow():
    tank = Tank((16, 8, 8), 0.05, free_surface=False, gravity=(0.0, 0.0, 0.0), **FLUME)
    water = fill(tank)
    for _ in range(5):
        step(tank, water, 0.02)
    assert np.abs(water.u - 0.8).max() < 1e-4
    assert max(np.abs(water.v).max(), np.abs(water.w).max()) < 1e-4


def test_a_ball_held_in_a_flume_is_pushed_downstream():
    tank = Tank((24, 14, 14), 0.05, free_surface=False, gravity=(0.0, 0.0, 0.0), **FLUME)
    vertices, faces = sphere(0.12)
    still = (np.array([0.4, 0.35, 0.35]), np.zeros(3))
    ball = RigidBody.solid("ball", np.asarray(vertices), np.asarray(faces), 1000.0, course=lambda t: still)
    bodies = RigidBodies([ball], tank.gravity)
    body = bodies.start()
    water = fill(tank, mechanism=bodies, body=body)
    pushes = [-drag(step(tank, water, 0.02, mechanism=bodies, body=body), np.array([1.0, 0.0, 0.0])) for _ in range(30)]
    assert 0.5 < np.mean(pushes[15:]) / (0.5 * 1000.0 * 0.8**2 * np.pi * 0.12**2) / 0.35 < 2.0


@pytest.mark.parametrize("inflow", [{"x-": 1.0}, {"z-": 1.0}, {"x-": -1.0}])
def test_an_inflow_without_a_way_out_or_sense_is_refused(inflow):
    with pytest.raises(InputError, match="inflow"):
        Tank((8, 8, 8), 0.1, free_surface=False, inflow=inflow)


@pytest.mark.parametrize("speed", [0.4, 2.0])
def test_a_channel_keeps_its_level_and_speed(speed):
    tank = Tank((16, 4, 10), 0.05, inflow={"x-": speed}, boundaries={"x+": "open"}, rest_level=0.312)
    water = fill(tank)
    assert np.all(water.u == speed)
    first = water.volume
    step(tank, water, 0.3)
    wet = water.phi < 0.0
    assert np.abs(water.u[:-1][wet] - speed).max() < 1e-5 * speed
    held = water_volume(tank, water.phi, np.ones(tank.shape))
    assert abs(held / first - 1.0) < 1e-6
    assert abs(water.exchanged_volume) < 1e-6 * first
    assert water.volume == pytest.approx(held, rel=1e-6)


def test_a_channel_that_was_filled_too_high_comes_back_to_its_level():
    tank = Tank((16, 4, 12), 0.05, inflow={"x-": 0.5}, boundaries={"x+": "open"}, rest_level=0.31, sponge=0.2)
    x, _, z = np.meshgrid(*tank.centres(), indexing="ij")
    water = fill(tank, z - 0.31 - 0.06 * np.exp(-(((x - 0.3) / 0.1) ** 2)))
    high = water.volume / (tank.size[0] * tank.size[1])
    for _ in range(40):
        step(tank, water, 0.05)
    level = water_volume(tank, water.phi, np.ones(tank.shape)) / (tank.size[0] * tank.size[1])
    assert high > 0.318
    assert abs(level - 0.31) < 0.004
    assert abs(water.u[water.u.shape[0] // 2, :, :5].mean() - 0.5) < 0.05


def test_what_comes_in_through_part_of_a_cell_is_counted_as_that_part():
    tank = Tank((8, 4, 8), 0.1, inflow={"x-": 1.0}, boundaries={"x+": "open"}, rest_level=0.43)
    water = fill(tank)
    assert side_water(tank, water.phi, 0).sum(axis=1) == pytest.approx(np.full(4, 4.3))
    assert side_water(tank, water.phi, 1).sum(axis=1) == pytest.approx(np.full(4, 4.3))
