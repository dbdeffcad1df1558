"""Springs of bounded strength: what an implicit step leaves of them decides whether they are cut off."""

import numpy as np
import pytest

from vitruvian.control.swim.springs import free_springs

H = 0.01


def test_a_light_limb_s_spring_is_free_though_its_torque_at_first_exceeds_the_bound():
    inertia, torque, yields, bound = 0.003, 40.0, 4.0, 10.0
    free, end = free_springs(
        np.array([[inertia]]), np.zeros(1), np.array([0]), np.array([torque]), np.array([yields]),
        np.array([-bound]), np.array([bound]), H,
    )  # fmt: skip
    assert free.all()
    assert end[0] == pytest.approx(torque / (1.0 + H * yields / inertia))  # backward Euler by hand
    assert end[0] < bound < torque


def test_a_heavy_limb_s_spring_is_cut_off_at_its_bound():
    free, end = free_springs(
        np.array([[3.0]]), np.zeros(1), np.array([0]), np.array([-40.0]), np.array([4.0]),
        np.array([-10.0]), np.array([25.0]), H,
    )  # fmt: skip
    assert not free.any()
    assert end[0] == -10.0


def test_joined_springs_end_where_the_whole_system_is_consistent():
    rng = np.random.default_rng(3)
    n, rows = 9, np.array([2, 3, 5, 6, 8])
    half = rng.normal(size=(n, n))
    matrix, force = half @ half.T + 0.05 * np.eye(n), 20.0 * rng.normal(size=n)
    torque, yields = 60.0 * rng.normal(size=5), rng.uniform(0.5, 5.0, size=5)
    low, high = -rng.uniform(2.0, 20.0, size=5), rng.uniform(2.0, 20.0, size=5)
    free, end = free_springs(matrix, force, rows, torque, yields, low, high, H)
    assert free.any()
    assert not free.all()
    total = force.copy()
    total[rows] += end
    dv = np.linalg.solve(matrix, H * total)  # by the torques it says
    wanted = torque - yields * dv[rows]  # what the springs then are
    np.testing.assert_allclose(end, np.clip(wanted, low, high), rtol=1e-9)


def test_springs_that_pull_hard_at_each_other_stay_within_their_bounds_all_the_same():
    rng = np.random.default_rng(0)
    settled = 0
    for _ in range(200):
        n = 8
        half = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-2.0, 1.0, size=n)
        matrix, force = half @ half.T + 1e-3 * np.eye(n), 50.0 * rng.normal(size=n)
        rows, torque, yields = np.arange(n), 100.0 * rng.normal(size=n), 10.0 ** rng.uniform(-1.0, 1.5, size=n)
        low, high = -rng.uniform(1.0, 30.0, size=n), rng.uniform(1.0, 30.0, size=n)
        free, end = free_springs(matrix, force, rows, torque, yields, low, high, H)
        assert (end >= low).all()
        assert (end <= high).all()
        dv = np.linalg.solve(matrix, H * (force + end))
        wanted = torque - yields * dv
        np.testing.assert_allclose(end[free], wanted[free], rtol=1e-6, atol=1e-6)
        settled += bool(np.allclose(end, np.clip(wanted, low, high), rtol=1e-6, atol=1e-6))
    assert settled < 200  # else this would not try what it says
