"""Drops in flight: over the open top they fly on and come back, by open sides they leave, walls stop them."""

import numpy as np
import pytest

from vitruvian.water import Tank, fill, step

N = 16


def with_drop(position, velocity, **options):
    tank = Tank((N, N, N), 1.0 / N, particles=16, **options)
    water = fill(tank, level=None if options else 0.3)
    water.spray = np.array([position], float)
    water.spray_velocity = np.array([velocity], float)
    water.spray_volume = np.array([1e-6])
    water.volume += 1e-6
    return tank, water


def test_a_drop_rises_above_the_grid_and_comes_back():
    tank, water = with_drop((0.5, 0.5, 0.9), (0.0, 0.0, 5.0))
    volume, heights = water.volume, []
    for _ in range(140):
        step(tank, water, 0.01)
        heights.append(water.spray[0, 2] if len(water.spray) else 0.3)
    assert max(heights) == pytest.approx(0.9 + 5.0**2 / (2.0 * 9.81), abs=2e-3)
    assert not len(water.spray)
    assert water.volume == volume
    assert water.exchanged_volume == 0.0


def test_a_drop_over_the_rim_of_a_wall_is_gone_with_its_volume():
    tank, water = with_drop((0.9, 0.5, 0.9), (2.0, 0.0, 5.0))
    volume = water.volume
    for _ in range(10):
        step(tank, water, 0.02)
    assert not len(water.spray)
    assert water.volume == pytest.approx(volume - 1e-6, abs=1e-12)
    assert water.exchanged_volume == pytest.approx(-1e-6, abs=1e-12)


def test_a_drop_leaves_by_an_open_side_and_stays_at_a_wall():
    for side, left in (("open", 0), ("wall", 1)):
        tank, water = with_drop((0.9, 0.5, 0.8), (4.0, 0.0, 0.0), boundaries={"x+": side}, rest_level=0.3)
        for _ in range(4):
            step(tank, water, 0.02)
        assert len(water.spray) == left
        assert water.exchanged_volume == pytest.approx(-1e-6 * (1 - left), abs=2e-8)  # calm water exchanges a little
