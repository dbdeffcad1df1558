import numpy as np
import pytest

from vitruvian.muscle import ActivationDynamics


def test_activation_rises_faster_than_it_falls_and_never_overshoots():
    dynamics = ActivationDynamics()
    up, down = np.array([0.2]), np.array([0.8])
    rise, fall = dynamics.step(up, np.array([0.8]), 0.01), dynamics.step(down, np.array([0.2]), 0.01)
    assert rise[0] - 0.2 > 0.8 - fall[0] > 0
    assert dynamics.step(up, np.array([0.8]), 10.0)[0] == pytest.approx(0.8)


def test_small_steps_follow_the_differential_equation():
    dynamics, a, u = ActivationDynamics(), np.array([0.3]), np.array([0.9])
    h = 1e-6
    rate = (dynamics.step(a, u, h)[0] - a[0]) / h
    assert rate == pytest.approx((0.9 - 0.3) / (0.015 * (0.5 + 1.5 * 0.3)), rel=1e-4)
