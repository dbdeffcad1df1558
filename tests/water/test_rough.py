"""Spots of rough surface: what each is due, and that it gets it."""

import numpy as np
import pytest

from vitruvian.water import Tank, fill, step, water_volume
from vitruvian.water.levelset import advect_surface, make_distance
from vitruvian.water.rough import find_spots, note, over_the_rim, put_back, take_off, weigh
from vitruvian.water.volume import water_parts

N = 24
H = 1.0 / N


def sheet(thick):
    """A sheet of water `thick` cells thick, askew to the grid, with a rim all around; it moves along x and y."""
    tank = Tank((N, N, N), H, particles=0)
    x, y, z = np.meshgrid(*tank.centres(), indexing="ij")
    away = x - 0.5
    normal = np.array([0.2, 0.1, 1.0]) / np.sqrt(1.05)
    across = away * normal[0] + (y - 0.5) * normal[1] + (z - 0.5) * normal[2]
    state = fill(tank, np.maximum(np.abs(across) - 0.5 * thick * H, np.maximum(np.abs(away), np.abs(y - 0.5)) - 0.3))
    state.u[:], state.v[:] = 0.3, 0.2
    return tank, state


def carry(tank, state, dt, *, mended):
    before = note(tank, state, dt)
    advect_surface(tank, state, dt)
    spots = find_spots(tank, before, state)
    state.phi = make_distance(tank, state.phi)
    weigh(tank, state, spots)
    if mended:
        put_back(tank, state, spots)
    return spots


def held(tank, state):
    return water_volume(tank, state.phi, np.ones(tank.shape))


def test_the_sum_of_what_is_due_is_what_there_was():
    tank, state = sheet(0.8)
    before = water_parts(tank, state.phi).sum()
    rng = np.random.default_rng(0)
    for f in (state.u, state.v, state.w):
        f[:] = rng.normal(size=f.shape)  # whatever flows
    spots = carry(tank, state, 0.02, mended=False)
    assert spots.spot.max() == 0
    assert spots.due.sum() == pytest.approx(before, rel=1e-9)
    assert spots.lack.sum() == pytest.approx(before - water_parts(tank, state.phi).sum(), rel=1e-9)


def test_a_sheet_thinner_than_a_cell_keeps_its_volume_on_its_way():
    for mended in (False, True):
        tank, state = sheet(0.8)
        first = held(tank, state)
        for _ in range(10):
            carry(tank, state, 0.02, mended=mended)
        gained = held(tank, state) / first - 1.0
        assert abs(gained) < 0.02 if mended else abs(gained) > 0.2


