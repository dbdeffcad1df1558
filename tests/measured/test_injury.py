"""Injury criteria against pulses whose answer is known."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from vitruvian.errors import InputError
from vitruvian.measured.injury import head_injury_criterion, nij


def test_hic_of_a_rectangle():
    t = np.arange(501) / 1e4
    a = np.zeros(501)
    a[200:301] = 80.0
    assert head_injury_criterion(t, a) == pytest.approx(0.01 * 80.0**2.5, rel=1e-3)


@pytest.mark.parametrize("window", [0.015, 0.036])
def test_hic_of_half_a_sine(window):
    """Of all windows about its middle the best, by the integral in closed form."""
    peak, lasting = 90.0, 0.03
    t = np.arange(0.0, 0.05, 1e-4)
    a = np.where((t > 0.01) & (t < 0.04), peak * np.sin(np.pi * (t - 0.01) / lasting), 0.0)

    def of(w):
        mean = 2.0 * peak * lasting / np.pi * np.sin(0.5 * np.pi * w / lasting) / w
        return -w * mean**2.5

    best = -minimize_scalar(of, bounds=(1e-3, min(window, lasting)), method="bounded").fun
    assert head_injury_criterion(t, a, window) == pytest.approx(best, rel=2e-3)


def test_nij_at_its_intercepts():
    np.testing.assert_allclose(nij(np.array([6806.0, -6160.0, 0.0, 0.0]), np.array([0.0, 0.0, 310.0, -135.0])), 1.0)


def test_bad_pulses():
    with pytest.raises(InputError, match="times ascending"):
        head_injury_criterion(np.array([0.0, 0.0]), np.ones(2))
    with pytest.raises(InputError, match="not negative"):
        head_injury_criterion(np.array([0.0, 1.0]), np.array([1.0, -1.0]))
