import numpy as np
import pytest

from vitruvian.water import Tank, fill, redistance, surface_area, water_volume
from vitruvian.water.levelset import advect_surface
from vitruvian.water.volume import plane_fraction


def centres(tank):
    return np.meshgrid(*tank.centres(), indexing="ij")


def test_redistancing_restores_the_distance_of_a_distorted_ball():
    tank = Tank((32, 32, 32), 1.0 / 32)
    x, y, z = centres(tank)
    distance = np.sqrt((x - 0.5) ** 2 + (y - 0.52) ** 2 + (z - 0.47) ** 2) - 0.25
    distorted = distance * (1.0 + 0.5 * np.sin(7.0 * x) * np.cos(5.0 * z))
    found = redistance(distorted, tank.cell)
    error = np.abs(found - distance) / tank.cell
    assert error[np.abs(distance) < 0.5 * tank.cell].max() < 0.005
    assert error[np.abs(distance) < 2.0 * tank.cell].max() < 0.06
    assert error[np.abs(distance) < 4.0 * tank.cell].max() < 0.2


def test_a_flat_surface_stays_flat_to_round_off_up_to_the_walls():
    tank = Tank((8, 8, 16), 0.1)
    x, _, z = centres(tank)
    flat = (z - 0.77 - 0.2 * x) / np.sqrt(1.04)
    found = redistance(flat, tank.cell)
    near = np.abs(flat) < tank.cell
    assert np.abs(found - flat)[near].max() < 1e-6 * tank.cell


def test_plane_fraction_equals_sampling():
    rng = np.random.default_rng(0)
    points = rng.random((200_000, 3)) - 0.5
    for _ in range(12):
        normal = rng.normal(size=3)
        normal /= np.linalg.norm(normal)
        d = rng.uniform(-0.7, 0.7)
        assert plane_fraction(d, *normal) == pytest.approx(np.mean(points @ normal + d < 0.0), abs=4e-3)


def test_volume_and_area_of_a_tilted_layer_are_exact():
    tank = Tank((16, 12, 20), 0.05)
    x, y, z = centres(tank)
    slope = np.array([0.3, -0.2])
    phi = (z - 0.5 - slope[0] * (x - 0.4) - slope[1] * (y - 0.3)) / np.sqrt(1.0 + slope @ slope)
    opened = np.ones(tank.shape)
    assert water_volume(tank, phi, opened) == pytest.approx(0.8 * 0.6 * 0.5, rel=1e-9)
    assert surface_area(tank, phi, opened) == pytest.approx(0.8 * 0.6 * np.sqrt(1.0 + slope @ slope), rel=1e-6)


def test_a_ball_carried_through_the_grid_keeps_volume_and_place():
    tank = Tank((24, 24, 24), 1.0 / 24, particles=0)
    x, y, z = centres(tank)
    phi = np.sqrt((x - 0.35) ** 2 + (y - 0.5) ** 2 + (z - 0.5) ** 2) - 0.2
    state = fill(tank, phi)
    state.u[:] = 1.0
    opened = np.ones(tank.shape)
    before = water_volume(tank, state.phi, opened)
    for _ in range(20):
        advect_surface(tank, state, 0.015)
        state.phi = redistance(state.phi, tank.cell)
    expected = np.sqrt((x - 0.65) ** 2 + (y - 0.5) ** 2 + (z - 0.5) ** 2) - 0.2
    assert water_volume(tank, state.phi, opened) == pytest.approx(before, rel=0.01)
    near = np.abs(expected) < 2.0 * tank.cell
    assert np.abs(state.phi - expected)[near].max() < 0.25 * tank.cell