def test_a_spot_is_one_across_a_periodic_side():
    tank = Tank((N, N, N), H, particles=0, periodic="x")
    x, y, z = np.meshgrid(*tank.centres(), indexing="ij")
    due, given = [], []
    for middle in (0.513, 0.013):
        away = (x - middle + 0.5) % 1.0 - 0.5
        state = fill(tank, np.sqrt(away**2 + (y - 0.5) ** 2 + (z - 0.5) ** 2) - 1.3 * H)
        state.u[:], state.v[:] = 0.3, 0.2
        spots = carry(tank, state, 0.02, mended=True)
        assert spots.spot.max() == 0
        there = np.zeros(tank.shape)
        there[tuple(spots.cells.T)] = spots.due
        due.append(there)
        given.append(state.returned_net)
    np.testing.assert_allclose(np.roll(due[0], -N // 2, 0), due[1], atol=1e-12)
    assert given[1] == pytest.approx(given[0], rel=2e-3)


def test_each_spot_gets_its_own():
    tank = Tank((N, N, N), H, particles=0)
    _, _, z = np.meshgrid(*tank.centres(), indexing="ij")
    low, high = np.abs(z - 0.3) - 0.4 * H, np.abs(z - 0.7) - 0.4 * H
    state = fill(tank, np.minimum(low, high))
    for f in (state.u, state.v, state.w):
        f[:] = 0.0
    spots = carry(tank, state, 0.01, mended=False)
    assert spots.spot.max() == 1
    before = water_parts(tank, state.phi)
    spots.lack[:] = np.where(spots.cells[:, 2] < N // 2, 0.005, 0.0)
    put_back(tank, state, spots)
    gained = water_parts(tank, state.phi) - before
    assert gained[:, :, N // 2 :].sum() == pytest.approx(0.0, abs=1e-12)
    assert gained[:, :, : N // 2].sum() == pytest.approx(spots.lack.sum(), rel=0.05)
    assert state.returned_net == pytest.approx(spots.lack.sum() * H**3, rel=1e-6)


def test_a_smooth_wave_has_no_rough_spots():
    tank = Tank((N, 8, N), H, particles=0)
    x, _, z = np.meshgrid(*tank.centres(), indexing="ij")
    state = fill(tank, z - 0.5 - 0.05 * np.cos(np.pi * x))
    assert not len(carry(tank, state, 0.01, mended=True).cells)
    assert state.returned_volume == 0.0


def test_the_last_cell_of_a_cavity_is_closed_by_what_flows_in():
    for speed, closed in ((1.0, True), (0.01, False)):
        tank = Tank((9, 9, 9), 1.0, particles=0, gravity=(0.0, 0.0, 0.0))
        state = fill(tank, -np.ones(tank.shape))
        state.phi[:] = -1.0
        state.phi[4, 4, 4] = 0.3
        state.u[:5], state.u[5:] = speed, -speed  # from both sides: the middle stands still
        before = note(tank, state, 0.4)
        advect_surface(tank, state, 0.4)
        assert state.phi[4, 4, 4] > 0.0
        find_spots(tank, before, state)
        assert (state.phi[4, 4, 4] < 0.0) == closed


def test_cells_near_a_body_belong_to_no_spot():
    tank, state = sheet(0.8)
    opened = np.ones(tank.shape)
    opened[12, 12, 12] = 0.5
    before = note(tank, state, 0.02)
    advect_surface(tank, state, 0.02)
    cells = find_spots(tank, before, state, opened).cells
    assert len(cells)
    assert np.abs(cells - 12).max(axis=1).min() == 3


def test_what_flies_is_not_put_back():
    tank, state = sheet(0.8)
    spots = carry(tank, state, 0.02, mended=False)
    lack = spots.lack.sum()
    state.spray = np.array([[0.5, 0.5, 0.5]])
    state.spray_volume = np.array([0.25 * H**3])
    take_off(tank, state, spots, 0)
    assert spots.lack.sum() == pytest.approx(lack - 0.25)


def test_water_over_the_rim_is_counted_by_its_part_of_each_cell():
    tank = Tank((8, 8, 8), 0.125, particles=0, gravity=(0.0, 0.0, 0.0))
    x, _, _ = np.meshgrid(*tank.centres(), indexing="ij")
    for breadth in (0.47, 0.53):  # of a jet that goes straight up
        state = fill(tank, x - breadth)
        state.w[:] = 2.0
        assert over_the_rim(tank, note(tank, state, 0.01)) == pytest.approx(0.02 * breadth, rel=1e-3)
        step(tank, state, 0.01)
        assert state.exchanged_volume == pytest.approx(-0.02 * breadth, rel=1e-3)
        state.w[:] = -2.0
        assert over_the_rim(tank, note(tank, state, 0.01)) == 0.0  # what comes in there is air


def test_a_column_let_go_keeps_its_volume_by_its_spots():
    tank = Tank((24, 6, 16), 0.05, particles=0)
    x, _, z = np.meshgrid(*tank.centres(), indexing="ij")
    state = fill(tank, np.maximum(x - 0.3, z - 0.6))
    for _ in range(30):
        step(tank, state, 0.05)
    assert held(tank, state) == pytest.approx(state.volume, rel=1e-3)
    assert abs(state.shifted_net) < 0.02 * state.volume
    assert state.returned_volume > 0.02 * state.volume
