"""Spray and the account of volume."""

import numpy as np
import pytest

from vitruvian.water import Tank, fill, spray_total, water_volume
from vitruvian.water.interpolate import sample_linear, to_cells
from vitruvian.water.keep import raise_surface, shift_surface
from vitruvian.water.particles import largest_radius
from vitruvian.water.spray import fly, rejoin, release

N = 16


def calm():
    tank = Tank((N, N, N), 1.0 / N, particles=16)
    return tank, fill(tank, level=0.51)


def held(tank, state):
    return water_volume(tank, state.phi, np.ones(tank.shape))


def test_a_raised_surface_gains_the_volume_asked_for():
    tank, state = calm()
    before = held(tank, state)
    drop = tank.cell**3
    raise_surface(tank, state, np.array([[8.2, 7.9, 8.1], [3.0, 3.0, 8.0]]), np.array([drop, 0.5 * drop]))
    assert held(tank, state) - before == pytest.approx(1.5 * drop, rel=0.05)


def test_markers_move_with_a_raised_surface():
    tank, state = calm()
    points = to_cells(state.markers, state.origin, tank.cell)
    before, after = np.empty(len(points)), np.empty(len(points))
    sample_linear(state.phi, points, 0.5, before)
    raise_surface(tank, state, np.array([[8.0, 8.0, 8.0]]), np.array([tank.cell**3]))
    sample_linear(state.phi, to_cells(state.markers, state.origin, tank.cell), 0.5, after)
    near = np.abs(before) < tank.cell
    np.testing.assert_allclose(after[near], before[near], atol=0.02 * tank.cell)


def test_a_drop_flies_on_its_parabola_and_rejoins_with_all_its_volume():
    tank, state = calm()
    volume = tank.cell**3 / tank.particles
    state.spray = np.array([[0.5, 0.5, 0.8]])
    state.spray_velocity = np.array([[0.3, 0.0, 1.0]])
    state.spray_volume = np.array([volume])
    before = held(tank, state)
    time = 0.0
    while len(state.spray) and time < 1.0:
        fly(tank, state, 0.01)
        time += 0.01
        rejoin(tank, state)
    # 0.8 + t - g t^2 / 2 meets half a cell above the level 0.51
    expected = (1.0 + np.sqrt(1.0 + 2.0 * 9.81 * (0.8 - 0.51 - 0.5 * tank.cell))) / 9.81
    assert time == pytest.approx(expected, abs=0.011)
    assert held(tank, state) - before == pytest.approx(volume, rel=0.05)


@pytest.mark.parametrize("height", [0.51 + 1.0 / N, 0.51 + 3.0 / N, 0.51 + 3.9 / N, 0.51 + 6.0 / N])
def test_a_drop_that_a_body_meets_in_the_air_stays_a_drop(height):
    """Its reach just touches the surface far below, and a trace of area must not be raised by metres for it."""
    tank, state = calm()
    state.spray = np.array([[0.5, 0.5, height]])
    state.spray_velocity, state.spray_volume = np.zeros((1, 3)), np.array([tank.cell**3 / tank.particles])
    phi = state.phi.copy()
    rejoin(tank, state, psi=np.full(tuple(n + 1 for n in tank.shape), -0.1))  # a body everywhere
    taken = len(state.spray) == 0
    assert np.abs(state.phi - phi).max() <= 0.5 * tank.cell
    assert taken == (height < 0.51 + 2.0 / N)


def test_a_drop_on_a_dry_floor_waits_there():
    tank = Tank((N, N, N), 1.0 / N, particles=16)
    x, _, z = np.meshgrid(*tank.centres(), indexing="ij")
    state = fill(tank, np.maximum(x - 0.4, z - 0.4))
    state.spray, state.spray_velocity = np.array([[0.8, 0.5, 0.05]]), np.array([[0.0, 0.0, -1.0]])
    state.spray_volume = np.array([1e-6])
    for _ in range(20):
        fly(tank, state, 0.02)
        rejoin(tank, state)
    assert state.spray[0, 2] < tank.cell
    assert spray_total(state) == 1e-6


def test_spray_takes_no_more_than_the_surface_lost():
    tank, state = calm()
    state.markers = np.array([[0.5, 0.5, 0.7], [0.3, 0.5, 0.7]])
    state.marker_side = np.array([-1, -1], np.int8)
    state.marker_radius = np.full(2, 0.01)
    opened = np.ones(tank.shape)
    release(tank, state, opened)
    assert len(state.spray) == 0  # nothing was lost: strays
    assert len(state.markers) == 0
    state.markers, state.marker_side = np.array([[0.5, 0.5, 0.7]]), np.array([-1], np.int8)
    state.marker_radius = np.full(1, 0.01)
    lost = 0.25 * tank.cell**3 / tank.particles
    state.volume += lost
    release(tank, state, opened)
    assert spray_total(state) == pytest.approx(lost, rel=1e-6)


def test_the_shift_keeps_account_of_what_it_put_back():
    tank, state = calm()
    state.volume *= 1.001
    shift_surface(tank, state, np.ones(tank.shape))
    assert held(tank, state) == pytest.approx(state.volume, rel=1e-6)
    assert state.shifted_net == pytest.approx(0.001 * 0.51, rel=0.01)


def test_the_largest_ball_holds_a_markers_share_of_a_cell():
    assert 16 * 4.0 / 3.0 * np.pi * largest_radius(16) ** 3 == pytest.approx(1.0)
    assert 0.1 < largest_radius(64) < largest_radius(16) < 0.5  # within Enright's bounds
