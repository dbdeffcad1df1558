import numpy as np
import pytest

from vitruvian.water.interpolate import cubic, cubic_slope, linear


def test_slope_of_the_cubic_equals_its_difference_quotient_inside_and_at_the_rim():
    rng = np.random.default_rng(0)
    f = rng.normal(size=(7, 6, 8))
    e = 1e-6
    for point in np.concatenate([rng.random((40, 3)) * [6, 5, 7], [[0.2, 4.9, -0.3], [6.3, 0.1, 7.2]]]):
        value, *slope = cubic_slope(f, *point)
        assert value == pytest.approx(cubic(f, *point), rel=1e-12)
        for axis, step in enumerate(np.eye(3) * e):
            quotient = (cubic(f, *(point + step)) - cubic(f, *(point - step))) / (2.0 * e)
            assert slope[axis] == pytest.approx(quotient, abs=1e-6)


def test_linear_is_exact_for_a_trilinear_field_and_constant_beyond_it():
    x, y, z = np.meshgrid(np.arange(5.0), np.arange(4.0), np.arange(6.0), indexing="ij")
    f = 1.0 + 2.0 * x - y + 0.5 * z + 0.25 * x * y * z
    assert linear(f, 1.3, 2.6, 4.1) == pytest.approx(1.0 + 2.6 - 2.6 + 2.05 + 0.25 * 1.3 * 2.6 * 4.1, rel=1e-13)
    assert linear(f, -1.0, -2.0, -0.5) == f[0, 0, 0]
    assert linear(f, 9.0, 9.0, 9.0) == f[-1, -1, -1]
