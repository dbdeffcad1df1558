import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.mesh import sphere
from vitruvian.water import RigidBodies, RigidBody, Tank, drag, fill, step

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


def test_an_inflow_below_a_free_surface_is_refused():
    with pytest.raises(InputError, match="full tanks"):
        Tank((8, 8, 8), 0.1, **FLUME)
